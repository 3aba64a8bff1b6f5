"""What an edit target means: from the user's words to symbol ids.

In: a graph and one string. Out: a `Target`. `find_target(graph, "app/models.py::User.save")` gives
`Target("app/models.py::User.save", "symbols", ("app.models:User.save",), ("app/models.py",))`.

Forms: a file (`src/app/views.py`), `path.py::Class.method`, `path.py:LINE`, `path.ipynb:cell 3`, `pkg.mod`,
`pkg.mod:Class.method`, `pkg.mod.Class.method`, and every id contextc prints (`#2`, `<locals>`, `<module>`, `@root`).
`<locals>` may be left out; without `#n` a name means all definitions of it, a property's getter and setter alike.
Paths are relative to the root. A path wins over a module name, a module over a definition of the same dotted name.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextc.errors import TargetNotFound
from contextc.graph.call_graph import CallGraph
from contextc.graph.suggestions import printable, suggest
from contextc.model.diagnostic import Skip
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol

_CELL = re.compile(r"(?P<file>.+?\.ipynb):cell[ _]?(?P<cell>[0-9]{1,9})(?:(?:, ?line |:)(?P<line>[0-9]{1,9}))?")
_LINE = re.compile(r"(?P<file>.+?\.(?:pyi?|ipynb)):(?P<line>[0-9]{1,9})(?::[0-9]{1,9})?")
_PATH = re.compile(r".+?\.(?:pyi?|ipynb)(?=:|$)")
_NUMBER = re.compile(r"#(?P<number>[0-9]{1,9})$")
_MODULE = "<module>"
_DEFINITIONS = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})


class Target(NamedTuple):
    """What to edit. `symbols` are the seeds in source order: a definition comes with everything inside it."""

    text: str  # as given
    kind: str  # "file": whole files; "symbols": the given definitions
    symbols: tuple[str, ...]
    paths: tuple[str, ...]  # the files they lie in, sorted; more than one where two roots hold one dotted name


def find_target(graph: CallGraph, target: str) -> Target:
    """The seeds that `target` names. Raises TargetNotFound, with up to three near misses in the form of the input."""
    text = target.strip()
    for find in (_find_file, _find_cell, _find_line, _find_in_file, _find_in_module, _find_dotted):
        kind, found = find(graph, text)
        if found:
            ids = tuple(dict.fromkeys(symbol.id for symbol in found))
            return Target(target, kind, ids, tuple(sorted({symbol.path for symbol in found})))
    raise TargetNotFound(_explain(graph, text))


_Found = tuple[str, tuple[Symbol, ...]]
_NOTHING: _Found = ("", ())


def _normal_path(text: str) -> str:
    return posixpath.normpath(text) if text else ""


def _find_file(graph: CallGraph, text: str) -> _Found:
    return "file", graph.symbols_in_file(_normal_path(text))


def _find_cell(graph: CallGraph, text: str) -> _Found:
    """`path.ipynb:cell 3`, also `cell 3, line 2` as it is printed: what the cell defines, else the module's code."""
    match = _CELL.fullmatch(text)
    file = next((f for f in graph.files if match and f.path == _normal_path(match["file"])), None)
    if match is None or file is None:
        return _NOTHING
    number = int(match["cell"])
    cell = next((cell for cell in file.cells if cell.number == number), None)
    if cell is None:
        known = ", ".join(str(cell.number) for cell in file.cells[:20])
        raise TargetNotFound(f"no code cell {number} in {printable(file.path)}: its code cells are {known or 'none'}")
    if match["line"]:
        return _find_line(graph, f"{file.path}:{cell.line + int(match['line']) - 1}")
    symbols = graph.symbols_in_file(file.path)
    last = min((c.line - 2 for c in file.cells if c.line > cell.line), default=symbols[0].end_line)
    inside = [s for s in symbols[1:] if cell.line <= s.line and s.end_line <= last]
    return "symbols", tuple(inside) or symbols[:1]


def _find_line(graph: CallGraph, text: str) -> _Found:
    """`path.py:12`, also `path.py:12:4` as compilers print it: the innermost definition around that line."""
    match = _LINE.fullmatch(text)
    symbols = graph.symbols_in_file(_normal_path(match["file"])) if match else ()
    if match is None or not symbols:
        return _NOTHING
    line, last = int(match["line"]), symbols[0].end_line
    if not 1 <= line <= last + 1:  # the empty line after the last line end is where an editor's cursor may stand
        raise TargetNotFound(f"no line {line} in {printable(symbols[0].path)}: it has {last}")
    around = [s for s in symbols[1:] if s.line <= line <= s.end_line]
    definitions = [s for s in around if s.kind in _DEFINITIONS]
    if definitions:
        inner = max(definitions, key=lambda s: (s.span.start, -s.span.end))
        return "symbols", (inner, *graph.descendants(inner.id))
    # Module code: its calls belong to the module symbol, a variable or lambda on the line only says which one is meant.
    return "symbols", (symbols[0], *around)


def _find_in_file(graph: CallGraph, text: str) -> _Found:
    """`path.py::Class.method`; also with one colon, and with `::` between the names, as pytest writes them."""
    for separator in ("::", ":"):
        path, found, name = text.partition(separator)
        symbols = graph.symbols_in_file(_normal_path(path))
        if found and symbols:
            return "symbols", tuple(_match_names(graph, symbols, name.replace("::", ".")))
    return _NOTHING


