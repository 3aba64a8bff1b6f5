"""Overloads of a stub function: which of them these arguments run (PEP 484: the first that fits).

In: the definitions of a name, and arguments as value sets. Out: each overload that can be meant, with the values that
its declared parameters get. A set of values is not one argument: `f(x)` where x is an int or a str runs the first
overload for int and the first for str. So each combination of single values is decided on its own, which also makes
the answer grow with the sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from contextc.analyzer.inference.binding import Arguments, bind_arguments
from contextc.analyzer.inference.classes import OBJECT
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.model import ir
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    CallableType,
    ClassObject,
    FunctionValue,
    Instance,
    Intrinsic,
    Literal,
    Partial,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
)

Bound = list[tuple[ir.Parameter, ValueSet, ValueSet]]  # parameter, declared, given
Chosen = list[tuple[Definition, Bound]]
Fit = tuple["bool | None", ...]  # of one value, for each overload; None where nothing is known of the argument yet

MAX_COMBINATIONS = 16  # of argument values that fit different overloads; past it every overload that fits counts


def overloads(frame: Frame, definition: Definition) -> list[Definition]:
    """All definitions of a stub function's name in its scope, in order."""
    if definition.parent is None:
        return [definition]
    from contextc.analyzer.inference.bindings import DefinitionBinding

    bindings = frame.kernel.statics.table(definition.parent).names.get(definition.name, [])
    found = [b.definition for b in bindings if isinstance(b, DefinitionBinding) and b.definition.is_function]
    return found or [definition]


def choose_overloads(
    frame: Frame, candidates: list[Definition], receiver: Value | None, args: Arguments
) -> Chosen:
    """The overloads that these arguments run. Where a combination fits none, the last one counts."""
    fitting = [c for c in candidates if len(candidates) == 1 or _has_room(frame, c, receiver, args)]
    fitting = fitting or candidates[-1:]
    bounds = [declared_arguments(frame, c, receiver, args) for c in fitting]
    if len(fitting) == 1:
        return [(fitting[0], bounds[0])]
    if any(mark for mark, _ in args.positional) or any(name is None for name, _ in args.keywords):
        return _choose_any(frame, fitting, receiver, args, bounds)
    return _choose_by_value(frame, fitting, receiver, args, bounds)


def _choose_any(
    frame: Frame, candidates: list[Definition], receiver: Value | None, args: Arguments, bounds: list[Bound]
) -> Chosen:
    """Every overload each of whose parameters admits one of the values it got. What a star hands over may go to more
    parameters as more is known, so of that it is enough that one parameter admits it."""
    first = next((i for i, (mark, _) in enumerate(args.positional) if mark), len(args.positional))
    sure = Arguments(args.positional[:first], tuple(part for part in args.keywords if part[0] is not None))
    spread = Arguments((*(("", NOTHING) for _ in range(first)), *args.positional[first:]), ())
    chosen = [
        (candidate, bound)
        for candidate, bound in zip(candidates, bounds, strict=True)
        if all(_admits(frame, g, declared) for _, declared, g in declared_arguments(frame, candidate, receiver, sure))
        and (first == len(args.positional) or _admits_spread(frame, candidate, receiver, spread, first))
    ]
    if not chosen and frame.recorder is not None:
        return [(candidates[-1], bounds[-1])]
    return chosen


def _admits_spread(
    frame: Frame, candidate: Definition, receiver: Value | None, spread: Arguments, first: int
) -> bool:
    """Whether a parameter from `first` on admits something of what `*values` hands over. An overload that has none
    left, or collects what comes, does."""
    parameters = candidate.facts.parameters
    skip = 1 if receiver is not None and frame.kernel.method_kind(candidate) in ("instance", "class") else 0
    left = [p for p in parameters if p.kind in ("positional", "normal")][skip + first :]
    if not left or any(p.kind == "star" for p in parameters):
        return True
    bound = declared_arguments(frame, candidate, receiver, spread)
    return any(fits(frame, given, declared) for _, declared, given in bound if given)


