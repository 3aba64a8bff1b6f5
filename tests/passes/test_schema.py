"""The JSON form: real outputs are of the form that the schema in the package describes, and nothing else is."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from contextc.model.edge import Certainty, EdgeKind, Rule
from contextc.model.facts import SymbolKind
from contextc.model.plan import Direction, Form
from contextc.passes.schema import load_context_schema
from tests.command import FIXTURES, run, run_compile

SCHEMA = load_context_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.fixture(scope="module")
def context() -> dict[str, Any]:
    return run_compile(FIXTURES / "nine_files", "app/views.py")


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "target", ["app/views.py", "app/models.py::User.save", "app/models.py", "app.signals:<module>"]
)
@pytest.mark.parametrize("options", [[], ["--explain"], ["--resolver", "name-only"], ["--max-hops", "0"]])
def test_what_is_compiled_is_of_the_form(target: str, options: list[str]) -> None:
    made = run_compile(FIXTURES / "nine_files", target, *options)
    VALIDATOR.validate(made)
    assert made["stats"]["symbols"] == len(made["items"])
    assert all(("chain" in item) == ("--explain" in options) for item in made["items"])


def test_its_words_are_those_of_the_code() -> None:
    defined = SCHEMA["$defs"]
    for words, enum in (
        (defined["form"], Form),
        (defined["item"]["properties"]["direction"], Direction),
        (defined["graph"]["$defs"]["symbol_kind"], SymbolKind),
        (defined["graph"]["$defs"]["edge_kind"], EdgeKind),
        (defined["graph"]["$defs"]["certainty"], Certainty),
        (defined["graph"]["$defs"]["rule"], Rule),
    ):
        assert words["enum"] == [str(word) for word in enum]


Break = Callable[[dict[str, Any]], Any]
BREAKS: dict[str, Break] = {
    "another field": lambda c: c.update(more=1),
    "another field of an item": lambda c: c["items"][0].update(more=1),
    "no text": lambda c: c.pop("text"),
    "no budget": lambda c: c.pop("budget"),
    "a form that is none": lambda c: c["items"][0].update(form="whole"),
    "a line before the first": lambda c: c["items"][0].update(line=0),
    "a rule that is none": lambda c: next(i["via"] for i in c["items"] if i["via"]).update(rule="guess"),
    "an absolute path": lambda c: c["items"][0].update(path="/app.py"),
    "a count in words": lambda c: c.update(tokens="many"),
    "a warning without its line": lambda c: c["warnings"][0].pop("line"),
    "a chain without its worth": lambda c: c["items"][0].update(chain="a"),
}


@pytest.mark.parametrize("broken", BREAKS.values(), ids=BREAKS)
def test_another_form_is_refused(context: dict[str, Any], broken: Break) -> None:
    VALIDATOR.validate(context)
    changed = copy.deepcopy(context)
    broken(changed)
    assert not VALIDATOR.is_valid(changed)


def test_a_symbol_with_hundreds_of_references_has_a_whole_answer(tmp_path: Path) -> None:
    """Re-exported by two packages, used in three hundred functions of thirty files, a class with members."""
    (tmp_path / "core.py").write_text(
        "class Node:\n    def __init__(self, name):\n        self.name = name\n\n"
        "    def walk(self):\n        return [self.name]\n"
    )
    for package in ("api", "compat"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("from core import Node as Node\n\n__all__ = ['Node']\n")
    for number in range(30):
        source = "api" if number % 2 else "compat"
        uses = "".join(f"\n\ndef use_{i}():\n    return Node('{i}').walk()\n" for i in range(10))
        (tmp_path / f"user_{number}.py").write_text(f"from {source} import Node\n{uses}")
    for target in ("core.py::Node", "core:Node.walk", "core.py"):
        made = run("compile", tmp_path, target, "--format", "json", "--explain")
        context = json.loads(made.stdout)
        VALIDATOR.validate(context)
        assert context["items"] and context["text"]
        users = [i["id"] for i in context["items"] if i["direction"] == "used by"]
        left_out = [o["id"] for o in context["omitted"]]
        assert len({*users, *left_out}) >= 300
        again = json.loads(run("compile", tmp_path, context["items"][0]["id"], "--format", "json").stdout)
        assert context["items"][0]["id"] in {item["id"] for item in again["items"]}
