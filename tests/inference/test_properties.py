"""What is resolved of a program does not depend on the order in which its bodies are evaluated."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.inference.fuzzing import Program, compare, count_faulty, demand, many, programs, unless
from tests.inference.programs import resolve_cold
from tests.inference.shrinking import States

SEEDS = (1, 2)
FAULTY = 0  # of the first 200 programs: known faults. May only fall; at 0 the property is demanded of any program


def find_disorder(states: States) -> str | None:
    """What two random orders of evaluation say otherwise than program order does."""
    first = resolve_cold(states[0])
    for seed in SEEDS:
        said = compare(first, resolve_cold(states[0], seed), ("in program order", f"with seed {seed}"))
        if said is not None:
            return said
    return None


def test_known_faults_become_fewer() -> None:
    assert count_faulty(find_disorder, 200) == FAULTY


@unless(FAULTY)
@given(program=programs())
@many(100)
def test_any_order_of_evaluation_gives_the_same(program: Program) -> None:
    demand(program, find_disorder)


@unless(FAULTY)
@given(program=programs(2))
@many(50)
@pytest.mark.usefixtures("tight_caps")
def test_any_order_gives_the_same_past_every_cap(program: Program) -> None:
    demand(program, find_disorder, part="tight")
