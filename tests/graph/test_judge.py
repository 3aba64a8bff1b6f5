"""A graph against a recording: figures, misses, wrong edges; and the same figures as the benchmarks' own scorer."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextc.errors import TargetNotFound, UserError
from contextc.graph.export.comparison_export import iter_measurement_json
from contextc.graph.export.schema import load_comparison_schema
from contextc.graph.judge import ALL, ALL_CALLS, SILENT, Judgement, Precision, Tally
from contextc.graph.measure import Measurement, measure_graphs
from contextc.graph.observed import CALLS, KINDS
from contextc.graph.trace_file import read_trace
from contextc.model.diagnostic import Skip, SkipReason
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule, Site, Unresolved
from contextc.report import iter_measurement
from tests.command import REPOSITORY
from tests.graph.recordings import Recorded, Row, ran, row, write_oracle, write_trace

TEXTS = {
    "app.py": """from store import Store, Order, cached

def main(thing, store):
    thing.save()
    Store("a")
    return [store.load(k) for k in (1, 2)]

class Page:
    title = cached(1)

    def show(self):
        self.store.items[0].load(
            3,
        )
        return self.store.size
""",
    "store.py": """def cached(f):
    def wrapper(*args):
        return f(*args)
    return wrapper

class Base:
    def __init__(self, name): ...
    def load(self, key): ...

class Store(Base):
    def save(self): ...
    size = property(lambda self: 1)

class Order:
    def save(self): ...
    @cached
    def load(self, key): ...

if cached:
    class Twin:
        Order()
else:
    def Twin():
        Order()
