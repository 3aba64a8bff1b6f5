"""Calls without parentheses: operators, iteration, `with`, subscripts, conversions.

In: values and an operation. Out: its result; where a method of the repository runs, an implicit outcome is recorded at
the operation's node. `a + b` runs `A.__add__`, and `B.__radd__` where the left side has none.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotations import HOMOGENEOUS, TUPLE
from contextc.analyzer.inference.attributes import implicit_outcome, note_plain, read_attribute, read_metaclass
from contextc.analyzer.inference.bare_containers import hold_item
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import call_value
from contextc.analyzer.inference.dictionaries import dict_item, store_item
from contextc.analyzer.inference.generics import (
    GENERATOR_SITE,
    element_values,
    list_items,
    move_items,
    tuple_items,
)
from contextc.analyzer.inference.implicit_names import note_unknown
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.namespaces import ATTRIBUTES, lookup_namespace
from contextc.analyzer.inference.recorder import Target
from contextc.analyzer.inference.records import record_item
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import (
    NOTHING,
    ClassObject,
    External,
    Instance,
    Intrinsic,
    Literal,
    Open,
    Possible,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
)

COMPARISON = {"==": "__eq__", "!=": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
REFLECTED = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__", "__eq__": "__eq__"}


def call_method(
    frame: Frame, value: Value, name: str, args: tuple[ValueSet, ...], at: int, rule: Rule, operation: str = ""
) -> ValueSet:
    """Runs a special method of the value's class, recorded at node `at`; nothing where the class has none. Methods that
    are alternatives of one `operation` share its outcome, so that none of them counts as the only one."""
    if isinstance(value, Possible):
        value = value.value
    note_unknown(frame, value, name, at)
    if isinstance(value, (Open, External, SpecialForm)):
        return frozenset({value}) if not isinstance(value, External) else NOTHING
    if isinstance(value, ClassObject) and has_own_method(frame, value, name):
        methods = read_metaclass(frame, value, name, -1)
    else:
        methods = read_attribute(frame, value, name, -1)
    if not methods:
        return NOTHING
    outcome = implicit_outcome(frame, at, operation or name)
    arguments = Arguments(tuple(("", a) for a in args), ())
    found: set[Value] = set()
    for method in methods:
        if not isinstance(method, (Instance, External)) or name == "__call__":
            found |= call_value(frame, method, arguments, at, outcome, (EdgeKind.DUNDER, rule))
    return frozenset(found)


def has_own_method(frame: Frame, value: Value, name: str) -> bool:
    """Whether a repository class gives the value this method: its class, for a class its metaclass."""
    classes = frame.kernel.classes
    if not isinstance(value, (Instance, ClassObject)) or not classes.is_known(value.cls):
        return False
    cls = value.cls if isinstance(value, Instance) else classes.info(value.cls).metaclass
    owner = classes.owner(cls, name) if cls is not None else None
    return owner is not None and classes.in_repository(owner)


def has_method(frame: Frame, value: Value, name: str) -> bool:
    """Whether the value's class, or one above it that was found, has this method."""
    classes = frame.kernel.classes
    return isinstance(value, Instance) and classes.is_known(value.cls) and classes.owner(value.cls, name) is not None


def iterate(frame: Frame, values: ValueSet, at: int) -> ValueSet:
    """What a `for` loop over the values binds."""
    found: set[Value] = set()
    for value in values:
        met = frame.recorder.met if frame.recorder is not None else 0
        found |= _iterate_one(frame, value, at)
        note_plain(frame, value, at, met)
    return frozenset(found)


def _iterate_one(frame: Frame, value: Value, at: int) -> ValueSet:
    if isinstance(value, Possible):
        value = value.value
    if isinstance(value, (Open, SpecialForm, External)):
        note_unknown(frame, value, "__iter__", at)
        return open_element(frame, value)
    if has_own_method(frame, value, "__iter__"):
        iterators = call_method(frame, value, "__iter__", (), at, Rule.ITERATION)
        return _advance(frame, iterators, at, value)
    if has_own_method(frame, value, "__getitem__") and not has_method(frame, value, "__iter__"):
        index = frozenset({frame.kernel.builtin("int")})
        return call_method(frame, value, "__getitem__", (index,), at, Rule.ITERATION)
    if isinstance(value, TypeVariable):
        return iterate(frame, value.bound, at)
    if isinstance(value, ClassObject):
        return _iterate_class(frame, value, at)
    note_resumed(frame, value, at)
    return element_values(frame, frozenset({value}))


