"""Module names and ids over layouts, and the way from an import back to the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from contextc.analyzer.modules import MISSING, Found
from contextc.analyzer.project import Project
from tests.project.trees import discover, make_tree


def modules_of(project: Project) -> dict[str, str]:
    assert len({file.module_id for file in project.files}) == len(project.files)
    return {file.path: file.module for file in project.files}


def ids_of(project: Project) -> dict[str, str]:
    return {file.path: file.module_id for file in project.files}


LAYOUTS: list[tuple[str, Mapping[str, str], list[str], dict[str, str]]] = [
    (
        "flat",
        {"app.py": "", "pkg/__init__.py": "", "pkg/mod.py": "", "tests/test_x.py": "", "pkg/__main__.py": ""},
        [""],
        {"app.py": "app", "pkg/__init__.py": "pkg", "pkg/mod.py": "pkg.mod", "tests/test_x.py": "tests.test_x",
         "pkg/__main__.py": "pkg.__main__"},
    ),
    (
        "src",
        {"src/pkg/__init__.py": "", "src/pkg/sub/a.py": "", "src/one.py": "", "tests/__init__.py": ""},
        ["", "src"],
        {"src/pkg/__init__.py": "pkg", "src/pkg/sub/a.py": "pkg.sub.a", "src/one.py": "one",
         "tests/__init__.py": "tests"},
    ),
    ("src that is a package", {"src/__init__.py": "", "src/a.py": ""}, [""], {"src/__init__.py": "src",
     "src/a.py": "src.a"}),
    ("namespace", {"google/cloud/foo/__init__.py": ""}, [""], {"google/cloud/foo/__init__.py": "google.cloud.foo"}),
    (
        "monorepo",
        {"services/a/pyproject.toml": "", "services/a/src/pkg/mod.py": "", "services/b/setup.cfg": "",
         "services/b/other.py": "",
         "services/c/setup.py": "", "services/c/src/third.py": "", "services/d/fourth.py": ""},
        ["", "services/a", "services/a/src", "services/b", "services/c", "services/c/src"],
        {"services/a/src/pkg/mod.py": "pkg.mod", "services/b/other.py": "other", "services/c/setup.py": "setup",
         "services/c/src/third.py": "third", "services/d/fourth.py": "services.d.fourth"},
    ),
    (
        "setuptools package-dir",
        {"pyproject.toml": '[tool.setuptools.package-dir]\n"" = "lib"\nextra = "odd/place"\n"ns.inner" = "odd/inner"',
         "lib/pkg/a.py": "", "odd/place/__init__.py": "", "odd/place/b.py": "", "odd/inner/c.py": "", "odd/d.py": ""},
        ["", "lib", "odd/inner", "odd/place"],
        {"lib/pkg/a.py": "pkg.a", "odd/place/__init__.py": "extra", "odd/place/b.py": "extra.b",
         "odd/inner/c.py": "ns.inner.c", "odd/d.py": "odd.d"},
    ),
    (
        "setuptools find where",
        {"pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["lib", "./more/", "../out", "/abs", "missing"]',
         "lib/a.py": "", "more/b.py": ""},
        ["", "lib", "more"],
        {"lib/a.py": "a", "more/b.py": "b"},
    ),
    (
        "setup.cfg",
        {"setup.cfg": "[options]\npackage_dir =\n    = lib\n[options.packages.find]\nwhere = more\n", "lib/a.py": "",
         "more/b.py": ""},
        ["", "lib", "more"],
        {"lib/a.py": "a", "more/b.py": "b"},
    ),
    (
        "setup.py",
        {"setup.py": 'from setuptools import *\nPLACES = {"": "lib"}\nif True:\n'
         '    setup(package_dir=PLACES, packages=find_packages("more"))\n',
         "lib/a.py": "", "more/b.py": ""},
        ["", "lib", "more"],
        {"setup.py": "setup", "lib/a.py": "a", "more/b.py": "b"},
    ),
    (
        "poetry",
        {"pyproject.toml": '[tool.poetry]\npackages = [{include = "pkg", from = "code"}, {include = "x"}]',
         "code/pkg/a.py": ""},
        ["", "code"],
        {"code/pkg/a.py": "pkg.a"},
    ),
    (
        "hatch",
        {"pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["code/pkg"]\n'
         '[tool.hatch.build.targets.wheel.sources]\n"odd/x" = "renamed"',
         "code/pkg/a.py": "", "odd/x/b.py": ""},
        ["", "code", "odd/x"],
        {"code/pkg/a.py": "pkg.a", "odd/x/b.py": "renamed.b"},
    ),
    (
        "others",
        {"a/pyproject.toml": '[tool.pdm.build]\npackage-dir = "p"', "a/p/a.py": "",
         "b/pyproject.toml": '[tool.maturin]\npython-source = "python"', "b/python/b.py": "",
         "c/pyproject.toml": '[tool.uv.build-backend]\nmodule-root = "m"', "c/m/c.py": "",
         "d/pyproject.toml": '[tool.scikit-build]\nwheel.packages = ["s/d"]', "d/s/d/e.py": ""},
        ["", "a", "a/p", "b", "b/python", "c", "c/m", "d", "d/s"],
        {"a/p/a.py": "a", "b/python/b.py": "b", "c/m/c.py": "c", "d/s/d/e.py": "d.e"},
    ),
    (
        "odd names",
        {"foo.bar.py": "", "foo/bar.py": "", "my-script.py": "", "a:b.py": "", "x@y#z.py": "", "50%.py": "",
         "a b.py": ""},
        [""],
        {"foo.bar.py": "foo%2Ebar", "foo/bar.py": "foo.bar", "my-script.py": "my-script", "a:b.py": "a%3Ab",
         "x@y#z.py": "x%40y%23z", "50%.py": "50%25", "a b.py": "a%20b"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "roots", "names"), [row[1:] for row in LAYOUTS], ids=[row[0] for row in LAYOUTS])
def test_layouts(tmp_path: Path, files: Mapping[str, str], roots: list[str], names: dict[str, str]) -> None:
    project = discover(make_tree(tmp_path, files))
    assert list(project.roots) == roots
    assert modules_of(project) == names
    assert project.notes == ()


def test_a_root_that_is_a_package(tmp_path: Path) -> None:
    files = ["src/flask/__init__.py", "src/flask/json/__init__.py", "src/flask/json/tag.py", "src/flask/data/x.py"]
    make_tree(tmp_path, files)
    outer = discover(tmp_path / "src/flask")
    assert modules_of(outer) == {
        "__init__.py": "flask", "json/__init__.py": "flask.json", "json/tag.py": "flask.json.tag",
        "data/x.py": "flask.data.x",
    }  # fmt: skip
    inner = discover(tmp_path / "src/flask/json")
    assert modules_of(inner) == {"__init__.py": "flask.json", "tag.py": "flask.json.tag"}
    index = inner.index_modules()
    assert index.find(inner.files[1], "flask.json") == Found(inner.files[0], ("",))
    assert index.find(inner.files[1], "flask") is None
    assert index.find(inner.files[1], "tag") is None
    assert index.find_elsewhere(inner.files[1], "tag") == Found(inner.files[1], ())  # run as a script


def test_names_do_not_depend_on_what_is_included(tmp_path: Path) -> None:
    files = {"a/pyproject.toml": '[tool.setuptools.package-dir]\n"" = "lib"', "a/lib/pkg/x.py": "", "b/y.py": ""}
    root = make_tree(tmp_path, files)
    assert modules_of(discover(root, include=["x.py"])) == {"a/lib/pkg/x.py": "pkg.x"}
    assert modules_of(discover(root, include=["/a/lib/pkg/"])) == {"a/lib/pkg/x.py": "pkg.x"}


def test_ids_are_unique_across_roots(tmp_path: Path) -> None:
    files = [
        "services/a/pyproject.toml", "services/a/src/pkg/mod.py", "services/b/pyproject.toml",
        "services/b/src/pkg/mod.py",
        "services/b/src/pkg/only.py", "pkg/mod.py", "pkg/mod.pyi",
    ]  # fmt: skip
    assert ids_of(discover(make_tree(tmp_path, files))) == {
        "services/a/src/pkg/mod.py": "pkg.mod@services/a/src",
        "services/b/src/pkg/mod.py": "pkg.mod@services/b/src",
        "services/b/src/pkg/only.py": "pkg.only",
        "pkg/mod.py": "pkg.mod@.",
        "pkg/mod.pyi": "pkg.mod@.@stub",
    }


def test_ids_are_unique_within_a_root(tmp_path: Path) -> None:
    files = ["a.py", "a.pyi", "b.pyi", "c.py", "c.pyi", "c/__init__.py", "c/__init__.pyi", "d.py", "d/__init__.pyi"]
    project = discover(make_tree(tmp_path, files))
    assert ids_of(project) == {
        "a.py": "a",
        "a.pyi": "a@stub",
        "b.pyi": "b",
        "c.py": "c@shadowed",
        "c.pyi": "c@stub@shadowed",
        "c/__init__.py": "c",
        "c/__init__.pyi": "c@stub",
        "d.py": "d",
        "d/__init__.pyi": "d@stub",
    }
    assert {file.path for file in project.files if file.is_stub} == {path for path in files if path.endswith("i")}
    assert {file.path for file in project.files if file.is_package} == {path for path in files if "/__init__" in path}


def find(project: Project, importer: str, name: str, elsewhere: bool = False) -> str | None:
    index = project.index_modules()
    file = next(file for file in project.files if file.path == importer)
    found = index.find(file, name)
    if elsewhere:
        found = index.find_in_roots(file, name) or index.find_elsewhere(file, name)
    if found is None:
        return None
    if found == MISSING:
        return "missing"
    return found.file.path if found.file else "+".join(found.folders) + "/"


def test_search(tmp_path: Path) -> None:
    files = [
        "pyproject.toml", "src/pkg/__init__.py", "src/pkg/logging.py", "src/pkg/views.py", "src/ns/inner/x.py",
        "tests/test_a.py", "tests/helpers.py", "tests/unit/__init__.py", "tests/unit/test_b.py", "conftest.py",
        "examples/naval/setup.py", "examples/naval/logging.py", "lib/vendored/__init__.py",
    ]  # fmt: skip
    root = make_tree(tmp_path, files)
    (root / "src/alias").symlink_to("pkg")
    project = discover(root)
    assert find(project, "src/pkg/views.py", "pkg.logging") == "src/pkg/logging.py"
    assert find(project, "src/pkg/views.py", "pkg") == "src/pkg/__init__.py"
    assert find(project, "src/pkg/views.py", "alias.logging") == "src/pkg/logging.py"
    assert find(project, "src/pkg/views.py", "ns") == "src/ns/"
    assert find(project, "src/pkg/views.py", "ns.inner.x") == "src/ns/inner/x.py"
    assert find(project, "src/pkg/views.py", "logging") is None  # the standard library's
    assert find(project, "tests/test_a.py", "helpers") == "tests/helpers.py"  # the script's own folder
    assert find(project, "tests/unit/test_b.py", "helpers") == "tests/helpers.py"  # above its outermost package
    assert find(project, "tests/unit/test_b.py", "unit.test_b") == "tests/unit/test_b.py"
    assert find(project, "tests/unit/test_b.py", "tests.unit.test_b") == "tests/unit/test_b.py"
    assert find(project, "tests/test_a.py", "pkg.views") is None
    assert find(project, "tests/test_a.py", "pkg.views", elsewhere=True) == "src/pkg/views.py"
    assert find(project, "src/pkg/views.py", "conftest", elsewhere=True) == "conftest.py"
    assert find(project, "src/pkg/views.py", "vendored", elsewhere=True) == "lib/vendored/__init__.py"
    assert find(project, "src/pkg/views.py", "src.pkg.views", elsewhere=True) == "src/pkg/views.py"
    assert find(project, "src/pkg/views.py", "numpy", elsewhere=True) is None


def test_search_prefers_the_importers_own_root(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, [f"{name}/{file}" for name in "ab" for file in ("pyproject.toml", "pkg/m.py", "pkg/n.py")]
    )
    project = discover(root)
    assert find(project, "a/pkg/n.py", "pkg.m") == "a/pkg/m.py"
    assert find(project, "b/pkg/n.py", "pkg.m") == "b/pkg/m.py"


def test_search_stays_in_the_package_that_comes_first(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        [
            "a/pyproject.toml", "a/pkg/__init__.py", "a/pkg/m.py", "a/plain.py", "a/space/one.py", "a/deep/sub/x.py",
            "b/pyproject.toml", "b/pkg/__init__.py", "b/pkg/only.py", "b/plain/x.py", "b/space/two.py",
            "b/space/__init__.py", "a/deep/__init__.py",
        ],
    )  # fmt: skip
    project = discover(root)
    assert find(project, "a/pkg/m.py", "pkg.only") == "missing"
    assert find(project, "a/pkg/m.py", "plain.x") == "missing"
    assert find(project, "a/pkg/m.py", "space.two") is None
    assert find(project, "a/pkg/m.py", "space.two", elsewhere=True) == "b/space/two.py"
    assert find(project, "a/pkg/m.py", "deep.sub") == "a/deep/sub/"
    assert find(project, "a/pkg/m.py", "deep.sub.x") == "a/deep/sub/x.py"
    assert find(project, "a/pkg/m.py", "deep.nope") == "missing"
    index = project.index_modules(["a/pkg/__init__.py"])
    importer = next(file for file in project.files if file.path == "a/pkg/m.py")
    assert index.find(importer, "pkg.only") is None
    found = index.find_in_roots(importer, "pkg.only")
    assert found is not None and found.file is not None and found.file.path == "b/pkg/only.py"


def test_what_lies_inside_folders(tmp_path: Path) -> None:
    root = make_tree(tmp_path, ["p/__init__.py", "p/a.py", "p/a.pyi", "p/sub/deep/x.py", "q/b.py", "q/notes.txt"])
    (root / "p/alias").symlink_to("sub")
    (root / "p/linked.py").symlink_to("a.py")
    index = discover(root).index_modules()
    assert index.list_inside(["p"]) == ["a", "alias", "linked", "sub"]
    assert index.list_inside(["p", "q"]) == ["a", "alias", "b", "linked", "sub"]
    assert index.list_inside([""]) == ["p", "q"]
    assert index.list_inside(["nowhere"]) == []
    assert index.find_inside(["q", "p"], "alias.deep") == Found(None, ("p/sub/deep",))
    found = index.find_inside(["q", "p"], "linked")
    assert found is not None and found.file is not None and found.file.path == "p/a.py"


def test_search_prefers_source_and_package(tmp_path: Path) -> None:
    project = discover(make_tree(tmp_path, ["a.py", "a.pyi", "b.py", "b/__init__.py", "c.pyi", "main.py"]))
    assert [find(project, "main.py", name) for name in "abc"] == ["a.py", "b/__init__.py", "c.pyi"]


def test_metadata_of_a_prefix_is_searched(tmp_path: Path) -> None:
    toml = '[tool.setuptools.package-dir]\nextra = "odd/place"'
    project = discover(
        make_tree(tmp_path, {"pyproject.toml": toml, "odd/place/__init__.py": "", "odd/place/b.py": "", "m.py": ""})
    )
    assert find(project, "odd/place/b.py", "extra.b") == "odd/place/b.py"
    assert find(project, "m.py", "extra.b", elsewhere=True) == "odd/place/b.py"
