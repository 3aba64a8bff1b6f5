"""Why each item is in the context. In: a graph and a plan's items. Out: chains of edges, and a line an item.

`app.views:show → app.services:load (certain, import) → app.models:User.save (certain, receiver-exact): interface
(hop 1)` reads from the target on. An arrow to the left is an edge the other way: `app.models:User.save ←
app.services:load (certain, receiver-exact)` says that `load`, which came in for using the target, calls `save`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Edge, EdgeKind
from contextc.model.plan import Direction, Item


class Step(NamedTuple):
    """One symbol of a chain and the edge that brought it; None for the first. `is_back`: the edge leads from this
    symbol to the one before."""

    symbol: str
    edge: Edge | None
    is_back: bool = False


def explain_items(graph: CallGraph, items: Iterable[Item]) -> tuple[str, ...]:
    """A line per item: the chain of edges that brought it, its form, why it has that form, and the terms of its
    worth. What lies in a target goes without saying."""
    by_symbol = {item.symbol: item for item in items}
    return tuple(
        f"{write_chain(find_chain(graph, item, by_symbol))}: {item.form} ({item.why}){_worth(item)}"
        for item in by_symbol.values()
        if item.hop or graph.symbol(item.symbol).parent not in by_symbol
    )


def worth_terms(item: Item) -> tuple[tuple[str, int], ...]:
    """The named terms of an item's worth; none where no budget made the plan weigh it."""
    terms: tuple[tuple[str, int], ...] = getattr(item, "worth", ())
    return terms


def _worth(item: Item) -> str:
    terms = ", ".join(f"{name} {value:,}" for name, value in worth_terms(item))
    return f"; worth: {terms}" if terms else ""


def explain_chain(graph: CallGraph, item: Item, items: Mapping[str, Item]) -> str:
    """The chain of edges that brought an item, on one line."""
    return write_chain(find_chain(graph, item, items))


def write_chain(steps: Iterable[Step]) -> str:
    """`app.views:show → app.services:load (certain, import) → app.models:User.save (certain, receiver-exact)`."""
    return "".join(_write_steps(steps))


def _write_steps(steps: Iterable[Step]) -> Iterator[str]:
    for step in steps:
        if step.edge is None:
            yield step.symbol
        else:
            arrow = "←" if step.is_back else "→"
            yield f" {arrow} {step.symbol} ({step.edge.certainty}, {step.edge.rule})"


def find_chain(graph: CallGraph, item: Item, items: Mapping[str, Item]) -> tuple[Step, ...]:
    """The steps from a seed to the item, both included. `items`: all of them, by symbol."""
    steps: list[Step] = []
    at: Item | None = item
    while at is not None:
        edge = at.via
        if edge is None:
            steps.append(Step(at.symbol, None))
            break
        is_back = leads_back(graph, at.symbol, at.direction, edge)
        steps.append(Step(at.symbol, edge, is_back))
        end = edge.callee if is_back else edge.caller
        before = _item_holding(graph, end, 0 if is_back else edge.line, items, at.hop)
        if before is None:
            steps.append(Step(end, None))
        at = before
    return tuple(reversed(steps))


def leads_back(graph: CallGraph, symbol: str, direction: Direction, edge: Edge) -> bool:
    """Whether an edge that brought a symbol leads from that symbol towards the target."""
    if direction is Direction.USES or edge.callee == symbol:
        return False
    return not (edge.kind is EdgeKind.CONSTRUCT and graph.symbol(edge.callee).parent == symbol)


def _item_holding(graph: CallGraph, end: str, line: int, items: Mapping[str, Item], hop: int) -> Item | None:
    """The item whose text holds the nearer end of an edge: itself, one around it, or a variable whose statement is on
    the edge's line (0: no line is meant). Only a lower hop counts, so a chain always ends."""
    for child in () if end in items else graph.children(end):
        held = items.get(child.id)
        if held is not None and held.hop < hop and child.line <= line <= child.end_line:
            return held
    symbol: str | None = end
    while symbol is not None:
        held = items.get(symbol)
        if held is not None and held.hop < hop:
            return held
        symbol = graph.symbol(symbol).parent
    return None
