"""Pass 1: which symbols belong to the context. In: a graph and seeds. Out: candidates, each with its hop.

Strict breadth-first over symbols, along what a symbol uses. For `def show(): user.save()` the seed `app:show` gives
`Candidate("app:show", 0, None)` and `Candidate("app:User.save", 1, edge)`.

What a symbol uses is what its shown text uses:
- a function's text holds the functions, classes and lambdas inside it, so their edges count as its own;
- a class's text is its body without the methods: those count once something reaches them;
- a variable's text is its statement, whose edges lie with the module or class around it, on its lines;
- a module's own code counts for a seed only: using one name of a module is not using all its statements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Edge, EdgeKind, Rule
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate, Direction
from contextc.model.symbol import Symbol
from contextc.passes.evidence import SURE, chance_of, chance_of_both
from contextc.passes.profile import DEFAULT_PROFILE, FOLLOWED, Profile

_FROM_SEEDS_ONLY = frozenset({EdgeKind.IMPORTS, EdgeKind.OVERRIDES})
# Rules that list what a name of known shape can mean: it means one of them. Of two the half is right, of fifty little;
# what was measured over all such edges says nothing of one site.
_ENUMERATING = frozenset({Rule.GETATTR_PATTERN, Rule.IMPORT_PATTERN})
_STATEMENTS = frozenset({SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE})
_IN_CLASS_BODY = frozenset({SymbolKind.ATTRIBUTE, SymbolKind.LAMBDA})


def slice_context(
    graph: CallGraph, seeds: Sequence[str], max_hops: int, profile: Profile = DEFAULT_PROFILE
) -> tuple[Candidate, ...]:
    """Seeds at hop 0, then what is reached up to `max_hops` along the edges that the profile follows, by (hop, path,
    source order). Each symbol once, at its lowest hop, with the best edge that brought it there: calls before
    relations, certain before possible, then by place. Its chance is that of the likeliest chain, by whatever edge: the
    measured chances multiplied."""
    reached = {seed: Candidate(seed, 0, None) for seed in seeds}
    layer = _in_order(graph, reached)
    found = [reached[symbol.id] for symbol in layer]
    for hop in range(1, max_hops + 1):
        best: dict[str, Edge] = {}
        chances: dict[str, int] = {}
        worst = profile.certainty_at(hop).rank
        for symbol in layer:
            edges = list(uses_of(graph, symbol, hop == 1, profile.followed))
            sizes = Counter(_site(edge) for edge in edges if edge.rule in _ENUMERATING)
            for edge in edges:
                if edge.certainty.rank > worst:
                    continue
                real = max(chance_of(edge), SURE // sizes[_site(edge)] if edge.rule in _ENUMERATING else 0)
                chance = chance_of_both(reached[symbol.id].chance, real)
                for callee in brought_by(graph, edge):
                    if callee in reached:
                        continue
                    chances[callee] = max(chance, chances.get(callee, 0))
                    if callee not in best or _rank(edge) < _rank(best[callee]):
                        best[callee] = edge
        layer = _in_order(graph, best)
        for symbol in layer:
            edge = best[symbol.id]
            direction = Direction.OVERRIDDEN if edge.kind is EdgeKind.OVERRIDES else Direction.USES
            reached[symbol.id] = Candidate(symbol.id, hop, edge, chances[symbol.id], direction)
            found.append(reached[symbol.id])
    return tuple(found)


def _site(edge: Edge) -> tuple[object, ...]:
    return (edge.caller, edge.path, edge.line, edge.site, edge.kind, edge.rule)


def uses_of(
    graph: CallGraph, symbol: Symbol, is_seed: bool, followed: frozenset[EdgeKind] = FOLLOWED
) -> Iterator[Edge]:
    """The edges that leave the text a symbol stands for, the followed kinds only. What a module imports and what a
    method overrides counts for seeds only."""
    kinds: Collection[EdgeKind] = followed if is_seed else followed - _FROM_SEEDS_ONLY
    for owner in text_owners(graph, symbol, is_seed):
        yield from graph.edges_from(owner.id, kinds)
    if symbol.kind in _STATEMENTS and symbol.parent is not None:
        for edge in graph.edges_from(symbol.parent, kinds):
            if symbol.line <= edge.line <= symbol.end_line:
                yield edge


def text_owners(graph: CallGraph, symbol: Symbol, is_seed: bool) -> Iterator[Symbol]:
    """The symbols whose own code lies in the text that `symbol` stands for."""
    if symbol.kind is SymbolKind.MODULE and not is_seed:
        return
    yield symbol
    if symbol.kind is SymbolKind.CLASS:
        yield from (child for child in graph.children(symbol.id) if child.kind in _IN_CLASS_BODY)
    elif symbol.kind is not SymbolKind.MODULE:
        yield from graph.descendants(symbol.id)


def brought_by(graph: CallGraph, edge: Edge) -> Iterator[str]:
    """The symbols an edge brings in: its target and, for a constructor, the class."""
    callee = graph.symbol(edge.callee)
    if edge.kind is EdgeKind.CONSTRUCT and callee.kind is SymbolKind.METHOD and callee.parent is not None:
        yield callee.parent
    yield callee.id


def _rank(edge: Edge) -> tuple[object, ...]:
    is_relation = not edge.kind.is_call
    is_import = edge.kind is EdgeKind.IMPORTS  # says the least about why a thing is needed
    return (is_import, is_relation, edge.certainty.rank, edge.path, edge.line, edge.caller, edge.kind.value)


def _in_order(graph: CallGraph, ids: Iterable[str]) -> list[Symbol]:
    return sorted((graph.symbol(i) for i in ids), key=source_order)


def source_order(symbol: Symbol) -> tuple[str, int, bool, str]:
    """Sort key: by path, then as it stands in the file, a parent before what is in it."""
    return (symbol.path, symbol.span.start, symbol.parent is not None, symbol.id)
