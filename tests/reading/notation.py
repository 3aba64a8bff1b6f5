"""IR in a short notation, for expectations: `x = f(1)` is `Assign((x,), Call(f, (1,)))`. Ordinals and places are left
out; those are compared with `ast` elsewhere."""

from __future__ import annotations

from typing import Any

from contextc.analyzer.reading.libcst_reader import read_with_libcst
from contextc.model import ir
from contextc.model.facts import ModuleFacts, SymbolFacts


def facts(source: str) -> ModuleFacts:
    """The facts of a source that parses."""
    return read_with_libcst(source.encode())


def symbol(read: ModuleFacts, local_id: str) -> SymbolFacts:
    """The symbol of that local id."""
    return next(item for item in read.symbols if item.local_id == local_id)


def body(source: str) -> str:
    """The module's body in the notation, statements separated by `; `."""
    return "; ".join(show(statement) for statement in facts(source).symbols[0].body)


def show(item: Any) -> str:
    """One node, or whatever stands in its fields."""
    if isinstance(item, ir.Name):
        return item.id
    if isinstance(item, ir.Constant):
        if item.type == "bool":
            return str(bool(item.value))
        return item.type if item.value is None else repr(item.value)
    if isinstance(item, ir.Argument):
        return item.star + (f"{item.keyword}=" if item.keyword else "") + show(item.value)
    if isinstance(item, ir.ImportedName):
        return item.name + (f" as {item.asname}" if item.asname else "")
    if hasattr(item, "_fields"):
        fields = [show(value) for name, value in zip(item._fields, item, strict=True) if name != "at"]
        return f"{type(item).__name__}({', '.join(fields)})"
    if isinstance(item, tuple):
        return "(" + ", ".join(show(part) for part in item) + ("," if len(item) == 1 else "") + ")"
    return str(item)
