"""One source file as written: its calls, decorators, `with` items and definitions by position.

In: a path. Out: a `Syntax`; empty where the file can't be parsed by the running interpreter.

    syntax.find_call((3, 4, 3, 12), "save")     # the ast.Call that stands exactly there

Where only lines are known (before 3.11) a call is found by its line and the name of what started.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from .bytecode import HAS_COLUMNS, Position

Span = tuple[int, int, int, int]
COMPREHENSIONS = {ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>", ast.DictComp: "<dictcomp>"}
_NAMED_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_INSIDE = ("body", "elt", "key", "value", "generators")  # decorators, defaults and bases belong to the scope around


class Definition(NamedTuple):
    """`first`: the line code objects name, that of the first decorator; `line`: that of `def` or `class`."""

    name: str
    qualname: str
    first: int
    line: int


class Syntax:
    """The index of one file."""

    def __init__(self, source: bytes) -> None:
        self.calls: dict[Span, ast.Call] = {}
        self.calls_of_attribute: dict[tuple[int, int], ast.Call] = {}  # by where the attribute's name begins
        self.calls_at_line: dict[int, list[ast.Call]] = {}  # where each line of its span counts
        self.decorators: set[Span] = set()
        self.decorated_lines: set[int] = set()  # of `def` and `class`: 3.10 applies decorators there
        self.with_items: set[Span] = set()
        self.with_lines: set[int] = set()
        self.definitions: dict[tuple[str, int], list[Definition]] = {}  # by name and `first`
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        for node, qualname in _iterate_scoped(tree):
            self._index(node, qualname)

    def _index(self, node: ast.AST, qualname: str) -> None:
        if isinstance(node, ast.Call):
            self.calls[_span(node)] = node
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                self.calls_at_line.setdefault(line, []).append(node)
            if isinstance(node.func, ast.Attribute):
                _, _, line, end = _span(node.func)
                self.calls_of_attribute[line, end - len(node.func.attr.encode())] = node
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.with_items.update(_span(item.context_expr) for item in node.items)
            self.with_lines.update(item.context_expr.lineno for item in node.items)
            self.with_lines.add(node.lineno)
        name = _scope_name(node)
        if name is not None:
            line = getattr(node, "lineno", 0)
            decorators = getattr(node, "decorator_list", [])
            first = min([line, *(decorator.lineno for decorator in decorators)])
            self.decorators.update(_span(decorator) for decorator in decorators)
            self.decorated_lines.update([line] if decorators else [])
            self.definitions.setdefault((name, first), []).append(Definition(name, qualname, first, line))

    def find_call(self, where: Position, started: str) -> ast.Call | None:
        """The call expression an instruction at `where` evaluates; where only the line is known, the innermost of that
        line with the name `started`, or the outermost."""
        found = self.find_candidates(where)
        named = [call for call in found if called_name(call) == started]
        return named[-1] if named else next(iter(found), None)

    def find_candidates(self, where: Position) -> list[ast.Call]:
        """The call expressions an instruction at `where` may evaluate. With columns one at most; in chains over lines
        the instruction begins where the attribute's name does."""
        line, column, end, end_column = where
        if line is None:
            return []
        if not HAS_COLUMNS:
            return self.calls_at_line.get(line, [])
        if column is None or end is None or end_column is None:
            return []
        exact = self.calls.get((line, column, end, end_column)) or self.calls_of_attribute.get((line, column))
        return [] if exact is None else [exact]

    def find_calls_by_name(self, where: Position, name: str) -> list[ast.Call]:
        """Calls written with `name` on a line, those within the position first."""
        line = where[0]
        if line is None:
            return []
        found = [call for call in self.calls_at_line.get(line, ()) if called_name(call) == name]
        return sorted(found, key=lambda call: (not _lies_within(_span(call), where), _span(call)))

    def find_qualname(self, name: str, first: int) -> str | None:
        """The qualified name of the code object of that name and line; None where it isn't clear."""
        found = {definition.qualname for definition in self.definitions.get((name, first), ())}
        return found.pop() if len(found) == 1 else None

    def find_def_line(self, name: str, qualname: str, first: int) -> int | None:
        """The line of `def`, for a definition that is written there."""
        definitions = self.definitions.get((name, first), ())
        return next((d.line for d in definitions if d.qualname == qualname and not name.startswith("<")), None)

    def is_decorator(self, where: Position) -> bool:
        """Whether a decorator stands there."""
        return where in self.decorators if HAS_COLUMNS else where[0] in self.decorated_lines

    def is_with_item(self, where: Position) -> bool:
        """Whether the expression of a `with` stands there."""
        return where in self.with_items if HAS_COLUMNS else where[0] in self.with_lines


def called_name(call: ast.Call) -> str | None:
    """The last name of what is called: `save` in `self.shop.save(1)`."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None


def has_star(call: ast.Call) -> bool:
    """Whether `*` or `**` arguments are given."""
    return any(isinstance(word, ast.Starred) for word in call.args) or any(k.arg is None for k in call.keywords)


def span_of(call: ast.Call) -> list[int]:
    """Line, column, end line, end column; columns in UTF-8 bytes."""
    return list(_span(call))


def _span(node: ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def _lies_within(span: Span, where: Position) -> bool:
    line, column, end, end_column = where
    if line is None or column is None or end is None or end_column is None:
        return False
    return (line, column) <= span[:2] and span[2:] <= (end, end_column)


def _scope_name(node: ast.AST) -> str | None:
    """The name of the code object that is made for a node; None if it makes none."""
    if isinstance(node, _NAMED_SCOPES):
        return node.name
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    if isinstance(node, ast.GeneratorExp):
        return "<genexpr>"
    return next((name for kind, name in COMPREHENSIONS.items() if isinstance(node, kind)), None)


def _iterate_scoped(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Every node with the qualified name of its own scope (if it makes one) or of the scope around it, in source
    order, without recursion."""
    work: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while work:
        node, around, in_function = work.pop()
        name = _scope_name(node)
        inner, inner_in_function = around, in_function
        if name is not None:
            inner = f"{around}{'.<locals>.' if in_function else '.'}{name}" if around else name
            inner_in_function = not isinstance(node, ast.ClassDef)
        yield node, inner
        children: list[tuple[ast.AST, str, bool]] = []
        for field, value in ast.iter_fields(node):
            is_inside = name is None or field in _INSIDE
            scope = (inner, inner_in_function) if is_inside else (around, in_function)
            children += [(part, *scope) for part in (value if isinstance(value, list) else [value]) if _is_node(part)]
        work += reversed(children)


def _is_node(value: object) -> bool:
    return isinstance(value, ast.AST)
