"""The final text: its own count, its order, what can't break out of it, and the same in all three formats."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from contextc.errors import BudgetTooSmall
from contextc.model.diagnostic import Skip, SkipReason
from contextc.model.plan import Form
from contextc.passes.assemble import assemble, settle
from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.json_form import render_json
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.tokens import Tokenizer, load_tokenizer
from tests.passes.repository import EdgeRow, Repository

VIEWS = '''
"""Views."""
import importlib
from models import User
import json as unused


def show(kind):
    user = User("a")
    user.save()
    return getattr(user, "do_" + kind)()


def other():
    return 1
'''
MODELS = '''
class Base:
    def save(self):
        """Keep it.

        ````
        fence
        ````
        """
        first = 1
        second = 2
        return notify(first + second)


class User(Base):
    """An account <b>&amp;</b> ]]> here."""

    def __init__(self, name):
        self.name = name
        self.other = [name] * 20
        self.more = {name: name for name in self.other}

    def do_a(self): ...
    def do_b(self): ...


def notify(event, *, loud: bool = False) -> None:
    for _ in range(10):
        print(event, loud)
    for _ in range(10):
        print(event, loud)
'''
EDGES: list[EdgeRow] = [
    ("views:<module>", "models:User", "IMPORTS", "certain", "import-statement", "3"),
    ("views:show", "models:User.__init__", "CONSTRUCT", "certain", "constructor", "8"),
    ("views:show", "models:Base.save", "CALL", "certain", "receiver-exact", "9"),
    ("views:show", "models:User.do_a", "DYNAMIC", "possible", "getattr-pattern", "10"),
    ("views:show", "models:User.do_b", "DYNAMIC", "possible", "getattr-pattern", "10"),
    ("models:Base.save", "models:notify", "CALL", "certain", "name", "11"),
    ("models:User", "models:Base", "INHERITS", "certain", "base-class"),
]


def compiled(target: str = "views.py", *, explain: bool = False, tokenizer: str = "o200k", hops: int | None = None,
             views: str | bytes = VIEWS, markup: str = "markdown", budget: int | None = 0,
             docstring_lines: int = 5) -> Compilation:  # fmt: skip
    made = Repository(
        {"views.py": views, "models.py": MODELS},
        EDGES,
        [("views:show", 8, "user.gone"), ("models:notify", 27, "late")],
        [
            Skip("broken.py", SkipReason.UNREADABLE, "no permission"),
            Skip("models.py", SkipReason.PARTIAL, "line 3: odd"),
        ],
    )
    tokens = load_tokenizer(tokenizer)
    profile = DEFAULT_PROFILE._replace(docstring_lines=docstring_lines)
    inputs = Inputs(made.graph, made.texts, profile, tokens, None, explain, budget, markup)
    return compile_slice(inputs, target, hops)


@pytest.mark.parametrize("markup", ["markdown", "xml"])
@pytest.mark.parametrize("tokenizer", ["o200k", "chars4"])
@pytest.mark.parametrize("target", ["views.py", "views.py::show", "models.py"])
def test_the_text_names_its_own_count(target: str, tokenizer: str, markup: str) -> None:
    made = compiled(target, tokenizer=tokenizer)
    text, tokens = assemble(made.document, markup, made.tokenizer)
    assert tokens == load_tokenizer(tokenizer).count(text)
    said = re.search(
        r"tokens=\"(\d+)\"" if markup == "xml" else r"^([\d,]+) (?:o200k|chars4) tokens", text, re.MULTILINE
    )
    assert said is not None and int(said.group(1).replace(",", "")) == tokens


def test_what_a_budget_shortens_is_told_where_things_are_left_out() -> None:
    """By number, only where it is so: the item's own reason says the same."""
    seen = set()
    for budget in range(150, 420, 10):
        try:
            made = compiled("views.py::show", budget=budget)
        except BudgetTooSmall:
            continue
        size = sum("within the budget" in item.why and item.form is not Form.FULL for item in made.context.items)
        told = re.findall(r"(\d+) \(shown, in a lesser form than without a budget\)", made.context.text)
        assert told == ([str(size)] if size else [])
        seen.add(size)
    assert len(seen) > 1
    assert "lesser form" not in compiled("views.py::show").context.text


def test_xml_tells_the_callers_in_a_file_of_another_role() -> None:
    made = Repository(
        {"app.py": "def load():\n    return 1\n\n\ndef main():\n    x = 1\n    return load()\n"},
        [("app:main", "app:load", "CALL", "certain", "name", "7")],
    )
    inputs = Inputs(made.graph, made.texts, DEFAULT_PROFILE, load_tokenizer(), None, False, 0, "xml")
    (file,) = ElementTree.fromstring(compile_slice(inputs, "app.py::load").context.text).findall("file")
    assert file.attrib == {"path": "app.py", "role": "target", "lines": "1-2,5-7", "callers": "5-7"}


@pytest.mark.parametrize("size", [*range(990, 1010), *range(99_990, 100_010)])
def test_a_count_is_found_on_both_sides_of_one_more_digit(size: int) -> None:
    tokenizer = Tokenizer("characters", len)
    text, tokens = settle(lambda tokens: f"{tokens:,} " + "x" * size, tokenizer)
    assert len(text) == tokens and text.startswith(f"{tokens:,} ")


