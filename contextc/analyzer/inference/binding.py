"""Arguments to parameters (the rules of the language reference, section 6.3.4).

In: a function's parameters and the values of a call's arguments. Out: (parameter, values) pairs. `f(1, *rest, k=2)` on
`def f(a, b, *more, k)` gives a ← 1, b ← the first of rest, more ← the others, k ← 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contextc.analyzer.inference.dictionaries import copy_items, dict_item, store_name, store_unknown
from contextc.analyzer.inference.generics import element_values, tuple_items
from contextc.analyzer.inference.heap import CellKey
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.model import ir
from contextc.model.value import NOTHING, Instance, Literal, Value, ValueSet

MAX_LENGTH = 5  # arguments in a `*args` tuple that are told apart from those of other calls, each by its position
UNKNOWN_LENGTH = -1  # among the lengths of `*args`
_MAX_SPREADS = 2  # `*values` of one call that are told apart by length


class Arguments(NamedTuple):
    """`positional` pairs a star ("" or "*") with values; `keywords` pairs a name (None for `**`) with values."""

    positional: tuple[tuple[str, ValueSet], ...]
    keywords: tuple[tuple[str | None, ValueSet], ...]


def is_whole(args: Arguments) -> bool:
    """Whether each argument stands for itself: no `*args`, no `**kwargs`."""
    return not any(mark for mark, _ in args.positional) and all(name is not None for name, _ in args.keywords)


def parameter_cell(definition: Definition, parameter: ir.Parameter) -> CellKey:
    """The cell of a parameter as callers fill it."""
    return ("param", definition.id, parameter.name)


def star_site(definition: Definition, parameter: ir.Parameter) -> str:
    """The allocation site of a function's `*args` tuple or `**kwargs` dict."""
    return f"{definition.id}@{parameter.name}"


