"""The typed and the name-only graph of one repository, both judged by one recording.

In: two graphs over the same symbols, a recording, optionally a target. Out: a `Measurement`, with a `Judgement` of
each graph. `measure_graphs(graph, by_name, trace, texts, facts, "app/views.py")` is about the calls that the code of
app/views.py makes; without a target about all calls between analysed files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contextc.errors import UserError
from contextc.graph.call_graph import CallGraph
from contextc.graph.judge import Bench, Judgement, judge
from contextc.graph.observed import Definitions, Expected, Observed, observe, plain_name, unfold
from contextc.graph.queries import Target, find_target
from contextc.graph.trace_file import Code, Trace
from contextc.graph.written_calls import WrittenCalls
from contextc.model.analysis import Analysis
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import ModuleFacts

# Why a file that should have been analysed was not: what ran there counts as missed. Other files were left out.
_FAULTS = frozenset(
    {
        SkipReason.TOO_LARGE, SkipReason.TOO_DEEP, SkipReason.UNDECODABLE, SkipReason.UNREADABLE,
        SkipReason.READER_FAILED, SkipReason.PARTIAL,
    }
)  # fmt: skip


class Measurement(NamedTuple):
    """Both graphs against what was recorded. `left_out`: recorded calls from or into files that were not to be
    analysed; they are not asked for."""

    root: str
    target: str | None
    trace: Trace
    left_out: int
    typed: Judgement
    by_name: Judgement


def measure_graphs(
    graph: CallGraph,
    by_name: Analysis,
    trace: Trace,
    texts: Mapping[str, bytes],
    facts: Mapping[str, ModuleFacts | None],
    target: str | None,
) -> Measurement:
    """Judge both graphs. Raises TargetNotFound, and UserError where no recorded file was analysed."""
    analysis = graph.analysis
    known = {file.path for file in analysis.files} | {s.path for s in analysis.skipped if s.reason in _FAULTS}
    if known.isdisjoint(trace.paths()):
        raise UserError(
            f"--trace: none of the {len(trace.paths()):,} files of '{trace.name}' was analysed; "
            "do --include and --exclude leave them out?"
        )
    written = WrittenCalls(facts, texts)
    observed = observe(trace, analysis.files, graph.symbols, written)
    expected = tuple(e for e in observed.expected if e.path in known and e.callee[0] in known)
    left_out = len(observed.expected) - len(expected)
    seeds = find_target(graph, target) if target is not None else None
    bench = _set_bench(graph, observed, expected, written, seeds)
    return Measurement(
        analysis.root, target, trace, left_out if seeds is None else 0, judge(analysis, bench), judge(by_name, bench)
    )


def _set_bench(
    graph: CallGraph,
    observed: Observed,
    expected: tuple[Expected, ...],
    written: WrittenCalls,
    seeds: Target | None,
) -> Bench:
    symbols = {symbol.id: symbol for symbol in graph.symbols}
    definitions = Definitions(graph.symbols)
    if seeds is None:
        return Bench(observed, expected, definitions, symbols, written, lambda edge: True)
    callers = frozenset(seeds.symbols)
    names = {(symbols[seed].path, plain_name(symbols[seed].qualname)) for seed in callers}

    def lies_within(code: Code) -> bool:
        return (code.path, plain_name(code.raw)) in names or (code.path, unfold(code.raw)) in names

    asked = tuple(e for e in expected if lies_within(e.call.caller))
    return Bench(observed, asked, definitions, symbols, written, lambda edge: edge.caller in callers)
