"""What an evaluation skips changes nothing: neither cells nor what is resolved, nor the number of evaluations."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given

from contextc.analyzer.inference import calls, expressions, fixpoint
from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.memory import Memory
from contextc.model.interner import Interner
from contextc.model.value import BoundMethod
from tests.inference.fuzzing import Program, demand, many, programs
from tests.inference.programs import Files, build_program
from tests.inference.shrinking import States

CASES = {
    "a default of a lambda that only flow knows": """
        class Part:
            def run(self): pass
        class Whole:
            def __init__(self): self.part = late1()
        def late1(): return late2()
        def late2(): return late3()
        def late3(): return late4()
        def late4(): return late5()
        def late5(): return late6()
        def late6(): return [Part()][0]
        def apply(function): return function()
        def use(whole):
            part = whole.part
            return apply(lambda item=part: item)
        use(Whole()).run()
        """,
    "a walrus in an argument": """
        class Part:
            def run(self): pass
        def same(x): return x
        def use(x):
            same(kept := same(x))
            return kept
        use(Part()).run()
        """,
    "a function that calls itself with what it wrote": """
        class A:
            def next(self): return B()
        class B:
            def next(self): return C()
        class C:
            def next(self): return C()
        def walk(x, seen=[]):
            seen.append(x)
            for item in seen:
                walk(item.next())
            return seen[0]
        walk(A()).next()
        """,
    "a loop in which each round binds what the next one reads": """
        class A:
            def step(self): return B()
        class B:
            def step(self): return A()
        def run(first):
            held = first
            while held:
                if held.step: held = held.step()
            return held
        run(A()).step()
        """,
    "an argument that is tested on its way": """
        class A:
            def go(self): pass
        class B(A):
            def go(self): pass
        def pick(x): return x if isinstance(x, B) else None
        def use(x): return pick(x)
        use(A()); use(B()).go()
        """,
}


@contextmanager
def without_memory() -> Iterator[None]:
    plain = fixpoint.evaluate_unit

    def evaluate_all(kernel: Any, unit: Any, recorder: Any, context: Any = None, memory: Any = None) -> None:
        plain(kernel, unit, recorder, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fixpoint, "evaluate_unit", evaluate_all)
        yield


def solve(files: Files, interner: Interner) -> tuple[object, object, object]:
    """Cells, calls and counted work."""
    solver = Solver(build_program(files, interner))
    recorder = solver.solve()
    calls = {key: (outcome.targets, outcome.reasons) for key, outcome in recorder.calls.items()}
    return solver.kernel.heap._cells, calls, solver.work


def find_difference(states: States) -> str | None:
    """What an analysis without memory says otherwise."""
    interner = Interner()
    remembered = solve(states[0], interner)
    with without_memory():
        plain = solve(states[0], interner)
    for name, left, right in zip(("cells", "calls", "work"), remembered, plain, strict=True):
        if left != right:
            return f"other {name}: {left} with memory, {right} without"
    return None


@pytest.mark.parametrize("name", CASES)
def test_a_program_comes_out_the_same(name: str) -> None:
    assert find_difference([{"m.py": textwrap.dedent(CASES[name])}]) is None


@given(program=programs())
@many(60)
def test_any_program_comes_out_the_same(program: Program) -> None:
    demand(program, find_difference)


@given(program=programs(2))
@many(30)
@pytest.mark.usefixtures("tight_caps")
def test_any_program_comes_out_the_same_past_every_cap(program: Program) -> None:
    demand(program, find_difference, part="tight")


def test_what_reads_no_grown_cell_is_not_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "class Aside:\n    def hold(self, x): return x\ndef use(x):\n    Aside().hold(1)\n    x.go()\n" + "".join(
        f"class C{n}:\n    def go(self): pass\ndef f{n}(x): return {f'f{n - 1}' if n else 'use'}(x)\nf{n}(C{n}())\n"
        for n in range(6)
    )
    plain, recall = calls.call_values, Memory.recall
    held: Counter[bool] = Counter()  # evaluations of the call of `hold`, by whether there was a memory

    def count(frame: Any, callees: Any, *more: Any) -> Any:
        if frame.recorder is None and any(isinstance(v, BoundMethod) for v in callees) and frame.unit.name == "use":
            held[Memory.recall is recall] += any(v.function.symbol == "m:Aside.hold" for v in callees)
        return plain(frame, callees, *more)

    monkeypatch.setattr(expressions, "call_values", count)
    Solver(build_program({"m.py": text})).solve()
    monkeypatch.setattr(Memory, "recall", lambda self, node, inputs, function, *args: function(*args))
    Solver(build_program({"m.py": text})).solve()
    assert held[True] == 1
    assert held[False] > 4
