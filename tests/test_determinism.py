"""Two runs over one tree give identical bytes, whatever the hash seed, the worker count and the state of the cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.command import FIXTURES, REPOSITORY, run

NINE = FIXTURES / "nine_files"


def digest_of_runs(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str | Path) -> set[str]:
    """Digests of what one command prints under different seeds, worker counts and caches."""
    digests = set()
    for number, (seed, workers) in enumerate([(0, 1), (1, 2), (4242, 2)]):
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / str(number // 2)))  # run 1 finds run 0's cache
        done = run(*arguments, "--workers", str(workers), seed=seed)
        assert done.stdout.strip()
        digests.add(hashlib.sha256(done.stdout.encode()).hexdigest())
    return digests


@pytest.mark.parametrize("root", [NINE, REPOSITORY / "contextc"], ids=["nine_files", "contextc"])
@pytest.mark.parametrize("form", ["json", "dot"])
def test_graph(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path, form: str) -> None:
    assert len(digest_of_runs(monkeypatch, tmp_path, "graph", root, "--format", form)) == 1


@pytest.mark.parametrize("form", ["markdown", "xml", "json"])
def test_compile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str) -> None:
    assert len(digest_of_runs(monkeypatch, tmp_path, "compile", NINE, "app/views.py", "--format", form)) == 1


def test_compile_of_own_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    arguments = ("compile", REPOSITORY / "contextc", "model/span.py", "--format", "json")
    assert len(digest_of_runs(monkeypatch, tmp_path, *arguments)) == 1


def test_the_order_files_were_made_in_does_not_show(tmp_path: Path) -> None:
    """Folder listings come in creation order on some file systems."""
    graphs = set()
    for name, backwards in (("a", False), ("b", True)):
        root = tmp_path / name / "tree"
        for source in sorted(NINE.rglob("*.py"), reverse=backwards):
            copy = root / source.relative_to(NINE)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
        os.utime(root, (0, 0))
        graphs.add(run("graph", root, "--format", "json").stdout)
    assert len(graphs) == 1
