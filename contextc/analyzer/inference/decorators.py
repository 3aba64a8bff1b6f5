"""Definitions as statements: decorators applied, defaults evaluated, classes made.

In: a `def` or `class` statement. Out: the value its name is bound to. A decorator is a call; what it returns is what
the name means from then on. A closure of a repository decorator stands for itself and for the function it wraps.
"""

from __future__ import annotations

from contextc.analyzer.inference.attributes import implicit_outcome, read_attribute
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import call_value
from contextc.analyzer.inference.classes import has_decorator
from contextc.analyzer.inference.enumerations import make_members
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.overloads import overloads
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.scopes import bind_name
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    BoundMethod,
    CallableType,
    ClassObject,
    External,
    FunctionValue,
    Instance,
    Open,
    Partial,
    Possible,
    PropertyObject,
    SpecialForm,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
)

_OVERLOAD = frozenset({"overload"})


def define(frame: Frame, statement: ir.Define) -> None:
    """Runs a `def` or `class` statement."""
    from contextc.analyzer.inference.expressions import evaluate
    from contextc.analyzer.inference.statements import evaluate_defaults

    definition = frame.unit.module.definitions[statement.symbol]
    decorators = [(d, evaluate(frame, d)) for d in definition.facts.decorators]
    if definition.is_class:
        values: ValueSet = frozenset({frame.kernel.make.class_object(definition.id)})
        _create_class(frame, definition, statement.at)
    else:
        evaluate_defaults(frame, definition)
        _evaluate_annotations(frame, definition)
        if has_decorator(frame.kernel.statics, definition, _OVERLOAD):
            return
        values = frozenset({frame.function_value(definition)})
    for decorator, callees in reversed(decorators):
        values = _decorate(frame, decorator, callees, values)
    bind_name(frame, definition.name, values)


def _evaluate_annotations(frame: Frame, definition: Definition) -> None:
    """Calls written inside annotations (`Annotated[T, Depends(f)]`) belong to the defining scope."""
    from contextc.analyzer.inference.expressions import evaluate

    for parameter in definition.facts.parameters:
        if parameter.annotation is not None and _has_call(parameter.annotation):
            evaluate(frame, parameter.annotation)


def _has_call(expr: ir.Expr) -> bool:
    if isinstance(expr, ir.Call):
        return True
    if isinstance(expr, ir.Subscript):
        return _has_call(expr.value) or _has_call(expr.key)
    if isinstance(expr, ir.TupleExpr):
        return any(_has_call(i) for i in expr.items)
    return False


def _decorate(frame: Frame, decorator: ir.Expr, callees: ValueSet, values: ValueSet) -> ValueSet:
    """Applies one decorator. A library's decorator whose result says nothing leaves the function itself."""
    outcome = implicit_outcome(frame, decorator.at, "decorator")
    found: set[Value] = set()
    for value in values:
        arguments = Arguments((("", frozenset({value})),), ())
        for callee in callees:
            result = call_value(frame, callee, arguments, decorator.at, outcome, (EdgeKind.DECORATOR, Rule.DECORATION))
            for item in result:
                if item is value or not _is_another(frame, item, value):
                    found |= _decorated(frame, item, value)
            if value in result and _in_repository(frame, callee):
                _note_registration(frame, decorator.at, value)
            if (not result and not _in_repository(frame, callee)) or _gives_what_it_calls(frame, callee):
                found.add(value)
    return frozenset(found)


def _is_another(frame: Frame, item: Value, original: Value) -> bool:
    """Whether a decorator's result is something else that it decorates: what it gives back comes together where it
    keeps what it got. Told by text: decorated itself, of the same kind, and not made by a function, as a wrapper is."""
    if isinstance(item, ClassObject) and isinstance(original, ClassObject):
        symbol, own = item.cls, original.cls
    elif isinstance(item, FunctionValue) and isinstance(original, FunctionValue) and item.inner is None:
        symbol, own = item.symbol, original.symbol
    else:
        return False
    definition = frame.kernel.definition(symbol)
    if symbol == own:
        return False
    local = definition.module.in_repository and bool(definition.facts.decorators)
    return local and definition.parent is not None and not definition.parent.is_function


def _note_registration(frame: Frame, at: int, value: Value) -> None:
    """A decorator of the repository that gives back what it got has kept it somewhere, or marked it."""
    if frame.recorder is None or not isinstance(value, FunctionValue):
        return
    frame.recorder.relations.add((frame.unit.id, at, value.symbol, EdgeKind.REGISTRATION, Rule.REGISTRY))


