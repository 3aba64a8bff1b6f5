"""The nine-file repository: where matching names goes wrong, and what a typed graph says instead.

`app/views.py` calls `user.save()`, a service, and a handler found by `importlib` and `getattr`. A name-only resolver
brings in `models_order.py` because it defines a `save` too, and misses both handlers.
"""

from __future__ import annotations

from typing import Any

import pytest

from contextc.model.edge import EdgeKind
from tests.command import FIXTURES, run, run_compile, run_graph

ROOT = FIXTURES / "nine_files"
TARGET = "app/views.py"
HANDLERS = {
    "app.handlers.handler_email:handle_email": "app/handlers/handler_email.py",
    "app.handlers.handler_sms:handle_sms": "app/handlers/handler_sms.py",
}


@pytest.fixture(scope="module")
def graph() -> dict[str, Any]:
    return run_graph(ROOT)


@pytest.fixture(scope="module")
def context() -> dict[str, Any]:
    return run_compile(ROOT, TARGET)


@pytest.fixture(scope="module")
def context_by_name() -> dict[str, Any]:
    return run_compile(ROOT, TARGET, "--resolver", "name-only")


def calls(graph: dict[str, Any], caller: str, callee: str) -> list[tuple[str, str]]:
    """Kind and certainty of the call edges between two symbols."""
    found = [e for e in graph["edges"] if (e["caller"], e["callee"]) == (caller, callee)]
    return [(e["kind"], e["certainty"]) for e in found if EdgeKind(e["kind"]).is_call]


def line_of(path: str, text: str) -> int:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def files_in(context: dict[str, Any]) -> set[str]:
    return {item["path"] for item in context["items"]}


def test_there_are_nine_files(graph: dict[str, Any]) -> None:
    assert graph["stats"]["files"] == 9
    assert len({s["path"] for s in graph["symbols"]}) == 9
    assert graph["skipped"] == []


def test_by_name_the_wrong_model_comes_in_and_the_handlers_do_not(context_by_name: dict[str, Any]) -> None:
    files = files_in(context_by_name)
    assert "app/models_order.py" in files
    assert not files & set(HANDLERS.values())


def test_by_name_the_graph_ties_views_to_both_saves() -> None:
    graph = run_graph(ROOT, "--resolver", "name-only")
    by_name = [e for e in graph["edges"] if e["path"] == TARGET and e["rule"] == "bare-name"]
    callees = {e["callee"] for e in by_name}
    assert {"app.models:User.save", "app.models_order:Order.save"} <= callees


def test_the_receiver_tells_one_save_from_the_other(graph: dict[str, Any]) -> None:
    assert calls(graph, "app.views:register_user", "app.models:User.save") == [("CALL", "certain")]
    assert not [e for e in graph["edges"] if e["callee"].startswith("app.models_order:") and e["path"] == TARGET]


def test_the_constructor_and_the_service_are_certain(graph: dict[str, Any]) -> None:
    assert calls(graph, "app.views:register_user", "app.models:User.__init__") == [("CONSTRUCT", "certain")]
    assert calls(graph, "app.views:register_user", "app.services:greeting_for") == [("CALL", "certain")]


@pytest.mark.parametrize("handler", HANDLERS)
def test_both_handlers_are_possible(graph: dict[str, Any], handler: str) -> None:
    found = [e for e in graph["edges"] if (e["caller"], e["callee"]) == ("app.views:notify", handler)]
    found = [e for e in found if EdgeKind(e["kind"]).is_call]
    assert {(e["kind"], e["certainty"]) for e in found} == {("DYNAMIC", "possible")}
    assert {e["line"] for e in found} == {line_of(TARGET, "return handler(user, payload)")}
    assert {e["rule"] for e in found} <= {"getattr-pattern", "import-pattern"}


def test_nothing_else_in_the_handlers_is_taken_for_a_handler(graph: dict[str, Any]) -> None:
    called = {e["callee"] for e in graph["edges"] if e["caller"] == "app.views:notify" and e["kind"] == "DYNAMIC"}
    assert called == set(HANDLERS)


def test_the_receiver_is_linked_from_where_its_signal_is_sent(graph: dict[str, Any]) -> None:
    receiver = ("app.models:User.save", "app.services:remember_address")
    found = [e for e in graph["edges"] if (e["caller"], e["callee"]) == receiver]
    assert [e["line"] for e in found] == [line_of("app/models.py", "user_saved.send(")]
    assert found[0]["kind"] in ("CALLBACK", "DYNAMIC", "CALL")
    assert found[0]["rule"] == "signal"


def test_the_registration_is_there_too(graph: dict[str, Any]) -> None:
    registered = {(e["caller"], e["callee"]) for e in graph["edges"] if e["kind"] == "REGISTRATION"}
    assert ("app.services:<module>", "app.services:remember_address") in registered


def test_the_context_has_what_the_target_needs_and_not_the_order(context: dict[str, Any]) -> None:
    files = files_in(context)
    assert "app/models_order.py" not in files
    assert set(HANDLERS.values()) | {"app/models.py", "app/services.py", "app/signals.py", TARGET} <= files
    assert "class Order" not in context["text"]


def test_the_target_is_whole(context: dict[str, Any]) -> None:
    assert (ROOT / TARGET).read_text(encoding="utf-8").strip() in context["text"]


def test_the_context_says_why_the_handlers_are_there(context: dict[str, Any]) -> None:
    said = {i["qualname"]: i for i in context["items"] if i["path"] in HANDLERS.values()}
    for name in ("handle_email", "handle_sms"):
        assert "possible" in str(said[name])
    assert "possible" in context["text"]


def test_what_is_enumerated_is_warned_of_with_its_line(context: dict[str, Any]) -> None:
    warned = {(w["path"], w["line"]) for w in context["warnings"]}
    assert any(path == TARGET and line >= line_of(TARGET, "import_module(") for path, line in warned)


def test_compare_names_what_the_name_only_one_pulled_in() -> None:
    said = run("compare", ROOT, TARGET)
    text = said.stdout + said.stderr
    assert "app/models_order.py" in text
    assert "save" in text
