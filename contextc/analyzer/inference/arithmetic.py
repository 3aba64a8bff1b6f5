"""Binary operators: the method of the left side, the in-place and the reflected one.

In: the values of both sides. Out: what the operation gives; the methods that run are recorded at its node. `a + b` runs
`A.__add__`; `B.__radd__` runs where the left side has no such method or can decline by NotImplemented, and first where
B is below A and has one of its own (language reference 3.3.8).
"""

from __future__ import annotations

from enum import IntEnum

from contextc.analyzer.inference.attributes import implicit_outcome, note_plain
from contextc.analyzer.inference.bindings import DefinitionBinding, ValueBinding
from contextc.analyzer.inference.classes import OBJECT
from contextc.analyzer.inference.implicit_calls import call_method, has_method, has_own_method, open_element
from contextc.analyzer.inference.implicit_names import note_unknown
from contextc.analyzer.inference.kernel import Frame
from contextc.model import ir
from contextc.model.edge import Rule
from contextc.model.value import NOTHING, External, Grip, Instance, Literal, Open, SpecialForm, Text, Value, ValueSet

BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_STR = "~builtins:str"
_SIMPLE = frozenset({"~builtins:int", "~builtins:float", _STR, "~builtins:bytes", "~builtins:bool"})
_DECLINED = "~types:NotImplementedType"


class _Turn(IntEnum):
    """When a method runs, for one value on each side."""

    NEVER = 0
    HARDLY = 1  # where the left side's method declines what is, by its class, akin to it
    MAYBE = 2
    FIRST = 3


def binary(
    frame: Frame,
    op: str,
    left: ValueSet,
    right: ValueSet,
    at: int,
    in_place: bool = False,
    beside: ValueSet = NOTHING,
) -> ValueSet:
    """`left op right`, with the in-place form first for `op=`. `beside`: values on the left whose own part is known
    already, texts and containers."""
    name = BINARY[op]
    reflected = f"__r{name}__"
    takers = [v for v in right if has_own_method(frame, v, reflected)]
    found: set[Value] = set()
    turns: list[tuple[Value, Value, _Turn]] = []
    for value in left:
        met = frame.recorder.met if frame.recorder is not None else 0
        method = f"__i{name}__" if in_place and has_method(frame, value, f"__i{name}__") else f"__{name}__"
        given = _run_left(
            frame, value, method, right, at, _left_turn(frame, value, right, takers, method, reflected)
        )
        found.update(v for v in given if not _declines_by(v))
        declined = any(_declines_by(v) for v in given)
        own = [(value, taker, _turn_of(frame, value, taker, method, reflected, declined)) for taker in takers]
        turns += own
        if len(takers) < len(right) or not takers or any(turn is not _Turn.FIRST for _, _, turn in own):
            note_plain(frame, value, at, met)
    for value in beside:
        turns += [(value, taker, _turn_of(frame, value, taker, f"__{name}__", reflected, False)) for taker in takers]
    if not left and not beside and frame.recorder is not None:
        turns += [(taker, taker, _Turn.MAYBE) for taker in takers]
    everywhere = len(takers) == len(right) and all(turn is _Turn.FIRST for _, _, turn in turns)
    return frozenset(found) | _run_reflected(frame, reflected, turns, everywhere, at)


def _run_left(frame: Frame, value: Value, method: str, right: ValueSet, at: int, turn: _Turn) -> ValueSet:
    """What the left side's method gives. While solving it runs whatever comes first."""
    if isinstance(value, Instance) and value.cls not in _SIMPLE:
        if turn is _Turn.NEVER and frame.recorder is not None:
            return NOTHING
        operation = method if turn is _Turn.FIRST else f"{method} {turn.name}"
        found = call_method(frame, value, method, (right,), at, Rule.OPERATOR, operation)
        _weaken(frame, at, operation, turn)
        return found
    if isinstance(value, (Instance, Literal, Text)):
        return _simple(frame, value, right)
    if isinstance(value, (Open, SpecialForm)):
        note_unknown(frame, value, method, at)
        return open_element(frame, value)
    return frozenset({value}) if isinstance(value, External) else NOTHING


def _weaken(frame: Frame, at: int, operation: str, turn: _Turn) -> None:
    outcome = implicit_outcome(frame, at, operation) if turn is not _Turn.FIRST else None
    if outcome is not None and turn is _Turn.HARDLY:
        outcome.make_possible()
    elif outcome is not None:
        outcome.may_skip = True


def _run_reflected(
    frame: Frame, name: str, turns: list[tuple[Value, Value, _Turn]], everywhere: bool, at: int
) -> ValueSet:
    """The right side's methods, each with the values on the left that it gets."""
    found: set[Value] = set()
    for turn, operation in ((_Turn.FIRST, name), (_Turn.MAYBE, f"{name} else"), (_Turn.HARDLY, f"{name} declined")):
        for taker in {taker: None for _, taker, other in turns if other is turn}:
            given = frozenset(v for v, other, one in turns if other is taker and one is turn and v is not taker)
            found |= call_method(frame, taker, name, (given,), at, Rule.OPERATOR, operation)
            _weaken(frame, at, operation, _Turn.MAYBE if turn is _Turn.FIRST and not everywhere else turn)
    return frozenset(v for v in found if not _declines_by(v))


