"""Functions handed to library code.

In: a call into a library with function values among its arguments. Out: an edge from the call to each: CALLBACK where
the library calls it before returning (`sorted(key=f)`), REGISTRATION where it keeps it for later (`Thread(target=f)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.contained import register_contained
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.overloads import Bound
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome, Target
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    BoundMethod,
    CallableType,
    ClassObject,
    FunctionValue,
    Instance,
    Intrinsic,
    Partial,
    Possible,
    TypeVariable,
    Value,
    ValueSet,
)

if TYPE_CHECKING:
    from contextc.analyzer.inference.calls import CallContext

_HOW = (EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK)
MAX_OVERRIDES = 12  # of a library class in one repository class; more say nothing about this call
IMMEDIATE = frozenset(
    {
        "builtins", "functools", "itertools", "re", "heapq", "_heapq", "bisect", "_bisect", "collections", "statistics",
        "copy", "operator", "_operator", "json", "textwrap", "_contextvars",
    }
)  # modules whose functions call what they are handed before they return
KEEPING = frozenset({"~collections:defaultdict"})  # classes there that keep it for later
_LOOKING = frozenset({"typing", "types", "enum", "dataclasses"})  # whose functions call nothing in a container
Handed = tuple[ValueSet, Arguments]  # functions given to a library, and what it is declared to call them with
_POSITIONAL = "args"  # parameters of the standard library whose values a callable beside them gets, by their names
_BY_NAME = ("kwargs", "kwds")


def register_callbacks(
    frame: Frame,
    args: Arguments,
    context: CallContext,
    declared: list[Handed] | None = None,
    module: str = "",
) -> None:
    """Records function arguments, and hands them what the library is declared to call them with."""
    if context.outcome is not None:
        for value in _handed_over(args, declared):
            _note(frame, value, context, module in IMMEDIATE)
        if module not in IMMEDIATE and module not in _LOOKING:
            register_contained(frame, args, context.outcome)
    for values, arguments in declared or ():
        for value in values:
            _run(frame, value, arguments, context, module in IMMEDIATE)


def _run(frame: Frame, value: Value, arguments: Arguments, context: CallContext, immediate: bool) -> None:
    """Calls what a library is handed as it is declared to. What isn't a function is recorded by what it runs: a class
    by its constructor, an object by its `__call__`, `str` by the conversion of what it gets."""
    from contextc.analyzer.inference.calls import call_value

    inner = value.function if isinstance(value, Partial) else value
    if isinstance(inner, (FunctionValue, BoundMethod)):
        call_value(frame, value, arguments, -1, None)
        if frame.recorder is not None and context.at >= 0:
            run_handed_conversions(frame, inner, arguments, context.at)
    elif isinstance(inner, Intrinsic):
        call_value(frame, value, arguments, context.at, context.outcome, _HOW)
    elif isinstance(inner, (ClassObject, Instance)) and _runs_code(frame, inner):
        ran = Outcome() if context.outcome is not None else None
        call_value(frame, value, arguments, -1, ran, _HOW)
        if ran is not None and context.outcome is not None:
            if immediate:
                context.outcome.targets |= ran.targets
            else:
                kind = EdgeKind.REGISTRATION
                context.outcome.registered |= {t._replace(kind=kind, rule=Rule.LIBRARY_CALLBACK) for t in ran.targets}
    elif isinstance(inner, ClassObject) and frame.recorder is not None and context.at >= 0:
        run_handed_conversions(frame, inner, arguments, context.at)


def run_handed_conversions(frame: Frame, value: Value, arguments: Arguments, at: int) -> None:
    """`map(str, items)` converts each item, where there is one."""
    from contextc.analyzer.inference.conversions import make_likely, run_conversions

    assert frame.recorder is not None
    met = frame.recorder.met
    run_conversions(frame, frozenset({value}), arguments, at)
    if frame.recorder.met > met:
        for index in range(len(arguments.positional)):
            make_likely(frame, at, f"conversion {index}")


def _runs_code(frame: Frame, value: ClassObject | Instance) -> bool:
    """Whether calling a value runs code of the repository by its class."""
    classes = frame.kernel.classes
    if isinstance(value, ClassObject):
        return classes.in_repository(value.cls)
    owner = classes.owner(value.cls, "__call__") if classes.is_known(value.cls) else None
    return owner is not None and classes.in_repository(owner)


def callback_arguments(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments, bound: Bound, kind: CallableType
) -> Arguments:
    """What a library function calls a callable with that it takes as `kind`: nothing where its parameters are declared.
    Where they are a ParamSpec or a TypeVarTuple, or anything, what the call hands on: `submit(f, a)`,
    `Thread(target=f, args=(a,))`."""
    variadic = any(is_variadic(p) for p in kind.params or ())
    if kind.params is not None and not variadic:
        return Arguments((), ())
    star = next((p for p in definition.facts.parameters if p.kind == "star"), None)
    if star is None:
        by_name = {p.name: given for p, _, given in bound}
        positional = ((("*", by_name[_POSITIONAL]),) if by_name.get(_POSITIONAL) else ())
        return Arguments(positional, tuple((None, by_name[name]) for name in _BY_NAME if by_name.get(name)))
    names = {p.name for p in definition.facts.parameters}
    skip = 1 if receiver is not None and frame.kernel.method_kind(definition) in ("instance", "class") else 0
    taken = sum(1 for p in definition.facts.parameters if p.kind in ("positional", "normal")) - skip
    if any(mark for mark, _ in args.positional[:taken]):
        return Arguments((), ())
    if subscripted_name(star.annotation) == "Iterable":  # `pool.map(f, xs, ys)`
        from contextc.analyzer.inference.implicit_calls import iterate

        return Arguments(tuple((mark, iterate(frame, values, -1)) for mark, values in args.positional[taken:]), ())
    if not _hands_on(star.annotation):
        return Arguments((), ())
    keywords = tuple((name, values) for name, values in args.keywords if name not in names)
    return Arguments(args.positional[taken:], () if variadic else keywords)


def is_variadic(parameter: ValueSet) -> bool:
    """Whether a declared parameter stands for any number of them."""
    return any(isinstance(v, TypeVariable) and v.kind == "typevartuple" for v in parameter)


def _hands_on(annotation: ir.Expr | None) -> bool:
    """Whether a `*args` is declared to be what a callable gets: `P.args`, `Unpack[Ts]`, `*Ts`."""
    if isinstance(annotation, ir.Attribute) and annotation.attr == "args":
        return True
    return isinstance(annotation, ir.Starred) or subscripted_name(annotation) == "Unpack"


def subscripted_name(annotation: ir.Expr | None) -> str:
    """The name that an annotation subscripts."""
    name = annotation.value if isinstance(annotation, ir.Subscript) else None
    return name.id if isinstance(name, ir.Name) else name.attr if isinstance(name, ir.Attribute) else ""


def note_overrides(frame: Frame, definition: Definition, receiver: Value | None, context: CallContext) -> None:
    """A library method called on a repository class's object can call back whatever that class overrides of the
    library class: `Thread.start` runs `run`. Possible, since only the library's code could say which."""
    owner = definition.enclosing_class()
    if context.outcome is None or owner is None or not isinstance(receiver, (Instance, ClassObject)):
        return
    if owner.id in ("~builtins:object", "~builtins:type"):
        return
    for symbol in overridden(frame, receiver.cls, owner.id):
        if frame.kernel.definition(symbol).name != definition.name:
            target = Target(symbol, EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK, symbol, True)
            context.outcome.targets.add(target)


def overridden(frame: Frame, cls: str, base: str) -> list[str]:
    """The methods that a repository class and those between override of a library class above it, by id, but for the
    initialiser; none where they are too many to say anything."""
    classes = frame.kernel.classes
    if not classes.in_repository(cls):
        return []
    line = classes.mro(cls)
    found: dict[str, str] = {}
    for between in line[: line.index(base)] if base in line else ():
        if not classes.in_repository(between):
            continue
        for child in frame.kernel.definition(between).children:
            inherited = any(classes.declares(c, child.name) for c in classes.mro(base) if c != "~builtins:object")
            if child.is_function and inherited and child.name != "__init__":
                found.setdefault(child.name, child.id)
    return list(found.values()) if len(found) <= MAX_OVERRIDES else []


def _handed_over(args: Arguments, declared: list[Handed] | None) -> list[Value]:
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
