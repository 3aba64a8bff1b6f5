"""Functions handed to library code.

In: a call into a library with function values among its arguments. Out: an edge from the call to each: CALLBACK where
the library calls it before returning (`sorted(key=f)`), REGISTRATION where it keeps it for later (`Thread(target=f)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Target
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    BoundMethod,
    CallableType,
    ClassObject,
    FunctionValue,
    Instance,
    Partial,
    Possible,
    Value,
    ValueSet,
)

if TYPE_CHECKING:
    from contextc.analyzer.inference.calls import CallContext

MAX_OVERRIDES = 12  # of a library class in one repository class; more say nothing about this call
IMMEDIATE = frozenset(
    {"builtins", "functools", "itertools", "re", "heapq", "bisect", "collections", "statistics", "copy", "operator"}
)


def register_callbacks(
    frame: Frame,
    args: Arguments,
    context: CallContext,
    declared: list[tuple[ValueSet, CallableType]] | None = None,
    module: str = "",
) -> None:
    """Records function arguments, and hands them what the library is declared to call them with."""
    if context.outcome is not None:
        for value in _handed_over(args, declared):
            _note(frame, value, context, module in IMMEDIATE)
    if declared:
        from contextc.analyzer.inference.calls import call_value

        for values, kind in declared:
            arguments = Arguments(tuple(("", p) for p in kind.params or ()), ())
            for value in values:
                if isinstance(value, (FunctionValue, BoundMethod, Partial)):
                    call_value(frame, value, arguments, -1, None)


def note_overrides(frame: Frame, definition: Definition, receiver: Value | None, context: CallContext) -> None:
    """A library method called on a repository class's object can call back whatever that class overrides of the
    library class: `Thread.start` runs `run`. Possible, since only the library's code could say which."""
    owner = definition.enclosing_class()
    if context.outcome is None or owner is None or not isinstance(receiver, (Instance, ClassObject)):
        return
    classes = frame.kernel.classes
    if not classes.in_repository(receiver.cls) or owner.id in ("~builtins:object", "~builtins:type"):
        return
    line = classes.mro(receiver.cls)
    found: dict[str, str] = {}
    for cls in line[: line.index(owner.id)] if owner.id in line else ():
        if not classes.in_repository(cls):
            continue
        for child in frame.kernel.definition(cls).children:
            inherited = any(classes.declares(c, child.name) for c in classes.mro(owner.id) if c != "~builtins:object")
            if child.is_function and inherited and child.name not in ("__init__", definition.name):
                found.setdefault(child.name, child.id)
    if len(found) > MAX_OVERRIDES:
        return
    for symbol in found.values():
        target = Target(symbol, EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK, symbol, True)
        context.outcome.targets.add(target)


def _handed_over(args: Arguments, declared: list[tuple[ValueSet, CallableType]] | None) -> list[Value]:
    """Values the library can call: those declared callable; without declarations, every argument."""
    if declared is not None:
        return [v for values, _ in declared for v in values]
    given = [v for _, values in args.positional for v in values]
    given.extend(v for _, values in args.keywords for v in values)
    return given


def _note(frame: Frame, value: Value, context: CallContext, immediate: bool) -> None:
    outcome = context.outcome
    assert outcome is not None
    possible = False
    while isinstance(value, (Possible, Partial)):
        possible = possible or isinstance(value, Possible)
        value = value.value if isinstance(value, Possible) else value.function
    function = value.function if isinstance(value, BoundMethod) else value
    if not isinstance(function, FunctionValue):
        return
    for symbol in (function.symbol, function.inner.symbol if function.inner is not None else None):
        if symbol is None or not frame.kernel.definition(symbol).module.in_repository:
            continue
        if immediate:
            outcome.targets.add(Target(symbol, EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK, symbol, possible))
        else:
            outcome.registered.add(
                Target(symbol, EdgeKind.REGISTRATION, Rule.LIBRARY_CALLBACK, symbol, possible)
            )
