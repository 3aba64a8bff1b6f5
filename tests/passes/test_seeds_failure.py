"""Failures: from tracebacks and pytest output, recorded and composed, to frames, seeds, marks, and the context."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from contextc.errors import TargetNotFound, UserError
from contextc.model.plan import Form
from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.seeds.failure import find_failed
from contextc.passes.seeds.frame_paths import PathIndex
from contextc.passes.seeds.traceback_text import Failure, Frame, read_failures
from contextc.passes.seeds.values import Mark, Seeds
from contextc.passes.tokens import load_tokenizer
from tests.command import FIXTURES
from tests.passes.repository import Repository

PROGRAM = FIXTURES / "failures" / "program"


@pytest.fixture(scope="module")
def program() -> Repository:
    files = sorted(PROGRAM.rglob("*.py"))
    return Repository({path.relative_to(PROGRAM).as_posix(): path.read_bytes() for path in files})


def recorded(name: str) -> str:
    return (FIXTURES / "failures" / f"{name}.txt").read_text(encoding="utf-8")


def seeds_of(program: Repository, text: str) -> Seeds:
    return find_failed(program.graph, program.texts, text)


def marked(seeds: Seeds) -> dict[tuple[str, int], str]:
    return {(mark.path, mark.line): mark.note for mark in seeds.marks}


# ------------------------------------------------------------------------------------------------------- recorded ones


def test_a_chained_exception(program: Repository) -> None:
    seeds = seeds_of(program, recorded("chained"))
    assert seeds.ranks == {
        "shop.stock:level_of": 0, "shop.orders:Order._take": 0, "shop.stock:take": 1, "shop.orders:Order.fill": 1,
        "shop.orders:place": 2, "chained:main": 3,
    }  # fmt: skip
    assert list(seeds.target.symbols)[:2] == ["shop.stock:level_of", "shop.orders:Order._take"]
    notes = marked(seeds)
    assert notes["shop/stock.py", 12] == "KeyError: 'plum'"
    assert notes["shop/orders.py", 26] == "raised because of the one before: shop.orders.OrderFailed: no article plum"
    assert notes["shop/orders.py", 20] == "calls Order._take"
    assert notes["chained.py", 11] == "calls main"
    assert seeds.notes == ()


def test_a_group_of_exceptions(program: Repository) -> None:
    seeds = seeds_of(program, recorded("group"))
    innermost = {symbol for symbol, rank in seeds.ranks.items() if rank == 0}
    assert innermost == {
        "shop.orders:Order.fill_all", "shop.stock:take", "shop.stock:level_of", "shop.orders:Order._take",
    }  # fmt: skip
    assert seeds.ranks["group:main"] == 1
    notes = marked(seeds)
    assert notes["shop/orders.py", 37] == "ExceptionGroup: order failed (2 sub-exceptions)"
    assert notes["shop/stock.py", 19] == "member 1 of a group: shop.stock.OutOfStock: pear: 2 too few"
    assert notes["shop/orders.py", 26].startswith("raised because of the one before: member 2 of a group: shop.orders.")


@pytest.mark.parametrize("style", ["long", "short", "native", "auto_colour"])
def test_pytest_s_styles_say_the_same(program: Repository, style: str) -> None:
    seeds = seeds_of(program, recorded(f"pytest_{style}"))
    assert {symbol for symbol, rank in seeds.ranks.items() if rank == 0} == {
        "tests.test_orders:check_left", "shop.stock:take", "tests.test_orders:TestParsing.test_json",
    }  # fmt: skip
    assert seeds.ranks["shop.orders:Order._take"] == 1
    assert seeds.ranks["shop.orders:place"] == 3
    notes = marked(seeds)
    assert notes["tests/test_orders.py", 15] == "AssertionError: assert 1 == 2"
    assert notes["shop/stock.py", 19] == "shop.stock.OutOfStock: pear: 1 too few"
    assert notes["tests/test_orders.py", 28].endswith("(raised by what it calls)")
    assert any("json/decoder.py:353" in note for note in seeds.notes)


@pytest.mark.parametrize("style", ["line", "none"])
def test_pytest_s_shortest_styles_name_the_tests(program: Repository, style: str) -> None:
    ranks = seeds_of(program, recorded(f"pytest_{style}")).ranks
    assert {"tests.test_orders:test_left", "tests.test_orders:test_too_many"} <= ranks.keys()
    assert ("shop.stock:take" in ranks) is (style == "line")


@pytest.mark.parametrize("name", ["chained", "group", "pytest_long"])
def test_the_failing_function_is_there_in_full_and_its_callers_lines(program: Repository, name: str) -> None:
    seeds = seeds_of(program, recorded(name))
    inputs = Inputs(program.graph, program.texts, DEFAULT_PROFILE, load_tokenizer("chars4"), budget=None)
    made: Compilation = compile_slice(inputs, seeds)
    forms = {item.symbol: item.form for item in made.context.items}
    lines = {(group.path, number) for group in made.document.groups for number in group.numbers}
    for symbol, rank in seeds.ranks.items():
        place = program.graph.symbol(symbol)
        if rank == 0:
            assert forms[symbol] is Form.FULL
            assert {(place.path, n) for n in range(place.line, place.end_line + 1)} <= lines, symbol
    for mark in seeds.marks:
        at_module_level = not program.texts[mark.path].decode().splitlines()[mark.line - 1].startswith(" ")
        assert at_module_level or (mark.path, mark.line) in lines, mark
        assert f"`{mark.path}:{mark.line}`" in made.context.text
    assert "\n## Failure\n" in made.context.text


# --------------------------------------------------------------------------------------------------------- what varies


PLAIN = recorded("chained")
EXPECTED = read_failures(PLAIN).failures


def without_texts(failures: tuple[Failure, ...]) -> list[object]:
    return [(f.message, f.link, [(x.path, x.line, x.name) for x in f.frames]) for f in failures]


@pytest.mark.parametrize(
    "prefix",
    ["    ", "web-1  | ", "2026-11-30T10:00:00.00Z ", "Nov 30 10:00:00 host app[12]: ", "E   ", "> ", "\x1b[31m", "#"],
)
def test_prefixes_and_indentation_are_passed_over(prefix: str) -> None:
    text = "".join(f"{prefix}{line}\n" for line in PLAIN.splitlines())
    assert read_failures(text).failures == EXPECTED


def test_a_place_that_pytest_shows_below_E_belongs_to_the_frames_before() -> None:
    text = (
        "tests/conftest.py:3: in load\n    import app\n"
        'E     File "/repo/app.py", line 7\nE       def f(:\nE             ^\nE   SyntaxError: invalid syntax\n'
    )
    (failure,) = read_failures(text).failures
    assert failure.message == "SyntaxError: invalid syntax"
    assert [(x.path, x.line) for x in failure.frames] == [("tests/conftest.py", 3), ("/repo/app.py", 7)]


NOTEBOOK = """\
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[7], line 1
----> 1 prepare(3)

