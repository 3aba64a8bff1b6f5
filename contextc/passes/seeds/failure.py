"""A failure to seeds. In: a traceback or pytest output, a graph, the files' texts. Out: `Seeds`, marks, notes.

For `ValueError` raised in `load`, called from `main`, the seeds are `app:load` (rank 0) and `app:main` (rank 1); marks
say where it was raised and called. A frame's path is matched to the repository by its end: `/srv/build/src/app.py` is
`src/app.py`. The function's name checks the line: where they disagree the source has changed since, which is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contextc.errors import TargetNotFound, UserError
from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import Target, find_target
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol
from contextc.passes.forms import Source
from contextc.passes.seeds.frame_paths import PathIndex
from contextc.passes.seeds.traceback_text import Failure, Frame, read_failures
from contextc.passes.seeds.values import Mark, Seeds, make_target, with_contents

_DEFINITIONS = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_INSIDE = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"})  # run inside a definition
_INSTALLED = re.compile(r"^.*/(?:site-packages|dist-packages|lib/python3(?:\.[0-9]+)?t?)/")
_MODULE = "<module>"
_TITLE = "a failure on standard input"
_CELL = re.compile(r"Cell In ?\[")
_LISTED = 5
_LINKS = {"": "", "cause": "raised because of the one before: ", "context": "raised while handling the one before: "}


class _Place(NamedTuple):
    """A frame in the repository: its symbol, and the line in the present text."""

    frame: Frame
    symbol: Symbol
    line: int


def find_failed(graph: CallGraph, texts: Mapping[str, bytes], text: str, root: str = "") -> Seeds:
    """The seeds of a failure. `root`: the repository's absolute POSIX path, for frames that begin with it. Raises
    UserError where the text is no failure, TargetNotFound where no frame of it lies in the analysed files."""
    said = read_failures(text)
    if not said.failures and not said.failed:
        raise UserError("standard input holds no traceback and no pytest failure; pipe the failing command's output in")
    reading = _Reading(graph, texts, PathIndex([file.path for file in graph.files], root))
    for failure in said.failures:
        reading.take(failure)
    reading.take_summary(said.failed)
    if not reading.ranks:
        where = "; ".join(reading.notes)
        raise TargetNotFound(f"no frame of that failure lies in the analysed files{f' ({where})' if where else ''}")
    ordered = sorted(reading.ranks, key=lambda symbol: reading.ranks[symbol])
    # What lies in a caller comes with its line, or not at all: only of the innermost is all of it meant.
    parts = {symbol: (symbol,) if reading.ranks[symbol] else with_contents(graph, symbol) for symbol in ordered}
    target = make_target(_TITLE, "symbols", (part for inside in parts.values() for part in inside))
    ranks: dict[str, int] = {}
    for symbol, inside in parts.items():
        for part in inside:
            ranks[part.id] = min(reading.ranks[symbol], ranks.get(part.id, reading.ranks[symbol]))
    lines = {symbol.id: tuple(sorted(numbers)) for symbol, numbers in reading.lines.items()}
    return Seeds(target, ranks, tuple(reading.marks), tuple(reading.notes), (), lines, "Failure")


class _Reading:
    """What has been found so far. Module code is a seed only where it is all that an exception has: it would bring
    the whole file; its line is marked anyway."""

    def __init__(self, graph: CallGraph, texts: Mapping[str, bytes], paths: PathIndex) -> None:
        self._graph, self._paths = graph, paths
        self._sources: dict[str, Source] = {}
        self._texts = texts
        self._said: dict[str, None] = {}
        self._marked: dict[tuple[str, int], list[str]] = {}
        self.ranks: dict[Symbol, int] = {}
        self.lines: dict[Symbol, set[int]] = {}

    @property
    def notes(self) -> list[str]:
        """What is to be said, in order, each once."""
        return list(self._said)

    @property
    def marks(self) -> Iterator[Mark]:
        """The places in the order of the text, each once with all that it was."""
        for (path, line), notes in self._marked.items():
            yield Mark(path, line, "; ".join(dict.fromkeys(notes)))

    def take(self, failure: Failure) -> None:
        """Adds the seeds of one exception."""
        places = [place for frame in failure.frames for place in self._place(frame)]
        message = _message(failure)
        outside = len(failure.frames) - len(places)
        if not places:
            if failure.frames or failure.message:
                self._say(f"{message}: no frame in the analysed files{_outside_names(failure.frames)}")
            return
        if outside:
            known = {place.frame for place in places}
            others = [frame for frame in failure.frames if frame not in known]
            size = f"{outside} frame{'s' * (outside > 1)}"
            self._say(f"{message}: {size} outside of the analysed files{_outside_names(others)}")
        is_raised_here = places[-1].frame == failure.frames[-1]
        distance, before = -1, None
        for place in reversed(places):
            if place.symbol != before:
                distance += 1
                note = f"calls {_short(before)}" if before is not None else message
                self._mark(place, note if before is not None or is_raised_here else f"{note} (raised by what it calls)")
            elif place.line not in self.lines.get(place.symbol, ()):
                self._mark(place, f"calls {_short(place.symbol)}")
            before = place.symbol
            self._seed(place, distance)
            if place.frame.repeated:
                self._mark(place, f"repeated {place.frame.repeated:,} more times")

    def take_summary(self, failed: Iterable[tuple[str, str]]) -> None:
        """Tests that pytest lists as failed and shows no frames of."""
        for node, text in failed:
            target = self._test_named(node)
            if target is None:
                self._say(f"{node}: failed, not among the analysed files")
                continue
            symbol = self._graph.symbol(target.symbols[0])
            if symbol not in self.ranks and not self.lines.keys() & set(map(self._graph.symbol, target.symbols)):
                self.ranks[symbol] = 0
                self._say(f"{node}: failed{f' with {text}' if text else ''}, without a traceback")

    def _test_named(self, node: str) -> Target | None:
        path, _, rest = node.partition("::")
        names = rest.partition("[")[0].rstrip()  # a parametrized test's values
        for known in self._paths.find(path):
            try:
                return find_target(self._graph, f"{known}::{names}" if names else known)
            except TargetNotFound:
                continue
        return None

    def _seed(self, place: _Place, rank: int) -> None:
        symbol = place.symbol
        if symbol.kind is SymbolKind.MODULE and rank > 0:
            return
        self.ranks[symbol] = min(rank, self.ranks.get(symbol, rank))
        self.lines.setdefault(symbol, set()).add(place.line)

    def _mark(self, place: _Place, note: str) -> None:
        self._marked.setdefault((place.symbol.path, place.line), []).append(note)

    def _say(self, note: str) -> None:
        self._said.setdefault(note)

    # ---------------------------------------------------------------------------------------------------- places

    def _source(self, path: str) -> Source:
        if path not in self._sources:
            self._sources[path] = Source(self._texts[path])
        return self._sources[path]

    def _place(self, frame: Frame) -> Iterator[_Place]:
        """The frame's place in the repository: nothing, or one."""
        if _CELL.match(frame.path):
            yield from self._place_in_cells(frame)
            return
        candidates = self._paths.find(frame.path)
        agreeing = [path for path in candidates if self._agrees(path, frame)]
        is_sure = len(candidates) == 1 and (
            self._paths.is_whole(candidates[0], frame.path) or self._defines(candidates[0], frame.name)
        )
        if not candidates or (not is_sure and not agreeing):
            return
        if len(agreeing) > 1 or (len(candidates) > 1 and not agreeing):
            self._say(f"{frame.path}:{frame.line} can be {', '.join(candidates[:_LISTED])}: left out")
            return
        path = agreeing[0] if agreeing else candidates[0]
        yield self._place_in(path, frame)

    def _place_in_cells(self, frame: Frame) -> Iterator[_Place]:
        """A notebook's frame has no path, and for its cell the count of runs: the text of its line tells the place,
        where one line of all notebooks has it in a function of that name, or outside of all."""
        places = []
        for path in (file.path for file in self._graph.files if file.cells and frame.text):
            symbols, source = self._graph.symbols_in_file(path), self._source(path)
            for line in range(1, source.lines.count + 1):
                if source.line(line).strip() == frame.text:
                    names = [_name(symbol) for symbol in _around(symbols, line)]
                    if frame.name in names or (frame.name in ("", *_INSIDE) and not names):
                        places.append(self._place_in(path, frame._replace(line=line)))
        if len(places) == 1:
            yield places[0]._replace(frame=frame)

    def _defines(self, path: str, name: str) -> bool:
        """Whether it is the file `main.py` of a tree's root that has a function of that name: it may have moved."""
        symbols = self._graph.symbols_in_file(path)
        return "/" not in path and any(s.kind in _DEFINITIONS and _name(s) == name for s in symbols)

    def _agrees(self, path: str, frame: Frame) -> bool:
        """Whether the file has that function at that line, and there the text that the frame shows."""
        text = self._source(path).line(frame.line).strip()
        if frame.text and text and text != frame.text:
            return False
        around = _around(self._graph.symbols_in_file(path), frame.line)
        if not frame.name or frame.name in _INSIDE:
            return bool(text)
        return frame.name == _MODULE or any(_name(symbol) == frame.name for symbol in around)

    def _place_in(self, path: str, frame: Frame) -> _Place:
        symbols = self._graph.symbols_in_file(path)
        around = _around(symbols, frame.line)
        named = [s for s in around if _name(s) == frame.name] if frame.name not in ("", *_INSIDE) else around
        if frame.name == _MODULE:
            return _Place(frame, _statement_at(symbols, frame.line), frame.line)
        if named:
            return _Place(frame, named[-1], self._line_now(frame, named[-1]))
        if frame.name in ("", *_INSIDE):
            return _Place(frame, _statement_at(symbols, frame.line), frame.line)
        elsewhere = [s for s in symbols if s.kind in _DEFINITIONS and _name(s) == frame.name]
        changed = f"{path} has changed since: line {frame.line} is not in a function '{frame.name}'"
        if len(elsewhere) == 1:
            self._say(f"{changed}; the one there is now is taken")
            return _Place(frame, elsewhere[0], self._line_now(frame, elsewhere[0]))
        self._say(f"{changed}, and {len(elsewhere) or 'none'} are there now; what stands at the line is taken")
        return _Place(frame, around[-1] if around else symbols[0], frame.line)

    def _line_now(self, frame: Frame, symbol: Symbol) -> int:
        """The frame's line, or where its text stands now; said where that can't be told."""
        source = self._source(symbol.path)
        if symbol.line <= frame.line <= symbol.end_line and frame.text in ("", source.line(frame.line).strip()):
            return frame.line
        if frame.text:
            same = [n for n in range(symbol.line, symbol.end_line + 1) if source.line(n).strip() == frame.text]
            if len(same) == 1:
                return same[0]
            self._say(f"{symbol.path}:{frame.line} has changed since: it was `{frame.text[:120]}`")
        return frame.line if symbol.line <= frame.line <= symbol.end_line else symbol.line