def bind_arguments(
    frame: Frame, definition: Definition, args: Arguments, skip: int, passed: dict[str, ValueSet] | None = None
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """Pairs of parameter and values. The first `skip` positional parameters are left out (a bound receiver).

    What `*args` and `**kwargs` collect goes straight into the cells of their tuple or dict, and into `passed`. Each
    length that a `*values` can have is bound on its own. A parameter that it may not reach has its default.
    """
    parameters = definition.facts.parameters
    positional = [p for p in parameters if p.kind in ("positional", "normal")][skip:]
    star = next((p for p in parameters if p.kind == "star"), None)
    if not definition.module.in_repository:
        star = None
    first = next((i for i, (mark, _) in enumerate(args.positional) if mark), len(args.positional))
    for index, parameter in enumerate(positional):
        if index < first and index < len(args.positional):
            yield parameter, args.positional[index][1]
        elif first < len(args.positional):
            yield parameter, NOTHING
    for sequence in _list_sequences(frame, args, definition.module.in_repository):
        yield from zip(positional[first:], sequence.items[first:], strict=False)
        for parameter in positional[len(sequence.items) :] if first < len(args.positional) else ():
            yield parameter, sequence.more or NOTHING
            if all(name != parameter.name for name, _ in args.keywords):
                yield parameter, _default(frame, definition, parameter)
        if star is not None:
            _collect(frame, definition, star, sequence.items[len(positional) :], sequence.more, passed)
    if args.keywords:
        yield from _bind_keywords(frame, definition, args, skip)


class _Sequence(NamedTuple):
    """Arguments by position; `more` is what can follow them, None for nothing."""

    items: tuple[ValueSet, ...]
    more: ValueSet | None

    def append(self, other: _Sequence) -> _Sequence:
        """Arguments after these."""
        if self.more is None:
            return _Sequence((*self.items, *other.items), other.more)
        return _Sequence(self.items, self.more.union(*other.items, other.more or NOTHING))


def _list_sequences(frame: Frame, args: Arguments, symbolic: bool) -> list[_Sequence]:
    """What the positional arguments of a call can be, one for each length; none as long as nothing is known of some
    `*values`. `symbolic` leaves an element of the caller's own `*args` as it is."""
    found = [_Sequence((), None)]
    spreads = 0
    for mark, values in args.positional:
        parts = [_Sequence((values,), None)]
        if mark:
            spreads += 1
            parts = _spread(frame, values, symbolic, spreads <= _MAX_SPREADS)
        found = _join_equal([sequence.append(part) for sequence in found for part in parts])
    return found


def _join_equal(sequences: list[_Sequence]) -> list[_Sequence]:
    """One sequence for each length."""
    if len(sequences) < 2:
        return sequences
    groups: dict[tuple[int, bool], _Sequence] = {}
    for sequence in sequences:
        key = (len(sequence.items), sequence.more is None)
        known = groups.get(key)
        if known is not None:
            items = tuple(a | b for a, b in zip(known.items, sequence.items, strict=True))
            more = None if known.more is None or sequence.more is None else known.more | sequence.more
            sequence = _Sequence(items, more)
        groups[key] = sequence
    return list(groups.values())


def _spread(frame: Frame, values: ValueSet, symbolic: bool, told_apart: bool) -> list[_Sequence]:
    """What `*values` stands for, by length."""
    found: list[_Sequence] = []
    for value in values:
        items = tuple_items(frame, value, symbolic) if isinstance(value, Instance) and told_apart else None
        if items is not None:
            found.append(_Sequence(tuple(items), None))
        else:
            found.append(_Sequence((), element_values(frame, frozenset({value}))))
    return _join_equal(found)


def _default(frame: Frame, definition: Definition, parameter: ir.Parameter) -> ValueSet:
    """What a parameter holds without an argument."""
    if parameter.default is None or not definition.module.in_repository:
        return NOTHING
    return frame.read(("default", definition.id, parameter.name))


def _collect(
    frame: Frame,
    definition: Definition,
    star: ir.Parameter,
    items: tuple[ValueSet, ...],
    more: ValueSet | None,
    passed: dict[str, ValueSet] | None,
) -> None:
    """Extra positional arguments go into the `*args` tuple of a function whose body is analysed: into the one of their
    number, and into the one that stands for any number."""
    site = star_site(definition, star)
    for item in (*items, more or NOTHING):
        frame.write(("arg", site, 0), item)
    length = len(items)
    if more is not None or length > MAX_LENGTH or _declared_elements(frame, definition, star):
        length = UNKNOWN_LENGTH
    place = f"{star.name}#{length}"
    frame.write(("star", definition.id), frozenset({frame.kernel.make.literal("int", length)}))
    if passed is not None:
        passed[star.name] = passed.get(star.name, NOTHING) | {_star_tuple(frame, site, length)}
    for index, item in enumerate(items if length != UNKNOWN_LENGTH else ()):
        frame.write(("index", f"{definition.id}@{place}", index), item)
        if passed is not None:
            name = f"{place}.{index}"
            passed[name] = passed.get(name, NOTHING) | item


def _star_tuple(frame: Frame, site: str, length: int) -> Value:
    return frame.kernel.builtin("tuple", (), site if length == UNKNOWN_LENGTH else f"{site}#{length}")


def _declared_elements(frame: Frame, definition: Definition, star: ir.Parameter) -> ValueSet:
    """What a `*args: T` or `**kwargs: T` declares for each; nothing where that says too little."""
    if star.annotation is None:
        return NOTHING
    declared = frame.kernel.annotations.read(star.annotation, definition.parent or definition, definition)
    return NOTHING if frame.kernel.is_weak(declared) else declared


def _bind_keywords(
    frame: Frame, definition: Definition, args: Arguments, skip: int
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    parameters = definition.facts.parameters
    positional = [p for p in parameters if p.kind == "normal"]
    if skip and positional and not any(p.kind == "positional" for p in parameters):
        positional = positional[skip:]
    named = {p.name: p for p in (*positional, *(p for p in parameters if p.kind == "keyword"))}
    extra = next((p for p in parameters if p.kind == "doublestar"), None)
    for name, values in args.keywords:
        if name is None:
            free = _unbound(parameters, named, args, skip)
            yield from _bind_mapping(frame, definition, free, extra, values)
        elif name in named:
            yield named[name], values
        elif extra is not None and definition.module.in_repository:
            site = star_site(definition, extra)
            store_name(frame, site, name, values)


def _unbound(
    parameters: tuple[ir.Parameter, ...], named: dict[str, ir.Parameter], args: Arguments, skip: int
) -> dict[str, ir.Parameter]:
    """The parameters that `**values` can mean: those that no argument before a star and no keyword fills."""
    positional = [p.name for p in parameters if p.kind in ("positional", "normal")][skip:]
    plain = next((i for i, (mark, _) in enumerate(args.positional) if mark), len(args.positional))
    filled = {*positional[:plain], *(name for name, _ in args.keywords)}
    return {name: parameter for name, parameter in named.items() if name not in filled}


def _bind_mapping(
    frame: Frame,
    definition: Definition,
    named: dict[str, ir.Parameter],
    extra: ir.Parameter | None,
    values: ValueSet,
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """`**values`: keys that are known go to their parameters, the rest to every parameter it could mean. No parameter
    is sure to get a value: each has its default as well."""
    for parameter in named.values():
        yield parameter, _default(frame, definition, parameter)
    for value in values:
        if not isinstance(value, Instance) or value.site is None:
            continue
        for name, parameter in named.items():
            found = dict_item(frame, value, frozenset({frame.kernel.make.literal("str", name)}))
            if found:
                yield parameter, found
        if extra is not None and definition.module.in_repository:
            copy_items(frame, value, star_site(definition, extra), named)


def star_value(frame: Frame, definition: Definition, parameter: ir.Parameter) -> ValueSet:
    """What `*args` or `**kwargs` is inside its function: a tuple for each number of arguments that calls have, a dict.
    What is declared for their elements is written into them."""
    site = star_site(definition, parameter)
    declared = _declared_elements(frame, definition, parameter)
    if parameter.kind == "doublestar":
        store_unknown(frame, site, declared)
        return frozenset({frame.kernel.builtin("dict", (), site)})
    frame.write(("arg", site, 0), declared)
    lengths = frame.read(("star", definition.id))
    return frozenset(_star_tuple(frame, site, int(v.value)) for v in lengths if isinstance(v, Literal))
