"""A call graph judged by a recording: what it found of what ran, what it missed, which of its edges were not seen.

In: an `Analysis` and what was `Observed`. Out: a `Judgement`. If `main` called `Store.save` on line 7 and the graph has
no such edge, `misses` holds that call, with the reason the graph gives for the site, or `silent` if it gives none;
if its edge there goes to `Order.save`, which was not seen there, `wrong` holds that edge.

The measures are those of benchmarks/oracle (README.md there). *Recall*: of the distinct pairs of functions, caller and
callee, those that the graph has. *Silent misses*: of the distinct calls (place and callee), those that are neither an
edge nor at a site declared unresolved. *Precision*: of the edges at places that ran, those whose callee was seen there;
edges at places that ran a mock or a callable of the tests and were not seen are not judged. `possible` edges count
for nothing. Where the tests don't run a possible target, an edge to it counts as wrong although it may be right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from contextc.graph.call_graph import edge_order
from contextc.graph.observed import CALLS, KINDS, Definitions, Expected, Function, Observed, plain_name
from contextc.graph.written_calls import WrittenCalls
from contextc.model.analysis import Analysis
from contextc.model.edge import CALL_KINDS, Certainty, Edge, EdgeKind, Site, Unresolved
from contextc.model.symbol import Symbol

SILENT = "silent"
ALL_CALLS, ALL = "calls", "all"  # groups of kinds: the headline's, and every kind
_IMPLICIT = frozenset({EdgeKind.PROPERTY, EdgeKind.DUNDER, EdgeKind.DECORATOR})


class Tally(NamedTuple):
    """Counts over the calls of some kinds. `pairs`: caller and callee; `calls`: place and callee."""

    pairs: int
    pairs_found: int
    calls: int
    calls_found: int
    silent: int

    @property
    def recall(self) -> float | None:
        """The share of pairs found, from 0 to 1; None where there are none."""
        return self.pairs_found / self.pairs if self.pairs else None

    @property
    def silent_share(self) -> float | None:
        """The share of calls missed in silence, from 0 to 1; None where there are none."""
        return self.silent / self.calls if self.calls else None


class Precision(NamedTuple):
    """Counts of edges at places that ran."""

    judged: int
    right: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where no edge was judged."""
        return self.right / self.judged if self.judged else None


class Miss(NamedTuple):
    """A recorded call that is no edge. `reason`: why the graph says its site may be incomplete, or `silent`.

    `receiver` is the text before the last dot of what is called there (what is called, where it has none), None where
    it can't be told. `is_possible`: an edge of that certainty is there.
    """

    path: str
    line: int
    site: Site | None
    caller: str  # symbol ids; for code without a symbol its path and name
    callee: str
    kind: str  # the recorder's word
    receiver: str | None
    reason: str
    is_possible: bool
    times: int  # it was recorded


class Judgement(NamedTuple):
    """One graph. `tallies` by kind as recorded, and for `calls` and `all`; `precision` by certainty, and for `all`."""

    tallies: Mapping[str, Tally]
    precision: Mapping[str, Precision]
    rules: Mapping[str, Precision]
    unjudged: int
    misses: tuple[Miss, ...]  # the silent ones first, then by path, line, callee
    wrong: tuple[Edge, ...]  # by path, line, callee


@dataclass(frozen=True)
class Bench:
    """What every graph of one repository is judged with. `expected` are the calls asked for, of those observed."""

    observed: Observed
    expected: tuple[Expected, ...]
    definitions: Definitions
    symbols: Mapping[str, Symbol]
    written: WrittenCalls
    is_judged: Callable[[Edge], bool]  # whether an edge's caller is asked about

    def function(self, symbol_id: str) -> Function:
        """A symbol as the recording names it."""
        symbol = self.symbols[symbol_id]
        return (symbol.path, plain_name(symbol.qualname))

    def meanings(self, symbol_id: str) -> frozenset[Function]:
        """The functions an edge to this symbol stands for: a class also for what runs when it is called."""
        path, name = function = self.function(symbol_id)
        if self.definitions.is_class(function):
            return frozenset({function, (path, f"{name}.__init__"), (path, f"{name}.__new__")})
        return frozenset({function})

    def lines(self, line: int, site: Site | None) -> Iterable[int]:
        """The lines a place is compared by: its first, but all where the recording knows no columns."""
        return (line,) if self.observed.spans or site is None else range(site[0], site[2] + 1)


