"""Why a symbol is not in a context: each answer, with its chain and the way to get it; never more than is known."""

from __future__ import annotations

import re

import pytest

from contextc.errors import TargetNotFound
from contextc.model.diagnostic import Skip, SkipReason
from contextc.passes.absence import explain_absence
from contextc.passes.compilation import Inputs
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.tokens import load_tokenizer
from tests.passes.repository import EdgeRow, Repository

TEXT = """
def target(): return one()
def one(): return two()
def two(): return three()
def three(): return four()
def four(): return 4
def user(): return target()
def far_user(): return user()
def farther_user(): return far_user()
def lonely(): return 5
class Box:
    def inside(self): return 6
    def beside(self): return 7
"""
PATH: list[EdgeRow] = [
    ("app:target", "app:one", "CALL"),
    ("app:one", "app:two", "CALL", "likely", "callable-value"),
    ("app:two", "app:three", "CALL"),
    ("app:three", "app:four", "CALL"),
    ("app:user", "app:target", "CALL"),
    ("app:far_user", "app:user", "CALL"),
    ("app:farther_user", "app:far_user", "CALL"),
    ("app:target", "app:Box.inside", "CALL"),
]


def ask(
    name: str, *, target: str = "app.py::target", unresolved: list[tuple[str, int, str]] | None = None,
    skipped: list[Skip] | None = None, last: int = 2,
) -> list[str]:  # fmt: skip
    made = Repository({"app.py": TEXT, "rest.py": "def nothing(): ...\n"}, PATH, unresolved or [], skipped or [])
    inputs = Inputs(made.graph, made.texts, DEFAULT_PROFILE, load_tokenizer("chars4"))
    return list(explain_absence(compile_slice(inputs, target, last), name, last))


def test_what_is_there_is_said_to_be_there_with_its_chain() -> None:
    said = ask("app:one")
    assert said[0].startswith("app:one is in the context: ")
    assert said[1] == "  app:target → app:one (certain, name)"
    assert ask("app:target")[0].startswith("app:target is in the context: full (target)")
    assert ask("app.py::user")[1] == "  app:target ← app:user (certain, name)"


def test_what_the_plan_left_out_has_its_reason_and_the_way_to_get_it() -> None:
    said = ask("app:three")
    assert said[0] == "app:three is left out: hop 3, past the last hop shown"
    assert said[1].endswith("→ app:two (likely, callable-value) → app:three (certain, name)")
    assert re.fullmatch(r"  chance that each edge is real, as measured: \d+\.\d %", said[2])
    assert "--max-hops 3" in said[3] and said[3].endswith("contextc compile ROOT app:three")


def test_past_all_that_was_looked_at_the_shortest_chain_is_found() -> None:
    said = ask("app:four")
    assert said[0] == "app:four is not in the context: 4 hops from app.py::target, 2 are shown"
    assert said[1].count("→") == 4
    assert said[-1].startswith("  to get it: contextc compile ROOT TARGET --max-hops 4, or ")
    assert ask("app:four", last=4)[0].startswith("app:four is in the context")


def test_what_uses_the_target_from_afar_is_told_the_other_way() -> None:
    said = ask("app:farther_user")
    assert said[0].startswith("app:farther_user is not in the context: no known edge leads to it from app.py::target; ")
    assert "  app:target ← app:user (certain, name) ← app:far_user (certain, name) ← app:farther_user" in "\n".join(
        said
    )


def test_without_a_chain_the_sites_that_could_hide_one_are_counted() -> None:
    sites = [("app:one", 2, "box.lonely"), ("app:two", 3, "run"), ("app:lonely", 9, "never")]
    said = "\n".join(ask("app:lonely", unresolved=sites))
    assert said.startswith(
        "app:lonely is not in the context: no chain of known edges leads to it from app.py::target\n"
    )
    assert "  2 sites in the 6 symbols that the target reaches are not resolved in full; any of them may lead" in said
    assert "  1 of them name 'lonely':\n    app.py:2 box.lonely (untyped-receiver)" in said
    assert "app.py:3" not in said and "never" not in said


@pytest.mark.parametrize("is_resolved", [True, False])
def test_nothing_is_called_unreachable_or_complete(is_resolved: bool) -> None:
    skipped = [Skip("gone.py", SkipReason.UNREADABLE, "no permission")]
    sites = [] if is_resolved else [("app:one", 2, "box.run")]
    said = "\n".join(ask("app:lonely", unresolved=sites, skipped=skipped))
    assert not re.search("unreachable|complete|dead|never|not used", said)
    assert ("resolved in full" in said and "each call site" in said) == is_resolved
    assert "  files or folders not analysed: 1; a chain may lead through them" in said


def test_of_a_class_the_part_that_is_there_is_listed() -> None:
    said = ask("app:Box")
    assert said[0] == "app:Box is in the context in part, 1 of its 3 symbols"
    assert said[1].startswith("  app:Box.inside: ")
    assert ask("app:Box.beside")[0].startswith("app:Box.beside is not in the context: no chain")


def test_a_file_is_asked_for_as_a_whole() -> None:
    assert ask("app.py")[0].startswith("app.py is in the context in part, ")
    assert ask("rest.py")[0] == "rest.py is not in the context: no chain of known edges leads to it from app.py::target"


def test_what_lies_in_something_shown_in_full_is_there() -> None:
    text = "def target(): return helper\ndef helper():\n    def deep(): ...\n    return deep\n"
    made = Repository({"app.py": text}, [("app:target", "app:helper", "CALL")])
    inputs = Inputs(made.graph, made.texts, DEFAULT_PROFILE._replace(forms=DEFAULT_PROFILE.forms[:1]), load_tokenizer())
    said = list(explain_absence(compile_slice(inputs, "app.py::target"), "app:helper.deep", 2))
    assert said[0].startswith("app:helper.<locals>.deep is in the context inside app:helper: full")


def test_an_unknown_name_is_an_error_with_suggestions() -> None:
    with pytest.raises(TargetNotFound, match="did you mean 'app:three'"):
        ask("app:tree")
