"""What the reader of a context should doubt: sites that aren't fully resolved, and targets that were enumerated.

In: the graph and the items at hops 0 and 1. Out: a `Doubt` per site. `getattr(module, f"handle_{kind}")(user)` at line
22 of views.py gives `Doubt(0, "views.py", 22, "possible", "getattr-pattern", …, ("…:handle_email", "…:handle_sms"))`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.diagnostic import Skip, SkipReason, Warning
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule, Unresolved
from contextc.model.facts import SymbolKind
from contextc.model.plan import Direction, Item
from contextc.model.symbol import Symbol
from contextc.passes.forms import Source, first_line
from contextc.passes.profile import FOLLOWED
from contextc.passes.slice import text_owners

POSSIBLE, UNRESOLVED = "possible", "unresolved"
_LAST_HOP = 1
_NAMED = 8  # targets named in a warning
PLACES = 3  # sites named in a warning
_LINE = re.compile(r"\bline (\d+)")


class Doubt(NamedTuple):
    """`reason` is a Reason for an unresolved site, the Rule for a possible one; `written` what stands there. `targets`
    of an unresolved site are those that the context shows because they have the name that is called."""

    hop: int
    path: str
    line: int
    kind: str
    reason: str
    written: str
    targets: tuple[str, ...]

    @property
    def warning(self) -> Warning:
        """The doubt as a line of the report."""
        targets = name_some(self.targets)
        if self.kind == UNRESOLVED:
            perhaps = f"; by its name perhaps {targets}" if targets else ""
            return Warning(self.path, self.line, f"unresolved ({self.reason}): {self.written}{perhaps}")
        return Warning(self.path, self.line, f"possible ({self.reason}): {self.written} may be {targets}")


def name_some(names: tuple[str, ...], most: int = _NAMED) -> str:
    """Names in a row, the rest counted."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def collect_doubts(graph: CallGraph, items: Iterable[Item], sources: Mapping[str, Source]) -> tuple[Doubt, ...]:
    """Each site once, at its lowest hop, sorted."""
    found: dict[tuple[str, int, str, str, str], Doubt] = {}
    items = tuple(items)
    namesakes = _collect_namesakes(graph, items)
    for item in items:  # by hop
        if item.hop > _LAST_HOP:
            break
        for owner in text_owners(graph, graph.symbol(item.symbol), item.hop == 0):
            possible: dict[tuple[object, ...], list[Edge]] = {}
            followed = graph.edges_from(owner.id, FOLLOWED)
            called = {edge.callee for edge in followed if edge.kind.is_call}
            for edge in followed:
                if edge.kind is EdgeKind.READS_ATTRIBUTE and edge.callee in called:
                    continue  # said once, where it is called
                if edge.certainty is Certainty.POSSIBLE:
                    possible.setdefault((edge.line, edge.site), []).append(edge)
            doubts = [
                _open_site(item.hop, site, namesakes if item.hop == 0 else {})
                for site in graph.unresolved_in(owner.id)
                if site.site is not None or site.reason is Reason.SYNTAX  # an operator, an attribute: too many to name
            ]
            doubts += [_enumerated(item.hop, edges, sources) for edges in possible.values()]
            for doubt in doubts:
                found.setdefault((doubt.path, doubt.line, doubt.kind, doubt.reason, doubt.written), doubt)
    return tuple(sorted(found.values()))


def _open_site(hop: int, site: Unresolved, namesakes: Mapping[str, tuple[str, ...]]) -> Doubt:
    written = site.detail or "?"
    targets = namesakes.get(written.rpartition(".")[2], ())
    return Doubt(hop, site.path, site.line, UNRESOLVED, site.reason.value, first_line(written, 60), targets)


def _collect_namesakes(graph: CallGraph, items: tuple[Item, ...]) -> dict[str, tuple[str, ...]]:
    """By name, the symbols that a context of the typed graph has only because an unresolved call writes it."""
    found: dict[str, list[str]] = {}
    for item in items if graph.analysis.resolver == "typed" else ():
        if item.via is not None and item.via.rule is Rule.BARE_NAME:
            found.setdefault(graph.symbol(item.symbol).qualname.rpartition(".")[2], []).append(item.symbol)
    return {name: tuple(sorted(symbols)) for name, symbols in found.items()}


