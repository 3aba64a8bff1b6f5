"""Every form of an edit target, and what is said when it names nothing."""

from __future__ import annotations

import pytest

from contextc.errors import TargetNotFound
from contextc.graph.queries import Target, find_target
from contextc.graph.suggestions import suggest
from contextc.model.diagnostic import Skip, SkipReason
from contextc.model.facts import SymbolKind
from tests.graph.drafting import Draft, shop

USER = (
    "app.models:User",
    "app.models:User.email",
    "app.models:User.email#2",
    "app.models:User.save",
    "app.models:User.table",
)
EMAIL = ("app.models:User.email", "app.models:User.email#2")
MAKE = ("app.models:make", "app.models:make.<locals>.inner", "app.models:make.<locals>.<lambda>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("app/models.py::User.save", ("app.models:User.save",)),
        ("app/models.py:User.save", ("app.models:User.save",)),
        ("app/models.py::User::save", ("app.models:User.save",)),
        ("./app/models.py::User.save", ("app.models:User.save",)),
        ("app.models:User.save", ("app.models:User.save",)),
        ("app.models::User.save", ("app.models:User.save",)),
        ("app.models.User.save", ("app.models:User.save",)),
        (" app.models.User.save ", ("app.models:User.save",)),
        ("app.models.User", USER),
        ("app/models.py::User", USER),
        ("app.models:User.email", EMAIL),
        ("app/models.py::User.email", EMAIL),
        ("app.models.User.email", EMAIL),
        ("app.models:User.email#2", EMAIL[1:]),
        ("app.models:User.email#1", EMAIL[:1]),
        ("app/models.py::User.email#2", EMAIL[1:]),
        ("app.models.User.email#2", EMAIL[1:]),
        ("app.models:make", MAKE),
        ("app.models:make.<locals>.inner", MAKE[1:2]),
        ("app.models:make.inner", MAKE[1:2]),
        ("app.models.make.inner", MAKE[1:2]),
        ("app/models.py::make.inner", MAKE[1:2]),
        ("app.models:make.<locals>.<lambda>", MAKE[2:]),
        ("app.models:<module>", ("app.models:<module>",)),
        ("app/models.py::<module>", ("app.models:<module>",)),
        ("app.models:LIMIT", ("app.models:LIMIT",)),
        ("app.models:User.table", ("app.models:User.table",)),
    ],
)
def test_definitions(text: str, expected: tuple[str, ...]) -> None:
    found = find_target(shop().graph(), text)
    assert (found.kind, found.symbols, found.paths) == ("symbols", expected, ("app/models.py",))
    assert found.text == text


@pytest.mark.parametrize(
    "text", ["app/views.py", "./app/views.py", "app//views.py", "app/../app/views.py", "app.views"]
)
def test_whole_file(text: str) -> None:
    expected = Target(text, "file", ("app.views:<module>", "app.views:show"), ("app/views.py",))
    assert find_target(shop().graph(), text) == expected


def test_package_means_its_init_file() -> None:
    assert find_target(shop().graph(), "app") == Target("app", "file", ("app:<module>",), ("app/__init__.py",))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (16, ("app.models:User.save",)),
        (7, ("app.models:User.email",)),
        (12, ("app.models:User.email#2",)),
        (43, MAKE[1:2]),
        (41, MAKE),
        (46, MAKE),  # a lambda alone is no place to edit
        (14, USER),  # a blank line between two methods
        (22, USER),  # an attribute: its class
        (35, ("app.models:<module>",)),  # a blank line between two definitions
        (3, ("app.models:<module>", "app.models:LIMIT")),
        (1, ("app.models:<module>",)),
        (60, ("app.models:<module>",)),
        (61, ("app.models:<module>",)),  # after the last line end
    ],
)
def test_line(line: int, expected: tuple[str, ...]) -> None:
    graph = shop().graph()
    for text in (f"app/models.py:{line}", f"./app/models.py:{line}:4"):
        found = find_target(graph, text)
        assert (found.kind, found.symbols) == ("symbols", expected)


@pytest.mark.parametrize("line", [0, 62, 999_999_999])
def test_line_outside_the_file(line: int) -> None:
    with pytest.raises(TargetNotFound, match=r"no line \d+ in app/models\.py: it has 60"):
        find_target(shop().graph(), f"app/models.py:{line}")


def test_every_printed_id_is_a_target_that_holds_it() -> None:
    graph = shop().graph()
    for symbol in graph.symbols:
        found = find_target(graph, symbol.id)
        assert symbol.id in found.symbols
        assert found.kind == "symbols"


def two_roots() -> Draft:
    draft = Draft()
    for root in ("one", "two/src"):
        draft.file(f"{root}/pkg/util.py", "pkg.util", module_id=f"pkg.util@{root}", source_root=root)
        draft.define(f"{root}/pkg/util.py", "run", SymbolKind.FUNCTION, 3, 5)
    return draft


def test_two_roots_with_one_dotted_name() -> None:
    graph = two_roots().graph()
    assert find_target(graph, "pkg.util@two/src:run").symbols == ("pkg.util@two/src:run",)
    assert find_target(graph, "two/src/pkg/util.py::run").symbols == ("pkg.util@two/src:run",)
    assert find_target(graph, "pkg.util@one").paths == ("one/pkg/util.py",)
    both = find_target(graph, "pkg.util:run")
    assert both.symbols == ("pkg.util@one:run", "pkg.util@two/src:run")
    assert both.paths == ("one/pkg/util.py", "two/src/pkg/util.py")
    assert find_target(graph, "pkg.util.run").symbols == both.symbols


