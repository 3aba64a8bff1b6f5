"""Attributes stored past `self.x = v`: by `object.__setattr__`, `setattr`, a `__dict__`; names that `__slots__` lists.

In: a program's text. Out: by class the names so stored, and the classes of which a method stores under a name that it
computes. `self.__dict__["_options"] = {}` in a method of `Config` stores `_options`; `self.__dict__.update(found)` may
store any name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contextc.analyzer.inference.program import Definition, Program
from contextc.model import ir
from contextc.model.traverse import iter_nodes

_RESTORING = frozenset({"__setstate__", "__copy__", "__deepcopy__"})  # store what others stored before
_BY_NAME = frozenset({"setdefault", "__setitem__"})


class HiddenStores(NamedTuple):
    """`names` by class id; `computed`: ids of classes."""

    names: dict[str, frozenset[str]]
    computed: frozenset[str]


class _Store(NamedTuple):
    """A store on `owner` under the text `name`; None where it is computed."""

    owner: ir.Expr | None
    name: str | None


def find_hidden_stores(program: Program) -> HiddenStores:
    """Looks through all methods and class bodies of the repository."""
    names: dict[str, set[str]] = {}
    computed: set[str] = set()
    for module in program.repository:
        for definition in module.definitions:
            if definition.is_class:
                names.setdefault(definition.id, set()).update(_slots(definition))
            owner = definition.enclosing_class()
            if owner is None or not definition.is_function or not definition.facts.parameters:
                continue
            receiver, *others = (p.name for p in definition.facts.parameters)
            for store in _iter_stores(definition, others[0] if others else ""):
                own = store.owner is None or (isinstance(store.owner, ir.Name) and store.owner.id == receiver)
                if store.name is None:
                    computed.add(owner.id)
                elif store.name and own:
                    names.setdefault(owner.id, set()).update(spellings(store.name, owner.name))
    return HiddenStores({cls: frozenset(found) for cls, found in names.items() if found}, frozenset(computed))


def spellings(name: str, cls: str) -> tuple[str, ...]:
    """An attribute's name as it is stored, and as the class's own code writes it: `_Local__storage` is `__storage`."""
    lead = f"_{cls.lstrip('_')}__"
    if name.startswith(lead) and not name.endswith("__"):
        return (name, name[len(lead) - 2 :])
    return (name,)


def _slots(definition: Definition) -> Iterator[str]:
    for node in definition.facts.body:
        if isinstance(node, ir.Assign) and any(isinstance(t, ir.Name) and t.id == "__slots__" for t in node.targets):
            for item in iter_nodes(node.value):
                if isinstance(item, ir.Constant) and isinstance(item.value, str):
                    yield from spellings(item.value, definition.name)


def _iter_stores(definition: Definition, second: str) -> Iterator[_Store]:
    """The stores of a method. One in a `__setattr__` under the name that it was given is that of whoever stores."""
    restores = definition.name in _RESTORING
    for node in iter_nodes(*definition.facts.body):
        if isinstance(node, ir.Call):
            found = _called(node, second if definition.name == "__setattr__" else "")
        elif isinstance(node, (ir.Assign, ir.AugmentedAssign)):
            found = _assigned(node)
        else:
            continue
        for store in found:
            if store.name is not None or not restores:
                yield store


def _called(node: ir.Call, given: str) -> Iterator[_Store]:
    func = node.func
    args = [a.value for a in node.args if not a.star and a.keyword is None]
    starred = any(a.star for a in node.args)
    if isinstance(func, ir.Name) and func.id == "setattr":
        yield _named(args[0] if args else None, args[1] if len(args) > 1 else None, given)
    elif isinstance(func, ir.Attribute) and func.attr == "__setattr__":
        if isinstance(func.value, ir.Call):  # super().__setattr__(name, value)
            yield _named(None, args[0] if args else None, given)
        else:
            yield _named(args[0] if args else None, args[1] if len(args) > 1 else None, given)
    elif isinstance(func, ir.Attribute) and (owner := namespace_owner(func.value)) is not None:
        if func.attr in _BY_NAME:
            yield _named(owner, args[0] if args else None, given)
        elif func.attr == "update":
            yield from (_Store(owner, a.keyword) for a in node.args if a.keyword is not None)
            for value in args:
                yield from _displayed(owner, value)
            if starred:
                yield _Store(owner, None)


def _assigned(node: ir.Assign | ir.AugmentedAssign) -> Iterator[_Store]:
    if isinstance(node, ir.Assign) and namespace_owner(node.value) is not None:
        yield _Store(None, None)  # stored through another name
    for target in node.targets if isinstance(node, ir.Assign) else (node.target,):
        if isinstance(target, ir.Subscript) and (owner := namespace_owner(target.value)) is not None:
            yield _named(owner, target.key, "")
        elif isinstance(target, ir.Attribute) and target.attr == "__dict__":
            yield from _displayed(target.value, node.value)


def _named(owner: ir.Expr | None, name: ir.Expr | None, given: str) -> _Store:
    if isinstance(name, ir.Constant) and isinstance(name.value, str):
        return _Store(owner, name.value)
    if given and isinstance(name, ir.Name) and name.id == given:
        return _Store(owner, "")
    return _Store(owner, None)


def _displayed(owner: ir.Expr, value: ir.Expr) -> Iterator[_Store]:
    """The names in a dict's display; another mapping may hold any."""
    if not isinstance(value, ir.DictExpr):
        yield _Store(owner, None)
        return
    for item in value.items:
        yield _named(owner, item.key, "")


def namespace_owner(expr: ir.Expr) -> ir.Expr | None:
    """The object whose attributes `x.__dict__` or `vars(x)` are."""
    if isinstance(expr, ir.Attribute) and expr.attr == "__dict__":
        return expr.value
    if isinstance(expr, ir.Call) and isinstance(expr.func, ir.Name) and expr.func.id == "vars" and len(expr.args) == 1:
        return expr.args[0].value
    return None
