"""Which form a candidate gets, and why."""

from __future__ import annotations

import pytest

from contextc.graph.queries import find_target
from contextc.model.plan import Candidate, Form
from contextc.passes.compilation import Inputs, read_sources
from contextc.passes.evidence import SURE
from contextc.passes.plan import Plan, Planner
from contextc.passes.profile import DEFAULT_PROFILE, Profile
from contextc.passes.slice import slice_context
from contextc.passes.tokens import load_tokenizer
from tests.passes.repository import EdgeRow, Repository

BODY = "\n".join(f"    total += step({number}) * {number}" for number in range(12))
TEXTS = {
    "app.py": "import lib\n\ndef show(x):\n    return lib.long(x)\n",
    "lib.py": f'''"""Things.

More."""
from typing import overload

@overload
def long(a: int) -> int: ...
@overload
def long(a: str) -> str: ...
def long(a, total=0):
    """Long one."""
{BODY}
    return total

def short(a): 0

class Tiny(Exception):
    """Tiny."""

class Big:
    """Big."""
    x = 1
    def a(self):
        """A."""
{BODY.replace("    ", "        ")}

def far(total):
{BODY}

def further(total):
{BODY}
''',
    "tests/test_app.py": "import app\n\nclass Fake:\n    def run(self):\n        return 1\n",
}
EDGES: list[EdgeRow] = [
    ("app:show", "lib:long#3", "CALL"),
    ("app:show", "lib:short", "CALL"),
    ("app:show", "lib:Tiny", "USES_TYPE"),
    ("app:show", "lib:Big", "USES_TYPE"),
    ("app:show", "lib:Big.a", "CALL"),
    ("app:show", "lib:<module>", "READS_GLOBAL"),
    ("app:show", "tests.test_app:Fake.run", "DISPATCH", "likely"),
    ("lib:long#3", "lib:far", "CALL"),
    ("lib:far", "lib:further", "CALL"),
]


def inputs_of(made: Repository) -> Inputs:
    return Inputs(made.graph, made.texts, DEFAULT_PROFILE, load_tokenizer("chars4"))


def plan(hops: int = 2, edges: list[EdgeRow] = EDGES, profile: Profile = DEFAULT_PROFILE, target: str = "app.py::show",
         texts: dict[str, str] = TEXTS) -> Plan:  # fmt: skip
    made = Repository(texts, edges)
    candidates = slice_context(made.graph, find_target(made.graph, target).symbols, hops + 1)
    sources = read_sources(inputs_of(made), [c.symbol for c in candidates])
    return Planner(made.graph, sources, profile, load_tokenizer("chars4"), hops).plan(candidates)


def forms(made: Plan) -> dict[str, Form]:
    return {item.symbol: item.form for item in made.items}


def test_forms_follow_the_hop_and_full_wins_where_it_costs_nothing() -> None:
    assert forms(plan()) == {
        "app:show": Form.FULL,
        "lib:<module>": Form.NAME,
        "lib:long": Form.SIGNATURE,
        "lib:long#2": Form.SIGNATURE,
        "lib:long#3": Form.INTERFACE,
        "lib:short": Form.FULL,
        "lib:Tiny": Form.FULL,
        "lib:Big": Form.INTERFACE,
        "lib:Big.a": Form.INTERFACE,
        "lib:far": Form.SIGNATURE,
        "tests.test_app:Fake.run": Form.NAME,
    }


def test_every_item_says_why() -> None:
    why = {item.symbol: item.why for item in plan().items}
    assert why["app:show"] == "target"
    assert why["lib:long#3"] == "hop 1"
    assert why["lib:short"] == "hop 1; no longer than its interface"
    assert why["lib:long#2"] == "an overload of lib:long#3"
    assert why["tests.test_app:Fake.run"] == "test code"


def test_what_lies_past_the_last_hop_is_omitted_and_counted() -> None:
    made = plan(hops=1)
    assert [(o.symbol, o.hop) for o in made.omitted] == [("lib:far", 2)]
    assert "lib:further" in {o.symbol for o in plan(hops=2).omitted}
    assert not plan(hops=3).omitted
    assert forms(plan(hops=3))["lib:further"] is Form.NAME


def test_what_is_inside_a_whole_class_is_whole() -> None:
    edges: list[EdgeRow] = [("app:show", "lib:Tiny", "USES_TYPE"), ("app:show", "tests.test_app:Fake.run", "CALL"),
                            ("app:show", "tests.test_app:Fake", "USES_TYPE")]  # fmt: skip
    profile = Profile(tests=10)
    made = plan(edges=edges, profile=profile, target="tests/test_app.py")
    assert set(forms(made).values()) == {Form.FULL}
    assert all(item.why == "target" for item in made.items)


@pytest.mark.parametrize(("kind", "certainty"), [("DISPATCH", "likely"), ("DYNAMIC", "possible")])
def test_many_targets_of_one_site_are_bounded(kind: str, certainty: str) -> None:
    texts = dict(TEXTS)
    texts["many.py"] = "".join(f"def handle_{number}(): pass\n" for number in range(20))
    edges: list[EdgeRow] = [
        ("app:show", f"many:handle_{number}", kind, certainty, "getattr-pattern", "4") for number in range(20)
    ]
    made = Repository(texts, edges)
    candidates = slice_context(made.graph, ["app:show"], 2)
    sources = read_sources(inputs_of(made), [c.symbol for c in candidates])
    found = Planner(made.graph, sources, Profile(alternatives=5), load_tokenizer("chars4"), 2).plan(candidates)
    assert len(found.items) == 1 + 5
    assert {o.why for o in found.omitted} == {"one of many targets at app.py:4"}
    assert len(found.omitted) == 15


