"""The store of facts: what it keeps, and that no fault ever gives a wrong answer or a crash."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import contextc
from contextc.analyzer import store as store_module
from contextc.analyzer.store import FactsStore, describe_version
from tests.command import REPOSITORY

FACTS = {f"digest{number}": f'[4,"façade {number}"]' for number in range(1200)}


def fill(folder: Path) -> Path:
    store = FactsStore.open(folder)
    assert store.notes == ()
    store.put_many(FACTS.items())
    store.close()
    (file,) = folder.glob("*.sqlite3")
    return file


def answers(folder: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    store = FactsStore.open(folder)
    found = store.get_many([*FACTS, "unknown"])
    notes = tuple(note.message for note in store.notes)
    store.close()
    return found, notes


def test_what_was_put_is_found_again(tmp_path: Path) -> None:
    fill(tmp_path / "cache")
    assert answers(tmp_path / "cache") == (FACTS, ())


def test_put_replaces_and_close_ends(tmp_path: Path) -> None:
    store = FactsStore.open(tmp_path)
    store.put_many([("a", "1")])
    store.put_many([("a", "2"), ("b", "\ud800")])
    assert store.get_many(["a", "b"]) == {"a": "2", "b": "\ud800"}
    store.close()
    store.put_many([("c", "3")])
    assert store.get_many(["a", "c"]) == {}
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_folder_and_file_are_the_users_alone(tmp_path: Path) -> None:
    file = fill(tmp_path / "deep" / "cache")
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.parent.chmod(0o777)
    assert answers(file.parent) == (FACTS, ())
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name != "posix", reason="owners")
def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    found, notes = answers(tmp_path)
    assert found == {}
    assert "belongs to another user" in notes[0]


def test_a_file_behind_a_link_is_refused(tmp_path: Path) -> None:
    file = fill(tmp_path / "theirs")
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / file.name).symlink_to(file)
    assert answers(tmp_path / "ours") == ({}, (f"Cache not used: {file.name} is not a regular file.",))


@pytest.mark.parametrize("place", ["start", "middle", "everything", "empty", "half"])
def test_a_damaged_file_never_answers_wrongly(tmp_path: Path, place: str) -> None:
    file = fill(tmp_path)
    content = bytearray(file.read_bytes())
    if place == "start":
        content[:100] = b"\xff" * 100
    elif place == "middle":
        for at in range(5000, len(content), 397):
            content[at] ^= 0x55
    elif place == "everything":
        content[:] = os.urandom(len(content))
    else:
        del content[len(content) // 2 if place == "half" else 0 :]
    file.write_bytes(bytes(content))
    found, _ = answers(tmp_path)
    assert found.items() <= FACTS.items()
    fill_again = FactsStore.open(tmp_path)  # a damaged file was removed; one that was not noticed still works
    fill_again.put_many(FACTS.items())
    fill_again.close()
    assert answers(tmp_path)[0].items() <= FACTS.items()


def test_a_damaged_file_is_removed_with_a_note(tmp_path: Path) -> None:
    file = fill(tmp_path)
    file.write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    found, notes = answers(tmp_path)
    assert found == {}
    assert notes[0].startswith("Cache not used: ")
    assert "the damaged file was removed" in notes[0]
    fill(tmp_path)
    assert answers(tmp_path) == (FACTS, ())


def test_values_that_were_changed_or_swapped_are_not_given(tmp_path: Path) -> None:
    file = fill(tmp_path)
    with sqlite3.connect(file) as connection:
        (other,) = connection.execute("SELECT value FROM facts WHERE digest = 'digest1'").fetchone()
        connection.execute("UPDATE facts SET value = ? WHERE digest = 'digest2'", (other,))
        connection.execute("UPDATE facts SET value = 'text' WHERE digest = 'digest3'")
        connection.execute("UPDATE facts SET value = x'00', checksum = 'x' WHERE digest = 'digest4'")
        connection.execute("UPDATE facts SET version = 'old' WHERE digest = 'digest5'")
    connection.close()
    found, notes = answers(tmp_path)
    assert FACTS.keys() - found.keys() == {f"digest{number}" for number in range(2, 6)}
    assert found.items() <= FACTS.items()
    assert notes == ()


def test_a_table_of_another_layout_is_no_crash(tmp_path: Path) -> None:
    file = fill(tmp_path)
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE facts")
        connection.execute("CREATE TABLE facts (x)")
    connection.close()
    found, notes = answers(tmp_path)
    assert found == {}
    assert "Cache not used" in notes[0]


@pytest.mark.parametrize("folder", ["/proc/self/contextc", "/dev/null/contextc"])
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="places where nobody, root neither, can write")
def test_a_folder_that_cannot_be_made(folder: str) -> None:
    found, notes = answers(Path(folder))
    assert found == {}
    assert notes[0].startswith("Cache not used: ")


def test_a_full_disk(tmp_path: Path) -> None:
    fill(tmp_path)
    store = FactsStore.open(tmp_path)
    connection = store._connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    store.put_many((f"new{number}", os.urandom(2000).hex()) for number in range(500))
    assert [note.message for note in store.notes] == ["Cache not used: database or disk is full."]
    assert store.get_many(FACTS) == {}
    store.close()
    assert answers(tmp_path) == (FACTS, ())


def test_a_read_only_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only disk: sqlite opens, and every write fails."""
    fill(tmp_path)
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: real(f"file:{path}?mode=ro", uri=True, **options))
    found, notes = answers(tmp_path)
    store = FactsStore.open(tmp_path)
    store.put_many([("new", "1")])
    assert found in ({}, FACTS)
    assert all(note.message.startswith("Cache not used: ") for note in store.notes)
    assert store.get_many(["new"]) == {}
    assert notes == () or found == {}


