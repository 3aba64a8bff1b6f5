"""What pyproject.toml, setup.cfg and setup.py say: versions, faults, and that setup.py never runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.analyzer.metadata import parse_lower_bound
from contextc.analyzer.setup_script import read_setup_call
from tests.project.trees import discover, make_tree


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        (">=3.9", (3, 9)), (">=3.9,<4", (3, 9)), (">= 3.10", (3, 10)), ("~=3.8", (3, 8)), ("~=3.8.1", (3, 8)),
        ("==3.11.*", (3, 11)), ("^3.9", (3, 9)), ("~3.9", (3, 9)), ("3.12", (3, 12)), (">3.7", (3, 7)), (">=3", (3, 0)),
        ("<4,>=3.8,!=3.9.1", (3, 8)), (">=3.8 <3.13", (3, 8)), (">=2.7, !=3.0.*", None), ("<4", None), ("", None),
        ("*", None), (">=3.9 || ^4", (3, 9)), ("nonsense", None), (">=3.6,>=3.8", (3, 8)),
    ],
)  # fmt: skip
def test_lower_bound(text: str, bound: tuple[int, int] | None) -> None:
    assert parse_lower_bound(text) == bound


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", '[project]\nrequires-python = ">=3.9"'),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.9"'),
        ("setup.cfg", "[options]\npython_requires = >=3.9"),
        ("setup.py", 'import setuptools\nsetuptools.setup(python_requires=">=3.9")'),
    ],
)
def test_python_version(tmp_path: Path, name: str, content: str) -> None:
    assert discover(make_tree(tmp_path, {name: content})).python == (3, 9)


def test_the_outermost_projects_speak_for_the_version(tmp_path: Path) -> None:
    toml = '[project]\nrequires-python = ">=3.{}"'
    files = {
        "a/pyproject.toml": toml.format(11),
        "b/pyproject.toml": toml.format(9),
        "b/fixture/pyproject.toml": toml.format(1),
    }
    assert discover(make_tree(tmp_path, files)).python == (3, 9)
    assert discover(make_tree(tmp_path, {"pyproject.toml": toml.format(12)})).python == (3, 12)
    assert discover(make_tree(tmp_path, {"pyproject.toml": '[tool.contextc]\npython = "3.13"'})).python == (3, 13)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("sub/pyproject.toml", "[project\n"),
        ("pyproject.toml", "x = " + "[" * 20_000),
        ("setup.cfg", "no section\n"),
        ("setup.py", "setup(package_dir={"),
        ("setup.py", "setup(package_dir=" + "(" * 50_000 + ")" * 50_000 + ")"),
        ("setup.py", "x = " + "-" * 100_000 + "1\nsetup(package_dir={})"),
        ("setup.py", "x = " + "1+" * 50_000 + "1\nsetup(package_dir={})"),
        ("setup.py", "x = a" + ".b" * 50_000 + "\nsetup(package_dir={})"),
        ("setup.py", "x = " + "lambda:" * 10_000 + "1\nsetup(package_dir={})"),
        ("setup.py", "\0package_dir"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_note(tmp_path: Path, name: str, content: str) -> None:
    project = discover(make_tree(tmp_path, {name: content, "src/a.py": ""}))
    assert "src/a.py" in [file.path for file in project.files]
    assert {note.path for note in project.notes} == {name}


@pytest.mark.parametrize(
    "content",
    [
        "tool = 1", "[tool]\nsetuptools = 3", "[tool.setuptools]\npackage-dir = []\npackages = []", "project = []",
        "[tool.poetry]\npackages = [1, {from = 2}]\n[tool.hatch]\nbuild = 1", "[project]\nrequires-python = 3.9",
    ],
)  # fmt: skip
def test_a_document_of_another_shape_is_no_fault(tmp_path: Path, content: str) -> None:
    project = discover(make_tree(tmp_path, {"pyproject.toml": content}))
    assert (project.roots, project.python, project.notes) == (("",), None, ())


def test_setup_script_is_parsed_never_run(tmp_path: Path) -> None:
    script = (
        f'open({str(tmp_path / "marker")!r}, "w")\nfrom setuptools import setup\nsetup(package_dir={{"": "lib"}})\n'
    )
    project = discover(make_tree(tmp_path, {"setup.py": script, "lib/a.py": ""}))
    assert project.roots == ("", "lib")
    assert not (tmp_path / "marker").exists()


def test_computed_arguments_are_passed_over() -> None:
    call = read_setup_call(b'setup(package_dir={"": place(), **more, "a": "b"}, packages=find_packages(where=here))')
    assert (call.package_dir, call.where) == ({"a": "b"}, ())
    call = read_setup_call(b'def main():\n    setuptools.setup(package_dir=dict(pkg="lib/pkg"))')
    assert call.package_dir == {"pkg": "lib/pkg"}
