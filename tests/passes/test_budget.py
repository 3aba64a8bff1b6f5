"""The budget: never over it, never less of a symbol for more of it, and a fault that names what works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextc import engine
from contextc.errors import BudgetTooSmall
from contextc.model.plan import Form
from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import PROFILES
from contextc.passes.tokens import load_tokenizer
from tests.cases import REPOSITORY

ORDER = {form: rank for rank, form in enumerate((Form.NAME, Form.SIGNATURE, Form.INTERFACE, Form.TRIMMED, Form.FULL))}
TREES = {"nine_files": (), "passes": ("contextc/passes/",)}  # the second: this package's own passes


@cache
def analysed(tree: str) -> engine.Repository:
    root = REPOSITORY / "fixtures" / "nine_files" if tree == "nine_files" else REPOSITORY
    return engine.analyze_repository(engine.Options(root=root, include=TREES[tree], jedi=False, workers=1, cache=False))


@cache
def targets(tree: str) -> list[str]:
    return [s.id for s in analysed(tree).graph.symbols if s.kind.value in ("function", "method", "class", "module")]


def compiled(tree: str, target: str, budget: int | None, markup: str = "markdown", profile: str = "edit",
             tokenizer: str = "o200k") -> Compilation:  # fmt: skip
    repository = analysed(tree)
    inputs = Inputs(
        repository.graph, repository.texts, PROFILES[profile], load_tokenizer(tokenizer), 1, False, budget, markup
    )
    return engine.run_deep(lambda: compile_slice(inputs, target))


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, str]:
    tree = draw(st.sampled_from(sorted(TREES)))
    return tree, draw(st.sampled_from(targets(tree)))


BUDGETS = st.integers(1, 4_000)


@settings(max_examples=40, deadline=None)
@given(case=cases(), budget=BUDGETS, markup=st.sampled_from(["markdown", "xml"]), profile=st.sampled_from([*PROFILES]))
def test_a_text_is_never_over_its_budget(case: tuple[str, str], budget: int, markup: str, profile: str) -> None:
    try:
        made = compiled(*case, budget, markup, profile)
    except BudgetTooSmall as fault:
        least = int(re.findall(r"(\d+) is the least", str(fault))[0])
        assert least > budget
        made = compiled(*case, least, markup, profile)
        assert made.context.tokens <= least
        with pytest.raises(BudgetTooSmall):
            compiled(*case, least - 1, markup, profile)
        return
    counted = load_tokenizer().count(made.context.text)
    assert counted == made.context.tokens <= budget


@settings(max_examples=30, deadline=None)
@given(case=cases(), budgets=st.tuples(BUDGETS, BUDGETS), profile=st.sampled_from([*PROFILES]))
def test_more_budget_never_shows_less(case: tuple[str, str], budgets: tuple[int, int], profile: str) -> None:
    small, large = sorted(budgets)
    try:
        less = compiled(*case, small, profile=profile)
    except BudgetTooSmall:
        return
    more = {item.symbol: item.form for item in compiled(*case, large, profile=profile).context.items}
    for item in less.context.items:
        assert item.symbol in more
        assert ORDER[more[item.symbol]] >= ORDER[item.form], item.symbol


@settings(max_examples=40, deadline=None)
@given(case=cases(), budget=BUDGETS)
def test_each_candidate_is_shown_or_listed_with_its_reason(case: tuple[str, str], budget: int) -> None:
    try:
        made = compiled(*case, budget)
    except BudgetTooSmall:
        return
    unbound = compiled(*case, 0).context
    shown = {item.symbol for item in made.context.items}
    omitted = {omission.symbol: omission for omission in made.context.omitted}
    assert not shown & omitted.keys()
    assert {item.symbol for item in unbound.items} <= shown | omitted.keys()
    for name in {item.symbol for item in unbound.items} - shown:
        assert omitted[name].why == "past the budget"
        assert omitted[name].tokens > 0
    if omitted:
        assert "## Left out" in made.context.text


def test_without_a_budget_given_there_is_one() -> None:
    made = compiled("nine_files", "app/views.py", None)
    assert made.context.budget == 8_000
    large = "contextc/passes/users.py"
    own = load_tokenizer().count(analysed("passes").texts[large].decode())
    assert compiled("passes", large, None).context.budget == max(8_000, own + 4_000)


def test_no_bound_is_no_budget() -> None:
    made = compiled("nine_files", "app/views.py", 0)
    assert made.context.budget is None
    assert "past the budget" not in made.context.text


@pytest.mark.parametrize("tokenizer", ["o200k", "cl100k", "chars4"])
def test_the_budget_is_counted_with_the_named_tokenizer(tokenizer: str) -> None:
    made = compiled("passes", "contextc/passes/users.py::find_users", 900, tokenizer=tokenizer)
    assert load_tokenizer(tokenizer).count(made.context.text) == made.context.tokens <= 900


def iterate_free_names(text: str) -> Iterator[str]:
    """Names that a function reads and doesn't bind, by Python's own symbol table."""
    import symtable

    waiting = [symtable.symtable(text, "target", "exec")]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        if table.get_type() == "function":
            yield from (s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global())


@pytest.mark.parametrize("budget", [0, 700, 1_500])
def test_the_slice_is_closed(budget: int) -> None:
    """Each free name of a target is shown, imported, a builtin, or listed as left out."""
    import builtins
    import textwrap

    repository = analysed("passes")
    checked = 0
    for symbol in repository.graph.symbols[::4]:
        if symbol.kind.value != "function" or "<locals>" in symbol.qualname:
            continue
        try:
            made = compiled("passes", symbol.id, budget)
        except BudgetTooSmall:
            continue
        source = repository.texts[symbol.path][symbol.span.start : symbol.span.end].decode()
        words = set(re.findall(r"\w+", made.context.text.replace(source, "", 1)))
        omitted = {o.symbol.rpartition(":")[2].rpartition(".")[2] for o in made.context.omitted}
        itself = symbol.qualname
        has_imports = budget == 0 or any(item.hop for item in made.context.items)
        for name in iterate_free_names(textwrap.dedent(source)):
            known = hasattr(builtins, name) or name in words or name in omitted or name == itself
            assert known or not has_imports, f"{symbol.id}: {name}"
        checked += 1
    assert checked > 30
