"""A unified diff to `Change`s. In: its bytes and the files' present texts. Out: changes, by line of the present text.

    --- a/app.py
    +++ b/app.py
    @@ -1 +1 @@
    -x = 1
    +x = 2         gives Change("app.py", "changed", (1,)) where app.py holds `x = 2`

Each hunk is looked up in the present text: the new side where the patch is applied, the old side where it is not yet
(then the lines it is going to change are meant), near the line it names. A hunk found nowhere counts at the lines it
names, and the change says so. The one file that imports unidiff, which parses the format.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from contextc.errors import UserError
from contextc.passes.seeds.changes import Change, Deletion
from contextc.passes.seeds.difference import split_lines

if TYPE_CHECKING:
    from unidiff.patch import Hunk, PatchedFile

_NOWHERE = ("/dev/null", "")
_PREFIX = re.compile(r"[abciow12]/")
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_LETTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_COMBINED = re.compile(r"^diff --(?:cc|combined) (.+)$", re.MULTILINE)
_HEADER = re.compile(r"^(?:diff --git |--- |\+\+\+ |@@ -)", re.MULTILINE)
_RENAME = re.compile(r"^(?:rename|copy) (from|to) (.+)$")

_NOT_APPLIED = "the diff is not applied yet; what it is going to change is meant"


class Patch(NamedTuple):
    """The changes, and what else is to be said of the diff."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]


class _Side(NamedTuple):
    """One side of a hunk: its lines with a sign each, and the line it says it starts at."""

    start: int
    lines: tuple[str, ...]


def read_patch(data: bytes, texts: Mapping[str, bytes], name: str) -> Patch:
    """The changes of a diff against the present texts. `name`: what to call it in faults. Raises UserError for what is
    no unified diff."""
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    # `git diff > x.patch` in an older PowerShell writes UTF-16.
    is_wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = data.decode("utf-16", "replace") if is_wide else data.decode("utf-8", "surrogateescape")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not _HEADER.search(text) and text.strip():
        raise UserError(f"{name}: no unified diff as `git diff` writes it: `--- a/file`, `+++ b/file`, `@@ … @@`")
    try:
        files = list(PatchSet(text))
    except UnidiffParseError as fault:
        raise UserError(f"{name}: a damaged unified diff: {str(fault).strip()}") from fault
    changes = [_change_of(file, texts) for file in files]
    merged = _COMBINED.findall(text)
    notes = (f"a merge's combined diff, which was not read: {', '.join(merged)}",) if merged else ()
    return Patch(tuple(changes), notes)


def _change_of(file: PatchedFile, texts: Mapping[str, bytes]) -> Change:
    old, new = _paths_of(file)
    if new in _NOWHERE:
        return Change(old, "deleted")
    path = _present_path(new, texts)
    if old in _NOWHERE:
        return Change(path, "new")
    renamed = old != new
    if path not in texts and old in texts:  # a rename not made yet
        path = old
    kind, origin = ("renamed", old) if renamed and path != old else ("changed", "")
    if path not in texts:
        return Change(path, kind, old_path=origin)
    lines = split_lines(texts[path])
    touched: set[int] = set()
    deletions: list[Deletion] = []
    faults: list[str] = []
    for hunk in file:
        faults += _place_hunk(hunk, lines, touched, deletions)
    return Change(path, kind, tuple(sorted(touched)), tuple(deletions), origin, "; ".join(dict.fromkeys(faults)))


def _paths_of(file: PatchedFile) -> tuple[str, str]:
    """Old and new path, without the prefixes; those of a `rename from`/`rename to` line where there is one."""
    pair = [_strip(_unquote(side.rstrip("\r\n"))) for side in (file.source_file, file.target_file)]
    for line in file.patch_info or ():
        match = _RENAME.match(line.rstrip("\r\n"))
        if match:
            pair[match[1] == "to"] = _unquote(match[2])
    return pair[0], pair[1]


