"""Random programs and their edits as hypothesis' strategies, how often properties are tried, and how they fail.

FUZZ=5000 tries that many examples for each property, chosen anew each time (`make fuzz`); without it the choice is
fixed, so that a run of the suite says the same twice. What fails is cut down by `shrinking`, which knows what a program
is, and printed: the program, its edits, and what differs.
"""

from __future__ import annotations

import difflib
import itertools
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from contextc.analyzer.inference import specialisation
from contextc.analyzer.inference.resolution import Resolved
from contextc.model import interner
from tests.inference.edits import edit_files, normalise
from tests.inference.grammar import Grammar
from tests.inference.shrinking import Files, States
from tests.inference.shrinking import shrink as cut_down

FUZZ = int(os.environ.get("FUZZ", "0"))
TIGHT = 2

Fault = Callable[[States], "str | None"]  # what is wrong with a program and its edits

_known: dict[tuple[object, str], str] = {}  # faults by check and program: hypothesis tries a failing example again


class Program(list[Files]):
    """The states of a program, one after the other."""

    def __repr__(self) -> str:
        return f"<a program of {len(self[0])} files, {len(self) - 1} edits>"


@st.composite
def programs(draw: Any, files: int = 3, statements: int = 2) -> Program:
    """A small program."""
    return Program([Grammar(draw).files(files, statements)])


@st.composite
def histories(draw: Any, edits: int = 4) -> Program:
    """A program and one to `edits` edits."""
    grammar = Grammar(draw)
    states = Program([{path: normalise(text) for path, text in grammar.files(2, 2).items()}])
    for _ in range(1 + grammar.number(edits)):
        states.append(edit_files(grammar, states).files)
    return states


def write_program(number: int) -> Program:
    """The program of that number: the same with each Python and each version of hypothesis."""
    choose = random.Random(number)
    grammar = Grammar(lambda strategy: 0)
    grammar.number = choose.randrange  # type: ignore[method-assign,assignment]
    return Program([grammar.files(2, 2)])


def count_faulty(find_fault: Fault, programs: int) -> int:
    """How many of the first so many programs have a fault."""
    return sum(find_fault(write_program(number)) is not None for number in range(programs))


def unless(faulty: int) -> pytest.MarkDecorator:
    """While faults are known and counted, only `make fuzz` looks for more."""
    return pytest.mark.skipif(bool(faulty) and not FUZZ, reason=f"{faulty} known faults are counted instead")


def many(usually: int, *, shrink: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """How many examples a property is tried on. `shrink`: hypothesis cuts what fails down; programs are cut down by
    `demand`."""
    return settings(
        max_examples=FUZZ or usually,
        deadline=None,
        derandomize=not FUZZ,
        database=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )


def demand(states: States, find_fault: Fault, *, part: object = None) -> None:
    """Fails, with the smallest program found, where there is a fault. `part` tells checks of one function apart."""
    key = ((find_fault.__qualname__, part), repr(list(states)))
    if key not in _known:
        if find_fault(states) is None:
            return
        small = cut_down(states, lambda tried: find_fault(tried) is not None)
        _known[key] = f"{show_states(small)}\n{find_fault(small)}"
    pytest.fail(_known[key], pytrace=False)


def show_states(states: States) -> str:
    """A program in full, then each edit as a difference."""
    shown = [f"# {path}\n{text}" for path, text in sorted(states[0].items())]
    for before, after in itertools.pairwise(states):
        shown.append("## then\n")
        for path in sorted({*before, *after}):
            if path not in after:
                shown.append(f"--- {path} is gone\n")
            old, new = (state.get(path, "").splitlines(keepends=True) for state in (before, after))
            shown += difflib.unified_diff(old, new, path, path, n=1)
    return "".join(shown)


def tighten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cap of a cell and of the specialisations of a function becomes 2, where it acts."""
    monkeypatch.setattr(interner, "_CAPS", {name: (kinds, TIGHT) for name, (kinds, _) in interner._CAPS.items()})
    for cap in ("MAX_LITERALS", "MAX_WIDTH", "MAX_EXTERNALS"):
        monkeypatch.setattr(interner, cap, TIGHT)
    monkeypatch.setattr(specialisation, "MAX_CONTEXTS", TIGHT)


def compare(left: Resolved, right: Resolved, names: tuple[str, str]) -> str | None:
    """What one of them says and the other doesn't, by field; the work done is no part of the result."""
    found: list[str] = []
    for field in Resolved._fields:
        ours, theirs = getattr(left, field), getattr(right, field)
        if field == "work" or ours == theirs:
            continue
        if not isinstance(ours, tuple):
            found.append(f"{field}: {names[0]} {ours}, {names[1]} {theirs}")
            continue
        for name, items, others in ((names[0], ours, theirs), (names[1], theirs, ours)):
            alone = [item for item in items if item not in set(others)]
            found += [f"{field}, {name} only: {_show(item)}" for item in alone[:5]]
            if len(alone) > 5:
                found.append(f"{field}, {name} only: … {len(alone)} in all")
        if set(ours) == set(theirs):
            found.append(f"{field}: in another order")
    return "\n".join(found) or None


def _show(item: Any) -> str:
    return " ".join(str(part) for part in item if part is not None and not isinstance(part, tuple))
