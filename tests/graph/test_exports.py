"""JSON against its schema and against the graph; DOT read back by a small parser of the DOT grammar."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator

import jsonschema
import pytest

from contextc.graph.call_graph import CallGraph
from contextc.graph.export.dot_export import iter_graph_dot
from contextc.graph.export.json_export import iter_graph_json
from contextc.graph.export.schema import load_graph_schema
from contextc.model.diagnostic import Note, Skip, SkipReason
from contextc.model.edge import Certainty, EdgeKind, Reason, Rule
from contextc.model.facts import SymbolKind
from tests.graph.drafting import Draft, shop

NASTY = 'a"b\\c<d>&e;\n\x1b\u202e}{|"]'  # quotes, backslash, markup, line end, escape, bidi override, record syntax


def to_json(graph: CallGraph) -> str:
    return "".join(iter_graph_json(graph, "1.2.3"))


def nasty() -> Draft:
    draft = Draft(NASTY)
    path = f"{NASTY}/x.py"
    draft.file(path, "x", module_id=f"x@{NASTY}\\")
    first = draft.define(path, "ünï", SymbolKind.FUNCTION, 2, 3)
    second = draft.define(path, "b\\", SymbolKind.FUNCTION, 5, 6)
    draft.edge(first, second, 3)
    draft.unknown(second, 5)
    draft.skipped.append(Skip("broken\udc80.py", SkipReason.PARTIAL, "line 3"))
    draft.notes.append(Note(path, "latin-1 by its cookie"))
    return draft


# ------------------------------------------------------------------------------------------------------------ JSON


@pytest.mark.parametrize("draft", [shop(), nasty(), Draft("empty")], ids=["shop", "nasty", "empty"])
def test_json_is_valid_against_the_shipped_schema(draft: Draft) -> None:
    text = to_json(draft.graph())
    assert text.endswith("}\n")
    assert text.isascii()
    schema = load_graph_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


def test_json_holds_the_graph() -> None:
    draft = shop()
    draft.skipped.append(Skip("build/", SkipReason.EXCLUDED, ""))
    graph = draft.graph()
    document = json.loads(to_json(graph))
    assert list(document) == [
        "schema", "root", "analyzer", "stats", "symbols", "edges", "unresolved", "skipped", "notes",
    ]  # fmt: skip
    assert document["schema"] == "contextc.graph/1"
    assert document["root"] == "shop"
    assert document["analyzer"] == {"name": "contextc", "version": "1.2.3"}
    assert document["symbols"][0] == {
        "id": "app:<module>", "path": "app/__init__.py", "qualname": "<module>", "kind": "module",
        "line": 1, "col": 0, "end_line": 1,
    }  # fmt: skip
    again = next(s for s in document["symbols"] if s["id"].endswith("#2"))
    assert again["qualname"] == "User.email"
    assert document["edges"][0] == {
        "caller": "app.models:User.save", "callee": "app.models:User.email", "path": "app/models.py", "line": 17,
        "site": [17, 0, 17, 10], "kind": "PROPERTY", "certainty": "certain", "rule": "property-get",
    }  # fmt: skip
    assert document["unresolved"] == [
        {"caller": "app.views:show", "path": "app/views.py", "line": 9, "site": [9, 0, 9, 8],
         "reason": "untyped-receiver"}
    ]  # fmt: skip
    assert document["skipped"] == [{"path": "build/", "reason": "excluded", "detail": ""}]
    assert [e["site"] for e in document["edges"] if e["kind"] == "IMPORTS"] == [None]


def test_json_statistics_count_the_arrays() -> None:
    graph = shop().graph()
    document = json.loads(to_json(graph))
    stats = document["stats"]
    assert stats["resolver"] == "typed"
    assert stats["files"] == 3
    assert stats["call_sites"] == graph.analysis.call_sites == 7
    for array in ("symbols", "edges", "unresolved"):
        assert stats[array] == len(document[array]) > 0
    assert stats["edges_by_certainty"] == {"certain": 4, "likely": 1, "possible": 1}
    assert stats["edges_by_kind"] == Counter(e["kind"] for e in document["edges"])


def test_json_comes_in_pieces_one_record_a_line() -> None:
    pieces = list(iter_graph_json(shop().graph(), "1"))
    assert max(map(len, pieces)) < 1000
    records = [line.rstrip(",") for line in "".join(pieces).splitlines() if line.startswith('{"id"')]
    assert len([json.loads(record) for record in records]) == len(shop().graph())


def test_schema_lists_are_the_models_closed_lists() -> None:
    words = {name: part["enum"] for name, part in load_graph_schema()["$defs"].items() if "enum" in part}
    closed = {
        "symbol_kind": SymbolKind, "edge_kind": EdgeKind, "certainty": Certainty, "rule": Rule, "reason": Reason,
        "skip_reason": SkipReason,
    }  # fmt: skip
    assert words == {name: [member.value for member in enum] for name, enum in closed.items()}


@pytest.mark.parametrize(
    ("array", "key", "wrong"),
    [
        ("edges", "kind", "calls"),
        ("edges", "site", [1, 2, 3]),
        ("edges", "site", [1, 2, 3, 4, 5]),
        ("edges", "line", 0),
        ("symbols", "path", "/absolute.py"),
        ("symbols", "kind", "module-like"),
        ("unresolved", "reason", "unknown"),
    ],
)
def test_schema_refuses(array: str, key: str, wrong: object) -> None:
    document = json.loads(to_json(shop().graph()))
    document[array][0][key] = wrong
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(load_graph_schema()).validate(document)


# ------------------------------------------------------------------------------------------------------------- DOT

_TOKEN = re.compile(r'\s+|//[^\n]*|(?P<arrow>->)|(?P<mark>[{}\[\];,=])|(?P<word>\w+)|"(?P<text>(?:[^"\\]|\\.)*)"', re.S)


def tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, text[at : at + 80]
        at = match.end()
        if match.lastgroup:
            yield match.lastgroup, match.group(match.lastgroup)


class Dot:
    """What a DOT reader sees: clusters by label, nodes with attributes, arrows with attributes."""

    def __init__(self, text: str) -> None:
        self.rest = list(tokens(text))
        self.nodes: dict[str, dict[str, str]] = {}
        self.clusters: dict[str, list[str]] = {}
        self.arrows: list[tuple[str, str, dict[str, str]]] = []
        assert self.take() == ("word", "digraph")
        self.name = self.identifier()
        self.block(None)
        assert self.rest == []

    def take(self) -> tuple[str, str]:
        return self.rest.pop(0)

    def identifier(self) -> str:
        kind, text = self.take()
        assert kind in ("word", "text")
        return text

    def expect(self, mark: str) -> None:
        assert self.take() == ("mark", mark)

    def block(self, members: list[str] | None) -> None:
        self.expect("{")
        while self.rest[0] != ("mark", "}"):
            self.statement(members)
        self.expect("}")

    def statement(self, members: list[str] | None) -> None:
        if self.rest[0] == ("word", "subgraph"):
            self.take()
            assert self.identifier().startswith("cluster_")
            inside: list[str] = []
            self.block(inside)
            label, *nodes = inside
            self.clusters[label] = nodes
            return
        name = self.identifier()
        if self.rest[0] == ("mark", "="):
            self.take()
            value = self.identifier()
            if name == "label" and members is not None:
                members.append(value)
        elif self.rest[0][0] == "arrow":
            self.take()
            end = self.identifier()
            self.arrows.append((name, end, self.attributes()))
        else:
            attributes = self.attributes()
            if name not in ("graph", "node", "edge"):
                self.nodes[name] = attributes
                assert members is not None
                members.append(name)
        self.expect(";")

    def attributes(self) -> dict[str, str]:
        self.expect("[")
        found: dict[str, str] = {}
        while self.rest[0] != ("mark", "]"):
            key = self.identifier()
            self.expect("=")
            found[key] = self.identifier()
            if self.rest[0] == ("mark", ","):
                self.take()
        self.expect("]")
        return found


def shown(label: str) -> list[str]:
    """A label's lines as Graphviz draws them: backslash escapes first, then entities."""
    decoded = re.sub(r"\\(.)", lambda m: "\0" if m[1] == "n" else m[1], label)
    return [html.unescape(line) for line in decoded.split("\0")]


