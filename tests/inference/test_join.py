"""The laws of the join, on random value sets of every kind, large enough to pass each cap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextc.model import interner
from contextc.model.edge import Reason
from contextc.model.interner import Interner, join_values, show_widened
from contextc.model.value import MAX_DEPTH, MAX_EXTERNALS, MAX_LITERALS, NOTHING, Grip, Value, ValueSet
from tests.inference.fuzzing import TIGHT, many, tighten
from tests.inference.grammar import Grammar
from tests.inference.values import ValueGrammar, show_values

Maker = Callable[[Interner, int], Value]

# A kind of value that each cap counts, told apart by number.
CAPPED: dict[str, Maker] = {
    "instances": lambda make, n: make.instance(f"m:K{n}"),
    "callables": lambda make, n: (make.function, make.class_object)[n % 2](f"m:f{n}"),
    "methods": lambda make, n: make.bound(make.instance(f"m:A{n}"), make.function(f"m:A.f{n}")),
    "possible": lambda make, n: make.possible(make.class_object(f"m:K{n}"), "registry"),
    "externals": lambda make, n: make.external(f"a.b{n}"),
    "keys": lambda make, n: make.key(f"k{n}"),
    "operations": lambda make, n: make.intrinsic("property.setter", make.function(f"m:f{n}")),
    "int": lambda make, n: make.literal("int", n),
    "str": lambda make, n: (make.literal("str", f"k{n}"), make.text((f"k{n}", None)))[n % 2],
}


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
@many(1000, shrink=True)
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
    bound = 8 * (4 * MAX_LITERALS + sum(most for _, most in interner._CAPS.values()))
    content = NOTHING
    grown = 0
    for value in (value for values in given_sets.sets for value in values):
        joined = join_values(given_sets.make, content, frozenset({value}))
        grown += joined != content
        content = joined
    assert grown <= bound
    assert len(content) <= bound


def find_cap(name: str) -> int:
    return interner._CAPS[name][1] if name in interner._CAPS else int(vars(interner)["MAX_LITERALS"])


@pytest.mark.parametrize("name", CAPPED)
@pytest.mark.parametrize("tight", [False, True], ids=["usual", "tight"])
def test_each_cap_acts(name: str, tight: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as a cap allows are kept; with one more, and whatever comes later, all of the kind are gone."""
    if tight:
        tighten(monkeypatch)
        assert find_cap(name) == TIGHT
    make, most = Interner(), find_cap(name)
    crowd = [CAPPED[name](make, n) for n in range(most + 2)]
    other = make.module("m")
    kept = join_values(make, frozenset(crowd[:most]), frozenset({other}))
    assert show_widened(make, kept) == {*crowd[:most], other}
    widened = join_values(make, kept, frozenset(crowd[most : most + 1]))
    mark = make.open(Reason.WIDENED) if name in interner._CAPS else make.instance(f"~builtins:{name}", Grip.EXACT)
    assert show_widened(make, widened) == {mark, other}
    assert join_values(make, widened, frozenset(crowd[-1:])) == widened
    assert join_values(make, frozenset(crowd[1:most]), frozenset({crowd[0], crowd[most], other})) == widened


def test_every_cap_is_known_here() -> None:
    assert set(CAPPED) - {"int", "str"} == set(interner._CAPS)


def test_no_cap_is_below_the_size_that_is_not_looked_at() -> None:
    """The join counts nothing in sets of up to MAX_EXTERNALS values."""
    assert min(MAX_LITERALS, *(most for _, most in interner._CAPS.values())) >= MAX_EXTERNALS


@given(given_sets=value_sets(3))
@many(200)
def test_the_join_keeps_its_laws_with_tight_caps(given_sets: Sets) -> None:
    with pytest.MonkeyPatch.context() as patched:
        tighten(patched)
        make, (a, b, c) = given_sets
        left = join_values(make, join_values(make, a, b), c)
        assert left == join_values(make, a, join_values(make, c, b)) == join_values(make, a | b | c, NOTHING)
        assert join_values(make, left, b) == left


def test_what_nests_too_deep_is_cut_alone() -> None:
    make = Interner()

    def wrap(value: Value, times: int) -> Value:
        for _ in range(times):
            value = make.instance("m:Box", Grip.EXACT, (frozenset({value}),))
        return value

    shallow = make.instance("m:Other", Grip.EXACT, (frozenset({make.instance("m:A")}),))
    alone = make.instance("m:Box", Grip.EXACT, (frozenset({shallow}),))
    beside = make.instance("m:Box", Grip.EXACT, (frozenset({shallow, wrap(make.instance("m:A"), 2)}),))
    assert shallow in alone.args[0]
    assert beside.args[0] == {shallow, wrap(make.instance("m:Box"), 1)}


@given(given_sets=value_sets(2))
@many(100)
def test_cutting_keeps_the_order(given_sets: Sets) -> None:
    """What is cut of more values covers what is cut of fewer."""
    make, (less, more) = given_sets
    whole = join_values(make, less, more)
    for levels in range(1, MAX_DEPTH + 1):
        few, more_ = (frozenset(make.cut(v, levels) for v in values) for values in (less, whole))
        assert join_values(make, few, more_) == join_values(make, more_, NOTHING)


@given(given_sets=value_sets(2))
@many(300)
def test_a_type_argument_covers_what_is_part_of_it(given_sets: Sets) -> None:
    make, (less, more) = given_sets
    whole = make.instance("m:Box", Grip.EXACT, (less | more,))
    part = make.instance("m:Box", Grip.EXACT, (less,))
    assert join_values(make, frozenset({whole}), frozenset({part})) == {whole}


def test_what_is_possible_is_joined_like_what_is_sure() -> None:
    make = Interner()
    boxes = [make.instance("m:Box", Grip.EXACT, (held,)) for held in (NOTHING, frozenset({make.instance("m:A")}))]
    poor, rich = (frozenset({make.possible(box, "pattern")}) for box in boxes)
    assert join_values(make, poor, rich) == rich
