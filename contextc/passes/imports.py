"""The import statements that a target needs. In: a graph, a target, its files' texts. Out: lines, by file.

For `def show(): load()` in a file with `from app.data import load` on line 3, line 3; whether the statement stands at
the top, under `if TYPE_CHECKING:`, in a `try` or in the body of a class around the target. Names are compared as words
of the text, so those of string annotations count. A star import of a module of the repository is needed where that
module has one of the names; one of a module outside always, since it may bind any name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import Target
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Import
from contextc.passes.forms import Source, full_text

_WORD = re.compile(r"\w+")
_STAR = "*"


def used_imports(graph: CallGraph, target: Target, sources: Mapping[str, Source]) -> dict[str, list[int]]:
    """By file of the target, the lines of the imports whose names the target's definitions mention: those of the module
    and of the classes around them."""
    lines: dict[str, set[int]] = {}
    for symbol in map(graph.symbol, target.symbols):
        if symbol.kind is SymbolKind.MODULE or symbol.parent in target.symbols:
            continue
        words = set(_WORD.findall(full_text(symbol, sources[symbol.path])))
        found = lines.setdefault(symbol.path, set())
        parent = symbol.parent
        while parent is not None:
            holder = graph.symbol(parent)
            if holder.kind in (SymbolKind.CLASS, SymbolKind.MODULE):
                found.update(item.line for item in graph.imports_of(holder.id) if _binds(graph, item, words))
            parent = holder.parent
    return {path: sorted(found) for path, found in lines.items()}


def _binds(graph: CallGraph, item: Import, words: set[str]) -> bool:
    if item.name != _STAR:
        return item.name.partition(".")[0] in words
    if item.target is None:
        return True
    given = {symbol.qualname for symbol in graph.children(item.target)}
    given.update(inner.name for inner in graph.imports_of(item.target))
    return _STAR in given or not given.isdisjoint(words)


def module_imports(graph: CallGraph, path: str) -> list[tuple[str, int]]:
    """The names that a file's module code imports, each with its line."""
    module = graph.symbols_in_file(path)[0]
    return [(item.name, item.line) for item in graph.imports_of(module.id)]
