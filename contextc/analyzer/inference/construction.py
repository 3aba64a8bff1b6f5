"""Attributes by who was constructed: what `self.x = p` in an initialiser means on one object.

In: the arguments of constructions, and attributes that an initialiser fills from its own parameters. Out: what such an
attribute holds on a receiver. With `View(a)` and `Edges(b)`, both below `Base` whose `__init__(self, data)` stores
`self.data = data`, `data` of an `Edges` is `b` alone.

The attribute's cell keeps the parameter itself (`Given`). What it got stands in cells by who was constructed:

    ("made", K, init, p)           K(…), and each object of K that is known by its place
    ("made", site, init, p)        that object
    ("below", K, init, p)          cls(…), where cls is K or a class below it
    ("passed", caller, init, p)    super().__init__(…) in another initialiser, whose own parameters stay symbolic
    ("handed", init, p)            any other call of the initialiser

Keys by allocation site and by class: A. Milanova, A. Rountev, B. Ryder, "Parameterized Object Sensitivity for
Points-to Analysis for Java", TOSEM 2005; here the objects are told apart only as far as their attributes go.
"""

from __future__ import annotations

from contextc.analyzer.inference.classes import OBJECT
from contextc.analyzer.inference.heap import CellKey
from contextc.analyzer.inference.kernel import Frame, passed_cell
from contextc.analyzer.inference.narrowing import Tested, keep_instances
from contextc.analyzer.inference.program import Definition
from contextc.model.edge import Reason
from contextc.model.value import (
    NOTHING,
    PLACE,
    External,
    Given,
    Grip,
    Instance,
    Literal,
    Open,
    Partial,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
    is_placed,
)

INITIALISER = "__init__"
MAX_CLASSES = 16  # below a receiver's that are told apart; past it an attribute holds what any of them got
_LOOSE = (Open, SpecialForm, External, TypeVariable)  # of which a test can make a declared instance
_MAX_CHAIN = 6  # initialisers that hand one argument on


def is_initialiser(definition: Definition) -> bool:
    """Whether a function is the `__init__` of a class."""
    return definition.name == INITIALISER and definition.parent is not None and definition.parent.is_class


def store_field(frame: Frame, value: Instance, name: str, values: ValueSet) -> None:
    """`self.name = values` on an object of the repository: in its initialiser the parameters stay symbolic, and so does
    everywhere what an initialiser stored in another attribute of the same object."""
    cell: CellKey = ("iattr", value.cls, name)
    copied = _of_initialisers(frame, values)
    if copied and running_method(frame, value) is not None:
        frame.write_symbolic(cell, copied)
        values = values.difference(copied)
    elif copied:
        values = resolve_copied(frame, values, value)
    if _is_own(frame, value) and any(isinstance(v, Given) for v in values):
        frame.write_symbolic(cell, values)
    else:
        frame.write(cell, values)


def _is_own(frame: Frame, value: Value) -> bool:
    """Whether a value is the object that the initialiser being evaluated fills."""
    unit = frame.unit
    return (
        isinstance(value, Instance)
        and value.grip is Grip.SELF
        and is_initialiser(unit)
        and unit.parent is not None
        and unit.parent.id == value.cls
    )


def _of_initialisers(frame: Frame, values: ValueSet) -> ValueSet:
    """The parameters of other units, initialisers, among the values."""
    return frozenset(
        v
        for v in values
        if isinstance(v, Given) and v.symbol != frame.unit.id and is_initialiser(frame.kernel.definition(v.symbol))
    )


def resolve_copied(frame: Frame, values: ValueSet, receiver: Value) -> ValueSet:
    """Values in which what an initialiser got is that of the receiver's."""
    copied = _of_initialisers(frame, values)
    if not copied:
        return values
    found = read_field(frame, copied, receiver) if isinstance(receiver, Instance) else read_any(frame, copied)
    return values.difference(copied) | found


