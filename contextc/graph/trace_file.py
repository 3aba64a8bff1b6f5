"""Reading a recording of calls: which function called which, and what ran, while the user's own command did.

In: a file of `contextc trace`, or a pair NAME.edges.jsonl.gz and NAME.exec.json.gz given by any of its names. Out: a
`Trace`. A file is JSON Lines, packed with gzip or not, whatever it is called:

    {"schema": "contextc.trace/1", "python": "3.12.1", "backend": "monitoring", "spans": "exact", …}
    {"caller": {"path": "app.py", "raw": "main"}, "callee": {…}, "line": 3, "site": [3, 4, 3, 10], "kind": "explicit"}
    {"exec": {"lines": {"app.py": [1, 2, 3]}, "call_sites": [{"path": "app.py", "line": 3, "site": [3, 4, 3, 10], …}]}}

A recording comes from outside: each field that is read is checked, and a file of another shape is a UserError.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from contextc.errors import UserError
from contextc.model.edge import Site

SCHEMA = "contextc.trace/1"
MAX_BYTES = 1 << 30  # unpacked; Django's own test suite leaves 20 MB
_EDGES, _EXEC = ".edges.jsonl.gz", ".exec.json.gz"
_MAGIC = b"\x1f\x8b"


class Code(NamedTuple):
    """A function, class body or module as the interpreter names it: path below the recorded root, `co_qualname`."""

    path: str
    raw: str


class RecordedCall(NamedTuple):
    """One edge: `callee` ran from `caller`. `kind` and `op` are the recorder's words; `site` is None for what is no
    call expression, and on interpreters that know lines only."""

    caller: Code
    callee: Code
    line: int
    site: Site | None
    kind: str
    op: str
    times: int


class RanSite(NamedTuple):
    """A call expression that ran `times` times. `outside` names callees that aren't recorded, `made` the classes
    (`module:qualname`) that were instantiated."""

    path: str
    line: int
    site: Site | None
    times: int
    outside: tuple[str, ...]
    made: tuple[str, ...]


class Trace(NamedTuple):
    """A recording. `spans`: call expressions have columns, not lines alone. `status`: of the recorded command, None
    where it isn't told. `lines`: those that ran, by path."""

    name: str  # of the file, without its folder
    python: str
    backend: str
    spans: bool
    status: int | None
    calls: tuple[RecordedCall, ...]
    sites: tuple[RanSite, ...]
    lines: Mapping[str, frozenset[int]]

    def paths(self) -> tuple[str, ...]:
        """Every file the recording speaks of, sorted."""
        ends = (code.path for call in self.calls for code in (call.caller, call.callee))
        return tuple(sorted({*ends, *(site.path for site in self.sites), *self.lines}))


def read_trace(path: Path) -> Trace:
    """The recording in that file. Raises UserError: no such file, no recording, or one that ends too early."""
    pair = _find_pair(path)
    try:
        if pair is None:
            return _read_single(path)
        edges, ran = pair
        executed = _Reader(f"'{ran}'", _one_object(ran))
        calls = tuple(_read_call(row) for row in _rows(edges))
        return _assemble(edges.name.removesuffix(_EDGES), {}, calls, executed)
    except (OSError, EOFError, zlib.error) as fault:
        raise UserError(f"--trace: can't read '{path}': {_describe(fault)}") from fault


def check_root(trace: Trace, root: Path) -> None:
    """Raises UserError where no file of the recording lies under `root`: it was made from another tree."""
    paths = trace.paths()
    if not paths:
        raise UserError(f"--trace: '{trace.name}' recorded nothing: no file of the recorded root ran")
    if not any(_exists(root, path) for path in paths):
        raise UserError(
            f"--trace: '{trace.name}' is of another tree: none of its {len(paths):,} files lies under '{root}' "
            f"(the first is '{paths[0]}'); give as ROOT the folder that was recorded"
        )


def _exists(root: Path, path: str) -> bool:
    try:
        return (root / path).is_file()
    except (OSError, ValueError):
        return False


def _describe(fault: Exception) -> str:
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror
    return f"damaged gzip data ({fault})"


# ----------------------------------------------------------------------------------------------------- files


