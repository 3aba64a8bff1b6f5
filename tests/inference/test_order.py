"""Nothing hangs on the order in which a set is gone through: neither what an evaluation reads nor what is recorded."""

from __future__ import annotations

import textwrap

import pytest

from contextc.analyzer.inference.heap import Heap
from contextc.analyzer.inference.worklist import Worklist
from contextc.model.interner import Interner
from contextc.model.value import NOTHING
from tests.inference.fuzzing import compare
from tests.inference.programs import resolve_cold

SEEDS = range(24)
CASES = {
    "a property that one receiver surely has, and another perhaps": """
        class Node: pass
        class Leaf(Node):
            def __init__(self): self.size = 1
        class Item(Node):
            @property
            def size(self): return 1
        def show(node: Node, item: Item):
            for each in (node, item):
                each.size
        """,
    "an attribute that a hook answers, read on the object itself and on another one": """
        class Settings:
            def __getattr__(self, name): return 1
            def fill(self, key, value): setattr(self, key, value)
            def read(self, other: "Settings"):
                either = self if other else other
                return either.missing
        """,
    "dictionaries that are merged into one another": """
        class A:
            def run(self): pass
        class B:
            def run(self): pass
        def merge(left=None, **options):
            first = dict(options, a=A())
            second = dict(first, **(left or {}))
            third = {**second, **first}
            for each in (first, second, third):
                each.update(third)
                for key, value in each.items():
                    third[key] = value
                    value.run()
            return merge(third, **first)
        merge({"b": B()}, c=A(), d=B())
        """,
}


@pytest.mark.parametrize("name", CASES)
def test_any_order_of_values_gives_the_same(name: str) -> None:
    files = {"m.py": textwrap.dedent(CASES[name])}
    first = resolve_cold(files)
    assert len(first.edges) > 2
    for seed in SEEDS:
        other = resolve_cold(files, seed)
        assert compare(first, other, ("as values come", f"with seed {seed}")) is None
        assert other.work == first.work


def test_an_evaluation_does_not_see_what_it_writes() -> None:
    """What it would see hung on which of its values it came to first."""
    make = Interner()
    heap = Heap(make, worklist := Worklist({1: (1,), 2: (2,)}))
    values = frozenset({make.literal("int", 1)})
    cell = ("global", "m", "x")
    assert heap.read(cell, 1) == NOTHING
    heap.write(cell, values, 1)
    assert heap.read(cell, 1) == heap.read(cell, 2) == NOTHING
    heap.end_round()
    assert heap.read(cell, 1) == heap.read(cell, 2) == values
    assert worklist.take_round({}) == [1, 2]