def read_field(frame: Frame, values: ValueSet, receiver: Instance) -> ValueSet:
    """What an attribute's cell holds, as seen on a receiver."""
    for value in values:
        if isinstance(value, Given):
            break
    else:
        return values
    if frame.copies and running_method(frame, receiver) is not None:
        return values
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Given):
            found |= _pass(frame, value, _resolve(frame, value.symbol, value.parameter, receiver))
        else:
            found.add(value)
    return frozenset(found)


def read_any(frame: Frame, values: ValueSet) -> ValueSet:
    """The same where it is not known on which object."""
    if not any(isinstance(v, Given) for v in values):
        return values
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Given):
            found |= _pass(frame, value, frame.read(passed_cell(value.symbol, value.parameter)))
        else:
            found.add(value)
    return frozenset(found)


def _pass(frame: Frame, given: Given, values: ValueSet) -> ValueSet:
    """The arguments that passed the tests before they were stored; for one of which little is known, what a test makes
    of such."""
    if given.kept is None:
        return values
    found = let_through(frame, values, given.kept)
    if any(isinstance(v, _LOOSE) or (isinstance(v, Instance) and v.grip is not Grip.EXACT) for v in values):
        found |= frozenset(v for v in given.kept if isinstance(v, Instance) and v.grip is not Grip.EXACT)
    return found


def let_through(frame: Frame, values: ValueSet, kept: ValueSet) -> ValueSet:
    """The arguments that passed tests; one still symbolic here is let through whole."""
    found: set[Value] = set()
    for value in values:
        settled = frame.kernel.settle(frozenset({value}))
        passes = isinstance(value, Given) or not kept.isdisjoint(settled)
        if passes or any(_stands_for(frame, other, one) for one in settled for other in kept):
            found.add(value)
    return frozenset(found)


def _stands_for(frame: Frame, kept: Value, value: Value) -> bool:
    """Whether a value may have become `kept` in the parameter's cell: joined with others, or widened, then tested."""
    if isinstance(kept, Open):
        return kept.reason is Reason.WIDENED
    if isinstance(kept, Partial):
        return isinstance(value, Partial) and value.function is kept.function
    if not isinstance(kept, Instance):
        return False
    if isinstance(value, Instance) and (value.cls, value.grip, value.site) == (kept.cls, kept.grip, kept.site):
        return True
    if isinstance(value, (Literal, Text)) and kept.grip is Grip.EXACT:
        return kept.cls == f"~builtins:{value.type if isinstance(value, Literal) else 'str'}"
    if kept.grip is Grip.EXACT or isinstance(value, (Open, SpecialForm, External, TypeVariable)):
        return False
    tested = Tested((frame.kernel.make.class_object(kept.cls),), (), True)
    return value in keep_instances(frame, frozenset({value}), tested, True)


def _resolve(frame: Frame, symbol: str, parameter: str, receiver: Instance) -> ValueSet:
    """What a receiver's initialiser got for a parameter."""
    site = receiver.site if is_placed(receiver) else None
    objects = _classes_of(frame, receiver)
    if len(objects) > MAX_CLASSES:
        return frame.read(passed_cell(symbol, parameter))
    found: set[Value] = set()
    for cls in objects:
        found |= _received(frame, cls, site, symbol, parameter, _MAX_CHAIN)
    return frozenset(found)


def _classes_of(frame: Frame, receiver: Instance) -> tuple[str, ...]:
    """The classes of which a receiver can be an object."""
    if receiver.grip is Grip.EXACT:
        return (receiver.cls,)
    running = running_method(frame, receiver)
    classes = frame.kernel.classes
    below = classes.descendants(receiver.cls) if running is None else classes.heirs(receiver.cls, running)
    return (receiver.cls, *below)


def running_method(frame: Frame, receiver: Value) -> str | None:
    """For the symbolic receiver of the method whose code this is, the method's name."""
    if getattr(receiver, "grip", None) is not Grip.SELF:
        return None
    method = frame.unit.enclosing_method()
    owner = method.enclosing_class() if method is not None else None
    return method.name if method is not None and owner is not None and owner.id == receiver.cls else None  # type: ignore[union-attr]


