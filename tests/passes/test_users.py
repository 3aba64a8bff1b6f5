"""Who uses a target: callers with their lines, wrappers, overrides, tests."""

from __future__ import annotations

from contextc.graph.queries import find_target
from contextc.model.edge import Reason
from contextc.model.plan import Direction, Form
from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE, Profile, switch_profile
from contextc.passes.slice import slice_context
from contextc.passes.tokens import load_tokenizer
from contextc.passes.users import find_alternatives, find_overriders, find_tests, find_users, find_wrappers, lines_of
from tests.passes.repository import EdgeRow, Repository

TEXTS = {
    "core.py": """
class Store:
    def save(self, item):
        def inner():
            return item
        self.log = inner()
        self.kept = item
        raise Full(item)

class Disk(Store):
    def save(self, item):
        self.written = item
        self.count = 1
        return item

class Full(Exception): pass
""",
    "app.py": """
from core import Store

def show(store):
    names = []
    for name in ("a", "b"):
        names.append(name)
        store.save(name)
    return names

def outer(store):
    first = 1
    second = 2
    return show(store)

keep = lambda store: store.save(1)
Store().save(2)
""",
    "tests/test_app.py": "import app\n\ndef test_show():\n    app.show(1)\n",
}
EDGES: list[EdgeRow] = [
    ("app:show", "core:Store.save", "CALL", "likely", "receiver-declared", "7"),
    ("app:outer", "app:show", "CALL", "certain", "name", "13"),
    ("app:<module>", "core:Store.save", "CALL", "certain", "receiver-exact", "16"),
    ("core:Disk.save", "core:Store.save", "OVERRIDES", "certain", "base-class", "10"),
    ("core:Store.save", "core:Full", "CONSTRUCT", "certain", "constructor", "7"),
    ("tests.test_app:test_show", "app:show", "CALL", "certain", "import", "4"),
]
SEEDS = ("core:Store.save",)


def made(edges: list[EdgeRow] = EDGES, texts: dict[str, str] = TEXTS) -> Repository:
    return Repository(texts, edges)


def compiled(profile: Profile = DEFAULT_PROFILE, target: str = "core:Store.save") -> Compilation:
    repository = made()
    return compile_slice(Inputs(repository.graph, repository.texts, profile, load_tokenizer("chars4")), target)


def test_callers_come_by_the_number_of_calls() -> None:
    graph = made().graph
    assert [(c.symbol, c.hop) for c in find_users(graph, SEEDS, DEFAULT_PROFILE, 2)] == [
        ("app:<module>", 1), ("app:show", 1), ("app:outer", 2),
    ]  # fmt: skip
    assert all(c.direction is Direction.USED_BY for c in find_users(graph, SEEDS, DEFAULT_PROFILE, 2))


def test_a_caller_has_the_lines_of_its_calls() -> None:
    graph = made([*EDGES, ("app:show", "core:Store.save", "CALL", "likely", "receiver-declared", "4")]).graph
    found = {c.symbol: lines_of(graph, c, SEEDS) for c in find_users(graph, SEEDS, DEFAULT_PROFILE, 2)}
    assert found == {"app:<module>": (16,), "app:show": (4, 7), "app:outer": (13,)}


def test_a_call_of_what_is_inside_the_target_is_a_call_of_it() -> None:
    graph = made([("app:show", "core:Store.save.<locals>.inner", "CALL")]).graph
    assert [c.symbol for c in find_users(graph, SEEDS, DEFAULT_PROFILE, 1)] == ["app:show"]
    assert [c.symbol for c in find_users(graph, ["core:Store", *SEEDS], DEFAULT_PROFILE, 1)] == ["app:show"]


def test_tests_reach_the_target_over_code_and_are_no_callers() -> None:
    edges: list[EdgeRow] = [*EDGES, ("tests.test_app:test_show", "core:Store.save", "CALL")]
    graph = made(edges).graph
    assert [(c.symbol, c.hop) for c in find_tests(graph, SEEDS)] == [("tests.test_app:test_show", 1)]
    assert [c.hop for c in find_tests(made().graph, SEEDS)] == [2]
    assert "tests.test_app:test_show" not in {c.symbol for c in find_users(graph, SEEDS, DEFAULT_PROFILE, 1)}


