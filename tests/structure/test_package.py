"""What is installed: the wheel holds the package with its data, and the lock pins what the package asks for."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.command import REPOSITORY

PROJECT = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
LOCK = (REPOSITORY / "requirements-dev.lock").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(folder)], cwd=REPOSITORY, check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_wheel_holds_the_package_and_its_data(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    sources = {p.relative_to(REPOSITORY).as_posix() for p in (REPOSITORY / "contextc").rglob("*.py")}
    assert sources <= names
    data = {"contextc/py.typed", "contextc/graph/export/graph.schema.json", "contextc/passes/context.schema.json"}
    page = {f"contextc/passes/page/page.{kind}" for kind in ("html", "css", "js")}
    assert data | page <= names


def test_the_wheel_holds_nothing_else_at_top_level(wheel: zipfile.ZipFile) -> None:
    tops = {Path(name).parts[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"contextc"}


def test_the_wheel_has_a_console_script(wheel: zipfile.ZipFile) -> None:
    entry_points = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "contextc = contextc.__main__:main" in wheel.read(entry_points).decode()


def test_the_lock_pins_each_dependency() -> None:
    block = PROJECT.split("[project]")[1].split("[project.scripts]")[0]
    wanted = {name.lower() for name in re.findall(r'^    "([A-Za-z][\w-]*)>=', block, re.MULTILINE)}
    assert len(wanted) > 12
    pinned = set(re.findall(r"^([a-z0-9-]+)==", LOCK, re.MULTILINE))
    assert wanted <= pinned


def test_the_lock_names_versions_only() -> None:
    for line in LOCK.splitlines():
        assert line.startswith("#") or re.fullmatch(r"[a-z0-9-]+==[\w.]+(?: ; .+)?", line), line
