"""Which line of the file each shown line is, with and without the numbers in the text; trimmed definitions between
others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from contextc.model.facts import SymbolKind
from contextc.model.plan import Form
from contextc.passes.forms import Source, docstring_text
from contextc.passes.profile import DEFAULT_PROFILE
from contextc.passes.rows import Row, number_lines, ranges_of, rows_from
from contextc.passes.skeleton import Shown, Skeleton, own_text
from contextc.passes.trimming import Kept
from tests.passes.repository import Repository

PACKAGE = Path(__file__).parents[2] / "contextc"
FILES = sorted([*PACKAGE.glob("passes/*.py"), *PACKAGE.glob("graph/*.py")])


def test_numbers_stand_before_the_repository_s_lines_only() -> None:
    text = "def f():\n    ...\n    return 1\n"
    assert number_lines(text, (8, 0, 12, 0)) == " 8: def f():\n        ...\n12:     return 1\n"
    assert number_lines("", (0,)) == ""


def test_ranges_of_rows() -> None:
    rows = [*rows_from("a\nb", 3), Row("..."), *rows_from("c", 9)]
    assert ranges_of(rows) == [(3, 4), (9, 9)]


CODE = '''
class K:
    """A class."""

    table = make_the_table(1, 2, 3)
    other = make_another_one(1, 2)

    def f(self, a):
        """Do it."""
        first = compute(a, 1, 2, 3)
        def inner(b):
            second = compute(b, 1, 2, 3)
            return second
        self.log("nothing that matters")
        return inner(first)
'''.lstrip("\n")
F = ("    def f(self, a):", "        ...  # 2 lines")


def render(forms: dict[str, Form], kept: dict[str, Kept]) -> Shown:
    made = Repository({"m.py": CODE})
    source = Source(made.texts["m.py"])
    skeleton = Skeleton(made.graph, source, DEFAULT_PROFILE, forms, kept)
    shown = skeleton.render(made.graph.symbol("m:<module>"))
    ast.parse(shown.text)
    check_numbers(shown, source)
    return shown


def check_numbers(shown: Shown, source: Source) -> None:
    """A line with a number stands in the file under it, at least up to where something is left out; the ranges are
    made of these numbers."""
    lines = shown.text.split("\n")
    assert len(lines) == len(shown.numbers)
    for line, number in zip(lines, shown.numbers, strict=True):
        written = source.line(number) if number else ""
        is_whole = line.strip() in written
        assert not number or is_whole or (line.partition("...")[0].strip() in written and "..." in line)
    numbers = [number for number in shown.numbers if number]
    assert set(numbers) == {n for first, last in shown.lines for n in range(first, last + 1)}


def test_a_trimmed_method_in_its_class() -> None:
    shown = render({"m:K.f": Form.TRIMMED}, {"m:K.f": Kept((14,))})
    gap = "        ...  # 6 lines"
    assert shown.text == "\n".join(["class K:", F[0], gap, "        return inner(first)"])
    assert shown.numbers == (1, 7, 0, 14)


@pytest.mark.parametrize("form", [Form.SIGNATURE, Form.INTERFACE])
def test_what_is_chosen_inside_a_trimmed_body_has_its_head_there(form: Form) -> None:
    shown = render({"m:K.f": Form.TRIMMED, "m:K.f.<locals>.inner": form}, {"m:K.f": Kept((14,))})
    closure = ["        def inner(b):", "            ...  # 2 lines", "        ...", "        return inner(first)"]
    assert shown.text == "\n".join(["class K:", *F, *closure])


def test_what_is_chosen_in_full_inside_a_trimmed_body_is_whole() -> None:
    forms = {"m:K.f": Form.TRIMMED, "m:K.f.<locals>.inner": Form.FULL}
    shown = render(forms, {"m:K.f": Kept((14,))})
    assert shown.numbers == (1, 7, 0, 10, 11, 12, 0, 14)


def test_a_class_is_trimmed_where_it_calls_itself() -> None:
    shown = render({"m:K": Form.TRIMMED}, {"m:K": Kept((4,))})
    expected = ["class K:", "    ...", "    table = make_the_table(1, 2, 3)", "    ...  # 9 lines"]
    assert shown.text == "\n".join(expected)


def test_a_trimmed_class_without_lines_is_an_interface() -> None:
    assert render({"m:K": Form.TRIMMED}, {}) == render({"m:K": Form.INTERFACE}, {})
    made = Repository({"m.py": CODE})
    source, symbol = Source(made.texts["m.py"]), made.graph.symbol("m:K")
    texts = [own_text(symbol, form, source, DEFAULT_PROFILE) for form in (Form.TRIMMED, Form.INTERFACE)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("longest", "lines"), [(0, 0), (1, 2), (3, 2), (6, 2), (7, 7)])
def test_docstrings_by_their_longest_length(longest: int, lines: int) -> None:
    text = '"""One.\n\n    Two.\n    Three.\n    Four.\n    Five.\n    """'
    made = Repository({"m.py": f"def f():\n    {text}\n"})
    shown = docstring_text(made.graph.symbol("m:f"), Source(made.texts["m.py"]), longest)
    assert len(shown.split("\n")) == (lines or 1) and bool(shown) == bool(lines)
    if lines == 2:
        assert shown == '    """One.\n    ... (6 more lines)"""'
    ast.parse(f"def f():\n{shown}\n    ...")


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_number_maps_to_its_line(path: Path, form: Form) -> None:
    made = Repository({"m.py": path.read_bytes()})
    source = Source(made.texts["m.py"])
    symbols = [s for s in made.graph.symbols[1:] if s.kind is not SymbolKind.MODULE]
    chosen = {s.id: form for s in symbols if s.parent == "m:<module>" or form is not Form.FULL}
    kept = {s.id: Kept((s.end_line,), True, 3) for s in symbols}
    shown = Skeleton(made.graph, source, DEFAULT_PROFILE, chosen, kept).render(made.graph.symbols[0])
    ast.parse(shown.text)
    check_numbers(shown, source)
    numbered = number_lines(shown.text, shown.numbers)
    assert numbered.count("\n") == shown.text.count("\n")