def note_resumed(frame: Frame, value: Value, at: int) -> None:
    """Whoever iterates over a generator runs the body of the function that made it."""
    if not isinstance(value, Instance) or value.site is None or not value.site.startswith(GENERATOR_SITE):
        return
    outcome = implicit_outcome(frame, at, "resume")
    symbol = value.site[len(GENERATOR_SITE) :]
    if outcome is not None and symbol != frame.unit.id:
        outcome.targets.add(Target(symbol, EdgeKind.DUNDER, Rule.ITERATION, symbol, False))
        if frame.recorder is not None:
            frame.recorder.met += 1


def open_element(frame: Frame, value: Value) -> ValueSet:
    """What an element of a value that is not known can be."""
    if isinstance(value, External):
        return frozenset({frame.kernel.make.external(f"{value.name}.__iter__()")})
    if isinstance(value, Open):
        return frozenset({value})
    return frame.kernel.open(Reason.EXTERNAL_VALUE)


def _advance(frame: Frame, iterators: ValueSet, at: int, maker: Value) -> ValueSet:
    found: set[Value] = set()
    for iterator in iterators:
        if has_own_method(frame, iterator, "__next__"):
            found |= call_method(frame, iterator, "__next__", (), at, Rule.ITERATION)
        elif iterator is not maker:
            found |= element_values(frame, frozenset({iterator}))
            if isinstance(iterator, Open):
                found.add(iterator)
    return frozenset(found)


def _iterate_class(frame: Frame, value: ClassObject, at: int) -> ValueSet:
    """Iterating over an Enum class gives its members; over another class what its metaclass says."""
    kernel = frame.kernel
    if kernel.classes.is_known(value.cls) and kernel.classes.is_subclass(value.cls, "~enum:Enum"):
        return frozenset({kernel.make.instance(value.cls)})
    meta = kernel.classes.info(value.cls).metaclass if kernel.classes.is_known(value.cls) else None
    if meta is None:
        return NOTHING
    return iterate(frame, frozenset({kernel.make.instance(meta)}), at)


def iterate_async(frame: Frame, values: ValueSet, at: int) -> ValueSet:
    """What an `async for` over the values binds."""
    found: set[Value] = set()
    for value in values:
        if has_own_method(frame, value, "__aiter__"):
            for iterator in call_method(frame, value, "__aiter__", (), at, Rule.ITERATION):
                if has_own_method(frame, iterator, "__anext__"):
                    result = call_method(frame, iterator, "__anext__", (), at, Rule.ITERATION)
                    found |= await_values(frame, result, at)
                else:
                    found |= element_values(frame, frozenset({iterator}))
        elif isinstance(value, Open):
            found.add(value)
        else:
            found |= element_values(frame, frozenset({value}))
    return frozenset(found)


def await_values(frame: Frame, values: ValueSet, at: int) -> ValueSet:
    """What `await` gives."""
    from contextc.analyzer.inference.generics import mapping_for

    found: set[Value] = set()
    for value in values:
        if isinstance(value, Instance) and frame.kernel.classes.is_known(value.cls):
            if has_own_method(frame, value, "__await__"):
                found |= call_method(frame, value, "__await__", (), at, Rule.ITERATION)
                continue
            for base in ("~typing:Coroutine", "~typing:Awaitable"):
                if frame.kernel.classes.is_subclass(value.cls, base):
                    arguments = list(mapping_for(frame, value, base).values())
                    found |= arguments[-1] if arguments else NOTHING
                    break
        elif isinstance(value, (Open, SpecialForm, External)):
            found |= open_element(frame, value)
    return frozenset(found)


def enter(frame: Frame, values: ValueSet, at: int, is_async: bool) -> ValueSet:
    """What `with value as x` binds; `__exit__` is recorded too."""
    names = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
    found: set[Value] = set()
    for value in values:
        result = call_method(frame, value, names[0], (), at, Rule.CONTEXT_MANAGER)
        nothing = (frame.kernel.none,) * 3
        call_method(frame, value, names[1], nothing, at, Rule.CONTEXT_MANAGER)
        if isinstance(value, External):
            result = frozenset({frame.kernel.make.external(f"{value.name}.{names[0]}()")})
        found |= await_values(frame, result, at) if is_async else result
    return frozenset(found)


def may_swallow(frame: Frame, values: ValueSet, is_async: bool) -> bool:
    """Whether a context manager's exit can return something true, so that what the body raised ends there."""
    name = "__aexit__" if is_async else "__exit__"
    quiet, frame.quiet = frame.quiet, True
    try:
        for value in values:
            if not isinstance(value, (Instance, Literal, Text, ClassObject)):
                return True
            result = call_method(frame, value, name, (frame.kernel.none,) * 3, -1, Rule.CONTEXT_MANAGER)
            result = await_values(frame, result, -1) if is_async else result
            if result - frame.kernel.none and not all(isinstance(v, Literal) and not v.value for v in result):
                return True
    finally:
        frame.quiet = quiet
    return False


