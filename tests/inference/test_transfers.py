"""Monotone transfers: what a body says of less is covered by what it says of more.

A program is solved; then each body is evaluated again over cells of which some hold less than they do in the end, as
they did at some time in one order or another. What it writes must be covered by what it writes over the final cells:
else the result depends on whether the body ran in between.
"""

from __future__ import annotations

import random
import textwrap
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given

from contextc.analyzer.inference.fixpoint import Solver, evaluate_unit
from contextc.analyzer.inference.heap import CellKey
from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition
from contextc.model.interner import Interner, join_values, show_widened
from contextc.model.value import NOTHING, ValueSet
from tests.inference.fuzzing import Program, count_faulty, demand, many, programs, unless
from tests.inference.programs import allow_deep_programs, build_program
from tests.inference.shrinking import States
from tests.inference.values import make_poorer, show_key, show_values

TRIES = 3  # poorer states for each body
FAULTY = 0  # of the first 200 programs: known faults. May only fall; at 0 the property is demanded of any program

REQUESTS = ("contexts", "shapes")  # cells that ask for evaluations

Cells = Mapping[CellKey, ValueSet]
Excess = tuple[CellKey, ValueSet, ValueSet]  # a cell, what was written, what is written in the end


class FixedCells:
    """A heap of which nothing changes: reads come from given cells, writes are noted."""

    def __init__(self, make: Interner, cells: Cells) -> None:
        self._make = make
        self._cells = cells
        self.wanted: dict[CellKey, None] = {}
        self.written: list[tuple[CellKey, ValueSet]] = []

    def read(self, key: CellKey, unit: int) -> ValueSet:
        self.wanted[key] = None
        return show_widened(self._make, self._cells.get(key, NOTHING))

    def write(self, key: CellKey, values: ValueSet, writer: int) -> None:
        self.written.append((key, values))


def evaluate_over(kernel: Kernel, unit: Definition, cells: Cells) -> FixedCells:
    """What the body reads and writes over these cells."""
    heap = kernel.heap
    fixed = FixedCells(kernel.make, cells)
    kernel.heap = fixed  # type: ignore[assignment]
    try:
        evaluate_unit(kernel, unit, None)
    finally:
        kernel.heap = heap
    return fixed


def find_most(kernel: Kernel, unit: Definition, final: Cells) -> dict[CellKey, ValueSet]:
    """What the body writes over the final cells. Those themselves may hold traces of what it said before; past a cap
    one evaluation for all is asked instead of several, so of requests they count."""
    most = {key: values for key, values in final.items() if key[0] in REQUESTS}
    for key, values in evaluate_over(kernel, unit, final).written:
        most[key] = join_values(kernel.make, most.get(key, NOTHING), values)
    return most


def find_excess(kernel: Kernel, unit: Definition, cells: Cells, most: Cells) -> Excess | None:
    """What the body, evaluated over `cells`, writes beyond `most`."""
    for key, values in evaluate_over(kernel, unit, cells).written:
        held = most.get(key, NOTHING)
        if join_values(kernel.make, held, values) != held:
            return key, values, held
    return None


def iterate_poorer(kernel: Kernel, unit: Definition, final: Cells, choose: random.Random) -> Iterator[Cells]:
    """The final cells, and such as hold less of what the body reads: one of them nothing, some of them something."""
    yield final
    wanted = [key for key in evaluate_over(kernel, unit, final).wanted if key in final]
    for key in wanted:
        yield {**final, key: NOTHING}
    for _ in range(TRIES):
        poorer = dict(final)
        for key in wanted:
            kind = choose.random()
            if kind < 0.3:
                poorer[key] = NOTHING
            elif kind < 0.6:
                values = sorted(final[key], key=show_key)
                poorer[key] = frozenset(make_poorer(kernel.make, v, choose) for v in values if choose.random() < 0.5)
        yield poorer


def find_excesses(states: States, seed: int = 0) -> str | None:
    """A body that says more of less, and where; None if there is none."""
    solver = Solver(build_program(states[0]))
    solver.solve()
    kernel = solver.kernel
    final = dict(kernel.heap._cells)  # what they hold, before a reader is told of what is widened
    choose = random.Random(seed)
    for unit in solver.units:
        most = find_most(kernel, unit, final)
        for cells in iterate_poorer(kernel, unit, final, choose):
            if find_excess(kernel, unit, cells, most) is not None:
                return describe(kernel, unit, cells, final)
    return None


def describe(kernel: Kernel, unit: Definition, cells: Cells, final: Cells) -> str:
    """The fault with as few poor cells as show it."""
    most = find_most(kernel, unit, final)
    for key in final:
        richer = {**cells, key: final[key]}
        if find_excess(kernel, unit, richer, most) is not None:
            cells = richer
    excess = find_excess(kernel, unit, cells, most)
    assert excess is not None
    key, values, held = excess
    lacking = [f"  {show_key(k)} = {show_values(cells[k])}, not {show_values(v)}"
               for k, v in final.items() if cells[k] != v]  # fmt: skip
    return "\n".join([f"{unit.id}, where", *lacking, f"writes {show_key(key)} = {show_values(values)}",
                      f"which in the end is {show_values(held)}"])  # fmt: skip


WRITTEN = {
    "members": """
        import enum
        from helper import some
        class Colour(enum.Enum):
            RED = 1
            BLUE = some
            def name_of(self): return self
        def use(): return Colour.RED.name_of(), Colour.BLUE(1)
        """,
    "decorators": """
        import functools
        from helper import make
        def outer(function, *more): return lambda *args: function(*args)
        def run(function): return function()
        class Kept:
            def __init__(self, function): self.function = function
            def __call__(self, *args): return self.function(*args)
        bound = functools.partial(outer, None)
        @bound
        def one(): return 1
        @make(outer)
        def two(): return one
        @run
        def three(): return two
        @make(Kept)
        def four(): return three
        result = one(), two(), three(), four()
        """,
    "dispatch": """
        import functools
        from helper import make
        class A: pass
        class B(A): pass
        @functools.singledispatch
        def show(x): return 1
        @show.register(A)
        def show_a(x): return x
        @show.register(make(B))
        def show_b(x): return "b", x
        result = show(B()), show(make(A())), show(1)
        """,
    "kept": """
        from helper import make
        class A: pass
        def keep(x, y=None):
            if x is None: return y
            if isinstance(x, (A, list)): return x
            x = x or y
            return x if callable(x) else y
        for value in [A(), [A()], "a", make, 1]:
            keep(value, make(value))
        result = keep(make([1])), keep(make(keep(A()))), keep("a", A()), keep(*make([A(), 2]))
        """,
    "partial": """
        from functools import partial
        from helper import *
        result = partial(counted)
        """,
}
HELPER = """
def make(x): return x
for some in (1, make, 'a'): pass
def count(): yield missing
counted = count()
"""


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("seed", range(5))
def test_a_written_program_says_no_more_of_less(name: str, seed: int) -> None:
    """What random programs rarely have."""
    fault = find_excesses([{"m.py": textwrap.dedent(WRITTEN[name]), "helper.py": HELPER}], seed)
    if fault is not None:
        pytest.fail(fault, pytrace=False)


def test_known_faults_become_fewer() -> None:
    with allow_deep_programs():
        assert count_faulty(find_excesses, 200) == FAULTY


@unless(FAULTY)
@given(program=programs())
@many(100)
def test_a_body_says_no_more_of_less(program: Program) -> None:
    with allow_deep_programs():
        demand(program, find_excesses)
