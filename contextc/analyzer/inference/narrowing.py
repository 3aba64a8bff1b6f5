"""Narrowing: what a condition says about the values of a name or a dotted path.

In: a test expression and whether it held. Out: the frame's local variables, narrowed. After `if isinstance(x, User):`
an unknown `x` is a declared User. Element by element, so that it is monotone; a test never adds a value but the one
that an open value becomes. Which classes a test names is read from the text, since more classes in a test that failed
would mean fewer values; a class that only evaluation could tell takes nothing away. Which paths flow knows is decided
by the text too: a tested path is known even where the test says nothing new.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import NamedTuple

from contextc.analyzer.inference.annotations import TUPLE
from contextc.analyzer.inference.generics import known_length
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.memory import item_path_of, path_of
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.statics import Assigned, Resolved
from contextc.model import ir
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    ClassObject,
    External,
    FunctionValue,
    Given,
    Grip,
    Instance,
    Literal,
    ModuleValue,
    Open,
    Partial,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
)

_MAX_SPLIT = 16  # subclasses that a negative test tells apart


def narrow(frame: Frame, test: ir.Expr, truth: bool) -> None:
    """Applies a condition to the frame's variables."""
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        narrow(frame, test.operand, not truth)
    elif isinstance(test, ir.BoolOp):
        _narrow_bool(frame, test, truth)
    elif isinstance(test, ir.NamedExpr):
        _apply(frame, ir.Name(-1, test.target), lambda v: _truthy(frame, v, truth))
    elif isinstance(test, ir.Compare) and len(test.ops) == 1:
        _narrow_compare(frame, test, truth)
    elif isinstance(test, ir.Call):
        _narrow_call(frame, test, truth)
    elif isinstance(test, (ir.Name, ir.Attribute)):
        _apply(frame, test, lambda v: _truthy(frame, v, truth))


def _narrow_bool(frame: Frame, test: ir.BoolOp, truth: bool) -> None:
    if (test.op == "and") == truth:
        for part in test.values:
            narrow(frame, part, truth)
        return
    before = dict(frame.env)
    branches: list[dict[str, ValueSet]] = []
    for index, part in enumerate(test.values):
        frame.env = dict(before)
        for earlier in test.values[:index]:
            narrow(frame, earlier, not truth)
        narrow(frame, part, truth)
        branches.append(frame.env)
    frame.env = join_environments(frame, branches)


def join_environments(frame: Frame, branches: list[dict[str, ValueSet]]) -> dict[str, ValueSet]:
    """What is known where several paths meet: a name keeps the values of every path that binds it; a dotted path, or a
    name of an outer scope, only counts where every path knows it."""
    if not branches:
        return {}
    if len(branches) == 1:
        return branches[0]
    joined: dict[str, ValueSet] = {}
    for branch in branches:
        for name, values in branch.items():
            if _is_outer(frame, name) and not all(name in other for other in branches):
                continue
            known = joined.get(name)
            joined[name] = values if known is None or known is values else _join(frame, known, values)
    return joined


def _join(frame: Frame, left: ValueSet, right: ValueSet) -> ValueSet:
    """A union in which a parameter that came through two paths stands once, with what either test let through."""
    joined = left | right
    given = [v for v in joined if isinstance(v, Given)]
    if len(given) < 2:
        return joined
    kept: dict[tuple[str, str], ValueSet | None] = {}
    for value in given:
        key = (value.symbol, value.parameter)
        before = kept.get(key, NOTHING)
        kept[key] = None if before is None or value.kept is None else before | value.kept
    make = frame.kernel.make
    return joined.difference(given) | {make.given(symbol, name, let) for (symbol, name), let in kept.items()}


def _is_outer(frame: Frame, name: str) -> bool:
    """Whether a path that flow does not know is read from a cell: an attribute, or a name that a function takes from
    outside. A module's and a class's names are only known by flow until their body ends."""
    if "." in name:
        return True
    unit = frame.unit
    return unit.is_function and name not in unit.facts.bindings


