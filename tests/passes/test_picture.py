"""The page that shows a context, as text: it asks for nothing, lets nothing run but its own, and holds every item once.
How it looks and acts in a browser is for `make check-html`."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from contextc.passes.compilation import Compilation, Inputs, text_of
from contextc.passes.picture import describe_picture, render_page
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.tokens import load_tokenizer
from tests.browser.hostile_page import SPRING, build_hostile_page_repository
from tests.command import FIXTURES, run
from tests.passes.repository import EdgeRow, Repository

TEXTS = {
    "app.py": """
        '''</script><script>alert(1)</script> & <!-- \u2028 -->'''
        def show():
            '''Show <img src=x onerror=alert(1)>.'''
            def inner(): return save()
            return inner

        def save(): return keep(1)
        """,
    "base.py": """
        def keep(value, *, limit=10):
            total = 0
            for number in range(limit):
                total += number * value
            return deep(total)
        def deep(value): return value
        def deeper(value): return value
        def calls_it(): return __import__('app').show()
        """,
}
EDGES: list[EdgeRow] = [
    ("app:show.<locals>.inner", "app:save", "CALL"),
    ("app:save", "base:keep", "CALL", "likely", "callable-value"),
    ("app:save", "base:deep", "CALL", "possible", "getattr-pattern"),
    ("base:keep", "base:deep", "CALL"),
    ("base:deep", "base:deeper", "CALL"),
    ("base:calls_it", "app:show", "CALL", "certain", "import"),
]


class Elements(HTMLParser):
    """The elements of a page, with the text of each."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._is_inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        self._is_inside = True

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.elements[-1][2].append(data)

    def of(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attributes, "".join(text)) for name, attributes, text in self.elements if name == tag]


def compiled(target: str, hops: int | None = None) -> Compilation:
    made = Repository(TEXTS, EDGES)
    inputs = Inputs(made.graph, made.texts, DEFAULT_PROFILE, load_tokenizer("chars4"))
    return compile_slice(inputs, target, hops)


def data_of(page: str) -> dict[str, Any]:
    found = [text for attributes, text in Elements(page).of("script") if attributes.get("type") == "application/json"]
    assert len(found) == 1
    data: dict[str, Any] = json.loads(found[0])
    return data


