"""The statements of one definition with the lines they stand on. In: a definition's text. Out: a `Statement`.

    def f(x):            f is a Statement with one Clause, whose head is line 1; its body has one Statement with the
        if x:            two clauses `if x:` (line 2) and `else:` (line 4), each with a body of one simple Statement.
            g()
        else:
            h()

A unit is what is kept or left out at once: a simple statement, or a clause's head. Units are numbered in source order.
An `elif` is a clause of its `if`. `read_definition` gives None for what this interpreter's grammar doesn't know, what
is too long, and text in which a clause's head can't be found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from contextc.passes.forms import parse_quietly

_LONGEST = 400_000  # characters of a definition that is taken apart
_TAIL = re.compile(r"[ \t\f]*(?:else|finally)[ \t\f]*:")
_CASE = re.compile(r"[ \t\f]*case\b")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass
class Clause:
    """A head (`if x:`, `else:`, `case 1:`, `def f():` with its decorators) and its body. `reads`: the parts of the head
    that are evaluated or bound; `last` is the body's last line. An inline body stands on the head's last line."""

    word: str
    first: int
    head_last: int
    last: int
    unit: int
    reads: Sequence[ast.AST]
    body: list[Statement] = field(default_factory=list)
    owner: Statement | None = None
    binds: str | None = None  # the name that the head gives: of a definition, of an exception

    @property
    def is_inline(self) -> bool:
        """Whether the body begins on a line of the head."""
        return bool(self.body) and self.body[0].first <= self.head_last


@dataclass
class Statement:
    """A statement and its lines. A simple one has no clauses. `unit` is its own, or that of a `match` line; of other
    compound statements that of the first clause."""

    node: ast.stmt
    first: int
    last: int
    unit: int
    clauses: list[Clause] = field(default_factory=list)
    within: Clause | None = None
    head_last: int = 0  # of a `match`, whose clauses are its cases

    @property
    def is_scope(self) -> bool:
        """A function or class."""
        return isinstance(self.node, _SCOPES)

    @property
    def is_loop(self) -> bool:
        """A `for` or `while`."""
        return isinstance(self.node, _LOOPS)


class Broken(Exception):
    """A clause's head isn't where it is looked for (a line continued by a backslash, say)."""


def parse_fragment(text: str) -> ast.stmt | None:
    """The one definition that indented text holds, as the second line of a block; None where it can't be read."""
    block = parse_quietly(f"if 1:\n{text}\n" if text[:1] in " \t\f" else f"\n{text}\n", _LONGEST)
    inside = block[0].body if len(block) == 1 and isinstance(block[0], ast.If) else block
    return inside[0] if len(inside) == 1 else None


