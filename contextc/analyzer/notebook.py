"""A notebook as one Python text. In: the bytes of an `.ipynb` file. Out: its code cells joined, and where each begins.

A notebook whose cells 2 and 4 hold code gives

    # %% cell 2
    import json
    # %% cell 4
    print(json.dumps({}))

Cells are numbered as they stand in the file, from 1, text cells counted. Outputs are left out, and what is no Python:
line magics, shell lines and help requests become empty lines (`pass` in a block), so that lines keep their places;
cells of another language become one line that says so. nbformat 3 and 4. Nothing is executed, nothing is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from contextc.model.analysis import Cell
from contextc.model.literals import iterate_literals

SUFFIX = ".ipynb"
MAX_NOTEBOOK_BYTES = 50_000_000  # outputs are most of it
_PYTHON = re.compile(r"(?i)i?python\d*|jython|pypy\d*|xpython|sage")
_OWN_BODY = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "debug", "skip", "ignore"})
_CELL_MAGIC = re.compile(r"\s*%%(?P<name>[\w.!]*)")
_LINE_MAGIC = re.compile(r"[ \t]*(?:[%!?]|[\w.%*\[\]'\"]+\?{1,2}[ \t]*$)")
_ASSIGNED = re.compile(r"[ \t]*[\w., \t*]+=[ \t]*(?=[%!](?![=\s]))")
_BRACKETS = re.compile(r"[(\[{]|[)\]}]")


class Notebook(NamedTuple):
    """`text` is UTF-8 with LF line ends; `notes` say which cells were left out."""

    text: bytes
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


def read_notebook(raw: bytes, max_bytes: int) -> Notebook:
    """Raises ValueError, in a sentence, for what is no notebook of Python code or has more of it than `max_bytes`."""
    lines: list[str] = []
    cells: list[Cell] = []
    notes: list[str] = []
    for number, source in _code_cells(raw):
        lines.append(f"# %% cell {number}")
        body, left_out = _clean(source)
        if left_out:
            notes.append(f"Cell {number} is left out: {left_out}.")
            lines[-1] += f": {left_out}"
        cells.append(Cell(number, len(lines) + 1))
        lines += body
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    if b"\0" in text:
        raise ValueError("it holds NUL characters")
    if len(text) > max_bytes:
        raise ValueError(f"its code takes {len(text):,} bytes; the limit is {max_bytes:,}")
    return Notebook(text, tuple(cells), tuple(notes))


def _code_cells(raw: bytes) -> Iterator[tuple[int, str]]:
    try:
        document = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no notebook: {str(error) or type(error).__name__}") from error
    if not isinstance(document, dict):
        raise ValueError("it is no notebook: no object at its top")
    language = _language(document)
    if language and not _PYTHON.fullmatch(language):
        raise ValueError(f"its language is {language[:40]!r}, not Python")
    cells = document.get("cells")
    if cells is None and isinstance(sheets := document.get("worksheets"), list):  # nbformat 3
        cells = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _listed(sheet.get("cells"))]
    if not isinstance(cells, list):
        raise ValueError("it is no notebook: it has no list of cells")
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            if isinstance(source, list):
                source = "".join(part for part in source if isinstance(part, str))
            if isinstance(source, str) and source.strip():
                yield number, source


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _language(document: dict[str, Any]) -> str:
    """By the notebook's own word; empty where it says nothing."""
    metadata = document.get("metadata")
    if isinstance(metadata, dict):
        for holder, key in (("language_info", "name"), ("kernelspec", "language")):
            inner = metadata.get(holder)
            if isinstance(inner, dict) and isinstance(inner.get(key), str):
                return str(inner[key])
    return ""


def _clean(source: str) -> tuple[list[str], str]:
    """The lines of a cell without what is no Python; why all of it is left out, else empty."""
    lines = re.split(r"\r\n|\r|\n", source)
    if lines and not lines[-1]:
        lines.pop()
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first]) if lines else None
    if magic is not None:
        if magic["name"] not in _OWN_BODY:
            return [], f"%%{magic['name']}"
        lines[first] = ""
    starts = _statement_starts(lines)
    return [_without_magic(line) if at in starts else line for at, line in enumerate(lines)], ""


def _without_magic(line: str) -> str:
    assigned = _ASSIGNED.match(line)
    if assigned is not None:
        return f"{assigned.group()}None"
    if _LINE_MAGIC.match(line) is None:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}pass" if indent else ""


def _statement_starts(lines: list[str]) -> set[int]:
    """The lines that begin outside of strings and brackets, and continue no other. What a magic line holds is not
    read: a quote in it opens nothing."""
    starts: set[int] = set()
    at = 0
    while at < len(lines):
        starts.add(at)
        is_magic = _without_magic(lines[at]) != lines[at]
        at = at + 1 if is_magic else _end_of_statement(lines, at)
    return starts


def _end_of_statement(lines: list[str], first: int) -> int:
    """The first line after the logical line that begins at `first`."""
    last = first + 1
    while last <= len(lines):
        text = "\n".join(lines[first:last])
        depth, is_open = 0, text.endswith("\\")
        at = 0
        for literal in iterate_literals(text):
            depth += _depth(text[at : literal.opening])
            at = literal.end
            if not literal.is_comment:
                quote = text[literal.start - 1]
                is_open = is_open or (text[literal.start - 3 : literal.start] == quote * 3 and at == len(text))
        depth += _depth(text[at:])
        if depth <= 0 and not is_open:
            return last
        if last - first > _LONGEST_STATEMENT:
            break
        last += 1
    return first + 1


_LONGEST_STATEMENT = 400  # lines; a longer one is taken line by line


def _depth(text: str) -> int:
    return sum(1 if sign.group() in "([{" else -1 for sign in _BRACKETS.finditer(text))
