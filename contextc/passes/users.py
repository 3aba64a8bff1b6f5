"""Pass 1, the other way: who uses the target. In: a graph and seeds. Out: candidates that point at them.

Where `def show(): user.save()` is the only call of the seed `app.models:User.save`, its one caller is
`Candidate("app.views:show", 1, edge, …, Direction.USED_BY)`, with `lines_of` giving the line of that call.

A caller is the function, class or module whose own code holds the call. Calling a class is calling its constructor;
what calls a closure of the target, or a member of a class that is the target, calls the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import CALL_KINDS, Edge, EdgeKind
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate, Direction
from contextc.model.symbol import Symbol
from contextc.passes.evidence import SURE, chance_of, chance_of_both
from contextc.passes.profile import Profile
from contextc.passes.slice import source_order

_HOPS_TO_TESTS = 3
_OVERRIDES = frozenset({EdgeKind.OVERRIDES})
_DECORATORS = frozenset({EdgeKind.DECORATOR, EdgeKind.CONSTRUCT})
_INHERITS = frozenset({EdgeKind.INHERITS})
_FUNCTIONS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_OVERRIDING = 140_000  # millionths: that an override runs where the method is called at an open site
_WRAPPED = 900_000  # millionths: that a wrapper with an unresolved call calls what it was put around
_BASES = 20  # classes looked through for a `__call__`


def find_users(graph: CallGraph, seeds: Sequence[str], profile: Profile, hops: int) -> tuple[Candidate, ...]:
    """Callers over up to `hops` calls, by (hop, path, source order); each at its lowest hop, by its likeliest edge.
    Test code is left to `find_tests`, unless a seed is test code itself."""
    inside = _inside(graph, seeds)
    from_tests = any(graph.symbol(seed).is_test for seed in seeds)
    found: list[Candidate] = []
    chances = dict.fromkeys(inside, SURE)
    layer: Iterable[str] = inside
    for hop in range(1, hops + 1):
        best: dict[str, Candidate] = {}
        worst = profile.certainty_at(hop).rank
        for callee in layer:
            for edge in graph.edges_to(callee, CALL_KINDS):
                caller = _holder(graph, edge.caller)
                if caller.id in chances or edge.certainty.rank > worst or (caller.is_test and not from_tests):
                    continue
                chance = chance_of_both(chances[callee], chance_of(edge))
                old = best.get(caller.id)
                if old is None or (-chance, _place(edge)) < (-old.chance, _place(old.via)):
                    best[caller.id] = Candidate(caller.id, hop, edge, chance, Direction.USED_BY)
        layer = sorted(best, key=lambda name: source_order(graph.symbol(name)))
        found += [best[name] for name in layer]
        chances.update((name, best[name].chance) for name in layer)
    return tuple(found)


def find_first_run(graph: CallGraph, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """What runs first where the seeds call a decorated function: what its decorator put in its place."""
    known = {c.symbol for c in candidates if c.hop < 2}
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        edge = candidate.via
        if candidate.hop == 1 and edge is not None and edge.kind.is_call:
            for wrapper, decoration in _iterate_wrappers(graph, graph.symbol(candidate.symbol)):
                if wrapper.id not in known:
                    chance = chance_of_both(candidate.chance, _WRAPPED)
                    found.setdefault(wrapper.id, Candidate(wrapper.id, 1, decoration, chance))
    return tuple(found[name] for name in sorted(found, key=lambda name: source_order(graph.symbol(name))))


def find_wrappers(graph: CallGraph, seeds: Sequence[str]) -> tuple[Candidate, ...]:
    """What a decorator of a seed puts in its place, which calls it: the `__call__` of a decorator class, the functions
    that a decorator function makes. Where many functions are decorated so, what such a wrapper holds is widened and has
    no edge to each; that it runs in front is sure all the same, that it calls the seed nearly."""
    found: dict[str, Candidate] = {}
    for seed in map(graph.symbol, seeds):
        for wrapper, edge in _iterate_wrappers(graph, seed):
            if _is_open(graph, wrapper):
                found.setdefault(wrapper.id, Candidate(wrapper.id, 1, edge, _WRAPPED, Direction.USED_BY))
    return tuple(found[name] for name in sorted(found, key=lambda name: source_order(graph.symbol(name))))


def _iterate_wrappers(graph: CallGraph, function: Symbol) -> Iterator[tuple[Symbol, Edge]]:
    """What the decorators of a function can leave in its place, each with the edge of the decoration."""
    if function.kind not in _FUNCTIONS or function.parent is None:
        return
    for edge in graph.edges_from(function.parent, _DECORATORS):
        is_there = edge.path == function.path and function.line <= edge.line <= function.end_line
        if is_there and edge.site is None:  # what is written there is called before it decorates
            yield from ((wrapper, edge) for wrapper in _wrappers_of(graph, graph.symbol(edge.callee)))


def _wrappers_of(graph: CallGraph, decorator: Symbol) -> list[Symbol]:
    """The functions that a decorator can leave in place of what it decorates."""
    if decorator.kind is SymbolKind.FUNCTION:
        return [inner for inner in graph.children(decorator.id) if inner.kind in _FUNCTIONS]
    waiting = [decorator.id if decorator.kind is SymbolKind.CLASS else decorator.parent or decorator.id]
    for cls in waiting:  # bases are added in order
        members = [member for member in graph.children(cls) if member.qualname.endswith(".__call__")]
        if members or len(waiting) > _BASES:
            return members
        waiting += [edge.callee for edge in graph.edges_from(cls, _INHERITS) if edge.callee not in waiting]
    return []


def _is_open(graph: CallGraph, wrapper: Symbol) -> bool:
    """Whether there is a call in it that is not fully resolved."""
    return any(site.site is not None for site in graph.unresolved_in(wrapper.id))


def find_alternatives(
    graph: CallGraph, seeds: Sequence[str], candidates: Sequence[Candidate]
) -> tuple[Candidate, ...]:
    """What may run where the seeds call a method at a site that is not fully resolved: the methods that override it.
    Of 101 such in the contexts of 420 recorded functions 14 did."""
    inside = set(_inside(graph, seeds))
    known = inside.union(c.symbol for c in candidates)
    found: dict[str, Candidate] = {}
    for candidate in candidates:
        is_used = candidate.hop == 1 and candidate.direction is Direction.USES
        if not is_used or not _is_called_openly(graph, candidate, inside):
            continue
        layer = [candidate.symbol]
        for below in layer:  # overriders are added in order
            for edge in graph.edges_to(below, _OVERRIDES):
                if edge.caller not in known and edge.caller not in found:
                    chance = chance_of_both(candidate.chance, _OVERRIDING)
                    found[edge.caller] = Candidate(edge.caller, 1, edge, chance)
                    layer.append(edge.caller)
    return tuple(found[name] for name in sorted(found, key=lambda name: source_order(graph.symbol(name))))


def _is_called_openly(graph: CallGraph, candidate: Candidate, inside: set[str]) -> bool:
    """Whether it is called at a site that is not fully resolved, or beside one that calls a method of that name on a
    receiver of which nothing is known: what a method hands on to parts of its own kind."""
    name = f".{candidate.symbol.rpartition('.')[2]}"
    edges = [edge for edge in graph.edges_to(candidate.symbol, CALL_KINDS) if edge.caller in inside]
    return any(
        (site.line, site.site) == (edge.line, edge.site) or (site.detail or "").endswith(name)
        for edge in edges
        for site in graph.unresolved_in(edge.caller)
    )


def find_overriders(graph: CallGraph, seeds: Sequence[str]) -> tuple[Candidate, ...]:
    """The methods that override a seed, in source order."""
    inside = set(_inside(graph, seeds))
    edges = {edge.caller: edge for seed in seeds for edge in graph.edges_to(seed, _OVERRIDES)}
    names = sorted(edges.keys() - inside, key=lambda name: source_order(graph.symbol(name)))
    return tuple(Candidate(name, 1, edges[name], SURE, Direction.OVERRIDDEN) for name in names)


def find_tests(graph: CallGraph, seeds: Sequence[str]) -> tuple[Candidate, ...]:
    """Test functions whose calls lead to a seed, over code that is no test's, nearest and likeliest first."""
    reached = dict.fromkeys(_inside(graph, seeds), SURE)
    tests: dict[str, Candidate] = {}
    layer: list[str] = list(reached)
    for hop in range(1, _HOPS_TO_TESTS + 1):
        following: list[str] = []
        for callee in layer:
            for edge in graph.edges_to(callee, CALL_KINDS):
                caller = _holder(graph, edge.caller)
                chance = chance_of_both(reached[callee], chance_of(edge))
                if caller.id in reached or caller.id in tests:
                    continue
                if _is_test_function(caller):
                    tests[caller.id] = Candidate(caller.id, hop, edge, chance, Direction.TESTS)
                else:
                    reached[caller.id] = chance
                    following.append(caller.id)
        layer = following
    return tuple(sorted(tests.values(), key=lambda c: (c.hop, -c.chance, source_order(graph.symbol(c.symbol)))))


