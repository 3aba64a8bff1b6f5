"""Why a symbol is not in a context. In: a compilation and the symbol's name. Out: lines of text.

    app.signals:Signal is left out: hop 3, past the last hop shown
      app.views:register_user → app.models:User.save (certain, receiver-exact) → … → app.signals:Signal (certain, …)
      chance that each edge is real, as measured: 98.6 %
      to get it: contextc compile ROOT TARGET --max-hops 3, or contextc compile ROOT app.signals:Signal

A symbol that is there is said to be there. Where no chain of edges leads to it, the sites that could hide one are
counted: that nothing leads there is never said of code that is not resolved in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import find_target
from contextc.model.edge import Unresolved
from contextc.model.plan import Item, Omission
from contextc.passes.compilation import Compilation, count_left_out
from contextc.passes.explanation import Chains
from contextc.passes.forms import first_line
from contextc.passes.markdown import printable_line
from contextc.passes.plan import find_holder
from contextc.passes.routes import Route, Step, find_route, turn_round, write_chain
from contextc.passes.slice import text_owners

_LISTED = 8
_WORD = re.compile(r"\w+")


def explain_absence(compilation: Compilation, name: str, max_hops: int) -> Iterator[str]:
    """A few lines about each definition of that name. `max_hops`: the last hop shown. Raises TargetNotFound."""
    graph = compilation.graph
    found = find_target(graph, name)
    if found.kind == "file":
        groups = [(found.paths[0] if len(found.paths) == 1 else name, found.symbols)]
    else:
        outer = [s for s in found.symbols if graph.symbol(s).parent not in found.symbols]
        groups = [(s, (s, *(inner.id for inner in graph.descendants(s)))) for s in outer]
    for label, symbols in groups[:_LISTED]:
        yield from map(printable_line, _Question(compilation, label, symbols, max_hops).answer())
    if len(groups) > _LISTED:
        yield f"and {len(groups) - _LISTED:,} more definitions of that name"


class _Question:
    """One definition (with what lies in it) or file, and one compilation."""

    def __init__(self, compilation: Compilation, label: str, symbols: Sequence[str], max_hops: int) -> None:
        self._compilation = compilation
        self._graph: CallGraph = compilation.graph
        self._label = label
        self._symbols = symbols
        self._max_hops = max_hops
        self._chains = Chains(compilation.graph, compilation.context.items)
        self._items = self._chains.items

    def answer(self) -> Iterator[str]:
        """The lines."""
        first, inside = self._symbols[0], frozenset(self._symbols)
        shown = [self._items[s] for s in self._symbols if s in self._items]
        omitted = [o for o in self._compilation.context.omitted if o.symbol in inside]
        holder = None if first in self._items else self._find_holder()
        is_omitted = any(o.symbol == first for o in omitted)
        if holder is not None:
            yield f"{self._label} is in the context inside {holder.symbol}: {holder.form} ({holder.why})"
            yield f"  {self._chain_of(holder)}"
        elif omitted and (is_omitted or not shown):
            yield from self._tell_omitted(min(omitted, key=lambda o: (o.symbol != first, o.hop, o.symbol)))
        elif not shown:
            yield from self._tell_missing()
        if shown and holder is None:
            yield from self._tell_shown(shown)

    def _find_holder(self) -> Item | None:
        """The innermost item around, whose text has this symbol's in it."""
        holder = find_holder(self._graph, self._items, self._symbols[0], self._compilation.profile)
        if holder is not None:
            return holder
        parent = self._graph.symbol(self._symbols[0]).parent
        while parent is not None:
            item = self._items.get(parent)
            if item is not None and item.form.value in ("full", "trimmed"):
                return item
            parent = self._graph.symbol(parent).parent
        return None

    def _chain_of(self, item: Item) -> str:
        return write_chain(self._chains.find(item))

    def _tell_shown(self, shown: Sequence[Item]) -> Iterator[str]:
        first = shown[0]
        if first.symbol == self._symbols[0]:
            worth = ", ".join(f"{name} {value:,}" for name, value in first.worth)
            yield f"{self._label} is in the context: {first.form} ({first.why}){f'; worth: {worth}' if worth else ''}"
            yield f"  {self._chain_of(first)}"
            return
        yield f"{self._label} is in the context in part, {len(shown):,} of its {len(self._symbols):,} symbols"
        for item in shown[:_LISTED]:
            yield f"  {item.symbol}: {item.form} ({item.why}): {self._chain_of(item)}"
        if len(shown) > _LISTED:
            yield f"  and {len(shown) - _LISTED:,} more"

    def _tell_omitted(self, omission: Omission) -> Iterator[str]:
        part = "" if omission.symbol == self._symbols[0] else f", of which {omission.symbol} was reached,"
        size = f"; it would take {omission.tokens:,} tokens" if omission.tokens else ""
        yield f"{self._label}{part} is left out: {omission.why}{size}"
        route = self._route([omission.symbol])
        yield from self._tell_route(route, self._back([omission.symbol]) if not route.steps else None)
        fetch = next((g.fetch for g in self._compilation.document.gaps if g.why == omission.why), None)
        yield self._how(f"{fetch}, or {self._by_itself()}" if fetch and " ID" not in fetch else self._by_itself())

    def _tell_missing(self) -> Iterator[str]:
        target = self._compilation.context.target
        route, back = self._route(self._symbols), self._back(self._symbols)
        hops = len(route.steps) - 1
        if route.steps:
            if hops > self._max_hops:
                yield f"{self._label} is not in the context: {hops:,} hops from {target}, {self._max_hops} are shown"
            else:
                yield f"{self._label} is not in the context: the profile does not follow each edge of its chain"
        elif back.steps:
            yield f"{self._label} is not in the context: no known edge leads to it from {target}; it uses {target}"
        else:
            yield f"{self._label} is not in the context: no chain of known edges leads to it from {target}"
        if not route.steps:
            yield from self._tell_doubt(route)
        yield from self._tell_route(route, None if route.steps else back)
        more = f"contextc compile ROOT TARGET --max-hops {hops}, or " if hops > self._max_hops else ""
        yield self._how(f"{more}{self._by_itself()}")

    def _route(self, goals: Sequence[str]) -> Route:
        return find_route(self._graph, self._compilation.target.symbols, goals)

    def _back(self, starts: Sequence[str]) -> Route:
        return find_route(self._graph, starts, self._compilation.target.symbols)

    def _tell_route(self, route: Route, back: Route | None) -> Iterator[str]:
        steps: tuple[Step, ...] = route.steps
        if not steps and back is not None and back.steps:
            steps, route = turn_round(back.steps), back
        if steps:
            yield f"  {write_chain(steps)}"
            yield f"  chance that each edge is real, as measured: {route.chance / 10_000:.1f} %"

    def _by_itself(self) -> str:
        return f"contextc compile ROOT {self._label}"

    def _how(self, command: str) -> str:
        return f"  to get it: {command}"

    def _tell_doubt(self, route: Route) -> Iterator[str]:
        """What could hide a chain: sites in all that the target reaches whose targets may be incomplete."""
        seeds = set(self._compilation.target.symbols)
        owners: dict[str, None] = {}
        for name in route.reached:
            for owner in text_owners(self._graph, self._graph.symbol(name), name in seeds):
                owners[owner.id] = None
        sites = sorted({site for owner in owners for site in self._graph.unresolved_in(owner)}, key=_place)
        skipped = count_left_out(self._graph)
        reached = f"the {len(route.reached):,} symbols that the target reaches"
        if not sites:
            yield f"  each call site in {reached} is resolved in full"
        else:
            yield f"  {len(sites):,} sites in {reached} are not resolved in full; any of them may lead to it"
            yield from self._tell_sites(sites)
        if skipped:
            yield f"  files or folders not analysed: {skipped:,}; a chain may lead through them"

    def _tell_sites(self, sites: Sequence[Unresolved]) -> Iterator[str]:
        """First those that write its name."""
        last = self._graph.symbol(self._symbols[0]).qualname.rpartition(".")[2]
        naming = [site for site in sites if last in _WORD.findall(site.detail)]
        if naming:
            yield f"  {len(naming):,} of them name '{last}':"
        listed = naming or sites
        for site in listed[:_LISTED]:
            line = self._graph.file(site.path).describe_line(site.line)
            yield f"    {site.path}:{line} {first_line(site.detail or '?', 60)} ({site.reason})"
        if len(listed) > _LISTED:
            yield f"    and {len(listed) - _LISTED:,} more"


def _place(site: Unresolved) -> tuple[object, ...]:
    """Calls as they are written before operators and other calls that nobody wrote."""
    return (site.site is None, site.path, site.line, site.site or (), site.reason.value, site.detail)
