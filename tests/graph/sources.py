"""From source texts to what the name-only resolver takes: facts, files, symbols, line indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contextc.analyzer.reading.libcst_reader import read_with_libcst
from contextc.model.analysis import ModuleFile
from contextc.model.facts import ModuleFacts
from contextc.model.span import LineIndex
from contextc.model.symbol import Symbol


class Sources(NamedTuple):
    files: tuple[ModuleFile, ...]
    facts: dict[str, ModuleFacts]
    symbols: tuple[Symbol, ...]
    lines: dict[str, LineIndex]


def read_sources(texts: Mapping[str, str]) -> Sources:
    """Texts by path, each under its dotted path as module name."""
    encoded = {path: text.encode() for path, text in texts.items()}
    facts = {path: read_with_libcst(text) for path, text in encoded.items()}
    lines = {path: LineIndex(text) for path, text in encoded.items()}
    files, symbols = [], []
    for path in texts:
        module = path[:-3].replace("/", ".").removesuffix(".__init__")
        files.append(ModuleFile(path, module, module, "", path.endswith("__init__.py"), False))
        for symbol in facts[path].symbols:
            start, end = (lines[path].position(offset) for offset in symbol.span)
            parent = f"{module}:{facts[path].symbols[symbol.parent].local_id}" if symbol.parent >= 0 else None
            symbols.append(
                Symbol(
                    f"{module}:{symbol.local_id}", path, symbol.qualname, symbol.kind, start.line, start.col, end.line,
                    parent, symbol.span, symbol.header, symbol.docstring, symbol.body_start, True, False, False,
                )
            )  # fmt: skip
    return Sources(tuple(files), facts, tuple(symbols), lines)