def _declines_by(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls == _DECLINED


def _left_turn(
    frame: Frame, value: Value, right: ValueSet, takers: list[Value], method: str, reflected: str
) -> _Turn:
    """Whether the left side's method runs: not where each value on the right is asked first and never declines."""
    first = [t for t in takers if _turn_of(frame, value, t, method, reflected, False) is _Turn.FIRST]
    if len(first) < len(right):
        return _Turn.MAYBE if first else _Turn.FIRST
    if not first or not has_method(frame, value, method):
        return _Turn.FIRST
    declining = any(isinstance(t, Instance) and _can_decline(frame, t.cls, reflected) for t in first)
    return _Turn.HARDLY if declining else _Turn.NEVER


def _turn_of(frame: Frame, value: Value, taker: Value, method: str, reflected: str, declined: bool) -> _Turn:
    """When `taker`'s method runs with `value` on the left. `declined`: the left side's is seen to give
    NotImplemented."""
    classes = frame.kernel.classes
    if method == "__mod__" and (isinstance(value, Text) or getattr(value, "type", getattr(value, "cls", "")) in _TEXTS):
        return _Turn.NEVER  # formats
    if isinstance(value, (Literal, Text)):
        return _Turn.FIRST
    if not isinstance(value, Instance) or not isinstance(taker, Instance) or not classes.is_known(value.cls):
        return _Turn.MAYBE
    owner = classes.owner(value.cls, method)
    if owner is None:
        certain = value.grip is Grip.EXACT or not classes.owners_below(value.cls, method)
        return _Turn.FIRST if certain and not classes.has_unknown_base(value.cls) else _Turn.MAYBE
    in_place = method.startswith("__i")
    below = taker.cls != value.cls and classes.is_subclass(taker.cls, value.cls)
    if below and not in_place and classes.owner(taker.cls, reflected) != classes.owner(value.cls, reflected):
        return _Turn.FIRST if value.grip is Grip.EXACT else _Turn.MAYBE
    if not classes.in_repository(owner):
        return _Turn.FIRST if owner.startswith("~builtins:") else _Turn.MAYBE
    same = taker.cls == value.cls and taker.grip is Grip.EXACT and value.grip is Grip.EXACT
    if same and not in_place:
        return _Turn.NEVER
    if not declined and not _can_decline(frame, value.cls, method):
        unsure = Grip.EXACT not in (value.grip, taker.grip) and not in_place
        return _Turn.HARDLY if unsure and _is_replaced_below(frame, taker.cls, value.cls, reflected) else _Turn.NEVER
    shared = {*classes.mro(value.cls)}.intersection(classes.mro(taker.cls)) - {OBJECT}
    akin = any(classes.in_repository(c) for c in shared)
    return _Turn.HARDLY if akin or in_place else _Turn.MAYBE


_TEXTS = frozenset({"str", "bytes", _STR, "~builtins:bytes"})


def _is_replaced_below(frame: Frame, cls: str, base: str, name: str) -> bool:
    """Whether an object declared to be a `cls` may have a method of its own where one of `base` has another."""
    classes = frame.kernel.classes
    return classes.is_subclass(cls, base) and bool(classes.owners_below(cls, name))


def _can_decline(frame: Frame, cls: str, method: str) -> bool:
    """Whether a class's method can give NotImplemented: its text says so, or hands on to a method that may; what is no
    function with a text may."""
    classes = frame.kernel.classes
    line = [c for c in classes.mro(cls) if classes.declares(c, method)]
    for owner in line:
        if not classes.in_repository(owner):
            return True
        functions = _functions_named(frame, owner, method)
        told = [frame.kernel.declines(frame.kernel.definition(symbol)) for symbol in functions]
        if any(says for says, _ in told):
            return True
        if not functions:
            return True
        if not any(hands_on for _, hands_on in told):
            return False
    return True


def _functions_named(frame: Frame, owner: str, method: str) -> tuple[str, ...]:
    """The functions that a class body binds to a name, by another name too (`__radd__ = __add__`)."""
    classes = frame.kernel.classes
    bindings = frame.kernel.statics.table(frame.kernel.definition(owner)).names.get(method, ())
    found: list[str] = []
    for binding in bindings:
        if isinstance(binding, DefinitionBinding):
            found.append(binding.definition.id)
        elif isinstance(binding, ValueBinding) and isinstance(binding.value, ir.Name) and binding.value.id != method:
            found += classes.functions(owner, binding.value.id)
    return tuple(found)


def _simple(frame: Frame, value: Instance | Literal | Text, right: ValueSet) -> ValueSet:
    """Arithmetic of builtin scalars without a look at the stubs: a float on the right gives one, text stays text."""
    kernel = frame.kernel
    if isinstance(value, Text) or (isinstance(value, Literal) and value.type == "str"):
        return frozenset({kernel.builtin("str")})
    own = kernel.builtin(value.cls.partition(":")[2] if isinstance(value, Instance) else "int")
    return frozenset({own, *(v for v in right if isinstance(v, Instance) and v.cls == "~builtins:float")})
