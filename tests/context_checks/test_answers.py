"""One answer holds what is asked for, whole; nothing of the same name only; what is unknown or left out is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from contextc import engine
from contextc.errors import TargetNotFound
from contextc.model.plan import Direction
from contextc.passes.tokens import load_tokenizer
from tests.context_checks.shop import MODELS, SHOP, analyze, as_json, compile_one, compile_shop, compile_tree, shown
from tests.project.trees import make_tree

SAVE = "shop.models:User.save"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> engine.Repository:
    return analyze(make_tree(tmp_path_factory.mktemp("shop"), SHOP))


def lines_of(text: str, first: int, last: int) -> str:
    return "".join(text.splitlines(keepends=True)[first - 1 : last])


def test_the_first_answer_holds_the_source_whole_and_verbatim(shop: engine.Repository) -> None:
    made = compile_one(shop, "shop.models:check_name")
    item = made.context.items[0]
    symbol = shop.graph.symbol(item.symbol)
    source = lines_of(MODELS, symbol.line, symbol.end_line)
    assert source.startswith("def check_name") and source.endswith("refuse(name)\n")
    assert source in made.context.text


def test_a_method_begins_at_its_first_decorator_with_the_lines_of_the_file(shop: engine.Repository) -> None:
    made = compile_one(shop, SAVE, line_numbers=True)
    (record,) = [item for item in as_json(made)["items"] if item["id"] == SAVE]
    source = lines_of(MODELS, record["line"], record["end_line"])
    assert source.lstrip().startswith('@audited("save")') and source.endswith("return value\n")
    for number in range(record["line"], record["end_line"] + 1):
        line = lines_of(MODELS, number, number).rstrip("\n")
        assert re.search(rf"^ *{number}\W +{re.escape(line.strip())}$", made.context.text, re.MULTILINE), number


def test_one_call_brings_the_symbol_its_callers_and_what_it_calls_to_the_asked_depth(shop: engine.Repository) -> None:
    made = compile_one(shop, SAVE, max_hops=3)
    found = {item.symbol: (item.direction, item.hop) for item in made.context.items}
    assert found[SAVE] == (Direction.USES, 0)
    assert found["shop.models:User.validate"] == (Direction.USES, 1)
    assert found["shop.models:check_name"] == (Direction.USES, 2)
    assert found["shop.models:refuse"] == (Direction.USES, 3)
    assert found["shop.views:show"] == (Direction.USED_BY, 1)
    assert found["tests.test_shop:test_show"][0] is Direction.TESTS
    assert "return user.save()" in made.context.text


def test_nothing_is_tied_to_the_target_by_name_alone(shop: engine.Repository) -> None:
    """Neither the other class's methods of the same names, nor a call on what nothing is known of."""
    for hops in (1, 2, 5):
        found = shown(compile_one(shop, SAVE, max_hops=hops))
        strangers = ("shop.models:Order", "shop.views:buy", "shop.views:anything")
        assert not [name for name in found if name.startswith(strangers)]
    assert SAVE not in shown(compile_one(shop, "shop.models:Order.save", max_hops=5))
    assert not {"shop.models:Order.save", SAVE} & shown(compile_one(shop, "shop.views:anything"))


def test_nothing_is_said_to_be_complete_dead_or_unreachable(shop: engine.Repository) -> None:
    for target in (SAVE, "shop.views:anything", "shop/views.py"):
        for request in ({}, {"explain": True}, {"markup": "xml"}):
            text = compile_one(shop, target, **request).context.text
            assert not re.search(r"\b(complete|all callers|dead|unreachable|unused|no callers)\b", text, re.IGNORECASE)


def test_each_dynamic_site_is_told_with_file_line_and_kind(shop: engine.Repository) -> None:
    text = compile_one(shop, "shop.views:dynamic").context.text
    for written, kind in (("method", "dynamic-attribute"), ("table[…]", "external-value")):
        call = f"{written.replace('…', 'what')}()"
        line = next(n for n, row in enumerate(SHOP["shop/views.py"].splitlines(), 1) if call in row)
        assert f"- `shop/views.py` unresolved ({kind}), line by line: `{written}` {line}\n" in text
    assert re.search(r"possible \(receiver-declared\), line by line: `method\(\)` \d+: `shop.models:User", text)


def test_a_file_full_of_getattr_does_not_look_like_one_without_calls(tmp_path: Path) -> None:
    calls = "".join(f"def f{n}(thing, name):\n    return getattr(thing, name)({n})\n\n\n" for n in range(40))
    made = compile_tree(tmp_path, {"app.py": calls}, "app.py", budget=0)
    told = {warning.line for warning in made.context.warnings if "unresolved" in warning.message}
    assert told == {4 * n + 2 for n in range(40)}
    section = made.context.text.partition("## Uncertain")[2]
    assert told <= set(map(int, re.findall(r"\b\d+\b", section)))


def test_how_much_was_left_out_and_why_is_told(shop: engine.Repository) -> None:
    small = compile_one(shop, "shop/views.py", budget=430)
    records = as_json(small)["omitted"]
    late = [record for record in records if record["why"] == "past the budget"]
    assert late and all(record["tokens"] > 0 for record in late)
    tokens = sum(record["tokens"] for record in late)
    section = small.context.text.partition("## Left out")[2]
    assert re.search(rf"{len(late)}( symbols?)?, {tokens:,} tokens \(past the budget\)", section)
    assert "--budget" in section
    assert shown(small) | {record["id"] for record in records} >= shown(compile_one(shop, "shop/views.py"))


