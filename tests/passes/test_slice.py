"""What is reached, at which hop, by which edge."""

from __future__ import annotations

import pytest

from contextc.graph.queries import find_target
from contextc.model.edge import Certainty, Rule
from contextc.passes.evidence import SURE, chance_of_both, measured_chance
from contextc.passes.slice import slice_context
from tests.passes.repository import EdgeRow, Repository

APP = """
from models import User, Base

TABLE = {"a": helper}

def show(user):
    user.save()
    def inner():
        return deep()
    return inner

def helper():
    return 1
"""
MODELS = """
class Base:
    def save(self): ...
    def other(self): ...

class User(Base):
    kind = make()
    def __init__(self, name): self.name = name
    def save(self): super().save()

def deep(): ...
def make(): ...
class Unused: ...
"""
EDGES: list[EdgeRow] = [
    ("app:show", "models:User.save", "CALL", "likely", "receiver-declared", "6"),
    ("app:show", "models:User.save", "USES_TYPE"),
    ("app:show.<locals>.inner", "models:deep", "CALL"),
    ("app:<module>", "models:User", "IMPORTS", "certain", "import-statement", "1"),
    ("app:<module>", "app:helper", "READS_GLOBAL", "certain", "name-read", "3"),
    ("models:User", "models:Base", "INHERITS"),
    ("models:User", "models:make", "CALL", "certain", "name", "7"),
    ("models:User.save", "models:Base.save", "SUPER"),
    ("models:<module>", "models:Unused", "CALL"),
    ("models:deep", "models:User.__init__", "CONSTRUCT", "certain", "constructor"),
]


def reached(target: str, hops: int, edges: list[EdgeRow] = EDGES) -> dict[str, int]:
    graph = Repository({"app.py": APP, "models.py": MODELS}, edges).graph
    return {c.symbol: c.hop for c in slice_context(graph, find_target(graph, target).symbols, hops)}


def test_a_file_seeds_all_it_holds_and_its_imports_come_first() -> None:
    assert reached("app.py", 1) == {
        "app:<module>": 0, "app:TABLE": 0, "app:show": 0, "app:show.<locals>.inner": 0, "app:helper": 0,
        "models:User": 1, "models:User.save": 1, "models:deep": 1,
    }  # fmt: skip


def test_a_function_brings_what_its_nested_functions_use_but_not_its_files_imports() -> None:
    assert reached("app.py::show", 1) == {
        "app:show": 0, "app:show.<locals>.inner": 0, "models:User.save": 1, "models:deep": 1,
    }  # fmt: skip


def test_constructing_brings_the_class_which_brings_its_bases_and_what_its_body_calls() -> None:
    hops = reached("app.py::show", 3)
    assert (hops["models:User.__init__"], hops["models:User"]) == (2, 2)
    assert (hops["models:Base"], hops["models:make"]) == (3, 3)
    assert hops["models:Base.save"] == 2
    assert "models:Base.other" not in hops


def test_a_variable_brings_what_its_statement_names() -> None:
    hops = reached("app.py::show", 2, [*EDGES, ("app:show", "app:TABLE", "READS_GLOBAL")])
    assert (hops["app:TABLE"], hops["app:helper"]) == (1, 2)


def test_a_module_reached_is_not_run() -> None:
    hops = reached("app.py::show", 3, [("app:show", "models:<module>", "CALL")])
    assert "models:Unused" not in hops


def test_imports_and_overrides_count_from_the_target_only() -> None:
    edges: list[EdgeRow] = [
        ("app:show", "models:User.save", "CALL"),
        ("models:User.save", "models:Base.save", "OVERRIDES"),
        ("models:User.save", "models:Unused", "IMPORTS"),
    ]
    assert set(reached("app.py::show", 2, edges)) == {"app:show", "app:show.<locals>.inner", "models:User.save"}
    assert "models:Base.save" in reached("models.py::User.save", 1, edges)
    assert "models:Unused" in reached("models.py::User.save", 1, edges)


def test_the_best_edge_is_kept() -> None:
    graph = Repository({"app.py": APP, "models.py": MODELS}, EDGES).graph
    found = {c.symbol: c.via for c in slice_context(graph, ["app:show"], 1)}
    via = found["models:User.save"]
    assert via is not None and (via.kind, via.certainty, via.line) == ("CALL", "likely", 6)


@pytest.mark.parametrize("hops", [0, 1, 2, 5])
def test_each_symbol_once_in_order_and_the_same_for_any_order_of_edges(hops: int) -> None:
    texts = {"app.py": APP, "models.py": MODELS}
    graphs = [Repository(texts, EDGES).graph, Repository(texts, EDGES[::-1]).graph]
    slices = [slice_context(graph, ["app:show", "app:<module>"], hops) for graph in graphs]
    assert slices[0] == slices[1]
    symbols = [c.symbol for c in slices[0]]
    assert len(symbols) == len(set(symbols))
    assert [c.hop for c in slices[0]] == sorted(c.hop for c in slices[0])


DECLARED = measured_chance(Rule.RECEIVER_DECLARED, Certainty.LIKELY)
OPERATOR = measured_chance(Rule.OPERATOR, Certainty.POSSIBLE)
RELATION = measured_chance(Rule.NAME_READ, Certainty.CERTAIN)


def test_chances_are_multiplied_along_the_chain() -> None:
    edges: list[EdgeRow] = [
        ("app:show", "models:User.save", "CALL", "likely", "receiver-declared"),
        ("models:User.save", "models:deep", "DUNDER", "possible", "operator"),
        ("models:deep", "models:make", "CALL", "certain", "name"),
    ]
    graph = Repository({"app.py": APP, "models.py": MODELS}, edges).graph
    chances = {c.symbol: c.chance for c in slice_context(graph, ["app:show"], 2)}
    assert chances == {
        "app:show": SURE, "models:User.save": DECLARED, "models:deep": chance_of_both(DECLARED, OPERATOR),
    }  # fmt: skip


def test_the_likeliest_chain_counts_whatever_edge_is_named() -> None:
    edges: list[EdgeRow] = [
        ("app:show", "models:deep", "DUNDER", "possible", "operator", "6"),
        ("app:show", "models:deep", "CALL", "likely", "receiver-declared", "9"),
        ("app:show", "models:make", "DUNDER", "possible", "operator", "6"),
        ("app:show", "models:make", "READS_GLOBAL", "certain", "name-read", "9"),
    ]
    for given in (edges, edges[::-1]):
        graph = Repository({"app.py": APP, "models.py": MODELS}, given).graph
        found = {c.symbol: c for c in slice_context(graph, ["app:show"], 1) if c.via}
        kinds = {name: (str(c.via.kind), c.chance) for name, c in found.items() if c.via}
        assert kinds == {"models:deep": ("CALL", DECLARED), "models:make": ("DUNDER", RELATION)}
