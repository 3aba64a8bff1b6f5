"""From the analyser's plain values to the graph: sort, drop duplicates, check what every later step relies on.

`build_graph(Analysis(…))` gives a `CallGraph`. An edge whose end is no symbol, or two symbols with one id, are faults
of the analyser, not of the analysed code: ValueError, with the first offenders.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, TypeVar

from contextc.graph.call_graph import CallGraph, edge_order, unresolved_order
from contextc.model.analysis import Analysis

_SHOWN = 3
_Item = TypeVar("_Item")


def build_graph(analysis: Analysis) -> CallGraph:
    """The graph of one analysis. Sorted here again, so that it is the same however the analysis was put together."""
    tidy = _sort(analysis)
    faults = list(_find_faults(tidy))
    if faults:
        shown = "; ".join(faults[:_SHOWN])
        more = f" (and {len(faults) - _SHOWN} more)" if len(faults) > _SHOWN else ""
        raise ValueError(f"inconsistent analysis: {shown}{more}")
    return CallGraph(tidy)


def _sort(analysis: Analysis) -> Analysis:
    return analysis._replace(
        files=_in_order(analysis.files, tuple),
        symbols=_in_order(analysis.symbols, lambda s: (s.path, s.span.start, s.parent is not None, s.id)),
        edges=_in_order(analysis.edges, edge_order),
        unresolved=_in_order(analysis.unresolved, unresolved_order),
        imports=_in_order(analysis.imports, lambda i: (i.importer, i.line, i.name, i.target or "")),
        skipped=_in_order(analysis.skipped, tuple),
        notes=_in_order(analysis.notes, tuple),
    )


def _in_order(items: Iterable[_Item], key: Callable[[_Item], tuple[Any, ...]]) -> tuple[_Item, ...]:
    """Sorted, equal neighbours dropped: cheaper than a set, since enums hash slowly, and most input comes sorted."""
    return tuple(item for item, _ in groupby(sorted(items, key=key)))


def _repeated(names: Iterable[str]) -> Iterator[str]:
    return (name for name, count in Counter(names).items() if count > 1)


def _find_faults(analysis: Analysis) -> Iterator[str]:
    """Each broken invariant as one clause."""
    ids = {symbol.id for symbol in analysis.symbols}
    paths = {file.path for file in analysis.files}
    yield from (f"two files at {path}" for path in _repeated(file.path for file in analysis.files))
    yield from (f"two symbols with the id {name}" for name in _repeated(s.id for s in analysis.symbols))
    for symbol in analysis.symbols:
        if symbol.path not in paths:
            yield f"symbol {symbol.id} lies in {symbol.path}, which is not an analysed file"
        if symbol.parent is not None and symbol.parent not in ids:
            yield f"symbol {symbol.id} has the unknown parent {symbol.parent}"
    for edge in analysis.edges:
        for end in (edge.caller, edge.callee):
            if end not in ids:
                yield f"edge at {edge.path}:{edge.line} ends in the unknown symbol {end}"
    for site in analysis.unresolved:
        if site.caller not in ids:
            yield f"unresolved site at {site.path}:{site.line} lies in the unknown symbol {site.caller}"
    for item in analysis.imports:
        for name in (item.importer, item.target):
            if name is not None and name not in ids:
                yield f"import of {item.name} at line {item.line} in {item.importer} names the unknown symbol {name}"
