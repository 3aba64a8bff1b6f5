"""An object's attributes as a mapping: `self.__dict__["x"] = v`, `vars(self)["x"]`, `object.__setattr__(self, "x", v)`.

In: an object, a key and values. Out: the cells of its attributes read and filled, past properties and `__setattr__`.
"""

from __future__ import annotations

from contextc.analyzer.inference.attribute_stores import may_manage, store_attribute
from contextc.analyzer.inference.attributes import read_attribute
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext
from contextc.analyzer.inference.construction import store_field
from contextc.analyzer.inference.dictionaries import dict_item, is_dict
from contextc.analyzer.inference.hidden_stores import spellings
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.namespaces import ATTRIBUTES
from contextc.model.edge import Reason
from contextc.model.value import NOTHING, Instance, Intrinsic, Key, Literal, Value, ValueSet

METHODS = frozenset(f"{ATTRIBUTES}.{name}" for name in ("get", "setdefault", "update", "pop", "__setitem__"))


def set_on_object(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`object.__setattr__(x, "name", v)`, `super().__setattr__("name", v)`: a store that runs no `__setattr__`."""
    given = [values for mark, values in args.positional if not mark]
    if receiver is not None:
        given.insert(0, frozenset({receiver}))
    if len(given) == 3:
        for name in given[1]:
            if isinstance(name, Literal) and isinstance(name.value, str):
                for value in given[0]:
                    for one in _spellings(frame, value, name.value):
                        store_attribute(frame, frozenset({value}), one, given[2], context.at, is_hooked=False)
    return frame.kernel.none


def object_namespace(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`vars(x)`; `vars()`, like `locals()`, is whatever is named at run time."""
    if len(args.positional) != 1 or args.positional[0][0]:
        return frame.kernel.open(Reason.DYNAMIC_CODE)
    found: set[Value] = set()
    for value in args.positional[0][1]:
        if isinstance(value, Instance) and frame.kernel.classes.is_known(value.cls):
            found |= read_attribute(frame, value, "__dict__", context.at)
        else:
            found |= frame.kernel.open(Reason.DYNAMIC_CODE)
    return frozenset(found)


def store_in_namespace(frame: Frame, namespace: Intrinsic, key: ValueSet, values: ValueSet) -> None:
    """`x.__dict__[key] = v`. Under a descriptor's name it keeps what that gives: the descriptor says it better."""
    owner = namespace.owner
    if not isinstance(owner, Instance):
        return
    for name in key:
        if isinstance(name, Literal) and isinstance(name.value, str):
            for one in _spellings(frame, owner, name.value):
                above = frame.kernel.classes.owner(owner.cls, one)
                if above is None or not may_manage(frame, above, one):
                    store_field(frame, owner, one, values)


def call_namespace(frame: Frame, callee: Intrinsic, args: Arguments) -> ValueSet:
    """A method of an object's `__dict__`."""
    from contextc.analyzer.inference.namespaces import lookup_namespace

    namespace = callee.owner
    assert isinstance(namespace, Intrinsic)
    method = callee.name.rpartition(".")[2]
    given = [frame.expand(values) for mark, values in args.positional if not mark]
    if method == "update":
        for name, values in args.keywords:
            if name is not None:
                _store(frame, namespace, name, values)
        for value in given[0] if given else ():
            _take_over(frame, namespace, value)
        return NOTHING
    if not given:
        return NOTHING
    rest = given[1] if len(given) > 1 else NOTHING
    if method in ("setdefault", "__setitem__"):
        store_in_namespace(frame, namespace, given[0], rest)
    return lookup_namespace(frame, namespace, given[0]) | rest


def _take_over(frame: Frame, namespace: Intrinsic, value: Value) -> None:
    if not isinstance(value, Instance) or value.site is None or not is_dict(frame, value):
        return
    for key in frame.read(("keys", value.site)):
        if isinstance(key, Key) and isinstance(key.value, str):
            name = frozenset({frame.kernel.make.literal("str", key.value)})
            _store(frame, namespace, key.value, dict_item(frame, value, name))


def _store(frame: Frame, namespace: Intrinsic, name: str, values: ValueSet) -> None:
    store_in_namespace(frame, namespace, frozenset({frame.kernel.make.literal("str", name)}), values)


def _spellings(frame: Frame, value: Value, name: str) -> tuple[str, ...]:
    if not isinstance(value, Instance) or "__" not in name:
        return (name,)
    classes = frame.kernel.classes
    local = [frame.kernel.definition(c).name for c in classes.mro(value.cls) if classes.in_repository(c)]
    return tuple(dict.fromkeys(one for cls in local or [""] for one in spellings(name, cls)))
