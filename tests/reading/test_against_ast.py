"""The libcst reader against CPython's own parser, over the standard library of the Python that runs this."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from contextc.analyzer.reading.libcst_reader import read_with_libcst
from contextc.analyzer.reading.limits import DoesNotParse
from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter
from contextc.model.facts import ModuleFacts
from tests.reading.ast_reference import reference
from tests.reading.tables import tables

SAMPLE = 70
LARGEST = 60_000  # bytes

# `(x): int = 1`, an annotated target in parentheses, is not read by libcst 1.9; tree-sitter stands in
PARENTHESISED_TARGETS = {"ann_module.py", "test_grammar.py"}


def sample(count: int) -> list[Path]:
    """Files spread evenly over the standard library and its tests."""
    root = Path(sysconfig.get_paths()["stdlib"])
    skipped = {"site-packages", "lib2to3"}  # lib2to3's data are broken on purpose
    files = sorted(
        path for path in root.rglob("*.py") if not skipped & set(path.parts) and 200 < path.stat().st_size < LARGEST
    )
    return files[:: max(1, len(files) // count)]


def test_every_node_stands_where_ast_has_it() -> None:
    compared = 0
    for path in sample(SAMPLE):
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        try:
            expected = reference(text)
        except (SyntaxError, ValueError):
            continue
        try:
            read = read_with_libcst(text)
        except DoesNotParse:
            assert path.name in PARENTHESISED_TARGETS, path
            continue
        found = tables(read, sys.version_info >= (3, 12))
        for name in expected:
            assert found[name] == expected[name], f"{name} of {path}"
        compared += 1
    assert compared > SAMPLE // 2


def test_tree_sitter_gives_the_same_facts() -> None:
    """So that a file that breaks, or grows too deep for libcst, keeps what it had."""
    equal = compared = 0
    for path in sample(40):
        text = path.read_bytes()
        try:
            read = read_with_libcst(text)
        except (DoesNotParse, UnicodeDecodeError):
            continue
        tolerant = read_with_tree_sitter(text)
        if path.name == "test_print.py":  # `print >> f` is Python 2's statement to the grammar
            continue
        compared += 1
        equal += tolerant.symbols == read.symbols
        assert outline(tolerant) == outline(read), path
    assert equal == compared > 0


def outline(facts: ModuleFacts) -> list[tuple[object, ...]]:
    return [(item.local_id, item.kind, item.span, item.header, item.call_sites) for item in facts.symbols]