def _unquote(path: str) -> str:
    """A path as git quotes it: C escapes, bytes in octal."""
    if not (len(path) > 1 and path.startswith('"') and path.endswith('"')):
        return path

    def byte(match: re.Match[str]) -> str:
        code = match[1]
        return chr(_LETTERS[code] if code in _LETTERS else int(code, 8) & 0xFF)

    inner = path[1:-1].encode("utf-8", "surrogateescape").decode("latin-1")
    return _ESCAPE.sub(byte, inner).encode("latin-1").decode("utf-8", "surrogateescape")


def _strip(path: str) -> str:
    return path if path in _NOWHERE else _PREFIX.sub("", path, count=1).removeprefix("./")


def _present_path(path: str, texts: Mapping[str, bytes]) -> str:
    """The path in the analysed tree: as it stands, or where only one of the two is a subfolder of the other, the one
    file it can mean."""
    if path in texts:
        return path
    below = [known for known in texts if path.endswith(f"/{known}")]
    above = [known for known in texts if known.endswith(f"/{path}")]
    for found in (below, above):
        longest = [known for known in found if len(known) == max(map(len, found))]
        if len(longest) == 1 and (found is below or len(found) == 1):
            return longest[0]
    return path


def _place_hunk(hunk: Hunk, lines: Sequence[str], touched: set[int], deletions: list[Deletion]) -> list[str]:
    """Adds what a hunk touches in the present text. Gives a fault where the hunk isn't found in it."""
    signed = [(line.line_type, line.value.rstrip("\r\n")) for line in hunk if line.line_type in "+- "]
    new = _Side(max(1, hunk.target_start), tuple(text for sign, text in signed if sign != "-"))
    old = _Side(max(1, hunk.source_start), tuple(text for sign, text in signed if sign != "+"))
    if hunk.target_length == 0:
        new = _Side(hunk.target_start + 1, ())
    at = _find(lines, new)
    if at is not None and new.lines:
        _touch(signed, "+", at, touched, deletions)
        return []
    before = _find(lines, old)
    if before is not None and old.lines:
        _touch_unapplied(signed, before, touched)
        return [_NOT_APPLIED]
    _touch(signed, "+", new.start, touched, deletions)
    over = {line for line in touched if line > len(lines)}
    touched -= over
    if at is not None:
        return []
    return [f"the text around line {new.start} is not the diff's any more; its line numbers were taken as they are"]


def _find(lines: Sequence[str], side: _Side) -> int | None:
    """The line (from 1) where a side of a hunk stands, the nearest to the one it names."""
    size = len(side.lines)
    wanted = [line.rstrip("\r") for line in side.lines]
    if size == 0:
        return side.start
    places = [at for at in range(len(lines) - size + 1) if lines[at] == wanted[0]]
    for at in sorted(places, key=lambda at: abs(at + 1 - side.start)):
        if list(lines[at : at + size]) == wanted:
            return at + 1
    return None


def _touch(
    signed: Iterable[tuple[str, str]], present: str, at: int, touched: set[int], deletions: list[Deletion]
) -> None:
    """The lines with sign `present` are in the text, those with the other sign are not."""
    gone: list[str] = []
    is_replaced = False
    for sign, text in [*signed, (" ", "")]:
        if sign == present:
            touched.add(at)
            is_replaced = True
            at += 1
        elif sign != " ":
            gone.append(text)
        else:
            if gone and not is_replaced:
                deletions.append(Deletion(at - 1, tuple(gone)))
            gone, is_replaced = [], False
            at += 1


def _touch_unapplied(signed: Iterable[tuple[str, str]], at: int, touched: set[int]) -> None:
    """The old side is in the text: lines to be deleted, and for an insertion the line before it (or after, at the
    top)."""
    previous = " "
    for sign, _ in signed:
        if sign == "-":
            touched.add(at)
        elif sign == "+" and previous == " ":
            touched.add(max(1, at - 1))
        if sign != "+":
            at += 1
        previous = sign