def _in_repository(frame: Frame, callee: Value) -> bool:
    """Whether a decorator's own code is analysed, so that an empty result only means: not yet."""
    if isinstance(callee, Possible):
        return _in_repository(frame, callee.value)
    if isinstance(callee, (Partial, Wrapper)):
        return _in_repository(frame, callee.function)
    function: Value = callee.function if isinstance(callee, BoundMethod) else callee
    if isinstance(function, FunctionValue):
        return frame.kernel.definition(function.symbol).module.in_repository
    if isinstance(callee, (ClassObject, Instance)):
        return frame.kernel.classes.in_repository(callee.cls)
    return False


def _gives_what_it_calls(frame: Frame, callee: Value) -> bool:
    """Whether a library's decorator declares a type variable as its result: what that is may not be known yet."""
    function: Value = callee.function if isinstance(callee, BoundMethod) else callee
    if not isinstance(function, FunctionValue) or _in_repository(frame, function):
        return False
    definition = frame.kernel.definition(function.symbol)
    for overload in overloads(frame, definition):
        if overload.facts.returns is not None:
            scope = overload.parent or overload
            declared = frame.kernel.annotations.read(overload.facts.returns, scope, overload)
            if any(isinstance(v, TypeVariable) for v in declared):
                return True
    return False


def _decorated(frame: Frame, item: Value, original: Value) -> ValueSet:
    """One result of a decorator, beside what it decorated."""
    kernel = frame.kernel
    if isinstance(item, (Open, External, SpecialForm, CallableType, TypeVariable)):
        return frozenset({original})
    if isinstance(item, Instance) and not kernel.classes.in_repository(item.cls):
        return frozenset({original})
    if isinstance(item, FunctionValue) and isinstance(original, FunctionValue) and item.inner is None:
        outer = kernel.definition(item.symbol).parent
        inner = original if item.symbol != original.symbol else original.inner  # one decorator twice wraps one function
        if outer is not None and outer.is_function and inner is not None:
            return frozenset({kernel.make.function(item.symbol, inner, original.flavor, item.env)})
    if isinstance(item, FunctionValue) and isinstance(original, (Wrapper, PropertyObject)):
        return frozenset({item, original})
    return frozenset({item})


def _set_names(frame: Frame, definition: Definition, at: int) -> None:
    """Each class-level object whose class defines `__set_name__` is told its name (data model 3.3.3.6)."""
    from contextc.analyzer.inference.implicit_calls import call_method, has_own_method

    make = frame.kernel.make
    for name in frame.kernel.statics.table(definition).names:
        for value in frame.read(("cattr", definition.id, name)):
            if has_own_method(frame, value, "__set_name__"):
                owner: ValueSet = frozenset({make.class_object(definition.id)})
                told: ValueSet = frozenset({make.literal("str", name)})
                call_method(frame, value, "__set_name__", (owner, told), at, Rule.CLASS_CREATION)


def _create_class(frame: Frame, definition: Definition, at: int) -> None:
    """A class statement evaluates its bases and runs `__init_subclass__` and the metaclass."""
    from contextc.analyzer.inference.expressions import evaluate

    kernel = frame.kernel
    for argument in definition.facts.bases:
        evaluate(frame, argument.value)
    info = kernel.classes.info(definition.id)
    how = (EdgeKind.DUNDER, Rule.CLASS_CREATION)
    receiver = kernel.make.class_object(definition.id)
    for base in info.mro[1:]:
        if kernel.classes.in_repository(base) and kernel.classes.declares(base, "__init_subclass__"):
            outcome = implicit_outcome(frame, at, "__init_subclass__")
            for method in read_attribute(frame, kernel.make.class_object(base), "__init_subclass__", -1):
                function = method.function if isinstance(method, BoundMethod) else method
                if isinstance(function, FunctionValue):
                    bound = kernel.make.bound(receiver, function)
                    call_value(frame, bound, Arguments((), ()), at, outcome, how)
            break
    _set_names(frame, definition, at)
    make_members(frame, definition, at)
    if info.metaclass is not None:
        for name in ("__prepare__", "__new__", "__init__"):
            owner = kernel.classes.owner(info.metaclass, name)
            if owner is not None and kernel.classes.in_repository(owner):
                outcome = implicit_outcome(frame, at, name)
                for item in frame.read(("cattr", owner, name)):
                    maker: Value = item.function if isinstance(item, Wrapper) else item
                    if isinstance(maker, FunctionValue):
                        bound = kernel.make.bound(receiver, maker)
                        call_value(frame, bound, Arguments((), ()), at, outcome, how)
