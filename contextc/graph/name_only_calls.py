"""The name-only resolver's call graph: what a call graph looks like when receivers have no types.

In: files, their facts and symbols. Out: edges and unresolved sites, for `--resolver name-only` and for comparison.
With two classes that define `save`, the call `x.save()` gives two edges, both `likely`, rule `bare-name`.

Imports are followed first (relative ones, re-exports and stars too): a callee they explain is one `certain` edge, rule
`import`, and a callee in a module outside the repository none. Any other call means every definition of the bare name.
A class means its own `__init__` where it has one. This is the strongest form of the idea: in it 80 to 93 of 100 calls
are found and about one edge in three is right (see benchmarks/oracle).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import edge_order, unresolved_order
from contextc.graph.name_only import BUILTINS, DEFINITIONS, name_called
from contextc.model import ir
from contextc.model.analysis import ModuleFile
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule, Site, Unresolved
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.span import LineIndex
from contextc.model.symbol import Symbol
from contextc.model.traverse import iter_module


class NameOnlyCalls(NamedTuple):
    """Sorted, ready for an `Analysis`."""

    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]


class _Module(NamedTuple):
    dotted: str  # the module itself, for a name bound to it


class _Definition(NamedTuple):
    path: str
    number: int  # its index in the file's facts


class _From(NamedTuple):
    module: str
    name: str


_EXTERNAL = "external"
_Meaning = _Module | _Definition | str | None  # what imports say of an expression; None: nothing


def find_name_only_calls(
    files: Sequence[ModuleFile],
    facts: Mapping[str, ModuleFacts],
    symbols: Iterable[Symbol],
    lines: Callable[[str], LineIndex],
) -> NameOnlyCalls:
    """Edges by imports and bare names. `facts` by path; `lines` gives the line index of a path's normalised text.

    Only symbols in `symbols` become ends: a call in a scope that has none counts for the nearest one around it.
    """
    names = _Names(files, facts, frozenset(symbol.id for symbol in symbols))
    edges: list[Edge] = []
    unresolved: list[Unresolved] = []
    for path in sorted(names.files):
        index = lines(path)
        for scope, node in iter_module(facts[path]):
            if isinstance(node, ir.Call):
                _resolve_call(names, path, scope, node, index, edges, unresolved)
    return NameOnlyCalls(
        tuple(sorted(set(edges), key=edge_order)), tuple(sorted(set(unresolved), key=unresolved_order))
    )


def _resolve_call(
    names: _Names,
    path: str,
    scope: int,
    call: ir.Call,
    lines: LineIndex,
    edges: list[Edge],
    unresolved: list[Unresolved],
) -> None:
    site = _find_site(names.facts[path].symbols[scope], call, lines)
    caller = names.symbol_id(path, scope)
    meaning = names.follow(path, call.func)
    if meaning == _EXTERNAL or caller is None:
        return
    name = name_called(call)
    explained = isinstance(meaning, _Definition)
    targets = [meaning] if isinstance(meaning, _Definition) else names.by_name.get(name or "", ())
    certainty, rule = (Certainty.CERTAIN, Rule.IMPORT) if explained else (Certainty.LIKELY, Rule.BARE_NAME)
    for target in targets:
        kind, callee = names.find_callee(target)
        if callee is not None:
            edges.append(Edge(caller, callee, path, site[0], site, kind, certainty, rule))
    if not targets and not (isinstance(call.func, ir.Name) and name in BUILTINS):
        reason = Reason.UNTYPED_RECEIVER if isinstance(call.func, ir.Attribute) else Reason.UNKNOWN_CALLABLE
        unresolved.append(Unresolved(caller, path, site[0], site, reason, _spell(call.func)))


def _find_site(owner: SymbolFacts, call: ir.Call, lines: LineIndex) -> Site:
    base = owner.span.start if owner.kind is not SymbolKind.MODULE else 0
    start = lines.position(base + owner.spans[2 * call.at])
    end = lines.position(base + owner.spans[2 * call.at + 1])
    return (start.line, start.col, end.line, end.col)


def _unroll(expression: ir.Expr) -> tuple[ir.Expr, list[str]]:
    """`a.b.c` as `a` and `["b", "c"]`."""
    attributes: list[str] = []
    while isinstance(expression, ir.Attribute):
        attributes.append(expression.attr)
        expression = expression.value
    return expression, attributes[::-1]


def _spell(expression: ir.Expr) -> str:
    base, attributes = _unroll(expression)
    return ".".join([base.id if isinstance(base, ir.Name) else "…", *attributes])


class _Names:
    """What can be known of names without values: definitions by bare name, modules, each file's imports."""

    def __init__(self, files: Sequence[ModuleFile], facts: Mapping[str, ModuleFacts], ids: frozenset[str]) -> None:
        self.files = {file.path: file for file in files if file.path in facts and not file.is_stub}
        self.facts = facts
        self.ids = ids
        self.modules: dict[str, str] = {}
        self.packages: set[str] = set()  # every dotted prefix of a module, so that namespace packages are known
        self.by_name: dict[str, list[_Definition]] = {}
        self.members: dict[_Definition, dict[str, _Definition]] = {}  # of a module (index 0) or class, the last ones
        self.imports: dict[str, dict[str, _Module | _From]] = {}
        self.stars: dict[str, list[str]] = {}
        for path in sorted(self.files):
            self._add_file(self.files[path])

    def _add_file(self, file: ModuleFile) -> None:
        path, module = file.path, file.module
        self.modules[module] = path
        while module:
            self.packages.add(module)
            module = module.rpartition(".")[0]
        for index, symbol in enumerate(self.facts[path].symbols):
            if symbol.kind in DEFINITIONS:
                definition = _Definition(path, index)
                self.by_name.setdefault(symbol.name, []).append(definition)
                self.members.setdefault(_Definition(path, symbol.parent), {})[symbol.name] = definition
        bound = self.imports.setdefault(path, {})
        for _, node in iter_module(self.facts[path]):
            if isinstance(node, ir.Import):
                for name in node.names:
                    first = name.name.partition(".")[0]
                    bound[name.asname or first] = _Module(name.name if name.asname else first)
            elif isinstance(node, ir.ImportFrom):
                source = _absolute(file, node)
                for name in node.names:
                    if name.name == "*":
                        self.stars.setdefault(path, []).append(source)
                    else:
                        bound[name.asname or name.name] = _From(source, name.name)

    def symbol_id(self, path: str, index: int) -> str | None:
        """The id of that symbol, or of the nearest around it that is in the graph."""
        symbols = self.facts[path].symbols
        while index >= 0:
            symbol_id = f"{self.files[path].module_id}:{symbols[index].local_id}"
            if symbol_id in self.ids:
                return symbol_id
            index = symbols[index].parent
        return None

    def find_callee(self, target: _Definition) -> tuple[EdgeKind, str | None]:
        """What runs when the definition is called: a class runs its own `__init__`, if it has one."""
        if self.facts[target.path].symbols[target.number].kind is not SymbolKind.CLASS:
            return EdgeKind.CALL, self.symbol_id(*target)
        runs = self.members.get(target, {}).get("__init__", target)
        return EdgeKind.CONSTRUCT, self.symbol_id(*runs)

    def follow(self, path: str, expression: ir.Expr) -> _Meaning:
        """What the file's imports say of `a` or `a.b.c`."""
        base, attributes = _unroll(expression)
        bound = self.imports[path].get(base.id) if isinstance(base, ir.Name) else None
        meaning = self._look_up(bound.module, bound.name) if isinstance(bound, _From) else bound
        if isinstance(meaning, _Module) and meaning.dotted not in self.packages:
            meaning = _EXTERNAL
        for attribute in attributes:
            if isinstance(meaning, _Module):
                meaning = self._look_up(meaning.dotted, attribute)
            elif isinstance(meaning, _Definition):
                meaning = self.members.get(meaning, {}).get(attribute)
            elif meaning is None:
                return None
        return meaning

    def _look_up(self, module: str, name: str) -> _Meaning:
        """A name in a module: its definition, a submodule, or what its own imports say; cycles end in None."""
        seen: set[_From] = set()
        waiting = [(_From(module, name), False)]
        while waiting:
            wanted, by_star = waiting.pop()
            if wanted in seen:
                continue
            seen.add(wanted)
            meaning = self._look_once(wanted)
            if meaning is not None and not (by_star and meaning == _EXTERNAL):
                return meaning  # a star import of an outside module doesn't prove that the name comes from there
            waiting.extend(self._onward(wanted, by_star))
        return None

    def _look_once(self, wanted: _From) -> _Meaning:
        path = self.modules.get(wanted.module)
        own = self.members.get(_Definition(path, 0), {}).get(wanted.name) if path else None
        if own is not None:
            return own
        dotted = f"{wanted.module}.{wanted.name}" if wanted.module else wanted.name
        if dotted in self.packages:
            return _Module(dotted)
        bound = self.imports[path].get(wanted.name) if path else None
        if isinstance(bound, _Module):
            return bound if bound.dotted in self.packages else _EXTERNAL
        return _EXTERNAL if wanted.module not in self.packages else None

    def _onward(self, wanted: _From, by_star: bool) -> Iterator[tuple[_From, bool]]:
        path = self.modules.get(wanted.module)
        if path is None:
            return
        bound = self.imports[path].get(wanted.name)
        if isinstance(bound, _From):
            yield bound, by_star
        elif bound is None:
            yield from ((_From(star, wanted.name), True) for star in reversed(self.stars.get(path, [])))


def _absolute(file: ModuleFile, node: ir.ImportFrom) -> str:
    """The dotted name a from-import starts at; for more dots than packages a name that no module has."""
    if not node.level:
        return node.module
    parts = file.module.split(".")
    drop = node.level - (1 if file.is_package else 0)
    if drop > len(parts):
        return "." * node.level + node.module
    base = parts[: len(parts) - drop]
    return ".".join([*base, node.module] if node.module else base)
