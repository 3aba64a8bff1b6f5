"""Enums: members and their values, what the class statement runs for each, what a look-up by value can run.

In: the body of a class below `enum.Enum`, accesses to `value`, calls of the class. Out: values and recorded calls.
`class Kind(Enum): ONE = A()` gives `Kind.ONE` an instance of Kind, whose `value` is an A.

A class's cell `("members", class)` holds what its body assigns to members: one cell for all of them.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotations import TUPLE
from contextc.analyzer.inference.attributes import implicit_outcome, read_attribute
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext, call_values
from contextc.analyzer.inference.instantiation import run_constructor, run_new
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Target
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    NOTHING,
    ClassObject,
    FunctionValue,
    Grip,
    Instance,
    PropertyObject,
    Value,
    ValueSet,
    Wrapper,
)

ENUM = "~enum:Enum"
_NO_MEMBERS = (FunctionValue, PropertyObject, Wrapper, ClassObject)  # stay attributes of an Enum class
_MARKED = ("~enum:member", "~enum:nonmember")


def is_enum(frame: Frame, cls: str) -> bool:
    """Whether a class is an enum."""
    return frame.kernel.classes.is_known(cls) and frame.kernel.classes.is_subclass(cls, ENUM)


def keep_members(frame: Frame, cls: str, name: str, values: ValueSet) -> ValueSet:
    """What `name = values` in the body of an enum makes of the class attribute; a member's value is kept."""
    if name.startswith("_"):
        return values
    assigned = frozenset(v for v in values if not isinstance(v, _NO_MEMBERS))
    frame.write(("members", cls), frozenset().union(*(_assigned(frame, cls, v) for v in assigned)))
    member = frozenset({frame.kernel.make.instance(cls, Grip.EXACT)}) if assigned else NOTHING
    return (values - assigned) | member


def _assigned(frame: Frame, cls: str, value: Value) -> ValueSet:
    """A member's value as the class body gives it: what `member` wraps, the number or text that `auto()` makes."""
    if isinstance(value, Instance) and value.cls in _MARKED:
        return read_attribute(frame, value, "value", -1)
    if isinstance(value, Instance) and value.cls == "~enum:auto":
        kind = "str" if frame.kernel.classes.is_subclass(cls, "~enum:StrEnum") else "int"
        return frozenset({frame.kernel.builtin(kind)})
    return frozenset({value})


def member_value(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`member.value`: what the class body assigned, or what a method stored as `_value_`."""
    classes = frame.kernel.classes
    if not isinstance(receiver, Instance) or not classes.in_repository(receiver.cls):
        return None
    below = classes.descendants(receiver.cls) if receiver.grip is not Grip.EXACT else ()
    found: set[Value] = set()
    for cls in (*classes.mro(receiver.cls), *below):
        if classes.in_repository(cls):
            found |= frame.read(("members", cls)) | frame.read(("iattr", cls, "_value_"))
    return frozenset(found) if found or frame.recorder is None else None


def make_members(frame: Frame, definition: Definition, at: int) -> None:
    """The class statement of an enum makes each member: `__new__` and `__init__` of the repository run for it."""
    if not is_enum(frame, definition.id):
        return
    classes = frame.kernel.classes
    members = frame.read(("members", definition.id))
    callee = frame.kernel.make.class_object(definition.id)
    for name in ("__new__", "__init__"):
        owner = classes.owner(definition.id, name)
        if owner is None or not classes.in_repository(owner) or not members:
            continue
        how = (EdgeKind.CONSTRUCT, Rule.CONSTRUCTOR)
        context = CallContext(at, implicit_outcome(frame, at, name), how, False)
        for value in members:
            mark = "*" if isinstance(value, Instance) and value.cls == TUPLE else ""
            args = Arguments(((mark, frozenset({value})),), ())
            if name == "__new__":
                run_new(frame, callee, args, context)
            else:
                run_constructor(frame, callee, owner, name, args, context, (("made", definition.id),))


def find_member(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet:
    """`Kind("x")` looks a member up: no constructor runs; `_missing_` may."""
    kernel = frame.kernel
    by_class = callee.grip is not Grip.EXACT
    for cls in (callee.cls, *kernel.classes.descendants(callee.cls)) if by_class else (callee.cls,):
        if context.outcome is not None:
            kind = EdgeKind.DYNAMIC if context.possible else EdgeKind.CONSTRUCT
            possible = context.possible or context.unlikely
            context.outcome.targets.add(Target(cls, kind, Rule.CONSTRUCTOR, cls, possible, by_class=by_class))
    owner = kernel.classes.owner(callee.cls, "_missing_")
    if owner is not None and kernel.classes.in_repository(owner):
        found = read_attribute(frame, callee, "_missing_", -1)
        fallback = frozenset(kernel.make.possible(v, Rule.RECEIVER_DECLARED.value) for v in found)
        how = (EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK)
        call_values(frame, fallback, args, context.at, context.outcome, how)
    return frozenset({kernel.make.instance(callee.cls, callee.grip)})