def _around(symbols: Sequence[Symbol], line: int) -> list[Symbol]:
    """The definitions around a line, the innermost last."""
    return [s for s in symbols if s.kind in _DEFINITIONS and s.line <= line <= s.end_line]


def _statement_at(symbols: Sequence[Symbol], line: int) -> Symbol:
    """The variable whose statement module code runs at a line, or the module."""
    module = symbols[0]
    variables = [s for s in symbols if s.kind is SymbolKind.VARIABLE and s.line <= line <= s.end_line]
    return variables[0] if variables else module


def _name(symbol: Symbol) -> str:
    return symbol.qualname.rpartition(".")[2]


def _short(symbol: Symbol) -> str:
    return symbol.qualname.replace(".<locals>.", ".")


def _message(failure: Failure) -> str:
    member = f"member {failure.member} of a group: " if failure.member else ""
    return f"{_LINKS[failure.link]}{member}{failure.message or 'a failure without a message'}"


def _outside_names(frames: Sequence[Frame]) -> str:
    """The last places outside, the innermost first; where they are installed is no part of it."""
    places = [f"{_INSTALLED.sub('', frame.path.replace(chr(92), '/'))}:{frame.line}" for frame in reversed(frames)]
    more = ", …" if len(places) > _LISTED else ""
    return f" ({', '.join(places[:_LISTED])}{more})" if places else ""
