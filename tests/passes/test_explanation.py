"""Chains of edges: in both directions, over what was left out, and from the target on; lines that name each term."""

from __future__ import annotations

import pytest

from contextc.engine import Options, Request, analyze_repository, compile_context
from contextc.model.edge import Edge, EdgeKind
from contextc.model.plan import Direction, Form, Item
from contextc.passes.explanation import Chains, explain_items
from contextc.passes.routes import find_route, turn_round, write_chain
from tests.command import FIXTURES
from tests.passes.repository import EdgeRow, Repository

TEXT = """
LIMIT = compute()

def compute(): return 3
def top(): return middle()
def middle(): return low()
def low(): return LIMIT
def other(): return low()
def lonely(): pass

class Store:
    def __init__(self): self.fill()
    def fill(self): top()

def make(): return Store()

def wrap(function):
    def in_front(): return function()
    return in_front

@wrap
def wrapped(): pass

class Base:
    def run(self): pass
class Child(Base):
    def run(self): pass
class Grandchild(Child):
    def run(self): pass
def start(base): base.run()

class Plain: pass
plain = Plain()
class Outer:
    def inner(self): pass
def near(outer): outer.inner()
def far(outer): near(outer)
"""
EDGES: list[EdgeRow] = [
    ("app:<module>", "app:compute", "CALL", "certain", "name", "1"),
    ("app:top", "app:middle", "CALL", "likely", "callable-value"),
    ("app:middle", "app:low", "CALL", "certain", "name"),
    ("app:other", "app:low", "CALL", "possible", "name"),
    ("app:low", "app:LIMIT", "READS_GLOBAL", "certain", "name-read"),
    ("app:Store.__init__", "app:Store.fill", "CALL", "certain", "receiver-self"),
    ("app:Store.fill", "app:top", "CALL"),
    ("app:make", "app:Store.__init__", "CONSTRUCT", "certain", "constructor"),
    ("app:<module>", "app:wrap", "DECORATOR", "certain", "decoration", "20"),
    ("app:Child.run", "app:Base.run", "OVERRIDES", "certain", "base-class"),
    ("app:Grandchild.run", "app:Child.run", "OVERRIDES", "certain", "base-class"),
    ("app:start", "app:Base.run", "CALL", "likely", "receiver-declared"),
    ("app:<module>", "app:Plain", "CONSTRUCT", "certain", "constructor", "33"),
    ("app:near", "app:Outer.inner", "CALL"),
    ("app:far", "app:near", "CALL"),
]
GRAPH = Repository({"app.py": TEXT}, EDGES).graph


def via(caller: str, callee: str) -> Edge:
    return next(e for e in GRAPH.edges_from(f"app:{caller}") if e.callee == f"app:{callee}")


def item(name: str, hop: int, edge: Edge | None, direction: Direction = Direction.USES, **more: object) -> Item:
    made = Item(f"app:{name}", hop, Form.SIGNATURE, edge, f"hop {hop}", direction)
    return made._replace(**more)  # type: ignore[arg-type]


def chain(last: Item, *others: Item) -> str:
    return write_chain(Chains(GRAPH, [*others, last]).find(last)).replace("app:", "")


TOP = item("top", 0, None)
MIDDLE = item("middle", 1, via("top", "middle"))


def test_a_chain_begins_at_the_target_and_names_each_edge() -> None:
    low = item("low", 2, via("middle", "low"))
    assert chain(low, TOP, MIDDLE) == "top → middle (likely, callable-value) → low (certain, name)"


def test_what_uses_the_target_is_told_with_its_edges_the_other_way() -> None:
    target = item("low", 0, None)
    near = item("middle", 1, via("middle", "low"), Direction.USED_BY)
    far = item("top", 2, via("top", "middle"), Direction.USED_BY)
    assert chain(far, target, near) == "low ← middle (certain, name) ← top (likely, callable-value)"


def test_a_caller_of_a_constructor_uses_its_class() -> None:
    seeds = [item("Store", 0, None), item("Store.__init__", 0, None)]
    maker = item("make", 1, via("make", "Store.__init__"), Direction.USED_BY)
    assert chain(maker, *seeds) == "Store.__init__ ← make (certain, constructor)"
    target, store = item("make", 0, None), item("Store", 1, via("make", "Store.__init__"))
    assert chain(store, target) == "make → Store (certain, constructor)"


def test_module_code_that_makes_an_object_of_a_class_without_a_constructor_uses_it() -> None:
    code = item("<module>", 1, via("<module>", "Plain"), Direction.USED_BY)
    assert chain(code, item("Plain", 0, None)) == "Plain ← <module> (certain, constructor)"


def test_a_chain_from_afar_can_lead_into_what_is_defined_in_the_target() -> None:
    whole, maker = item("Store", 0, None), item("make", 3, via("make", "Store.__init__"), Direction.TESTS)
    assert chain(maker, whole) == "Store ← make (certain, constructor)"
    outer, user = item("Outer", 0, None), item("far", 3, via("far", "near"), Direction.TESTS)
    assert chain(user, outer) == "Outer.inner ← near (certain, name) ← far (certain, name)"


