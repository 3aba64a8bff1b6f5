"""How likely an edge is to be real, from counts alone."""

from __future__ import annotations

import pytest

from contextc.model.edge import Certainty, Rule
from contextc.passes import evidence
from contextc.passes.evidence import SURE, chance_of_both, measured_chance

COUNTS = {
    ("super", "certain"): (98, 100),
    ("operator", "likely"): (60, 100),
    ("descriptor", "likely"): (29, 29),  # too few to speak for themselves
    ("signal", "possible"): (0, 48),
}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MEASURED", COUNTS)


def chance(rule: Rule, certainty: Certainty) -> int:
    return measured_chance.__wrapped__(rule, certainty)  # type: ignore[no-any-return]


@pytest.mark.usefixtures("counts")
def test_a_chance_is_the_share_seen_with_one_more_seen_and_one_more_not() -> None:
    assert chance(Rule.SUPER, Certainty.CERTAIN) == SURE * 99 // 102
    assert chance(Rule.OPERATOR, Certainty.LIKELY) == SURE * 61 // 102
    assert chance(Rule.SIGNAL, Certainty.POSSIBLE) == SURE // 50


@pytest.mark.usefixtures("counts")
@pytest.mark.parametrize("rule", [Rule.DESCRIPTOR, Rule.SUPER, Rule.BASE_CLASS])
def test_a_rule_with_few_judged_edges_has_the_figure_of_its_certainty(rule: Rule) -> None:
    assert chance(rule, Certainty.LIKELY) == SURE * 90 // 131


def test_every_word_of_the_table_is_one_of_the_model() -> None:
    for (rule, certainty), (seen, judged) in evidence.MEASURED.items():
        assert Rule(rule) and Certainty(certainty)
        assert 0 <= seen <= judged > 0


@pytest.mark.parametrize("rule", Rule)
def test_what_is_certain_is_likelier_than_what_is_possible(rule: Rule) -> None:
    certain, likely, possible = (measured_chance(rule, certainty) for certainty in Certainty)
    assert SURE > certain > possible > 0
    assert SURE > likely > 0


def test_chances_of_a_chain_are_multiplied_and_never_0() -> None:
    assert chance_of_both(SURE, 250_000) == 250_000
    assert chance_of_both(500_000, 250_000) == 125_000
    assert chance_of_both(3, 5) == 1
