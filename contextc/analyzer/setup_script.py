"""What the call of `setup()` in a setup.py says in literals. The file is parsed, never run.

In: its bytes. Out: `SetupCall`.

    setup(package_dir={"": "src"}, packages=find_packages(where="src"))
      ->  SetupCall(package_dir={"": "src"}, where=("src",), python_requires="")

A name stands for the literal that was assigned to it at the top level of the file.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

_FINDERS = ("find_packages", "find_namespace_packages")
# ast.parse fails cleanly on deep nesting in every supported version only while the C stack holds.
_MAX_BYTES = 200_000
_MAX_NESTING = 90


class SetupCall(NamedTuple):
    """The arguments that matter here; empty where they are missing or computed."""

    package_dir: dict[str, str]
    where: tuple[str, ...]
    python_requires: str


def read_setup_call(raw: bytes) -> SetupCall:
    """The last call of a function named `setup`. Raises ValueError if the file can't be parsed."""
    nothing = SetupCall({}, (), "")
    if not re.search(rb"package_dir|find_packages|find_namespace_packages|python_requires", raw):
        return nothing
    if len(raw) > _MAX_BYTES or _measure_nesting(raw) > _MAX_NESTING:
        raise ValueError("it is too long or nested too deep")
    try:
        tree = ast.parse(raw)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"it does not parse ({type(error).__name__})") from None
    values = _collect_assignments(tree)
    call = nothing
    for node in _iterate_statement_calls(tree):
        if _name_of(node.func) == "setup":
            call = _read_arguments(node, values)
    return call


def _measure_nesting(raw: bytes) -> int:
    """An upper bound of the depth of brackets and of runs of prefix operators."""
    depth = deepest = 0
    for mark in re.findall(rb"[()\[\]{}]", raw):
        depth = depth + 1 if mark in b"([{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    runs = re.findall(rb"(?:[-+~*/|&^%.]\s*[\w'\"]*\s*){90,}|(?:not\s+){90,}|(?:lambda\s*:\s*){90,}", raw)
    return _MAX_NESTING + 1 if runs else deepest


def _collect_assignments(tree: ast.Module) -> dict[str, ast.expr]:
    values: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                values[target.id] = statement.value
    return values


def _iterate_statement_calls(tree: ast.Module) -> list[ast.Call]:
    """Calls that are statements, at any depth of `if`, `try`, `with` and `def`, in source order."""
    found: list[ast.Call] = []
    work: list[ast.stmt] = list(reversed(tree.body))
    while work:
        statement = work.pop()
        if isinstance(statement, ast.Expr | ast.Return) and isinstance(statement.value, ast.Call):
            found.append(statement.value)
        inner: list[ast.stmt] = []
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                inner.append(child)
            elif isinstance(child, ast.ExceptHandler):
                inner += child.body
        work += reversed(inner)
    return found


def _read_arguments(call: ast.Call, values: dict[str, ast.expr]) -> SetupCall:
    package_dir: dict[str, str] = {}
    where: tuple[str, ...] = ()
    python_requires = ""
    for keyword in call.keywords:
        value: ast.expr | None = keyword.value
        if isinstance(value, ast.Name):
            value = values.get(value.id)
        if keyword.arg == "package_dir":
            package_dir = _read_mapping(value)
        elif keyword.arg == "packages" and isinstance(value, ast.Call) and _name_of(value.func) in _FINDERS:
            where = _read_where(value)
        elif keyword.arg == "python_requires":
            python_requires = _text_of(value) or ""
    return SetupCall(package_dir, where, python_requires)


def _read_mapping(value: ast.expr | None) -> dict[str, str]:
    pairs: list[tuple[str | None, str | None]] = []
    if isinstance(value, ast.Dict):
        pairs = [(_text_of(key), _text_of(item)) for key, item in zip(value.keys, value.values, strict=True)]
    elif isinstance(value, ast.Call) and _name_of(value.func) == "dict":
        pairs = [(keyword.arg, _text_of(keyword.value)) for keyword in value.keywords]
    return {key: item for key, item in pairs if key is not None and item is not None}


def _read_where(call: ast.Call) -> tuple[str, ...]:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "where"] or call.args[:1]
    return tuple(text for text in map(_text_of, given) if text)


def _text_of(value: ast.expr | None) -> str | None:
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
