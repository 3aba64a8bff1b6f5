"""Functions inside containers that a library is handed: tables of handlers, lists of routes, the members of a class.

In: a call into a library with containers of the repository among its arguments. Out: each function in them is
registered there: `App(routes=[Route("/", view)])`, `type("Dev", (), {"run": lambda self: 1})`.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.generics import own_arguments, tuple_items
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.recorder import Outcome, Target
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import NOTHING, BoundMethod, FunctionValue, Instance, Partial, Value, ValueSet

_DEPTH = 2  # containers in containers


def register_contained(frame: Frame, args: Arguments, outcome: Outcome) -> None:
    """Records the functions in what a call hands over."""
    given = [values for _, values in (*args.positional, *args.keywords)]
    for function in _iter_functions(frame, NOTHING.union(*given), _DEPTH):
        definition = frame.kernel.definition(function.symbol)
        if definition.module.in_repository:
            target = Target(definition.id, EdgeKind.REGISTRATION, Rule.LIBRARY_CALLBACK, definition.id, False)
            outcome.registered.add(target)


def _iter_functions(frame: Frame, values: ValueSet, depth: int) -> Iterator[FunctionValue]:
    """Functions in the containers among the values, not the values themselves."""
    for value in values:
        for item in _contents(frame, value):
            inner: Value = item.function if isinstance(item, (Partial, BoundMethod)) else item
            if isinstance(inner, FunctionValue):
                yield inner
            elif depth > 1:
                yield from _iter_functions(frame, frozenset({item}), depth - 1)


def _contents(frame: Frame, value: Value) -> ValueSet:
    """What a container holds that the repository made; nothing for any other value."""
    if not isinstance(value, Instance) or value.site is None or "@" not in value.site:
        return NOTHING
    if not value.cls.startswith("~builtins:"):
        return NOTHING
    items = tuple_items(frame, value)
    return NOTHING.union(*(items if items is not None else own_arguments(frame, value)))
