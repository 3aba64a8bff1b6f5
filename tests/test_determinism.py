"""Two runs over one tree give identical bytes, whatever the hash seed, the worker count and the state of the cache."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command import FIXTURES, REPOSITORY, run

NINE = FIXTURES / "nine_files"
OWN = REPOSITORY / "contextc"


@pytest.fixture(scope="module")
def cold_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second cache, filled by this module's tests alone."""
    return tmp_path_factory.mktemp("second-cache")


def assert_equal_runs(monkeypatch: pytest.MonkeyPatch, cache: Path, *arguments: str | Path) -> None:
    """One run in the test session's cache, one in `cache`, under another hash seed and with other workers."""
    first = run(*arguments, "--workers", "1", seed=0).stdout
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    second = run(*arguments, "--workers", "2", seed=4242).stdout
    assert first.strip()
    assert first == second


@pytest.mark.parametrize(("root", "form"), [(NINE, "json"), (NINE, "dot"), (OWN / "graph", "json")])
def test_graph(monkeypatch: pytest.MonkeyPatch, cold_cache: Path, root: Path, form: str) -> None:
    assert_equal_runs(monkeypatch, cold_cache, "graph", root, "--format", form)


def test_graph_by_names(monkeypatch: pytest.MonkeyPatch, cold_cache: Path) -> None:
    assert_equal_runs(monkeypatch, cold_cache, "graph", OWN / "passes", "--resolver", "name-only")


@pytest.mark.parametrize("form", ["markdown", "xml", "json"])
def test_compile(monkeypatch: pytest.MonkeyPatch, cold_cache: Path, form: str) -> None:
    assert_equal_runs(monkeypatch, cold_cache, "compile", NINE, "app/views.py", "--format", form, "--explain")


def test_compile_of_own_code(monkeypatch: pytest.MonkeyPatch, cold_cache: Path) -> None:
    assert_equal_runs(monkeypatch, cold_cache, "compile", OWN / "graph", "queries.py", "--format", "json")


def test_compare(monkeypatch: pytest.MonkeyPatch, cold_cache: Path) -> None:
    assert_equal_runs(monkeypatch, cold_cache, "compare", NINE, "app/views.py")


def test_the_cache_does_not_show() -> None:
    without = run("graph", NINE, "--no-cache").stdout
    assert without == run("graph", NINE).stdout == run("graph", NINE).stdout


def test_the_order_files_were_made_in_does_not_show(tmp_path: Path) -> None:
    """Folder listings come in creation order on some file systems."""
    graphs = set()
    for name, backwards in (("a", False), ("b", True)):
        root = tmp_path / name / "tree"
        for source in sorted(NINE.rglob("*.py"), reverse=backwards):
            copy = root / source.relative_to(NINE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        graphs.add(run("graph", root).stdout)
    assert len(graphs) == 1
