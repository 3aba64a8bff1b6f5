"""Chains of edges beyond what a context shows. In: a graph, seeds, goals. Out: a shortest chain, or what is reached.

Where `show` calls `load`, and `load` calls `User.save`, `find_route(graph, ["app.views:show"],
["app.models:User.save"])` gives those two edges as its chain. What a symbol uses is what
`slice` says it uses, to any number of hops.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Edge
from contextc.passes.evidence import SURE, chance_of, chance_of_both
from contextc.passes.explanation import Step
from contextc.passes.slice import brought_by, uses_of


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
    before: dict[str, tuple[str, Edge] | None] = dict.fromkeys(seeds)
    wanted = frozenset(goals)
    found = [seed for seed in before if seed in wanted]
    layer = list(before)
    is_first = True
    while layer and not found:
        best: dict[str, tuple[str, Edge]] = {}
        for name in layer:
            for edge in uses_of(graph, graph.symbol(name), is_first):
                for callee in brought_by(graph, edge):
                    if callee not in before and (callee not in best or _order(edge) < _order(best[callee][1])):
                        best[callee] = (name, edge)
        layer = sorted(best)
        before.update(best)
        found = [name for name in layer if name in wanted]
        is_first = False
    return Route(_trace_back(before, found[0]) if found else (), tuple(before))


def _order(edge: Edge) -> tuple[object, ...]:
    return (edge.certainty.rank, not edge.kind.is_call, edge.path, edge.line, edge.caller, edge.kind.value)


def _trace_back(before: dict[str, tuple[str, Edge] | None], goal: str) -> tuple[Step, ...]:
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
