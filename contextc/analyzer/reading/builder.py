"""Symbols under construction: numbering, spans, bindings. Shared by both readers.

In: calls in source order while a reader walks its tree. Out: `ModuleFacts.symbols`. For `x = f(1)` a reader calls
`slot = scope.open(0)` for the statement, likewise for each node inside, `scope.close(slot, end)` as each ends,
`scope.bind("x")`, `builder.declare("x", 0)`, and at last `builder.finish(None)`.

A node's ordinal `at` is half its slot: `spans[slot]` is its start, `spans[slot + 1]` its end.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from contextc.model import ir
from contextc.model.facts import SymbolFacts, SymbolKind
from contextc.model.span import Span

MODULE_NAME = "<module>"
LAMBDA_NAME = "<lambda>"
_HOLDERS = (SymbolKind.MODULE, SymbolKind.CLASS)  # whose assigned names become symbols


class Scope:
    """One symbol while it is read. Positions are absolute, in the units of the reader's text."""

    __slots__ = (
        "bases",
        "body",
        "body_start",
        "bound",
        "calls",
        "declared",
        "decorators",
        "defined",
        "docstring",
        "end",
        "globals",
        "header",
        "index",
        "is_async",
        "is_generator",
        "kind",
        "name",
        "nonlocals",
        "parameters",
        "parent",
        "qualname",
        "returns",
        "spans",
        "start",
        "type_parameters",
    )  # fmt: skip

    def __init__(self, kind: SymbolKind, name: str, qualname: str, index: int, parent: int, start: int) -> None:
        self.kind = kind
        self.name = name
        self.qualname = qualname
        self.index = index
        self.parent = parent
        self.start = start
        self.end = start
        self.header = (start, start)
        self.docstring: tuple[int, int] | None = None
        self.body_start = -1
        self.is_async = False
        self.is_generator = False
        self.decorators: tuple[ir.Expr, ...] = ()
        self.bases: tuple[ir.Argument, ...] = ()
        self.parameters: tuple[ir.Parameter, ...] = ()
        self.returns: ir.Expr | None = None
        self.type_parameters: tuple[ir.TypeParameter, ...] = ()
        self.bound: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.body: tuple[ir.Stmt, ...] = ()
        self.spans: list[int] = []
        self.calls = 0
        self.defined: frozenset[str] = frozenset()  # names that a def or class in this scope binds
        self.declared: set[str] = set()  # names that have their VARIABLE or ATTRIBUTE symbol

    def open(self, start: int) -> int:
        """Numbers a node that starts here; gives its slot."""
        slot = len(self.spans)
        self.spans.append(start)
        self.spans.append(start)
        return slot

    def close(self, slot: int, end: int) -> None:
        """Records where the node of that slot ends."""
        self.spans[slot + 1] = end

    def bind(self, name: str) -> None:
        """Records that the scope's own code binds the name."""
        self.bound.add(name)

    def take_docstring(self) -> None:
        """Finds the docstring in a finished body: a first statement that is one plain string."""
        first = self.body[0] if self.body else None
        if type(first) is ir.Evaluate and first.at == 0:
            value = first.value
            if type(value) is ir.Constant and value.type == "str":
                self.docstring = (self.spans[2 * value.at], self.spans[2 * value.at + 1])


