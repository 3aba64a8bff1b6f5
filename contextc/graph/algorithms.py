"""Questions networkx answers, and the one file that imports it.

In: plain symbols and edges, laid out once as a `MultiDiGraph`. Out: symbol ids, sorted. `find_cycles(laid, kinds)` on a
program whose only recursion is `even` and `odd` calling each other gives `(("app:even", "app:odd"),)`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeAlias

from contextc.model.analysis import Analysis
from contextc.model.edge import Edge, EdgeKind

if TYPE_CHECKING:
    from networkx import MultiDiGraph

NetworkxGraph: TypeAlias = "MultiDiGraph[str]"


def lay_out(analysis: Analysis) -> NetworkxGraph:
    """The graph as a frozen MultiDiGraph: plain attribute values, nodes and edges added in the analysis' order."""
    import networkx

    laid: NetworkxGraph = networkx.MultiDiGraph(root=analysis.root, resolver=analysis.resolver)
    laid.add_nodes_from(
        (s.id, {"path": s.path, "qualname": s.qualname, "kind": s.kind.value,
                "line": s.line, "col": s.col, "end_line": s.end_line})
        for s in analysis.symbols
    )  # fmt: skip
    laid.add_edges_from((e.caller, e.callee, _attributes(e)) for e in analysis.edges)
    networkx.freeze(laid)
    return laid


def _attributes(edge: Edge) -> dict[str, Any]:
    return {
        "kind": edge.kind.value, "certainty": edge.certainty.value, "rule": edge.rule.value,
        "path": edge.path, "line": edge.line, "site": edge.site,
    }  # fmt: skip


def _part(laid: NetworkxGraph, kinds: Collection[EdgeKind]) -> Any:
    """A simple directed graph with every symbol and the edges of some kinds."""
    import networkx

    words = {kind.value for kind in kinds}
    part = networkx.DiGraph()
    part.add_nodes_from(laid)
    part.add_edges_from((a, b) for a, b, kind in laid.edges(data="kind") if kind in words)
    return part


def find_cycles(laid: NetworkxGraph, kinds: Collection[EdgeKind]) -> tuple[tuple[str, ...], ...]:
    """Groups of symbols that reach each other (strongly connected components), a lone self-call included.

    Each group sorted, the largest group first.
    """
    import networkx

    part = _part(laid, kinds)
    groups = (tuple(sorted(group)) for group in networkx.strongly_connected_components(part))
    cycles = [g for g in groups if len(g) > 1 or part.has_edge(g[0], g[0])]
    return tuple(sorted(cycles, key=lambda g: (-len(g), g)))


def find_path(laid: NetworkxGraph, source: str, target: str, kinds: Collection[EdgeKind]) -> tuple[str, ...]:
    """A shortest chain of symbols from one to another, both ends included; empty when there is none."""
    import networkx

    try:
        return tuple(networkx.shortest_path(_part(laid, kinds), source, target))
    except networkx.NetworkXNoPath:
        return ()
