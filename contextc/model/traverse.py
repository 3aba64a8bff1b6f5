"""Visiting the IR without recursion: every node of an expression, of one scope, of a whole file.

For the facts of `def f(x=g()): return h(x)` (module 0, `f` 1), `iter_scope(facts, 0)` gives the Define, then `g()`
and what is in it, since defaults run in the module; `iter_scope(facts, 1)` gives the Return, `h(x)`, `h`, the
argument, `x`.

Order is preorder, fields in the order the node declares them. `Define` and `Lambda` name a symbol by index, so no walk
enters another symbol's body by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contextc.model import ir
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind

SCOPES = frozenset({SymbolKind.MODULE, SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.LAMBDA})


def iter_nodes(*roots: Any) -> Iterator[Any]:
    """Every IR node under `roots` (nodes, tuples of nodes, or None), the roots included, in preorder.

    Structural parts (arguments, generators, handlers, parameters, patterns …) count as nodes too. Relies on the IR's
    shape: a node is a NamedTuple, a list of nodes a plain tuple, everything else a leaf.
    """
    waiting: list[Any] = list(reversed(roots))
    while waiting:
        item = waiting.pop()
        if not isinstance(item, tuple):
            continue
        if type(item) is not tuple:
            yield item
        waiting.extend(field for field in reversed(item) if isinstance(field, tuple))


def outer_parts(symbol: SymbolFacts) -> tuple[Any, ...]:
    """The parts of a definition that the scope around it evaluates: decorators, bases, defaults, annotations."""
    return (symbol.decorators, symbol.type_parameters, symbol.bases, symbol.parameters, symbol.returns)


def iter_scope(facts: ModuleFacts, index: int) -> Iterator[Any]:
    """Every node numbered in that symbol's scope: its body, and the outer parts of what is defined in it.

    A definition the body has no Define or Lambda for (partial facts) is not visited; `iter_module` does that.
    """
    waiting: list[Any] = [facts.symbols[index].body]
    while waiting:
        item = waiting.pop()
        if type(item) is not tuple:
            yield item
            if isinstance(item, (ir.Define, ir.Lambda)):
                waiting.extend(p for p in reversed(outer_parts(facts.symbols[item.symbol])) if p is not None)
        waiting.extend(field for field in reversed(item) if isinstance(field, tuple))


def enclosing_scope(facts: ModuleFacts, index: int) -> int:
    """The nearest symbol around that one which is a scope (variables and attributes are none); 0 for the module."""
    parent = facts.symbols[index].parent
    while parent > 0 and facts.symbols[parent].kind not in SCOPES:
        parent = facts.symbols[parent].parent
    return max(parent, 0)


def iter_module(facts: ModuleFacts) -> Iterator[tuple[int, Any]]:
    """Every node of the file once, as (index of the scope it is numbered in, node): symbol by symbol.

    Unlike `iter_scope` it goes by the table of symbols, so it sees all of a partial file's definitions too.
    """
    for index, symbol in enumerate(facts.symbols):
        if index:
            scope = enclosing_scope(facts, index)
            for node in iter_nodes(*outer_parts(symbol)):
                yield scope, node
        for node in iter_nodes(symbol.body):
            yield index, node
