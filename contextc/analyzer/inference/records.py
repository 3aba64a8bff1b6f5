"""Items of records that a class declares: a `NamedTuple` by position, a `TypedDict` by key.

In: an object of such a class. Out: the values of its fields. Of `class Pair(NamedTuple): left: User; right: int`,
`pair[0]` is what `pair.left` is.
"""

from __future__ import annotations

from contextc.analyzer.inference.classes import declared_fields
from contextc.analyzer.inference.kernel import Frame
from contextc.model.value import NOTHING, Instance, Literal, ValueSet


def is_record(frame: Frame, value: Instance, form: str) -> bool:
    """Whether the object's class, or one above it, is written with `form`, a special base of `typing`."""
    classes = frame.kernel.classes
    return classes.in_repository(value.cls) and classes.has_form(value.cls, form)


def named_items(frame: Frame, value: Instance) -> list[ValueSet] | None:
    """Values per index of a `NamedTuple` of the repository; None for any other object."""
    if not is_record(frame, value, "NamedTuple"):
        return None
    from contextc.analyzer.inference.attributes import read_attribute

    kernel = frame.kernel
    fields = declared_fields(kernel.statics, kernel.classes, value.cls)
    return [read_attribute(frame, value, name, -1) for name, _, _ in fields] or None


def record_item(frame: Frame, value: Instance, key: ValueSet) -> ValueSet | None:
    """What a `TypedDict` of the repository declares under a key; under one that is not known, under any. None for any
    other object."""
    if not is_record(frame, value, "TypedDict"):
        return None
    kernel = frame.kernel
    fields = declared_fields(kernel.statics, kernel.classes, value.cls)
    names = {v.value for v in key if isinstance(v, Literal)}
    is_known = bool(key) and all(isinstance(v, Literal) for v in key)
    found: ValueSet = NOTHING
    for name, definition, binding in fields:
        if binding.annotation is not None and (name in names or not (is_known or not key)):
            found |= kernel.annotations.read(binding.annotation, definition)
    return found
