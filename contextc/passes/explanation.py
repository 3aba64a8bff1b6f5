"""Why each item is in the context. In: a graph and a plan's items. Out: chains of edges, and a line an item.

`app.views:show → app.services:load (certain, import) → app.models:User.save (certain, receiver-exact): interface
(hop 1)` reads from the target on. An arrow to the left is an edge the other way: `app.models:User.save ←
app.services:load (certain, receiver-exact)` says that `load`, which came in for using the target, calls `save`.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Edge, EdgeKind
from contextc.model.facts import SymbolKind
from contextc.model.plan import Direction, Item
from contextc.passes.routes import Before, Step, explore, find_route, trace_back, turn_round, write_chain


def explain_items(graph: CallGraph, items: Iterable[Item]) -> tuple[str, ...]:
    """A line per item: the chain of edges that brought it, its form, why it has that form, and the terms of its
    worth. What lies in a target goes without saying."""
    chains = Chains(graph, items)
    seeds = {item.symbol for item in chains.items.values() if item.hop == 0}
    return tuple(
        f"{write_chain(chains.find(item))}: {item.form} ({item.why}){_worth(item)}"
        for item in chains.items.values()
        if item.hop or graph.symbol(item.symbol).parent not in seeds
    )


def _worth(item: Item) -> str:
    terms = ", ".join(f"{name} {value:,}" for name, value in item.worth)
    return f"; worth: {terms}" if terms else ""


class Chains:
    """The chains of one plan's items. `items`: the items by symbol."""

    def __init__(self, graph: CallGraph, items: Iterable[Item]) -> None:
        self.items = {item.symbol: item for item in items}
        self._graph = graph
        self._seeds = [item.symbol for item in self.items.values() if item.hop == 0]
        self._before: Before | None = None

    def find(self, item: Item) -> tuple[Step, ...]:
        """The steps from a seed, or what is defined in it, to the item, both included. Where a symbol between them is
        no item (it was left out), that part is a shortest chain."""
        steps: list[Step] = []
        seen: set[str] = set()
        at = item
        while at.via is not None:
            seen.add(at.symbol)
            is_back = leads_back(self._graph, at)
            steps.append(Step(at.symbol, at.via, is_back))
            is_wrapper = _wraps(self._graph, at, at.via)
            end = at.via.callee if is_back and not is_wrapper else at.via.caller
            most = at.hop if at.via.kind is EdgeKind.OVERRIDES else at.hop - 1
            before = self._find_holder(end, at.via.line if end == at.via.caller else 0, most, seen, is_wrapper)
            if before is None:
                return (*self._bridge(end, is_back), *reversed(steps))
            at = before
        steps.append(Step(at.symbol, None))
        return tuple(reversed(steps))

    def _find_holder(self, end: str, line: int, most: int, seen: set[str], is_wrapper: bool) -> Item | None:
        """The item whose text holds the nearer end of an edge: itself, one around it, or a variable (what a wrapper
        wraps) whose statement is on the edge's line (0: no line is meant). Only hops up to `most` count, and each item
        once, so a chain always ends."""
        for child in () if end in self.items and not is_wrapper else self._graph.children(end):
            held = self._admit(child.id, most, seen)
            if held is not None and child.line <= line <= child.end_line:
                return held
        symbol: str | None = end
        while symbol is not None:
            held = self._admit(symbol, most, seen)
            if held is not None:
                return held
            symbol = self._graph.symbol(symbol).parent
        return None

    def _admit(self, symbol: str, most: int, seen: set[str]) -> Item | None:
        held = self.items.get(symbol)
        return held if held is not None and held.hop <= most and symbol not in seen else None

    def _bridge(self, end: str, is_back: bool) -> tuple[Step, ...]:
        """From a seed to a symbol that is no item."""
        if is_back:
            inside = [symbol.id for seed in self._seeds for symbol in self._graph.descendants(seed)]
            steps = find_route(self._graph, [end], [*self._seeds, *inside]).steps
            return turn_round(steps) if steps else (Step(end, None),)
        if self._before is None:
            most = max(item.hop for item in self.items.values())
            self._before = explore(self._graph, self._seeds, hops=most)
        symbol: str | None = end
        while symbol is not None and symbol not in self._before:
            symbol = self._graph.symbol(symbol).parent
        return (Step(end, None),) if symbol is None else trace_back(self._before, symbol)


def leads_back(graph: CallGraph, item: Item) -> bool:
    """Whether the edge that brought an item leads from it towards the target: from what calls it, from an override of
    what it calls, from what stands in front of it as its decorator left it."""
    edge: Edge | None = item.via
    if edge is None or edge.callee == item.symbol:
        return False
    if item.direction is Direction.USES:
        return edge.kind is EdgeKind.OVERRIDES and edge.caller == item.symbol
    callee = graph.symbol(edge.callee)
    is_its_class = callee.kind is SymbolKind.METHOD and callee.parent == item.symbol
    return not (edge.kind is EdgeKind.CONSTRUCT and is_its_class)


def _wraps(graph: CallGraph, item: Item, edge: Edge) -> bool:
    """Whether an item came in as the function that a decorator puts before a target: the edge is the decoration."""
    if edge.kind is not EdgeKind.DECORATOR or item.direction is not Direction.USED_BY or edge.callee == item.symbol:
        return False
    symbol: str | None = edge.caller
    while symbol is not None and symbol != item.symbol:
        symbol = graph.symbol(symbol).parent
    return symbol is None
