"""Special methods that built-in code runs on values and on what they hold: conversions, hashes, comparisons.

In: values and an operation. Out: implicit outcomes at the operation's node. `str([card])` runs `Card.__repr__`,
`table[key]` runs `Key.__hash__` and, for another key with the same hash, `Key.__eq__` (language reference 3.3.1).
"""

from __future__ import annotations

from collections.abc import Iterable

from contextc.analyzer.inference.annotations import TUPLE
from contextc.analyzer.inference.attributes import implicit_outcome
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.generics import element_values, own_arguments, tuple_items
from contextc.analyzer.inference.implicit_calls import call_method, has_own_method, note_other, test_truth
from contextc.analyzer.inference.implicit_names import note_unknown
from contextc.analyzer.inference.kernel import Frame
from contextc.model.edge import Rule
from contextc.model.value import NOTHING, BoundMethod, ClassObject, FunctionValue, Instance, Possible, Value, ValueSet

CONVERSIONS = {
    "~builtins:str": ("__str__", "__repr__"), "~builtins:repr": ("__repr__",), "~builtins:len": ("__len__",),
    "~builtins:bool": ("__bool__", "__len__"), "~builtins:int": ("__int__", "__index__"),
    "~builtins:float": ("__float__", "__index__"), "~builtins:hash": ("__hash__",), "~builtins:abs": ("__abs__",),
    "~builtins:ascii": ("__repr__",), "~builtins:print": ("__str__", "__repr__"), "~builtins:dir": ("__dir__",),
    "~builtins:format": ("__format__", "__str__"), "~builtins:bytes": ("__bytes__",), "~builtins:round": ("__round__",),
    "~builtins:reversed": ("__reversed__",), "~builtins:next": ("__next__",),
}  # fmt: skip
_FORMAT = ("__format__", "__str__", "__repr__")
_SPREADING = {"__str__": "__repr__", "__repr__": "__repr__", "__format__": "__repr__", "__hash__": "__hash__"}
_FROZEN = frozenset({TUPLE, "~builtins:frozenset"})  # containers whose hash is that of what they hold
_CONTAINERS = frozenset({TUPLE, "~builtins:frozenset", "~builtins:list", "~builtins:set", "~builtins:dict"})
_SEQUENCES = frozenset({TUPLE, "~builtins:list"})
_TEXTUAL = ("~builtins:str", "~builtins:bytes", "~builtins:BaseException", "~enum:Enum", "~pathlib:PurePath")
_MAX_INSIDE = 3  # containers inside one another that are looked into
_TRUTH = frozenset({"~builtins:any", "~builtins:all"})
_KEYED = ("~builtins:dict", "~builtins:set", "~builtins:frozenset", "~typing:KeysView")
_BY_KEY = frozenset(
    {
        "get", "pop", "setdefault", "add", "discard", "remove", "__contains__", "__getitem__", "__setitem__",
        "__delitem__",
    }
)
_BY_KEYS = frozenset(
    {
        "update", "union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint",
        "intersection_update", "difference_update", "symmetric_difference_update", "fromkeys",
    }
)  # methods of dicts and sets that hash each element of what they get
_BY_EQUALITY = frozenset({"index", "count", "remove"})  # methods of lists and the like


def convert(frame: Frame, values: ValueSet, names: tuple[str, ...], at: int, index: int = 0) -> None:
    """A conversion such as `str(x)`: the first of `names` that the repository defines runs. `index` tells apart what
    one call converts: each runs its own method. A container converts what it holds."""
    operation = f"conversion {index}"
    for value in values:
        name = next((name for name in _asked(frame, value, names) if has_own_method(frame, value, name)), None)
        if name is not None:
            call_method(frame, value, name, (), at, Rule.CONVERSION, operation)
            continue
        note_other(frame, value, at, operation)
        note_unknown(frame, value, names[0], at)
        if frame.recorder is not None and names[0] in _SPREADING:
            _convert_inside(frame, value, _SPREADING[names[0]], at, f"{operation} inside", _MAX_INSIDE)


