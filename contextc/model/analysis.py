"""The analyser's result, as plain values: what `engine` carries from the analyser to the graph."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from contextc.model.diagnostic import Note, Skip
from contextc.model.edge import Edge, Unresolved
from contextc.model.symbol import Import, Symbol


class Cell(NamedTuple):
    """A code cell of a notebook: its number among all cells, from 1, and the line of the analysed text at which its
    first line stands."""

    number: int
    line: int


class ModuleFile(NamedTuple):
    """A Python file of the project. `module` is its dotted name, `module_id` the same made unique across roots.
    `cells`: of a notebook, whose analysed text is its code cells joined."""

    path: str  # POSIX, relative to the analysed root
    module: str
    module_id: str
    root: str  # source root it was found under, POSIX, relative; "" for the analysed root itself
    is_package: bool  # an __init__ file
    is_stub: bool  # a .pyi
    cells: tuple[Cell, ...] = ()

    def describe_lines(self, first: int, last: int) -> str:
        """`12-14`; in a notebook `cell 3, lines 2-4`, or `cell 3, line 2 – cell 4, line 1`."""
        start, end = self.describe_line(first), self.describe_line(last)
        if first == last or start == end:
            return start
        if not self.cells:
            return f"{start}-{end}"
        cell, comma, line = start.partition(", line ")
        other, _, end_line = end.partition(", line ")
        return f"{cell}, lines {line}-{end_line}" if comma and cell == other else f"{start} – {end}"

    def describe_line(self, line: int) -> str:
        """`12`; in a notebook `cell 3, line 2`."""
        at = bisect_right(self.cells, line, key=lambda cell: cell.line) - 1
        if at < 0:
            return f"cell {self.cells[0].number}" if self.cells else str(line)
        cell = self.cells[at]
        if at + 1 < len(self.cells) and line == self.cells[at + 1].line - 1:
            return f"cell {self.cells[at + 1].number}"  # the line that names it
        return f"cell {cell.number}, line {line - cell.line + 1}"


class Analysis(NamedTuple):
    """Everything sorted: symbols by (path, span start, id), edges and unresolved by their fields' order."""

    root: str  # the analysed root's folder name, for people; never an absolute path
    files: tuple[ModuleFile, ...]  # those analysed, partial ones included
    symbols: tuple[Symbol, ...]
    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]
    imports: tuple[Import, ...]
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]
    call_sites: int  # call expressions in analysed files
    resolver: str  # "typed" or "name-only"
