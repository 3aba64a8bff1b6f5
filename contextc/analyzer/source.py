"""Reading one source file: from a path under the root to normalised UTF-8 text, or the reason why not.

In: a root folder and a POSIX path relative to it. Out: `Source` (bytes of UTF-8 without BOM, line ends as they are,
SHA-256 of exactly these bytes) or a `Skip`.

    read_source(Path("proj"), "a.py")  ->  Source("a.py", b"x = 1\\n", "7f3b…", ())

The encoding is that of PEP 263: a UTF-8 BOM, else a coding cookie in the first two lines, else UTF-8. The cookie stays
in the text although it no longer tells the encoding: whoever parses `Source.text` must read it as UTF-8.
"""

# ruff: noqa: PTH116, PTH118, PTH123
# One walk touches ten thousand paths: strings and os.path, not a Path object for each.

from __future__ import annotations

import codecs
import errno
import hashlib
import os
import re
import stat
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.notebook import MAX_NOTEBOOK_BYTES, SUFFIX, read_notebook
from contextc.model.analysis import Cell
from contextc.model.diagnostic import Note, Skip, SkipReason
from contextc.model.facts import Damage

MAX_FILE_BYTES = 2_000_000
_FIRST_TWO_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)?")
_HEAD_BYTES = 8192  # CPython looks for the cookie in whole lines; no real one lies further in
_NO_SOURCE_ENCODINGS = frozenset({"idna", "punycode"})  # text codecs of quadratic cost, for host names
_TO_ASCII = bytes(range(128)) + b"?" * 128


class Source(NamedTuple):
    """A file's text. `digest` is the hexadecimal SHA-256 of `text`."""

    path: str
    text: bytes
    digest: str
    notes: tuple[Note, ...]
    cells: tuple[Cell, ...] = ()  # of a notebook
    fault: Damage | None = None  # only in what was salvaged: the first line that is no text in the file's encoding


def read_source(root: Path, path: str, max_bytes: int = MAX_FILE_BYTES) -> Source | Skip:
    """The file `path` (POSIX, relative to `root`) as normalised UTF-8, or why it can't be read. Never raises OSError.

    `max_bytes` bounds the file's size on disk, looked up before anything is read.
    """
    if path.endswith(SUFFIX):
        return _read_cells(root, path, max_bytes)
    raw = read_regular(root, path, max_bytes)
    if isinstance(raw, Skip):
        return raw
    try:
        text, notes = _normalise(raw)
    except (ValueError, LookupError, SyntaxError) as error:
        return Skip(path, SkipReason.UNDECODABLE, _sentence(error))
    notes += _line_end_notes(text)
    return Source(path, text, hashlib.sha256(text).hexdigest(), tuple(Note(path, note) for note in notes))


def normalise_source(raw: bytes) -> bytes | None:
    """The normalised text of a file's bytes, None for what is no Python source."""
    try:
        return _normalise(raw)[0]
    except (ValueError, LookupError, SyntaxError):
        return None


def _read_cells(root: Path, path: str, max_bytes: int) -> Source | Skip:
    """The code cells of a notebook. Outputs don't count to `max_bytes`."""
    raw = read_regular(root, path, max(max_bytes, MAX_NOTEBOOK_BYTES))
    if isinstance(raw, Skip):
        return raw
    try:
        text, cells, notes = read_notebook(raw, max_bytes)
    except ValueError as error:
        return Skip(path, SkipReason.UNDECODABLE, _sentence(error))
    digest = hashlib.sha256(text).hexdigest()
    return Source(path, text, digest, tuple(Note(path, note) for note in notes), cells)


def salvage_source(root: Path, skip: Skip, max_bytes: int = MAX_FILE_BYTES) -> Source | None:
    """What can be made out of a file that `read_source` could not decode: U+FFFD stands for what is no UTF-8. Python
    does not take such a file, yet what it defines is no secret. None for what is no text, or was skipped for more."""
    if skip.reason is not SkipReason.UNDECODABLE or skip.path.endswith(SUFFIX):
        return None
    raw = read_regular(root, skip.path, max_bytes)
    if isinstance(raw, Skip) or b"\0" in raw:
        return None
    body = raw.removeprefix(codecs.BOM_UTF8)
    line = 1  # where all of it is UTF-8, the coding cookie is wrong
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(re.findall(rb"\r\n|\r|\n", body[: error.start])) + 1
    text = body.decode("utf-8", "replace").encode("utf-8")
    return Source(skip.path, text, hashlib.sha256(text).hexdigest(), (), (), Damage(line, skip.detail))


