"""Changed lines to changed symbols. In: `Change`s, a graph, the files' texts. Out: `Seeds`.

A change of line 7 in `def load` of `app.py` seeds `app:load`: the innermost definition around each line that was
added or changed. Lines that were deleted count where they stood. Module code seeds the variable whose statement it is;
an import is marked, and seeds the module only where nothing else in the file is a seed. What can't be a seed (a file
deleted, or outside Python, a notebook, whose lines in a diff are those of its JSON) is a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contextc.errors import TargetNotFound
from contextc.graph.call_graph import CallGraph
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol
from contextc.passes.forms import Source
from contextc.passes.seeds.values import Mark, Seeds, make_target, with_contents

_DEFINITIONS = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_STATEMENTS = frozenset({SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE})
_LISTED = 20  # paths named in one note
_RUN = 3  # lines of module code marked per run of changed lines


class Deletion(NamedTuple):
    """Lines that are gone: they stood after line `after` (0: at the top) of the text as it is now."""

    after: int
    lines: tuple[str, ...]


class Change(NamedTuple):
    """One file of a diff. `kind`: "changed", "new", "deleted", "renamed" (perhaps changed as well). `touched` are lines
    of the text as it is now. `fault`: what is to be doubted of the lines; empty for nothing."""

    path: str
    kind: str
    touched: tuple[int, ...] = ()
    deletions: tuple[Deletion, ...] = ()
    old_path: str = ""
    fault: str = ""


def find_changed(
    graph: CallGraph, texts: Mapping[str, bytes], changes: Iterable[Change], text: str, notes: Sequence[str] = ()
) -> Seeds:
    """The seeds of a diff; `text` is the target's as shown. Raises TargetNotFound where the diff touches no code that
    was analysed, saying what it touches."""
    ordered = sorted(set(changes))
    found: dict[Symbol, set[int]] = {}
    marks: list[Mark] = []
    for change in ordered:
        if graph.symbols_in_file(change.path) and change.kind != "deleted" and not is_notebook(change.path):
            seeds, marked = _seeds_of_file(graph, Source(texts[change.path]), change)
            marks += marked
            for symbol, numbers in seeds.items():
                found.setdefault(symbol, set()).update(numbers)
    said = (*notes, *_notes(graph, ordered))
    if not found:
        what = "; ".join(said) or ("no line of a file" if ordered else "the diff is empty")
        raise TargetNotFound(f"{text}: no analysed Python code was changed ({what})")
    inside = {symbol: with_contents(graph, symbol) for symbol in found}
    target = make_target(text, "symbols", (part for parts in inside.values() for part in parts))
    lines = {symbol.id: tuple(sorted(touched)) for symbol, touched in found.items() if touched}
    return Seeds(target, dict.fromkeys(target.symbols, 0), tuple(marks), tuple(said), (), lines, "Changed")


def is_notebook(path: str) -> bool:
    """Whether a diff can only say that the file was changed, not where."""
    return path.endswith(".ipynb")


def _seeds_of_file(graph: CallGraph, source: Source, change: Change) -> tuple[dict[Symbol, set[int]], list[Mark]]:
    """The changed symbols of one file with their changed lines, in source order, and marks for its module code."""
    symbols = graph.symbols_in_file(change.path)
    module = symbols[0]
    if change.kind == "new":
        top = [s for s in graph.children(module.id) if s.kind in _DEFINITIONS]
        return {symbol: set() for symbol in top or [module]}, []
    found: dict[Symbol, set[int]] = {}
    loose: list[tuple[int, str]] = []
    for line in change.touched:
        holders = _holders_of_line(symbols, line)
        for symbol in holders:
            found.setdefault(symbol, set()).add(line)
        if not holders and source.line(line).strip():
            loose.append((line, "changed module code"))
    for deletion in change.deletions:
        holder = _holder_of_gap(symbols, source, deletion)
        line = min(max(1, deletion.after), source.lines.count)
        if holder is not module:
            found.setdefault(holder, set()).add(line)
        elif any(text.strip() for text in deletion.lines):
            size = len(deletion.lines)
            loose.append((line, f"{size} line{'s' * (size > 1)} of module code deleted after this one"))
    if loose and not found:
        found[module] = {line for line, _ in loose}
    ordered = dict(sorted(found.items(), key=lambda pair: (pair[0].span.start, pair[0].id)))
    return ordered, list(_marks(change.path, loose))


def _holders_of_line(symbols: Sequence[Symbol], line: int) -> list[Symbol]:
    """The innermost definition around a line, or the variables whose statement it is part of; the module is none."""
    around = [s for s in symbols[1:] if s.line <= line <= s.end_line]
    inner = max((s for s in around if s.kind in _DEFINITIONS), key=_depth, default=None)
    statements = [s for s in around if s.kind in _STATEMENTS and (inner is None or s.parent == inner.id)]
    return statements or ([inner] if inner is not None else [])


def _holder_of_gap(symbols: Sequence[Symbol], source: Source, deletion: Deletion) -> Symbol:
    """The innermost definition that deleted lines stood in. At the edge of one their indentation decides: deeper than
    its `def` means inside; a decorator above it was its own."""
    before, after = deletion.after, deletion.after + 1
    definitions = [symbols[0], *(s for s in symbols[1:] if s.kind in _DEFINITIONS)]
    first = next((text for text in deletion.lines if text.strip()), "")
    indent = len(first) - len(first.lstrip(" \t"))
    last_code = before  # blank lines after a body's end are no part of it
    while last_code > 0 and not source.line(last_code).strip():
        last_code -= 1

    def held(symbol: Symbol) -> bool:
        if symbol.parent is None or (symbol.line <= before and after <= symbol.end_line):
            return True
        if symbol.line <= last_code == symbol.end_line:
            return bool(first) and indent > symbol.col
        return symbol.line == after and first.lstrip().startswith("@") and indent == symbol.col

    return max((s for s in definitions if held(s)), key=_depth)


def _depth(symbol: Symbol) -> tuple[int, int]:
    return (symbol.span.start if symbol.parent is not None else -1, -symbol.span.end)


def _marks(path: str, loose: Iterable[tuple[int, str]]) -> Iterator[Mark]:
    """The first lines of each run of changed module code."""
    run, previous = 0, -1
    for line, note in sorted(set(loose)):
        run = run + 1 if line == previous + 1 else 1
        previous = line
        if run <= _RUN:
            yield Mark(path, line, note)


def _notes(graph: CallGraph, changes: Sequence[Change]) -> Iterator[str]:
    """What the diff holds beside seeds."""
    renamed = [f"{c.old_path} → {c.path}" for c in changes if c.kind == "renamed"]
    deleted = [c.path for c in changes if c.kind == "deleted"]
    live = [c for c in changes if c.kind != "deleted"]
    python = [c for c in live if c.path.endswith((".py", ".pyi"))]
    notebooks = [c.path for c in live if is_notebook(c.path)]
    other = [c.path for c in live if c not in python and not is_notebook(c.path)]
    missing = [c.path for c in python if not graph.symbols_in_file(c.path)]
    for what, paths in (
        ("renamed", renamed), ("deleted", deleted), ("changed outside of Python", other),
        ("changed notebooks, not looked into: as targets they are shown", notebooks),
        ("changed, but not among the analysed files", missing),
    ):  # fmt: skip
        if paths:
            more = f" and {len(paths) - _LISTED} more" if len(paths) > _LISTED else ""
            yield f"{what}: {', '.join(paths[:_LISTED])}{more}"
    for change in live:
        if change.fault and not is_notebook(change.path):
            yield f"{change.path}: {change.fault}"
