"""Questions networkx answers, and the one file that imports it.

In: a `CallGraph`. Out: symbol ids and edges, sorted. `find_cycles(graph)` on a program whose only recursion is `even`
and `odd` calling each other gives `(("app:even", "app:odd"),)`.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from contextc.model.edge import CALL_KINDS, Edge, EdgeKind

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from contextc.graph.call_graph import CallGraph


def lay_out(graph: CallGraph) -> MultiDiGraph[str]:
    """The graph as a frozen MultiDiGraph: plain attribute values, nodes and edges added in the façade's order."""
    import networkx

    laid: MultiDiGraph[str] = networkx.MultiDiGraph(root=graph.analysis.root, resolver=graph.analysis.resolver)
    laid.add_nodes_from(
        (s.id, {"path": s.path, "qualname": s.qualname, "kind": s.kind.value,
                "line": s.line, "col": s.col, "end_line": s.end_line})
        for s in graph.symbols
    )  # fmt: skip
    laid.add_edges_from((e.caller, e.callee, _attributes(e)) for e in graph.edges)
    networkx.freeze(laid)
    return laid


def _attributes(edge: Edge) -> dict[str, Any]:
    return {
        "kind": edge.kind.value, "certainty": edge.certainty.value, "rule": edge.rule.value,
        "path": edge.path, "line": edge.line, "site": edge.site,
    }  # fmt: skip


def _part(graph: CallGraph, kinds: Collection[EdgeKind]) -> Any:
    """A simple directed graph of the edges of some kinds."""
    import networkx

    part = networkx.DiGraph()
    part.add_nodes_from(symbol.id for symbol in graph.symbols)
    part.add_edges_from((e.caller, e.callee) for e in graph.edges if e.kind in kinds)
    return part


def find_cycles(graph: CallGraph, kinds: Collection[EdgeKind] = CALL_KINDS) -> tuple[tuple[str, ...], ...]:
    """Groups of symbols that reach each other (strongly connected components), a lone self-call included.

    Each group sorted, the largest group first.
    """
    import networkx

    part = _part(graph, kinds)
    groups = (tuple(sorted(group)) for group in networkx.strongly_connected_components(part))
    cycles = [g for g in groups if len(g) > 1 or part.has_edge(g[0], g[0])]
    return tuple(sorted(cycles, key=lambda g: (-len(g), g)))


def find_path(
    graph: CallGraph, source: str, target: str, kinds: Collection[EdgeKind] = CALL_KINDS
) -> tuple[Edge, ...] | None:
    """A shortest chain of edges from one symbol to another, the same one every time; None when there is none.

    Raises KeyError for an id that is no symbol.
    """
    import networkx

    graph.symbol(source)
    graph.symbol(target)
    try:
        steps = networkx.shortest_path(_part(graph, kinds), source, target)
    except networkx.NetworkXNoPath:
        return None
    return tuple(_best_edge(graph, a, b, kinds) for a, b in pairwise(steps))


def _best_edge(graph: CallGraph, caller: str, callee: str, kinds: Collection[EdgeKind]) -> Edge:
    edges = (e for e in graph.edges_from(caller, kinds) if e.callee == callee)
    return min(edges, key=lambda e: (e.certainty.rank, e.line))