def test_module_wins_over_a_definition_of_the_same_dotted_name() -> None:
    draft = shop()
    draft.define("app/__init__.py", "views", SymbolKind.FUNCTION, 1, 1)
    graph = draft.graph()
    assert find_target(graph, "app.views").kind == "file"
    assert find_target(graph, "app:views").symbols == ("app:views",)


def test_name_as_written_wins_over_a_name_with_locals() -> None:
    draft = shop()
    draft.define("app/views.py", "Form", SymbolKind.CLASS, 12, 18)
    draft.define("app/views.py", "Form.check", SymbolKind.METHOD, 13, 15)
    draft.define("app/views.py", "Form.<locals>.check", SymbolKind.FUNCTION, 16, 17)
    assert find_target(draft.graph(), "app.views:Form.check").symbols == ("app.views:Form.check",)


def test_identifiers_are_normalised() -> None:
    draft = shop()
    draft.define("app/views.py", "file", SymbolKind.FUNCTION, 12, 13)
    assert find_target(draft.graph(), "app.views:ﬁle").symbols == ("app.views:file",)  # PEP 3131: NFKC


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("app/view.py", "app/views.py"),
        ("views.py", "app/views.py"),
        ("src/app/views.py", "app/views.py"),
        ("app/modles.py::User.save", "app/models.py::User.save"),
        ("app/models.py::User.sve", "app/models.py::User.save"),
        ("app/models.py:User.sve", "app/models.py:User.save"),
        ("app.models:User.sve", "app.models:User.save"),
        ("app.models:user.save", "app.models:User.save"),
        ("app.models.Usr", "app.models.User"),
        ("app.model", "app.models"),
        ("app/view.py:3", "app/views.py:3"),
        ("app.models:make.<locals>.iner", "app.models:make.<locals>.inner"),
        ("app.models:make.iner", "app.models:make.inner"),
        ("Usr::save", "app/models.py::User.save"),
    ],
)
def test_near_misses_in_the_form_of_the_input(text: str, near: str) -> None:
    with pytest.raises(TargetNotFound) as caught:
        find_target(shop().graph(), text)
    message = str(caught.value)
    assert f"'{near}'" in message
    assert f"'{text}'" in message
    assert message.count("\n") == 0
    assert message.partition("did you mean")[2].count("'") <= 6  # at most three


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app/old.py", "app/old.py was left out as too-large (6 MB)"),
        ("./app/old.py::Thing.run", "app/old.py was left out as too-large (6 MB)"),
        ("app/old.py:3", "app/old.py was left out as too-large (6 MB)"),
        ("build/lib/app/views.py", "build/ was left out as ignored"),
    ],
)
def test_a_file_that_was_left_out_is_told_with_its_reason(text: str, said: str) -> None:
    draft = shop()
    draft.skipped.append(Skip("app/old.py", SkipReason.TOO_LARGE, "6 MB"))
    draft.skipped.append(Skip("build/", SkipReason.IGNORED, ""))
    draft.skipped.append(Skip("app/views.py", SkipReason.PARTIAL, "line 3"))
    with pytest.raises(TargetNotFound) as caught:
        find_target(draft.graph(), text)
    assert str(caught.value) == f"'{text}' was not analysed: {said}"
    with pytest.raises(TargetNotFound, match=r"did you mean 'app/views\.py::show'"):
        find_target(draft.graph(), "app/views.py::shw")


@pytest.mark.parametrize("text", ["", "zzz", "zzz.py", "/etc/passwd", "::", ":", "..", "#2", "app.models:", "x.py::"])
def test_nothing_near_names_the_forms(text: str) -> None:
    with pytest.raises(TargetNotFound, match=r"path\.py::Class\.method|did you mean"):
        find_target(shop().graph(), text)


@pytest.mark.parametrize("text", ["app/..", "."])
def test_a_folder_is_told_to_be_one(text: str) -> None:
    with pytest.raises(TargetNotFound, match=r"is a folder: give one of its \d+ files, 'app/.*\.py', say"):
        find_target(shop().graph(), text)


def test_where_nothing_was_analysed_that_is_told() -> None:
    draft = Draft()
    draft.skipped.append(Skip("app.py", SkipReason.IGNORED, ""))
    with pytest.raises(TargetNotFound, match="no Python file was analysed, 1 path was left out; check ROOT"):
        find_target(draft.graph(), "views.py")


def test_a_bare_name_is_compared_with_the_ends_of_names() -> None:
    """What a name lies in may be long: it says nothing of how near the part is that was written."""
    known = ["src/company/department/project/models.py::User.save", "src/company/department/project/models.py::Order"]
    for wrong in ("User::svae", "Usr::save", "User.svae", "Usr:save"):
        assert suggest(wrong, known) == (known[0],)


def test_message_is_one_safe_line_whatever_the_input() -> None:
    for text in ("app/\x1b[31mviews.py\n", "x" * 100_000, "\udc80.py", "app.models:\x00"):
        with pytest.raises(TargetNotFound) as caught:
            find_target(shop().graph(), text)
        message = str(caught.value)
        assert message.isprintable()
        assert len(message) < 1000


def test_near_misses_stay_quick_in_a_large_repository() -> None:
    draft = Draft()
    for number in range(200):
        path = f"pkg/mod{number}.py"
        draft.file(path, f"pkg.mod{number}", lines=1000)
        draft.symbols += [
            draft.symbols[-1]._replace(id=f"pkg.mod{number}:run_{k}", qualname=f"run_{k}", kind=SymbolKind.FUNCTION,
                                       parent=f"pkg.mod{number}:<module>", line=k + 1)
            for k in range(100)
        ]  # fmt: skip
    graph = draft.graph()
    with pytest.raises(TargetNotFound, match=r"did you mean 'pkg\.mod7:run_55'"):
        find_target(graph, "pkg.mod7:rum_55")
