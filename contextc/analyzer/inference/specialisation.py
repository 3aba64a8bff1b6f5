"""Specialisation: functions evaluated for single values of the parameters that their result hangs on.

In: a function, the specialisation around it, and the values passed. Out: the contexts whose results the call joins, or
None for the merged one. `def make(cls): return cls()` called with `User` and elsewhere with `Order` gives each caller
its own kind of object.

Source: O. Agesen, "The Cartesian Product Algorithm", ECOOP 1995: keys are tuples of single values, never sets, and
never call sites. The keys that were asked for are a cell themselves. Past MAX_CONTEXTS a function is told apart by the
shapes of its arguments only (none, text, function, class), past that it collapses, for all callers, to its merged
evaluation. Each level covers the one before, so the change is a join.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.lazy_names import is_module_hook
from contextc.analyzer.inference.program import Definition
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    ClassObject,
    Context,
    FunctionValue,
    Instance,
    Intrinsic,
    Literal,
    ModuleValue,
    Partial,
    Text,
    Value,
    ValueSet,
    is_placed,
)

MAX_RECEIVERS = 48  # specialisations of one method for objects that are known by their place; of a short one more,
MAX_RECEIVER_NODES = 12_000  # as long as all of them have no more nodes
MAX_LAZY_NAMES = 96  # that are asked of one module's `__getattr__`
MAX_CONTEXTS = 6  # of one function, told apart by values; twice as many by shapes
FUNCTION_SHAPE, CLASS_SHAPE, OBJECT_SHAPE = "shape.function", "shape.class", "shape.object"
_REST = "shape.rest"
_COLLAPSED = "shape.collapsed"  # in the cell of contexts: a call would need too many
Passed = dict[str, ValueSet]


def choose_contexts(
    frame: Frame,
    function: FunctionValue,
    definition: Definition,
    passed: Passed | None,
    receiver: Value | None = None,
) -> list[Context] | None:
    """The specialisations whose results this call joins (none: nothing is known yet); None for the merged result."""
    interesting = frame.kernel.interesting_parameters(definition)
    if passed is not None and receiver is not None and is_placed(receiver):
        contexts = _choose_receiver(frame, function, definition, passed, receiver)
        if contexts is not None:
            return contexts
    if passed is None or (not interesting and function.env is None):
        return None
    for level, key_of in (("contexts", _key), ("shapes", _shape)):
        keys = _list_keys(frame, definition, passed, key_of)
        contexts = _request(frame, function, definition, interesting, keys, level)
        if contexts is not None:
            return contexts
    return None


def _list_keys(
    frame: Frame, definition: Definition, passed: Passed, key_of: Callable[[Frame, Value, bool], Value]
) -> list[list[Value]]:
    """For each interesting parameter, what stands in keys for what this call passes."""
    guarded = frame.kernel.guarded_parameters(definition)
    return [
        list(dict.fromkeys(
            v if _is_own_star(definition, name, v) else key_of(frame, v, name in guarded)
            for v in _passed(frame, definition, name, passed)
        ))
        for name in frame.kernel.interesting_parameters(definition)
    ]


def _is_own_star(definition: Definition, name: str, value: Value) -> bool:
    """Whether a value is the function's `*args` at a known length, which is a key itself."""
    return isinstance(value, Instance) and value.site is not None and value.site.startswith(f"{definition.id}@{name}#")


def _choose_receiver(
    frame: Frame, function: FunctionValue, definition: Definition, passed: Passed, receiver: Value
) -> list[Context] | None:
    """The specialisations for one object that is known by its place, other arguments told apart by shapes: its own
    attributes decide what the method does."""
    kernel = frame.kernel
    first = kernel.first_parameter(definition)
    if first is None or kernel.method_kind(definition) != "instance" or not kernel.hangs_on_receiver(definition):
        return None
    names = kernel.interesting_parameters(definition)
    keys = [[receiver], *_list_keys(frame, definition, passed, _shape)]
    return _request(frame, function, definition, (first, *names), keys, "places")