class Reader:
    """Reads one definition. `lines` and `units` (by number: a simple statement, or a clause) are there afterwards."""

    def __init__(self, text: str, first: int) -> None:
        self.lines = text.split("\n")
        self.units: list[Statement | Clause] = []
        self._shift = first - 2  # the parsed text has a line before the definition's first
        self._first = first

    def read(self, node: ast.stmt, within: Clause | None = None) -> Statement:
        """The statement with all that is inside. Raises Broken."""
        first, last = self._start(node), (node.end_lineno or node.lineno) + self._shift
        statement = Statement(node, first, last, len(self.units), within=within)
        if isinstance(node, ast.Match):
            self.units.append(statement)
            self._read_cases(statement, node)
            return statement
        parts = list(_clauses_of(node))
        if not parts:
            self.units.append(statement)
        before = first
        for word, at, reads, binds, body in parts:
            start = at + self._shift if at else self._find_tail(before, self._start(body[0]))
            if word in _SCOPED:
                start = first
            clause = self._clause(statement, (word, start, reads, binds), body)
            before = clause.last + 1
        return statement

    def _clause(
        self, owner: Statement, head: tuple[str, int, Sequence[ast.AST], str | None], body: list[ast.stmt]
    ) -> Clause:
        word, first, reads, binds = head
        inside = self._start(body[0])
        head_last = inside
        if self._begins_line(body[0]):
            head_last = self._last_code(first, inside - 1)
        last = (body[-1].end_lineno or body[-1].lineno) + self._shift
        clause = Clause(word, first, head_last, last, len(self.units), reads, owner=owner, binds=binds)
        self.units.append(clause)
        owner.clauses.append(clause)
        clause.body = [self.read(node, clause) for node in body]
        return clause

    def _read_cases(self, statement: Statement, node: ast.Match) -> None:
        for case in node.cases:
            line = case.pattern.lineno + self._shift
            while line > statement.first and not _CASE.match(self._line(line)):
                line -= 1
            if line <= statement.first:
                raise Broken
            if not statement.head_last:
                statement.head_last = self._last_code(statement.first, line - 1)
            reads = [case.pattern, *([case.guard] if case.guard else [])]
            self._clause(statement, ("case", line, reads, None), case.body)

    def _start(self, node: ast.stmt) -> int:
        decorators = node.decorator_list if isinstance(node, _SCOPES) else []
        return min([node.lineno, *(decorator.lineno for decorator in decorators)]) + self._shift

    def _line(self, number: int) -> str:
        return self.lines[number - self._first]

    def _begins_line(self, node: ast.stmt) -> bool:
        if getattr(node, "decorator_list", ()):
            return True
        before = self._line(node.lineno + self._shift).encode("utf-8")[: node.col_offset]
        return not before.strip(b" \t\f")

    def _last_code(self, first: int, last: int) -> int:
        """The last line from `first` to `last` that is more than a comment."""
        while last > first and self._line(last).strip()[:1] in ("", "#"):
            last -= 1
        return last

    def _find_tail(self, first: int, last: int) -> int:
        for number in range(first, last + 1):
            if _TAIL.match(self._line(number)):
                return number
        raise Broken


_SCOPED = ("def", "class")
_Part = tuple[str, int, Sequence[ast.AST], str | None, list[ast.stmt]]


def _clauses_of(node: ast.stmt) -> Iterator[_Part]:
    """Word, line as parsed (0: to be looked for), what the head reads, what it binds, and body of each clause."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        reads = [*node.decorator_list, *_head_of(node.args), *([node.returns] if node.returns else [])]
        yield "def", node.lineno, reads, node.name, node.body
    elif isinstance(node, ast.ClassDef):
        yield "class", node.lineno, [*node.decorator_list, *node.bases, *node.keywords], node.name, node.body
    elif isinstance(node, ast.If):
        yield from _chain(node)
    elif isinstance(node, ast.For | ast.AsyncFor):
        yield "for", node.lineno, [node.target, node.iter], None, node.body
        yield from _tail("else", node.orelse)
    elif isinstance(node, ast.While):
        yield "while", node.lineno, [node.test], None, node.body
        yield from _tail("else", node.orelse)
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield "with", node.lineno, node.items, None, node.body
    elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
        yield "try", node.lineno, [], None, node.body  # type: ignore[attr-defined]
        for handler in node.handlers:  # type: ignore[attr-defined]
            reads = [handler.type] if handler.type else []
            yield "except", handler.lineno, reads, handler.name, handler.body
        yield from _tail("else", node.orelse)  # type: ignore[attr-defined]
        yield from _tail("finally", node.finalbody)  # type: ignore[attr-defined]


def _chain(node: ast.If) -> Iterator[_Part]:
    """`if`, each `elif`, `else`. An `elif` is the only `if` of an `else` in the tree, and stands at its column."""
    yield "if", node.lineno, [node.test], None, node.body
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        inner = node.orelse[0]
        if inner.col_offset != node.col_offset:
            break
        node = inner
        yield "elif", node.lineno, [node.test], None, node.body
    yield from _tail("else", node.orelse)


def _tail(word: str, body: list[ast.stmt]) -> Iterator[_Part]:
    if body:
        yield word, 0, [], None, body


def _head_of(arguments: ast.arguments) -> Iterator[ast.AST]:
    """What a function's parameters evaluate: defaults and annotations."""
    yield from arguments.defaults
    yield from (default for default in arguments.kw_defaults if default is not None)
    for argument in parameters_of(arguments):
        if argument.annotation is not None:
            yield argument.annotation


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters, stars too."""
    stars = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *stars]
