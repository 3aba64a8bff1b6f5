"""Attributes stored and deleted: `value.name = x`, `del value.name`.

In: objects, a name and values. Out: cells of attributes filled; what stands between a store and the object, a
property's setter, a descriptor's `__set__`, the class's `__setattr__`, is recorded as an implicit call.
"""

from __future__ import annotations

from contextc.analyzer.inference.attributes import implicit_outcome, note_plain
from contextc.analyzer.inference.bindings import DefinitionBinding, ValueBinding
from contextc.analyzer.inference.construction import resolve_copied, store_field
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.namespaces import note_possible_read
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    NOTHING,
    ClassObject,
    FunctionValue,
    Instance,
    ModuleValue,
    Possible,
    PropertyObject,
    ValueSet,
)


def store_attribute(
    frame: Frame, owner: ValueSet, name: str, values: ValueSet, at: int, is_hooked: bool = True
) -> None:
    """`owner.name = values`. A property's setter or a descriptor's `__set__` runs instead of a store; where the class
    attribute may yet turn out to be one, nothing is stored before its value is known. Not `is_hooked`: it is past the
    class's `__setattr__`."""
    from contextc.analyzer.inference.hooks import is_foreign, note_stored
    from contextc.analyzer.inference.made_objects import store_member

    kernel = frame.kernel
    for item in owner:
        value = item.value if isinstance(item, Possible) else item
        met = frame.recorder.met if frame.recorder is not None else 0
        if frame.recorder is not None and at >= 0 and is_foreign(frame, value):
            note_stored(frame, value, values, implicit_outcome(frame, at, "store"))
        if isinstance(value, Instance) and kernel.classes.is_known(value.cls):
            store_member(frame, value, name, values)
            plain = resolve_copied(frame, values, value)
            if _run_setter(frame, value, name, plain, at, is_hooked) and kernel.classes.in_repository(value.cls):
                store_field(frame, value, name, values)
        elif isinstance(value, ClassObject) and kernel.classes.in_repository(value.cls):
            frame.write(("cattr", value.cls, name), values)
            frame.write(("iattr", value.cls, name), values)
        elif isinstance(value, ModuleValue):
            if at >= 0:
                for old in kernel.module_member(kernel.program.modules[value.module], name, -1) - values:
                    note_possible_read(frame, old, at)
            frame.write(("patched", value.module, name), values)
        elif isinstance(value, FunctionValue):
            frame.write(("fattr", value.symbol, name), values)
        note_plain(frame, value, at, met)


def _run_setter(frame: Frame, value: Instance, name: str, values: ValueSet, at: int, is_hooked: bool) -> bool:
    """Runs what stands between a store and the object. Whether the object itself is stored to as well."""
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value
    from contextc.analyzer.inference.implicit_calls import call_method

    kernel = frame.kernel
    owner = kernel.classes.owner(value.cls, name)
    plain = owner is None or not may_manage(frame, owner, name)
    if owner is not None and kernel.classes.in_repository(owner):
        for item in frame.read(("cattr", owner, name)):
            if isinstance(item, PropertyObject) and not item.cached:
                if item.setter is not None:
                    outcome = implicit_outcome(frame, at, "set")
                    method = kernel.make.bound(value, item.setter)
                    how = (EdgeKind.PROPERTY, Rule.PROPERTY_SET)
                    call_value(frame, method, Arguments((("", values),), ()), at, outcome, how)
            elif isinstance(item, Instance) and kernel.classes.is_known(item.cls):
                setter = kernel.classes.owner(item.cls, "__set__")
                if setter is not None and kernel.classes.in_repository(setter):
                    owner_value: ValueSet = frozenset({value})
                    call_method(frame, item, "__set__", (owner_value, values), at, Rule.DESCRIPTOR)
                else:
                    plain = True
            else:
                plain = True
    hook = kernel.classes.owner(value.cls, "__setattr__")
    if is_hooked and hook is not None and kernel.classes.in_repository(hook):
        key: ValueSet = frozenset({kernel.make.literal("str", name)})
        call_method(frame, value, "__setattr__", (key, values), at, Rule.DESCRIPTOR)
    return plain


def may_manage(frame: Frame, owner: str, name: str) -> bool:
    """Whether a class body binds `name` only to what can be a property or descriptor: a decorated function, a call."""
    kernel = frame.kernel
    if not kernel.classes.in_repository(owner):
        return False
    for binding in kernel.statics.table(kernel.definition(owner)).names.get(name, []):
        if isinstance(binding, DefinitionBinding):
            decorated = binding.definition.is_function and bool(binding.definition.facts.decorators)
            if not decorated:
                return False
        elif not isinstance(binding, ValueBinding) or not isinstance(binding.value, ir.Call):
            return False
    return True


def delete_attribute(frame: Frame, owner: ValueSet, name: str, at: int) -> None:
    """`del owner.name`: a property's deleter, a descriptor's `__delete__`, the class's `__delattr__` run."""
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value
    from contextc.analyzer.inference.implicit_calls import call_method, has_own_method

    kernel = frame.kernel
    for value in owner:
        if not isinstance(value, Instance) or not kernel.classes.is_known(value.cls):
            continue
        cls = kernel.classes.owner(value.cls, name)
        found = frame.read(("cattr", cls, name)) if cls is not None and kernel.classes.in_repository(cls) else NOTHING
        for item in found:
            if isinstance(item, PropertyObject) and item.deleter is not None:
                outcome = implicit_outcome(frame, at, "delete")
                method = kernel.make.bound(value, item.deleter)
                how = (EdgeKind.PROPERTY, Rule.PROPERTY_DELETE)
                call_value(frame, method, Arguments((), ()), at, outcome, how)
            elif has_own_method(frame, item, "__delete__"):
                call_method(frame, item, "__delete__", (frozenset({value}),), at, Rule.DESCRIPTOR)
        if has_own_method(frame, value, "__delattr__"):
            key: ValueSet = frozenset({kernel.make.literal("str", name)})
            call_method(frame, value, "__delattr__", (key,), at, Rule.DESCRIPTOR)