def _find_pair(path: Path) -> tuple[Path, Path] | None:
    """Both files of a recording in the oracle's form; None for a file that stands alone. Raises UserError."""
    name = str(path)
    for suffix in (_EDGES, _EXEC):
        name = name.removesuffix(suffix)
    if name == str(path) and path.is_file():
        return None
    edges, ran = Path(name + _EDGES), Path(name + _EXEC)
    there = [part for part in (edges, ran) if part.is_file()]
    if len(there) == 2:
        return edges, ran
    if there:
        missing = ran if there == [edges] else edges
        raise UserError(f"--trace: '{there[0]}' has no '{missing.name}' beside it: a recording is both")
    if path.is_dir():
        raise UserError(f"--trace: '{path}' is a folder, give a file of `contextc trace`")
    raise UserError(f"--trace: no file '{path}': record one with `contextc trace ROOT --out FILE -- COMMAND`")


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, packed or not, up to MAX_BYTES in all."""
    with path.open("rb") as file:
        packed = file.read(2) == _MAGIC
        file.seek(0)
        stream = io.BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file
        left = MAX_BYTES
        while line := stream.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise UserError(f"--trace: '{path}' is too large: more than {MAX_BYTES:,} bytes unpacked")
            yield line


def _rows(path: Path) -> Iterator[_Reader]:
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            yield _Reader(f"'{path}', line {number}", _decode(path, line))


def _one_object(path: Path) -> Any:
    return _decode(path, b"".join(_lines(path)))


def _decode(path: Path, text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise UserError(f"--trace: '{path}' is no recording of `contextc trace`: it holds what is no JSON") from fault


def _read_single(path: Path) -> Trace:
    rows = _rows(path)
    head = next(rows, None)
    if head is None or head.text("schema", "") != SCHEMA:
        said = f" (its schema is '{head.text('schema', '')}')" if head is not None and head.has("schema") else ""
        raise UserError(f"--trace: '{path}' is no recording of `contextc trace`{said}: its first line has no {SCHEMA}")
    calls: list[RecordedCall] = []
    for row in rows:
        if row.has("exec"):
            return _assemble(path.name, head.fields, tuple(calls), row.child("exec"))
        calls.append(_read_call(row))
    raise UserError(f"--trace: '{path}' ends too early: its last line should tell what ran; record it again")


# ----------------------------------------------------------------------------------------------------- fields


class _Reader:
    """One JSON object, read field by field. `where` names it in faults."""

    __slots__ = ("fields", "where")

    def __init__(self, where: str, value: Any) -> None:
        self.where = where
        if not isinstance(value, dict):
            raise self.fault("no JSON object")
        self.fields: Mapping[str, Any] = value

    def fault(self, what: str) -> UserError:
        """What to raise for a field of another shape."""
        return UserError(f"--trace: {self.where}: {what}: this is no recording of `contextc trace`")

    def has(self, name: str) -> bool:
        return name in self.fields

    def child(self, name: str) -> _Reader:
        """The object in a field."""
        return _Reader(f"{self.where}, {name}", self.fields.get(name))

    def text(self, name: str, default: str | None = None) -> str:
        """A string; the default, where there is one, in place of a missing one."""
        value = self.fields.get(name, default)
        if not isinstance(value, str):
            raise self.fault(f"no text '{name}'")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """An integer; the default, where there is one, in place of a missing one."""
        value = self.fields.get(name, default)
        if not _is_number(value):
            raise self.fault(f"no number '{name}'")
        return int(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings, empty where it is missing."""
        value = self.fields.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fault(f"no list of texts '{name}'")
        return tuple(value)

    def site(self) -> Site | None:
        """The span of a call expression."""
        value = self.fields.get("site")
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != 4 or not all(_is_number(item) for item in value):
            raise self.fault("no span 'site'")
        return (value[0], value[1], value[2], value[3])


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _read_code(row: _Reader) -> Code:
    return Code(row.text("path"), row.text("raw"))


def _read_call(row: _Reader) -> RecordedCall:
    return RecordedCall(
        _read_code(row.child("caller")), _read_code(row.child("callee")), row.number("line"), row.site(),
        row.text("kind"), row.text("op", ""), row.number("count", 1),
    )  # fmt: skip


def _read_site(row: _Reader) -> RanSite:
    return RanSite(
        row.text("path"), row.number("line"), row.site(), row.number("n", 1), row.texts("ext"), row.texts("cls")
    )


def _read_list(reader: _Reader, name: str) -> Iterable[_Reader]:
    value = reader.fields.get(name)
    if not isinstance(value, list):
        raise reader.fault(f"no list '{name}'")
    return (_Reader(f"{reader.where}, {name} {number}", item) for number, item in enumerate(value))


def _read_lines(reader: _Reader) -> dict[str, frozenset[int]]:
    value = reader.child("lines").fields
    for numbers in value.values():
        if not isinstance(numbers, list) or not all(_is_number(number) for number in numbers):
            raise reader.fault("no line numbers in 'lines'")
    return {path: frozenset(value[path]) for path in sorted(value)}


def _assemble(name: str, head: Mapping[str, Any], calls: tuple[RecordedCall, ...], ran: _Reader) -> Trace:
    """`head` may lack what `ran` says as well; without a word on spans the rows themselves tell."""
    said = _Reader(f"'{name}'", {**ran.fields, **head})
    sites = tuple(_read_site(row) for row in _read_list(ran, "call_sites"))
    spans = said.text("spans", "")
    has_spans = spans == "exact" if spans else any(call.site for call in calls) or not calls
    status = said.number("status") if said.has("status") else None
    python, backend = said.text("python", ""), said.text("backend", "")
    return Trace(name, python, backend, has_spans, status, calls, sites, _read_lines(ran))
