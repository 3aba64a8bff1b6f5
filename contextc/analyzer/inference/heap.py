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
from contextc.model.edge import Reason
from contextc.model.value import (
    MAX_CALLABLES,
    MAX_EXTERNALS,
    MAX_KEYS,
    MAX_LITERALS,
    MAX_METHODS,
    MAX_PLACES,
    MAX_WIDTH,
    NOTHING,
    BoundMethod,
    ClassObject,
    External,
    FunctionValue,
    Given,
    Grip,
    Instance,
    Interner,
    Intrinsic,
    Key,
    Literal,
    Partial,
    Possible,
    Text,
    Value,
    ValueSet,
    is_placed,
)

MAX_LENGTHS = 2  # of the tuples that one place makes, in a cell
CellKey = tuple[Union[str, int, Value], ...]
_CAPS: dict[str, tuple[tuple[type[Value], ...], int]] = {
    "instances": ((Instance,), MAX_WIDTH),
    "callables": ((FunctionValue, ClassObject, Partial), MAX_CALLABLES),
    "methods": ((BoundMethod,), MAX_METHODS),
    "possible": ((Possible,), MAX_WIDTH),
    "externals": ((External,), MAX_EXTERNALS),
    "operations": ((Intrinsic,), MAX_WIDTH),
    "keys": ((Key,), MAX_KEYS),
}


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
        """The cell's values, with what `unit` itself wrote in this round; it is evaluated again when they grow. A
        negative unit reads without a trace."""
        slot = self._slots.get(key)
        if slot is None:
            slot = self._slots[key] = Slot(key)
        if unit < 0:
            return slot.shown
        slot.readers[unit] = None
        memory = self._memories.get(unit)
        if memory is not None and memory.trace is not None:
            memory.trace.add(slot)
        waiting = self._pending.get(unit)
        own = waiting.get(key) if waiting is not None else None
        if own is None:
            return slot.shown
        content = self._cells.get(key, NOTHING)
        return slot.shown if own <= content else show_widened(self._make, join_values(self._make, content, own))

    def remember(self, unit: int) -> Memory:
        """What a unit's earlier evaluations left, for the one that begins."""
        memory = self._memories.get(unit)
        if memory is None:
            memory = self._memories[unit] = Memory(self._names)
        memory.begin()
        return memory

    def write(self, key: CellKey, values: ValueSet, writer: int) -> None:
        """Joins values into what `writer` contributes to a cell. It sees them itself; other readers do from the next
        round on."""
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
        memory = self._memories.get(writer)
        if memory is not None and not values <= self._cells.get(key, NOTHING):
            slot = self._slots.get(key)
            if slot is None:
                slot = self._slots[key] = Slot(key)
            memory.written.add(slot)

    def end_round(self) -> None:
        """Makes what was written in this round visible, all at once: no evaluation saw what another one of the same
        round wrote, so the order within a round can't matter, whatever the transfers do."""
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


# ------------------------------------------------------------------------------------------------------ the join


def join_values(make: Interner, left: ValueSet, right: ValueSet) -> ValueSet:
    """The least content above both: commutative, associative, idempotent.

    The union, with instances of one generic class joined by type argument. Past a cap a group of values gives way to
    a mark of its own (literals of a kind to a plain instance of their type), and what joins the group later is covered
    by the mark: no result depends on which values came first. `show_widened` turns marks into what a reader sees.
    """
    merged = _merge_places(make, _merge_generic(make, left | right))
    if len(merged) <= MAX_EXTERNALS and not any(type(v) is Intrinsic for v in merged):
        return merged
    merged = _cap_literals(make, merged)
    for name, (kinds, most) in _CAPS.items():
        merged = _cap(make, merged, kinds, most, f"widened.{name}")
    return merged


def show_widened(make: Interner, content: ValueSet) -> ValueSet:
    """What a reader sees: a plain string for too many, `Open(widened)` for each other mark."""
    marks = [v for v in content if _is_mark(v)]
    if not marks:
        return content
    shown: set[Value] = set(content).difference(marks)
    for mark in marks:
        assert isinstance(mark, Intrinsic)
        kind = mark.name.partition(".")[2]
        if kind in _CAPS:
            shown.add(make.open(Reason.WIDENED))
        else:
            shown.add(make.instance(f"~builtins:{kind}", Grip.EXACT))
    return frozenset(shown)


def _is_mark(value: Value) -> bool:
    return type(value) is Intrinsic and value.name.startswith("widened.")


def _cap(
    make: Interner, values: ValueSet, kinds: tuple[type[Value], ...], most: int, mark_name: str
) -> ValueSet:
    mark = make.intrinsic(mark_name)
    group = [v for v in values if isinstance(v, kinds) and not _is_mark(v)]
    if mark not in values and (len(group) <= most or len({make.unplaced(v) for v in group}) <= most):
        return values
    return values.difference(group) | {mark}


def _merge_places(make: Interner, values: ValueSet) -> ValueSet:
    """Past MAX_PLACES objects of a class that are told apart, or beside one that is not, any object of the class; the
    same for one method bound to them. Counted by class, so that nothing hangs on what else is there."""
    groups: dict[Value, list[Value]] = {}
    for value in values:
        placed = value.receiver if type(value) is BoundMethod else value
        if type(placed) is Instance and placed.site is not None and is_placed(placed):
            groups.setdefault(make.unplaced(value), []).append(value)
    if not groups:
        return values
    found = set(values)
    for whole, group in groups.items():
        if whole in found or len(group) > MAX_PLACES:
            found.difference_update(group)
            found.add(whole)
    return frozenset(found)


