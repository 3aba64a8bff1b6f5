"""Elements of the repository's classes below a container without type arguments: `class Stack(list)`.

In: stores into such an object, and what the library's methods take in. Out: cells of the class that has the bare base,
one for each type variable of the container; objects of the class share them. After `Stack().append(User())`, iterating
over a `Stack` yields a `User`.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextc.analyzer.inference.annotations import substitute
from contextc.analyzer.inference.kernel import Frame
from contextc.model.edge import Reason
from contextc.model.value import NOTHING, Instance, SpecialForm, TypeVariable, ValueSet

DICT = "~builtins:dict"


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
