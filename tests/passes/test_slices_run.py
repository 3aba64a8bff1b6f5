"""A body trimmed with its dependences runs as the whole one does, as far as the asked statement can tell (Weiser's
definition of a slice): over generated functions, what reaches a statement is the same in both.

Generated are assignments of all kinds, changing of containers, branches, loops, `with`, `try` and `match`; not what the
slice is documented not to follow: jumps, exceptions that come, bodies of closures.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from contextc.passes.forms import Source
from contextc.passes.rows import text_of_rows
from contextc.passes.trimming import Kept, trim
from tests.passes.repository import Repository

NAMES = ("aaa", "bbb", "ccc", "ddd", "eee")  # a line is then too long to stand for itself in a gap
STEP = "    "


class Writer:
    """Writes the body of one function. Every `note(number, value)` has a number of its own."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.notes = 0
        self.counters = 0

    def name(self) -> str:
        return self.chance.choice(NAMES)

    def block(self, depth: int, indent: str) -> Iterator[str]:
        for _ in range(self.chance.randint(1, 3 if depth else 8)):
            kinds = [self.simple, self.simple, self.simple, self.note, *(self.compounds() if depth < 3 else [])]
            yield from self.chance.choice(kinds)(depth, indent)

    def compounds(self) -> list[Callable[[int, str], Iterator[str]]]:
        return [self.branch, self.count, self.turn, self.hold, self.attempt, self.match]

    def note(self, depth: int, indent: str) -> Iterator[str]:
        self.notes += 1
        yield f"{indent}note({self.notes}, {self.name()})"

    def simple(self, depth: int, indent: str) -> Iterator[str]:
        x, y, z = self.name(), self.name(), self.name()
        forms = [
            f"{x} = ({y} * 3 + {z}) % 97", f"{x} = {y} + 1000 - {z}", f"{x} += {y} % 7", f"{x}, {y} = {y}, {z}",
            f"items.append({x} % 10)", f"{x} = sum(items[-2:])", f"table[{x} % 3] = {y}",
            f"{x} = table.get({y} % 3, {z})", f"items.sort(); {x} = items[0]", f"box.one = {x}", f"box.two = {x}",
            f"{x} = box.one + {y}", f"{x} = [({y} := i + {z}) for i in range(2)][0]", f"{x} = 1 if {y} % 2 else {z}",
            f"{x} = sum({y} + {z} for {z} in range(3))", f"{x}, *rest = {y}, {z}, 3", f"{x} = rest[0]",
            f"{x} = (lambda {y}: {y} + {z})(4)", f"call = lambda: {x} + 1", f"{x} = call()", f"{x}: int = {y}",
            f"del {x}; {x} = ({y if y != x else 5})",
        ]  # fmt: skip
        yield indent + self.chance.choice(forms)

    def branch(self, depth: int, indent: str) -> Iterator[str]:
        yield f"{indent}if {self.name()} % 3 == {self.name()} % 2:"
        yield from self.block(depth + 1, indent + STEP)
        for _ in range(self.chance.randint(0, 2)):
            yield f"{indent}elif {self.name()} % 2:"
            yield from self.block(depth + 1, indent + STEP)
        if self.chance.random() < 0.6:
            yield f"{indent}else:"
            yield from self.block(depth + 1, indent + STEP)

    def count(self, depth: int, indent: str) -> Iterator[str]:
        yield f"{indent}for {self.name()} in range({self.name()} % 4):"
        yield from self.block(depth + 1, indent + STEP)
        if self.chance.random() < 0.3:
            yield f"{indent}else:"
            yield from self.block(depth + 1, indent + STEP)

    def turn(self, depth: int, indent: str) -> Iterator[str]:
        self.counters += 1
        left = f"left_{self.counters}"
        yield f"{indent}{left} = {self.name()} % 3"
        yield f"{indent}while {left} > 0:"
        yield f"{indent}{STEP}{left} -= 1"
        yield from self.block(depth + 1, indent + STEP)

    def hold(self, depth: int, indent: str) -> Iterator[str]:
        yield f"{indent}with hold({self.name()}) as {self.name()}:"
        yield from self.block(depth + 1, indent + STEP)

    def attempt(self, depth: int, indent: str) -> Iterator[str]:
        yield f"{indent}try:"
        yield from self.block(depth + 1, indent + STEP)
        is_caught = self.chance.random() < 0.5
        if is_caught:
            yield f"{indent}except LookupError as fault:"
            yield from self.block(depth + 1, indent + STEP)
        if is_caught and self.chance.random() < 0.5:
            yield f"{indent}else:"
            yield from self.block(depth + 1, indent + STEP)
        if self.chance.random() < 0.5:
            yield f"{indent}finally:"
            yield from self.block(depth + 1, indent + STEP)
        elif not is_caught:
            yield f"{indent}finally: pass"

    def match(self, depth: int, indent: str) -> Iterator[str]:
        yield f"{indent}match [{self.name()} % 3, {self.name()}]:"
        for pattern in (f"[0, {self.name()}]", f"[1, *rest] if {self.name()} % 2", "_")[: self.chance.randint(1, 3)]:
            yield f"{indent}{STEP}case {pattern}:"
            yield from self.block(depth + 1, indent + 2 * STEP)


def write_function(seed: int) -> tuple[str, int]:
    """A function, and how many notes it makes."""
    writer = Writer(seed)
    start = [
        "def f(note, hold, box, aaa, bbb):",
        "    ccc, ddd, eee = 1, 2, 3",
        "    items, table, rest = [4], {}, [5]",
    ]
    start += ["    box.one = box.two = 6", "    call = lambda: 7"]
    body = list(writer.block(0, STEP))
    return "\n".join([*start, *body, f"    note(0, {writer.name()})"]) + "\n", writer.notes


class Box:
    one = two = 0


def run(text: str, number: int) -> list[object]:
    """What one note is given, over some calls of the function."""
    space: dict[str, object] = {}
    exec(compile(text, "generated", "exec"), space)
    seen: list[object] = []

    def note(which: int, value: object) -> None:
        if which == number:
            seen.append(value)

    function = space["f"]
    assert callable(function)
    for first, second in ((0, 1), (5, 2), (10, 7)):
        function(note, contextlib.nullcontext, Box(), first, second)
        seen.append("end")
    return seen


@given(st.integers(0, 2**40), st.integers(0, 100))
@settings(max_examples=150, deadline=None)
def test_a_slice_runs_as_the_whole(seed: int, choice: int) -> None:
    text, notes = write_function(seed)
    number = choice % (notes + 1)
    made = Repository({"m.py": text})
    line = next(n for n, written in enumerate(text.split("\n"), 1) if f"note({number}, " in written)
    shown = text_of_rows(trim(made.graph.symbol("m:f"), Source(made.texts["m.py"]), Kept((line,), True)))
    assert run(shown, number) == run(text, number), f"{text}\n-------- {number}\n{shown}"


def test_slices_are_smaller() -> None:
    sizes = []
    for seed in range(60):
        text, _ = write_function(seed)
        made = Repository({"m.py": text})
        last = text.count("\n")
        shown = trim(made.graph.symbol("m:f"), Source(made.texts["m.py"]), Kept((last,), True))
        sizes.append(sum(row.line > 0 for row in shown) / last)
    assert sum(sizes) / len(sizes) < 0.85
