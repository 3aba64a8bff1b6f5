"""Several targets at once, and what joining seeds means."""

from __future__ import annotations

import pytest

from contextc.errors import TargetNotFound
from contextc.passes.seeds.named import find_named
from contextc.passes.seeds.values import Mark, Seeds, join_seeds, make_target
from tests.passes.repository import Repository

SHOP = Repository(
    {
        "app.py": """
            class Order:
                def fill(self):
                    def one(article): ...
                    return one

            def main(): ...
            """,
        "lib.py": "def load(): ...\n",
    }
)


def test_several_targets_are_one() -> None:
    seeds = find_named(SHOP.graph, ["lib.py::load", "app.Order.fill", "lib.py::load"])
    assert seeds.target.text == "lib.py::load app.Order.fill"
    assert seeds.target.symbols == ("lib:load", "app:Order.fill", "app:Order.fill.<locals>.one")
    assert seeds.target.paths == ("app.py", "lib.py")
    assert seeds.target.kind == "symbols"
    assert set(seeds.ranks.values()) == {0}


def test_files_stay_files() -> None:
    assert find_named(SHOP.graph, ["app.py", "lib"]).target.kind == "file"
    assert find_named(SHOP.graph, ["app.py", "lib.py:1"]).target.kind == "symbols"


def test_the_wrong_one_is_named() -> None:
    with pytest.raises(TargetNotFound, match=r"'lib\.py::lood'.*did you mean 'lib\.py::load'"):
        find_named(SHOP.graph, ["app.py", "lib.py::lood"])


def test_joined_seeds_have_their_lowest_rank() -> None:
    graph = SHOP.graph
    first = Seeds(make_target("a", "symbols", [graph.symbol("app:main")]), {"app:main": 2}, (Mark("app.py", 6, "x"),))
    second = Seeds(
        make_target("b", "symbols", [graph.symbol("lib:load"), graph.symbol("app:main")]),
        {"lib:load": 1, "app:main": 0}, (Mark("app.py", 6, "x"),), ("said",), (), {"app:main": (6,)},
    )  # fmt: skip
    joined = join_seeds([first, second])
    assert joined.ranks == {"app:main": 0, "lib:load": 1}
    assert joined.target.symbols == ("app:main", "lib:load")
    assert joined.marks == (Mark("app.py", 6, "x"),)
    assert joined.notes == ("said",)
    assert joined.lines == {"app:main": (6,)}
