"""Facts as flat tables, to compare readers with: each node's owner, class and place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextc.model import ir
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind

_NO_NODE_IN_AST = {"Generator", "WithItem", "ImportedName", "Case", "Formatted"}


def walk(item: Any, inside: bool = False) -> Iterator[tuple[Any, bool]]:
    """Each IR node below `item`, with whether it stands inside an f-string."""
    if isinstance(item, tuple):
        if hasattr(item, "_fields"):
            yield item, inside
            inside = inside or type(item) is ir.FString
        for part in item:
            if isinstance(part, tuple):
                yield from walk(part, inside)


def place(symbol: SymbolFacts, at: int) -> tuple[int, int]:
    """The absolute byte span of a node."""
    start = symbol.span.start if symbol.parent >= 0 else 0
    return start + symbol.spans[2 * at], start + symbol.spans[2 * at + 1]


def owned(facts: ModuleFacts, index: int) -> Iterator[Any]:
    """What a symbol numbers: its body, and the headers of the symbols it defines."""
    symbol = facts.symbols[index]
    yield symbol.body[0].value if symbol.kind is SymbolKind.LAMBDA else symbol.body  # type: ignore[union-attr]
    for symbol in facts.symbols:
        if symbol.parent == index:
            yield (symbol.decorators, symbol.bases, symbol.parameters, symbol.returns, symbol.type_parameters)


def tables(facts: ModuleFacts, true_places: bool) -> dict[str, list[Any]]:
    """The same tables as `ast_reference.reference`; `true_places` if that ran on Python 3.12 or later."""
    nodes: list[Any] = []
    imports: list[str] = []
    for index, symbol in enumerate(facts.symbols):
        for part in owned(facts, index):
            for node, inside in walk(part):
                kind = type(node).__name__
                if isinstance(node, (ir.Import, ir.ImportFrom)):
                    names = [f"{name.name} as {name.asname}" for name in node.names]
                    head = "." * node.level + node.module if isinstance(node, ir.ImportFrom) else ""
                    imports.append(f"{symbol.qualname}: {head} {names}")
                if not hasattr(node, "at") or kind in _NO_NODE_IN_AST:
                    continue
                if inside and (kind in ("Constant", "FString") or not true_places):
                    continue
                nodes.append((symbol.qualname, kind, *place(symbol, node.at)))
    symbols = [
        (s.qualname, s.kind.value, *s.span)
        for s in facts.symbols
        if s.kind.value not in ("module", "variable", "attribute")
    ]
    return {"nodes": sorted(nodes), "symbols": sorted(symbols), "imports": sorted(imports)}