def _cap_literals(make: Interner, values: ValueSet) -> ValueSet:
    groups: dict[str, list[Value]] = {}
    for value in values:
        if isinstance(value, Literal):
            groups.setdefault(value.type, []).append(value)
        elif isinstance(value, Text):
            groups.setdefault("str", []).append(value)
    for kind, group in groups.items():
        mark = make.intrinsic(f"widened.{kind}")
        if len(group) > MAX_LITERALS or mark in values:
            values = values.difference(group) | {mark}
    return values


def _merge_generic(make: Interner, values: ValueSet) -> ValueSet:
    """One instance for each generic class and site, one partial for each function and shape of arguments, one parameter
    with what any test let through."""
    groups: dict[tuple[object, ...], list[Instance | Partial | Given]] = {}
    tuples: list[Instance] = []
    possible: dict[str, list[Possible]] = {}
    for value in values:
        if type(value) is Possible:
            possible.setdefault(value.rule, []).append(value)
        elif type(value) is Instance and value.args:
            groups.setdefault((value.cls, value.grip, value.site), []).append(value)
        elif type(value) is Instance and value.cls == "~builtins:tuple" and value.grip is Grip.EXACT:
            tuples.append(value)
        elif type(value) is Partial:
            shape = (value.function, len(value.args), tuple(name for name, _ in value.keywords))
            groups.setdefault(shape, []).append(value)
        elif type(value) is Given:
            groups.setdefault((value.symbol, value.parameter), []).append(value)
    if len(tuples) > 1:
        values = _merge_lengths(make, values, tuples)
    for rule, wrapped in possible.items():
        if len(wrapped) > 1:
            merged = _merge_generic(make, frozenset(v.value for v in wrapped))
            values = values.difference(wrapped).union(make.possible(v, rule) for v in merged)
    if not any(len(group) > 1 for group in groups.values()):
        return values
    found = set(values)
    for group in groups.values():
        if len(group) > 1:
            found.difference_update(group)
            found.add(_merge_group(make, group))
    return frozenset(found)


def _merge_lengths(make: Interner, values: ValueSet, tuples: list[Instance]) -> ValueSet:
    """Tuples that one place makes at more than MAX_LENGTHS lengths are one of any length, as are all beside such a one.
    The elements of that one are those of all."""
    by_place: dict[str, list[Instance]] = {}
    for value in tuples:
        site = value.site or ""
        place, mark, length = site.rpartition("#")
        by_place.setdefault(place if mark and length.isdigit() else site, []).append(value)
    found = set(values)
    for place, group in by_place.items():
        if len(group) > MAX_LENGTHS or (len(group) > 1 and any(v.site == place for v in group)):
            found.difference_update(group)
            found.add(make.instance(group[0].cls, Grip.EXACT, (), place))
    return frozenset(found)


def _merge_group(make: Interner, group: list[Instance | Partial | Given]) -> Value:
    first = group[0]
    if isinstance(first, Given):
        return _merge_given(make, first, [v.kept for v in group if isinstance(v, Given)])
    return _merge_columns(make, [v for v in group if not isinstance(v, Given)])


def _merge_given(make: Interner, first: Given, tests: list[ValueSet | None]) -> Value:
    kept: ValueSet = NOTHING
    for one in tests:
        if one is None:
            return make.given(first.symbol, first.parameter)
        kept |= one
    return make.given(first.symbol, first.parameter, _merge_places(make, _merge_generic(make, kept)))


def _merge_columns(make: Interner, group: list[Instance | Partial]) -> Value:
    width = min(len(v.args) for v in group)
    args = tuple(_join_column(make, {v.args[i] for v in group}) for i in range(width))
    first = group[0]
    if isinstance(first, Instance):
        return make.instance(first.cls, first.grip, args, first.site)
    columns = [{v.keywords[i][1] for v in group if isinstance(v, Partial)} for i in range(len(first.keywords))]
    keywords = tuple((name, _join_column(make, c)) for (name, _), c in zip(first.keywords, columns, strict=True))
    return make.partial(first.function, args, keywords)


def _join_column(make: Interner, column: set[ValueSet]) -> ValueSet:
    """A column that says nothing yet changes nothing: a literal stays one until there is another."""
    said = [values for values in column if values]
    return _join_all(make, said) if len(said) > 1 else said[0] if said else NOTHING


def _join_all(make: Interner, sets: list[ValueSet]) -> ValueSet:
    """Different type arguments joined: literals count as their type there, and too many instances as unknown."""
    joined: set[Value] = set()
    for values in sets:
        joined.update(_plain(make, v) for v in values)
    unknown = make.open(Reason.WIDENED)
    if unknown in joined or len(joined) > MAX_WIDTH:
        return frozenset({unknown})
    return _merge_generic(make, frozenset(joined))


def _plain(make: Interner, value: Value) -> Value:
    if isinstance(value, (Literal, Text)):
        return make.instance(f"~builtins:{value.type if isinstance(value, Literal) else 'str'}", Grip.EXACT)
    return value