def test_a_file_that_another_process_keeps_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = fill(tmp_path)
    monkeypatch.setattr(store_module, "_BUSY_SECONDS", 0.05)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store = FactsStore.open(tmp_path)
    assert store.get_many(FACTS) == FACTS  # readers don't wait for a writer
    store.put_many([("new", "1")])
    assert [note.message for note in store.notes] == ["Cache not used: database is locked."]
    other.close()
    store.close()
    assert answers(tmp_path) == (FACTS, ())


def test_processes_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from contextc.analyzer.store import FactsStore\n"
        "for turn in range(8):\n"
        "    store = FactsStore.open(Path(sys.argv[1]))\n"
        "    store.put_many((f'd{n}', f'text {n}') for n in range(turn * 40, turn * 40 + 200))\n"
        "    found = store.get_many(f'd{n}' for n in range(1000))\n"
        "    assert all(text == 'text ' + digest[1:] for digest, text in found.items())\n"
        "    assert len(found) >= 200, store.notes\n"
        "    assert not store.notes, store.notes\n"
        "    store.close()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "cache")]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) for _ in range(4)]
    failures = [process.communicate(timeout=120)[1].decode() for process in running]
    assert failures == [""] * 4


def test_another_version_starts_clean_and_old_rows_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    monkeypatch.setattr(store_module, "describe_version", lambda: "another")
    assert answers(tmp_path) == ({}, ())
    monkeypatch.setattr(time, "time", lambda: 4e9)
    assert answers(tmp_path) == ({}, ())
    monkeypatch.undo()
    assert answers(tmp_path) == ({}, ())


def test_the_store_stays_below_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    monkeypatch.setattr(store_module, "MAX_STORE_BYTES", 1)
    found, notes = answers(tmp_path)
    assert notes == ()
    assert len(found) == len(FACTS) // 2


def test_version_follows_the_readers_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "contextc"
    for folder in ("analyzer/reading", "model"):
        (package / folder).mkdir(parents=True)
    (package / "analyzer/reading/reader.py").write_text("x = 1")
    monkeypatch.setattr(contextc, "__file__", str(package / "__init__.py"))
    before = describe_version()
    assert describe_version() == before
    (package / "analyzer/reading/reader.py").write_text("x = 2")
    assert describe_version() != before


def test_where_the_cache_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("CONTEXTC_CACHE_DIR", str(tmp_path / "named"))
    FactsStore.open(None).close()
    assert [path.name for path in tmp_path.iterdir()] == ["named"]
    FactsStore.open(tmp_path / "given").close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given", "named"]
    FactsStore.open(None, repository=tmp_path).close()  # named by the user: allowed inside the repository


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="XDG folders")
def test_the_default_cache_is_never_inside_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    monkeypatch.delenv("CONTEXTC_CACHE_DIR", raising=False)
    store = FactsStore.open(None, repository=tmp_path / "home")
    assert [note.message for note in store.notes] == ["Cache not used: its folder lies inside the analysed root."]
    assert not (tmp_path / "home").exists()
    store = FactsStore.open(None, repository=tmp_path / "elsewhere")
    assert store.notes == ()
    store.close()


def test_version_names_the_parsers() -> None:
    """Another libcst may read a file in another way: its version is part of the key."""
    from importlib.metadata import version

    assert f"libcst-{version('libcst')}.dist-info" in describe_version()
    assert f"tree_sitter-{version('tree-sitter')}.dist-info" in describe_version()