def test_tests_are_bounded_unless_the_target_is_one() -> None:
    made = plan(profile=Profile(tests=0))
    assert [o.why for o in made.omitted if "test" in o.symbol] == ["test code"]
    assert forms(plan(edges=[], target="tests/test_app.py::Fake"))["tests.test_app:Fake.run"] is Form.FULL


def test_test_code_that_the_target_certainly_uses_is_no_double() -> None:
    edges: list[EdgeRow] = [("app:show", "tests.test_app:Fake.run", "CALL", "certain")]
    assert forms(plan(edges=edges))["tests.test_app:Fake.run"] in (Form.FULL, Form.INTERFACE)
    edges = [("app:show", "tests.test_app:Fake.run", "CALL", "likely")]
    assert forms(plan(edges=edges))["tests.test_app:Fake.run"] is Form.NAME


LONG = f'    """Long.\n\n    More."""\n{BODY}\n'


def plan_candidates(candidates: list[Candidate], texts: dict[str, str], profile: Profile = DEFAULT_PROFILE) -> Plan:
    made = Repository(texts)
    sources = read_sources(inputs_of(made), [c.symbol for c in candidates])
    return Planner(made.graph, sources, profile, load_tokenizer("chars4"), 2).plan(candidates)


def reach_many(chances: list[int], path: str = "many.py") -> tuple[list[Candidate], dict[str, str]]:
    """One site that may call as many functions, each with its chance."""
    texts = {"app.py": TEXTS["app.py"], path: "".join(f"def f{i}(a, b):\n{LONG}" for i in range(len(chances)))}
    module = path.removesuffix(".py").replace("/", ".")
    edges: list[EdgeRow] = [
        ("app:show", f"{module}:f{i}", "DYNAMIC", "possible", "getattr-pattern", "4") for i in range(len(chances))
    ]
    graph = Repository(texts, edges).graph
    found = slice_context(graph, ["app:show"], 1)
    return [c._replace(chance=chances[n - 1]) if n else c for n, c in enumerate(found)], texts


def test_of_many_targets_the_likeliest_are_shown_and_of_equals_the_first() -> None:
    candidates, texts = reach_many([300_000, 500_000, 300_000, 900_000, 300_000])
    made = plan_candidates(candidates, texts, Profile(alternatives=3))
    assert [i.symbol for i in made.items] == ["app:show", "many:f0", "many:f1", "many:f3"]
    assert [o.symbol for o in made.omitted] == ["many:f2", "many:f4"]


def test_of_test_code_the_likeliest_is_named() -> None:
    candidates, texts = reach_many([300_000, 500_000, 300_000], "tests/test_many.py")
    made = plan_candidates(candidates, texts, Profile(tests=1))
    assert [(i.symbol, i.form) for i in made.items[1:]] == [("tests.test_many:f1", Form.NAME)]
    assert {o.why for o in made.omitted} == {"test code"}


def test_what_is_unlikely_has_a_signature_and_what_is_most_unlikely_is_left_out() -> None:
    profile = DEFAULT_PROFILE
    bounds = [profile.interface_chance, profile.interface_chance - 1, profile.least_chance, profile.least_chance - 1]
    candidates, texts = reach_many(bounds)
    made = plan_candidates(candidates, texts)
    assert [(i.symbol, i.form, i.why) for i in made.items[1:]] == [
        ("many:f0", Form.INTERFACE, "hop 1"),
        ("many:f1", Form.SIGNATURE, "hop 1, real in one of 8 such cases"),
        ("many:f2", Form.SIGNATURE, "hop 1, real in one of 333 such cases"),
    ]
    assert [(o.symbol, o.why) for o in made.omitted] == [("many:f3", "real in less than one of 333 such cases")]


def test_a_target_is_shown_whole_however_unlikely() -> None:
    candidates, texts = reach_many([SURE])
    made = plan_candidates([c._replace(chance=1) for c in candidates[:1]], texts)
    assert forms(made) == {"app:show": Form.FULL}


def test_an_attribute_that_its_class_shows_is_not_left_out() -> None:
    texts = {"app.py": "def show(k): k.run()\n", "lib.py": "class K:\n    attr: int = 3\n    def run(self): ...\n    def far(self): ...\n"}  # fmt: skip  # noqa: E501
    edges: list[EdgeRow] = [
        ("app:show", "lib:K", "USES_TYPE"), ("app:show", "lib:K.run", "CALL"),
        ("lib:K.run", "lib:K.attr", "READS_ATTRIBUTE"), ("lib:K.run", "lib:K.far", "CALL"),
    ]  # fmt: skip
    made = plan(hops=1, texts=texts, edges=edges)
    assert forms(made)["lib:K"] in (Form.INTERFACE, Form.FULL)
    assert "lib:K.attr" not in {o.symbol for o in made.omitted}
    unshown = plan(hops=1, texts=texts, edges=edges, profile=Profile(attributes=0))
    assert ("lib:K.attr" in {o.symbol for o in unshown.omitted}) is (forms(unshown)["lib:K"] is Form.INTERFACE)