def _admits(frame: Frame, given: ValueSet, declared: ValueSet) -> bool:
    if not given:
        return frame.recorder is not None or _takes_all(declared)
    return fits(frame, given, declared)


def _choose_by_value(
    frame: Frame, candidates: list[Definition], receiver: Value | None, args: Arguments, bounds: list[Bound]
) -> Chosen:
    declared = _declared_by_argument(frame, candidates, receiver, args)
    given = [values for _, values in (*args.positional, *args.keywords)]
    groups = [_group(frame, values, types) for values, types in zip(given, declared, strict=True)]
    if prod(len(group) for group in groups) > MAX_COMBINATIONS:
        chosen = _choose_any(frame, candidates[:-1], receiver, args, bounds[:-1])
        return [*chosen, (candidates[-1], bounds[-1])]
    taken: dict[int, list[set[Value]]] = {}
    for combination in product(*(group.items() for group in groups)):
        number = _first_fit(frame, [fit for fit, _ in combination], len(candidates))
        if number is not None:
            parts = taken.setdefault(number, [set() for _ in given])
            for part, (_, values) in zip(parts, combination, strict=True):
                part |= values
    return [
        (candidates[number], declared_arguments(frame, candidates[number], receiver, _replace(args, parts)))
        for number, parts in sorted(taken.items())
    ]


def _replace(args: Arguments, parts: Sequence[Iterable[Value]]) -> Arguments:
    """The same call with other values, one set for each argument."""
    sets = [frozenset(part) for part in parts]
    count = len(args.positional)
    positional = tuple(("", values) for values in sets[:count])
    return Arguments(positional, tuple((name, v) for (name, _), v in zip(args.keywords, sets[count:], strict=True)))


def _declared_by_argument(
    frame: Frame, candidates: list[Definition], receiver: Value | None, args: Arguments
) -> list[list[ValueSet]]:
    """For each argument what each overload declares of it; nothing where it declares nothing."""
    make = frame.kernel.make
    count = len(args.positional) + len(args.keywords)
    marks: list[ValueSet] = [frozenset({make.intrinsic(f"argument.{i}")}) for i in range(count)]
    marked = _replace(args, marks)
    found: list[list[ValueSet]] = [[NOTHING] * len(candidates) for _ in marks]
    for number, candidate in enumerate(candidates):
        for _, declared, given in declared_arguments(frame, candidate, receiver, marked):
            found[marks.index(given)][number] = declared
    return found


def _group(frame: Frame, values: ValueSet, declared: list[ValueSet]) -> dict[Fit, set[Value]]:
    """Values by the overloads they fit: those alike in this need no combinations of their own."""
    if not values:
        return {tuple(True if _takes_all(d) else None for d in declared): set()}
    groups: dict[Fit, set[Value]] = {}
    for value in values:
        fit = tuple(fits(frame, frozenset({value}), d) for d in declared)
        groups.setdefault(fit, set()).add(value)
    return groups


def _first_fit(frame: Frame, fit: list[Fit], count: int) -> int | None:
    """The first overload that one combination fits; None where that hangs on an argument of which nothing is known."""
    for number in range(count):
        column = [one[number] for one in fit]
        if False in column:
            continue
        return number if None not in column or frame.recorder is not None else None
    return count - 1


def _takes_all(declared: ValueSet) -> bool:
    """Whether a declaration admits any value: none, Any, object, a bare type variable."""
    return not declared or any(
        isinstance(d, (SpecialForm, TypeVariable)) or (isinstance(d, Instance) and d.cls == OBJECT) for d in declared
    )