def test_dot_holds_the_graph() -> None:
    draft = shop()
    draft.edge("app.views:show", "app.models:make", 8)
    draft.edge("app.models:User", "app.models:make", 5, EdgeKind.USES_TYPE, rule=Rule.ANNOTATION)
    dot = Dot("".join(iter_graph_dot(draft.graph())))
    assert dot.name == "shop"
    assert list(dot.clusters) == ["app/__init__.py", "app/models.py", "app/views.py"]
    assert dot.clusters["app/views.py"] == ["app.views:<module>", "app.views:show"]
    assert shown(dot.nodes["app.views:show"]["label"]) == ["show", "1 unresolved"]
    assert shown(dot.nodes["app.models:User.email#2"]["label"]) == ["User.email"]
    arrows = {(a, b): (at["label"], at["style"]) for a, b, at in dot.arrows}
    inner = "app.models:make.<locals>.inner"
    assert arrows == {
        ("app.models:User", "app.models:make"): ("USES_TYPE", "solid"),
        ("app.models:User.save", "app.models:User.email"): ("PROPERTY", "solid"),
        ("app.models:make", inner): ("CALL", "dashed"),
        (inner, "app.models:make"): ("DYNAMIC", "dotted"),
        ("app.views:<module>", "app.models:<module>"): ("IMPORTS", "solid"),
        ("app.views:show", "app.models:User.save"): ("CALL", "solid"),
        ("app.views:show", "app.models:make"): ("CALL x2", "solid"),
    }


def test_dot_leaves_out_untouched_data_and_says_so() -> None:
    draft = shop()
    text = "".join(iter_graph_dot(draft.graph()))
    assert "app.models:LIMIT" not in Dot(text).nodes
    assert "2 variables and attributes without an edge are not drawn" in text
    draft.edge("app.views:show", "app.models:LIMIT", 9, EdgeKind.READS_GLOBAL, rule=Rule.NAME_READ)
    assert "app.models:LIMIT" in Dot("".join(iter_graph_dot(draft.graph()))).nodes


def test_dot_escapes_what_names_may_hold() -> None:
    text = "".join(iter_graph_dot(nasty().graph()))
    assert text.replace("\n", "").isprintable()
    dot = Dot(text)
    assert len(dot.nodes) == 3
    (cluster,) = dot.clusters
    assert shown(cluster) == ['a"b\\c<d>&e;\\n\\x1b\\u202e}{|"]/x.py']
    labels = sorted(shown(node["label"])[0] for node in dot.nodes.values())
    assert labels == ["<module>", "b\\", "ünï"]
    assert {end for a, b, _ in dot.arrows for end in (a, b)} <= set(dot.nodes)


def test_dot_of_an_empty_graph() -> None:
    assert Dot("".join(iter_graph_dot(Draft("").graph()))).nodes == {}
