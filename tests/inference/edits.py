"""Random edits: what happens to a program while somebody works on it; half of them take something away.

In: texts by path and a source of choices. Out: the texts after one edit, and what was done. Whole files are edited as
syntax trees, so that an edit leaves Python: `f(x, 1)` loses its `1`, `class A(B)` its base. A file may also be broken
off in mid-sentence; it is mended by putting back what stood there.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.inference.grammar import MODULES, NAMES, Grammar

_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)

Change = tuple[str, ast.AST, Callable[[], None]]  # what it does, to which node, and doing it


class Step(NamedTuple):
    """One edit: what was done, and the texts after it."""

    what: str
    files: dict[str, str]


def edit_files(grammar: Grammar, past: list[dict[str, str]]) -> Step:
    """One edit of the last of the past states."""
    files = past[-1]
    kind = grammar.number(20)
    if kind == 19 and len(past) > 1:
        back = grammar.number(len(past) - 1)
        return Step(f"back to state {back}", dict(past[back]))
    if kind == 18:
        missing = [path for path in MODULES if path not in files]
        if missing:
            path = grammar.pick(missing)
            return Step(f"{path} is new", {**files, path: grammar.file()})
    if kind >= 17 and len(files) > 1:
        path = grammar.pick(sorted(files))
        return Step(f"{path} is gone", {name: text for name, text in files.items() if name != path})
    path = grammar.pick(sorted(files))
    tree = parse_whole(files[path])
    if tree is None:
        return _mend(path, files, past)
    if kind == 16:
        return _break(grammar, path, files)
    what, text = _edit_tree(grammar, tree, kind)
    return Step(f"{path}: {what}", {**files, path: text})


def normalise(text: str) -> str:
    """A file as `edit_files` writes it, so that a later edit changes nothing else."""
    tree = parse_whole(text)
    return text if tree is None else ast.unparse(tree) + "\n"


def parse_whole(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _mend(path: str, files: dict[str, str], past: list[dict[str, str]]) -> Step:
    """The last text that was whole."""
    for state in reversed(past):
        if path in state and parse_whole(state[path]) is not None:
            return Step(f"{path} is mended", {**files, path: state[path]})
    return Step(f"{path} is emptied", {**files, path: "pass\n"})


def _break(grammar: Grammar, path: str, files: dict[str, str]) -> Step:
    """A bracket that stays open, a half-typed line, or an end that is missing."""
    lines = files[path].split("\n")
    at = grammar.number(len(lines))
    kind = grammar.number(3)
    if kind == 0:
        lines.insert(at, "x = f(")
    elif kind == 1:
        lines.insert(at, "def f(:")
    else:
        lines = [*lines[:at], lines[at][: len(lines[at]) // 2] + " ("]
    return Step(f"{path} is broken at line {at + 1}", {**files, path: "\n".join(lines)})


def _edit_tree(grammar: Grammar, tree: ast.Module, kind: int) -> tuple[str, str]:
    if kind < 4:
        changes = list(cut_statements(tree))
        if kind < 3:  # what others find by name stays: only what flows through the program is less
            changes = [change for change in changes if not isinstance(change[1], _DEFINING)]
    elif kind < 9:
        changes = list(cut_parts(tree))
    elif kind < 12:
        changes = list(_replace_expressions(grammar, tree))
    elif kind < 15:
        changes = list(_add_statements(grammar, tree))
    else:
        changes = list(_rename(grammar, tree))
    if not changes:
        changes = list(_add_statements(grammar, tree))
    what, node, change = grammar.pick(changes)
    what = f"{what} `{_show(node)}`"
    change()
    return what, ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body:
                yield body


def _show(node: ast.AST) -> str:
    return ast.unparse(node).strip().split("\n")[0][:60]


def cut_statements(tree: ast.Module) -> Iterator[Change]:
    """Each statement can go, or, where it holds others, be replaced by them."""
    for body in _bodies(tree):
        for at, statement in enumerate(body):
            yield "without", statement, _setter(body, at, [])
            inner = getattr(statement, "body", None)
            if isinstance(inner, list):
                yield "only the body of", statement, _setter(body, at, inner)
            if at + 1 < len(body):
                yield "one later", statement, _swapper(body, at)


def _setter(body: list[ast.stmt], at: int, statements: list[ast.stmt]) -> Callable[[], None]:
    def put() -> None:
        body[at : at + 1] = statements
        if not body:
            body.append(ast.Pass())

    return put


def _swapper(body: list[ast.stmt], at: int) -> Callable[[], None]:
    def swap() -> None:
        body[at : at + 2] = body[at + 1], body[at]

    return swap


def cut_parts(tree: ast.Module) -> Iterator[Change]:
    """Arguments, bases, decorators, parameters, defaults, annotations, elements, handlers, branches."""
    for node in ast.walk(tree):
        for field in ("args", "keywords", "bases", "decorator_list", "elts", "handlers", "orelse", "values", "ifs"):
            items = getattr(node, field, None)
            if not isinstance(items, list) or (field == "handlers" and len(items) == 1):
                continue
            if isinstance(node, ast.BoolOp | ast.JoinedStr):
                continue
            for at, item in enumerate(items):
                yield f"without {field}", item, _remover(node, field, at)
        for field in ("annotation", "returns", "vararg", "kwarg", "exc"):
            if getattr(node, field, None) is not None and not isinstance(node, ast.AnnAssign):
                yield f"without {field} of", node, _clearer(node, field)
        if isinstance(node, ast.arguments) and node.defaults:
            yield "without default in", node, _clear_list(node.defaults)


def _remover(node: ast.AST, field: str, at: int) -> Callable[[], None]:
    def remove() -> None:
        items = getattr(node, field)
        del items[at]
        if isinstance(node, ast.Dict):
            del node.keys[at]
        if isinstance(node, ast.arguments) and len(node.defaults) > len(node.args) + len(node.posonlyargs):
            del node.defaults[0]
        if isinstance(node, ast.MatchClass | ast.MatchMapping):
            items.append(ast.MatchAs())

    return remove


def _clearer(node: ast.AST, field: str) -> Callable[[], None]:
    return lambda: setattr(node, field, None)


def _clear_list(items: list[ast.expr]) -> Callable[[], None]:
    return items.clear


def find_expressions(tree: ast.Module) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    """Each expression in whose place any other may stand, and how to put one there."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and _is_free(node, field, value):
                yield value, functools.partial(setattr, node, field)
            elif isinstance(value, list) and field in ("args", "elts", "values", "bases", "defaults"):
                for at, item in enumerate(value):
                    if isinstance(item, ast.expr) and _is_free(node, field, item):
                        yield item, functools.partial(value.__setitem__, at)


