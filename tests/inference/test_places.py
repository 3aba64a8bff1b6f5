"""Objects told apart by their place: of a short method for as many of them as its length allows."""

from __future__ import annotations

from contextc.analyzer.inference.interest import MAX_NODES
from contextc.analyzer.inference.specialisation import MAX_RECEIVER_NODES, MAX_RECEIVERS
from contextc.model.edge import Certainty
from tests.inference.programs import resolve_cold

COUNT = MAX_RECEIVERS + 12
DESCRIPTOR = """
class cached:
    def __init__(self, function): self.function = function
    def __get__(self, instance, owner):
        {padding}
        return self.function(instance)
"""


def certain_runs(padding: str) -> set[str]:
    """Methods that are certainly called through a property that gives an object of their own class."""
    classes = "".join(f"class K{n}:\n    def run(self): pass\n" for n in range(COUNT))
    properties = "".join(f"    @cached\n    def p{n}(self): return K{n}()\n" for n in range(COUNT))
    uses = "".join(f"    A().p{n}.run()\n" for n in range(COUNT))
    text = f"{DESCRIPTOR.format(padding=padding)}{classes}class A:\n{properties}def main():\n{uses}"
    edges = resolve_cold({"m.py": text}).edges
    return {e.callee for e in edges if e.callee.endswith(".run") and e.certainty is Certainty.CERTAIN}


def test_a_short_method_is_told_apart_for_more_places() -> None:
    assert certain_runs("") == {f"m:K{n}.run" for n in range(COUNT)}


def test_a_long_one_is_not() -> None:
    nodes = MAX_RECEIVER_NODES // COUNT  # of a body that is too long for so many places
    assert nodes < MAX_NODES
    assert certain_runs("; ".join(["x = 1"] * (nodes // 3))) == set()