def test_a_link_that_was_left_out_is_in_the_chain_all_the_same() -> None:
    low = item("low", 2, via("middle", "low"))
    assert chain(low, TOP) == "top → middle (likely, callable-value) → low (certain, name)"
    target, far = item("low", 0, None), item("top", 2, via("top", "middle"), Direction.TESTS)
    assert chain(far, target) == "low ← middle (certain, name) ← top (likely, callable-value)"


@pytest.mark.parametrize("has_module", [False, True])
def test_what_a_decorator_puts_before_the_target_stands_before_it(has_module: bool) -> None:
    seeds = [item("wrapped", 0, None), *([item("<module>", 0, None)] if has_module else [])]
    wrapper = item("wrap.<locals>.in_front", 1, via("<module>", "wrap"), Direction.USED_BY)
    assert chain(wrapper, *seeds) == "wrapped ← wrap.<locals>.in_front (certain, decoration)"


def test_module_code_that_decorates_with_the_target_calls_it() -> None:
    code = item("<module>", 1, via("<module>", "wrap"), Direction.USED_BY)
    assert chain(code, item("wrap", 0, None)) == "wrap ← <module> (certain, decoration)"


def test_what_may_run_in_place_of_what_is_called_goes_over_it() -> None:
    called = item("Base.run", 1, via("start", "Base.run"))
    child = item("Child.run", 1, via("Child.run", "Base.run"))
    last = item("Grandchild.run", 1, via("Grandchild.run", "Child.run"))
    assert chain(last, item("start", 0, None), called, child) == (
        "start → Base.run (likely, receiver-declared) ← Child.run (certain, base-class)"
        " ← Grandchild.run (certain, base-class)"
    )


def test_a_variable_stands_for_the_edges_of_its_line() -> None:
    seed = item("low", 0, None)
    limit = item("LIMIT", 1, via("low", "LIMIT"))
    compute = item("compute", 2, via("<module>", "compute"))
    assert chain(compute, seed, limit) == "low → LIMIT (certain, name-read) → compute (certain, name)"


def test_a_line_names_form_reason_and_each_term_of_the_worth() -> None:
    middle = MIDDLE._replace(worth=(("hop", 1000), ("real", 700)))
    lines = explain_items(GRAPH, [TOP, middle])
    assert lines == (
        "app:top: signature (hop 0)",
        "app:top → app:middle (likely, callable-value): signature (hop 1); worth: hop 1,000, real 700",
    )


def test_what_lies_in_a_target_goes_without_a_line_of_its_own() -> None:
    whole = [item("Store", 0, None), item("Store.fill", 0, None)]
    assert [line.partition(": ")[0] for line in explain_items(GRAPH, whole)] == ["app:Store"]
    method = [item("Store.fill", 0, None), item("Store", 1, via("make", "Store.__init__"))]
    assert explain_items(GRAPH, method)[0].startswith("app:Store.fill: ")


@pytest.mark.parametrize(
    ("seed", "goal", "expected"),
    [
        ("top", "low", "top → middle (likely, callable-value) → low (certain, name)"),
        ("top", "top", "top"),
        ("top", "LIMIT", "top → middle (likely, callable-value) → low (certain, name) → LIMIT (certain, name-read)"),
        ("make", "Store", "make → Store (certain, constructor)"),
        ("low", "top", ""),
        ("top", "lonely", ""),
    ],
)
def test_the_shortest_chain_to_any_number_of_hops(seed: str, goal: str, expected: str) -> None:
    route = find_route(GRAPH, [f"app:{seed}"], [f"app:{goal}"])
    assert write_chain(route.steps).replace("app:", "") == expected
    assert (0 < route.chance < 1_000_000) == ("→" in expected)


def test_without_a_chain_all_that_is_reached_is_known() -> None:
    assert set(find_route(GRAPH, ["app:middle"], ["app:lonely"]).reached) == {
        "app:middle", "app:low", "app:LIMIT", "app:compute",
    }  # fmt: skip


def test_a_chain_can_be_told_from_its_end() -> None:
    steps = find_route(GRAPH, ["app:top"], ["app:low"]).steps
    assert write_chain(turn_round(steps)) == "app:low ← app:middle (certain, name) ← app:top (likely, callable-value)"
    assert all(step.edge is None or step.edge.kind is EdgeKind.CALL for step in turn_round(steps))


def test_in_a_whole_repository_each_chain_leads_from_the_target_to_the_item() -> None:
    repository = analyze_repository(Options(root=FIXTURES / "nine_files", cache=False, workers=1))
    graph = repository.graph
    seen = 0
    for symbol in graph.symbols:
        made = compile_context(repository, symbol.id, Request(tokenizer="chars4"))
        chains = Chains(graph, made.context.items)
        for shown in made.context.items:
            steps = chains.find(shown)
            start: str | None = steps[0].symbol
            while start is not None and (start not in chains.items or chains.items[start].hop):
                start = graph.symbol(start).parent
            assert start is not None and steps[-1].symbol == shown.symbol
            assert len({step.symbol for step in steps}) == len(steps) <= shown.hop + 1
            seen += shown.hop > 0
    assert seen > 100