def declared_arguments(frame: Frame, definition: Definition, receiver: Value | None, args: Arguments) -> Bound:
    """Parameters with their declared and given values; `*args` parameters take every extra argument."""
    kernel = frame.kernel
    scope = definition.parent or definition
    skip = 1 if receiver is not None and kernel.method_kind(definition) in ("instance", "class") else 0
    found: Bound = []
    for parameter, given in bind_arguments(frame, definition, args, skip):
        if parameter.annotation is not None:
            found.append((parameter, kernel.annotations.read(parameter.annotation, scope, definition), given))
    star = next((p for p in definition.facts.parameters if p.kind == "star" and p.annotation is not None), None)
    if star is not None and star.annotation is not None:
        taken = sum(1 for p in definition.facts.parameters if p.kind in ("positional", "normal")) - skip
        declared = kernel.annotations.read(star.annotation, scope, definition)
        for mark, given in args.positional[taken:]:
            if not mark:
                found.append((star, declared, given))
    return found


def _has_room(frame: Frame, definition: Definition, receiver: Value | None, args: Arguments) -> bool:
    """Whether an overload has parameters for so many arguments of these names, and none left without a value."""
    parameters = definition.facts.parameters
    skip = 1 if receiver is not None and frame.kernel.method_kind(definition) in ("instance", "class") else 0
    positional = [p for p in parameters if p.kind in ("positional", "normal")][skip:]
    plain = [v for mark, v in args.positional if not mark]
    starred = len(plain) != len(args.positional) or any(k is None for k, _ in args.keywords)
    has_star = any(p.kind == "star" for p in parameters)
    if len(plain) > len(positional) and not has_star:
        return False
    names = {p.name for p in parameters}
    open_keywords = any(p.kind == "doublestar" for p in parameters)
    if any(k is not None and k not in names and not open_keywords for k, _ in args.keywords):
        return False
    if starred:
        return True
    given = {k for k, _ in args.keywords}
    missing = [p for p in positional[len(plain) :] if p.default is None and p.name not in given]
    keyword_only = [p for p in parameters if p.kind == "keyword" and p.default is None and p.name not in given]
    return not missing and not keyword_only


def fits(frame: Frame, given: ValueSet, declared: ValueSet) -> bool:
    """Whether some given value can be one of the declared ones; unknown values fit everything."""
    return not declared or any(_fits_one(frame, g, d) for g in given for d in declared)


def _fits_one(frame: Frame, given: Value, declared: Value) -> bool:
    kernel = frame.kernel
    if _takes_all(frozenset({declared})):
        return True
    if isinstance(given, (Literal, Text)):
        if isinstance(declared, Literal):
            return given is declared
        given = kernel.builtin(given.type if isinstance(given, Literal) else "str")
    if isinstance(declared, CallableType):
        return _is_callable(frame, given)
    if isinstance(given, Instance) and isinstance(declared, Instance):
        if not kernel.classes.is_known(given.cls) or kernel.classes.is_subclass(given.cls, declared.cls):
            return True
        info = kernel.classes.info(declared.cls)
        if info.is_protocol:
            wanted = [c.name for c in info.definition.children if c.is_function]
            owners = [kernel.classes.owner(given.cls, name) for name in wanted]
            return bool(wanted) and all(owner not in (None, "~builtins:object") for owner in owners)
        return given.cls == "~builtins:int" and declared.cls == "~builtins:float"
    if isinstance(given, ClassObject):
        admitted = ("~builtins:type", "~builtins:object", given.cls)
        return isinstance(declared, (ClassObject, Instance)) and declared.cls in admitted
    known = (FunctionValue, BoundMethod, Instance, Partial, Intrinsic, Wrapper)
    return isinstance(given, type(declared)) or not isinstance(given, known)


def _is_callable(frame: Frame, given: Value) -> bool:
    """Whether a value fits a callable type, whatever its parameters."""
    if isinstance(given, Instance):
        classes = frame.kernel.classes
        return not classes.is_known(given.cls) or classes.owner(given.cls, "__call__") is not None
    return isinstance(given, (FunctionValue, BoundMethod, ClassObject, CallableType, Partial, Intrinsic, Wrapper))