def test_what_is_left_out_comes_with_what_is_named_to_get_it(shop: engine.Repository) -> None:
    near = compile_one(shop, SAVE, max_hops=1)
    fetch = re.search(r"`contextc compile ROOT TARGET --max-hops (\d+)`", near.context.text)
    assert fetch is not None
    omitted = {o.symbol for o in near.context.omitted if "past the last hop" in o.why and o.hop <= int(fetch[1])}
    assert omitted and omitted <= shown(compile_one(shop, SAVE, max_hops=int(fetch[1])))


def test_what_does_not_choose_never_changes_what_is_found(shop: engine.Repository) -> None:
    """How it is shown, explained, counted, masked: the same symbols. Each filter takes away, and adds nothing."""
    plain = shown(compile_one(shop, SAVE, budget=0))
    same: list[dict[str, Any]] = [
        {"explain": True}, {"line_numbers": True}, {"markup": "xml"}, {"mask": False}, {"tokenizer": "chars4"},
        {"max_hops": 2}, {"budget": 100_000},
    ]  # fmt: skip
    for request in same:
        assert shown(compile_one(shop, SAVE, **({"budget": 0} | request))) == plain, request
    found: set[str] = set()
    for hops in range(4):
        more = shown(compile_one(shop, SAVE, max_hops=hops, budget=0))
        assert found <= more
        found = more


def test_a_list_that_ends_early_says_how_many_more_there_are(tmp_path: Path) -> None:
    users = "".join(f"def use{n}():\n    return core.f()\n\n\n" for n in range(90))
    tree = {"core.py": "def f():\n    return 1\n", "users.py": f"import core\n\n\n{users}"}
    made = compile_tree(tmp_path, tree, "core.py::f")
    callers = [item for item in made.context.items if item.direction is Direction.USED_BY]
    omitted = [o for o in made.context.omitted if o.why == "one of many callers"]
    assert 0 < len(callers) < 90 and len(callers) + len(omitted) == 90
    assert f"{len(omitted)} symbols (one of many callers)" in made.context.text


@pytest.mark.parametrize(
    "target",
    [
        "shop/models.py::User.save", "shop/models.py::User::save", "shop.models.User.save", SAVE,
        "./shop/models.py::User.save", "shop/models.py:27", " shop/models.py::User.save ",
    ],
)  # fmt: skip
def test_each_form_of_a_name_means_the_same(shop: engine.Repository, target: str) -> None:
    made = compile_one(shop, target)
    assert made.context.items == compile_one(shop, SAVE).context.items


def test_each_id_is_a_target_again(shop: engine.Repository) -> None:
    for target in ("shop/models.py", "shop/views.py", SAVE):
        made = compile_one(shop, target, max_hops=1)
        for name in [*shown(made), *(o.symbol for o in made.context.omitted)]:
            assert name in {item.symbol for item in compile_one(shop, name).context.items if item.hop == 0}


@pytest.mark.parametrize("wrong", ["User::save", "shop/models.py::User.sve", "shop.model.User.save", "models.py"])
def test_a_near_miss_is_an_error_with_suggestions(shop: engine.Repository, wrong: str) -> None:
    with pytest.raises(TargetNotFound, match=r"did you mean '.*(User.save|shop/models.py)'"):
        compile_one(shop, wrong)


def test_doubles_and_tests_never_come_before_the_code(shop: engine.Repository) -> None:
    """The fake that a test gives in the account's place is named as test code; tests have a part of their own."""
    made = compile_one(shop, SAVE)
    items = {item.symbol: item for item in made.context.items}
    assert items["tests.test_shop:FakeUser.validate"].form.value == "name"
    text = made.context.text
    assert text.index("def validate(self) -> str") < text.index("FakeUser")
    assert text.index("def show") < text.index("## Tests that reach it") < text.index("test_show")


def test_tests_are_capped_however_many_there_are(tmp_path: Path) -> None:
    many = "".join(f"def test_{n}():\n    assert User('a').save()\n\n\n" for n in range(200))
    fakes = "".join(f"class Fake{n}(User):\n    def validate(self):\n        return {n}\n\n\n" for n in range(60))
    made = compile_tree(tmp_path, SHOP | {"tests/test_many.py": f"from shop.models import User\n{many}{fakes}"}, SAVE)
    of_tests = [i for i in made.context.items if made.graph.symbol(i.symbol).is_test]
    assert len(of_tests) < 40 and all(item.form.value == "name" for item in of_tests)
    names = {item.symbol for item in made.context.items}
    assert {"shop.models:User.validate", "shop.views:show", "shop.models:check_name"} <= names
    assert sum(o.why in ("one of many tests", "test code") for o in made.context.omitted) > 200


def test_without_a_budget_one_call_does_not_fill_the_window(tmp_path: Path) -> None:
    body = "".join(f"    total += helper{n}(total)\n" for n in range(300))
    options = ", ".join(f"option_{n}: int = {n}" for n in range(20))
    helpers = "".join(f"def helper{n}(value, {options}):\n    return value\n\n\n" for n in range(300))
    made = compile_tree(tmp_path, {"big.py": f"{helpers}def run(total):\n{body}    return total\n"}, "big.py::run")
    counted = load_tokenizer().count(made.context.text)
    own = made.context.items[0]
    assert own.symbol == "big:run" and body in made.context.text
    assert counted == made.context.tokens <= (made.context.budget or 0) < 16_000
    assert [o for o in made.context.omitted if o.why == "past the budget"]


def test_the_shop_says_the_same_through_the_command(tmp_path: Path) -> None:
    from tests.command import run

    text = run("compile", make_tree(tmp_path, SHOP), SAVE, "--no-jedi").stdout
    assert text == compile_shop(tmp_path, SAVE).context.text
