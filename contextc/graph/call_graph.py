"""The façade over the typed call graph.

In: an `Analysis` that `builder.build_graph` has checked and sorted. Out: answers in a fixed order, whatever the hash
seed. `graph.edges_from("app:main")` gives the edges of `main`, e.g. one CALL to `app:User.save` at line 12.

Symbols come by (path, span start, id), edges and unresolved sites by their fields, imports by (importer, line, name).
The adjacency read by the passes is plain dictionaries; `.networkx` lays the same graph out as a `MultiDiGraph` the
first time somebody asks, so that the networkx import (about 0.2 s) is paid only by those who use it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from contextc.model.analysis import Analysis, ModuleFile
from contextc.model.edge import CALL_KINDS, Edge, EdgeKind, Unresolved
from contextc.model.symbol import Import, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable

    from contextc.graph.algorithms import NetworkxGraph

_Item = TypeVar("_Item")


def _group(items: Iterable[_Item], key: Callable[[_Item], str]) -> dict[str, tuple[_Item, ...]]:
    groups: defaultdict[str, list[_Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return {name: tuple(group) for name, group in groups.items()}


class CallGraph:
    """Read-only. Ask `builder.build_graph` for one. An unknown id is a KeyError (misuse), never an empty answer."""

    __slots__ = (
        "_children", "_files", "_imports", "_in", "_in_file", "_networkx", "_out", "_symbols", "_unresolved",
        "analysis",
    )  # fmt: skip

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self._symbols = {symbol.id: symbol for symbol in analysis.symbols}
        self._files = {file.path: file for file in analysis.files}
        self._out = _group(analysis.edges, lambda edge: edge.caller)
        self._in = _group(analysis.edges, lambda edge: edge.callee)
        self._unresolved = _group(analysis.unresolved, lambda site: site.caller)
        self._imports = _group(analysis.imports, lambda item: item.importer)
        self._children = _group((s for s in analysis.symbols if s.parent is not None), lambda s: s.parent or "")
        self._in_file = _group(analysis.symbols, lambda symbol: symbol.path)
        self._networkx: NetworkxGraph | None = None

    # ------------------------------------------------------------------------------------------------- symbols

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """Every symbol, by (path, span start, id)."""
        return self.analysis.symbols

    @property
    def files(self) -> tuple[ModuleFile, ...]:
        """Every analysed file, by path."""
        return self.analysis.files

    def __len__(self) -> int:
        return len(self._symbols)

    def __contains__(self, symbol_id: object) -> bool:
        return symbol_id in self._symbols

    def symbol(self, symbol_id: str) -> Symbol:
        """The symbol of that id. Raises KeyError when there is none."""
        return self._symbols[symbol_id]

    def file(self, path: str) -> ModuleFile:
        """The analysed file at that root-relative POSIX path. Raises KeyError when there is none."""
        return self._files[path]

    def children(self, symbol_id: str) -> tuple[Symbol, ...]:
        """The definitions directly inside, in source order."""
        return self._children.get(self._symbols[symbol_id].id, ())

    def descendants(self, symbol_id: str) -> tuple[Symbol, ...]:
        """The definitions inside at any depth, in source order (a parent before its children)."""
        found: list[Symbol] = []
        waiting = list(reversed(self.children(symbol_id)))
        while waiting:
            symbol = waiting.pop()
            found.append(symbol)
            waiting.extend(reversed(self._children.get(symbol.id, ())))
        return tuple(found)

    def module_of(self, symbol_id: str) -> Symbol:
        """The module symbol of the file that holds the symbol; a module's is itself."""
        symbol = self._symbols[symbol_id]
        while symbol.parent is not None:
            symbol = self._symbols[symbol.parent]
        return symbol

    def symbols_in_file(self, path: str) -> tuple[Symbol, ...]:
        """The symbols of a file, the module first, in source order; empty for a file that wasn't analysed."""
        return self._in_file.get(path, ())

    # --------------------------------------------------------------------------------------------------- edges

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge, by its fields."""
        return self.analysis.edges

    def edges_from(self, symbol_id: str, kinds: Collection[EdgeKind] | None = None) -> tuple[Edge, ...]:
        """Edges whose caller is exactly this symbol (not what is nested in it), optionally of some kinds only."""
        return _of_kinds(self._out.get(self._symbols[symbol_id].id, ()), kinds)

    def edges_to(self, symbol_id: str, kinds: Collection[EdgeKind] | None = None) -> tuple[Edge, ...]:
        """Edges whose callee is exactly this symbol, optionally of some kinds only."""
        return _of_kinds(self._in.get(self._symbols[symbol_id].id, ()), kinds)

    def unresolved_in(self, symbol_id: str) -> tuple[Unresolved, ...]:
        """Sites in this symbol's own code whose targets may be incomplete."""
        return self._unresolved.get(self._symbols[symbol_id].id, ())

    def imports_of(self, symbol_id: str) -> tuple[Import, ...]:
        """Names bound by imports in this symbol's own scope: a module's at its top level, a function's inside it."""
        return self._imports.get(self._symbols[symbol_id].id, ())

    # ------------------------------------------------------------------------------------------------ networkx

    @property
    def networkx(self) -> NetworkxGraph:
        """The same graph as a frozen `networkx.MultiDiGraph` (copy it to change it).

        Node: a symbol id, with the attributes path, qualname, kind, line, col, end_line. Edge: kind, certainty, rule,
        path, line, site, as plain strings and tuples.
        """
        if self._networkx is None:
            from contextc.graph.algorithms import lay_out

            self._networkx = lay_out(self.analysis)
        return self._networkx

    def find_cycles(self, kinds: Collection[EdgeKind] = CALL_KINDS) -> tuple[tuple[str, ...], ...]:
        """Groups of symbols that reach each other, a symbol that calls itself included; the largest group first."""
        from contextc.graph.algorithms import find_cycles

        return find_cycles(self.networkx, kinds)

    def find_path(self, source: str, target: str, kinds: Collection[EdgeKind] = CALL_KINDS) -> tuple[Edge, ...] | None:
        """A shortest chain of edges from one symbol to another, the most certain edge for each step; None if none."""
        from contextc.graph.algorithms import find_path

        steps = find_path(self.networkx, self._symbols[source].id, self._symbols[target].id, kinds)
        return tuple(self._best_edge(a, b, kinds) for a, b in pairwise(steps)) if steps else None

    def _best_edge(self, caller: str, callee: str, kinds: Collection[EdgeKind]) -> Edge:
        edges = (edge for edge in self._out[caller] if edge.callee == callee and edge.kind in kinds)
        return min(edges, key=lambda edge: (edge.certainty.rank, *edge_order(edge)))


def _of_kinds(edges: tuple[Edge, ...], kinds: Collection[EdgeKind] | None) -> tuple[Edge, ...]:
    return edges if kinds is None else tuple(edge for edge in edges if edge.kind in kinds)


def edge_order(edge: Edge) -> tuple[Any, ...]:
    """Sort key of an edge: its fields in order; an implicit call (no site) before the calls of the same line."""
    caller, callee, path, line, site, kind, certainty, rule = edge
    return (caller, callee, path, line, site or (), kind, certainty, rule)  # the enums are strings


def unresolved_order(item: Unresolved) -> tuple[Any, ...]:
    """Sort key of an unresolved site: its fields in order."""
    return (item.caller, item.path, item.line, item.site or (), item.reason, item.detail)
