"""From recorded outcomes to symbols, edges and unresolved sites (stratum 4's result as plain values).

In: a solved program. Out: `Symbol`s of the repository, `Edge`s with certainty and rule, `Unresolved` sites, imports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contextc.analyzer.frameworks.signals import iter_signal_edges
from contextc.analyzer.inference.classes import has_decorator
from contextc.analyzer.inference.distance import Sightings
from contextc.analyzer.inference.fitness import Fitness
from contextc.analyzer.inference.fixpoint import NO_WORK, UNIT_KINDS, Solver, Work
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.analyzer.inference.recorder import Outcome, Recorder
from contextc.analyzer.inference.relations import iter_relations
from contextc.analyzer.inference.revealing import Revealed, iter_revealed
from contextc.analyzer.inference.width import Width, find_mixed
from contextc.model.diagnostic import Note
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule, Site, Unresolved
from contextc.model.symbol import Import, Symbol

_OVERLOAD = frozenset({"overload"})


class Resolved(NamedTuple):
    """What inference says of a repository."""

    symbols: tuple[Symbol, ...]
    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]
    imports: tuple[Import, ...]
    call_sites: int
    revealed: tuple[Revealed, ...] = ()
    work: Work = NO_WORK
    notes: tuple[Note, ...] = ()  # what was assumed


def describe_program(solver: Solver) -> Resolved:
    """The symbols alone: nothing is solved, there are no edges."""
    definitions = [d for m in solver.kernel.program.repository for d in m.definitions]
    symbols = tuple(sorted((_symbol(solver, d) for d in definitions), key=lambda s: (s.path, s.span.start, s.id)))
    return Resolved(symbols, (), (), (), sum(d.facts.call_sites for d in definitions))


def resolve_program(solver: Solver) -> Resolved:
    """Solves and writes everything down, sorted."""
    described = describe_program(solver)
    recorder = solver.solve()
    sightings = Sightings(solver.kernel, recorder)
    relations = list(iter_relations(solver, recorder))
    named = (r.callee for r in relations if isinstance(r, Edge) and r.rule is Rule.ANNOTATION)
    width = Width(solver.kernel, frozenset(named))
    fitness = Fitness(solver.kernel)
    edges: set[Edge] = set()
    unresolved: set[Unresolved] = set()
    for (unit, at), outcome in recorder.calls.items():
        definition = solver.kernel.definition(unit)
        outcome.wide = width.find_wide(definition, at, outcome) | sightings.find_distant(definition, outcome)
        outcome.wide |= sightings.find_gathered(definition, at, outcome)
        outcome.unfit = fitness.find_unfit(definition, at, outcome)
        edges.update(_edges(solver, definition, at, outcome, explicit=True))
        unresolved.update(_open_site(definition, at, outcome))
    for (unit, at, operation), outcome in recorder.implicit.items():
        outcome.others += (unit, at) in recorder.plain or recorder.has_alternative(unit, at, operation)
        definition = solver.kernel.definition(unit)
        outcome.wide = sightings.find_distant(definition, outcome) | find_mixed(solver.kernel, outcome)
        edges.update(_edges(solver, definition, at, outcome, explicit=False))
    unresolved.update(_iter_unknown(solver, recorder))
    for module in solver.kernel.program.repository:
        unresolved.update(_damaged_lines(module))
    edges.update(iter_signal_edges(solver))
    imports: set[Import] = set()
    for relation in relations:
        if isinstance(relation, Import):
            imports.add(relation)
        else:
            edges.add(relation)
    return described._replace(
        edges=tuple(sorted({_weaken(solver, edge) for edge in edges}, key=_edge_key)),
        unresolved=tuple(sorted(unresolved, key=_unresolved_key)),
        imports=tuple(sorted(imports, key=lambda i: (i.importer, i.line, i.name, i.target or ""))),
        revealed=tuple(sorted(iter_revealed(solver, recorder))),
        work=solver.work,
        notes=tuple(_describe_roots(solver)),
    )


def _describe_roots(solver: Solver) -> Iterator[Note]:
    for root, names in solver.kernel.program.assumed_roots().items():
        shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        yield Note(f"{root}/", f"taken for a source root: nothing else answers the import of {shown}")


def _weaken(solver: Solver, edge: Edge) -> Edge:
    """What an assumption about the source roots leads to is not certain."""
    program = solver.kernel.program
    if edge.certainty is not Certainty.CERTAIN or not program.assumed_roots():
        return edge
    one, other = (solver.kernel.definition(symbol).module for symbol in (edge.caller, edge.callee))
    return edge._replace(certainty=Certainty.LIKELY) if program.crosses_assumed(one, other) else edge


def _unresolved_key(item: Unresolved) -> tuple[object, ...]:
    return (item.path, item.line, item.site or (0, 0, 0, 0), item.caller, item.reason.value, item.detail)


def _edge_key(edge: Edge) -> tuple[object, ...]:
    return (
        edge.path, edge.line, edge.site or (0, 0, 0, 0), edge.caller, edge.callee, edge.kind.value,
        edge.certainty.value, edge.rule.value,
    )  # fmt: skip


def _symbol(solver: Solver, definition: Definition) -> Symbol:
    facts = definition.facts
    module = definition.module
    start = module.position(facts.span.start)
    end = module.position(max(facts.span.start, facts.span.end - 1))
    name = facts.name
    return Symbol(
        definition.id,
        module.path,
        facts.qualname,
        facts.kind,
        start.line,
        start.col,
        end.line,
        definition.parent.id if definition.parent is not None else None,
        facts.span,
        facts.header,
        facts.docstring,
        facts.body_start,
        not name.startswith("_") or (name.startswith("__") and name.endswith("__")),
        has_decorator(solver.kernel.statics, definition, _OVERLOAD),
        is_test_path(module.path),
    )


def is_test_path(path: str) -> bool:
    """Whether a file is a test by pytest's default patterns or its folder's name."""
    *folders, name = path.split("/")
    if any(f in ("tests", "test", "testing_tests") for f in folders):
        return True
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def site_of(definition: Definition, at: int) -> Site:
    """Line and column span of a node."""
    span = definition.span(at)
    start = definition.module.position(span.start)
    end = definition.module.position(span.end)
    return (start.line, start.col, end.line, end.col)


def caller_of(definition: Definition) -> Definition:
    """The symbol that a unit's calls are attributed to: itself."""
    return definition if definition.kind in UNIT_KINDS else definition.scope()


