"""Each test that `docs/complaints.md` names exists, and each row names one or says why there is none."""

from __future__ import annotations

import ast
import re

from tests.command import REPOSITORY

TEXT = (REPOSITORY / "docs" / "complaints.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.splitlines() if line.startswith("| ") and not line.startswith("| source |")]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_each_named_test_exists() -> None:
    defined: dict[str, set[str]] = {}
    for path, name in NAMED.findall(TEXT):
        if path not in defined:
            tree = ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))
            defined[path] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in defined[path], f"{path}::{name}"


def test_each_row_names_its_source_and_a_test() -> None:
    assert len(ROWS) == 40
    for row in ROWS:
        source, _, _, tests = (cell.strip() for cell in row.strip("|").split(" | "))
        assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+(?:, (?:[\w.-]+/[\w.-]+)?#\d+)*", source), source
        assert NAMED.search(tests) or tests.startswith("none: "), row