def test_a_tie_is_broken_by_a_line_end() -> None:
    """Of two lengths that take turns, neither names itself."""
    tokenizer = Tokenizer("characters", len)
    text, tokens = settle(lambda tokens: f"{tokens} " + "x" * (9 if tokens % 2 else 8), tokenizer)
    assert len(text) == tokens and text.endswith("\n")


def test_a_file_target_is_whole_and_verbatim_and_comes_first() -> None:
    text = compiled().context.text
    assert VIEWS.lstrip("\n") in text
    assert text.index("`views.py` target, whole") < text.index("# models.py\n")


def test_a_symbol_target_has_its_source_and_the_imports_it_uses() -> None:
    text = compiled("views.py::show").context.text
    assert "from models import User\n\ndef show(kind):\n    user = User" in text
    assert "import json" not in text and "def other" not in text
    assert "## `views.py` target, 3,7-10" in text


def test_fences_are_longer_than_any_run_inside() -> None:
    text = compiled(docstring_lines=15).context.text
    opening = re.search(r"\n(`+)python\n# models.py\n", text)
    assert opening is not None and len(opening.group(1)) == 5


def test_possible_targets_and_unresolved_sites_are_named_with_their_lines() -> None:
    text = compiled().context.text
    said = "10: `models:User.do_a`, `models:User.do_b`"
    assert "- `views.py` possible (getattr-pattern), line by line: " in text and said in text
    assert "- `views.py` unresolved (untyped-receiver), line by line: `user.gone` 8" in text
    messages = {(w.path, w.line): w.message for w in compiled().context.warnings}
    assert messages["views.py", 8] == "unresolved (untyped-receiver): user.gone"
    assert messages["models.py", 3] == "read in part: line 3: odd"


def test_what_is_left_out_has_a_line_with_a_way_to_get_it() -> None:
    text = compiled(hops=1).context.text
    fetch = "`contextc compile ROOT TARGET --max-hops 2`"
    assert f"- 2 symbols (hop 2, past the last hop shown): `models:Base`, `models:notify`; {fetch}" in text
    assert "- not analysed, files or folders: 1; `contextc graph ROOT` lists them" in text


def test_explain_gives_the_chain_of_edges_and_the_reason_for_the_form() -> None:
    text = compiled("views.py::show", explain=True).context.text
    assert (
        "- views:show → models:Base.save (certain, receiver-exact) → models:notify (certain, name): signature (hop 2)"
    ) in text
    assert "- views:show: full (target)" in text


def test_names_from_the_repository_cannot_leave_their_place() -> None:
    made = compiled()
    group = made.document.groups[1]._replace(path="a`b\n## evil\x1b[31m.py")
    document = made.document._replace(groups=(group,), target="x`y\nz")
    text, _ = assemble(document, "markdown", made.tokenizer)
    assert "\x1b" not in text and "\n## evil" not in text
    assert "\n# a`b\\n## evil\\x1b[31m.py\n" in text
    root = ElementTree.fromstring(assemble(document, "xml", made.tokenizer)[0])
    assert root.find("file").attrib["path"] == "a`b\\n## evil\\x1b[31m.py"  # type: ignore[union-attr]


def test_xml_is_well_formed_and_holds_the_code_as_it_is() -> None:
    views = VIEWS.replace("return 1", 'return "<a> & ]]> \x0c\x01"')
    made = compiled(views=views, explain=True)
    root = ElementTree.fromstring(assemble(made.document, "xml", made.tokenizer)[0])
    code = [file.text or "" for file in root.findall("file")]
    assert code[0].strip() == views.strip().replace("\x0c", "\ufffd").replace("\x01", "\ufffd")
    assert "An account <b>&amp;</b> ]]> here." in code[1]
    assert [t.text for t in root.findall("possible/target")] == ["models:User.do_a", "models:User.do_b"]


def test_json_is_the_documented_form() -> None:
    made = compiled("views.py::show")
    reply = json.loads(render_json(made))
    assert reply["schema"] == "contextc.context/1"
    assert reply["tokens"] == load_tokenizer("o200k").count(reply["text"])
    assert reply["text"] == made.context.text
    items = {item["id"]: item for item in reply["items"]}
    assert items["models:Base.save"]["via"] == {
        "caller": "views:show", "kind": "CALL", "certainty": "certain", "rule": "receiver-exact", "path": "views.py",
        "line": 9,
    }  # fmt: skip
    assert items["models:User"]["members"] == ["__init__", "do_a", "do_b"]
    assert items["views:show"]["form"] == "full" and items["views:show"]["via"] is None
    assert reply["skipped"]["count"] == 2
    assert [s["path"] for s in reply["skipped"]["touching"]] == ["models.py"]
    assert all(item["tokens"] > 0 for item in reply["items"])
    assert "chain" in json.loads(render_json(made, explain=True))["items"][0]


def test_crlf_is_shown_as_lf_and_said() -> None:
    made = compiled(views=VIEWS.lstrip("\n").replace("\n", "\r\n").encode())
    assert "\r" not in made.context.text and VIEWS.lstrip("\n") in made.context.text
    assert any("CRLF" in warning.message for warning in made.context.warnings)


def test_every_id_printed_is_a_target() -> None:
    made = compiled(hops=1)
    for symbol in [*(i.symbol for i in made.context.items), *(o.symbol for o in made.context.omitted)]:
        assert compiled(symbol).context.items[0].hop == 0
