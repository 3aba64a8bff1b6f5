"""The name-only reach against the stand-alone script it must equal: same files, same hops, same collisions."""

from __future__ import annotations

import importlib.util
import random
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from contextc.analyzer.reading.libcst_reader import read_with_libcst
from contextc.analyzer.reading.limits import DoesNotParse
from contextc.graph.name_only import NameIndex
from contextc.model.facts import ModuleFacts
from tests.command import FIXTURES, REPOSITORY

SCRIPT = REPOSITORY / "benchmarks" / "baselines" / "name_only_compile.py"
ODD = {
    "main.py": """
        import pkg, pkg.deep.leaf as leaf, os.path
        from pkg import sub, missing
        from .pkg.deep import leaf as relative
        from . import lonely
        from pkg.sub import *
        @decorate(argument())
        class Main(Base(), metaclass=meta()):
            attribute: annotated() = valued()
            def method(self, x=default(lambda y=inner_default(): lambda_body()), *, k: hint() = kw()) -> returned():
                def nested():
                    return [element(i) for i in iterated() if condition(i)]
                async def run():
                    async with opened() as f, closed(): await awaited()
                    async for i in stream(): yield yielded()
                return f"{formatted():{spec()}}" if tested() else (walrus := walked())
        match subject():
            case Pattern(a, b=1) if guard(): pass
            case [first, *rest]: matched()
        try: risky()
        except (Error(), other.Failure): handled()
        finally: cleaned()
        with ctx() as c: del c[deleted()]
        raised = lambda: thrown()
        obj.attr.deep().chained().last()
        table["key"]()
        print(len(x)); x.print(); __hidden(); x.__dunder__()
        global_call(*starred(), **doubled())
        """,
    "pkg/__init__.py": "from .sub import thing\ndef chained(): pass\ndef sub(): pass",
    "pkg/sub.py": "import pkg\ndef element(i): return last()\nclass Base: pass\n",
    "pkg/deep/leaf.py": "def inner_default(): pass\ndef lambda_body(): pass\ndef risky(): pass\n",
    "pkg/deep.py": "def risky(): handled()\n",
    "lonely.py": "def last(): pass\ndef spec(): pass\ndef walked(): pass\ndef guard(): pass\n",
    "handlers/errors.py": "class Error(Exception):\n    def handled(self): pass\n    class Pattern: pass\n",
    "handlers/broken.py": "def cleaned(:\n    pass\ndef thrown(): pass\n",
    "handlers/__init__.py": "import handlers.broken\n",
    "handlers/late.py": "from handlers import broken\nbroken.thrown()\ndef stream():\n    def yielded(): pass\n",
    "unicode_names.py": "def ﬁle(): pass\ndef chained(): file()\nclass hint:\n    def print(self): pass\n",
    "z.dotted.py": "if True:\n    def matched(): pass\nelse:\n    class matched: pass\n",
    "empty.py": "",
}


def baseline() -> ModuleType:
    spec = importlib.util.spec_from_file_location("name_only_compile", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_tree(root: Path, texts: dict[str, str]) -> Path:
    for path, text in texts.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = text.splitlines()
        margin = len(lines[1]) - len(lines[1].lstrip()) if lines and not lines[0] else 0
        file.write_text("\n".join(line[margin:] for line in lines) + "\n", encoding="utf-8")
    return root


def random_tree(seed: int) -> dict[str, str]:
    """Modules in nested packages that import and call each other at random, with few names, so that many collide."""
    chance = random.Random(seed)
    folders = ["", "a/", "a/b/", "c/", "a/b/d/"]
    paths = sorted({chance.choice(folders) + f"m{chance.randrange(9)}.py" for _ in range(25)})
    paths += [f"{folder}__init__.py" for folder in folders[1:] if chance.random() < 0.6]
    names = [f"n{number}" for number in range(12)] + ["print", "__init__", "m1", "b"]
    dotted = [path[:-3].replace("/", ".") for path in paths] + ["outside", "a.b", "a.gone.n1"]
    texts = {}
    for path in paths:
        lines = []
        for _ in range(chance.randrange(6)):
            module, name, other = chance.choice(dotted), chance.choice(names), chance.choice(names)
            lines += chance.choice(
                [
                    [f"import {module}"],
                    [f"import {module} as {other}"],
                    [f"from {'.' * chance.randrange(3)}{module} import {name}"],
                    [f"from {module} import {name} as {other}"],
                    [f"from . import {name}"],
                    [f"def {name}():", f"    {other}()"],
                    [f"class C{other}:", f"    def {name}(self): self.x.{other}()"],
                    [f"x.{name}(lambda: {other}())"],
                ]
            )
        texts[path] = "\n".join(lines)
    return texts


def read(path: Path) -> ModuleFacts | None:
    """Facts, or None for what the script can't parse either: no Python, or no plain UTF-8."""
    text = path.read_bytes()
    try:
        text.decode()
        return None if text.startswith(b"\xef\xbb\xbf") else read_with_libcst(text)
    except (UnicodeDecodeError, DoesNotParse):
        return None


def assert_equal_reach(root: Path, most_targets: int = 1000) -> None:
    script = baseline()
    modules, symbols, texts = script.build_index(str(root))

    def relative(path: str) -> str:
        return Path(path).relative_to(root).as_posix()

    index = NameIndex({relative(path): read(Path(path)) for path in texts})
    assert index.modules == {name: relative(path) for name, path in modules.items()}
    reached = 0
    for target in sorted(texts)[:most_targets]:
        for hops in (1, 2, 3):
            files, collisions = script.reach(target, modules, symbols, hops)
            ours = index.reach(relative(target), hops)
            assert ours.hops == {relative(path): hop for path, hop in files.items()}, (target, hops)
            assert ours.collisions == {name: tuple(map(relative, c)) for name, c in collisions.items()}, (target, hops)
            assert set(ours.why) == set(ours.hops) - {relative(target)}
            assert all(ours.hops[cause.source] == ours.hops[path] - 1 for path in ours.why for cause in ours.why[path])
            reached += len(files) - 1
    assert reached, "nothing was compared"


def test_odd_tree(tmp_path: Path) -> None:
    root = write_tree(tmp_path, ODD)
    assert_equal_reach(root)
    reach = NameIndex({path: read(root / path) for path in ODD}).reach("main.py", 1)
    assert len(reach.hops) > 6  # the odd corners do lead somewhere
    assert {"chained", "risky"} <= set(reach.collisions)


def test_nine_files() -> None:
    assert_equal_reach(FIXTURES / "nine_files")


def test_hard_cases_as_one_tree(tmp_path: Path) -> None:
    # Left out: expressions past the readers' limit on depth, which the script's parser still bears.
    shutil.copytree(FIXTURES / "cases", tmp_path / "cases", ignore=shutil.ignore_patterns("rh-deep-expression"))
    assert_equal_reach(tmp_path / "cases", most_targets=40)


def test_own_code(tmp_path: Path) -> None:
    for room in ("model", "graph"):
        shutil.copytree(REPOSITORY / "contextc" / room, tmp_path / "contextc" / room)
    assert_equal_reach(tmp_path)


@pytest.mark.parametrize("seed", range(12))
def test_random_trees(tmp_path: Path, seed: int) -> None:
    assert_equal_reach(write_tree(tmp_path, random_tree(seed)))
