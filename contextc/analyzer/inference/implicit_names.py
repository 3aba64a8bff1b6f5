"""Names that run code of the repository without a call: its properties, descriptors and special methods.

In: a program's classes by their text, and values of which nothing is known that are asked for such a name. Out: a note
in the recorder. Where `Node` has a property `end`, `node.end` on an untyped `node` may run it.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextc.analyzer.inference.bindings import DefinitionBinding, ValueBinding
from contextc.analyzer.inference.classes import Classes
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition, Program
from contextc.model import ir
from contextc.model.value import Open, Possible, Value

_COMMON = frozenset({"__init__", "__new__", "__getattr__", "__getattribute__", "__bool__", "__eq__", "__ne__"})


def find_implicit_names(classes: Classes, program: Program) -> frozenset[str]:
    """The names, by text. Those that nearly every body asks for are left out: truth, equality, any attribute."""
    found: set[str] = set()
    for module in program.repository:
        for definition in module.definitions:
            if definition.is_class:
                found.update(_names_of(classes, definition))
    return frozenset(found - _COMMON)


def _names_of(classes: Classes, definition: Definition) -> Iterator[str]:
    for name, bindings in classes.statics.table(definition).names.items():
        for binding in bindings:
            if isinstance(binding, DefinitionBinding) and binding.definition.is_function:
                special = name.startswith("__") and name.endswith("__")
                if special or any(_manages(classes, definition, d) for d in binding.definition.facts.decorators):
                    yield name
            elif (
                isinstance(binding, ValueBinding)
                and isinstance(binding.value, ir.Call)
                and _manages(classes, definition, binding.value)
            ):
                yield name


def _manages(classes: Classes, scope: Definition, maker: ir.Expr) -> bool:
    """Whether a decorator or a call makes a property, or an object of a class of the repository with `__get__`."""
    maker = maker.func if isinstance(maker, ir.Call) else maker
    last = maker.attr if isinstance(maker, ir.Attribute) else maker.id if isinstance(maker, ir.Name) else ""
    if last.endswith("property"):
        return True
    for item in classes.statics.resolve_expression(scope, maker) if last else ():
        if isinstance(item, Definition) and item.is_class and item.module.in_repository:
            return classes.owner(item.id, "__get__") is not None
    return False


def note_unknown(frame: Frame, value: Value, name: str, at: int) -> None:
    """An operation that asks a value for a name, of which only the name is known."""
    recorder = frame.recorder
    if recorder is None or at < 0 or frame.quiet or not isinstance(value, (Open, Possible)):
        return
    inner = value.value if isinstance(value, Possible) else value
    if isinstance(inner, Open) and name in frame.kernel.classes.implicit_names:
        recorder.unknown.add((frame.unit.id, at, name, inner.reason))
