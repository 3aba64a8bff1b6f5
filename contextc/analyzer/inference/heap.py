"""Cells and the worklist: the monotone fixed point (stratum 2).

A cell holds the values a parameter, result, attribute, global or container element can have. Cells only grow; a unit
(a body that is evaluated) that has read a cell is evaluated again when it grows. The join is a function of everything
ever written, never of the order: literals past MAX_LITERALS become instances of their type, a cell past MAX_WIDTH
becomes `Open(widened)`, instances of one generic class join their type arguments.

`heap.write(("param", "app:f", "x"), {Literal 1})` queues each unit that has read that cell.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Union

from contextc.model.edge import Reason
from contextc.model.value import (
    MAX_LITERALS,
    MAX_WIDTH,
    NOTHING,
    ClassObject,
    FunctionValue,
    Grip,
    Instance,
    Interner,
    Literal,
    Text,
    Value,
    ValueSet,
)

CellKey = tuple[Union[str, int], ...]
_LITERAL_CLASSES = {kind: f"~builtins:{kind}" for kind in ("str", "int", "bool", "bytes")}


class Heap:
    """All cells of one analysis, and the units that wait to be evaluated."""

    def __init__(self, make: Interner) -> None:
        self._make = make
        self._cells: dict[CellKey, ValueSet] = {}
        self._readers: dict[CellKey, dict[int, None]] = {}
        self._queue: list[int] = []
        self._waiting: list[int] = []
        self._queued: set[int] = set()
        self._at = -1
        self._widened = make.open(Reason.WIDENED)
        self._top = frozenset({self._widened, make.open(Reason.BUDGET)})
        self.writes = 0

    def read(self, key: CellKey, unit: int) -> ValueSet:
        """The cell's values; `unit` (its place in the program's order) is evaluated again when they grow. A negative
        unit reads without a trace."""
        if unit >= 0:
            readers = self._readers.get(key)
            if readers is None:
                self._readers[key] = {unit: None}
            else:
                readers[unit] = None
        return self._cells.get(key, NOTHING)

    def write(self, key: CellKey, values: ValueSet) -> None:
        """Joins values into a cell."""
        old = self._cells.get(key, NOTHING)
        if values <= old:
            return
        new = self.join(old, values)
        if new == old:
            return
        self.writes += 1
        self._cells[key] = new
        for unit in self._readers.get(key, ()):
            self.queue(unit)

    def join(self, old: ValueSet, values: ValueSet) -> ValueSet:
        """The least cell content above both."""
        if self._top <= old:
            return old
        merged = self._merge_generic(old | values)
        literals = [v for v in merged if isinstance(v, (Literal, Text))]
        if len(literals) > MAX_LITERALS or (literals and self._absorbs(merged)):
            merged = self._drop_literals(merged)
        if len(merged) > MAX_WIDTH or self._widened in merged:
            callables = frozenset(v for v in merged if isinstance(v, (FunctionValue, ClassObject)))
            return callables | {self._widened} if len(callables) <= 4 * MAX_WIDTH else self._top
        return merged

    def _absorbs(self, values: ValueSet) -> bool:
        """Whether a literal stands beside a plain exact instance of its type, which covers it."""
        classes = {v.cls for v in values if isinstance(v, Instance) and v.grip is Grip.EXACT}
        return any(
            _LITERAL_CLASSES[v.type if isinstance(v, Literal) else "str"] in classes
            for v in values
            if isinstance(v, (Literal, Text))
        )

    def _drop_literals(self, values: ValueSet) -> ValueSet:
        found: set[Value] = set()
        for value in values:
            if isinstance(value, (Literal, Text)):
                kind = value.type if isinstance(value, Literal) else "str"
                found.add(self._make.instance(_LITERAL_CLASSES[kind], Grip.EXACT))
            else:
                found.add(value)
        return frozenset(found)

    def _merge_generic(self, values: ValueSet) -> ValueSet:
        groups: dict[tuple[str, Grip, str | None], list[Instance]] = {}
        for value in values:
            if isinstance(value, Instance) and value.args:
                groups.setdefault((value.cls, value.grip, value.site), []).append(value)
        if not any(len(group) > 1 for group in groups.values()):
            return values
        found = set(values)
        for (cls, grip, site), group in groups.items():
            if len(group) > 1:
                width = min(len(v.args) for v in group)
                args = tuple(frozenset().union(*(v.args[i] for v in group)) for i in range(width))
                found.difference_update(group)
                found.add(self._make.instance(cls, grip, args, site))
        return frozenset(found)

    # ---------------------------------------------------------------------------------------------- worklist

    def queue(self, unit: int) -> None:
        """Asks for a unit to be evaluated (again): in this round if its turn is still to come, else in the next."""
        if unit not in self._queued:
            self._queued.add(unit)
            heappush(self._queue if unit > self._at else self._waiting, unit)

    def next_unit(self) -> int | None:
        """The next waiting unit, or None. Rounds go through the program in order, so that a unit runs at most once a
        round however many cells it has read grow."""
        if not self._queue:
            self._queue, self._waiting = self._waiting, []
            self._at = -1
            if not self._queue:
                return None
        self._at = heappop(self._queue)
        self._queued.discard(self._at)
        return self._at

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self._cells)
