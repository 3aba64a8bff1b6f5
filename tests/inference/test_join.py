"""The laws of the join, on random value sets of every kind, large enough to pass each cap."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextc.analyzer.inference.heap import join_values
from contextc.model.value import MAX_CALLABLES, MAX_LITERALS, MAX_WIDTH, NOTHING, Interner, ValueSet
from tests.inference.fuzzing import many
from tests.inference.grammar import Grammar
from tests.inference.values import ValueGrammar, show_values


class Sets(NamedTuple):
    """Value sets, and the interner that made their values."""

    make: Interner
    sets: tuple[ValueSet, ...]

    def __repr__(self) -> str:
        named = zip("abcdefgh", self.sets, strict=False)
        return "".join(f"\n{name} = {show_values(values)}" for name, values in named)


@st.composite
def value_sets(draw: Any, count: int) -> Sets:
    make = Interner()
    grammar = ValueGrammar(Grammar(draw), make)
    return Sets(make, tuple(grammar.values() for _ in range(count)))


@given(given_sets=value_sets(3))
@many(2000, shrink=True)
def test_join_is_a_least_upper_bound(given_sets: Sets) -> None:
    make, (a, b, c) = given_sets

    def join(left: ValueSet, right: ValueSet) -> ValueSet:
        return join_values(make, left, right)

    laws = {
        "commutative": (join(a, b), join(b, a)),
        "associative": (join(join(a, b), c), join(a, join(b, c))),
        "idempotent": (join(a, a), join(a, NOTHING)),
        "normal form": (join(join(a, NOTHING), NOTHING), join(a, NOTHING)),
        "of normal forms": (join(join(a, NOTHING), join(b, NOTHING)), join(a, b)),
        "upper bound": (join(a, join(a, b)), join(a, b)),
        "of the union": (join(a, b), join(a | b, NOTHING)),
        "of all at once": (join(join(a, b), c), join(a | b | c, NOTHING)),
    }
    broken = [f"{law}: {show_values(x)}\n  is not {show_values(y)}" for law, (x, y) in laws.items() if x != y]
    if broken:
        pytest.fail("\n".join(broken), pytrace=False)


@given(given_sets=value_sets(8))
@many(200, shrink=True)
def test_a_cell_grows_a_bounded_number_of_times(given_sets: Sets) -> None:
    """However many values come, one after the other: at most some multiple of the caps."""
    bound = 8 * (4 * MAX_LITERALS + MAX_WIDTH + MAX_CALLABLES)
    content = NOTHING
    grown = 0
    for value in (value for values in given_sets.sets for value in values):
        joined = join_values(given_sets.make, content, frozenset({value}))
        grown += joined != content
        content = joined
    assert grown <= bound
    assert len(content) <= bound
