"""The walk over a libcst tree, and the cursor it moves through the text to know where each node stands.

In: the text and its libcst nodes, visited in source order. Out: IR nodes with exact positions. Visiting the call in
`f( x )` takes the tokens `f`, `(`, `x`, `)` from the text, skipping blanks and comments between them.

libcst nodes carry no positions, and its own ways to compute them print the whole tree again (three times the cost of
parsing, and wrong where it does not print what it read: form feeds, bare carriage returns). Here each reading function
takes its node's tokens from the text instead. A token that is not where the tree says raises `Misplaced`, so a span is
either right or there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import libcst as cst

from contextc.analyzer.reading.builder import Builder, Scope
from contextc.analyzer.reading.limits import MAX_LEVELS, MAX_LINKS, TooDeep
from contextc.model import ir

Read = Callable[["Walk", Any, int], Any]  # (walk, node, start of the node) -> IR

_SKIP = re.compile(r"[ \t\f\r\n]*(?:(?:#[^\r\n]*|\\\r?\n|\\\r)[ \t\f\r\n]*)*").match
_VALUES = frozenset({cst.MatchValue, cst.MatchSingleton})  # their parentheses are those of the expression inside
# The innermost parentheses of these belong to them, as in `ast`.
_ENCLOSED = frozenset({cst.Tuple, cst.GeneratorExp, cst.MatchTuple})


class Misplaced(Exception):
    """The text at `position` is not what the tree says; `token` was expected."""

    def __init__(self, position: int, token: str) -> None:
        super().__init__(position, token)
        self.position = position
        self.token = token


class Walk:
    """The cursor, the scope being read, and the reading function for each kind of node.

    `pos` is in code points, after the last token taken. `spans` is always `builder.scope.spans`. `levels` bounds how
    deep the facts nest, `links` how long a chain is, and both this walk's own recursion.
    """

    __slots__ = ("builder", "expressions", "levels", "links", "patterns", "pos", "source", "spans", "statements")

    def __init__(
        self,
        source: str,
        expressions: Mapping[type[cst.CSTNode], Read],
        statements: Mapping[type[cst.CSTNode], Read],
        patterns: Mapping[type[cst.CSTNode], Read],
    ) -> None:
        self.source = source
        self.pos = 0
        self.builder = Builder()
        self.spans = self.builder.scope.spans
        self.levels = 0
        self.links = 0
        self.expressions = expressions
        self.statements = statements
        self.patterns = patterns

    # ------------------------------------------------------------------------------------------------- the cursor

    def skip(self) -> int:
        """Passes blanks, comments and line ends; gives the position of the next token."""
        match = _SKIP(self.source, self.pos)
        assert match is not None  # the pattern matches the empty text
        self.pos = match.end()
        return self.pos

    def take(self, token: str) -> int:
        """Passes the next token, which must be `token`; gives its start."""
        start = self.pos
        if not self.source.startswith(token, start):
            start = self.skip()
            if not self.source.startswith(token, start):
                raise Misplaced(start, token)
        self.pos = start + len(token)
        return start

    def take_next(self, token: str) -> int:
        """As `take`, but blanks are not passed: inside an f-string they are text."""
        start = self.pos
        if not self.source.startswith(token, start):
            raise Misplaced(start, token)
        self.pos = start + len(token)
        return start

    def pass_comma(self) -> None:
        """Passes a comma if one comes next."""
        before = self.pos
        if self.source.startswith(",", self.skip()):
            self.pos += 1
        else:
            self.pos = before  # a node's end is after its last token, not after the blanks that follow

    # -------------------------------------------------------------------------------------------------- the nodes

    def open(self, start: int) -> int:
        """Numbers a node that starts at `start` in the current scope; gives its slot (twice its ordinal)."""
        spans = self.spans
        slot = len(spans)
        spans.append(start)
        spans.append(start)
        return slot

    def expression(self, node: cst.BaseExpression) -> ir.Expr:
        """Reads one expression with its parentheses."""
        result: ir.Expr = self._read(self.expressions, node)
        return result

    def link(self, node: cst.BaseExpression) -> ir.Expr:
        """Reads the next expression of a chain, by whose length the facts don't nest."""
        self.enter_link()
        self.levels -= 1
        result: ir.Expr = self._read(self.expressions, node)
        self.levels += 1
        self.links -= 1
        return result

    def optional(self, node: cst.BaseExpression | None) -> ir.Expr | None:
        """Reads an expression that may be absent."""
        return None if node is None else self.expression(node)

    def pattern(self, node: cst.CSTNode) -> ir.Pattern:
        """Reads one pattern of a case with its parentheses."""
        result: ir.Pattern
        if node.__class__ in _VALUES:
            result = self.patterns[node.__class__](self, node, self.skip())
        else:
            result = self._read(self.patterns, node)
        return result

    def _read(self, table: Mapping[type[cst.CSTNode], Read], node: Any) -> Any:
        kind = node.__class__
        outer = 0
        lpar = getattr(node, "lpar", ())
        if lpar:
            outer = len(lpar) - (kind in _ENCLOSED)
            for _ in range(outer):
                self.take("(")
        self.enter_level(1)
        result = table[kind](self, node, self.skip())
        self.levels -= 1
        for _ in range(outer):
            self.take(")")
        return result

    def enter_level(self, count: int) -> None:
        """Counts levels of nested facts; the caller takes them off again. Raises TooDeep past the limit."""
        self.levels += count
        if self.levels > MAX_LEVELS:
            raise self._too_deep(f"nested more than {MAX_LEVELS} levels deep")

    def enter_link(self) -> None:
        """Counts a link of the chains being read; the caller takes it off again. Raises TooDeep past the limit."""
        self.links += 1
        if self.links > MAX_LINKS:
            raise self._too_deep(f"a chain of more than {MAX_LINKS:,} parts")

    def _too_deep(self, message: str) -> TooDeep:
        return TooDeep(len(re.findall("\r\n|\r|\n", self.source[: self.pos])) + 1, message)

    def element(self, node: cst.BaseElement) -> ir.Expr:
        """Reads an element of a display or tuple, without the comma after it."""
        result: ir.Expr = self._read(self.expressions, node.value if node.__class__ is cst.Element else node)
        return result

    def expressions_of(self, nodes: Sequence[cst.BaseElement]) -> tuple[ir.Expr, ...]:
        """Reads the elements of a display, each with the comma after it."""
        self.enter_level(1)
        items = []
        for node in nodes:
            items.append(self.element(node))
            self.pass_comma()
        self.levels -= 1
        return tuple(items)

    # ------------------------------------------------------------------------------------------------- the scopes

    def enter(self, scope: Scope) -> None:
        """Makes a symbol's scope the current one."""
        self.builder.enter(scope)
        self.spans = scope.spans

    def leave(self) -> None:
        """Leaves the current scope."""
        self.builder.leave()
        self.spans = self.builder.scope.spans
