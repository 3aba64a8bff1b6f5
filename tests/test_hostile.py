"""A repository that is broken in every way at once, and that tries to run code: everything readable is analysed,
everything else is listed with its reason, and nothing of it is executed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.command import run
from tests.hostile import build_hostile_repository


class Hostile(NamedTuple):
    root: Path
    marker: Path
    listed: dict[str, str]
    graph: dict[str, Any]
    context: dict[str, Any]
    report: str


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")
    root, marker = folder / "repository", folder / "marker"
    root.mkdir()
    listed = build_hostile_repository(root, marker)
    graph = json.loads(run("graph", root, "--format", "json").stdout)
    good = next(s["path"] for s in graph["symbols"] if s["kind"] == "function")
    compiled = run("compile", root, good, "--format", "json")
    run("compare", root, good)
    return Hostile(root, marker, listed, graph, json.loads(compiled.stdout), compiled.stderr)


def test_nothing_was_executed(hostile: Hostile) -> None:
    assert not hostile.marker.exists(), "code of the analysed repository ran"


def test_each_unreadable_thing_is_listed_with_its_reason(hostile: Hostile) -> None:
    assert hostile.listed
    said = {(skip["path"], skip["reason"]) for skip in hostile.graph["skipped"]}
    missing = {(path, str(reason)) for path, reason in hostile.listed.items()} - said
    assert not missing, f"listed: {sorted(said)}"


def test_nothing_sound_is_skipped(hostile: Hostile) -> None:
    unexpected = {skip["path"] for skip in hostile.graph["skipped"]} - set(hostile.listed)
    assert not unexpected


def test_the_rest_is_analysed(hostile: Hostile) -> None:
    analysed = {s["path"] for s in hostile.graph["symbols"]}
    unread = {path for path, reason in hostile.listed.items() if str(reason) != "partial"}
    everything = {p.relative_to(hostile.root).as_posix() for p in hostile.root.glob("*.py") if p.is_file()}
    assert everything - unread <= analysed


def test_the_report_lists_them_too(hostile: Hostile) -> None:
    assert hostile.context["tokens"] > 0
    assert f"not analysed ({len(hostile.listed)})" in hostile.report
    for path, reason in hostile.listed.items():
        assert re.search(rf"{re.escape(path[:100])}.* \({reason}\)", hostile.report), path


def test_no_absolute_path_gets_out(hostile: Hostile) -> None:
    assert str(hostile.root.parent) not in json.dumps([hostile.graph, hostile.context])
