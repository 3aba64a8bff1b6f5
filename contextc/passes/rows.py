"""Shown text line by line, each with the line of the file it was cut from. In and out: lists of `Row`.

`rows_from("def f():\\n    return 1", 7)` is `[Row("def f():", 7), Row("    return 1", 8)]`; a line that stands for a
gap is `Row("    ...", 0)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """One line without its end. `line` from 1; 0: it isn't the repository's."""

    text: str
    line: int = 0


def rows_from(text: str, first: int) -> list[Row]:
    """The lines of text that was cut from line `first` on; all of them our own where `first` is 0."""
    return [Row(line, first + number if first else 0) for number, line in enumerate(text.split("\n"))]


def text_of_rows(rows: Iterable[Row]) -> str:
    """The text, without a last line end."""
    return "\n".join(row.text for row in rows)


def ranges_of(rows: Iterable[Row]) -> list[tuple[int, int]]:
    """The ranges of the file's lines, in the order of the rows."""
    ranges: list[tuple[int, int]] = []
    for line in (row.line for row in rows if row.line):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], line)
        else:
            ranges.append((line, line))
    return ranges


def number_lines(text: str, lines: Sequence[int]) -> str:
    """Each line of the text behind its number in the file (`  12: code`); those without one behind blanks. `lines` has
    a number for each line of the text."""
    width = max((len(str(line)) for line in lines), default=0)
    written = [
        f"{line or '':>{width}}{':' if line else ' '} {shown}" if line or shown else ""
        for shown, line in zip(text.split("\n"), lines, strict=True)
    ]
    return "\n".join(written)
