"""Arguments to parameters (the rules of the language reference, section 6.3.4).

In: a function's parameters and the values of a call's arguments. Out: (parameter, values) pairs. `f(1, *rest, k=2)` on
`def f(a, b, *more, k)` gives a ← 1, b ← the first of rest, more ← the others, k ← 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contextc.analyzer.inference.annotations import TUPLE
from contextc.analyzer.inference.generics import dict_item, element_values, tuple_items
from contextc.analyzer.inference.heap import CellKey
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.model import ir
from contextc.model.value import Grip, Instance, ValueSet

MAX_SPREAD = 8  # positions of a `*args` tuple that are told apart


class Arguments(NamedTuple):
    """`positional` pairs a star ("" or "*") with values; `keywords` pairs a name (None for `**`) with values."""

    positional: tuple[tuple[str, ValueSet], ...]
    keywords: tuple[tuple[str | None, ValueSet], ...]


def parameter_cell(definition: Definition, parameter: ir.Parameter) -> CellKey:
    """The cell of a parameter as callers fill it."""
    return ("param", definition.id, parameter.name)


def star_site(definition: Definition, parameter: ir.Parameter) -> str:
    """The allocation site of a function's `*args` tuple or `**kwargs` dict."""
    return f"{definition.id}@{parameter.name}"


def bind_arguments(
    frame: Frame, definition: Definition, args: Arguments, skip: int
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """Pairs of parameter and values. The first `skip` positional parameters are left out (a bound receiver).

    What `*args` and `**kwargs` collect goes straight into the cells of their tuple or dict.
    """
    parameters = definition.facts.parameters
    positional = [p for p in parameters if p.kind in ("positional", "normal")][skip:]
    star = next((p for p in parameters if p.kind == "star"), None)
    index = 0
    for mark, values in args.positional:
        spread = _spread(frame, values) if mark else [values]
        if spread is None:
            elements = element_values(frame, values)
            for parameter in positional[index:]:
                yield parameter, elements
            if star is not None:
                _collect(frame, definition, star, None, elements)
            index = len(positional)
            continue
        for item in spread:
            if index < len(positional):
                yield positional[index], item
            elif star is not None:
                _collect(frame, definition, star, index - len(positional), item)
            index += 1
    yield from _bind_keywords(frame, definition, args, skip)


def _spread(frame: Frame, values: ValueSet) -> list[ValueSet] | None:
    """Values per position of `*values`; None where the length is not known."""
    spreads: list[list[ValueSet]] = []
    for value in values:
        if not isinstance(value, Instance) or value.cls != TUPLE:
            return None
        items = tuple_items(frame, value)
        if items is None:
            if value.site is None or "@" not in value.site:
                return None
            items = [frame.read(("index", value.site, i)) for i in range(MAX_SPREAD)]
            while items and not items[-1]:
                items.pop()
            if frame.read(("rest", value.site)):
                return None
        spreads.append(items)
    if not spreads:
        return None
    width = max(len(s) for s in spreads)
    return [frozenset().union(*(s[i] for s in spreads if i < len(s))) for i in range(width)]


def _collect(frame: Frame, definition: Definition, star: ir.Parameter, index: int | None, values: ValueSet) -> None:
    """An extra positional argument goes into the `*args` tuple of a function whose body is analysed."""
    if not definition.module.in_repository:
        return
    site = star_site(definition, star)
    frame.write(("arg", site, 0), values)
    if index is not None and index < MAX_SPREAD:
        frame.write(("index", site, index), values)
    else:
        frame.write(("rest", site), values)


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
            yield from _bind_mapping(frame, definition, named, extra, values)
        elif name in named:
            yield named[name], values
        elif extra is not None and definition.module.in_repository:
            site = star_site(definition, extra)
            frame.write(("key", site, name), values)
            frame.write(("arg", site, 1), values)


def _bind_mapping(
    frame: Frame,
    definition: Definition,
    named: dict[str, ir.Parameter],
    extra: ir.Parameter | None,
    values: ValueSet,
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """`**values`: keys that are known go to their parameters, the rest to every parameter it could mean."""
    for value in values:
        if not isinstance(value, Instance) or value.site is None:
            continue
        for name, parameter in named.items():
            found = dict_item(frame, value, frozenset({frame.kernel.make.literal("str", name)}))
            if found:
                yield parameter, found
        if extra is not None and value.site != star_site(definition, extra):
            site = star_site(definition, extra)
            frame.write(("arg", site, 1), frame.read(("arg", value.site, 1)))
            frame.write(("spread", site), frozenset({value}))


def star_value(frame: Frame, definition: Definition, parameter: ir.Parameter) -> ValueSet:
    """What `*args` or `**kwargs` is inside its function."""
    name = "tuple" if parameter.kind == "star" else "dict"
    site = star_site(definition, parameter)
    return frozenset({frame.kernel.make.instance(f"~builtins:{name}", Grip.EXACT, (), site)})
