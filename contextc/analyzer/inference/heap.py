"""Cells: what a parameter, result, attribute, global or container element can hold (stratum 2).

A cell's content is the join of contributions kept per writer. A writer is a unit of evaluation (a body) or an oracle;
what it says twice is joined, so cells only grow until `retract` takes a writer's contributions back. A unit that has
read a cell is queued when the cell grows.

`heap.write(("param", "app:f", "x"), {Literal 1}, 7)` queues each unit that has read that cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Union

from contextc.analyzer.inference.memory import Memory, Names, Slot
from contextc.analyzer.inference.worklist import Worklist
from contextc.model.interner import Interner, join_values, show_widened
from contextc.model.value import NOTHING, Value, ValueSet

CellKey = tuple[Union[str, int, Value], ...]


class Heap:
    """All cells of one analysis."""

    def __init__(self, make: Interner, worklist: Worklist) -> None:
        self._make = make
        self._cells: dict[CellKey, ValueSet] = {}
        self._given: dict[int, dict[CellKey, ValueSet]] = {}
        self._writers: dict[CellKey, dict[int, None]] = {}
        self._slots: dict[CellKey, Slot] = {}
        self._widened: set[CellKey] = set()
        self._pending: dict[int, dict[CellKey, ValueSet]] = {}
        self._worklist = worklist
        self._names = Names()
        self._memories: dict[int, Memory] = {}

    # ---------------------------------------------------------------------------------------------- cells

    def read(self, key: CellKey, unit: int) -> ValueSet:
        """The cell's values as the last round left them; `unit` is evaluated again when they grow. A negative unit
        reads without a trace."""
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = Slot(key)
        if unit < 0:
            return slot.shown
        slot.readers[unit] = None
        memory = self._memories.get(unit)
        if memory is not None and memory.trace is not None:
            memory.trace.add(slot)
        return slot.shown

    def remember(self, unit: int) -> Memory:
        """What a unit's earlier evaluations left, for the one that begins."""
        memory = self._memories.get(unit)
        if memory is None:
            memory = self._memories[unit] = Memory(self._names)
        memory.begin()
        return memory

    def write(self, key: CellKey, values: ValueSet, writer: int) -> None:
        """Joins values into what `writer` contributes to a cell. Readers, the writer too, see them from the next round
        on."""
        mine = self._given.get(writer)
        before = mine.get(key) if mine is not None else None
        if before is not None and values <= before:
            return
        waiting = self._pending.get(writer)
        if waiting is None:
            waiting = self._pending[writer] = {}
        more = waiting.get(key)
        if more is not None and values <= more:
            return
        waiting[key] = values if more is None else join_values(self._make, more, values)

    def end_round(self) -> None:
        """Makes what was written in this round visible, all at once: no evaluation saw what any one of the same round
        wrote, itself included, so that neither the order within a round nor the order in which an evaluation goes
        through a set can matter, whatever the transfers do."""
        pending, self._pending = self._pending, {}
        touched: dict[CellKey, ValueSet] = {}
        for writer, cells in pending.items():
            mine = self._given.setdefault(writer, {})
            for key, values in cells.items():
                before = mine.get(key)
                if before is not None:
                    values = join_values(self._make, before, values)
                    if values == before:
                        continue
                else:
                    self._writers.setdefault(key, {})[writer] = None
                mine[key] = values
                old = touched.get(key)
                touched[key] = values if old is None else join_values(self._make, old, values)
        for key, values in touched.items():
            old = self._cells.get(key, NOTHING)
            if not values <= old:
                new = join_values(self._make, old, values)
                if new != old:
                    self._set(key, new)

    def _set(self, key: CellKey, content: ValueSet) -> None:
        slot = self._show(key, content)
        for unit in slot.readers:
            self._worklist.add(unit)
            memory = self._memories.get(unit)
            if memory is not None:
                memory.grown.add(slot)

    def _show(self, key: CellKey, content: ValueSet) -> Slot:
        """Makes a content what readers see."""
        self._cells[key] = content
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = Slot(key)
        slot.shown = show_widened(self._make, content)
        if slot.shown is not content:
            self._widened.add(key)
        return slot

    def _readers(self, key: CellKey) -> Iterable[int]:
        slot = self._slots.get(key)
        return slot.readers if slot is not None else ()

    # ---------------------------------------------------------------------------------------------- retraction

    def reached_from(self, units: Iterable[int], cells: Iterable[CellKey] = ()) -> set[int]:
        """The units whose contributions can rest on those of `units`, these included, or on `cells`: readers of what
        was written, and so on."""
        reached = set(units)
        reached.update(reader for key in cells for reader in self._readers(key))
        open_units = list(reached)
        while open_units:
            for key in self._given.get(open_units.pop(), ()):
                for reader in self._readers(key):
                    if reader not in reached:
                        reached.add(reader)
                        open_units.append(reader)
        return reached

    def touches_widened(self, units: Collection[int]) -> bool:
        """Whether one of the units has read or written a widened cell."""
        return any(
            any(u in units for u in self._readers(key)) or any(u in units for u in self._writers.get(key, ()))
            for key in self._widened
        )

    def withdraw(self, writer: int, key: CellKey) -> None:
        """Takes back what a writer contributed to one cell; again no reader is queued."""
        if self._given.get(writer, {}).pop(key, None) is not None:
            self._writers[key].pop(writer, None)
            self._derive(key)

    def retract(self, writers: Iterable[int]) -> None:
        """Takes back all that these writers contributed. No reader is queued: the caller knows whom to evaluate."""
        gone = sorted(writers)
        touched: dict[CellKey, None] = {}
        for writer in gone:
            for key in self._given.pop(writer, ()):
                self._writers[key].pop(writer, None)
                touched[key] = None
        for key in touched:
            self._derive(key)

    def _derive(self, key: CellKey) -> None:
        """A cell's content anew from the contributions that are left."""
        content = NOTHING
        for writer in self._writers[key]:
            content = join_values(self._make, content, self._given[writer][key])
        self._widened.discard(key)
        if self._writers[key]:
            self._show(key, content)
            return
        del self._writers[key]
        self._cells.pop(key, None)
        if key in self._slots:
            self._slots[key].shown = NOTHING

    def forget_reads(self, units: set[int]) -> None:
        """Units that are evaluated afresh, or are gone, depend on nothing until they read again."""
        for unit in units:
            self._memories.pop(unit, None)
        for slot in self._slots.values():
            for unit in [u for u in slot.readers if u in units]:
                del slot.readers[unit]

    def fork(self, worklist: Worklist) -> Heap:
        """A copy that goes its own way."""
        copy = Heap(self._make, worklist)
        copy._cells = dict(self._cells)
        copy._widened = set(self._widened)
        copy._given = {writer: dict(cells) for writer, cells in self._given.items()}
        copy._writers = {key: dict(writers) for key, writers in self._writers.items()}
        copy._slots = {key: slot.copy() for key, slot in self._slots.items()}
        return copy

    # ---------------------------------------------------------------------------------------------- figures

    def items(self) -> Iterable[tuple[CellKey, ValueSet]]:
        """Each cell with its content."""
        return self._cells.items()

    @property
    def size(self) -> int:
        """Number of cells with content."""
        return len(self._cells)

    @property
    def contributions(self) -> int:
        """Number of (writer, cell) pairs."""
        return sum(len(cells) for cells in self._given.values())