def read_regular(root: Path, path: str, max_bytes: int) -> bytes | Skip:
    """The bytes of a regular file under `root`, or the reason. Sockets, pipes and devices are never opened."""
    full = os.path.join(root, path)
    try:
        if not _lies_within(os.path.realpath(full), os.path.realpath(root)):
            return Skip(path, SkipReason.OUTSIDE_ROOT, "The path leads out of the analysed root.")
        status = os.stat(full)
        if not stat.S_ISREG(status.st_mode):
            return Skip(path, SkipReason.NOT_REGULAR, f"It is {_kind_name(status.st_mode)}, not a regular file.")
        if status.st_size > max_bytes:
            return Skip(path, SkipReason.TOO_LARGE, f"{status.st_size:,} bytes; the limit is {max_bytes:,}.")
        return _read_open(full, path, max_bytes)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return Skip(path, SkipReason.SYMLINK_LOOP, "The symbolic link leads back to itself.")
        return Skip(path, SkipReason.UNREADABLE, describe_os_error(error))
    except ValueError as error:  # a NUL or a lone surrogate in the path
        return Skip(path, SkipReason.UNREADABLE, _sentence(error))


def _read_open(full: str, path: str, max_bytes: int) -> bytes | Skip:
    # Between stat and open the file may have become a pipe: O_NONBLOCK keeps open from waiting for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(full, flags)
    with open(descriptor, "rb") as stream:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            return Skip(path, SkipReason.NOT_REGULAR, f"It is {_kind_name(mode)}, not a regular file.")
        data = stream.read(max_bytes + 1)  # a file under /proc says 0 bytes and may give any number
    if len(data) > max_bytes:
        return Skip(path, SkipReason.TOO_LARGE, f"More than {max_bytes:,} bytes, the limit.")
    return data


def describe_os_error(error: OSError) -> str:
    """One sentence, without the absolute path that `str(error)` holds."""
    return f"{error.strerror or type(error).__name__}."


def _lies_within(real: str, real_root: str) -> bool:
    return real == real_root or real.startswith(real_root.rstrip(os.sep) + os.sep)


def _kind_name(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def _sentence(error: Exception) -> str:
    text = str(error).strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}." if text else f"{type(error).__name__}."


def _normalise(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """UTF-8 without BOM, and notes. Raises ValueError, LookupError or SyntaxError for what is no Python source."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError("it begins with a UTF-16 or UTF-32 mark, which Python does not read as source")
    has_bom = raw.startswith(codecs.BOM_UTF8)
    encoding = _find_encoding(raw)
    body = raw[3:] if has_bom else raw
    if b"\0" in body:
        raise ValueError("it holds NUL bytes")
    notes = ("It begins with a UTF-8 byte order mark.",) if has_bom else ()
    if encoding in ("utf-8", "utf-8-sig"):
        body.decode("utf-8")  # valid UTF-8 is kept byte for byte, U+FFFD included
        return body, notes
    text = body.decode(encoding)
    if "\0" in text:
        raise ValueError("it holds NUL characters")
    return text.encode("utf-8"), (*notes, f"Decoded as {encoding}, by its coding cookie.")


def _find_encoding(raw: bytes) -> str:
    """The canonical codec name by BOM or cookie, "utf-8" without either.

    `tokenize.detect_encoding` alone rejects a first line that is not UTF-8 although the cookie there, or on the
    second line, says so rightly; CPython takes it. Therefore it sees the two lines with other bytes masked.
    """

    def masked_lines() -> Iterator[bytes]:
        start = 3 if raw.startswith(codecs.BOM_UTF8) else 0
        for number in range(2):
            match = _FIRST_TWO_LINES.match(raw, start, start + _HEAD_BYTES)
            assert match is not None  # the pattern matches the empty string
            line = match.group().translate(_TO_ASCII).rstrip(b"\r\n") + b"\n"
            yield raw[:start] + line if number == 0 else line
            start = match.end()

    encoding, _ = tokenize.detect_encoding(masked_lines().__next__)
    name = codecs.lookup(encoding).name
    if name in _NO_SOURCE_ENCODINGS:
        raise LookupError(f"{encoding} is no encoding of source text")
    return name


def _line_end_notes(text: bytes) -> tuple[str, ...]:
    if b"\r" not in text:
        return ()
    crlf = text.count(b"\r\n")
    found = [
        name
        for name, count in (("LF", text.count(b"\n") - crlf), ("CRLF", crlf), ("CR", text.count(b"\r") - crlf))
        if count
    ]
    return (f"Line ends are {found[0]}." if len(found) == 1 else f"Line ends are mixed: {', '.join(found)}.",)