""",
}
SAVE, MAKE, LOAD = (4, 4, 4, 16), (5, 4, 5, 14), (6, 12, 6, 25)
CACHED, LONG = (9, 12, 9, 21), (12, 8, 14, 9)
RECORDED = Recorded(TEXTS)


def edge(
    caller: str,
    callee: str,
    site: Site | None,
    line: int = 0,
    kind: EdgeKind = EdgeKind.CALL,
    certainty: Certainty = Certainty.CERTAIN,
) -> Edge:
    path = caller.partition(":")[0] + ".py"
    return Edge(caller, callee, path, line or (site[0] if site else 1), site, kind, certainty, Rule.NAME)


def measure(
    tmp_path: Path,
    rows: Sequence[Row],
    edges: Sequence[Edge] = (),
    unresolved: Sequence[Unresolved] = (),
    *,
    sites: Sequence[Row] = (),
    lines: dict[str, list[int]] | None = None,
    by_name: Sequence[Edge] = (),
    skipped: Sequence[Skip] = (),
    target: str | None = None,
) -> Measurement:
    trace = read_trace(write_trace(tmp_path / "t.jsonl", rows, sites, lines or {}))
    graph = RECORDED.graph(edges, unresolved, skipped)
    return measure_graphs(graph, RECORDED.analysis(by_name), trace, RECORDED.texts, RECORDED.sources.facts, target)


def test_a_miss_says_where_on_what_and_why(tmp_path: Path) -> None:
    rows = [
        row("explicit", "app.py", "main", "store.py", "Store.save", line=4, site=SAVE, count=5),
        row("explicit", "app.py", "main.<locals>.<listcomp>", "store.py", "Base.load", line=6, site=LOAD),
        row("explicit", "app.py", "Page.show", "store.py", "Base.load", line=12, site=LONG),
        row("property", "app.py", "Page.show", "store.py", "Store.size", line=15),
        row("explicit", "app.py", "Page", "store.py", "cached", line=9, site=CACHED),
    ]
    unresolved = [Unresolved("app:main", "app.py", 4, SAVE, Reason.UNTYPED_RECEIVER, "thing.save")]
    guess = edge("app:main", "store:Base.load", LOAD, certainty=Certainty.POSSIBLE)
    typed = measure(tmp_path, rows, [guess], unresolved).typed
    said = [(m.line, m.caller, m.callee, m.kind, m.receiver, m.reason, m.is_possible, m.times) for m in typed.misses]
    assert said == [
        (6, "app:main", "store:Base.load", "explicit", "store", SILENT, True, 1),
        (9, "app:Page", "store:cached", "explicit", "cached", SILENT, False, 1),
        (12, "app:Page.show", "store:Base.load", "explicit", "self.store.items[0]", SILENT, False, 1),
        (15, "app:Page.show", "store:Store.size", "property", "self.store", SILENT, False, 1),
        (4, "app:main", "store:Store.save", "explicit", "thing", "untyped-receiver", False, 5),
    ]
    assert typed.tallies[ALL_CALLS] == Tally(4, 0, 4, 0, 3)
    assert typed.tallies["property"] == Tally(1, 0, 1, 0, 1)
    assert typed.tallies[ALL] == Tally(5, 0, 5, 0, 4)


def test_what_was_found(tmp_path: Path) -> None:
    """A caller is a function: a comprehension's call and a class body's count for the function or module around."""
    rows = [
        row("explicit", "app.py", "main.<locals>.<listcomp>", "store.py", "Base.load", line=6, site=LOAD),
        row("explicit", "app.py", "Page", "store.py", "cached", line=9, site=CACHED),
        row("constructor", "app.py", "main", "store.py", "Base.__init__", line=5, site=MAKE),
    ]
    sites = [ran("app.py", MAKE, cls=["store:Store"])]
    edges = [
        edge("app:main", "store:Base.load", LOAD),
        edge("app:<module>", "store:cached", CACHED),
        edge("app:main", "store:Store", MAKE, kind=EdgeKind.CONSTRUCT),  # the class that was made, not where it inits
    ]
    typed = measure(tmp_path, rows, edges, sites=sites).typed
    assert typed.misses == () and typed.tallies[ALL_CALLS] == Tally(3, 3, 3, 3, 0)
    assert typed.precision[ALL] == Precision(1, 1)  # at the one place that is said to have run


def test_an_edge_to_a_class_stands_for_what_runs_when_it_is_called(tmp_path: Path) -> None:
    """Also where the recorder could not tell which class was made."""
    rows = [row("constructor", "app.py", "main", "store.py", "Order.__init__", line=5, site=MAKE)]
    edges = [edge("app:main", "store:Order", MAKE), edge("app:main", "store:Store", MAKE)]
    typed = measure(tmp_path, rows, edges, sites=[ran("app.py", MAKE)]).typed
    assert typed.misses == () and typed.wrong == (edges[1],) and typed.precision[ALL] == Precision(2, 1)


def test_precision_is_over_places_that_ran(tmp_path: Path) -> None:
    rows = [row("explicit", "app.py", "main", "store.py", "Store.save", line=4, site=SAVE)]
    edges = [
        edge("app:main", "store:Store.save", SAVE),
        edge("app:main", "store:Order.save", SAVE, certainty=Certainty.LIKELY),
        edge("app:main", "store:Base.load", SAVE, certainty=Certainty.POSSIBLE),  # counts for nothing
        edge("app:main", "store:Base.load", LOAD),  # did not run
        edge("app:Page.show", "store:Base.load", LONG),  # ran a mock
    ]
    sites = [ran("app.py", SAVE), ran("app.py", LOAD, n=0), ran("app.py", LONG, ext=["unittest.mock.Mock.__call__"])]
    typed = measure(tmp_path, rows, edges, sites=sites).typed
    assert typed.precision == {"certain": Precision(1, 1), "likely": Precision(1, 0), ALL: Precision(2, 1)}
    assert typed.wrong == (edges[1],) and typed.unjudged == 1
    assert typed.rules == {"name": Precision(2, 1)}


def test_a_wrapped_function_will_do_for_its_wrapper(tmp_path: Path) -> None:
    """Without `__wrapped__`: the closure that ran called a function that has the name written at the call."""
    rows = [
        row("explicit", "app.py", "Page.show", "store.py", "cached.<locals>.wrapper", line=12, site=LONG),
        row("explicit", "store.py", "cached.<locals>.wrapper", "store.py", "Order.load", line=3, site=(3, 15, 3, 23)),
    ]
    found = measure(tmp_path, rows, [edge("app:Page.show", "store:Order.load", LONG)], sites=[ran("app.py", LONG)])
    assert [miss.callee for miss in found.typed.misses] == ["store:Order.load"]  # from the wrapper itself
    assert found.typed.precision[ALL] == Precision(1, 1)
    other = measure(tmp_path, rows, [edge("app:Page.show", "store:Order.save", LONG)], sites=[ran("app.py", LONG)])
    assert len(other.typed.misses) == 2 and other.typed.precision[ALL] == Precision(1, 0)


def test_a_target_asks_for_its_own_calls_only(tmp_path: Path) -> None:
    rows = [
        row("explicit", "app.py", "main", "store.py", "Store.save", line=4, site=SAVE),
        row("explicit", "app.py", "main.<locals>.<listcomp>", "store.py", "Base.load", line=6, site=LOAD),
        row("explicit", "app.py", "Page.show", "store.py", "Base.load", line=12, site=LONG),
        row("explicit", "app.py", "Page", "store.py", "cached", line=9, site=CACHED),
    ]
    sites = [ran("app.py", SAVE), ran("app.py", LONG)]
    wrong = [edge("app:main", "store:Order.save", SAVE), edge("app:Page.show", "store:Order.save", LONG)]
    lines = {
        target: [miss.line for miss in measured.typed.misses] + [found.line for found in measured.typed.wrong]
        for target in ("app.py::main", "app.Page", "app.py::Page.show", "app.py", "store.py")
        for measured in [measure(tmp_path, rows, wrong, sites=sites, target=target)]
    }
    assert lines == {
        "app.py::main": [4, 6, 4], "app.Page": [9, 12, 12], "app.py::Page.show": [12, 12],
        "app.py": [4, 6, 9, 12, 4, 12], "store.py": [],
    }  # fmt: skip
    with pytest.raises(TargetNotFound):
        measure(tmp_path, rows, target="app.py::mian")


def test_files_left_out_are_not_asked_for_but_those_that_failed_are(tmp_path: Path) -> None:
    rows = [
        row("explicit", "app.py", "main", "store.py", "Store.save", line=4, site=SAVE),
        row("explicit", "tests/test_app.py", "test_main", "app.py", "main", line=4, site=(4, 4, 4, 10)),
        row("explicit", "broken.py", "f", "app.py", "main", line=4, site=(4, 4, 4, 10)),
    ]
    skipped = [Skip("tests/", SkipReason.EXCLUDED, ""), Skip("broken.py", SkipReason.UNDECODABLE, "")]
    measured = measure(tmp_path, rows, skipped=skipped)
    assert measured.left_out == 1
    assert [(miss.path, miss.caller) for miss in measured.typed.misses] == [
        ("app.py", "app:main"), ("broken.py", "broken.py::f"),
    ]  # fmt: skip
    with pytest.raises(UserError, match=r"none of the 2 files of 't\.jsonl' was analysed; do --include and --exclude"):
        measure(tmp_path, [row("explicit", "x.py", "f", "y.py", "g", line=1)])


def test_lines_without_columns(tmp_path: Path) -> None:
    """What Python 3.10 can record: a call is compared by its lines, any of them."""
    rows = [row("explicit", "app.py", "Page.show", "store.py", "Base.load", line=13)]
    write_trace(tmp_path / "t", rows, [], {"app.py": [12, 13]})
    (tmp_path / "t").write_text((tmp_path / "t").read_text().replace('"exact"', '"lines"'))
    trace = read_trace(tmp_path / "t")
    doubt = [Unresolved("app:Page.show", "app.py", 12, LONG, Reason.UNTYPED_RECEIVER, "load")]

    def judged(edges: Sequence[Edge], doubts: Sequence[Unresolved] = ()) -> Judgement:
        graph = RECORDED.graph(edges, doubts)
        facts = RECORDED.sources.facts
        return measure_graphs(graph, RECORDED.analysis(), trace, RECORDED.texts, facts, None).typed

    right = judged([edge("app:Page.show", "store:Base.load", LONG)])
    assert right.misses == () and right.precision[ALL] == Precision(1, 1)
    wrong = judged([edge("app:Page.show", "store:Order.load", LONG)], doubt)
    assert [miss.reason for miss in wrong.misses] == ["untyped-receiver"] and wrong.precision[ALL] == Precision(1, 0)


# ------------------------------------------------------------------------------------------------------ output


def test_the_json_is_valid_and_holds_everything(tmp_path: Path) -> None:
    rows = [
        row("explicit", "app.py", "main", "store.py", "Store.save", line=4, site=SAVE),
        row("decorator", "store.py", "Order", "store.py", "cached", line=16),
    ]
    wrong = edge("app:main", "store:Order.save", SAVE)
    measured = measure(tmp_path, rows, [wrong], sites=[ran("app.py", SAVE)], by_name=[], target="app.py")
    text = "".join(iter_measurement_json(measured, "1.2.3"))
    document = json.loads(text)
    schema = load_comparison_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert (document["target"], document["typed"]["recall"], document["name_only"]["precision"]) == ("app.py", 0, None)
    assert [miss["callee"] for miss in document["typed"]["misses"]] == ["store:Store.save"]
    assert [found["callee"] for found in document["typed"]["wrong"]] == ["store:Order.save"]
    document["typed"]["wrong"][0]["kind"] = "GUESS"
    assert not jsonschema.Draft202012Validator(schema).is_valid(document)


def test_the_report_for_people(tmp_path: Path) -> None:
    rows = [row("explicit", "app.py", "main", "store.py", "Store.save", line=4, site=SAVE)]
    sites = [ran("app.py", SAVE)]
    right, wrong = edge("app:main", "store:Store.save", SAVE), edge("app:main", "store:Order.save", SAVE)
    lines = list(iter_measurement(measure(tmp_path, rows, [wrong], sites=sites, by_name=[right])))
    assert lines[0] == "against t.jsonl (Python 3.12.1, monitoring)"
    table = {line[2:20].strip(): line[20:].split("  ") for line in lines[2:6]}
    assert [cell.strip() for cell in table["recall"] if cell] == ["0.0 % (0/1)", "100.0 % (1/1)"]
    assert [cell.strip() for cell in table["precision"] if cell] == ["0.0 % (0/1)", "100.0 % (1/1)"]
    assert [cell.strip() for cell in table["silent misses"] if cell] == ["100.0 % (1/1)", "0.0 % (0/1)"]
    title = lines.index("misses of the typed graph (1, 1 silent)")
    assert lines[title + 1] == "  app.py:4  app:main -> store:Store.save  explicit  thing  silent"
    assert lines[title + 2 : title + 4] == [
        "wrong edges of the typed graph (1)",
        "  app.py:4  app:main -> store:Order.save  CALL  certain  name",
    ]


def test_a_long_report_says_what_it_leaves_out(tmp_path: Path) -> None:
    rows = [row("property", "app.py", "main", "store.py", "Store.save", line=line) for line in range(1, 131)]
    lines = list(iter_measurement(measure(tmp_path, rows)))
    assert sum(1 for line in lines if line.startswith("  app.py:")) == 100
    assert "  and 30 more; --format json lists them all" in lines


# -------------------------------------------------------------------------------------- the benchmarks' scorer


def load_scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "score_edges", REPOSITORY / "benchmarks" / "oracle" / "score_edges.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCORER = load_scorer()
# Few places and few names, so that what is drawn at random meets.
IDS = [
    "app:main", "app:Page", "app:Page.show", "app:<module>", "store:cached.<locals>.wrapper", "store:Base.load",
    "store:Store", "store:Order", "store:Order.load", "store:Twin", "store:Twin#2",
]  # fmt: skip
CALLERS = st.sampled_from(
    [("app.py", "main"), ("app.py", "main.<locals>.<listcomp>"), ("app.py", "Page"), ("app.py", "Page.show")]
    + [("store.py", "cached.<locals>.wrapper"), ("store.py", "Twin"), ("store.py", "<lambda>")]
)
CALLEES = st.sampled_from(
    [("store.py", n) for n in ("cached.<locals>.wrapper", "Base.__init__", "Base.load", "Store.<lambda>")]
    + [("store.py", n) for n in ("Order.load", "Order.__init__", "Twin")]
)
PLACES = st.sampled_from([None, MAKE, LOAD, LONG])
SITES = st.sampled_from([MAKE, LOAD, LONG])
OTHER_KINDS = ("via_external", "gen_resume", "comprehension")


@st.composite
def recorded_rows(draw: st.DrawFn) -> Row:
    kind = draw(st.sampled_from([*CALLS, *KINDS, *OTHER_KINDS]))
    place = draw(SITES) if kind in (*CALLS, "via_wrapper") else draw(PLACES)
    line = draw(st.integers(place[0], place[2])) if place else draw(st.integers(1, 16))
    return row(kind, *draw(CALLERS), *draw(CALLEES), line=line, site=place)


@st.composite
def ran_sites(draw: st.DrawFn) -> Row:
    names = draw(st.sampled_from([[], [], ["unittest.mock.Mock"], ["py:tests:/x.py:f"], ["builtins.len"]]))
    classes = draw(st.sampled_from([[], ["store:Store"], ["store:Order", "gone:X"]]))
    return ran("app.py", draw(SITES), n=draw(st.integers(0, 2)), ext=names, cls=classes)


@st.composite
def drawn_edges(draw: st.DrawFn) -> Edge:
    kinds = [EdgeKind.CALL, EdgeKind.CALL, EdgeKind.CONSTRUCT, EdgeKind.PROPERTY, EdgeKind.DECORATOR, EdgeKind.INHERITS]
    kind, certainty = draw(st.sampled_from(kinds)), draw(st.sampled_from(list(Certainty)))
    place = draw(PLACES)
    return edge(
        draw(st.sampled_from(IDS)), draw(st.sampled_from(IDS)), place, draw(st.integers(1, 16)) if not place else 0,
        kind, certainty,
    )  # fmt: skip


@st.composite
def doubts(draw: st.DrawFn) -> Unresolved:
    caller, place = draw(st.sampled_from(IDS)), draw(PLACES)
    line = place[0] if place else draw(st.integers(1, 16))
    return Unresolved(caller, caller.partition(":")[0] + ".py", line, place, Reason.UNTYPED_RECEIVER, "")


def neutral(edges: Sequence[Edge], unresolved: Sequence[Unresolved]) -> dict[str, Any]:
    """A graph in the scorer's form, as benchmarks/tools/graph_to_oracle.py makes it: without `possible`."""
    names = {s.id: {"path": s.path, "qualname": s.qualname} for s in RECORDED.sources.symbols}
    implicit = {EdgeKind.PROPERTY: "property", EdgeKind.DUNDER: "dunder", EdgeKind.DECORATOR: "decorator"}
    rows = []
    for e in edges:
        if e.kind.is_call and e.certainty is not Certainty.POSSIBLE:
            place = {"kind": implicit[e.kind]} if e.kind in implicit else {"site": e.site} if e.site else {}
            ends = {"caller": names[e.caller], "callee": names[e.callee]}
            rows.append({**ends, "line": e.line, "confidence": str(e.certainty), **place})
    return {
        "edges": rows,
        "unresolved": [{"path": u.path, "line": u.line, **({"site": u.site} if u.site else {})} for u in unresolved],
    }


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@settings(max_examples=300, deadline=None)
@given(
    st.lists(recorded_rows(), min_size=1, max_size=20),
    st.lists(ran_sites(), max_size=6),
    st.lists(drawn_edges(), max_size=20),
    st.lists(doubts(), max_size=4),
    st.lists(st.integers(1, 16), max_size=6),
)
def test_figures_are_those_of_the_scorer(
    rows: list[Row], sites: list[Row], edges: list[Edge], unresolved: list[Unresolved], lines: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = RECORDED.write(Path(folder) / "root")
        base = write_oracle(Path(folder) / "shop", rows, sites, {"app.py": lines})
        scored = SCORER.score(str(base), str(root), neutral(edges, unresolved))
        trace = read_trace(base)._replace(spans=True)
    graph = RECORDED.graph(edges, unresolved)
    typed = measure_graphs(graph, RECORDED.analysis(), trace, RECORDED.texts, RECORDED.sources.facts, None).typed
    names = {ALL_CALLS: "ALL_CALLS", ALL: "ALL"}
    fields = ("func_pairs", "func_hit", "line_edges", "line_hit", "silent")
    expected = {
        kind: Tally(*(scored["recall"][names.get(kind, kind)][f] for f in fields))
        for kind in typed.tallies
        if names.get(kind, kind) in scored["recall"]
    }
    assert {kind: tally for kind, tally in typed.tallies.items() if tally.calls or kind in names} == expected
    precision = {ALL if c == "ALL" else c: Precision(p["edges"], p["seen"]) for c, p in scored["precision"].items()}
    assert (typed.precision, typed.unjudged) == (precision, scored["unjudged_test_double"])
    counted = sum(typed.tallies[kind].calls - typed.tallies[kind].calls_found for kind in KINDS)
    assert len(typed.misses) == counted
