"""The façade's answers, their order, the builder's checks, and the networkx side."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from contextc.graph.builder import build_graph
from contextc.model.edge import CALL_KINDS, EdgeKind
from tests.command import REPOSITORY
from tests.graph.drafting import Draft, shop

SHOW = "app.views:show"
MAKE = "app.models:make"
INNER = "app.models:make.<locals>.inner"


def test_symbols_come_by_file_and_place() -> None:
    graph = shop().graph()
    assert [s.path for s in graph.symbols] == sorted(s.path for s in graph.symbols)
    models = graph.symbols_in_file("app/models.py")
    assert models[0].qualname == "<module>"
    assert [s.line for s in models] == sorted(s.line for s in models)
    assert graph.symbols_in_file("app/nothing.py") == ()


def test_nesting() -> None:
    graph = shop().graph()
    assert [s.id for s in graph.children("app.models:User")] == [
        "app.models:User.email",
        "app.models:User.email#2",
        "app.models:User.save",
        "app.models:User.table",
    ]
    assert [s.id for s in graph.descendants(MAKE)] == [INNER, "app.models:make.<locals>.<lambda>"]
    assert [s.id for s in graph.descendants("app.models:<module>")] == [
        s.id for s in graph.symbols_in_file("app/models.py")[1:]
    ]
    assert graph.module_of(INNER).id == "app.models:<module>"
    assert graph.module_of("app.views:<module>").id == "app.views:<module>"


def test_edges_of_one_symbol_only() -> None:
    graph = shop().graph()
    assert [e.callee for e in graph.edges_from(SHOW)] == ["app.models:User.save", MAKE]
    assert [e.caller for e in graph.edges_to(MAKE)] == [INNER, SHOW]
    assert [e.callee for e in graph.edges_from(MAKE)] == [INNER]  # not what `inner` calls


def test_edges_of_some_kinds() -> None:
    graph = shop().graph()
    assert graph.edges_from("app.views:<module>", CALL_KINDS) == ()
    assert len(graph.edges_from("app.views:<module>", {EdgeKind.IMPORTS})) == 1
    assert [e.kind for e in graph.edges_to(MAKE, {EdgeKind.DYNAMIC})] == [EdgeKind.DYNAMIC]
    assert graph.edges_from(SHOW, ()) == ()


def test_unresolved_sites_and_imports_stay_in_their_scope() -> None:
    graph = shop().graph()
    assert [u.line for u in graph.unresolved_in(SHOW)] == [9]
    assert graph.unresolved_in(MAKE) == ()
    assert [i.name for i in graph.imports_of("app.views:<module>")] == ["User", "json"]
    assert graph.imports_of(SHOW) == ()


def test_unknown_id_is_an_error() -> None:
    graph = shop().graph()
    questions = (
        graph.symbol, graph.children, graph.descendants, graph.module_of, graph.edges_from, graph.edges_to,
        graph.unresolved_in, graph.imports_of,
    )  # fmt: skip
    for ask in questions:
        with pytest.raises(KeyError):
            ask("app.views:nothing")
    assert "app.views:nothing" not in graph
    assert SHOW in graph


def test_order_and_repetition_of_the_input_do_not_matter() -> None:
    expected = shop().graph().analysis
    for seed in range(5):
        draft = shop()
        draft.edges += draft.edges[:2]
        draft.unresolved *= 2
        for part in (draft.files, draft.symbols, draft.edges, draft.unresolved, draft.imports):
            random.Random(seed).shuffle(part)
        assert build_graph(draft.analysis()._replace(call_sites=expected.call_sites)).analysis == expected


def test_implicit_calls_and_explicit_ones_on_one_line_sort() -> None:
    draft = shop()
    explicit = draft.edge(SHOW, MAKE, 8)
    implicit = explicit._replace(site=None)
    draft.edges.append(implicit)
    assert [e.site for e in draft.graph().edges_from(SHOW) if e.line == 8] == [None, explicit.site]


def _with_unknown_callee(draft: Draft) -> None:
    draft.edges.append(draft.edges[0]._replace(callee="app.models:ghost"))


def _with_unknown_caller(draft: Draft) -> None:
    draft.edges.append(draft.edges[0]._replace(caller="app.models:ghost"))


def _with_two_of_one_id(draft: Draft) -> None:
    draft.symbols.append(draft.symbols[-1]._replace(line=1))


def _with_lost_site(draft: Draft) -> None:
    draft.unresolved.append(draft.unresolved[0]._replace(caller="app.models:ghost"))


def _with_lost_parent(draft: Draft) -> None:
    draft.symbols[-1] = draft.symbols[-1]._replace(parent="app.models:ghost")


def _with_unlisted_file(draft: Draft) -> None:
    draft.symbols.append(draft.symbols[0]._replace(id="ghost:<module>", path="ghost.py"))


def _with_lost_import(draft: Draft) -> None:
    draft.imports.append(draft.imports[0]._replace(target="app.models:ghost"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_with_unknown_callee, "ghost"),
        (_with_unknown_caller, "ghost"),
        (_with_two_of_one_id, "two symbols"),
        (_with_lost_site, "unresolved site"),
        (_with_lost_parent, "unknown parent"),
        (_with_unlisted_file, "not an analysed file"),
        (_with_lost_import, "import of User"),
    ],
)
def test_broken_invariants_are_told(spoil, said: str) -> None:  # type: ignore[no-untyped-def]
    draft = shop()
    spoil(draft)
    with pytest.raises(ValueError, match=said):
        draft.graph()


def test_networkx_graph_holds_the_same() -> None:
    graph = shop().graph()
    laid = graph.networkx
    assert type(laid).__name__ == "MultiDiGraph"
    assert list(laid) == [s.id for s in graph.symbols]
    assert laid.nodes[SHOW] == {
        "path": "app/views.py", "qualname": "show", "kind": "function", "line": 5, "col": 0, "end_line": 10,
    }  # fmt: skip
    assert sorted((a, b, d["kind"], d["line"]) for a, b, d in laid.edges(data=True)) == sorted(
        (e.caller, e.callee, e.kind.value, e.line) for e in graph.edges
    )
    assert graph.networkx is laid


def test_networkx_graph_cannot_drift_from_the_facade() -> None:
    laid = shop().graph().networkx
    with pytest.raises(Exception, match=r"[Ff]rozen"):
        laid.add_edge("a", "b")


def test_cycles_and_paths() -> None:
    graph = shop().graph()
    assert graph.find_cycles() == ((MAKE, INNER),)
    assert graph.find_cycles({EdgeKind.CALL}) == ()
    path = graph.find_path(SHOW, INNER)
    assert path is not None
    assert [(e.caller, e.callee) for e in path] == [(SHOW, MAKE), (MAKE, INNER)]
    assert graph.find_path(INNER, SHOW) is None
    assert graph.find_path(SHOW, SHOW) == ()


def test_a_lone_self_call_is_a_cycle() -> None:
    draft = shop()
    draft.edge(SHOW, SHOW, 8)
    assert (SHOW,) in draft.graph().find_cycles()


def test_a_path_takes_the_most_certain_edge() -> None:
    draft = shop()
    draft.edges = [e for e in draft.edges if e.callee != INNER]
    draft.edge(MAKE, INNER, 41, EdgeKind.DYNAMIC, certainty=draft.edges[-1].certainty.POSSIBLE)
    best = draft.edge(MAKE, INNER, 49)
    assert draft.graph().find_path(MAKE, INNER) == (best,)


def test_answers_do_not_load_networkx() -> None:
    code = (
        "import sys\n"
        "from tests.graph.drafting import shop\n"
        "from contextc.graph.queries import find_target\n"
        "from contextc.graph.export.json_export import iter_graph_json\n"
        "graph = shop().graph()\n"
        "find_target(graph, 'app.views:show'); graph.edges_from('app.views:show'); list(iter_graph_json(graph, '1'))\n"
        "print('networkx' in sys.modules)\n"
        "graph.networkx\n"
        "print('networkx' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.stdout == "False\nTrue\n", done.stderr
