"""What is written at a place of the source: the called name, the receiver.

In: facts, text and line index of each file. Out: text, by path and site. With `    self.store.save(x)` on line 7 of
app.py, `WrittenCalls(…).receiver("app.py", (7, 4, 7, 22))` is `self.store`, `.name(…)` is `save`.

Places come from a recording: one at which nothing is written (the sources have changed since) gives None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contextc.graph.name_only import name_called
from contextc.model import ir
from contextc.model.edge import Site
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.span import LineIndex, Span
from contextc.model.traverse import iter_module


class _Call(NamedTuple):
    name: str | None
    receiver: Span


class _Written(NamedTuple):
    text: bytes
    calls: dict[Site, _Call]
    owners: dict[tuple[int, str], Span]  # by the line and name of an attribute


class WrittenCalls:
    """Reads a file's calls the first time somebody asks for one of them."""

    def __init__(self, facts: Mapping[str, ModuleFacts | None], texts: Mapping[str, bytes]) -> None:
        self._facts = facts
        self._texts = texts
        self._files: dict[str, _Written] = {}

    def name(self, path: str, site: Site) -> str | None:
        """The bare name called there; None where the callee is no name, or no call stands there."""
        call = self._file(path).calls.get(site)
        return call.name if call is not None else None

    def receiver(self, path: str, site: Site) -> str | None:
        """What stands before the last dot of what is called; where it has none, what is called. One line of text."""
        file = self._file(path)
        call = file.calls.get(site)
        return _cut(file.text, call.receiver) if call is not None else None

    def owner(self, path: str, line: int, attribute: str) -> str | None:
        """What stands before `.attribute` on that line, the first one where there are several; None without any."""
        file = self._file(path)
        span = file.owners.get((line, attribute))
        return _cut(file.text, span) if span is not None else None

    def _file(self, path: str) -> _Written:
        if path not in self._files:
            self._files[path] = _read(self._facts.get(path), self._texts.get(path, b""))
        return self._files[path]


def _cut(text: bytes, span: Span) -> str:
    return " ".join(text[span.start : span.end].decode("utf-8", "replace").split())


def _read(facts: ModuleFacts | None, text: bytes) -> _Written:
    index = LineIndex(text)
    written = _Written(text, {}, {})
    if facts is None:
        return written
    for scope, node in iter_module(facts):
        owner = facts.symbols[scope]
        if isinstance(node, ir.Attribute):
            line = index.position(_span(owner, node.at).end).line  # the name stands at the end
            written.owners.setdefault((line, node.attr), _span(owner, node.value.at))
        elif isinstance(node, ir.Call):
            start, end = (index.position(offset) for offset in _span(owner, node.at))
            before = node.func.value if isinstance(node.func, ir.Attribute) else node.func
            site = (start.line, start.col, end.line, end.col)
            written.calls[site] = _Call(name_called(node), _span(owner, before.at))
    return written


def _span(owner: SymbolFacts, at: int) -> Span:
    base = owner.span.start if owner.kind is not SymbolKind.MODULE else 0
    return Span(base + owner.spans[2 * at], base + owner.spans[2 * at + 1])