def test_what_overrides_the_target_is_found_and_the_other_way_round() -> None:
    graph = made().graph
    assert [c.symbol for c in find_overriders(graph, SEEDS)] == ["core:Disk.save"]
    overridden = {c.symbol: c.direction for c in slice_context(graph, ["core:Disk.save"], 1)}
    assert overridden["core:Store.save"] is Direction.OVERRIDDEN


def test_at_an_open_site_overrides_of_what_is_known_may_run() -> None:
    repository = Repository(TEXTS, EDGES, [("app:show", 7, "store.save")])
    open_sites = repository.graph.unresolved_in("app:show")
    assert open_sites and open_sites[0].reason in set(Reason)
    edges = [e._replace(site=open_sites[0].site) if e.caller == "app:show" else e for e in repository.graph.edges]
    from contextc.graph.builder import build_graph

    graph = build_graph(repository.graph.analysis._replace(edges=tuple(edges)))
    candidates = slice_context(graph, ["app:show"], 2)
    assert [c.symbol for c in find_alternatives(graph, ["app:show"], candidates)] == ["core:Disk.save"]
    resolved = made().graph
    assert not find_alternatives(resolved, ["app:show"], slice_context(resolved, ["app:show"], 2))


def test_a_wrapper_with_an_open_call_runs_in_front() -> None:
    texts = {
        "deco.py": "class Traced:\n    def __init__(self, f):\n        self.f = f\n    def __call__(self, *args):\n"
        "        return self.f(*args)\n",
        "app.py": "from deco import Traced\n\n@Traced\ndef job(): ...\n",
    }
    edges: list[EdgeRow] = [("app:<module>", "deco:Traced.__init__", "CONSTRUCT", "certain", "constructor", "3")]
    graph = Repository(texts, edges, [("deco:Traced.__call__", 5, "self.f")]).graph
    found = find_wrappers(graph, ["app:job"]) if graph.edges[0].site is None else ()
    assert [c.symbol for c in found] == ["deco:Traced.__call__"]
    assert not find_wrappers(Repository(texts, edges).graph, ["app:job"])


def test_a_caller_is_shown_by_its_calling_lines() -> None:
    text = compiled().context.text
    assert "store.save(name)" in text
    assert "names.append(name)" not in text
    assert "for name in" in text
    item = {i.symbol: i for i in compiled().context.items}["app:show"]
    assert item.form is Form.TRIMMED and item.lines == (7,)


def test_callers_past_the_profiles_number_are_named_and_more_are_counted() -> None:
    texts = {"core.py": "def job(): ...\n", "app.py": "".join(f"def f{i}(a):\n    x = 1\n    y = 2\n    job()\n" for i in range(9))}  # fmt: skip  # noqa: E501
    edges: list[EdgeRow] = [(f"app:f{i}", "core:job", "CALL", "certain", "import", str(4 * i + 4)) for i in range(9)]
    repository = Repository(texts, edges)
    profile = DEFAULT_PROFILE._replace(calling_lines=2, most_callers=5)
    found = compile_slice(Inputs(repository.graph, repository.texts, profile, load_tokenizer("chars4")), "core:job")
    forms = [item.form for item in found.context.items if item.direction is Direction.USED_BY]
    assert forms.count(Form.NAME) == 3 and len(forms) == 5
    assert "- 4 symbols (one of many callers)" in found.context.text
    assert "app.py: f2 12, f3 16, f4 20" in found.context.text


def test_each_switch_takes_away_its_direction_and_no_other() -> None:
    shown = {name: {i.symbol for i in compiled(switch_profile(DEFAULT_PROFILE, {name: False})).context.items}
             for name in ("callers", "overrides", "tests", "exceptions", "callees")}  # fmt: skip
    everything = {item.symbol for item in compiled().context.items}
    assert everything - shown["callers"] == {"app:<module>", "app:show"}
    assert everything - shown["overrides"] == {"core:Disk.save"}
    assert everything - shown["tests"] == {"tests.test_app:test_show"}
    assert everything - shown["exceptions"] == {"core:Full"}
    assert everything - shown["callees"] == {"core:Full"}


def test_the_target_of_two_ways_is_shown_once() -> None:
    graph = made([*EDGES, ("core:Store.save", "app:show", "CALL")]).graph
    target = find_target(graph, "core:Store.save")
    repository = made([*EDGES, ("core:Store.save", "app:show", "CALL")])
    found = compile_slice(Inputs(repository.graph, repository.texts, DEFAULT_PROFILE, load_tokenizer("chars4")), target)
    assert [i.symbol for i in found.context.items].count("app:show") == 1