def _replace_expressions(grammar: Grammar, tree: ast.Module) -> Iterator[Change]:
    """Each expression becomes a part of itself, or something new."""
    for value, put in find_expressions(tree):
        yield "another", value, _writer(grammar, put)
        for inner in ast.iter_child_nodes(value):
            if isinstance(inner, ast.expr) and not isinstance(inner, ast.Starred | ast.FormattedValue):
                yield "its whole expression is", inner, functools.partial(put, inner)


def _writer(grammar: Grammar, put: Callable[[ast.expr], None]) -> Callable[[], None]:
    return lambda: put(ast.parse(f"({grammar.expression(2)})", mode="eval").body)


def _is_free(node: ast.AST, field: str, value: ast.expr) -> bool:
    """Whether any expression may stand there."""
    if field in ("target", "optional_vars", "slice", "pattern", "cls", "format_spec", "annotation"):
        return False
    if isinstance(node, ast.MatchValue | ast.MatchMapping | ast.FormattedValue | ast.Starred | ast.JoinedStr):
        return False
    if isinstance(value, ast.Starred):
        return False
    return isinstance(getattr(value, "ctx", ast.Load()), ast.Load)


def _add_statements(grammar: Grammar, tree: ast.Module) -> Iterator[Change]:
    """A new statement before any other, or in its place."""
    for body in _bodies(tree):
        for at, statement in enumerate(body):
            yield "new before", statement, _adder(grammar, body, at, at)
            yield "new for", statement, _adder(grammar, body, at, at + 1)


def _adder(grammar: Grammar, body: list[ast.stmt], first: int, last: int) -> Callable[[], None]:
    def add() -> None:
        grammar.inside.append("function")
        body[first:last] = ast.parse("\n".join(grammar.statement(2))).body
        grammar.inside.pop()

    return add


def _rename(grammar: Grammar, tree: ast.Module) -> Iterator[Change]:
    """One definition, parameter, name, attribute or imported name gets another name."""
    for node in ast.walk(tree):
        for field in ("name", "arg", "id", "attr", "asname"):
            if isinstance(getattr(node, field, None), str) and not isinstance(node, ast.MatchAs | ast.MatchStar):
                if isinstance(node, ast.alias) and node.name == "*":
                    continue
                yield f"{field} renamed in", node, _renamer(grammar, node, field)


def _renamer(grammar: Grammar, node: ast.AST, field: str) -> Callable[[], None]:
    return lambda: setattr(node, field, grammar.pick(NAMES))