def judge(analysis: Analysis, bench: Bench) -> Judgement:
    """Recall, precision, misses and wrong edges of one graph."""
    calls = [edge for edge in analysis.edges if edge.kind in CALL_KINDS]
    sure = [edge for edge in calls if edge.certainty is not Certainty.POSSIBLE]
    drawn, doubts = _Drawn(sure, bench), _Doubts(analysis.unresolved, bench)
    verdicts = [_Verdict(e, drawn.has_pair(e), drawn.has_call(e), doubts.reason(e)) for e in bench.expected]
    guessed = _Drawn((edge for edge in calls if edge.certainty is Certainty.POSSIBLE), bench)
    groups = [(kind, (kind,)) for kind in KINDS] + [(ALL_CALLS, CALLS), (ALL, KINDS)]
    tallies = {name: _tally([v for v in verdicts if v.expected.kind in kinds]) for name, kinds in groups}
    outcomes = [(edge, outcome) for edge, outcome in _judge_edges(sure, bench) if outcome is not _Outcome.NOT_RUN]
    judged = [(edge, outcome is _Outcome.RIGHT) for edge, outcome in outcomes if outcome is not _Outcome.UNJUDGED]
    return Judgement(
        tallies,
        {**_count_right(judged, lambda edge: str(edge.certainty)), **_count_right(judged, lambda edge: ALL)},
        _count_right(judged, lambda edge: str(edge.rule)),
        len(outcomes) - len(judged),
        tuple(sorted(_iter_misses(verdicts, guessed, bench), key=_miss_order)),
        tuple(sorted((edge for edge, right in judged if not right), key=_wrong_order)),
    )


# ------------------------------------------------------------------------------------------- recall and misses


class _Verdict(NamedTuple):
    expected: Expected
    has_pair: bool
    has_call: bool
    reason: str | None  # of the site, if the graph declares it unresolved


class _Drawn:
    """Edges by what they mean."""

    def __init__(self, edges: Iterable[Edge], bench: Bench) -> None:
        self._pairs: set[tuple[str, str, Function]] = set()
        self._lines: defaultdict[tuple[str, Function], set[int]] = defaultdict(set)
        for edge in edges:
            caller = bench.symbols[edge.caller]
            name = bench.definitions.enclosing_function(caller.path, caller.qualname)
            for meaning in bench.meanings(edge.callee):
                self._pairs.add((caller.path, name, meaning))
                self._lines[(caller.path, meaning)].update(bench.lines(edge.line, edge.site))

    def has_pair(self, expected: Expected) -> bool:
        """Whether an edge goes from the calling function to one of the callees accepted."""
        return any((expected.path, expected.caller, callee) in self._pairs for callee in expected.accepted)

    def has_call(self, expected: Expected) -> bool:
        """Whether an edge to one of them starts on a line of the call expression."""
        first, last = expected.extent
        lines = (self._lines.get((expected.path, callee), ()) for callee in expected.accepted)
        return any(first <= line <= last for found in lines for line in found)


class _Doubts:
    """The sites a graph declares unresolved."""

    def __init__(self, unresolved: Iterable[Unresolved], bench: Bench) -> None:
        self._at: defaultdict[tuple[str, Site], set[str]] = defaultdict(set)
        self._on: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        for doubt in unresolved:
            if doubt.site is not None and bench.observed.spans:
                self._at[(doubt.path, doubt.site)].add(str(doubt.reason))
            else:
                for line in bench.lines(doubt.line, doubt.site):
                    self._on[(doubt.path, line)].add(str(doubt.reason))

    def reason(self, expected: Expected) -> str | None:
        """Why its site is declared unresolved; None where it is not."""
        path, site = expected.path, expected.call.site
        found = set(self._at.get((path, site), ())) if site else set()
        for line in expected.lines:
            found |= self._on.get((path, line), set())
        return ", ".join(sorted(found)) or None


def _tally(verdicts: Iterable[_Verdict]) -> Tally:
    """A pair, or a call, that was recorded several times is found if one of its records is."""
    pairs: defaultdict[tuple[str, str, Function], bool] = defaultdict(bool)
    calls: dict[tuple[str, tuple[int, ...], Function], tuple[bool, bool]] = {}
    for expected, has_pair, has_call, reason in verdicts:
        pairs[(expected.path, expected.caller, expected.callee)] |= has_pair
        key = (expected.path, expected.at, expected.callee)
        found, doubted = calls.get(key, (False, False))
        calls[key] = (found or has_call, doubted or reason is not None)
    silent = sum(1 for found, doubted in calls.values() if not found and not doubted)
    return Tally(len(pairs), sum(pairs.values()), len(calls), sum(found for found, _ in calls.values()), silent)


