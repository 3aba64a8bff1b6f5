"""The files a recording is kept in.

In: a recording. Out: FILE in the form `contextc.trace/1`, or the two files of an oracle.

    {"schema": "contextc.trace/1", "root": "shop", "python": "3.12.1", "backend": "monitoring", "spans": "exact", …}
    {"caller": {…}, "line": 4, "site": [4, 8, 4, 20], "callee": {…}, "kind": "explicit", …}    one for each edge
    {"exec": {"functions": […], "lines": {…}, "call_sites": […], …}}

JSON Lines in UTF-8; compressed where FILE ends in `.gz`. No absolute path and no time in them.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from contextc.errors import UserError
from contextc.tracing.launch import Recording

TRACE_SCHEMA = "contextc.trace/1"
_EDGES, _EXECUTION = ".edges.jsonl.gz", ".exec.json.gz"


def oracle_paths(out: Path) -> tuple[Path, Path]:
    """Where the oracle form of a recording goes: FILE.edges.jsonl.gz and FILE.exec.json.gz."""
    return out.with_name(out.name + _EDGES), out.with_name(out.name + _EXECUTION)


def write_trace(out: Path, recording: Recording, root_name: str, command: Sequence[str]) -> None:
    """Writes FILE. Raises UserError where it can't be written."""
    execution = recording.execution
    header = {
        "schema": TRACE_SCHEMA, "root": root_name, "python": execution["python"], "backend": execution["backend"],
        "spans": execution["spans"], "command": list(command), "status": recording.status,
    }  # fmt: skip
    with _open_text(out, compress=out.name.endswith(".gz")) as file:
        file.write(_line(header))
        file.writelines(_iterate_rows(recording.edges))
        file.write(_line({"exec": _describe(recording, root_name, command)}))


def write_oracle(out: Path, recording: Recording, root_name: str, command: Sequence[str]) -> None:
    """Writes the two files of `oracle_paths`. Raises UserError where they can't be written."""
    edges, execution = oracle_paths(out)
    with _open_text(edges, compress=True) as file:
        file.writelines(_iterate_rows(recording.edges))
    with _open_text(execution, compress=True) as file:
        file.write(_line(_describe(recording, root_name, command)))


def _describe(recording: Recording, root_name: str, command: Sequence[str]) -> dict[str, Any]:
    return {"name": root_name, "prefix": "", "command": list(command), **recording.execution}


def _iterate_rows(edges: Path) -> Iterator[str]:
    with edges.open(encoding="utf-8", newline="\n") as file:
        yield from file


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=next(iter(value)) != "schema") + "\n"


@contextmanager
def _open_text(path: Path, compress: bool) -> Iterator[TextIO]:
    """The same text gives the same bytes: no time and no name in the compressed file's head."""
    try:
        with path.open("wb") as raw:
            if not compress:
                with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as file:
                    yield file
                return
            with (
                gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as file,
            ):
                yield file
    except OSError as fault:
        raise UserError(f"--out: can't write '{path}': {fault.strerror or fault}") from fault