def _passed(frame: Frame, definition: Definition, name: str, passed: Passed) -> ValueSet:
    values = passed.get(name)
    if values is None:
        values = frame.read(("default", definition.id, name))
    return frame.kernel.settle(frame.expand(values))


def _request(
    frame: Frame,
    function: FunctionValue,
    definition: Definition,
    names: tuple[str, ...],
    keys: list[list[Value]],
    level: str,
) -> list[Context] | None:
    """Has the contexts of all combinations evaluated; None where they are too many."""
    kernel = frame.kernel
    size = 1
    for column in keys:
        size *= len(column)
    collapsed = kernel.make.intrinsic(_COLLAPSED)
    most = MAX_LAZY_NAMES if is_module_hook(definition) else MAX_CONTEXTS
    most = {"contexts": most, "shapes": 2 * MAX_CONTEXTS, "places": _most_receivers(definition)}[level]
    if size > (2 * MAX_CONTEXTS if level == "places" else most):
        frame.write((level, definition.id), frozenset({collapsed}))
        return None
    rest = kernel.make.intrinsic(_REST)
    contexts = []
    for key in product(*keys):
        bindings = tuple((name, value) for name, value in zip(names, key, strict=True) if value is not rest)
        if bindings or function.env is not None:
            contexts.append(kernel.make.context(definition.id, bindings, function.env))
    frame.write((level, definition.id), frozenset(contexts))  # asked for, even where the merged result covers them
    if len(contexts) < size:
        return None
    asked = frame.read((level, definition.id))
    if len(asked) > most or collapsed in asked:
        return None
    for context in contexts:
        kernel.request(definition, context)
    return contexts


def _most_receivers(definition: Definition) -> int:
    return max(MAX_RECEIVERS, MAX_RECEIVER_NODES // max(1, len(definition.facts.spans) // 2))


def read_results(frame: Frame, name: str, definition: Definition, contexts: list[Context] | None) -> ValueSet:
    """The `return` or `yield` cells of the chosen contexts, joined."""
    if contexts is None:
        return frame.kernel.heap.read((name, definition.id), frame.order)
    found = NOTHING
    for context in contexts:
        found |= frame.kernel.heap.read((name, definition.id, context), frame.order)
    return found


# ------------------------------------------------------------------------------------------------------ keys


def _key(frame: Frame, value: Value, guarded: bool) -> Value:
    """What stands in a key for a value: itself where it can decide what the function does."""
    if isinstance(value, (FunctionValue, BoundMethod, ClassObject, Partial)):
        return value
    if isinstance(value, Instance) and frame.kernel.classes.in_repository(value.cls) and not value.args:
        return value
    if isinstance(value, Literal) and value.type in ("str", "bool"):
        return value
    return _shape(frame, value, guarded)


def _shape(frame: Frame, value: Value, guarded: bool) -> Value:
    """The coarser key: none, text, function or class; another object where a test for None guards the body; what is
    none of them is not told apart."""
    make = frame.kernel.make
    if isinstance(value, (FunctionValue, BoundMethod, Partial)):
        return make.intrinsic(FUNCTION_SHAPE)
    if isinstance(value, ClassObject):
        return make.intrinsic(CLASS_SHAPE)
    if isinstance(value, Literal) and value.type == "bool":
        return value
    if isinstance(value, Text) or (isinstance(value, Literal) and value.type == "str"):
        return frame.kernel.builtin("str")
    if isinstance(value, Instance) and (value in frame.kernel.none or value is frame.kernel.builtin("str")):
        return value
    is_object = guarded and isinstance(value, (Instance, Literal, ModuleValue))
    return make.intrinsic(OBJECT_SHAPE if is_object else _REST)


def bind_key(frame: Frame, key: Value, values: Callable[[], ValueSet]) -> tuple[ValueSet, bool]:
    """What a parameter holds in a specialisation, and whether that is a single value: the key, or for a shape those of
    the merged evaluation's values that have it."""
    if not isinstance(key, Intrinsic):
        return frozenset({key}), True
    return frozenset(v for v in values() if _shape(frame, v, key.name == OBJECT_SHAPE) is key), False