def _asked(frame: Frame, value: Value, names: tuple[str, ...]) -> tuple[str, ...]:
    """The methods that a conversion asks for: a text of a class with a built-in `__str__` is never its `__repr__`."""
    if "__str__" not in names or not isinstance(value, Instance) or not frame.kernel.classes.is_known(value.cls):
        return names
    has_text = any(frame.kernel.classes.is_subclass(value.cls, base) for base in _TEXTUAL)
    return tuple(n for n in names if n != "__repr__") if has_text else names


def _convert_inside(frame: Frame, value: Value, name: str, at: int, operation: str, limit: int) -> None:
    """The same method of what a container holds: likely, since it may hold nothing."""
    if limit == 0:
        return
    for index, items in enumerate(_parts_of(frame, value, _FROZEN if name == "__hash__" else _CONTAINERS)):
        inside = f"{operation} {index}"
        for item in items:
            if has_own_method(frame, item, name):
                call_method(frame, item, name, (), at, Rule.CONVERSION, inside)
                make_likely(frame, at, inside)
            else:
                note_other(frame, item, at, inside)
                _convert_inside(frame, item, name, at, inside, limit - 1)


def contents(frame: Frame, value: Value, containers: frozenset[str] = _CONTAINERS) -> ValueSet:
    """What a built-in container holds, a dict's keys among it; nothing for another value."""
    return NOTHING.union(*_parts_of(frame, value, containers))


def _parts_of(frame: Frame, value: Value, containers: frozenset[str]) -> list[ValueSet]:
    """The same apart: the items of a tuple of known length, the keys and the values of a dict."""
    if isinstance(value, Possible):
        value = value.value
    if not isinstance(value, Instance) or value.cls not in containers:
        return []
    items = tuple_items(frame, value) if value.cls == TUPLE else None
    return items if items is not None else list(own_arguments(frame, value))


def make_likely(frame: Frame, at: int, operation: str) -> None:
    """Says of an operation that it may do without the methods found for it."""
    outcome = implicit_outcome(frame, at, operation)
    if outcome is not None:
        outcome.may_skip = True


def run_conversions(frame: Frame, callees: ValueSet, args: Arguments, at: int) -> None:
    """`str(x)`, `any(xs)`, `set(xs)` and their kind run special methods of their arguments."""
    for callee in callees:
        if isinstance(callee, BoundMethod):
            _run_method(frame, callee, args, at)
        elif isinstance(callee, (FunctionValue, ClassObject)):
            symbol = callee.symbol if isinstance(callee, FunctionValue) else callee.cls
            _run_function(frame, symbol.partition("#")[0], args, at)


def _run_function(frame: Frame, symbol: str, args: Arguments, at: int) -> None:
    if not symbol.startswith("~"):
        return
    names = CONVERSIONS.get(symbol)
    if names is not None:
        for index, (mark, values) in enumerate(args.positional):
            if not mark:
                convert(frame, frame.expand(values), names, at, index)
    elif symbol in _TRUTH and args.positional:
        test_inside(frame, frame.expand(args.positional[0][1]), at)
    elif symbol == "~builtins:filter" and len(args.positional) > 1:
        if frame.expand(args.positional[0][1]) & frame.kernel.none:
            test_inside(frame, frame.expand(args.positional[1][1]), at)
    elif symbol in ("~builtins:set", "~builtins:frozenset", "~builtins:dict", "~collections:Counter"):
        for _, values in args.positional:
            look_up(frame, element_values(frame, frame.expand(values)), at, is_sure=False)


def _run_method(frame: Frame, callee: BoundMethod, args: Arguments, at: int) -> None:
    """A method of a built-in container that hashes or compares what it gets."""
    definition = frame.kernel.definition(callee.function.symbol)
    if definition.module.in_repository:
        return
    name, owner = definition.name, definition.enclosing_class()
    if definition.id.startswith("~builtins:str.format"):
        for index, (mark, values) in enumerate(args.positional):
            if not mark:
                convert(frame, frame.expand(values), _FORMAT, at, index)
        return
    if owner is None or not args.positional or args.positional[0][0]:
        return
    given = frame.expand(args.positional[0][1])
    if any(frame.kernel.classes.is_subclass(owner.id, base) for base in _KEYED[:3]):
        if name in _BY_KEY:
            look_up(frame, given, at)
        elif name in _BY_KEYS:
            look_up(frame, element_values(frame, given), at, is_sure=False)
    elif name in _BY_EQUALITY and owner.id in ("~builtins:list", TUPLE, "~collections:deque", "~typing:Sequence"):
        equate(frame, element_values(frame, frozenset({callee.receiver})), given, at)


