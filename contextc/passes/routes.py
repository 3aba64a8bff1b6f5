"""Chains of edges, also beyond what a context shows. In: a graph, seeds, goals. Out: a shortest one,
or what is reached.

Where `show` calls `load`, and `load` calls `User.save`, `find_route(graph, ["app.views:show"],
["app.models:User.save"])` gives those two edges as its chain. What a symbol uses is what `slice` says it uses, to any
number of hops.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Edge
from contextc.passes.evidence import SURE, chance_of, chance_of_both
from contextc.passes.slice import brought_by, uses_of

Before = Mapping[str, "tuple[str, Edge] | None"]  # by symbol: from which one it was reached, by which edge


class Step(NamedTuple):
    """One symbol of a chain and the edge that brought it; None for the first. `is_back`: the edge leads from this
    symbol to the one before."""

    symbol: str
    edge: Edge | None
    is_back: bool = False


class Route(NamedTuple):
    """`steps` is a shortest chain from a seed to a goal, the most certain of those where a choice is at its last edge;
    empty where there is none. `reached`: every symbol that was found on the way."""

    steps: tuple[Step, ...]
    reached: tuple[str, ...]

    @property
    def chance(self) -> int:
        """The chance, in millionths, that every edge of the chain is real."""
        chance = SURE
        for step in self.steps:
            chance = chance if step.edge is None else chance_of_both(chance, chance_of(step.edge))
        return chance


def find_route(graph: CallGraph, seeds: Sequence[str], goals: Collection[str]) -> Route:
    """Breadth first, so that no chain is shorter; with every edge that any profile could follow."""
    before = explore(graph, seeds, goals)
    found = next((goal for goal in sorted(goals) if goal in before), None)
    return Route(trace_back(before, found) if found is not None else (), tuple(before))


def explore(graph: CallGraph, seeds: Sequence[str], goals: Collection[str] = (), hops: int | None = None) -> Before:
    """What is reached from the seeds until a goal is, or within so many hops; without either, all that is reached."""
    before: dict[str, tuple[str, Edge] | None] = dict.fromkeys(seeds)
    wanted = frozenset(goals)
    layer = list(before)
    hop = 0
    while layer and wanted.isdisjoint(layer) and (hops is None or hop < hops):
        best: dict[str, tuple[str, Edge]] = {}
        for name in layer:
            for edge in uses_of(graph, graph.symbol(name), hop == 0):
                for callee in brought_by(graph, edge):
                    if callee not in before and (callee not in best or _order(edge) < _order(best[callee][1])):
                        best[callee] = (name, edge)
        layer = sorted(best)
        before.update(best)
        hop += 1
    return before


def _order(edge: Edge) -> tuple[object, ...]:
    return (edge.certainty.rank, not edge.kind.is_call, edge.path, edge.line, edge.caller, edge.kind.value)


def trace_back(before: Before, goal: str) -> tuple[Step, ...]:
    """The chain that reached a symbol."""
    steps: list[Step] = []
    name = goal
    while (link := before[name]) is not None:
        steps.append(Step(name, link[1]))
        name = link[0]
    steps.append(Step(name, None))
    return tuple(reversed(steps))


def turn_round(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same chain told from its end, its edges as they were."""
    turned = [Step(steps[-1].symbol, None)]
    for step, before in zip(reversed(steps), reversed(steps[:-1]), strict=False):
        turned.append(Step(before.symbol, step.edge, is_back=True))
    return tuple(turned)


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
