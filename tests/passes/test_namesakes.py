"""Methods that are in a context for their name alone: few of them, marked as such, and never an edge of the graph."""

from __future__ import annotations

import json

import pytest

from contextc.model.edge import Certainty, EdgeKind, Rule
from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.document import Figures
from contextc.passes.json_form import render_json
from contextc.passes.markdown import render_markdown
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.tokens import load_tokenizer
from tests.passes.repository import EdgeRow, Repository

TEXT = """
class Crate:
    def seal(self, lid): return lid
    def ship(self, where): return where
    def get(self, key): return key

class Ship:
    def ship(self, where): return where

def pack(box, other):
    box.seal(1)
    box.ship(2)
    other.ship(3)
    box.get(4)
    box.many(5)
    run()

def run(): ...
"""
MANY = "".join(f"class C{n}:\n    def many(self): ...\n" for n in range(7))
TESTING = "class Fake:\n    def seal(self, lid): ...\n    def get_all(self): ...\n"
SITES = [
    ("app:pack", 10, "box.seal"),
    ("app:pack", 11, "box.ship"),
    ("app:pack", 12, "other.ship"),
    ("app:pack", 13, "box.get"),
    ("app:pack", 14, "box.many"),
    ("app:pack", 15, "run"),
]


def compiled(edges: tuple[EdgeRow, ...] = (), most: int = 6) -> Compilation:
    repository = Repository({"app.py": TEXT, "many.py": MANY, "tests/test_app.py": TESTING}, edges, SITES)
    profile = DEFAULT_PROFILE._replace(namesakes=most)
    inputs = Inputs(repository.graph, repository.texts, profile, load_tokenizer("o200k"))
    return compile_slice(inputs, "app.py::pack")


def by_name(made: Compilation) -> set[str]:
    return {item.symbol for item in made.context.items if item.via is not None and item.via.rule is Rule.BARE_NAME}


def test_few_methods_of_a_name_come_with_the_call_that_is_not_resolved() -> None:
    """Not those of a name that many have or that built-in objects have, no test's, no function's."""
    made = compiled()
    assert by_name(made) == {"app:Crate.seal", "app:Crate.ship", "app:Ship.ship"}
    assert {item.via.certainty for item in made.context.items if item.via is not None} == {Certainty.POSSIBLE}
    assert "def seal(self, lid)" in made.context.text


@pytest.mark.parametrize(("most", "names"), [(0, 0), (1, 1), (2, 3), (6, 3), (7, 10)])
def test_the_profile_says_of_how_many(most: int, names: int) -> None:
    assert len(by_name(compiled(most=most))) == names
    assert DEFAULT_PROFILE.namesakes == 1


def test_the_text_says_at_the_site_that_it_is_the_name_alone() -> None:
    text = compiled().context.text
    assert "`box.seal` (by its name perhaps `app:Crate.seal`) 10" in text
    assert "`other.ship` (by its name perhaps `app:Crate.ship`, `app:Ship.ship`) 12" in text
    assert "`box.get` 13" in text and "`box.many` 14" in text


def test_where_the_text_is_brief_it_says_so_once() -> None:
    text = render_markdown(compiled().document._replace(is_brief=True), Figures(1))
    said = "there by name alone, for unresolved sites: `app:Crate.seal`, `app:Crate.ship`, `app:Ship.ship`"
    assert f"\n- {said}\n" in text


def test_json_and_the_report_say_so_too() -> None:
    made = compiled()
    record = json.loads(render_json(made))
    item = next(item for item in record["items"] if item["id"] == "app:Crate.seal")
    assert item["via"]["rule"] == "bare-name" and item["via"]["certainty"] == "possible"
    told = [w.message for w in made.context.warnings if w.line == 10]
    assert told == ["unresolved (untyped-receiver): box.seal; by its name perhaps app:Crate.seal"]


def test_what_an_edge_leads_to_is_there_for_that_edge() -> None:
    made = compiled((("app:pack", "app:Crate.seal", "CALL", "likely", "receiver-exact", "10"),))
    assert by_name(made) == {"app:Crate.ship", "app:Ship.ship"}
    assert "perhaps `app:Crate.seal`" not in made.context.text


def test_a_profile_that_follows_no_calls_has_none() -> None:
    repository = Repository({"app.py": TEXT}, (), SITES)
    profile = DEFAULT_PROFILE._replace(followed=DEFAULT_PROFILE.followed - {EdgeKind.CALL})
    made = compile_slice(Inputs(repository.graph, repository.texts, profile, load_tokenizer("o200k")), "app.py::pack")
    assert by_name(made) == set()


@pytest.mark.parametrize("certainty", [Certainty.CERTAIN, Certainty.LIKELY])
def test_a_profile_that_wants_more_certainty_has_none(certainty: Certainty) -> None:
    repository = Repository({"app.py": TEXT}, (), SITES)
    profile = DEFAULT_PROFILE._replace(certainty=(certainty,))
    made = compile_slice(Inputs(repository.graph, repository.texts, profile, load_tokenizer("o200k")), "app.py::pack")
    assert by_name(made) == set()
