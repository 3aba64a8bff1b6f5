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
from contextc.model.value import NOTHING, Grip, Instance, Value, ValueSet

MAX_SPREAD = 8  # positions of a `*args` tuple that are told apart


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
    frame: Frame, definition: Definition, args: Arguments, skip: int
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """Pairs of parameter and values. The first `skip` positional parameters are left out (a bound receiver).

    What `*args` and `**kwargs` collect goes straight into the cells of their tuple or dict.
    """
    parameters = definition.facts.parameters
    positional = [p for p in parameters if p.kind in ("positional", "normal")][skip:]
    star = next((p for p in parameters if p.kind == "star"), None)
    for index, (mark, values) in enumerate(args.positional):
        if mark:
            yield from _bind_spread(frame, definition, positional, star, args, index)
            break
        if index < len(positional):
            yield positional[index], values
        elif star is not None:
            _collect(frame, definition, star, index - len(positional), values)
    if args.keywords:
        yield from _bind_keywords(frame, definition, args, skip)


class _Places(NamedTuple):
    """Where the next argument can go: positions, and each one from `beyond` on."""

    exact: frozenset[int]
    beyond: int | None

    def after(self, lengths: frozenset[int]) -> _Places:
        """Where what follows so many arguments can go."""
        beyond = self.beyond + min(lengths) if self.beyond is not None and lengths else None
        return _Places(frozenset(min(at + n, _FAR) for at in self.exact for n in lengths), beyond)

    def join(self, other: _Places) -> _Places:
        """Either."""
        beyond = [p.beyond for p in (self, other) if p.beyond is not None]
        return _Places(self.exact | other.exact, min(beyond, default=None))

    def first(self) -> int | None:
        """The first position; None if nothing is known of what comes before."""
        return min((*self.exact, *(() if self.beyond is None else (self.beyond,))), default=None)


_FAR = 64  # positions after it are one
_ONE = frozenset({1})


def _bind_spread(
    frame: Frame,
    definition: Definition,
    positional: list[ir.Parameter],
    star: ir.Parameter | None,
    args: Arguments,
    start: int,
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """The arguments from the first `*values` on. Each value of `values` is spread on its own, and what follows goes
    wherever one of them lets it go. A parameter that they may not reach has its default."""
    yield from ((parameter, NOTHING) for parameter in positional[start:])
    places = _Places(frozenset({start}), None)
    for mark, values in args.positional[start:]:
        if not mark:
            yield from _place(frame, definition, positional, star, places, values)
            places = places.after(_ONE)
            continue
        following = _Places(frozenset(), None)
        for value in values:
            spread = _spread(frame, value)
            if spread is None:
                first = places.first()
                unknown = _Places(frozenset(), first)
                elements = element_values(frame, frozenset({value}))
                yield from _place(frame, definition, positional, star, unknown, elements)
                following = following.join(unknown)
                continue
            at = places
            for item in spread.items:
                yield from _place(frame, definition, positional, star, at, item)
                at = at.after(_ONE)
            following = following.join(places.after(spread.lengths))
        places = following
    first = places.first()
    if first is not None:
        named = {name for name, _ in args.keywords}
        for parameter in positional[first:]:
            if parameter.name not in named:
                yield parameter, _default(frame, definition, parameter)


def _default(frame: Frame, definition: Definition, parameter: ir.Parameter) -> ValueSet:
    """What a parameter holds without an argument."""
    if parameter.default is None or not definition.module.in_repository:
        return NOTHING
    return frame.read(("default", definition.id, parameter.name))


def _place(
    frame: Frame,
    definition: Definition,
    positional: list[ir.Parameter],
    star: ir.Parameter | None,
    places: _Places,
    values: ValueSet,
) -> Iterator[tuple[ir.Parameter, ValueSet]]:
    """One argument, everywhere it can go."""
    if places.beyond is not None:
        for parameter in positional[places.beyond :]:
            yield parameter, values
        if star is not None:
            _collect(frame, definition, star, None, values)
    for at in sorted(places.exact):
        if at < len(positional):
            if places.beyond is None or at < places.beyond:
                yield positional[at], values
        elif star is not None:
            _collect(frame, definition, star, at - len(positional), values)


class _Spread(NamedTuple):
    """Values per position, and how many of them there can be."""

    items: list[ValueSet]
    lengths: frozenset[int]


def _spread(frame: Frame, value: Value) -> _Spread | None:
    """What `*value` stands for; None where no position is known. `*args` is as long as some call made it."""
    if not isinstance(value, Instance) or value.cls != TUPLE:
        return None
    items = tuple_items(frame, value)
    if items is not None:
        return _Spread(items, frozenset({len(items)}))
    if value.site is None or not _is_star_site(value.site) or frame.read(("rest", value.site)):
        return None
    items = [frame.read(("index", value.site, i)) for i in range(MAX_SPREAD)]
    while items and not items[-1]:
        items.pop()
    return _Spread(items, frozenset(range(len(items) + 1)))


def _is_star_site(site: str) -> bool:
    """Whether a site is a function's `*args`; those of displays and calls end in a number."""
    _, mark, name = site.rpartition("@")
    return bool(mark) and name.isidentifier()


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
            free = _unbound(parameters, named, args, skip)
            yield from _bind_mapping(frame, definition, free, extra, values)
        elif name in named:
            yield named[name], values
        elif extra is not None and definition.module.in_repository:
            site = star_site(definition, extra)
            frame.write(("key", site, name), values)
            frame.write(("arg", site, 1), values)


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
        if extra is not None and value.site != star_site(definition, extra):
            site = star_site(definition, extra)
            frame.write(("arg", site, 1), frame.read(("arg", value.site, 1)))
            frame.write(("spread", site), frozenset({value}))


def star_value(frame: Frame, definition: Definition, parameter: ir.Parameter) -> ValueSet:
    """What `*args` or `**kwargs` is inside its function."""
    name = "tuple" if parameter.kind == "star" else "dict"
    site = star_site(definition, parameter)
    return frozenset({frame.kernel.make.instance(f"~builtins:{name}", Grip.EXACT, (), site)})