def _find_in_module(graph: CallGraph, text: str) -> _Found:
    """`pkg.mod:Class.method`; the module part may hold `@root`, and a root's path a colon."""
    module, colon, name = text.rpartition(":")
    if not colon:
        return _NOTHING
    return "symbols", tuple(_match_names(graph, _module_symbols(graph, module.removesuffix(":")), name))


def _find_dotted(graph: CallGraph, text: str) -> _Found:
    """`pkg.mod`, or `pkg.mod.Class.method`: the longest module name that leaves a definition to find."""
    whole = _module_symbols(graph, text)
    if whole:
        return "file", whole
    module, dot, name = text.rpartition(".")
    while dot:
        found = tuple(_match_names(graph, _module_symbols(graph, module.removesuffix(":")), name))
        if found:
            return "symbols", found
        module, dot, last = module.rpartition(".")
        name = f"{last}.{name}"
    return _NOTHING


def _module_symbols(graph: CallGraph, module: str) -> tuple[Symbol, ...]:
    """The symbols of the module of that unique name; where it is no unique name, of all modules so called."""
    name = unicodedata.normalize("NFKC", module)
    exact = [file.path for file in graph.files if name == file.module_id]
    paths = exact or [file.path for file in graph.files if name == file.module]
    return tuple(symbol for path in paths for symbol in graph.symbols_in_file(path))


def _match_names(graph: CallGraph, symbols: Iterable[Symbol], name: str) -> Iterator[Symbol]:
    """The symbols of that qualified name with all they hold; the module's own code alone for `<module>`.

    The name as written goes first; only when nothing bears it may `<locals>` have been left out.
    """
    name = unicodedata.normalize("NFKC", name)
    number = _NUMBER.search(name)
    plain = name[: number.start()] if number else name
    among = tuple(symbols)
    exact = [s for s in among if s.qualname == plain] or [s for s in among if short_name(s.qualname) == plain]
    for symbol in exact:
        if number is None or number["number"] == definition_number(symbol):
            yield symbol
            if symbol.qualname != _MODULE:
                yield from graph.descendants(symbol.id)


def short_name(qualname: str) -> str:
    """A qualified name as people type it, without `<locals>`."""
    return qualname.replace(".<locals>.", ".")


def definition_number(symbol: Symbol) -> str:
    """Which definition of its name it is: "1", or the number after `#` in its id."""
    number = _NUMBER.search(symbol.id)
    return number["number"] if number else "1"


# ----------------------------------------------------------------------------------------------------- near misses


def _explain(graph: CallGraph, text: str) -> str:
    shown = printable(text)
    if not graph.files:
        size = len(graph.analysis.skipped)
        left_out = "1 path was left out" if size == 1 else f"{size} paths were left out"
        return f"nothing named '{shown}': no Python file was analysed, {left_out}; check ROOT"
    if (inside := _files_below(graph, text)) is not None:
        return f"'{shown}' is a folder: give one of its {len(inside)} files, '{printable(inside[0])}', say"
    skip = _find_skip(graph, text)
    if skip is not None:
        detail = f" ({printable(skip.detail)})" if skip.detail else ""
        return f"'{shown}' was not analysed: {printable(skip.path)} was left out as {skip.reason}{detail}"
    near = suggest(text, *_known(graph, text))
    if near:
        *first, last = (f"'{name}'" for name in near)
        meant = f"{', '.join(first)} or {last}" if first else last
        return f"nothing named '{shown}' in the analysed files; did you mean {meant}?"
    forms = "path.py, path.py::Class.method, pkg.mod:Class.method, pkg.mod.Class.method or path.py:LINE"
    return f"nothing named '{shown}' in the analysed files; give {forms}, paths relative to the root"


def _files_below(graph: CallGraph, text: str) -> list[str] | None:
    """The analysed files of a folder; None where it is none."""
    folder = _normal_path(text)
    start = "" if folder == "." else f"{folder}/"
    return [file.path for file in graph.files if file.path.startswith(start)] or None


def _find_skip(graph: CallGraph, text: str) -> Skip | None:
    """The entry that says why the file in the target was left out, or a folder around it."""
    match = _PATH.match(text)
    path = _normal_path(match.group()) if match else ""
    if graph.symbols_in_file(path):
        return None  # analysed as far as it parses
    for skip in graph.analysis.skipped:
        if path == skip.path or (skip.path.endswith("/") and path.startswith(skip.path)):
            return skip
    return None


def _known(graph: CallGraph, text: str) -> tuple[Iterable[str], Iterable[str]]:
    """What there is, written in the form of the input: containers (files or modules), and definitions in them."""
    paths = [file.path for file in graph.files]
    line = _LINE.fullmatch(text)
    if line:
        return [f"{path}:{line['line']}" for path in paths], ()
    separator = "::" if "::" in text else ":" if ":" in text else "."
    by_path = "/" in text or separator == "::" or text.endswith((".py", ".pyi", ".ipynb")) or ".py:" in text
    names = {file.path: file.path if by_path else file.module_id for file in graph.files}
    if by_path and separator == ".":
        return paths, ()
    definitions = (
        f"{names[s.path]}{separator}{s.qualname if '<locals>' in text else short_name(s.qualname)}"
        for s in graph.symbols
        if s.parent is not None and s.kind is not SymbolKind.LAMBDA
    )
    return names.values() if separator == "." else (), definitions