@pytest.fixture(scope="module", params=["show", "hostile"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "show":
        return render_page(compiled("app.py"))
    root = tmp_path_factory.mktemp("hostile")
    return run("compile", root, build_hostile_page_repository(root), "--format", "html").stdout


def test_nothing_is_asked_for_and_nothing_runs_but_its_own_script(page: str) -> None:
    found = Elements(page)
    tags = {tag for tag, _, _ in found.elements}
    assert not tags & {"a", "base", "embed", "frame", "iframe", "img", "link", "object", "svg", "video"}
    names = {name for _, attributes, _ in found.elements for name in attributes}
    assert not {name for name in names if name.startswith("on") or name in ("src", "href", "style", "action", "srcdoc")}
    style, script = found.of("style"), [s for s in found.of("script") if not s[0]]
    assert len(style) == len(script) == 1 and len(found.of("script")) == 2
    assert "url(" not in style[0][1] and "@import" not in style[0][1]
    addresses = re.findall(r"https?:[^\"'\s]*", style[0][1] + script[0][1])
    assert addresses == ["http://www.w3.org/2000/svg"]  # a name, not an address
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(|fetch\(", script[0][1])
    policy = next(a["content"] for a, _ in found.of("meta") if a.get("http-equiv") == "Content-Security-Policy")
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (style[0][1], script[0][1])
    ]
    assert policy == (
        f"default-src 'none'; style-src {hashes[0]}; script-src {hashes[1]}; base-uri 'none'; form-action 'none'"
    )


def test_the_data_can_end_no_element_and_loses_nothing(page: str) -> None:
    start = page.index('id="data">') + len('id="data">')
    written = page[start : page.index("</script>", start)]
    assert written.isascii() and not re.search("[<>&\n\r]", written)
    json.loads(written)


def test_what_the_repository_writes_comes_through_as_text(tmp_path: Path) -> None:
    target = build_hostile_page_repository(tmp_path)
    page = run("compile", tmp_path, target, "--format", "html").stdout
    data = data_of(page)
    assert data["target"] == target
    module = data["items"][0]
    assert module["code"] == (tmp_path / target).read_text(encoding="utf-8")
    assert "</script><script>" in module["code"] and "\u2028" in module["code"]
    assert f"<script>{SPRING}" not in page and "<img" not in page
    assert Elements(page).of("title") == [({}, f"Context for {target}")]


def test_items_hold_what_the_context_shows() -> None:
    made = compiled("app.py::show")
    data = describe_picture(made)
    assert [item["id"] for item in data["items"]] == [item.symbol for item in made.context.items]
    for described, item in zip(data["items"], made.context.items, strict=True):
        code = described["code"]
        if code is None:
            whole = data["items"][described["within"]]
            lines = whole["code"].split("\n")
            code = "\n".join(lines[described["line"] - whole["line"] : described["end_line"] - whole["line"] + 1])
        assert code.rstrip("\n") == text_of(made, item).rstrip("\n")
        assert described["tokens"] == made.tokenizer.count(text_of(made, item))
        assert described["chain"][-1]["id"] == item.symbol
        assert data["items"][described["chain"][0]["item"]]["role"] == "target"
    inner = next(item for item in data["items"] if item["name"].endswith("inner"))
    assert data["items"][inner["inside"]]["id"] == "app:show" and data["items"][inner["inside"]]["holds"]


def test_columns_stand_from_what_uses_the_target_to_what_it_uses() -> None:
    data = describe_picture(compiled("app.py::show", 2))
    columns = {column["title"]: [data["items"][n]["name"] for n in column["items"]] for column in data["columns"]}
    assert list(columns) == ["used by, hop 1", "target", "hop 1", "hop 2"] and data["middle"] == 1
    assert columns["used by, hop 1"] == ["calls_it"]
    assert columns["target"] == ["show", "show.<locals>.inner"] and columns["hop 1"] == ["save"]
    assert columns["hop 2"] == ["keep", "deep"]
    assert sorted(n for column in data["columns"] for n in column["items"]) == list(range(len(data["items"])))
    assert sum(group["symbols"][0]["id"] == "base:deeper" for group in data["omitted"]) == data["left_out"] == 1
    assert (
        data["omitted"][0]["why"] == "hop 3, past the last hop shown" and "--max-hops 3" in data["omitted"][0]["fetch"]
    )


def test_edges_are_those_of_the_slice_the_bringing_ones_marked() -> None:
    data = describe_picture(compiled("app.py::show", 2))
    names = [item["name"].rpartition(".")[2] for item in data["items"]]
    edges = {(names[e["from"]], names[e["to"]]): (e["certainty"], e["brought"]) for e in data["edges"]}
    assert edges == {
        ("inner", "save"): ("certain", True),
        ("save", "keep"): ("likely", True),
        ("save", "deep"): ("possible", True),
        ("keep", "deep"): ("certain", False),
        ("calls_it", "show"): ("certain", True),
    }


def test_what_words_were_found_in_is_told_with_scores() -> None:
    page = run(
        "compile", FIXTURES / "nine_files", "--about", "remember the address of a user", "--format", "html"
    ).stdout
    seeds = data_of(page)["seeds"]
    assert "app.services:remember_address" in [found["id"] for found in seeds["scores"]]
    assert data_of(render_page(compiled("app.py")))["seeds"] is None


def test_lines_of_a_notebook_are_those_of_its_cells(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": "# Title"}]
    code: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    texts = ("def first():\n    return 1\n", "def second():\n    return first()\n")
    cells += [code | {"source": text} for text in texts]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    data = data_of(run("compile", tmp_path, "book.ipynb::second", "--format", "html").stdout)
    places = {item["name"]: item["place"] for item in data["items"]}
    assert places == {"second": "book.ipynb:cell 3, lines 1-2", "first": "book.ipynb:cell 2, lines 1-2"}
    assert data["edges"][0]["place"] == "book.ipynb:cell 3, line 2"
    assert not any(item["is_numbered"] for item in data["items"])


def test_the_page_is_the_same_whatever_the_hash_seed() -> None:
    pages = [
        run("compile", FIXTURES / "nine_files", "app/views.py", "--format", "html", seed=seed).stdout for seed in (1, 2)
    ]
    assert pages[0] == pages[1] and len(data_of(pages[0])["items"]) > 15
