"""What an expression names in a frame, found without running anything of the program's.

In: the function part of a call expression and the frame it stands in. Out: the object, or MISSING: the profile backend
is not told what is called, only what started.

    look_up(frame, parse("self.shop.save"))    # the function `save` of the class of what `self.shop` is
"""

from __future__ import annotations

import ast
import builtins
import inspect
from types import FrameType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

MISSING: Any = object()
_PLAIN = (FunctionType, staticmethod, classmethod)


def look_up(frame: FrameType, expression: ast.expr) -> Any:
    """The object an expression of names and attributes stands for now. Properties and other descriptors are not run:
    MISSING, as for every other expression."""
    attributes: list[str] = []
    while isinstance(expression, ast.Attribute):
        attributes.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return MISSING
    value = _look_up_name(frame, expression.id)
    for name in reversed(attributes):
        if value is MISSING:
            return MISSING
        value = _look_up_attribute(value, name)
    return value


def _look_up_name(frame: FrameType, name: str) -> Any:
    for names in (frame.f_locals, frame.f_globals, builtins.__dict__):
        if name in names:
            return names[name]
    return MISSING


def _look_up_attribute(value: Any, name: str) -> Any:
    if type(value) is ModuleType:
        return value.__dict__.get(name, MISSING)
    found = inspect.getattr_static(value, name, MISSING)
    if found is MISSING:
        return MISSING
    if isinstance(found, (staticmethod, classmethod)):
        return found.__func__
    if type(found) is MemberDescriptorType:  # a slot
        try:
            return found.__get__(value)
        except AttributeError:
            return MISSING
    own = issubclass(type(value), type) or not hasattr(type(found), "__get__") or isinstance(found, _PLAIN)
    return found if own else MISSING
