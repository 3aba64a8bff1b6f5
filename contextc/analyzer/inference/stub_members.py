"""Members of classes of which only declarations are known: of a stub, or of installed source.

In: a class's id and a name. Out: what its body binds to the name, unbound: a function, a property, a declared value.
"""

from __future__ import annotations

from contextc.analyzer.inference.bindings import DefinitionBinding, FromBinding, ModuleBinding, ValueBinding
from contextc.analyzer.inference.kernel import Frame
from contextc.model import ir
from contextc.model.value import NOTHING, Value, ValueSet


def stub_member(frame: Frame, owner: str, name: str) -> ValueSet:
    """A member of a class known from a stub (or installed source): by its declarations alone."""
    kernel = frame.kernel
    definition = kernel.definition(owner)
    bindings = kernel.statics.table(definition).names.get(name, [])
    found: set[Value] = set()
    for binding in bindings:
        if isinstance(binding, DefinitionBinding):
            found |= _stub_definition(frame, binding, bindings.index(binding) == 0)
        elif isinstance(binding, ValueBinding):
            if binding.annotation is not None:
                found |= kernel.annotations.read(binding.annotation, definition)
            elif isinstance(binding.value, ir.Name) and binding.value.id != name:
                found |= stub_member(frame, owner, binding.value.id)
            else:
                found |= kernel.any
        elif isinstance(binding, (ModuleBinding, FromBinding)):
            found |= kernel.any
    return frozenset(found)


def _stub_definition(frame: Frame, binding: DefinitionBinding, first: bool) -> ValueSet:
    kernel = frame.kernel
    definition = binding.definition
    make = kernel.make
    if definition.is_class:
        return frozenset({make.class_object(definition.id)})
    function = make.function(definition.id)
    written = {d.id if isinstance(d, ir.Name) else getattr(d, "attr", "") for d in definition.facts.decorators}
    if written & {"property", "cached_property", "abstractproperty", "_magic_enum_attr", "DynamicClassAttribute"}:
        return frozenset({make.property(function)})
    if written & {"setter", "deleter"}:
        return NOTHING
    if "staticmethod" in written:
        return frozenset({make.wrapper("staticmethod", function)})
    if "classmethod" in written:
        return frozenset({make.wrapper("classmethod", function)}) if first else NOTHING
    return frozenset({function}) if first or "overload" not in written else NOTHING