def _apply(frame: Frame, expr: ir.Expr, keep: Callable[[ValueSet], ValueSet]) -> None:
    """Replaces what a name or path stands for by what `keep` makes of it."""
    from contextc.analyzer.inference.expressions import evaluate

    path = item_path_of(expr) if isinstance(expr, ir.Subscript) else path_of(expr)
    if path is None or (path not in frame.env and not _is_outer(frame, path)):
        return
    quiet, frame.quiet = frame.quiet, True
    try:
        if isinstance(expr, ir.Subscript) and not _is_fixed(evaluate(frame, expr.value)):
            return
        carried = frame.env[path] if path in frame.env else evaluate(frame, expr)
    finally:
        frame.quiet = quiet
    given = [v for v in carried if isinstance(v, Given)]
    narrowed = keep(carried.difference(given) if given else carried)
    for value in given:  # restricted even where nothing is left out: more callers may bring what is
        kept = keep(frame.expand(frozenset({value})))
        narrowed |= {frame.kernel.make.given(value.symbol, value.parameter, kept)}
    frame.dotted.add(path.partition(".")[0])
    frame.env[path] = narrowed


def _is_fixed(containers: ValueSet) -> bool:
    """Whether an item stays what it is: a tuple's does, whatever is called in between."""
    return all(isinstance(v, Instance) and v.cls == TUPLE for v in containers)


def _truthy(frame: Frame, values: ValueSet, truth: bool) -> ValueSet:
    if truth:
        return frozenset(v for v in values if v not in frame.kernel.none and not _is_empty(v))
    always = (FunctionValue, BoundMethod, ClassObject, ModuleValue)
    filled = (v for v in values if (isinstance(v, Literal) and v.value) or known_length(v))
    return frozenset(v for v in values if not isinstance(v, always)).difference(filled)


def _is_empty(value: Value) -> bool:
    return (isinstance(value, Literal) and not value.value) or known_length(value) == 0


def _narrow_compare(frame: Frame, test: ir.Compare, truth: bool) -> None:
    op, left, right = test.ops[0], test.left, test.comparators[0]
    _narrow_length(frame, test, truth)
    if op in ("in", "not in") and truth is (op == "in"):
        written = _written_items(frame, frame.unit, right, 3)
        if written:
            _apply(frame, left, lambda values: _among(values, written))
    if op in ("is", "is not", "==", "!="):
        same = truth if op in ("is", "==") else not truth
        if isinstance(right, ir.Constant) and right.type == "None":
            none = frame.kernel.none
            if same:
                _apply(frame, left, lambda values: _only_none(values, none))
            else:
                _apply(frame, left, lambda values: values - none)
        elif isinstance(right, ir.Constant) and right.type in ("str", "int", "bool"):
            told = frame.kernel.constant(right)
            _apply(frame, left, lambda values: frozenset(v for v in values if _may_equal(v, told, same)))
        elif isinstance(left, ir.Call) and _is_name(left.func, "type") and left.args and same:
            _narrow_class(frame, left.args[0].value, right, True, exact=True)


_MAX_WRITTEN = 64  # texts of a collection by which a test tells what an unknown one is


def _written_items(frame: Frame, scope: Definition, expr: ir.Expr, limit: int) -> ValueSet:
    """The texts of a collection that stands in the source and can't change: a tuple, a frozenset, a display in the test
    itself. Nothing where it is any other, or holds more than texts."""
    if isinstance(expr, ir.Call) and _is_name(expr.func, "frozenset") and len(expr.args) == 1:
        expr = expr.args[0].value
    elif limit < 3 and not isinstance(expr, (ir.TupleExpr, ir.Name, ir.Attribute)):
        return NOTHING
    if isinstance(expr, (ir.TupleExpr, ir.ListExpr, ir.SetExpr)):
        found = [frame.kernel.constant(item) for item in expr.items if isinstance(item, ir.Constant)]
        texts = [one for one in found if all(isinstance(v, Literal) and v.type == "str" for v in one)]
        return NOTHING.union(*texts) if len(texts) == len(expr.items) <= _MAX_WRITTEN else NOTHING
    resolved = frame.kernel.statics.resolve_expression(scope, expr) if isinstance(expr, (ir.Name, ir.Attribute)) else ()
    item = resolved[0] if len(resolved) == 1 and limit else None
    if isinstance(item, Assigned) and item.binding.value is not None:
        return _written_items(frame, item.scope, item.binding.value, limit - 1)
    return NOTHING