# ------------------------------------------------------------------------------------------------------ subscripts


def subscript(frame: Frame, values: ValueSet, key: ValueSet, is_slice: bool, at: int) -> ValueSet:
    """`value[key]`."""
    found: set[Value] = set()
    told = any(isinstance(v, Intrinsic) and v.name == ATTRIBUTES for v in values) and all(
        isinstance(k, Literal) for k in key
    )
    for value in values:
        if told and isinstance(value, Instance) and value.site is None:
            continue  # the same mapping, by its stub
        met = frame.recorder.met if frame.recorder is not None else 0
        found |= _subscript_one(frame, value, key, is_slice, at)
        note_plain(frame, value, at, met)
    return frozenset(found)


def _subscript_one(frame: Frame, value: Value, key: ValueSet, is_slice: bool, at: int) -> ValueSet:
    kernel = frame.kernel
    if isinstance(value, Possible):
        value = value.value
    if isinstance(value, ClassObject):
        return _subscript_class(frame, value, key, at)
    if isinstance(value, (Literal, Text)):
        return frozenset({kernel.builtin("str")})
    if isinstance(value, Intrinsic):
        return lookup_namespace(frame, value, key)
    if isinstance(value, (Open, SpecialForm)):
        note_unknown(frame, value, "__getitem__", at)
        return open_element(frame, value)
    if isinstance(value, External):
        return frozenset({kernel.make.external(f"{value.name}.__getitem__()")})
    if not isinstance(value, Instance) or not kernel.classes.is_known(value.cls):
        return NOTHING
    if has_own_method(frame, value, "__getitem__"):
        return call_method(frame, value, "__getitem__", (key,), at, Rule.OPERATOR)
    if is_slice and value.cls in (TUPLE, "~builtins:list"):
        if value.cls == TUPLE and value.site is None:
            return frozenset({kernel.make.instance(TUPLE, value.grip, (frozenset().union(*value.args),), HOMOGENEOUS)})
        move_items(frame, frozenset({value}))
        return frozenset({value})
    items = tuple_items(frame, value)
    if items is not None:
        return pick(frame, items, key)
    items = list_items(frame, value)
    if items is not None and all(_is_index(k, len(items)) for k in key):
        return pick(frame, items, key)
    declared = record_item(frame, value, key)
    if declared is not None:
        return declared
    if kernel.classes.is_subclass(value.cls, "~builtins:dict"):
        _look_up(frame, key, at)
        missing = NOTHING
        if has_own_method(frame, value, "__missing__"):
            missing = call_method(frame, value, "__missing__", (key,), at, Rule.OPERATOR)
        has_site = value.site is not None and not kernel.classes.in_repository(value.cls)
        if has_site:
            return dict_item(frame, value, key) | missing
        if missing:
            return call_method(frame, value, "__getitem__", (key,), at, Rule.OPERATOR) | missing
    if value.cls in ("~builtins:list", TUPLE):
        return element_values(frame, frozenset({value}))
    return call_method(frame, value, "__getitem__", (key,), at, Rule.OPERATOR)


def _subscript_class(frame: Frame, value: ClassObject, key: ValueSet, at: int) -> ValueSet:
    """`C[int]` is C again; an Enum's member by name; else what `__class_getitem__` or the metaclass says."""
    kernel = frame.kernel
    if not kernel.classes.is_known(value.cls):
        return frozenset({value})
    if kernel.classes.is_subclass(value.cls, "~enum:Enum"):
        return frozenset({kernel.make.instance(value.cls)})
    owner = kernel.classes.owner(value.cls, "__class_getitem__")
    if owner is not None and kernel.classes.in_repository(owner):
        return call_method(frame, value, "__class_getitem__", (key,), at, Rule.OPERATOR) | {value}
    meta = kernel.classes.info(value.cls).metaclass
    if meta is not None and kernel.classes.owner(meta, "__getitem__") is not None:
        return call_method(frame, kernel.make.instance(meta), "__getitem__", (key,), at, Rule.OPERATOR)
    return frozenset({value})


def pick(frame: Frame, items: list[ValueSet], key: ValueSet) -> ValueSet:
    """The items of a tuple that a key can mean."""
    if not key and frame.recorder is not None:
        return frozenset().union(*items)
    found: set[Value] = set()
    for one in key:
        if isinstance(one, Literal) and isinstance(one.value, int) and -len(items) <= one.value < len(items):
            found |= items[one.value]
        else:
            found = found.union(*items)
    return frozenset(found)


