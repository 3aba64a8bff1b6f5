"""Names that lead back to themselves end the search for what they mean."""

from __future__ import annotations

from pathlib import Path

from contextc.engine import Options, analyze_repository


def test_an_assignment_that_reads_an_attribute_of_its_own_target(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "class Node:\n    left = left.right\n    right = right.left\n"
        "node = node.next\nfirst = second.value\nsecond = first.value\n"
        "def use(x: node.left) -> first: return node.left()\nclass Below(node.child, second.third): ...\n"
    )
    graph = analyze_repository(Options(tmp_path)).graph
    assert any(symbol.id == "m:Below" for symbol in graph.symbols)
