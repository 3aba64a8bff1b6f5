"""Modules stay under 600 lines, functions under 60. The ratchet lists may only get shorter."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.command import REPOSITORY

MODULE_LINES = 600
FUNCTION_LINES = 60
LONG_MODULES: frozenset[str] = frozenset()
LONG_FUNCTIONS: frozenset[str] = frozenset()

OURS = sorted(
    path
    for folder in ("contextc", "tests", "benchmarks")
    for path in (REPOSITORY / folder).rglob("*.py")
    if folder != "benchmarks" or path.parent.name == "benchmarks"
)


def test_there_is_something_to_measure() -> None:
    assert len([p for p in OURS if "contextc" in p.parts]) > 10


@pytest.mark.parametrize("path", OURS, ids=lambda p: p.relative_to(REPOSITORY).as_posix())
def test_module_and_functions_are_short(path: Path) -> None:
    name = path.relative_to(REPOSITORY).as_posix()
    text = path.read_text(encoding="utf-8")
    lines = text.count("\n")
    assert (lines > MODULE_LINES) == (name in LONG_MODULES), f"{name} has {lines} lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            key = f"{name}:{node.name}"
            assert (size > FUNCTION_LINES) == (key in LONG_FUNCTIONS), f"{key} has {size} lines"
