"""Functions that stand for operators: `sum`, and what `operator` makes of names: attrgetter, methodcaller, itemgetter.

In: a call's arguments. Out: its result. `max(items, key=methodcaller("rank"))` runs `Item.rank`, `sum(prices)` runs
`Price.__radd__` for the first and `Price.__add__` for the others (`0 + first + …`).
"""

from __future__ import annotations

from contextc.analyzer.inference.arithmetic import binary
from contextc.analyzer.inference.attributes import read_attributes
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext, call_values
from contextc.analyzer.inference.implicit_calls import iterate, subscript
from contextc.analyzer.inference.kernel import Frame
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import NOTHING, Literal, Value, ValueSet

_GETTERS = ("attrgetter", "itemgetter", "methodcaller")
CALLED = frozenset(f"operator.{name}" for name in _GETTERS)  # intrinsics that the results of these stand for


def add_up(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`sum(items, start)`."""
    if not args.positional or args.positional[0][0]:
        return None
    start = next((values for name, values in args.keywords if name == "start"), NOTHING)
    if len(args.positional) > 1:
        start = args.positional[1][1]
    has_start = len(args.positional) > 1 or any(name == "start" for name, _ in args.keywords)
    first = start if has_start else frozenset({frame.kernel.make.literal("int", 0)})
    items = iterate(frame, args.positional[0][1], context.at)
    found = binary(frame, "+", first, items, context.at) | binary(frame, "+", items, items, context.at)
    return found | (start if has_start else frozenset({frame.kernel.builtin("int")}))


def make_getter(name: str, frame: Frame, args: Arguments) -> ValueSet | None:
    """`attrgetter("a")`, `itemgetter(0)`, `methodcaller("m", 1)`: a function of one object."""
    if any(mark for mark, _ in args.positional) or any(key is None for key, _ in args.keywords):
        return None
    make = frame.kernel.make
    keywords = tuple((key, values) for key, values in args.keywords if key is not None)
    bound = tuple(values for _, values in args.positional)
    return frozenset({make.partial(make.intrinsic(f"operator.{name}"), bound, keywords)})


def get_attributes(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`operator.attrgetter(…)`."""
    return make_getter("attrgetter", frame, args)


def get_items(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`operator.itemgetter(…)`."""
    return make_getter("itemgetter", frame, args)


def call_method_by_name(
    frame: Frame, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`operator.methodcaller(…)`."""
    return make_getter("methodcaller", frame, args)


def run_getter(frame: Frame, name: str, args: Arguments, context: CallContext) -> ValueSet:
    """Calls what one of them made: the names or keys come first, then the object."""
    if len(args.positional) < 2:
        return frame.kernel.open(Reason.UNKNOWN_CALLABLE)
    given = [values for _, values in args.positional]
    owner, wanted = given[-1], given[:-1]
    if name == "operator.methodcaller":
        methods = _follow(frame, owner, wanted[0], -1)
        left = Arguments(tuple(("", values) for values in wanted[1:]), args.keywords)
        return call_values(frame, methods, left, context.at, context.outcome, (EdgeKind.CALL, Rule.CALLABLE_VALUE))
    found: list[ValueSet] = []
    for key in wanted:
        if name == "operator.attrgetter":
            found.append(_follow(frame, owner, key, context.at))
        else:
            found.append(subscript(frame, owner, key, False, context.at))
    if len(found) == 1:
        return found[0]
    return frozenset({frame.kernel.builtin("tuple", tuple(found))})


def _follow(frame: Frame, owner: ValueSet, names: ValueSet, at: int) -> ValueSet:
    """The attribute that each literal name means, dots followed; open where a name isn't known."""
    found = NOTHING
    for name in names:
        if not isinstance(name, Literal) or not isinstance(name.value, str):
            found |= frame.kernel.open(Reason.DYNAMIC_ATTRIBUTE)
            continue
        values = owner
        for part in name.value.split("."):
            values = read_attributes(frame, values, part, at)
        found |= values
    return found