def _iter_misses(verdicts: Iterable[_Verdict], guessed: _Drawn, bench: Bench) -> Iterator[Miss]:
    """Each missed call of each kind once, with what all its records say."""
    calls: defaultdict[tuple[str, str, tuple[int, ...], Function], list[_Verdict]] = defaultdict(list)
    for verdict in verdicts:
        expected = verdict.expected
        calls[(expected.kind, expected.path, expected.at, expected.callee)].append(verdict)
    ids = _ids_by_function(bench.symbols.values())
    for records in calls.values():
        if any(verdict.has_call for verdict in records):
            continue
        first = records[0].expected
        call = first.call
        reasons = {verdict.reason for verdict in records if verdict.reason is not None}
        caller = (first.path, plain_name(call.caller.raw))
        yield Miss(
            first.path, first.extent[0], call.site,
            ids.get(caller) or ids.get((first.path, first.caller)) or "::".join(caller),
            ids.get(first.callee) or "::".join(first.callee),
            first.kind, _find_receiver(first, bench.written), ", ".join(sorted(reasons)) or SILENT,
            any(guessed.has_call(verdict.expected) for verdict in records),
            sum(verdict.expected.call.times for verdict in records),
        )  # fmt: skip


def _ids_by_function(symbols: Iterable[Symbol]) -> dict[Function, str]:
    """The first definition's id, where several bear one name."""
    ids: dict[Function, str] = {}
    for symbol in symbols:
        ids.setdefault((symbol.path, plain_name(symbol.qualname)), symbol.id)
    return ids


def _find_receiver(expected: Expected, written: WrittenCalls) -> str | None:
    if expected.call.site is not None:
        return written.receiver(expected.path, expected.call.site)
    return written.owner(expected.path, expected.call.line, expected.callee[1].rpartition(".")[2])


def _miss_order(miss: Miss) -> tuple[object, ...]:
    return (miss.reason != SILENT, miss.path, miss.line, miss.site or (), miss.callee, miss.kind, miss.caller)


# --------------------------------------------------------------------------------------------------- precision


class _Outcome(Enum):
    NOT_RUN = "not-run"
    RIGHT = "right"
    WRONG = "wrong"
    UNJUDGED = "unjudged"  # a double of the tests ran there


def _judge_edges(edges: Iterable[Edge], bench: Bench) -> Iterator[tuple[Edge, _Outcome]]:
    """Edges that differ in nothing a recording could tell are judged once."""
    done: set[tuple[object, ...]] = set()
    for edge in edges:
        if not bench.is_judged(edge):
            continue
        path = bench.symbols[edge.caller].path
        site = edge.site if edge.kind not in _IMPLICIT else None
        key = (path, edge.line, bench.function(edge.callee), edge.certainty, site, edge.kind in _IMPLICIT)
        if key not in done:
            done.add(key)
            yield edge, _judge_edge(edge, path, site, bench)


def _judge_edge(edge: Edge, path: str, site: Site | None, bench: Bench) -> _Outcome:
    observed, meanings = bench.observed, bench.meanings(edge.callee)
    lines = [(path, line) for line in bench.lines(edge.line, site)]
    if site is not None and observed.spans:
        place = (path, site)
        has_run = place in observed.call_places
        is_seen = not meanings.isdisjoint(observed.seen_at.get(place, ()))
        is_double = place in observed.double_places
    else:
        by_any = edge.kind in _IMPLICIT and bool(observed.ran_lines)
        ran = observed.ran_lines if by_any else observed.call_lines
        has_run = any(line in ran for line in lines)
        is_seen = any(not meanings.isdisjoint(observed.seen_on.get(line, ())) for line in lines)
        is_double = any(line in observed.double_lines for line in lines)
    if not has_run:
        return _Outcome.NOT_RUN
    if is_seen or any(bench.function(edge.callee) in observed.made_on.get(line, ()) for line in lines):
        return _Outcome.RIGHT
    return _Outcome.UNJUDGED if is_double else _Outcome.WRONG


def _count_right(judged: Iterable[tuple[Edge, bool]], group: Callable[[Edge], str]) -> dict[str, Precision]:
    """By group, in the order of their names."""
    counts: defaultdict[str, list[bool]] = defaultdict(list)
    for edge, right in judged:
        counts[group(edge)].append(right)
    return {name: Precision(len(counts[name]), sum(counts[name])) for name in sorted(counts)}


def _wrong_order(edge: Edge) -> tuple[object, ...]:
    return (edge.path, edge.line, edge.site or (), edge.callee, *edge_order(edge))
