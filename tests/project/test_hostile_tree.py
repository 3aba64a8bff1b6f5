"""Discovery and reading of the hostile repository; and its traps, which must be able to spring."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from contextc.analyzer.project import discover_project
from contextc.analyzer.settings import Settings
from contextc.analyzer.source import Source, read_source
from contextc.model.diagnostic import Skip
from tests.hostile import UNLISTED, build_hostile_repository, spring_traps

OF_THE_READERS = {"partial", "too-deep"}


def test_everything_left_out_is_listed_with_its_reason(tmp_path: Path) -> None:
    root, marker = tmp_path / "repository", tmp_path / "marker"
    expected = build_hostile_repository(root, marker)
    project = discover_project(root, Settings())
    read = [read_source(root, file.path) for file in project.files]
    skipped = [*project.skipped, *(found for found in read if isinstance(found, Skip))]
    listed = {skip.path: str(skip.reason) for skip in skipped}
    assert listed == {path: reason for path, reason in expected.items() if reason not in OF_THE_READERS}
    assert len(skipped) == len(listed)
    assert all(skip.detail.endswith(".") and str(tmp_path) not in skip.detail for skip in skipped)
    sources = {found.path: found for found in read if isinstance(found, Source)}
    assert UNLISTED.keys() <= sources.keys()
    noted = {path for path, source in sources.items() if source.notes}
    assert noted == {"latin.py", "bom.py", "crlf.py"}
    assert not marker.exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to spring its trap")
def test_traps_spring(tmp_path: Path) -> None:
    root, marker = tmp_path / "repository", tmp_path / "marker"
    build_hostile_repository(root, marker)
    spring_traps(root)
    sprung = set(marker.read_text().splitlines())
    assert {"interpreter python", "conftest", "sitecustomize", "fsmonitor"} <= sprung
