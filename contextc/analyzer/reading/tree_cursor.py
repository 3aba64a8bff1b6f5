"""The walk over a tree-sitter tree, of a text that need not parse. Knows where the tree is broken, and goes on.

In: nodes, visited in source order. Out: IR nodes; `Unread` for what is broken or not expressed. In `x = f(1)` followed
by `def g(:`, the call is read as if nothing were wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from contextc.analyzer.reading.builder import Builder, Scope, normalize
from contextc.analyzer.reading.limits import MAX_LEVELS, MAX_LINKS, TOO_DEEP
from contextc.model import ir

Node = Any  # a tree_sitter.Node
Read = Callable[["Walk", Node], Any]
Parse = Callable[[bytes], Node]  # a text to the root of its tree

_CHAINS = frozenset({"attribute", "call", "subscript"})
_PARENTHESES = "parenthesized_expression"
# Levels of nested facts that one in another takes: a call, its list of arguments, an argument; a statement, its block.
_EXPRESSION = 3
_BLOCK = 2
_NOISE = frozenset({"comment", "line_continuation"})


class Walk:
    """The text, the scope being read, the reading function for each type of node.

    `base` is added to the places of nodes: a tree may be that of a part of the text. `levels` bounds how deep the facts
    nest, `links` how long a chain is, and both this walk's own recursion; `deep` has the places where it stopped for
    that. `star` is set while a chain is read that the grammar hangs on a starred name: where the star is, and where
    what follows it starts."""

    __slots__ = ("base", "builder", "deep", "expressions", "levels", "links", "parse", "star", "statements", "text")

    def __init__(
        self, text: bytes, expressions: Mapping[str, Read], statements: Mapping[str, Read], parse: Parse
    ) -> None:
        self.text = text
        self.base = 0
        self.builder = Builder()
        self.levels = 0
        self.links = 0
        self.deep: list[int] = []
        self.star: tuple[int, int] | None = None
        self.expressions = expressions
        self.statements = statements
        self.parse = parse

    def start(self, node: Node) -> int:
        """Where a node starts in the whole text."""
        place = self.base + int(node.start_byte)
        return place if self.star is None or place != self.star[0] else self.star[1]

    def end(self, node: Node) -> int:
        """Where a node ends, comments at the end of a block left out, a semicolon not."""
        last = node
        while last.type in _OPEN_ENDED and (parts := children(last)):
            last = last.children[-1] if last.children[-1].type == ";" else parts[-1]
        return self.base + int(last.end_byte)

    def open(self, node: Node) -> int:
        """Numbers a node in the current scope; gives its ordinal."""
        scope = self.builder.scope
        slot = scope.open(self.start(node))
        scope.close(slot, self.end(node))
        return slot >> 1

    def open_items(self, node: Node, items: list[Node]) -> int:
        """Numbers a tuple without parentheses: `items` and the comma behind them, all in `node`."""
        commas = [child for child in node.children if child.type == "," and child.start_byte > items[-1].start_byte]
        return self.open_between(items[0], commas[-1] if commas else items[-1])

    def open_between(self, first: Node, last: Node) -> int:
        """Numbers what stretches over several nodes, as a tuple without parentheses does."""
        scope = self.builder.scope
        slot = scope.open(self.start(first))
        scope.close(slot, self.end(last))
        return slot >> 1

    def word(self, node: Node) -> str:
        """The node's text."""
        return self.text[self.start(node) : self.base + node.end_byte].decode("utf-8", "replace")

    def name(self, node: Node) -> str:
        """The node's text as an identifier, dots and blanks of a dotted name included."""
        return normalize("".join(self.word(node).split()))

    def expression(self, node: Node) -> ir.Expr:
        """Reads an expression; `Unread` for what is broken, unknown or too deep."""
        if not self.enter_level(node):
            return ir.Unread(self.open(node), TOO_DEEP)
        result = self._read(node)
        self.leave_level()
        return result

    def enter_level(self, node: Node, count: int = _EXPRESSION) -> bool:
        """Counts the levels that reading `node` adds to the facts; False, and nothing counted, past the limit. Undo
        with `leave_level`."""
        if self.levels + count > MAX_LEVELS:
            self.deep.append(self.start(node))
            return False
        self.levels += count
        return True

    def leave_level(self, count: int = _EXPRESSION) -> None:
        """Takes off what `enter_level` counted."""
        self.levels -= count

    def link(self, node: Node) -> ir.Expr:
        """Reads the next expression of a chain, by whose length the facts don't nest."""
        if self.links >= MAX_LINKS:
            self.deep.append(self.start(node))
            return ir.Unread(self.open(node), TOO_DEEP)
        self.links += 1
        result = self._read(node)
        self.links -= 1
        return result

    def _read(self, node: Node) -> ir.Expr:
        while node.type == _PARENTHESES and len(parts := children(node)) == 1:
            node = parts[0]
        read = self.expressions.get(node.type)
        if read is None or node.is_missing:
            return ir.Unread(self.open(node), node.type)
        if self.is_starred(node):
            return ir.Starred(self.open(node), self.unstarred(node))
        result: ir.Expr = read(self, node)
        return result

    def is_starred(self, node: Node) -> bool:
        """`*a.b(c)`: in the grammar the star is innermost, on `a`; in Python it is outermost. Not true of the inner
        nodes of such a chain that is being read."""
        start = self.base + node.start_byte
        inside = self.star is not None and self.star[0] == start
        return node.type in _CHAINS and not inside and self.text.startswith(b"*", start)

    def unstarred(self, node: Node) -> ir.Expr:
        """Reads a starred chain without its star."""
        splat = node
        while splat is not None and splat.type in _CHAINS:
            splat = splat.named_children[0] if splat.named_children else None
        inner = children(splat) if splat is not None and splat.type == "list_splat" else []
        if len(inner) != 1:
            return ir.Unread(self.open(node), node.type)
        outer, self.star = self.star, (self.start(node), self.start(inner[0]))
        value: ir.Expr = self.expressions[node.type](self, node)
        self.star = outer
        return value

    def field(self, node: Node, name: str) -> ir.Expr | None:
        """Reads the expression in a field, if it is there."""
        child = node.child_by_field_name(name)
        return None if child is None else self.expression(child)

    def required(self, node: Node, name: str) -> ir.Expr:
        """Reads the expression in a field; `Unread` if it is not there."""
        child = node.child_by_field_name(name)
        return self._missing(node, name) if child is None else self.expression(child)

    def required_link(self, node: Node, name: str) -> ir.Expr:
        """As `required`, for the field that holds the next expression of a chain."""
        child = node.child_by_field_name(name)
        return self._missing(node, name) if child is None else self.link(child)

    def _missing(self, node: Node, name: str) -> ir.Unread:
        return ir.Unread(self.open(node), f"missing {name}")

    def expressions_of(self, nodes: Iterable[Node]) -> tuple[ir.Expr, ...]:
        """Reads each as an expression."""
        return tuple([self.expression(node) for node in nodes])

    def block(self, node: Node | None) -> tuple[ir.Stmt, ...]:
        """Reads the statements in a block. In what is broken, the statements still recognised are read."""
        body: list[ir.Stmt] = []
        if node is None or not self.enter_level(node, _BLOCK):
            return ()
        for child in children(node):
            self.statement(child, body)
        self.leave_level(_BLOCK)
        return tuple(body)

    def statement(self, node: Node, body: list[ir.Stmt]) -> None:
        """Reads one statement onto `body`, or those inside a broken stretch."""
        read = self.statements.get(node.type)
        if read is not None:
            result = read(self, node)
            if result is not None:
                body.append(result)
        elif node.type in ("ERROR", "block"):
            body.extend(self.block(node))

    def statement_from(self, start: int, text: bytes) -> ir.Stmt | None:
        """Reads `text`, which differs from what stands at `start` in that the grammar takes it for what it is."""
        body: list[ir.Stmt] = []
        outer, self.base = self.base, start
        for node in children(self.parse(text))[:1]:
            self.statement(node, body)
        self.base = outer
        return body[0] if body else None

    def enter(self, scope: Scope) -> None:
        """Makes a symbol's scope the current one."""
        self.builder.enter(scope)

    def leave(self) -> None:
        """Leaves the current scope."""
        self.builder.leave()


_OPEN_ENDED = frozenset(
    {
        "block", "function_definition", "class_definition", "decorated_definition", "if_statement", "elif_clause",
        "else_clause", "for_statement", "while_statement", "try_statement", "except_clause", "except_group_clause",
        "finally_clause", "with_statement", "match_statement", "case_clause",
    }
)  # fmt: skip


def children(node: Node) -> list[Node]:
    """The named children without comments."""
    return [child for child in node.named_children if child.type not in _NOISE]
