"""The cache of facts: JSON text by content digest, for this version of the analyser, in one sqlite file.

In: digests of normalised texts. Out: the facts stored for them, as the codec wrote them.

    store = FactsStore.open(None)          # the user's cache folder, or CONTEXTC_CACHE_DIR
    store.put_many([("7f3b…", "[4,…]")])
    store.get_many(["7f3b…", "00aa…"])     # {"7f3b…": "[4,…]"}

Losing an entry costs time, a wrong one costs the answer: each row carries a checksum over its key, its version and its
value, and whatever goes wrong (damage, a full disk, a folder that others may write) ends in a store that holds
nothing, with one note that says why.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import contextc
from contextc.analyzer.search_path import find_library
from contextc.model.codec import FORMAT
from contextc.model.diagnostic import Note

FOLDER_VARIABLE = "CONTEXTC_CACHE_DIR"
MAX_STORE_BYTES = 1 << 30
_FILE = "facts-1.sqlite3"  # the number is that of the table's layout
_BATCH = 500  # sqlite's smallest limit on parameters of one statement is 999
_BUSY_SECONDS = 5.0
_KEEP_OTHER_VERSIONS_DAYS = 14
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS facts (version TEXT NOT NULL, digest TEXT NOT NULL, day INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY (version, digest)) WITHOUT ROWID"
)


class FactsStore:
    """Facts by content digest. Usable whatever happens: after a fault it holds nothing and `notes` says why."""

    def __init__(self, connection: sqlite3.Connection | None, file: Path | None, notes: Iterable[Note] = ()) -> None:
        """Use `FactsStore.open`. Without a connection the store is empty and stays so."""
        self._connection = connection
        self._file = file
        self._version = describe_version()
        self._notes = list(notes)

    @classmethod
    def open(cls, folder: Path | None, repository: Path | None = None) -> FactsStore:
        """The store in `folder`; None: `$CONTEXTC_CACHE_DIR`, else the user's cache folder.

        A default folder that lies inside `repository` is not used: only a folder that the user names may.
        """
        named = folder or (Path(value) if (value := os.environ.get(FOLDER_VARIABLE)) else None)
        try:
            place = named or _default_folder()
            if named is None and repository is not None and _lies_inside(place, repository):
                return cls(None, None, [_unused("its folder lies inside the analysed root")])
            fault = _prepare_folder(place)
            if fault:
                return cls(None, None, [_unused(fault)])
            store = cls(None, place / _FILE)
            store._connect()
            return store
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: no home folder
            return cls(None, None, [_unused(_first_line(error))])

    @property
    def folder(self) -> Path | None:
        """The folder that the store lies in; None for one that isn't kept."""
        return self._file.parent if self._file is not None else None

    @property
    def notes(self) -> tuple[Note, ...]:
        """Why the store is not used, or was started anew; empty when all is well."""
        return tuple(self._notes)

    def get_many(self, digests: Iterable[str]) -> dict[str, str]:
        """The stored facts for those of `digests` that are known, by digest."""
        found: dict[str, str] = {}
        for batch in _batches(sorted(set(digests))):
            if self._connection is None:
                break
            marks = ",".join("?" * len(batch))
            query = f"SELECT digest, checksum, value FROM facts WHERE version = ? AND digest IN ({marks})"
            try:
                rows = self._connection.execute(query, (self._version, *batch)).fetchall()
            except sqlite3.Error as error:
                self._give_up(error)
                break
            found.update(self._intact(rows))
        return found

    def put_many(self, items: Iterable[tuple[str, str]]) -> None:
        """Stores facts by digest; an entry already there is replaced. One transaction."""
        if self._connection is None:
            return
        day = int(time.time() // 86_400)
        rows = []
        for digest, text in items:
            value = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
            rows.append((self._version, digest, day, self._checksum(digest, value), value))
        try:
            with self._connection:  # commits, or rolls back
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            self._give_up(error)

    def close(self) -> None:
        """Ends the use of the file. The store holds nothing afterwards."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):  # nothing is pending: every write was one transaction
                self._connection.close()
            self._connection = None

    def _connect(self) -> None:
        assert self._file is not None
        fault = _check_file(self._file)
        if fault:
            self._notes.append(_unused(fault))
            return
        try:
            # isolation_level None: transactions are ours. timeout: another process may be writing.
            self._connection = sqlite3.connect(self._file, timeout=_BUSY_SECONDS, isolation_level=None,
                                               check_same_thread=False)  # one thread at a time: see engine.run_deep
            for statement in ("PRAGMA trusted_schema=OFF", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL"):
                self._connection.execute(statement).fetchall()
            self._connection.execute(_SCHEMA)
            self._file.chmod(0o600)
            self._drop_old()
        except sqlite3.Error as error:
            self._give_up(error)

    def _drop_old(self) -> None:
        """Rows of other versions after two weeks; the older half when the file has grown past its limit."""
        assert self._connection is not None
        today = int(time.time() // 86_400)
        run = self._connection.execute
        old = (self._version, today - _KEEP_OTHER_VERSIONS_DAYS)
        if run("SELECT 1 FROM facts WHERE version <> ? AND day < ? LIMIT 1", old).fetchone():
            run("DELETE FROM facts WHERE version <> ? AND day < ?", old)
        pages = run("PRAGMA page_count").fetchone()[0] - run("PRAGMA freelist_count").fetchone()[0]
        if pages * run("PRAGMA page_size").fetchone()[0] > MAX_STORE_BYTES:
            run("DELETE FROM facts WHERE version <> ?", (self._version,))
            run(
                "DELETE FROM facts WHERE digest IN "
                "(SELECT digest FROM facts ORDER BY day, digest LIMIT (SELECT count(*) / 2 FROM facts))"
            )

    def _checksum(self, digest: str, value: bytes) -> int:
        return zlib.crc32(value, zlib.crc32(f"{self._version}\0{digest}\0".encode()))

    def _intact(self, rows: Iterable[tuple[object, object, object]]) -> Iterator[tuple[str, str]]:
        """Rows whose checksum fits. Types are checked: sqlite columns hold what was put there, whatever they say."""
        for digest, checksum, value in rows:
            if isinstance(digest, str) and isinstance(value, bytes) and checksum == self._checksum(digest, value):
                try:
                    yield digest, zlib.decompress(value).decode("utf-8", "surrogatepass")
                except (zlib.error, UnicodeDecodeError):
                    continue

    def _give_up(self, error: sqlite3.Error) -> None:
        """Turns into an empty store. A damaged file is removed, so that the next run starts anew."""
        self.close()
        message = _first_line(error)
        damaged = type(error) is sqlite3.DatabaseError  # "malformed", "not a database"; a subclass for the rest
        if damaged and self._file is not None:
            message += "; the damaged file was removed"
            for suffix in ("", "-wal", "-shm"):
                try:
                    Path(f"{self._file}{suffix}").unlink(missing_ok=True)
                except OSError as fault:
                    message = f"{_first_line(error)}; it could not be removed ({_first_line(fault)})"
        self._notes.append(_unused(message))


def describe_version() -> str:
    """What stored facts depend on besides the text: the product's version, the codec's format, the readers' code.

    The readers and the model are hashed (some hundred kilobytes, under a millisecond or two), so that an edit of them
    during development starts clean; so do another Python and another version of a parser.
    """
    package = Path(contextc.__file__).parent
    hasher = blake2b(digest_size=12)
    for folder in ("analyzer/reading", "model"):
        for file in sorted((package / folder).rglob("*.py")):
            try:
                content = file.read_bytes()
            except OSError:
                content = b"?"
            name = file.relative_to(package).as_posix()
            hasher.update(f"{name}\0{len(content)}\0".encode() + content)
    parsers = " ".join(_parser_versions())
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return f"{contextc.__version__}/{FORMAT}/{hasher.hexdigest()}/py{python}/{parsers}"


def _parser_versions() -> Iterator[str]:
    """As their `dist-info` folders are called: reading their metadata would cost more than the whole look-up."""
    for name in ("libcst", "tree_sitter", "tree_sitter_python"):
        place = find_library(name)
        found = sorted(path.name for path in Path(place).glob(f"{name}-*.dist-info")) if place is not None else []
        yield ",".join(found) or f"{name}-unknown"


def _default_folder() -> Path:
    from contextc.analyzer.settings import find_user_folders

    return find_user_folders().cache


def _prepare_folder(folder: Path) -> str:
    """Creates the folder, mode 0700, or takes away others' right to write. Returns what is wrong, "" if nothing."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return ""
    status = folder.stat()
    if status.st_uid != os.geteuid():
        return f"the folder {folder} belongs to another user"
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)
    return ""


def _check_file(file: Path) -> str:
    """What speaks against using the database file or its companions, "" if nothing."""
    for suffix in ("", "-wal", "-shm"):
        try:
            status = os.lstat(f"{file}{suffix}")
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode):
            return f"{file.name}{suffix} is not a regular file"
        if os.name == "posix" and status.st_uid != os.geteuid():
            return f"{file.name}{suffix} belongs to another user"
    return ""


def _lies_inside(folder: Path, repository: Path) -> bool:
    place, top = os.path.realpath(folder), os.path.realpath(repository)
    return place == top or place.startswith(top.rstrip(os.sep) + os.sep)


def _batches(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]


def _first_line(error: BaseException) -> str:
    text = (getattr(error, "strerror", None) or str(error) or type(error).__name__).splitlines()[0]
    return text[:200].rstrip(".")


def _unused(reason: str) -> Note:
    return Note("", f"Cache not used: {reason}.")