def _received(frame: Frame, cls: str, site: str | None, symbol: str, parameter: str, links: int) -> ValueSet:
    """What an initialiser gets for a parameter where an object of exactly `cls` is made."""
    kernel = frame.kernel
    owner = kernel.definition(symbol).parent
    assert owner is not None
    if not links or "." in parameter or (site is None and not kernel.classes.descendants(owner.id)):
        return frame.read(passed_cell(symbol, parameter))
    found = set(frame.read(("handed", symbol, parameter)))
    line = [c for c in kernel.classes.mro(cls) if kernel.classes.in_repository(c)]
    made = frame.read(("made", site if site is not None else cls, symbol, parameter))
    if site is None:
        made |= frozenset().union(*(frame.read(("below", c, symbol, parameter)) for c in line))
    for value in made:
        found |= frame.read(passed_cell(symbol, parameter)) if isinstance(value, Given) else {value}
    for caller in line:
        for initialiser in kernel.classes.functions(caller, INITIALISER):
            if initialiser == symbol:
                continue
            for value in frame.read(("passed", initialiser, symbol, parameter)):
                if isinstance(value, Given):
                    passed = _received(frame, cls, site, value.symbol, value.parameter, links - 1)
                    found |= _pass(frame, value, passed)
                else:
                    found.add(value)
    return frozenset(found)


# ------------------------------------------------------------------------------------------------------ calls


def find_place(frame: Frame, cls: str, at: int) -> str | None:
    """The site of an object that a module or class body makes: each such place makes one. Only of classes that are the
    repository's own all the way up: nothing of a library keeps elements by such a site."""
    if at < 0 or frame.unit.is_function:
        return None
    classes = frame.kernel.classes
    own = [c for c in classes.mro(cls) if c not in (OBJECT, "~abc:ABC")]
    if not all(classes.in_repository(c) for c in own) or not any(classes.functions(c, INITIALISER) for c in own):
        return None
    return f"{PLACE}{frame.unit.id}:{at}"


def note_construction(
    frame: Frame, keys: tuple[tuple[str, str], ...], definition: Definition, passed: dict[str, ValueSet], whole: bool
) -> None:
    """A construction runs an initialiser. `keys`: for whom, as kind of cell and class or site; `whole`: whether the
    arguments are known one by one, so that what is not among them has its default."""
    owner = definition.parent
    if owner is None or not frame.kernel.classes.descendants(owner.id):
        keys = tuple(k for k in keys if k[1].startswith(PLACE))
    for parameter, values in _with_defaults(frame, definition, passed, whole):
        for kind, key in keys:
            frame.write((kind, key, definition.id, parameter), values)


def note_call(
    frame: Frame, definition: Definition, receiver: ValueSet, passed: dict[str, ValueSet], whole: bool
) -> None:
    """An initialiser is called like any other method: by that of another class for the same object, or otherwise."""
    own = bool(receiver) and all(_is_own(frame, v) for v in receiver)
    for parameter, values in _with_defaults(frame, definition, passed, whole):
        if own:
            frame.write_symbolic(("passed", frame.unit.id, definition.id, parameter), values)
        else:
            frame.write(("handed", definition.id, parameter), values)


def _with_defaults(
    frame: Frame, definition: Definition, passed: dict[str, ValueSet], whole: bool
) -> list[tuple[str, ValueSet]]:
    found: list[tuple[str, ValueSet]] = []
    for parameter in definition.facts.parameters:
        values = passed.get(parameter.name)
        if parameter.default is not None and (values is None or not whole):
            values = (values or NOTHING) | frame.read(("default", definition.id, parameter.name))
        if values:
            found.append((parameter.name, values))
    return found + [(place, values) for place, values in passed.items() if "." in place]  # of `*args`


def cells_of_any_call(definition: Definition, name: str) -> tuple[CellKey, ...]:
    """The cells that an answer for a parameter that nothing fills belongs into."""
    cell: CellKey = ("param", definition.id, name)
    return (cell, ("handed", definition.id, name)) if is_initialiser(definition) else (cell,)
