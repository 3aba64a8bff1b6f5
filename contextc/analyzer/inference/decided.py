"""Tests that a specialisation decides: branches that can't run for the values it stands for.

In: a frame in a context, a condition, the wanted outcome. Out: whether that outcome is impossible. In the evaluation of
`def tag(name=None): if name is None: return first; return second` for a string, the first `return` is none.

Only parameters count that the context binds and the body never binds again: what they hold doesn't grow, so that a
branch once left out stays left out. Of a shape (some function, some class, some object)
only tests of None, truth and callability are decided.
"""

from __future__ import annotations

from contextc.analyzer.inference.classes import OBJECT
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.narrowing import narrow
from contextc.analyzer.inference.specialisation import CLASS_SHAPE, FUNCTION_SHAPE, OBJECT_SHAPE
from contextc.model import ir
from contextc.model.traverse import iter_nodes
from contextc.model.value import Instance, Intrinsic, Value, ValueSet


def settle_parameters(frame: Frame) -> dict[str, tuple[ValueSet, bool]]:
    """Name → what the context says it holds, and whether that is a shape's stand-in."""
    context = frame.context
    if context is None or not context.bindings:
        return {}
    bound = frame.kernel.statics.table(frame.unit).names
    walrus = {n.target for n in iter_nodes(*frame.unit.facts.body) if isinstance(n, ir.NamedExpr)}
    found: dict[str, tuple[ValueSet, bool]] = {}
    for name, key in context.bindings:
        stand_in = _stand_in(frame, key)
        if stand_in is not None and name not in bound and name not in walrus:
            found[name] = (frozenset({stand_in}), stand_in is not key)
    return found


def _stand_in(frame: Frame, key: Value) -> Value | None:
    if not isinstance(key, Intrinsic):
        return key
    make = frame.kernel.make
    if key.name == FUNCTION_SHAPE:
        return make.function(frame.unit.id)
    if key.name == CLASS_SHAPE:
        return make.class_object(OBJECT)
    return make.instance(OBJECT) if key.name == OBJECT_SHAPE else None


def is_impossible(frame: Frame, test: ir.Expr, wanted: bool) -> bool:
    """Whether the condition can't have this outcome in the frame's context."""
    if not frame.settled:
        return False
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        return is_impossible(frame, test.operand, not wanted)
    if isinstance(test, ir.BoolOp):
        parts = [is_impossible(frame, part, wanted) for part in test.values]
        return any(parts) if (test.op == "and") is wanted else all(parts)
    name = _subject(test)
    settled = frame.settled.get(name) if name is not None else None
    if name is None or settled is None:
        return False
    values, is_stand_in = settled
    if is_stand_in and not _is_plain(test, any(isinstance(v, Instance) for v in values)):
        return False
    env, dotted = frame.env, frame.dotted
    frame.env, frame.dotted = {name: values}, set()
    try:
        narrow(frame, test, wanted)
        return not frame.env[name]
    finally:
        frame.env, frame.dotted = env, dotted


def _subject(test: ir.Expr) -> str | None:
    """The one name that a test is about."""
    if isinstance(test, ir.Compare) and len(test.ops) == 1:
        test = test.left
        if isinstance(test, ir.Call) and isinstance(test.func, ir.Name) and test.func.id == "len" and test.args:
            test = test.args[0].value
    elif isinstance(test, ir.Call) and isinstance(test.func, ir.Name) and test.func.id in ("callable", "isinstance"):
        test = test.args[0].value if test.args else test
    return test.id if isinstance(test, ir.Name) else None


def _is_plain(test: ir.Expr, is_object: bool) -> bool:
    """Whether a test is of None; or of truth or callability, which say nothing of just any object."""
    if isinstance(test, ir.Compare):
        right = test.comparators[0]
        return isinstance(right, ir.Constant) and right.type == "None"
    if is_object:
        return False
    return isinstance(test, ir.Name) or (
        isinstance(test, ir.Call) and isinstance(test.func, ir.Name) and test.func.id == "callable"
    )
