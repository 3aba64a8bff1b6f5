"""Profiles: by name, from a table or a file, with directions switched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contextc import arguments, engine
from contextc.errors import ConfigurationError
from contextc.model.edge import Certainty, EdgeKind
from contextc.model.plan import Form
from contextc.passes.profile import (
    DEFAULT_PROFILE,
    PROFILES,
    SWITCHES,
    Profile,
    choose_profile,
    read_profile,
    switch_profile,
)


def test_a_table_says_what_differs_from_its_base() -> None:
    made = read_profile({"base": "fix", "forms": ["full", "name"], "certainty": ["possible", "likely"]}, "my.toml")
    assert made == PROFILES["fix"]._replace(
        name="my.toml", forms=(Form.FULL, Form.NAME), certainty=(Certainty.POSSIBLE, Certainty.LIKELY)
    )
    assert read_profile({}, "x")._replace(name="edit") == DEFAULT_PROFILE


def test_chances_are_given_as_shares() -> None:
    assert read_profile({"least_chance": 0.25, "interface_chance": 1}, "x").least_chance == 250_000


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"form": ["full"]}, "x: a profile has no key 'form': one of base, forms"),
        ({"base": "quick"}, "x: no profile 'quick' for `base`: one of edit, explore, review, fix"),
        ({"forms": []}, "x: forms: give a list of forms by hop"),
        ({"forms": ["whole"]}, "x: forms: no form 'whole': one of full, trimmed, interface, signature, name"),
        ({"followed": ["CALLS"]}, "x: followed: give a list of edge kinds: CALL, "),
        ({"certainty": ["sure"]}, "x: certainty: give a list of certainties by hop: certain, likely, possible"),
        ({"max_hops": -1}, "x: max_hops: give a number from 0 on"),
        ({"max_hops": True}, "x: max_hops: give a number from 0 on"),
        ({"least_chance": 2}, "x: least_chance: give a chance from 0 to 1"),
        ({"reaching_tests": "yes"}, "x: reaching_tests: give true or false"),
        ({"overrides": "no"}, "x: overrides: no form 'no'"),
    ],
)
def test_a_fault_says_where_what_and_what_is_known(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_profile(table, "x")
    assert str(caught.value).startswith(said)


def test_every_field_but_the_name_can_be_set() -> None:
    values: dict[str, Any] = {
        "forms": ["full"], "max_hops": 1, "followed": ["CALL"], "exceptions": False, "certainty": ["certain"],
        "callers": [], "calling_lines": 1, "most_callers": 2, "overrides": "none", "most_overrides": 3,
        "reaching_tests": False, "tests": 4, "docstring_lines": 6, "value_chars": 7, "attributes": 8,
        "alternatives": 9, "namesakes": 10, "interface_chance": 0.5, "least_chance": 0.1,
    }  # fmt: skip
    assert [name for name in Profile._fields if name != "name"] == list(values)
    made = read_profile(values, "x")
    assert all(getattr(made, name) != getattr(DEFAULT_PROFILE, name) for name in values)


def test_a_hop_past_the_end_is_like_the_last() -> None:
    made = Profile(forms=(Form.FULL, Form.NAME), callers=(Form.TRIMMED, Form.NAME), certainty=(Certainty.LIKELY,))
    assert made.form_at(7) is Form.NAME and made.caller_form_at(7) is Form.NAME
    assert made.certainty_at(1) is made.certainty_at(7) is Certainty.LIKELY


def test_switches_are_those_of_the_command_line() -> None:
    assert list(SWITCHES) == list(arguments.SWITCHES)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_off_and_on_again_gives_the_profile(name: str) -> None:
    off = switch_profile(DEFAULT_PROFILE, {name: False})
    assert off != DEFAULT_PROFILE
    assert switch_profile(off, {name: True}) == DEFAULT_PROFILE


def test_what_calls_is_not_followed_without_callees() -> None:
    followed = switch_profile(DEFAULT_PROFILE, {"callees": False}).followed
    assert not any(kind.is_call for kind in followed) and EdgeKind.USES_TYPE in followed


def test_a_name_that_is_none_is_told() -> None:
    with pytest.raises(ConfigurationError, match="where: no profile 'quick': one of edit, explore, review, fix"):
        choose_profile("quick", "where")


def test_the_repository_says_its_profile_and_budget_and_the_command_line_another(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.contextc]\nprofile = "review"\nbudget = 900\n', encoding="utf-8")
    assert engine.prepare_profile(tmp_path, None, {}) == (PROFILES["review"], 900)
    assert engine.prepare_profile(tmp_path, "fix", {})[0] == PROFILES["fix"]
    table = "[tool.contextc.profile]\nmax_hops = 1\n"
    (tmp_path / "pyproject.toml").write_text(table, encoding="utf-8")
    profile, budget = engine.prepare_profile(tmp_path, None, {"callers": False})
    assert (profile.max_hops, profile.callers, budget) == (1, (), None)


def test_a_file_with_the_keys_of_a_profile(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("max_hops = 4\n", encoding="utf-8")
    assert engine.prepare_profile(tmp_path, str(file), {})[0].max_hops == 4
    with pytest.raises(ConfigurationError, match=r"--profile: 'gone\.toml' is none of edit, .*, and no such file"):
        engine.prepare_profile(tmp_path, "gone.toml", {})
    file.write_text("max_hops = \n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is no valid TOML"):
        engine.prepare_profile(tmp_path, str(file), {})
