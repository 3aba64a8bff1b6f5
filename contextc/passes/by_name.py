"""The name-only compiler, for comparison: the target in full, every file that names reach as a skeleton.

In: facts of every file, a target file, hops. Out: a `Compilation`, its items whole files' definitions. The skeleton of
a file has its imports, classes, signatures, docstrings and class attributes, at every hop alike; which file comes in is
decided by `graph.name_only`, by bare names alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from contextc.errors import UserError
from contextc.graph.call_graph import CallGraph
from contextc.graph.compare import Comparison, compare_resolvers
from contextc.graph.name_only import NameIndex, Reach
from contextc.graph.queries import Target, find_target
from contextc.model.facts import ModuleFacts, SymbolKind
from contextc.model.plan import Direction, Form, Item
from contextc.passes.compilation import Compilation, Inputs, Renderer, read_source
from contextc.passes.imports import module_imports
from contextc.passes.pipeline import compile_slice
from contextc.passes.plan import Plan

_SHOWN = frozenset({SymbolKind.MODULE, SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_UNCUT = 10**9  # docstrings and values are shown whole, as the baseline does
_CAUSES = 3  # named per file


class Contrast(NamedTuple):
    """One target compiled both ways."""

    typed: Compilation
    by_name: Compilation
    files: Comparison


def compile_by_name(
    inputs: Inputs, facts: Mapping[str, ModuleFacts | None], target: str | Target, max_hops: int | None = None
) -> Compilation:
    """Raises TargetNotFound. A target inside a file means the file: bare names lead from file to file."""
    reach = _reach(inputs.graph, facts, target, inputs.profile.max_hops if max_hops is None else max_hops)
    return _compile_reach(inputs, target, reach)


def compare_target(
    inputs: Inputs, facts: Mapping[str, ModuleFacts | None], target: str, max_hops: int | None = None
) -> Contrast:
    """Typed against name-only, both from the same target and to the same hops; the graph is the typed one."""
    graph = inputs.graph
    typed = compile_slice(inputs, target, max_hops)
    reach = _reach(graph, facts, target, inputs.profile.max_hops if max_hops is None else max_hops)
    hops: dict[str, int] = {}
    for item in typed.context.items:  # by hop
        if item.direction is Direction.USES:
            hops.setdefault(graph.symbol(item.symbol).path, item.hop)
    files = compare_resolvers(typed.target.paths[0], hops, reach)
    counted = inputs._replace(naive_tokens=typed.context.naive_tokens)
    return Contrast(typed, _compile_reach(counted, target, reach), files)


def _find(graph: CallGraph, target: str | Target) -> Target:
    return find_target(graph, target) if isinstance(target, str) else target


def _reach(graph: CallGraph, facts: Mapping[str, ModuleFacts | None], target: str | Target, max_hops: int) -> Reach:
    text, _, _, paths = _find(graph, target)
    if len(paths) > 1:
        raise UserError(f"'{text}' lies in {len(paths)} files, names are followed from one: give '{paths[0]}', say")
    return NameIndex(facts).reach(paths[0], max_hops)


def _compile_reach(inputs: Inputs, target: str | Target, reach: Reach) -> Compilation:
    graph = inputs.graph
    found = _find(graph, target)
    whole = found._replace(kind="file", symbols=tuple(s.id for p in found.paths for s in graph.symbols_in_file(p)))
    hops = {path: hop for path, hop in reach.hops.items() if graph.symbols_in_file(path)}
    items = tuple(item for path, hop in hops.items() for item in _items_of_file(graph, path, hop, reach))
    sources = {path: read_source(inputs, path) for path in hops}
    imports = {path: [line for _, line in module_imports(graph, path)] for path, hop in hops.items() if hop}
    bare = inputs.profile._replace(docstring_lines=_UNCUT, attributes=_UNCUT, value_chars=_UNCUT)
    return Renderer(inputs._replace(profile=bare), whole, sources, imports).render(Plan(items, ()))


def _items_of_file(graph: CallGraph, path: str, hop: int, reach: Reach) -> Iterator[Item]:
    """Every definition of a file; the module itself stands for the file."""
    causes = reach.why.get(path, ())
    why = "target" if hop == 0 else ", ".join(f"{c.kind} {c.name}" for c in causes[:_CAUSES])
    for symbol in graph.symbols_in_file(path):
        if hop == 0:
            yield Item(symbol.id, hop, Form.FULL, None, why)
        elif symbol.kind in _SHOWN and "<locals>" not in symbol.qualname:
            yield Item(symbol.id, hop, Form.INTERFACE, None, why)
