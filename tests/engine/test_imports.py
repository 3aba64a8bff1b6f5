"""Which module an import means: the importer's own package first, then libraries, then the rest of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.analyzer.inference.program import ModuleInfo, Program, StubSource
from contextc.analyzer.loading import extended_packages
from contextc.analyzer.project import discover_project
from contextc.analyzer.reading.read import read_facts
from contextc.analyzer.settings import load_settings
from contextc.engine import Options, analyze_repository
from contextc.model.analysis import ModuleFile
from contextc.model.facts import ModuleFacts
from tests.project.trees import make_tree


def link(tmp_path: Path, files: dict[str, str] | list[str], libraries: dict[str, str] | None = None) -> Program:
    """The program of these files. `libraries`: outside modules, with their origin."""
    root = make_tree(tmp_path, files)
    project = discover_project(root, load_settings(root))
    read: list[tuple[ModuleFile, ModuleFacts, bytes]] = []
    for file in project.files:
        text = (root / file.path).read_bytes()
        facts = read_facts(text)
        assert isinstance(facts, ModuleFacts)
        read.append((file, facts, text))
    empty = read_facts(b"")
    assert isinstance(empty, ModuleFacts)

    def load(name: str) -> StubSource | None:
        return StubSource(empty, True, (libraries or {})[name]) if name in (libraries or {}) else None

    return Program(read, project.index_modules(extended_packages(read)), load, (3, 12), "linux")


def importer_of(program: Program, path: str) -> ModuleInfo:
    return next(module for module in program.repository if module.path == path)


def find(program: Program, path: str, name: str, level: int = 0) -> str | None:
    """What an import in the file at `path` means: a path, `~name` for a library, `name/` for a namespace package."""
    importer = importer_of(program, path)
    absolute = program.absolute_name(importer, level, name)
    found = program.find_module(absolute, importer) if absolute is not None else None
    if found is None:
        return None
    return found.path or (f"{found.name}/" if found.origin == "namespace" else found.module_id)


def test_equal_names_in_two_roots_do_not_mix(tmp_path: Path) -> None:
    files = [
        f"services/{service}/{name}"
        for service in "ab"
        for name in ("pyproject.toml", "src/pkg/__init__.py", "src/pkg/m.py", "src/pkg/x.py", "src/pkg/sub/y.py")
    ]
    program = link(tmp_path, [*files, "services/b/src/pkg/only.py"])
    for service in "ab":
        own = f"services/{service}/src/pkg"
        assert find(program, f"{own}/m.py", "x", level=1) == f"{own}/x.py"
        assert find(program, f"{own}/m.py", "", level=1) == f"{own}/__init__.py"
        assert find(program, f"{own}/__init__.py", "x", level=1) == f"{own}/x.py"
        assert find(program, f"{own}/sub/y.py", "x", level=2) == f"{own}/x.py"
        assert find(program, f"{own}/m.py", "pkg.x") == f"{own}/x.py"
        assert find(program, f"{own}/m.py", "pkg.sub") == "pkg.sub/"
        assert find(program, f"{own}/m.py", "pkg.sub.y") == f"{own}/sub/y.py"
    assert find(program, "services/a/src/pkg/m.py", "only", level=1) is None
    assert find(program, "services/b/src/pkg/m.py", "only", level=1) == "services/b/src/pkg/only.py"


def test_a_call_through_a_relative_import_stays_in_its_root(tmp_path: Path) -> None:
    files = {}
    for service in "ab":
        files[f"{service}/pyproject.toml"] = ""
        files[f"{service}/pkg/__init__.py"] = ""
        files[f"{service}/pkg/x.py"] = "def run(): ...\n"
        files[f"{service}/pkg/m.py"] = "from . import x\nfrom .x import run\ndef main():\n    x.run()\n    run()\n"
    analysis = analyze_repository(Options(make_tree(tmp_path, files))).analysis
    calls = [(edge.caller, edge.callee) for edge in analysis.edges if edge.kind.is_call]
    assert calls == [(f"pkg.m@{s}:main", f"pkg.x@{s}:run") for s in "ab" for _ in range(2)]


def test_namespace_packages_span_roots(tmp_path: Path) -> None:
    files = ["a/pyproject.toml", "a/ns/one.py", "b/pyproject.toml", "b/ns/two.py", "b/ns/inner/three.py"]
    program = link(tmp_path, files, {"ns.installed": "environment", "std": "typeshed"})
    assert find(program, "a/ns/one.py", "ns.two") == "b/ns/two.py"
    assert find(program, "a/ns/one.py", "two", level=1) == "b/ns/two.py"
    assert find(program, "a/ns/one.py", "ns.installed") == "~ns.installed"
    space = program.find_module("ns", importer_of(program, "a/ns/one.py"))
    assert space is not None
    assert program.has_submodules(space) == ["inner", "one", "two"]
    assert program.has_submodules(space, "t") == ["two"]
    inner = program.find_module("ns.inner", space)
    assert inner is not None and inner.origin == "namespace"
    assert program.find_module("ns.inner.three", inner) is importer_of(program, "b/ns/inner/three.py")
    assert program.find_module("ns.two", space) is importer_of(program, "b/ns/two.py")
    found = [program.find_module(name, space) for name in ("ns.installed", "ns.nope", "std")]
    assert [module and module.module_id for module in found] == ["~ns.installed", None, "~std"]


def test_a_package_that_extends_its_path_spans_roots(tmp_path: Path) -> None:
    extend = "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n"
    files = {"a/pyproject.toml": "", "a/ns/__init__.py": extend, "a/ns/one.py": ""}
    files |= {"b/pyproject.toml": "", "b/ns/__init__.py": extend, "b/ns/two.py": ""}
    program = link(tmp_path, files)
    assert find(program, "a/ns/one.py", "ns.two") == "b/ns/two.py"
    assert find(program, "b/ns/two.py", "one", level=1) == "a/ns/one.py"
    assert find(program, "a/ns/one.py", "ns.three") is None


def test_libraries_against_modules_of_the_repository(tmp_path: Path) -> None:
    files = [
        "pyproject.toml", "src/pkg/__init__.py", "src/pkg/m.py", "tests/test_m.py", "examples/logging.py",
        "examples/requests.py", "examples/other.py", "json/tool.py", "docs/helper.py",
    ]  # fmt: skip
    origins = {"logging": "typeshed", "json": "typeshed", "requests": "environment", "pkg": "environment"}
    program = link(tmp_path, files, origins)
    assert find(program, "src/pkg/m.py", "logging") == "~logging"
    assert find(program, "src/pkg/m.py", "requests") == "~requests"
    assert find(program, "src/pkg/m.py", "json") == "~json"  # a folder without __init__ comes after a regular package
    assert find(program, "src/pkg/m.py", "json.tool") == "json/tool.py"
    assert find(program, "examples/other.py", "logging") == "examples/logging.py"
    assert find(program, "examples/other.py", "requests") == "examples/requests.py"
    assert find(program, "tests/test_m.py", "pkg") == "src/pkg/__init__.py"  # not the copy that is installed
    assert find(program, "src/pkg/m.py", "helper") == "docs/helper.py"
    assert find(program, "src/pkg/m.py", "numpy") is None


def test_a_library_never_imports_from_the_repository(tmp_path: Path) -> None:
    program = link(tmp_path, ["six.py", "m.py"], {"library": "environment", "other": "environment"})
    library = program.find_stub("library")
    assert library is not None
    assert program.find_module("six", library) is None
    assert program.find_module("other", library) is program.find_stub("other")


def test_scripts_beside_each_other(tmp_path: Path) -> None:
    files = ["tools/a.py", "tools/b.py", "other/b.py", "tools/lib/__init__.py", "tools/lib/c.py"]
    program = link(tmp_path, files)
    assert find(program, "tools/a.py", "b") == "tools/b.py"
    assert find(program, "other/b.py", "b") == "other/b.py"
    assert find(program, "tools/lib/c.py", "b") == "tools/b.py"
    assert find(program, "tools/a.py", "lib.c") == "tools/lib/c.py"
    assert find(program, "tools/a.py", "tools.b") == "tools/b.py"


def test_a_stub_beside_its_source(tmp_path: Path) -> None:
    program = link(tmp_path, ["pkg/__init__.py", "pkg/a.py", "pkg/a.pyi", "pkg/native.pyi", "main.py"])
    assert find(program, "main.py", "pkg.a") == "pkg/a.py"
    assert find(program, "pkg/a.pyi", "pkg.a") == "pkg/a.py"
    assert find(program, "main.py", "pkg.native") == "pkg/native.pyi"
    package = program.find_module("pkg", importer_of(program, "main.py"))
    assert package is not None
    assert program.has_submodules(package) == ["a", "native"]
    assert program.module_names() == ["main", "pkg", "pkg.a", "pkg.native"]


def test_links(tmp_path: Path) -> None:
    make_tree(tmp_path, ["pkg/__init__.py", "pkg/a.py", "main.py"])
    (tmp_path / "alias").symlink_to("pkg")
    (tmp_path / "one.py").symlink_to("pkg/a.py")
    program = link(tmp_path, [])
    assert find(program, "main.py", "alias.a") == "pkg/a.py"
    assert find(program, "main.py", "one") == "pkg/a.py"


@pytest.mark.parametrize(("level", "name", "expected"), [(3, "m", None), (2, "m", None), (1, "m", "m.py")])
def test_a_relative_import_does_not_leave_the_root(
    tmp_path: Path, level: int, name: str, expected: str | None
) -> None:
    program = link(tmp_path, ["m.py", "n.py"])
    assert find(program, "n.py", name, level) == expected


def test_a_root_that_is_a_package(tmp_path: Path) -> None:
    make_tree(tmp_path, ["src/flask/__init__.py", "src/flask/app.py", "src/flask/json/__init__.py"])
    program = link(tmp_path / "src/flask", [])
    assert find(program, "app.py", "json", level=1) == "json/__init__.py"
    assert find(program, "app.py", "flask.json") == "json/__init__.py"
    assert find(program, "json/__init__.py", "app", level=2) == "app.py"
    assert find(program, "app.py", "flask.nope") is None


def test_a_file_without_facts_is_a_module_of_which_nothing_is_known(tmp_path: Path) -> None:
    root = make_tree(tmp_path, ["pkg/__init__.py", "pkg/a.py"])
    project = discover_project(root, load_settings(root))
    facts = read_facts(b"")
    assert isinstance(facts, ModuleFacts)
    files = [(file, facts, b"") for file in project.files if file.path != "pkg/a.py"]
    program = Program(files, project.index_modules(), lambda name: StubSource(facts, False, "environment"), (3, 12), "")
    assert find(program, "pkg/__init__.py", "pkg.a") == "pkg/a.py"
    unread = program.modules["pkg.a"]
    assert unread.origin == "unread"
    assert program.find_module("os", unread) is None
    assert unread not in program.repository
