"""Positions. One coordinate inside: byte offsets into a file's normalised UTF-8 text; lines and columns at the edge.

The normalised text is what `analyzer.source` hands out: decoded by BOM or cookie (PEP 263), encoded again as UTF-8,
without the BOM. `LineIndex(b"a\\nb").position(2)` is `Position(line=2, col=0)`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Span(NamedTuple):
    """A half-open range of byte offsets."""

    start: int
    end: int


class Position(NamedTuple):
    """A line (from 1) and a column (from 0, in UTF-8 bytes), as in `ast`."""

    line: int
    col: int


class LineIndex:
    """Converts byte offsets of one text to positions. Lines end at `\\n`, `\\r\\n` and `\\r` only."""

    __slots__ = ("starts",)

    def __init__(self, text: bytes) -> None:
        self.starts: list[int] = [0, *(m.end() for m in _LINE_END.finditer(text))]

    def position(self, offset: int) -> Position:
        """The position of a byte offset; an offset past the end counts as on the last line."""
        row = bisect_right(self.starts, offset) - 1
        return Position(row + 1, offset - self.starts[row])

    def line_span(self, first: int, last: int, end_of_text: int) -> Span:
        """The byte range of lines `first` to `last` (from 1, inclusive), line ends included."""
        start = self.starts[min(first, len(self.starts)) - 1]
        end = self.starts[last] if last < len(self.starts) else end_of_text
        return Span(start, end)

    @property
    def count(self) -> int:
        """Number of lines, the last one counted even when empty."""
        return len(self.starts)
