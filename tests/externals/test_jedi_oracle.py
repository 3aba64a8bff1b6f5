"""jedi's answers, and the fence around it."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextc.analyzer.externals.environment import open_environment
from contextc.analyzer.externals.jedi_oracle import ExternalAnswer, JediOracle, _list_package_folders

from .conftest import MakeEnvironment, write_files

LIBRARY = {
    "lib/__init__.py": "from lib.core import Client, Factory as Maker, connect, client, decorated, alias\n",
    "lib/core.py": (
        "import functools\n"
        "class Base:\n    pass\n"
        "class Left(Base):\n    pass\n"
        "class Right(Base):\n    pass\n"
        "class Client(Left, Right):\n"
        "    def __init__(self):\n        self.session = Session()\n"
        "    def open(self) -> 'Session':\n        return Session()\n"
        "    @property\n    def peer(self) -> 'Session':\n        return Session()\n"
        "    @classmethod\n    def make(cls):\n        return cls()\n"
        "class Session:\n    pass\n"
        "class Factory:\n    pass\n"
        "def connect(where):\n    return Client()\n"
        "def either(flag):\n    if flag:\n        return Client()\n    return Session()\n"
        "def maybe(flag):\n    if flag:\n        return Client()\n    return None\n"
        "def keep(f):\n    @functools.wraps(f)\n    def inner(*a):\n        return f(*a)\n    return inner\n"
        "@keep\ndef decorated():\n    return Session()\n"
        "client = Client()\n"
        "alias = Client.make\n"
    ),
    "stubbed.py": "def f(): ...\n",
    "stubbed.pyi": "from lib.core import Session\ndef f() -> Session: ...\n",
}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JediOracle]:
    """An oracle without an environment."""
    with JediOracle(None, tmp_path_factory.mktemp("answers")) as oracle:
        yield oracle


def ask(oracle: JediOracle, name: str) -> ExternalAnswer | None:
    """One answer."""
    return oracle.answer([name])[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("requests.get", ExternalAnswer("function", "requests.api.get", "requests.models.Response", (), None)),
        ("six.moves", ExternalAnswer("module", "six.moves", None, (), None)),
        (
            "django.conf.settings",
            ExternalAnswer("instance", "django.conf.settings", None, (), "django.conf.LazySettings"),
        ),
        ("docker.from_env", ExternalAnswer("function", "docker.from_env", "docker.client.DockerClient", (), None)),
        ("pathlib.Path.parent", ExternalAnswer("instance", "pathlib.Path.parent", None, (), "pathlib.PurePath")),
        ("enum.Enum", ExternalAnswer("class", "enum.Enum", "enum.Enum", ("enum.Enum", "builtins.object"), None)),
    ],
)
def test_bundled_stubs(bundled: JediOracle, name: str, expected: ExternalAnswer) -> None:
    assert ask(bundled, name) == expected
    assert not bundled.failures


@pytest.mark.parametrize(
    "name",
    [
        "jedi.Script", "parso.parse", "contextc.errors.UserError", "pytest.fixture", "libcst.Module",  # beside us
        "idlelib.run", "test.support",  # in the host's standard library, not in typeshed
        "nowhere.at_all", "requests.no_such_name",
    ],
)  # fmt: skip
def test_what_is_not_in_the_environment_is_not_answered(bundled: JediOracle, name: str) -> None:
    assert ask(bundled, name) is None
    assert not bundled.failures


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "requests.", "requests.get()", "requests;open('x','w')", "requests\nimport os", "import", "a.class",
        "requests.get\n__import__('os').system('touch ran')", "requests . get", "../requests", "requests.get#", "\\",
        "a\0b", "requests.get\u2028x", '"""',
    ],
)  # fmt: skip
def test_no_text_but_identifiers_enters_the_script(
    bundled: JediOracle, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_ask", lambda names: pytest.fail(f"asked for {names}"))
    assert bundled.answer([name]) == {name: None}


def test_installed_package(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    names = ["lib.Client", "lib.Maker", "lib.connect", "lib.client", "lib.decorated", "lib.alias", "lib.core",
             "lib.core.either", "lib.core.maybe", "lib.Client.open", "lib.Client.peer", "lib.Client.session",
             "lib.Client.make", "stubbed.f"]  # fmt: skip
    with JediOracle(open_environment(make_environment(LIBRARY)), tmp_path / "answers") as oracle:
        answers = oracle.answer(names)
    core = "lib.core."
    mro = tuple(core + name for name in ("Client", "Left", "Right", "Base")) + ("builtins.object",)
    client, session = core + "Client", core + "Session"
    assert answers == {
        "lib.Client": ExternalAnswer("class", client, client, mro, None),
        "lib.Client.make": ExternalAnswer("function", client + ".make", client, (), None, False),
        "lib.Client.open": ExternalAnswer("function", client + ".open", session, (), None),
        "lib.Client.peer": ExternalAnswer("instance", "lib.Client.peer", None, (), session),
        "lib.Client.session": ExternalAnswer("instance", "lib.Client.session", None, (), session, False),
        "lib.Maker": ExternalAnswer(
            "class", core + "Factory", core + "Factory", (core + "Factory", "builtins.object"), None
        ),
        "lib.alias": ExternalAnswer("function", "lib.alias", client, (), None, False),
        "lib.client": ExternalAnswer("instance", "lib.client", None, (), client, False),
        "lib.connect": ExternalAnswer("function", core + "connect", client, (), None, False),
        "lib.core": ExternalAnswer("module", "lib.core", None, (), None),
        "lib.core.either": ExternalAnswer("function", core + "either", None, (), None, False),
        "lib.core.maybe": ExternalAnswer("function", core + "maybe", client, (), None, False),
        "lib.decorated": ExternalAnswer("function", core + "decorated", session, (), None, False),
        "stubbed.f": ExternalAnswer("function", "stubbed.f", session, (), None),
    }
    assert list(answers) == sorted(names)


def test_an_answer_does_not_depend_on_the_others(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    environment = open_environment(make_environment(LIBRARY))
    names = ["lib.Client", "lib.connect", "lib.Client.open", "stubbed.f"]
    with JediOracle(environment, tmp_path / "a") as one, JediOracle(environment, tmp_path / "b") as other:
        together = one.answer(names * 2)
        apart = {name: ask(other, name) for name in reversed(names)}
    assert together == apart
    files = [next((tmp_path / folder).iterdir()).read_bytes() for folder in "ab"]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("python", "returns"),
    [((3, 0), "builtins.str"), ((3, 10), "builtins.str"), ((3, 13), "builtins.int"), ((3, 99), "builtins.int")],
)
def test_target_version_decides_branches(
    make_environment: MakeEnvironment, tmp_path: Path, python: tuple[int, int], returns: str
) -> None:
    """Whatever the target, installed sources are read with today's syntax."""
    files = {
        "branch.pyi": "import sys\n"
        "if sys.version_info >= (3, 11):\n    def f() -> int: ...\nelse:\n    def f() -> str: ...\n",
        "modern.py": "type A = int\nmatch 1:\n    case 1:\n        pass\ndef f[T](x: T) -> int: return 1\n",
    }
    with JediOracle(open_environment(make_environment(files)), tmp_path / "answers", python=python) as oracle:
        assert oracle.answer(["branch.f", "modern.f"]) == {
            "branch.f": ExternalAnswer("function", "branch.f", returns, (), None),
            "modern.f": ExternalAnswer("function", "modern.f", "builtins.int", (), None),
        }


def test_nothing_of_environment_or_repository_runs(
    make_environment: MakeEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    root = make_environment({**LIBRARY, "trap.py": mark + "def f() -> int: ...\n", "trap_ext.pyi": "x: int\n"})
    (root / "lib/python3.12/site-packages/trap_ext.so").write_bytes(b"\x7fELF")
    repository = tmp_path / "repository"
    write_files(
        repository,
        {
            "sitecustomize.py": mark,
            "usercustomize.py": mark,
            "lib.py": mark,
            "jedi/__init__.py": mark,
            "parso.py": mark,
            "json.py": mark,
            ".jedi/project.json": json.dumps(
                [
                    1,
                    {
                        "path": str(repository),
                        "environment_path": str(root / "bin/python"),
                        "load_unsafe_extensions": True,
                    },
                ]
            ),
        },
    )
    monkeypatch.chdir(repository)
    for variable in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "JEDI_ENVIRONMENT"):
        monkeypatch.setenv(variable, str(repository))
    monkeypatch.setenv("PYTHONSTARTUP", str(repository / "sitecustomize.py"))
    with JediOracle(open_environment(root), tmp_path / "answers") as oracle:
        answers = oracle.answer(["trap.f", "trap_ext.x", "lib.Client", "trap", "sitecustomize"])
        assert not oracle.failures
    assert answers["trap.f"] == ExternalAnswer("function", "trap.f", "builtins.int", (), None)
    assert answers["trap_ext.x"] == ExternalAnswer("instance", "trap_ext.x", None, (), "builtins.int")
    assert answers["lib.Client"] is not None
    assert answers["lib.Client"].full_name == "lib.core.Client"
    assert not (tmp_path / "ran").exists()


def test_links_out_of_the_environment_are_not_read(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {"secret/__init__.py": "class Key: ...\ndef f() -> Key: ...\n", "secret/__init__.pyi": "class Key: ...\n",
         "one.pyi": "class Key: ...\n"},
    )  # fmt: skip
    root = make_environment(
        {"inside.py": "from leak import Key, f\nfrom one import Key as Other\nk = f()\n", "ok.py": "x = 1"}
    )
    site = root / "lib/python3.12/site-packages"
    (site / "leak").symlink_to(tmp_path / "secret")
    (site / "leak2-stubs").symlink_to(tmp_path / "secret")
    (site / "one.pyi").symlink_to(tmp_path / "one.pyi")
    (site / "ok.pyi").symlink_to(tmp_path / "one.pyi")
    names = ["leak", "leak.Key", "leak.f", "leak2.Key", "one.Key", "inside.Key", "inside.Other", "inside.k", "ok.Key"]
    with JediOracle(open_environment(root), tmp_path / "answers") as oracle:
        assert oracle.answer([*names, "ok.x"]) == {
            **dict.fromkeys(names), "ok.x": ExternalAnswer("instance", "ok.x", None, (), "builtins.int", False),
        }  # fmt: skip


def test_answers_are_kept_as_plain_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "user" / "answers"
    with JediOracle(None, folder) as oracle:
        first = oracle.answer(["six.text_type", "nowhere.x"])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_bytes())["six.text_type"][0] == "class"
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: pytest.fail("a worker was started"))
    with JediOracle(None, folder) as oracle:
        assert oracle.answer(["six.text_type", "nowhere.x"]) == first


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[1]",
        b'{"six.text_type": 1}',
        b'{"six.text_type": "class"}',
        b'{"six.text_type": ["class"]}',
        b'{"six.text_type": ["class", "a", 1, [], null, true]}',
        b'{"six.text_type": ["class", "a", "a", [], null, 1]}',
        b"\xff",
    ],
)
def test_damaged_answers_are_asked_again(tmp_path: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = JediOracle(None, tmp_path)
    answer = ExternalAnswer("class", "builtins.str", "builtins.str", (), None)
    oracle._shelf._path.write_bytes(damage)
    monkeypatch.setattr(oracle, "_ask", lambda names: [(name, answer) for name in names])
    assert oracle.answer(["six.text_type"]) == {"six.text_type": answer}
    assert json.loads(oracle._shelf._path.read_bytes()) == {"six.text_type": [*answer[:3], [], None, True]}


def test_a_changed_environment_is_asked_again(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    root = make_environment({"a.py": "x = 1\n", "a-1.dist-info/RECORD": ""})
    site = root / "lib/python3.12/site-packages"
    for kind, text in (("builtins.int", "x = 1\n"), ("builtins.str", "x = ''\n")):
        (site / "a.py").write_text(text)
        (site / "a-1.dist-info").rename(site / f"a-{kind}.dist-info")
        with JediOracle(open_environment(root), tmp_path / "answers") as oracle:
            answer = ask(oracle, "a.x")
        (site / f"a-{kind}.dist-info").rename(site / "a-1.dist-info")
        assert answer is not None
        assert answer.instance_of == kind


def test_a_worker_that_died_in_use_costs_nothing(tmp_path: Path) -> None:
    with JediOracle(None, tmp_path) as oracle:
        assert ask(oracle, "json") is not None
        worker: Any = oracle._worker
        worker._process.kill()
        assert None not in oracle.answer(["six.text_type", "yaml.load"]).values()
        assert not oracle.failures


def test_a_worker_that_dies_of_a_name_costs_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    boot = "import sys\nfor line in sys.stdin:\n    if 'six' in line: sys.exit()\n"
    boot += "    if 'name' in line: print('{\"answer\": null}', flush=True)"
    monkeypatch.setattr("contextc.analyzer.externals.jedi_oracle._BOOT", boot)
    with JediOracle(None, tmp_path) as oracle:
        assert oracle.answer(["json", "six.text_type", "yaml.load"]) == {
            "json": None,
            "six.text_type": None,
            "yaml.load": None,
        }
        assert oracle.failures == {"six.text_type"}
    (file,) = tmp_path.iterdir()
    assert json.loads(file.read_bytes()) == {"json": None, "yaml.load": None}


def test_old_answers_are_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        (tmp_path / f"external-{number}.json").write_text("{}")
    oracle = JediOracle(None, tmp_path)
    monkeypatch.setattr(oracle, "_ask", lambda names: dict.fromkeys(names))
    oracle.answer(["json"])
    assert oracle._shelf._path.exists()
    assert len(list(tmp_path.iterdir())) == 32


def test_time_is_a_guard_and_its_outcome_is_not_kept(tmp_path: Path) -> None:
    with JediOracle(None, tmp_path, name_seconds=0.001) as hasty:
        assert hasty.answer(["json", "six.text_type"]) == {"json": None, "six.text_type": None}
        assert hasty.failures == {"json", "six.text_type"}
    with JediOracle(None, tmp_path) as patient:
        assert ask(patient, "json") == ExternalAnswer("module", "json", None, (), None)


def test_a_batch_has_a_limit(tmp_path: Path) -> None:
    with JediOracle(None, tmp_path, batch_seconds=0) as oracle:
        assert oracle.answer(["json"]) == {"json": None}
        assert oracle.failures == {"json"}


def test_the_worker_loads_no_more_than_it_needs() -> None:
    """It starts in a quarter of a second because the package's other heavy libraries stay out of it."""
    code = f"import sys; sys.path.extend({_list_package_folders()!r}); import contextc.analyzer.externals.jedi_oracle; "
    code += "print([m for m in ('jedi', 'libcst', 'networkx', 'typeshed_client', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