def _among(values: ValueSet, written: ValueSet) -> ValueSet:
    """The values that are among texts; of one that is not known, any of the texts."""
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Literal) and value.type == "str":
            found.update({value} & written)
        elif isinstance(value, (Open, SpecialForm, External, Text)) or getattr(value, "cls", "") == "~builtins:str":
            found |= written
        else:
            found.add(value)
    return frozenset(found)


def _only_none(values: ValueSet, none: ValueSet) -> ValueSet:
    return frozenset(v for v in values if v in none or isinstance(v, (Open, SpecialForm, External, TypeVariable)))


_ORDERS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _narrow_length(frame: Frame, test: ir.Compare, truth: bool) -> None:
    """`len(x) > 1`: of tuples of known length those that the test lets through."""
    left, right = test.left, test.comparators[0]
    order = _ORDERS.get(test.ops[0])
    if order is None or not (isinstance(left, ir.Call) and _is_name(left.func, "len") and len(left.args) == 1):
        return
    if isinstance(right, ir.Constant) and right.type == "int" and right.value is not None:
        most = int(right.value)

        def fits(value: Value) -> bool:
            length = known_length(value)
            return length is None or order(length, most) is truth

        _apply(frame, left.args[0].value, lambda values: frozenset(v for v in values if fits(v)))


def _may_equal(value: Value, told: ValueSet, same: bool) -> bool:
    """Whether a value can be (or, where not `same`, can not be) the written one: other literals of its type show it."""
    for one in told:
        if isinstance(value, Literal) and isinstance(one, Literal) and value.type == one.type:
            return (value is one) is same
    return True


def _is_name(expr: ir.Expr, name: str) -> bool:
    return isinstance(expr, ir.Name) and expr.id == name


def _narrow_call(frame: Frame, test: ir.Call, truth: bool) -> None:
    if _is_name(test.func, "isinstance") and len(test.args) == 2:
        _narrow_class(frame, test.args[0].value, test.args[1].value, truth, exact=False)
    elif _is_name(test.func, "issubclass") and len(test.args) == 2:
        _narrow_subclass(frame, test.args[0].value, test.args[1].value, truth)
    elif _is_name(test.func, "callable") and len(test.args) == 1:
        _apply(frame, test.args[0].value, lambda values: _callable(frame, values, truth))


def _callable(frame: Frame, values: ValueSet, truth: bool) -> ValueSet:
    def is_callable(value: Value) -> bool | None:
        if isinstance(value, (FunctionValue, BoundMethod, ClassObject, Partial)):
            return True
        if isinstance(value, (Literal, Text, ModuleValue)):
            return False
        if isinstance(value, Instance) and (value.grip is Grip.EXACT or value in frame.kernel.none):
            return frame.kernel.classes.owner(value.cls, "__call__") is not None
        return None

    return frozenset(v for v in values if is_callable(v) is not (not truth))


class Tested(NamedTuple):
    """What an isinstance test names. `named`: classes that the text tells; a value that is none of them stays where the
    test failed. `others`: classes it may mean, by evaluation or by one of several bindings. `closed`: that is all."""

    named: tuple[ClassObject, ...]
    others: tuple[ClassObject, ...]
    closed: bool

    def join(self, other: Tested) -> Tested:
        """A test for either."""
        return Tested((*self.named, *other.named), (*self.others, *other.others), self.closed and other.closed)


_NO_CLASS = Tested((), (), True)