def lines_of(graph: CallGraph, candidate: Candidate, seeds: Sequence[str]) -> tuple[int, ...]:
    """The lines of a direct caller at which it calls a seed; of a more distant one, that of the call that led to it."""
    goals = set(_inside(graph, seeds))
    symbol = graph.symbol(candidate.symbol)
    inner = [s for s in graph.descendants(symbol.id) if symbol.kind in _FUNCTIONS or s.kind is SymbolKind.LAMBDA]
    owners = [symbol.id, *(s.id for s in inner)]
    edges = [e for owner in owners for e in graph.edges_from(owner, CALL_KINDS) if e.callee in goals]
    via = candidate.via
    is_own = via is not None and via.caller == candidate.symbol
    return tuple(sorted({edge.line for edge in edges} or ({via.line} if via is not None and is_own else ())))


def _inside(graph: CallGraph, seeds: Sequence[str]) -> list[str]:
    """The seeds and what is defined in them. A module's own code calls; it is not called."""
    names: dict[str, None] = {}
    for seed in seeds:
        names[seed] = None
        names.update((symbol.id, None) for symbol in graph.descendants(seed))
    return list(names)


def _holder(graph: CallGraph, caller: str) -> Symbol:
    """What is shown for a call: the function around a lambda, or the variable or class it belongs to."""
    symbol = graph.symbol(caller)
    while symbol.kind is SymbolKind.LAMBDA and symbol.parent is not None:
        symbol = graph.symbol(symbol.parent)
    return symbol


def _is_test_function(symbol: Symbol) -> bool:
    return symbol.is_test and symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)


def _place(edge: Edge | None) -> tuple[str, int, str]:
    return (edge.path, edge.line, edge.callee) if edge is not None else ("", 0, "")
