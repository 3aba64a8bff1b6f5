"""`--stats` prints counted work, the same on every run and machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.cli import main
from tests.command import FIXTURES


def run_stats(capsys: pytest.CaptureFixture[str], tmp_path: Path, *more: str) -> str:
    words = ["graph", str(FIXTURES / "nine_files"), "--stats", "--quiet", "--no-cache"]
    assert main([*words, "--out", str(tmp_path / "g.json"), *more]) == 0
    return capsys.readouterr().err


def test_work_is_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = run_stats(capsys, tmp_path)
    assert said == run_stats(capsys, tmp_path, "--workers", "1")
    figures = {name: int(count) for name, count in (part.split() for part in said.strip().split(", "))}
    assert list(figures) == ["evaluations", "functions", "cells", "contributions", "specialisations", "cut"]
    assert figures["functions"] == 33
    assert figures["evaluations"] >= figures["functions"]
    assert figures["contributions"] >= figures["cells"] > 0
    assert figures["cut"] == 0


def test_the_name_only_resolver_infers_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert set(run_stats(capsys, tmp_path, "--resolver", "name-only").replace(",", "").split()[1::2]) == {"0"}
