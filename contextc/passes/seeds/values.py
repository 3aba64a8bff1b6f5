"""What every way to name a target gives: the seeds, how near each is to the matter, and what is to be said of them.

`Seeds(target, {"app:load": 0, "app:main": 1}, (Mark("app.py", 7, "ValueError: no key"),), ())` is a failure in `load`,
called from `main`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import Target
from contextc.model.symbol import Symbol


class Mark(NamedTuple):
    """A line that the context points at: where something failed, was called, or changed. `note` says which."""

    path: str
    line: int
    note: str


class Score(NamedTuple):
    """How well a symbol fits a task in words, in thousandths; comparable within one answer only."""

    symbol: str
    score: int


class Seeds(NamedTuple):
    """`ranks`: for each seed, 0 where it is the matter itself, more the further away (callers in a traceback, outermost
    last). `lines`: by seed, the lines of its file for whose sake it is one; none where all of it is meant.
    `title`: what they are, "" for targets given by name."""

    target: Target
    ranks: Mapping[str, int]
    marks: tuple[Mark, ...] = ()
    notes: tuple[str, ...] = ()
    scores: tuple[Score, ...] = ()
    lines: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    title: str = ""


def make_target(text: str, kind: str, found: Iterable[Symbol]) -> Target:
    """A `Target` of these symbols in their order, each once."""
    symbols = tuple(dict.fromkeys(found))
    return Target(text, kind, tuple(s.id for s in symbols), tuple(sorted({s.path for s in symbols})))


def with_contents(graph: CallGraph, symbol: Symbol) -> tuple[Symbol, ...]:
    """A definition with everything inside it; a module stands for its own code alone."""
    return (symbol,) if symbol.parent is None else (symbol, *graph.descendants(symbol.id))


def join_seeds(parts: Sequence[Seeds]) -> Seeds:
    """One `Seeds` of several, in order; a seed has the lowest of its ranks. `parts` holds at least one."""
    if len(parts) == 1:
        return parts[0]
    ranks: dict[str, int] = {}
    lines: dict[str, tuple[int, ...]] = {}
    for part in parts:
        for symbol in part.target.symbols:
            rank = part.ranks.get(symbol, 0)
            ranks[symbol] = min(rank, ranks.get(symbol, rank))
            lines[symbol] = tuple(sorted({*lines.get(symbol, ()), *part.lines.get(symbol, ())}))
    targets = [part.target for part in parts]
    titles = {part.title for part in parts if part.title}
    kinds = {target.kind for target in targets}
    target = Target(
        " ".join(target.text for target in targets),
        kinds.pop() if len(kinds) == 1 else "symbols",
        tuple(ranks),
        tuple(sorted({path for target in targets for path in target.paths})),
    )
    return Seeds(
        target,
        ranks,
        tuple(dict.fromkeys(mark for part in parts for mark in part.marks)),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        tuple(score for part in parts for score in part.scores),
        {symbol: numbers for symbol, numbers in lines.items() if numbers},
        titles.pop() if len(titles) == 1 else "",
    )
