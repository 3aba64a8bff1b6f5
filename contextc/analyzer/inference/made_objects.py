"""Objects whose attributes are written where they are made: `SimpleNamespace(run=job)`, `type("Dev", (), {"run": f})`.

In: such a call, and later reads and stores of attributes. Out: what the attribute holds. The attributes live in the
cells of a dict: that of the members for a class made by `type`, one of its own for a namespace.
"""

from __future__ import annotations

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext
from contextc.analyzer.inference.classes import OBJECT
from contextc.analyzer.inference.dictionaries import copy_items, dict_item, is_dict, store_name
from contextc.analyzer.inference.generics import element_values, known_length
from contextc.analyzer.inference.kernel import Frame
from contextc.model.edge import Reason
from contextc.model.value import NOTHING, ClassObject, Grip, Instance, Value, ValueSet

NAMESPACES = ("~types:SimpleNamespace", "~argparse:Namespace")
MADE_CLASS = "made.class"


def make_namespace(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`SimpleNamespace(**attributes)`."""
    return _make(frame, NAMESPACES[0], args, context)


def make_options(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`argparse.Namespace(**attributes)`."""
    return _make(frame, NAMESPACES[1], args, context)


def _make(frame: Frame, cls: str, args: Arguments, context: CallContext) -> ValueSet | None:
    if context.at < 0:
        return None
    site = frame.site_key(context.at)
    given = [(None, values) for _, values in args.positional]  # a mapping, from Python 3.13 on
    for name, values in (*given, *args.keywords):
        if name is not None:
            store_name(frame, site, name, values)
        for value in values if name is None else ():
            copy_items(frame, value, site)
    return frozenset({frame.kernel.make.instance(cls, Grip.EXACT, (), site)})


def make_classes(frame: Frame, bases: ValueSet, members: ValueSet) -> ValueSet:
    """The classes that `type(name, bases, members)` makes of dicts made in the repository: one without bases, else one
    for each class of the repository among them, so that its functions get an object of that."""
    make = frame.kernel.make
    above: list[tuple[ValueSet, ...]] = []
    if any(known_length(value) == 0 for value in bases):
        above.append(())
    above.extend(
        (frozenset[Value]((make.instance(base.cls, Grip.DECLARED),)),)
        for base in element_values(frame, bases)
        if isinstance(base, ClassObject) and frame.kernel.classes.in_repository(base.cls)
    )
    return frozenset(
        make.intrinsic(MADE_CLASS, make.instance(OBJECT, Grip.EXACT, args, value.site))
        for value in members
        if isinstance(value, Instance) and is_dict(frame, value)
        for args in above
    )


def store_member(frame: Frame, value: Instance, name: str, values: ValueSet) -> None:
    """`namespace.name = values`; nothing for any other object."""
    if value.site is not None and value.cls in (OBJECT, *NAMESPACES):
        store_name(frame, value.site, name, values)


def read_member(frame: Frame, value: Instance, name: str, at: int) -> ValueSet:
    """An attribute of such an object, which whoever holds a namespace may set anew; a function of a made class is bound
    to it. Nothing for any other object."""
    from contextc.analyzer.inference.attributes import bind

    if value.site is None or value.cls not in (OBJECT, *NAMESPACES):
        return NOTHING
    make = frame.kernel.make
    table = make.instance("~builtins:dict", Grip.EXACT, (), value.site)
    found = dict_item(frame, table, frozenset({make.literal("str", name)}))
    if value.cls == OBJECT:
        receivers = value.args[0] if value.args else frozenset({value})
        return NOTHING.union(*(bind(frame, v, receiver, OBJECT, at) for v in found for receiver in receivers))
    return found | frame.kernel.open(Reason.DYNAMIC_ATTRIBUTE) if frame.recorder is not None else found