class Builder:
    """The file's symbols in order, and the scope being read."""

    __slots__ = ("scope", "scopes")

    def __init__(self) -> None:
        module = Scope(SymbolKind.MODULE, MODULE_NAME, MODULE_NAME, 0, -1, 0)
        self.scopes = [module]
        self.scope = module

    def add(self, kind: SymbolKind, name: str, start: int) -> Scope:
        """Makes a symbol inside the current scope, which stays current: what stands before the body belongs to it."""
        parent = self.scope
        scope = Scope(kind, name, _qualify(parent, name), len(self.scopes), parent.index, start)
        self.scopes.append(scope)
        return scope

    def enter(self, scope: Scope) -> None:
        """Makes a symbol's scope the current one. Undo with `leave`."""
        self.scope = scope

    def leave(self) -> None:
        """Makes the enclosing scope current again."""
        self.scope = self.scopes[self.scope.parent]

    def declare(self, name: str, start: int) -> Scope | None:
        """The VARIABLE or ATTRIBUTE symbol for a name assigned in module or class code; None where it has none (in a
        function, already declared, also defined by def or class, or declared global)."""
        scope = self.scope
        if (
            scope.kind not in _HOLDERS
            or name in scope.declared
            or name in scope.defined
            or (name in scope.globals and scope.parent >= 0)
        ):
            return None
        scope.declared.add(name)
        kind = SymbolKind.VARIABLE if scope.kind is SymbolKind.MODULE else SymbolKind.ATTRIBUTE
        return self.add(kind, name, start)

    def bind_target(self, target: ir.Expr) -> Iterable[str]:
        """Binds each name in an assignment target; gives the names in order."""
        if type(target) is ir.Name:
            self.scope.bound.add(target.id)
            return (target.id,)
        if type(target) is ir.Starred:
            return self.bind_target(target.value)
        if type(target) is ir.TupleExpr or type(target) is ir.ListExpr:
            return [name for item in target.items for name in self.bind_target(item)]
        return ()

    def declare_target(self, target: ir.Expr, start: int) -> list[Scope]:
        """Binds a target's names and declares those that become symbols; their ends are set by `end_variables`."""
        declared = [self.declare(name, start) for name in self.bind_target(target)]
        return [scope for scope in declared if scope is not None]

    def finish(self, offsets: Sequence[int] | None) -> tuple[SymbolFacts, ...]:
        """The symbols as facts. `offsets` maps the reader's positions to byte offsets; None if they are byte
        offsets."""
        seen: dict[str, int] = {}
        facts = []
        for scope in self.scopes:
            count = seen[scope.qualname] = seen.get(scope.qualname, 0) + 1
            local_id = scope.qualname if count == 1 else f"{scope.qualname}#{count}"
            facts.append(_freeze(scope, local_id, offsets))
        return tuple(facts)


def end_variables(variables: Iterable[Scope], end: int) -> None:
    """Sets the span of variables to their statement, from its start to `end`."""
    for scope in variables:
        scope.end = scope.body_start = end
        scope.header = (scope.start, end)


def normalize(name: str) -> str:
    """An identifier as Python compares it (NFKC, PEP 3131)."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def _qualify(parent: Scope, name: str) -> str:
    """Python's __qualname__: a name that the enclosing scope declares global stands alone."""
    if parent.kind is SymbolKind.MODULE or name in parent.globals:
        return name
    if parent.kind is SymbolKind.CLASS:
        return f"{parent.qualname}.{name}"
    return f"{parent.qualname}.<locals>.{name}"


def _freeze(scope: Scope, local_id: str, offsets: Sequence[int] | None) -> SymbolFacts:
    places = [scope.start, scope.end, *scope.header, *(scope.docstring or (0, 0)), scope.body_start, *scope.spans]
    if scope.body_start < 0:
        places[6] = scope.header[1]
    if offsets is not None:
        places = [offsets[place] for place in places]
    start = places[0]
    outside = set() if scope.kind is SymbolKind.MODULE else scope.globals
    return SymbolFacts(
        kind=scope.kind,
        name=scope.name,
        qualname=scope.qualname,
        local_id=local_id,
        parent=scope.parent,
        span=Span(start, places[1]),
        header=Span(places[2], places[3]),
        docstring=Span(places[4], places[5]) if scope.docstring else None,
        body_start=places[6],
        is_async=scope.is_async,
        is_generator=scope.is_generator,
        decorators=scope.decorators,
        bases=scope.bases,
        parameters=scope.parameters,
        returns=scope.returns,
        type_parameters=scope.type_parameters,
        bindings=tuple(sorted(scope.bound - outside - scope.nonlocals)),
        globals=tuple(sorted(scope.globals)),
        nonlocals=tuple(sorted(scope.nonlocals)),
        body=scope.body,
        spans=tuple([place - start for place in places[7:]] if start else places[7:]),
        call_sites=scope.calls,
    )
