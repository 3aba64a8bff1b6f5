"""Facts come from the store where they were read before; outside modules are read together and decoded when needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextc.analyzer import loading
from contextc.analyzer.loading import StubReader, imported_modules
from contextc.analyzer.reading import pool as pool_module
from contextc.analyzer.reading.pool import ReaderPool
from contextc.analyzer.reading.read import read_facts
from contextc.analyzer.store import FactsStore
from contextc.engine import Options, analyze_repository
from contextc.model.facts import ModuleFacts
from tests.command import FIXTURES, run

NINE = FIXTURES / "nine_files"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FactsStore]:
    store = FactsStore.open(tmp_path / "cache")
    yield store
    store.close()


def no_process(*_: object) -> None:
    raise AssertionError("a reader process was started")


def test_a_second_typed_run_starts_no_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTC_CACHE_DIR", str(tmp_path))
    first = analyze_repository(Options(NINE))
    assert first.notes == ()
    monkeypatch.setattr(pool_module, "_Worker", no_process)
    second = analyze_repository(Options(NINE))
    assert second.analysis == first.analysis
    with pytest.raises(AssertionError, match="reader process"):
        analyze_repository(Options(NINE, cache=False))


def test_imports_of_stubs_are_read_in_waves_and_decoded_on_demand(
    store: FactsStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    batches: list[int] = []
    read = ReaderPool.read_all

    def count(pool: ReaderPool, jobs: list[tuple[str, bytes]], on_done: object = None) -> object:
        if jobs:
            batches.append(len(jobs))
        return read(pool, jobs, None)

    monkeypatch.setattr(ReaderPool, "read_all", count)
    with ReaderPool(2) as pool:
        cold = StubReader(None, None, "linux", store, pool)
        cold.prefetch(["json"])
        waves = len(batches)
        assert 1 < waves < 12
        for name in ("json", "json.decoder", "builtins", "_typeshed"):
            assert cold.load(name) is not None
        assert len(batches) == waves, "what a prefetched module imports was at hand"
        decoded: list[str] = []
        decode = loading.decode_facts

        def note(text: str) -> ModuleFacts:
            decoded.append(text)
            return decode(text)

        monkeypatch.setattr(loading, "decode_facts", note)
        warm = StubReader(None, None, "linux", store, pool)
        warm.prefetch(["json"])
        assert decoded == []
        assert warm.load("json") == cold.load("json")
        assert warm.load("json") is warm.load("json")
        assert len(decoded) == 1
        assert len(batches) == waves


def test_modules_of_equal_text_are_each_loaded(store: FactsStore, tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    for package in ("one", "two"):
        (site / package).mkdir(parents=True)
        (site / package / "__init__.py").write_bytes(b"x = 1\n")
    (tmp_path / "env" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    with ReaderPool(1) as pool:
        reader = StubReader(tmp_path / "env", None, "linux", store, pool)
        loaded = [reader.load(name) for name in ("one", "two")]
        assert loaded[0] == loaded[1] != None  # noqa: E711
        assert reader.load("three") is None


def test_sources_of_the_environment_are_read_when_asked_for(store: FactsStore, tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    (site / "one.py").write_text("import two\n")
    (site / "typed.pyi").write_text("import three\n")
    for name in ("two", "three"):
        (site / f"{name}.py").write_text("x = 1\n")
    with ReaderPool(1) as pool:
        reader = StubReader(tmp_path / "env", None, "linux", store, pool)
        reader.prefetch(["one", "typed"])
        assert {"one", "typed", "three"} <= set(reader._located)
        assert "two" not in reader._located
        assert reader.load("two") is not None


def test_facts_of_another_format_in_the_store_are_read_anew(store: FactsStore) -> None:
    with ReaderPool(1) as pool:
        good = StubReader(None, None, "linux", FactsStore(None, None), pool).load("abc")
        reader = StubReader(None, None, "linux", store, pool)
        located = reader._locate("abc")
        assert located is not None
        store.put_many([(located.digest, '["x"]')])
        assert reader.load("abc") == good
        assert StubReader(None, None, "linux", store, pool).load("abc") == good


@pytest.mark.parametrize(("oldest", "found"), [(None, True), ((3, 11), True), ((3, 12), False)])
def test_modules_that_went_before_the_stubs_version(
    store: FactsStore, oldest: tuple[int, int] | None, found: bool
) -> None:
    with ReaderPool(1) as pool:
        reader = StubReader(None, oldest, "linux", store, pool)
        assert reader.python == (3, 12)
        assert (reader.load("imp") is not None) is found


def test_imported_modules() -> None:
    text = b"import a.b, c as d\nfrom e.f import g\n"
    text += b"if x:\n    from . import h\n    from ..i import j\nfrom .... import k\n"
    facts = read_facts(text)
    assert isinstance(facts, ModuleFacts)
    assert list(imported_modules(facts)) == ["a.b", "c", "e.f"]
    assert list(imported_modules(facts, "p.q")) == ["a.b", "c", "e.f", "p.q", "p.i"]


def test_a_cache_that_cannot_be_used_is_told_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTC_CACHE_DIR", str(tmp_path / "good"))
    good = run("graph", NINE)
    assert "Cache" not in good.stderr
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONTEXTC_CACHE_DIR", str(tmp_path / "file"))
    bad = run("graph", NINE)
    assert bad.stderr.startswith("Cache not used: ")
    assert bad.stdout == good.stdout
