"""What a program costs, counted: the same numbers on each machine, whatever the order of evaluation.

A number that changes is a change of the analysis: more evaluations or cells for the same program want a reason.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from contextc.analyzer.inference.fixpoint import Work
from tests.command import FIXTURES
from tests.inference.fuzzing import compare
from tests.inference.programs import allow_deep_programs, resolve_cold

PROGRAMS = {
    "a chain of calls": """
        def f(x): return g(x)
        def g(x): return h(x)
        def h(x): return x
        f(1)
        """,
    "a factory": """
        class User:
            def save(self): pass
        class Order:
            def send(self): pass
        def make(cls): return cls()
        make(User).save()
        make(Order).send()
        """,
    "a decorator": """
        def log(function):
            def run(*args): return function(*args)
            return run
        @log
        def load(): return []
        @log
        def save(): return {}
        load().append(1)
        save().update(a=1)
        """,
    "more classes than a factory is told apart by": """
        class A: pass
        class B: pass
        class C: pass
        class D: pass
        class E: pass
        class F: pass
        class G: pass
        def make(cls): return cls()
        make(A); make(B); make(C); make(D); make(E); make(F); make(G)
        """,
    "two functions that call each other": """
        def even(n): return n == 0 or odd(n - 1)
        def odd(n): return n != 0 and even(n - 1)
        even(10)
        """,
}
WORK = {
    "a chain of calls": Work(evaluations=10, functions=4, cells=9, contributions=9, specialisations=0, cut=0),
    "a factory": Work(evaluations=10, functions=6, cells=10, contributions=10, specialisations=2, cut=0),
    "a decorator": Work(evaluations=13, functions=5, cells=27, contributions=27, specialisations=4, cut=0),
    "more classes than a factory is told apart by": Work(
        evaluations=20, functions=9, cells=20, contributions=20, specialisations=8, cut=0
    ),  # the last is one for all classes: the module sees in its next evaluation that it has asked for too many
    "two functions that call each other": Work(
        evaluations=8, functions=3, cells=6, contributions=7, specialisations=0, cut=0
    ),
    "nine_files": Work(evaluations=77, functions=33, cells=114, contributions=115, specialisations=1, cut=0),
}
SPECIALISING = ("a factory", "a decorator", "more classes than a factory is told apart by", "nine_files")
REAL = "contextc/analyzer/reading"  # 20 files of this repository: deep recursion, tables of functions, generics


def read_tree(root: Path) -> dict[str, str]:
    """Texts by path."""
    return {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in sorted(root.rglob("*.py"))}


def read_program(name: str) -> dict[str, str]:
    return {"m.py": textwrap.dedent(PROGRAMS[name])} if name in PROGRAMS else read_tree(FIXTURES / name)


@pytest.mark.parametrize("name", WORK)
def test_the_work_is_counted(name: str) -> None:
    work = resolve_cold(read_program(name)).work
    assert work == WORK[name]
    assert (work.specialisations > 0) == (name in SPECIALISING)
    assert work.cut == 0


@pytest.mark.parametrize("name", WORK)
def test_the_work_is_the_same_in_any_order(name: str) -> None:
    assert {resolve_cold(read_program(name), seed).work for seed in range(4)} == {WORK[name]}


def test_a_real_tree_is_the_same_in_any_order() -> None:
    """All that is resolved, and what it cost."""
    root = FIXTURES.parent
    files = {f"{REAL}/{path}": text for path, text in read_tree(root / REAL).items()}
    with allow_deep_programs():
        first, *others = (resolve_cold(files, seed) for seed in (None, 1, 2))
    assert len(first.edges) > 1000 and not first.work.cut
    for seed, other in enumerate(others, 1):
        assert compare(first, other, ("in program order", f"with seed {seed}")) is None
        assert other.work == first.work
