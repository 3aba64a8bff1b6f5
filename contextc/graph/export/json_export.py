"""The graph as JSON, `contextc.graph/1`: the shape that `graph.schema.json` describes.

In: a `CallGraph`. Out: text in pieces, one record a line, so that a graph of 300,000 edges is neither held as one
string nor hard to compare line by line. Plain ASCII (names in other scripts are escaped), ends with a newline.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Certainty, Edge, Unresolved
from contextc.model.symbol import Symbol

SCHEMA = "contextc.graph/1"
encode_record = json.JSONEncoder(ensure_ascii=True, separators=(", ", ": "), check_circular=False).encode


def graph_statistics(graph: CallGraph) -> dict[str, Any]:
    """The `stats` object: counts of what the arrays hold, call expressions, and edges by certainty and by kind."""
    certainty = Counter(edge.certainty for edge in graph.edges)
    kind = Counter(edge.kind.value for edge in graph.edges)
    return {
        "resolver": graph.analysis.resolver,
        "files": len(graph.files),
        "call_sites": graph.analysis.call_sites,
        "symbols": len(graph),
        "edges": len(graph.edges),
        "unresolved": len(graph.analysis.unresolved),
        "edges_by_certainty": {word.value: certainty[word] for word in Certainty},
        "edges_by_kind": {word: kind[word] for word in sorted(kind)},
    }


def iter_graph_json(graph: CallGraph, version: str) -> Iterator[str]:
    """The document in pieces, to be written one after another. `version` is contextc's own."""
    analysis = graph.analysis
    head = {
        "schema": SCHEMA,
        "root": analysis.root,
        "analyzer": {"name": "contextc", "version": version},
        "stats": graph_statistics(graph),
    }
    yield "{\n"
    for key, value in head.items():
        yield f'"{key}": {encode_record(value)},\n'
    yield from iter_array("symbols", map(_symbol_record, analysis.symbols), ",")
    yield from iter_array("edges", map(edge_record, analysis.edges), ",")
    yield from iter_array("unresolved", map(_unresolved_record, analysis.unresolved), ",")
    skipped = ({"path": s.path, "reason": s.reason.value, "detail": s.detail} for s in analysis.skipped)
    yield from iter_array("skipped", skipped, ",")
    yield from iter_array("notes", ({"path": n.path, "message": n.message} for n in analysis.notes), "")
    yield "}\n"


def iter_array(key: str, records: Iterable[dict[str, Any]], after: str) -> Iterator[str]:
    """The member `key` with its records, one a line; `after` follows it: a comma, or nothing."""
    lead = f'"{key}": [\n'
    for record in records:
        yield lead + encode_record(record)
        lead = ",\n"
    yield f'"{key}": []{after}\n' if lead[0] == '"' else f"\n]{after}\n"


def _symbol_record(symbol: Symbol) -> dict[str, Any]:
    return {
        "id": symbol.id, "path": symbol.path, "qualname": symbol.qualname, "kind": symbol.kind.value,
        "line": symbol.line, "col": symbol.col, "end_line": symbol.end_line,
    }  # fmt: skip


def edge_record(edge: Edge) -> dict[str, Any]:
    """An edge as it stands in every document of ours."""
    return {
        "caller": edge.caller, "callee": edge.callee, "path": edge.path, "line": edge.line, "site": edge.site,
        "kind": edge.kind.value, "certainty": edge.certainty.value, "rule": edge.rule.value,
    }  # fmt: skip


def _unresolved_record(site: Unresolved) -> dict[str, Any]:
    return {
        "caller": site.caller, "path": site.path, "line": site.line, "site": site.site, "reason": site.reason.value,
    }  # fmt: skip
