"""Sites elsewhere that are not resolved and write a target's name: they are counted, and the first of them named."""

from __future__ import annotations

import pytest

from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.document import Figures
from contextc.passes.markdown import render_markdown
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.tokens import load_tokenizer
from contextc.passes.xml import render_xml
from tests.passes.repository import Repository

TEXTS = {
    "app.py": """
        class Order:
            def __init__(self, price): self.price = price
            def save(self): return helper(self)
            def __len__(self): return 1

        def helper(order):
            order.save()
        """,
    "views.py": """
        def show(thing, others):
            thing.save()
            thing.other()
            for each in others: each.save()
            return thing.make.Order(2)

        def more(thing): thing.save(); thing.__len__()
        """,
}
SITES = [
    ("app:Order.save", 3, "self.save"),
    ("views:show", 2, "thing.save"),
    ("views:show", 3, "thing.other"),
    ("views:show", 4, "each.save"),
    ("views:show", 5, "thing.make.Order"),
    ("views:more", 7, "thing.save"),
    ("views:more", 7, "thing.__len__"),
]


def compiled(target: str) -> Compilation:
    repository = Repository(TEXTS, [("app:Order.save", "app:helper", "CALL")], SITES)
    inputs = Inputs(repository.graph, repository.texts, DEFAULT_PROFILE, load_tokenizer("o200k"))
    return compile_slice(inputs, target)


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("app.py::Order.save", "3 unresolved sites elsewhere may call `save`: `views.py:2`, `views.py:4`, …"),
        ("app.py::Order.__init__", "1 unresolved site elsewhere may call `Order`: `views.py:5`"),
        ("app.py::Order", "1 unresolved site elsewhere may call `Order`: `views.py:5`"),
    ],
)
def test_they_are_counted_with_examples(target: str, told: str) -> None:
    assert f"\n- {told}\n" in compiled(target).context.text


def test_where_the_text_is_brief_they_are_counted() -> None:
    document = compiled("app.py::Order.save").document._replace(is_brief=True)
    assert "\n- 3 unresolved sites elsewhere may call it\n" in render_markdown(document, Figures(1))


def test_xml_and_the_report_have_them() -> None:
    made = compiled("app.py::Order.save")
    assert '<may_call path="app.py" line="3" called="save" count="3">views.py:2, views.py:4, views.py:7</may_call>' in (
        render_xml(made.document, Figures(1))
    )
    told = [w.message for w in made.context.warnings if (w.path, w.line) == ("app.py", 3)]
    assert told[0] == "3 unresolved sites elsewhere may call save: views.py:2, views.py:4, views.py:7"


@pytest.mark.parametrize("target", ["app.py::Order.__len__", "app.py::helper", "views.py::more"])
def test_nothing_is_said_where_no_site_writes_the_name(target: str) -> None:
    assert "may call" not in compiled(target).context.text


def test_a_target_s_own_sites_are_told_as_its_own() -> None:
    text = compiled("app.py").context.text
    assert "- `app.py` unresolved (untyped-receiver), line by line: `self.save` 3" in text
    assert "3 unresolved sites elsewhere may call `save`" in text
