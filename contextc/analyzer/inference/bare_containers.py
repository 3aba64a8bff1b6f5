"""Containers of which no declaration says what they hold: `def f(items: list)`, `class Stack(list)`.

In: what comes into a place declared as `list`; stores into an object of a class below a bare container, and what
the library's methods take in. Out: the lists among it, so that their elements come out again; cells of the class that
has the bare base, one for each type variable of the container, which its objects share. After `Stack().append(User())`,
iterating over a `Stack` yields a `User`.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextc.analyzer.inference.annotations import substitute
from contextc.analyzer.inference.kernel import Frame
from contextc.model.edge import Reason
from contextc.model.value import (
    NOTHING,
    External,
    Grip,
    Instance,
    Open,
    SpecialForm,
    TypeVariable,
    Value,
    ValueSet,
)

DICT = "~builtins:dict"
_UNKNOWN = (Open, External, SpecialForm, TypeVariable)


def is_bare(value: Value) -> bool:
    """Whether a value is declared to be a container, and of what is not said."""
    return isinstance(value, Instance) and value.grip is Grip.DECLARED and bool(value.args) and not any(value.args)


def fit_containers(frame: Frame, declared: ValueSet, values: ValueSet) -> ValueSet:
    """What comes into a place that is declared to hold containers and not of what: those of such a class; one that
    holds anything for what is not known. Nothing where the declaration says more."""
    bare = [v for v in declared if isinstance(v, Instance) and is_bare(v)]
    classes = frame.kernel.classes
    found: set[Value] = set()
    for value in values if bare else ():
        if isinstance(value, _UNKNOWN):
            found.update(frame.kernel.make.instance(one.cls, Grip.DECLARED) for one in bare)
        elif isinstance(value, Instance) and any(classes.is_subclass(value.cls, one.cls) for one in bare):
            found.add(value)
    return frozenset(found)


def without_unsaid(frame: Frame, values: ValueSet) -> ValueSet:
    """On frozen cells: a container that is only declared says nothing beside one that came in, nor does a type variable
    beside what it stands for."""
    if len(values) < 2:
        return values
    free = frozenset(v for v in values if isinstance(v, TypeVariable) and not v.bound)
    if free and any(not isinstance(v, _UNKNOWN) and v not in frame.kernel.none for v in values):
        values = values.difference(free)
    bare = [v for v in values if is_bare(v)]
    if not bare:
        return values
    classes = frame.kernel.classes
    known = [v.cls for v in values if isinstance(v, Instance) and classes.is_known(v.cls) and not is_bare(v)]
    return values.difference(
        v for v in bare if isinstance(v, Instance) and any(classes.is_subclass(cls, v.cls) for cls in known)
    )


def held_mapping(frame: Frame, value: Instance, base: str) -> dict[str, ValueSet] | None:
    """Values of the type variables of `base`; None where the object's class has no bare container above it. On frozen
    cells nothing stands for anything."""
    annotations = frame.kernel.annotations
    place = annotations.bare_base(value.cls, base)
    if place is None:
        return None
    holder, parent = place
    keys = annotations.type_parameters(parent)
    held = {key: frame.read(("held", holder, index)) for index, key in enumerate(keys)}
    if frame.recorder is not None:
        held = {key: values or frame.kernel.any for key, values in held.items()}
    if base == parent:
        return held
    filled = [substitute(annotations, v, held, keep=False) for v in annotations.view(parent, base) or ()]
    return dict(zip(annotations.type_parameters(base), filled, strict=False))


def hold(frame: Frame, value: Instance, owner: str, solution: dict[str, ValueSet]) -> None:
    """Takes in what the type variables of `owner`, the class of a library's method, stand for in a call of it."""
    from contextc.analyzer.inference.generics import solve

    annotations = frame.kernel.annotations
    place = annotations.bare_base(value.cls, owner)
    if place is None:
        return
    holder, parent = place
    solved = solution
    if owner != parent:
        solved = {}
        view = annotations.view(parent, owner)
        for key, pattern in zip(annotations.type_parameters(owner), view or (), strict=False):
            if key in solution:
                solve(frame, pattern, solution[key], solved)
    for index, key in enumerate(annotations.type_parameters(parent)):
        given = solved.get(key, NOTHING)
        values: ValueSet = frozenset(v for v in given if not isinstance(v, (TypeVariable, SpecialForm)))
        if any(isinstance(v, SpecialForm) for v in given):
            values |= frame.kernel.open(Reason.EXTERNAL_VALUE)
        if values:
            frame.write(("held", holder, index), values)


def hold_item(frame: Frame, value: Instance, key: ValueSet, stored: ValueSet) -> None:
    """`value[key] = stored`, where the container's own method does it."""
    kernel = frame.kernel
    owner = kernel.classes.owner(value.cls, "__setitem__")
    if owner is None or kernel.classes.in_repository(owner):
        return
    names = kernel.annotations.type_parameters(owner)
    hold(frame, value, owner, dict(zip(names, (key, stored)[-len(names) :], strict=False)))


def hold_keywords(frame: Frame, value: Instance, keywords: Iterable[tuple[str | None, ValueSet]]) -> None:
    """`C(name=x)` of a class below `dict`."""
    if frame.kernel.classes.is_subclass(value.cls, DICT):
        for name, values in keywords:
            if name is not None:
                hold_item(frame, value, frozenset({frame.kernel.make.literal("str", name)}), values)
