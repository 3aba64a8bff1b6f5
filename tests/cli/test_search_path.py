"""Nothing that lies in the current folder is imported, whatever it is called and however the command is started."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

from contextc.analyzer import search_path
from tests.command import FIXTURES, REPOSITORY

NAMES = (
    "__future__", "argparse", "json", "hashlib", "sqlite3", "subprocess", "typing", "dataclasses", "pathlib", "re",
    "libcst", "tree_sitter", "tree_sitter_python", "jedi", "parso", "networkx", "typeshed_client", "platformdirs",
    "pathspec", "rich", "splintr", "numpy", "yaml",
)  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a package and a module for each of the names, all of which leave a mark when they are run."""
    root = tmp_path / "repository"
    shutil.copytree(FIXTURES / "nine_files", root)
    for name in NAMES:
        (root / name).mkdir()
        for path in (root / name / "__init__.py", root / f"{name}.py"):
            path.write_text(f"with open({str(tmp_path / 'marker')!r}, 'a') as stream:\n    stream.write('{name} ')\n")
    return root


def find_script(folder: Path) -> Path:
    """The console script as an installer writes it, from the entry point that the project declares."""
    declared = re.search(r'^contextc = "([\w.]+):(\w+)"', (REPOSITORY / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared is not None
    script = folder / "contextc-script.py"
    module, function = declared.groups()
    script.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    return script


@pytest.mark.parametrize("start", ["module", "script"])
@pytest.mark.parametrize("path", ["first", "with an empty entry"])
def test_nothing_of_the_current_folder_is_run(tmp_path: Path, repository: Path, start: str, path: str) -> None:
    command = ["-m", "contextc"] if start == "module" else [str(find_script(tmp_path))]
    separator = os.pathsep if path != "first" else ""
    environment = os.environ | {
        "PYTHONPATH": f"{REPOSITORY}{separator}",
        "CONTEXTC_CACHE_DIR": str(tmp_path / "cache"),
    }
    for words in (["compile", ".", "app/views.py"], ["graph", ".", "--format", "dot"], ["graph", "."]):
        done = subprocess.run(
            [sys.executable, *command, *words], cwd=repository, env=environment, capture_output=True, text=True
        )
        marker = tmp_path / "marker"
        assert not marker.exists(), marker.read_text()
        assert done.returncode == 0, done.stderr


def test_the_package_may_lie_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "contextc").symlink_to(REPOSITORY / "contextc", target_is_directory=True)
    done = subprocess.run(
        [sys.executable, "-m", "contextc", "graph", str(FIXTURES / "nine_files"), "--out", os.devnull],
        cwd=tmp_path, env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "9 files" in done.stderr


def test_libraries_are_found_where_an_import_would_find_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import libcst

    (tmp_path / "libcst").mkdir()
    (tmp_path / "libcst" / "__init__.py").write_text("")
    (tmp_path / "lone.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert search_path.find_library("libcst") == str(Path(libcst.__file__).parents[1])
    assert search_path.find_library("lone") is None
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert search_path.find_library("lone") == str(tmp_path)
    assert search_path.find_library("libcst") == str(tmp_path)


def test_entries_that_are_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    monkeypatch.chdir(tmp_path / "real")
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path / "link"), str(tmp_path / "real"), "/other", "sub"])
    search_path.leave_out_current_folder()
    assert sys.path == ["/other", "sub"]


def test_site_packages_stay_even_as_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (site.getsitepackages()[0], str(Path(os.__file__).parent)):
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "path", [folder])
        search_path.leave_out_current_folder()
        assert sys.path == [folder]
    theirs = tmp_path / "site-packages"
    theirs.mkdir()
    monkeypatch.chdir(theirs)
    monkeypatch.setattr(sys, "path", [str(theirs)])
    search_path.leave_out_current_folder()
    assert sys.path == []


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a current folder can't be removed")
def test_a_current_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setattr(sys, "path", ["", "/other"])
    search_path.leave_out_current_folder()
    assert sys.path == ["/other"]
    monkeypatch.chdir(tmp_path)