def tested_classes(frame: Frame, expr: ir.Expr, scope: Definition | None = None, limit: int = 6) -> Tested:
    """The classes that an isinstance test or a class pattern names. `scope`: where `expr` stands, if not here."""
    if not limit:
        return Tested((), (), False)
    if isinstance(expr, ir.TupleExpr):
        found = _NO_CLASS
        for item in expr.items:
            found = found.join(tested_classes(frame, item, scope, limit - 1))
        return found
    if isinstance(expr, ir.BinaryOp) and expr.op == "|":
        left = tested_classes(frame, expr.left, scope, limit - 1)
        return left.join(tested_classes(frame, expr.right, scope, limit - 1))
    if isinstance(expr, ir.Call) and _is_name(expr.func, "type") and len(expr.args) == 1:
        argument = expr.args[0].value
        if isinstance(argument, ir.Constant) and argument.type == "None":
            return Tested(tuple(_class_of(frame, v) for v in frame.kernel.none if isinstance(v, Instance)), (), True)
    if not isinstance(expr, (ir.Name, ir.Attribute)):
        return Tested((), (), False)
    resolved = frame.kernel.statics.resolve_expression(scope or frame.unit, expr)
    parts = [part for item in resolved if (part := _resolved_class(frame, item, limit - 1)) is not None]
    if len(parts) == 1:
        return parts[0]
    if parts:  # several bindings: any of them, so none is excluded where the test failed
        union = _NO_CLASS
        for part in parts:
            union = union.join(part)
        return Tested((), (*union.named, *union.others), union.closed)
    return _evaluated_classes(frame, expr) if scope is None else Tested((), (), False)


def _class_of(frame: Frame, value: Instance) -> ClassObject:
    return frame.kernel.make.class_object(value.cls)


def _resolved_class(frame: Frame, item: Resolved, limit: int) -> Tested | None:
    """The class behind a name; None where the text shows none."""
    if isinstance(item, Definition) and item.is_class:
        return Tested((frame.kernel.make.class_object(item.id),), (), True)
    if isinstance(item, Assigned):
        value = item.binding.value
        if isinstance(value, (ir.TupleExpr, ir.Name, ir.Attribute)):
            found = tested_classes(frame, value, item.scope, limit)
            return found if found.named or found.others else None
    return None


def _evaluated_classes(frame: Frame, expr: ir.Expr) -> Tested:
    """Classes that only evaluation finds: they say what an unknown value can be, and take nothing away."""
    from contextc.analyzer.inference.expressions import evaluate
    from contextc.analyzer.inference.generics import tuple_items

    quiet, frame.quiet = frame.quiet, True
    try:
        values = evaluate(frame, expr)
    finally:
        frame.quiet = quiet
    found: list[ClassObject] = []
    for value in values:
        items = tuple_items(frame, value) if isinstance(value, Instance) else None
        found.extend(v for v in (value, *(i for item in items or () for i in item)) if isinstance(v, ClassObject))
    of_self = isinstance(expr, ir.Attribute) and expr.attr == "__class__" and isinstance(expr.value, ir.Name)
    return Tested((), tuple(found), of_self and _is_receiver(frame, expr))


def _is_receiver(frame: Frame, expr: ir.Expr) -> bool:
    """Whether `expr` is an attribute of the method's own first parameter."""
    return (
        isinstance(expr, ir.Attribute)
        and isinstance(expr.value, ir.Name)
        and expr.value.id == frame.kernel.first_parameter(frame.unit)
    )


def _narrow_class(frame: Frame, subject: ir.Expr, expr: ir.Expr, truth: bool, *, exact: bool) -> None:
    tested = tested_classes(frame, expr)
    _apply(frame, subject, lambda values: keep_instances(frame, values, tested, truth, exact=exact))


def keep_instances(
    frame: Frame, values: ValueSet, tested: Tested, truth: bool, *, exact: bool = False
) -> ValueSet:
    """The values that are (or, for a false test, are not) instances of one of the classes."""
    found: set[Value] = set()
    if truth:
        for value in values:
            for cls in (*tested.named, *tested.others):
                found |= _as_instance(frame, value, cls, exact)
        return frozenset(found) if tested.closed else frozenset(found) | values
    for value in values:
        if not any(_surely_instance(frame, value, cls) for cls in tested.named):
            found |= _without_subclasses(frame, value, tested.named)
    return frozenset(found)