def test_inside(frame: Frame, values: ValueSet, at: int) -> None:
    """`any(xs)`: the truth of each element."""
    if frame.recorder is None:
        return
    items = element_values(frame, values)
    if any(has_own_method(frame, item, n) for item in items for n in ("__bool__", "__len__")):
        test_truth(frame, items, at)
        make_likely(frame, at, "truth")


# ------------------------------------------------------------------------------------------------------ keys


def look_up(frame: Frame, keys: ValueSet, at: int, is_sure: bool = True) -> None:
    """A key of a dict or an element of a set: its hash, and possibly its equality, which only another object with the
    same hash needs."""
    equal: set[Value] = set()
    for key in keys:
        if has_own_method(frame, key, "__hash__"):
            if frame.recorder is not None:
                call_method(frame, key, "__hash__", (), at, Rule.CONVERSION, "hash")
            equal.add(key)
        elif frame.recorder is not None:
            note_other(frame, key, at, "hash")
            _convert_inside(frame, key, "__hash__", at, "hash inside", _MAX_INSIDE)
    if equal and not is_sure:
        make_likely(frame, at, "hash")
    _run_equality(frame, equal, frozenset(equal), at, is_possible=True)


def is_keyed(frame: Frame, value: Value) -> bool:
    """Whether a value finds what it holds by its hash."""
    known = isinstance(value, Instance) and frame.kernel.classes.is_known(value.cls)
    return known and any(frame.kernel.classes.is_subclass(value.cls, base) for base in _KEYED)  # type: ignore[union-attr]


def _run_equality(
    frame: Frame, values: Iterable[Value], others: ValueSet, at: int, is_mixed: bool = False, is_possible: bool = False
) -> None:
    """`__eq__` where one of the same identity needs none: likely. `is_mixed`: values come as well that have none."""
    operation = "equality of keys" if is_possible else "equality"
    for value in values:
        if has_own_method(frame, value, "__eq__"):
            call_method(frame, value, "__eq__", (others,), at, Rule.CONVERSION, operation)
            make_likely(frame, at, operation)
            outcome = implicit_outcome(frame, at, operation)
            if outcome is not None:
                outcome.others += is_mixed
                if is_possible:
                    outcome.make_possible()


# ------------------------------------------------------------------------------------------------------ comparison


def equate(frame: Frame, items: ValueSet, others: ValueSet, at: int) -> None:
    """`others in items`, `items.index(others)`: each item's `__eq__`, else that of what it is compared with."""
    own = [v for v in items if has_own_method(frame, v, "__eq__")]
    _run_equality(frame, own, others, at, is_mixed=len(own) < len(items))
    if len(own) < len(items) or (not items and frame.recorder is not None):
        _run_equality(frame, others, items, at)


def contain(frame: Frame, value: Value, items: ValueSet, at: int) -> None:
    """`items in value` for a built-in container."""
    if is_keyed(frame, value):
        look_up(frame, items, at)
    elif isinstance(value, Instance) and (value.cls in _SEQUENCES or value.cls == "~collections:deque"):
        equate(frame, element_values(frame, frozenset({value})), items, at)


def compare_contents(frame: Frame, name: str, left: Value, right: ValueSet, at: int) -> None:
    """`[a] == [b]`, `(a, 1) < (b, 1)`: the elements are compared, for an order the first that differ."""
    items = contents(frame, left)
    own = [v for v in items if has_own_method(frame, v, "__eq__") or has_own_method(frame, v, name)]
    if not own:
        return
    others = NOTHING.union(*(contents(frame, value) for value in right))
    if not others:
        return
    _run_equality(frame, own, others, at)
    if name in ("__lt__", "__le__", "__gt__", "__ge__") and isinstance(left, Instance) and left.cls in _SEQUENCES:
        for value in own:
            if has_own_method(frame, value, name):
                call_method(frame, value, name, (others,), at, Rule.OPERATOR, "order")
                make_likely(frame, at, "order")