Cell In[2], line 3, in prepare(rows)
      1 from lib import load
      2 def prepare(rows):
----> 3     return load(rows)

File ~/srv/lib.py:2, in Lib.load(rows)
      1 def load(rows):
----> 2     return {}[rows]

KeyError: 3
"""


def test_a_traceback_of_a_notebook() -> None:
    (failure,) = read_failures(NOTEBOOK).failures
    assert failure.message == "KeyError: 3"
    assert failure.frames == (
        Frame("Cell In[7]", 1, "", "prepare(3)"), Frame("Cell In[2]", 3, "prepare", "return load(rows)"),
        Frame("~/srv/lib.py", 2, "load", "return {}[rows]"),
    )  # fmt: skip


def test_the_function_of_a_qualified_name_is_meant() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 3, in app.C.<locals>.load\n    x()\nValueError\n'
    assert [f.name for failure in read_failures(text).failures for f in failure.frames] == ["load"]


def test_line_ends_and_surroundings() -> None:
    assert read_failures(PLAIN.replace("\n", "\r\n")).failures == EXPECTED
    assert read_failures(f"INFO: starting\n\n{PLAIN}\nINFO: done\nWARNING app.py:12: no failure\n").failures == EXPECTED
    twice = read_failures(PLAIN + PLAIN.replace("plum", "fig")).failures
    assert len(twice) == 4


def test_a_text_that_has_lost_its_indentation() -> None:
    flat = "\n".join(line.lstrip() for line in PLAIN.splitlines())
    assert without_texts(read_failures(flat).failures) == without_texts(EXPECTED)


def test_windows_paths_recursion_and_syntax_errors() -> None:
    text = (
        "Traceback (most recent call last):\n"
        '  File "C:\\work\\shop\\stock.py", line 17, in take\n'
        "    left = level_of(article) - count\n"
        "  [Previous line repeated 995 more times]\n"
        "RecursionError: maximum recursion depth exceeded\n"
        '  File "shop/orders.py", line 3\n'
        "    def f(:\n"
        "          ^\n"
        "SyntaxError: invalid syntax\n"
    )
    assert read_failures(text).failures == (
        Failure(
            "RecursionError: maximum recursion depth exceeded",
            (Frame("C:\\work\\shop\\stock.py", 17, "take", "left = level_of(article) - count", 995),),
        ),
        Failure("SyntaxError: invalid syntax", (Frame("shop/orders.py", 3, "", "def f(:"),)),
    )


def test_nested_groups() -> None:
    text = """\
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in f
  | ExceptionGroup: outer (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: alone
    +---------------- 2 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "a.py", line 2, in g
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | Traceback (most recent call last):
      |   File "a.py", line 3, in h
      | KeyError: 'x'
      +------------------------------------
"""
    found = [(f.member, f.message, [x.name for x in f.frames]) for f in read_failures(text).failures]
    assert found == [
        ("", "ExceptionGroup: outer (2 sub-exceptions)", ["f"]), ("1", "ValueError: alone", []),
        ("2", "ExceptionGroup: inner (1 sub-exception)", ["g"]), ("2.1", "KeyError: 'x'", ["h"]),
    ]  # fmt: skip


def test_other_tools_lines_are_no_failures() -> None:
    text = "a.py:3: error: Incompatible types\na.py:4:1: E501 too long\nb.py:5: DeprecationWarning: old\n"
    assert read_failures(text).failures == ()
    with pytest.raises(UserError, match="standard input holds no traceback"):
        find_failed(Repository({"a.py": "x = 1\n"}).graph, {}, text)


def noise() -> Iterator[str]:
    """Lines of real output, cut, doubled and mixed."""
    source = random.Random(5)
    lines = [line for name in ("group", "pytest_long", "pytest_auto_colour") for line in recorded(name).splitlines()]
    for _ in range(60):
        picked = [source.choice(lines) for _ in range(source.randrange(40))]
        yield "\n".join(line[source.randrange(4) : len(line) - source.randrange(6)] for line in picked)


def test_no_text_breaks_the_reader(program: Repository) -> None:
    for text in noise():
        try:
            seeds = seeds_of(program, text)
        except UserError:
            continue
        for mark in seeds.marks:
            assert mark.line >= 1
            assert mark.path in program.texts


def test_long_lines_take_no_time() -> None:
    for sign in ("_", "a.", " ", "x.py ", "| ", 'File "', "+-", "E  "):
        read_failures(f"Traceback (most recent call last):\n{sign * 200_000}\n" * 2)


# --------------------------------------------------------------------------------------------------- from path to file


PATHS = ["src/app.py", "main.py", "lib/a/util.py", "lib/b/util.py", "pkg/json/decoder.py"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("src/app.py", "src/app.py"), ("./src/app.py", "src/app.py"), ("/srv/build/src/app.py", "src/app.py"),
        ("C:\\build\\src\\app.py", "src/app.py"), ("/app/lib/b/util.py", "lib/b/util.py"),
        ("b/util.py", "lib/b/util.py"),
        ("/repo/lib/a/util.py", "lib/a/util.py"), ("/repo/other/app.py", ""), ("log text src/app.py", "src/app.py"),
        ("/usr/lib/python3.11/json/decoder.py", ""), ("/env/lib/python3.12/site-packages/x/app.py", ""),
        ("<frozen importlib._bootstrap>", ""), ("<string>", ""),
    ],
)  # fmt: skip
def test_paths(written: str, expected: str) -> None:
    assert PathIndex(PATHS, "/repo").find(written) == ((expected,) if expected else ())


def test_a_path_that_can_mean_two_files() -> None:
    assert PathIndex(PATHS).find("/x/util.py") == ("lib/a/util.py", "lib/b/util.py")


TWO = Repository({"a/util.py": "def f():\n    return 1\n", "b/util.py": "def g():\n    return 2\n"})


def frame(path: str, line: int, name: str, text: str = "") -> str:
    source = f"    {text}\n" if text else ""
    return f'Traceback (most recent call last):\n  File "{path}", line {line}, in {name}\n{source}ValueError: x\n'


def test_the_function_s_name_tells_which_file() -> None:
    assert find_failed(TWO.graph, TWO.texts, frame("/x/util.py", 2, "g")).ranks == {"b.util:g": 0}


def test_a_frame_of_another_project_is_none() -> None:
    with pytest.raises(TargetNotFound, match=r"no frame of that failure lies in the analysed files"):
        find_failed(TWO.graph, TWO.texts, frame("/x/util.py", 2, "other"))


CHANGED = Repository(
    {"pkg/app.py": "import os\n\n\ndef first():\n    a = 1\n    return a\n\n\ndef second():\n    first()\n"}
)


def test_a_source_that_has_changed_since() -> None:
    seeds = find_failed(CHANGED.graph, CHANGED.texts, frame("pkg/app.py", 2, "second", "first()"))
    assert seeds.ranks == {"pkg.app:second": 0}
    assert seeds.marks == (Mark("pkg/app.py", 10, "ValueError: x"),)
    assert seeds.notes == (
        "pkg/app.py has changed since: line 2 is not in a function 'second'; the one there is now is taken",
    )
    moved = find_failed(CHANGED.graph, CHANGED.texts, frame("pkg/app.py", 5, "first", "gone(1)"))
    assert moved.notes == ("pkg/app.py:5 has changed since: it was `gone(1)`",)


def test_module_code_is_a_seed_only_by_itself() -> None:
    repository = Repository({"pkg/app.py": "def f():\n    g()\n\n\nLIMIT = f()\nf()\n"})
    both = frame("pkg/app.py", 6, "<module>").replace("ValueError", '  File "pkg/app.py", line 2, in f\nValueError')
    assert find_failed(repository.graph, repository.texts, both).ranks == {"pkg.app:f": 0}
    assert find_failed(repository.graph, repository.texts, frame("pkg/app.py", 6, "<module>")).ranks == {
        "pkg.app:<module>": 0
    }
    assert "pkg.app:LIMIT" in find_failed(repository.graph, repository.texts, frame("pkg/app.py", 5, "<module>")).ranks


def test_what_lies_in_a_caller_is_no_seed_of_its_own() -> None:
    text = "def outer():\n    def inner():\n        return 1\n    x = inner()\n    leaf()\n\n\ndef leaf():\n    1 / 0\n"
    repository = Repository({"pkg/app.py": text})
    failure = frame("pkg/app.py", 5, "outer").replace("ValueError", '  File "pkg/app.py", line 9, in leaf\nValueError')
    assert find_failed(repository.graph, repository.texts, failure).ranks == {"pkg.app:leaf": 0, "pkg.app:outer": 1}


def test_a_lambda_in_module_code_is_its_statement() -> None:
    repository = Repository({"pkg/app.py": "import os\n\nKEY = lambda x: x.gone\n"})
    seeds = find_failed(repository.graph, repository.texts, frame("pkg/app.py", 3, "<lambda>"))
    assert seeds.ranks == {"pkg.app:KEY": 0}