class HiddenCallers(NamedTuple):
    """Unresolved sites elsewhere that write a target's name: each may call it. `places`: path and line, sorted."""

    symbol: str
    path: str
    line: int
    name: str
    places: tuple[tuple[str, int], ...]

    @property
    def warning(self) -> Warning:
        """The same as a line of the report."""
        places = name_some(tuple(f"{path}:{line}" for path, line in self.places), PLACES)
        count = f"{len(self.places):,} unresolved site" + ("s" if len(self.places) > 1 else "")
        return Warning(self.path, self.line, f"{count} elsewhere may call {self.name}: {places}")


def find_hidden_callers(graph: CallGraph, items: Iterable[Item]) -> tuple[HiddenCallers, ...]:
    """For each target that can be called, the sites that could call it for all that is known, if any. A class is called
    by its own name, and so is its `__init__`."""
    targets = {item.symbol for item in items if item.hop == 0 and item.direction is not Direction.USED_BY}
    inside = {owner.id for symbol in targets for owner in text_owners(graph, graph.symbol(symbol), True)}
    written: dict[str, list[Unresolved]] = {}
    for site in graph.analysis.unresolved:
        if site.site is not None and site.detail and site.caller not in inside:
            written.setdefault(site.detail.rpartition(".")[2], []).append(site)
    found = []
    for symbol in (graph.symbol(target) for target in sorted(inside)):
        name = _called_name(graph, symbol)
        places = tuple(sorted({(site.path, site.line) for site in written.get(name, ())}))
        if places:
            found.append(HiddenCallers(symbol.id, symbol.path, symbol.line, name, places))
    return tuple(found)


def _called_name(graph: CallGraph, symbol: Symbol) -> str:
    """The name that a call of the symbol ends with; empty where a call doesn't name it."""
    name = symbol.qualname.rpartition(".")[2]
    if symbol.kind is SymbolKind.CLASS:
        return name
    if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD):
        return ""
    if name == "__init__" and symbol.parent is not None:
        return graph.symbol(symbol.parent).qualname.rpartition(".")[2]
    return "" if name.startswith("__") and name.endswith("__") else name


def _enumerated(hop: int, edges: list[Edge], sources: Mapping[str, Source]) -> Doubt:
    first = edges[0]
    source = sources.get(first.path)
    written = _text_at(first, source) if source else ""
    rules = ", ".join(sorted({edge.rule.value for edge in edges}))
    targets = tuple(sorted({edge.callee for edge in edges}))
    return Doubt(hop, first.path, first.line, POSSIBLE, rules, written, targets)


def _text_at(edge: Edge, source: Source) -> str:
    """What is written at an edge's site, on one line."""
    if edge.site is None:
        return first_line(source.line(edge.line), 60)
    line, column, end_line, end_column = edge.site
    starts = source.lines.starts
    if end_line > len(starts):
        return ""
    return first_line(source.cut(starts[line - 1] + column, starts[end_line - 1] + end_column), 60)


def file_warnings(paths: Mapping[str, Source], skipped: Iterable[Skip], whole: Iterable[str]) -> list[Warning]:
    """What is to be known of the files in the context: those read in part, those whose line ends were changed."""
    warnings = []
    for skip in skipped:
        if skip.path in paths:
            line = _LINE.search(skip.detail)
            word = "read in part" if skip.reason is SkipReason.PARTIAL else str(skip.reason)
            warnings.append(Warning(skip.path, int(line.group(1)) if line else 1, f"{word}: {skip.detail}"))
    changed = [path for path in whole if b"\r" in paths[path].text]
    warnings += [Warning(path, 1, "the file's line ends are CRLF or CR; here they are LF") for path in changed]
    return sorted(warnings)
