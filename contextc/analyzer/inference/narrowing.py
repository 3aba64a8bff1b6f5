"""Narrowing: what a condition says about the values of a name or a dotted path.

In: a test expression and whether it held. Out: the frame's local variables, narrowed. After `if isinstance(x, User):`
an unknown `x` is a declared User. Element by element, so that it is monotone; a test never adds a value but the one
that an open value becomes.
"""

from __future__ import annotations

from contextc.analyzer.inference.kernel import Frame
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
_MAX_PATH = 4  # parts of a dotted path that flow keeps apart


def path_of(expr: ir.Expr) -> str | None:
    """`self.user` as the key under which flow knows it; None for anything but names and dots."""
    parts: list[str] = []
    while isinstance(expr, ir.Attribute) and len(parts) < _MAX_PATH:
        parts.append(expr.attr)
        expr = expr.value
    if not isinstance(expr, ir.Name):
        return None
    return ".".join([expr.id, *reversed(parts)])


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
    frame.env = join_environments(branches)


def join_environments(branches: list[dict[str, ValueSet]]) -> dict[str, ValueSet]:
    """What is known where several paths meet: a name keeps the values of every path that binds it; a dotted path only
    counts where every path knows it."""
    if not branches:
        return {}
    if len(branches) == 1:
        return branches[0]
    joined: dict[str, ValueSet] = {}
    for branch in branches:
        for name, values in branch.items():
            if "." in name and not all(name in other for other in branches):
                continue
            known = joined.get(name)
            joined[name] = values if known is None or known is values else known | values
    return joined


def _apply(frame: Frame, expr: ir.Expr, keep: object) -> None:
    """Replaces what a name or path stands for by what `keep` makes of it."""
    from contextc.analyzer.inference.expressions import evaluate

    path = path_of(expr)
    if path is None:
        return
    quiet, frame.quiet = frame.quiet, True
    try:
        carried = frame.env[path] if path in frame.env else evaluate(frame, expr)
    finally:
        frame.quiet = quiet
    assert callable(keep)
    values = frame.expand(carried)
    narrowed: ValueSet = keep(values)
    if narrowed != values:
        if len(carried) == 1 and narrowed:
            for value in carried:
                if isinstance(value, Given):
                    narrowed = frozenset({frame.kernel.make.given(value.symbol, value.parameter, narrowed)})
        frame.dotted.add(path.partition(".")[0])
        frame.env[path] = narrowed


def _truthy(frame: Frame, values: ValueSet, truth: bool) -> ValueSet:
    if truth:
        return frozenset(
            v for v in values if v not in frame.kernel.none and not (isinstance(v, Literal) and not v.value)
        )
    always = (FunctionValue, BoundMethod, ClassObject, ModuleValue)
    return frozenset(v for v in values if not isinstance(v, always) and not (isinstance(v, Literal) and v.value))


def _narrow_compare(frame: Frame, test: ir.Compare, truth: bool) -> None:
    op, left, right = test.ops[0], test.left, test.comparators[0]
    if op in ("is", "is not", "==", "!="):
        same = truth if op in ("is", "==") else not truth
        if isinstance(right, ir.Constant) and right.type == "None":
            none = frame.kernel.none
            if same:
                _apply(frame, left, lambda values: _only_none(values, none))
            else:
                _apply(frame, left, lambda values: values - none)
        elif isinstance(left, ir.Call) and _is_name(left.func, "type") and left.args and same:
            _narrow_class(frame, left.args[0].value, right, True, exact=True)


def _only_none(values: ValueSet, none: ValueSet) -> ValueSet:
    return frozenset(v for v in values if v in none or isinstance(v, (Open, SpecialForm, External, TypeVariable)))


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


def _tested_classes(frame: Frame, expr: ir.Expr) -> list[ClassObject] | None:
    """The classes of an isinstance test; None where one is not known."""
    from contextc.analyzer.inference.expressions import evaluate
    from contextc.analyzer.inference.generics import tuple_items

    if isinstance(expr, ir.TupleExpr):
        found: list[ClassObject] = []
        for item in expr.items:
            part = _tested_classes(frame, item)
            if part is None:
                return None
            found.extend(part)
        return found
    quiet, frame.quiet = frame.quiet, True
    try:
        values = evaluate(frame, expr) if isinstance(expr, (ir.Name, ir.Attribute)) else NOTHING
    finally:
        frame.quiet = quiet
    found = []
    for value in values:
        if isinstance(value, ClassObject):
            found.append(value)
        elif isinstance(value, Instance):
            items = tuple_items(frame, value)
            if items is None or not all(isinstance(c, ClassObject) for item in items for c in item):
                return None
            found.extend(c for item in items for c in item if isinstance(c, ClassObject))
        else:
            return None
    return found or None


def _narrow_class(frame: Frame, subject: ir.Expr, expr: ir.Expr, truth: bool, *, exact: bool) -> None:
    classes = _tested_classes(frame, expr)
    if classes is not None:
        _apply(frame, subject, lambda values: keep_instances(frame, values, classes, truth, exact=exact))


def keep_instances(
    frame: Frame, values: ValueSet, classes: list[ClassObject], truth: bool, *, exact: bool = False
) -> ValueSet:
    """The values that are (or, for a false test, are not) instances of one of the classes."""
    found: set[Value] = set()
    for value in values:
        for cls in classes:
            if truth:
                found |= _as_instance(frame, value, cls, exact)
        if not truth and not any(_surely_instance(frame, value, cls) for cls in classes):
            found |= _without_subclasses(frame, value, classes)
    return frozenset(found)


def _without_subclasses(frame: Frame, value: Value, classes: list[ClassObject]) -> ValueSet:
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
    classes = _tested_classes(frame, expr)
    if classes is None:
        return
    kernel = frame.kernel

    def keep(values: ValueSet) -> ValueSet:
        found: set[Value] = set()
        for value in values:
            if not isinstance(value, ClassObject):
                if truth and isinstance(value, (Open, SpecialForm)):
                    found |= {kernel.make.class_object(c.cls, Grip.DECLARED) for c in classes}
                elif not truth:
                    found.add(value)
                continue
            below = any(kernel.classes.is_subclass(value.cls, c.cls) for c in classes)
            if below == truth:
                found.add(value)
            elif truth and value.grip is not Grip.EXACT:
                found |= {kernel.make.class_object(c.cls, Grip.DECLARED) for c in classes}
        return frozenset(found)

    _apply(frame, subject, keep)