def store_subscript(frame: Frame, values: ValueSet, key: ValueSet, stored: ValueSet, at: int) -> None:
    """`value[key] = stored`."""
    kernel = frame.kernel
    for value in values:
        note_unknown(frame, value, "__setitem__", at)
        if isinstance(value, Intrinsic):
            _store_name(frame, value, key, stored)
        if not isinstance(value, Instance) or not kernel.classes.is_known(value.cls):
            continue
        if has_own_method(frame, value, "__setitem__"):
            call_method(frame, value, "__setitem__", (key, stored), at, Rule.OPERATOR)
            continue
        if kernel.classes.is_subclass(value.cls, "~builtins:dict"):
            _look_up(frame, key, at)
        if kernel.classes.in_repository(value.cls):
            hold_item(frame, value, key, stored)
            continue
        if value.site is None:
            continue
        if kernel.classes.is_subclass(value.cls, "~builtins:dict"):
            store_item(frame, value.site, key, stored)
        else:
            frame.write(("arg", value.site, 0), stored)
            _store_item(frame, value, value.site, key, stored)


def _store_name(frame: Frame, namespace: Intrinsic, key: ValueSet, stored: ValueSet) -> None:
    from contextc.analyzer.inference.object_namespaces import store_in_namespace

    store_in_namespace(frame, namespace, key, stored)


def _look_up(frame: Frame, key: ValueSet, at: int) -> None:
    from contextc.analyzer.inference.conversions import look_up

    look_up(frame, key, at)


def _is_index(key: Value, length: int) -> bool:
    return isinstance(key, Literal) and isinstance(key.value, int) and -length <= key.value < length


def _store_item(frame: Frame, value: Instance, site: str, key: ValueSet, stored: ValueSet) -> None:
    """What `items[1] = x` puts at an index; a key that isn't a plain number may mean any of them."""
    for one in key:
        if isinstance(one, Literal) and isinstance(one.value, int) and one.value >= 0:
            frame.write(("index", site, one.value), stored)
        else:
            move_items(frame, frozenset({value}))


# ------------------------------------------------------------------------------------------------------ operators


def compare(frame: Frame, op: str, left: ValueSet, right: ValueSet, at: int) -> ValueSet:
    """A comparison; its result counts as bool where no repository method says otherwise."""
    from contextc.analyzer.inference.conversions import compare_contents, contain

    truth = frame.kernel.builtin("bool")
    found: set[Value] = set()
    if op in ("in", "not in"):
        for value in right:
            met = frame.recorder.met if frame.recorder is not None else 0
            if has_own_method(frame, value, "__contains__"):
                call_method(frame, value, "__contains__", (left,), at, Rule.OPERATOR)
            elif has_own_method(frame, value, "__iter__") and not has_method(frame, value, "__contains__"):
                iterate(frame, frozenset({value}), at)
            else:
                note_unknown(frame, value, "__contains__", at)
                contain(frame, value, left, at)
            note_plain(frame, value, at, met)
    elif op in COMPARISON:
        name = COMPARISON[op]
        others: set[Value] = set()
        for value in left:
            if has_own_method(frame, value, name):
                found |= call_method(frame, value, name, (right,), at, Rule.OPERATOR)
                continue
            others.add(value)
            note_unknown(frame, value, name, at)
            met = frame.recorder.met if frame.recorder is not None else 0
            compare_contents(frame, name, value, right, at)
            note_plain(frame, value, at, met)
            if op == "!=" and has_own_method(frame, value, "__eq__"):
                call_method(frame, value, "__eq__", (right,), at, Rule.OPERATOR)
        if others or (not left and frame.recorder is not None):
            found |= _compare_reflected(frame, REFLECTED.get(name), frozenset(others), right, at) | {truth}
        return frozenset(found)
    return frozenset({truth})


def _compare_reflected(frame: Frame, name: str | None, left: ValueSet, right: ValueSet, at: int) -> ValueSet:
    """The right side's method, for a left side that has none of its own."""
    found: set[Value] = set()
    for value in right:
        if name is not None and has_own_method(frame, value, name):
            found |= call_method(frame, value, name, (left,), at, Rule.OPERATOR)
    return frozenset(found)


def test_truth(frame: Frame, values: ValueSet, at: int) -> None:
    """A condition: `__bool__`, else `__len__`."""
    for value in values:
        for name in ("__bool__", "__len__"):
            if has_own_method(frame, value, name):
                call_method(frame, value, name, (), at, Rule.CONVERSION, "truth")
                break
        else:
            note_other(frame, value, at, "truth")


def note_other(frame: Frame, value: Value, at: int, operation: str) -> None:
    """A value whose own code does not run is one more thing that the operation can mean."""
    outcome = implicit_outcome(frame, at, operation)
    if outcome is not None and value not in frame.kernel.none:
        outcome.others += 1
