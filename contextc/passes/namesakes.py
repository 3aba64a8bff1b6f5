"""What an unresolved call may mean by its name alone: the one method of the repository that has it, or the few.

In: a graph and seeds. Out: candidates at hop 1. Where `box.seal()` in the target is not resolved and `Crate.seal` is
the only method of that name, it comes with a small chance, by an edge of the rule `bare-name` that no graph holds. The
site stays unresolved, and the text says which symbols are there for their name alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Certainty, Edge, EdgeKind, Rule, Unresolved
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate
from contextc.model.symbol import Symbol
from contextc.passes.profile import Profile
from contextc.passes.slice import source_order, text_owners

# Millionths, by how many methods have the name, for each of them. In the contexts of 417 recorded functions one of them
# was run of: 74 names that one method has, 33 times; 39 that two have, 12; 17 that three have, 5; 58 that four to six
# have, 18.
CHANCES = {1: 450_000, 2: 150_000, 3: 100_000, 4: 80_000, 5: 50_000, 6: 50_000}
_MANY = 30_000
# methods of built-in objects and files: of 33 such names one was run
_BUILTIN = frozenset(name for kind in (str, bytes, int, list, tuple, dict, set) for name in dir(kind)).union(
    ("close", "flush", "read", "readline", "seek", "write")
)
_HOP = 1


def find_namesakes(
    graph: CallGraph, seeds: Sequence[str], known: Iterable[str], profile: Profile
) -> tuple[Candidate, ...]:
    """The candidates, in source order; none that is `known` already."""
    takes_guesses = profile.certainty_at(_HOP) is Certainty.POSSIBLE and EdgeKind.CALL in profile.followed
    most = profile.namesakes if takes_guesses else 0
    if graph.analysis.resolver != "typed" or not most:
        return ()
    sites: dict[str, Unresolved] = {}
    for seed in seeds:
        for owner in text_owners(graph, graph.symbol(seed), True):
            for site in graph.unresolved_in(owner.id):
                dotted, _, name = (site.detail or "").rpartition(".")
                if site.site is not None and dotted and name not in _BUILTIN:
                    sites.setdefault(name, site)
    if not sites:
        return ()
    from_tests = any(graph.symbol(seed).is_test for seed in seeds)
    methods = _methods_named(graph, sites)
    inside = set(known)
    found = []
    for name, site in sites.items():
        namesakes = [method for method in methods.get(name, ()) if from_tests or not method.is_test]
        chance = CHANCES.get(len(namesakes), _MANY)
        for method in namesakes if len(namesakes) <= most else ():
            if method.id not in inside:
                edge = Edge(
                    site.caller, method.id, site.path, site.line, site.site, EdgeKind.CALL, Certainty.POSSIBLE,
                    Rule.BARE_NAME,
                )  # fmt: skip
                found.append(Candidate(method.id, _HOP, edge, chance))
    return tuple(sorted(found, key=lambda candidate: source_order(graph.symbol(candidate.symbol))))


def _methods_named(graph: CallGraph, names: Container[str]) -> dict[str, list[Symbol]]:
    found: dict[str, list[Symbol]] = {}
    for symbol in graph.symbols:
        if symbol.kind is SymbolKind.METHOD and not symbol.is_overload:
            name = symbol.qualname.rpartition(".")[2]
            if name in names:
                found.setdefault(name, []).append(symbol)
    return found
