"""The passes in order. In: a graph, the files' texts, a target. Out: a `Compilation`.

`compile_slice(Inputs(graph, texts, DEFAULT_PROFILE, load_tokenizer()), "app/views.py").context.text` is the context to
hand over. `compile_by_name` does the same at file level from bare names, `compare_target` sets both side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import Target, find_target
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate, Direction, Form
from contextc.passes.budget import allow, fit
from contextc.passes.compilation import Compilation, Inputs, Renderer, read_source, read_sources
from contextc.passes.forms import Source
from contextc.passes.imports import used_imports
from contextc.passes.namesakes import find_namesakes
from contextc.passes.plan import Planner
from contextc.passes.profile import Profile
from contextc.passes.seeds.summary import summarise_seeds
from contextc.passes.seeds.values import Seeds
from contextc.passes.slice import slice_context
from contextc.passes.users import (
    find_alternatives,
    find_first_run,
    find_overriders,
    find_tests,
    find_users,
    find_wrappers,
    lines_of,
)


def compile_slice(inputs: Inputs, target: str | Target | Seeds, max_hops: int | None = None) -> Compilation:
    """Slice, plan, assemble. Raises TargetNotFound, and BudgetTooSmall where the target alone takes more. Seeds of a
    rank above 0 are shown trimmed to the lines for whose sake they are seeds."""
    graph, profile = inputs.graph, inputs.profile
    seeds = target if isinstance(target, Seeds) else None
    plain = target.target if isinstance(target, Seeds) else target
    found = find_target(graph, plain) if isinstance(plain, str) else plain
    last = profile.max_hops if max_hops is None else max_hops
    candidates = find_candidates(graph, found.symbols, profile, last)
    sources = read_sources(inputs, [c.symbol for c in candidates])
    if not profile.exceptions:
        candidates = tuple(c for c in candidates if c.hop == 0 or not is_raised(c, sources))
    planner = Planner(graph, sources, profile, inputs.tokenizer, last)
    callers = [c for c in candidates if c.direction is Direction.USED_BY]
    lines = {c.symbol: lines_of(graph, c, found.symbols) for c in callers}
    lines |= lines_that_lead_on(graph, candidates, profile)
    draft = planner.draft(candidates, lines | trimmed_seeds(graph, seeds))
    imports = used_imports(graph, found, sources) if found.kind != "file" else {}
    summary = summarise_seeds(seeds, lambda path: read_source(inputs, path), inputs.mask) if seeds else None
    render = Renderer(inputs, found, sources, imports, summary)
    return fit(render, planner, draft, allow(inputs, draft, sources))


def lines_that_lead_on(
    graph: CallGraph, candidates: Sequence[Candidate], profile: Profile
) -> dict[str, tuple[int, ...]]:
    """By function that the profile shows trimmed, the lines of its code whose edges lead to other candidates. A class
    is shown by the members that are candidates themselves."""
    names = {candidate.symbol for candidate in candidates}
    found: dict[str, tuple[int, ...]] = {}
    for candidate in candidates:
        is_used = candidate.hop > 0 and candidate.direction is Direction.USES
        is_used = is_used and graph.symbol(candidate.symbol).kind in (SymbolKind.FUNCTION, SymbolKind.METHOD)
        if is_used and profile.form_at(candidate.hop) is Form.TRIMMED:
            owners = [candidate.symbol, *(symbol.id for symbol in graph.descendants(candidate.symbol))]
            edges = [edge for owner in owners for edge in graph.edges_from(owner, profile.followed)]
            found[candidate.symbol] = tuple(sorted({edge.line for edge in edges if edge.callee in names}))
    return found


def trimmed_seeds(graph: CallGraph, seeds: Seeds | None) -> dict[str, tuple[int, ...]]:
    """The functions among the seeds that are not the matter itself, each with the lines it is shown for."""
    if seeds is None:
        return {}
    kinds = (SymbolKind.FUNCTION, SymbolKind.METHOD)
    return {
        symbol: lines
        for symbol, lines in seeds.lines.items()
        if seeds.ranks[symbol] and graph.symbol(symbol).kind in kinds
    }


def find_candidates(
    graph: CallGraph, seeds: Sequence[str], profile: Profile, last: int
) -> tuple[Candidate, ...]:
    """All that stands to the target in one of the directions of the profile, each symbol once: what it uses, with one
    hop more than is shown so that what is left out is counted, who uses it, what overrides it, tests."""
    found = {c.symbol: c for c in slice_context(graph, seeds, last + 1, profile)}
    uses = tuple(found.values())
    alternatives = (*find_alternatives(graph, seeds, uses), *find_first_run(graph, uses))
    namesakes = find_namesakes(graph, seeds, [c.symbol for c in uses if c.hop <= last], profile)
    users = find_users(graph, seeds, profile, len(profile.callers))
    wrappers = find_wrappers(graph, seeds) if profile.callers else ()
    overriders = find_overriders(graph, seeds) if profile.overrides is not None else ()
    tests = find_tests(graph, seeds) if profile.reaching_tests else ()
    for candidate in (*alternatives, *namesakes, *users, *wrappers, *overriders, *tests):
        known = found.get(candidate.symbol)
        if known is None or known.hop > candidate.hop:
            found[candidate.symbol] = candidate
    return tuple(found.values())


def is_raised(candidate: Candidate, sources: Mapping[str, Source]) -> bool:
    """Whether a `raise` brought it in: the line of its edge begins with one."""
    edge = candidate.via
    source = sources.get(edge.path) if edge is not None else None
    return edge is not None and source is not None and source.line(edge.line).split()[:1] == ["raise"]