def _without_subclasses(frame: Frame, value: Value, classes: tuple[ClassObject, ...]) -> ValueSet:
    """A declared value that is no instance of these classes: split into its class itself and the subclasses left, so
    that their overrides stay and the excluded ones go."""
    hierarchy = frame.kernel.classes
    if not isinstance(value, Instance) or value.grip is Grip.EXACT or not hierarchy.in_repository(value.cls):
        return frozenset({value})
    below = hierarchy.descendants(value.cls)
    excluded = {c.cls for c in classes if c.cls in below}
    if not excluded or len(below) > _MAX_SPLIT:
        return frozenset({value})
    make = frame.kernel.make
    found: set[Value] = {make.instance(value.cls, Grip.EXACT, value.args, value.site)}
    for cls in below:
        if not any(hierarchy.is_subclass(cls, e) for e in excluded):
            found.add(make.instance(cls, Grip.EXACT))
    return frozenset(found)


def _as_instance(frame: Frame, value: Value, cls: ClassObject, exact: bool) -> ValueSet:
    kernel = frame.kernel
    hierarchy = kernel.classes
    grip = Grip.EXACT if exact else Grip.DECLARED
    if isinstance(value, (Open, SpecialForm, External, TypeVariable)):
        return frozenset({kernel.make.instance(cls.cls, grip)})
    if isinstance(value, (Literal, Text)):
        kind = value.type if isinstance(value, Literal) else "str"
        return frozenset({value}) if hierarchy.is_subclass(f"~builtins:{kind}", cls.cls) else NOTHING
    if isinstance(value, Instance):
        if hierarchy.is_subclass(value.cls, cls.cls):
            return frozenset({value})
        if value.grip is not Grip.EXACT or hierarchy.has_unknown_base(value.cls):
            if hierarchy.is_known(cls.cls) and hierarchy.is_subclass(cls.cls, value.cls):
                return frozenset({kernel.make.instance(cls.cls, grip, value.args if cls.cls == value.cls else ())})
            if value.cls == "~builtins:object" or _can_meet(frame, value.cls, cls.cls):
                return frozenset({kernel.make.instance(cls.cls, grip)})
        return NOTHING
    if isinstance(value, ClassObject) and cls.cls == "~builtins:type":
        return frozenset({value})
    if isinstance(value, (FunctionValue, BoundMethod)) and cls.cls.startswith("~types:"):
        return frozenset({value})
    return NOTHING


def _can_meet(frame: Frame, left: str, right: str) -> bool:
    """Whether a repository class is below both, or either is a protocol."""
    hierarchy = frame.kernel.classes
    if hierarchy.is_known(left) and hierarchy.info(left).is_protocol:
        return True
    return not set(hierarchy.descendants(left)).isdisjoint(hierarchy.descendants(right))


def _surely_instance(frame: Frame, value: Value, cls: ClassObject) -> bool:
    hierarchy = frame.kernel.classes
    if isinstance(value, Instance):
        return hierarchy.is_subclass(value.cls, cls.cls)
    if isinstance(value, (Literal, Text)):
        kind = value.type if isinstance(value, Literal) else "str"
        return hierarchy.is_subclass(f"~builtins:{kind}", cls.cls)
    return isinstance(value, ClassObject) and cls.cls == "~builtins:type"


def _narrow_subclass(frame: Frame, subject: ir.Expr, expr: ir.Expr, truth: bool) -> None:
    tested = tested_classes(frame, expr)
    kernel = frame.kernel
    declared = {kernel.make.class_object(c.cls, Grip.DECLARED) for c in (*tested.named, *tested.others)}

    def is_below(value: ClassObject, classes: tuple[ClassObject, ...]) -> bool:
        return any(kernel.classes.is_subclass(value.cls, c.cls) for c in classes)

    def keep(values: ValueSet) -> ValueSet:
        found: set[Value] = set() if truth and tested.closed else set(values)
        for value in values:
            if not truth:
                if isinstance(value, ClassObject) and is_below(value, tested.named):
                    found.discard(value)
            elif isinstance(value, ClassObject):
                if is_below(value, (*tested.named, *tested.others)):
                    found.add(value)
                elif value.grip is not Grip.EXACT:
                    found |= declared
            elif isinstance(value, (Open, SpecialForm)):
                found |= declared
        return frozenset(found)

    _apply(frame, subject, keep)
