"""The graph as DOT, for Graphviz.

In: a `CallGraph`. Out: text in pieces. A cluster per file, a node per symbol, an arrow per caller, callee, kind and
certainty: solid when certain, dashed when likely, dotted when possible; labelled `CALL`, or `CALL x3` for three sites.
A symbol with unresolved sites says so in its node. Names may hold anything a file name or identifier may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Certainty, EdgeKind
from contextc.model.escape import escape_unprintable
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol

_STYLES = {Certainty.CERTAIN: "solid", Certainty.LIKELY: "dashed", Certainty.POSSIBLE: "dotted"}
_SHAPES = {SymbolKind.MODULE: "folder", SymbolKind.CLASS: "component", SymbolKind.LAMBDA: "ellipse"}
_DATA = frozenset({SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE})
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}  # Graphviz reads entities in every label


def iter_graph_dot(graph: CallGraph) -> Iterator[str]:
    """The document in pieces. Variables and attributes that no edge touches are not drawn; a comment counts them."""
    touched = {end for edge in graph.edges for end in (edge.caller, edge.callee)}
    drawn = [s for s in graph.symbols if s.kind not in _DATA or s.id in touched]
    yield f"digraph {_quote(graph.analysis.root)} {{\n"
    yield f"  // {len(graph) - len(drawn)} variables and attributes without an edge are not drawn\n"
    yield '  graph [rankdir="LR", newrank="true"];\n  node [shape="box", fontname="monospace"];\n'
    yield '  edge [fontname="monospace", fontsize="9"];\n'
    by_file: dict[str, list[Symbol]] = {}
    for symbol in drawn:
        by_file.setdefault(symbol.path, []).append(symbol)
    for number, (path, symbols) in enumerate(by_file.items()):
        yield from _cluster(graph, number, path, symbols)
    yield from _arrows(graph)
    yield "}\n"


def _cluster(graph: CallGraph, number: int, path: str, symbols: Iterable[Symbol]) -> Iterator[str]:
    yield f"  subgraph cluster_{number} {{\n    label={_label(path)};\n"
    for symbol in symbols:
        lines = [symbol.qualname]
        unknown = len(graph.unresolved_in(symbol.id))
        if unknown:
            lines.append(f"{unknown} unresolved")
        shape = _SHAPES.get(symbol.kind)
        extra = f', shape="{shape}"' if shape else ""
        yield f"    {_quote(symbol.id)} [label={_label(*lines)}{extra}];\n"
    yield "  }\n"


def _arrows(graph: CallGraph) -> Iterator[str]:
    counts: Counter[tuple[str, str, EdgeKind, Certainty]] = Counter()
    for edge in graph.edges:  # sorted, and a Counter keeps the order of first sight
        counts[edge.caller, edge.callee, edge.kind, edge.certainty] += 1
    for (caller, callee, kind, certainty), count in counts.items():
        text = f"{kind.value} x{count}" if count > 1 else kind.value
        weight = "" if kind.is_call else ', color="gray"'
        style = _STYLES[certainty]
        yield f'  {_quote(caller)} -> {_quote(callee)} [label={_label(text)}, style="{style}"{weight}];\n'


def _quote(name: str) -> str:
    """A DOT identifier: quoted, backslash and quote escaped."""
    return '"' + escape_unprintable(name).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _label(*lines: str) -> str:
    """A DOT label that shows the lines as they are: what HTML entities and DOT escapes would change is escaped."""
    shown = ["".join(_ENTITIES.get(c, c) for c in escape_unprintable(line).replace("\\", "\\\\")) for line in lines]
    return '"' + "\\n".join(shown) + '"'