def _edges(
    solver: Solver, unit: Definition, at: int, outcome: Outcome, *, explicit: bool
) -> Iterator[Edge]:
    site = site_of(unit, at)
    caller = caller_of(unit)
    for target in outcome.distinct_targets():
        callee = solver.kernel.definition(target.callee)
        if not callee.module.in_repository:
            continue
        kind = target.kind
        certainty = outcome.certainty(target)
        if kind is EdgeKind.CALL and certainty is not Certainty.POSSIBLE and _is_override(solver, outcome, callee):
            kind = EdgeKind.DISPATCH
        yield Edge(
            caller.id, callee.id, unit.module.path, site[0], site if explicit else None, kind, certainty, target.rule
        )
    for target in outcome.registered:
        certainty = Certainty.POSSIBLE if target.possible else Certainty.CERTAIN
        yield Edge(
            caller.id, target.callee, unit.module.path, site[0], site if explicit else None,
            EdgeKind.REGISTRATION, certainty, target.rule,
        )  # fmt: skip


def _is_override(solver: Solver, outcome: Outcome, callee: Definition) -> bool:
    """Whether another target of the site is the method that this one overrides."""
    owner = callee.enclosing_class()
    if owner is None or len(outcome.targets) == 1:
        return False
    above = solver.kernel.classes.mro(owner.id)[1:]
    for other in outcome.targets:
        definition = solver.kernel.definition(other.callee)
        parent = definition.enclosing_class()
        if parent is not None and definition.name == callee.name and parent.id in above:
            return True
    return False


def _damaged_lines(module: ModuleInfo) -> Iterator[Unresolved]:
    """What could not be read may call anything: one site for each such line, of the module's own code."""
    for line, message, _ in module.facts.damage:
        yield Unresolved(module.body.id, module.path, line, None, Reason.SYNTAX, message)


def _iter_unknown(solver: Solver, recorder: Recorder) -> Iterator[Unresolved]:
    """Lines on which a value of which nothing is known is asked for what a class of the repository runs code for. They
    are no call sites, and have no span."""
    for unit, at, name, reason in recorder.unknown:
        definition = solver.kernel.definition(unit)
        line = site_of(definition, at)[0]
        yield Unresolved(caller_of(definition).id, definition.module.path, line, None, reason, name)


def _open_site(unit: Definition, at: int, outcome: Outcome) -> Iterator[Unresolved]:
    reasons = outcome.open_reasons()
    if reasons:
        site = site_of(unit, at)
        yield Unresolved(caller_of(unit).id, unit.module.path, site[0], site, reasons[0], outcome.detail)
