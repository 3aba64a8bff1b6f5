"""An edited program is resolved as one that was never anything else, whatever became of it in between."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given

from contextc.analyzer.inference.incremental import LiveSolver
from tests.inference.edits import normalise
from tests.inference.fuzzing import Program, compare, demand, histories, many
from tests.inference.programs import build_program, resolve_cold
from tests.inference.shrinking import States
from tests.inference.test_termination import GROWING


def find_memory(states: States) -> str | None:
    """What a live analysis says of an edited program that one from nothing doesn't, or the other way round."""
    program = build_program(states[0])
    live = LiveSolver(program)
    said = compare(live.resolve(), resolve_cold(states[0]), ("live", "cold"))
    for state in states[1:]:
        if said is not None:
            break
        program = build_program(state, program.interner)
        said = compare(live.update(program), resolve_cold(state), ("edited", "cold"))
    return said


@given(program=histories())
@many(70)
def test_an_edited_program_is_as_a_new_one(program: Program) -> None:
    demand(program, find_memory)


@given(program=histories())
@many(30)
@pytest.mark.usefixtures("tight_caps")
def test_an_edited_program_is_as_a_new_one_past_every_cap(program: Program) -> None:
    demand(program, find_memory, part="tight")


@pytest.mark.parametrize("name", GROWING)
def test_what_would_grow_without_end_can_be_taken_away(name: str) -> None:
    """Each statement of the module goes and comes back; at last all but the first have gone."""
    text = normalise(textwrap.dedent(GROWING[name]))
    statements = [ast.unparse(statement) for statement in ast.parse(text).body]
    states = [{"m.py": text}]
    for at in range(len(statements)):
        states += [{"m.py": "\n".join([*statements[:at], *statements[at + 1 :], ""])}, {"m.py": text}]
    states += [{"m.py": "\n".join([*statements[:last], ""])} for last in range(len(statements) - 1, 0, -1)]
    demand(states, find_memory)


@pytest.mark.parametrize("name", GROWING)
def test_where_nothing_changes_nothing_is_evaluated(name: str) -> None:
    """Nor where the text moves: bodies are known by what they say, not by where they stand."""
    text = textwrap.dedent(GROWING[name])
    program = build_program({"m.py": text})
    live = LiveSolver(program)
    live.resolve()
    moved = {"m.py": f"# moved\n\n{text}"}
    resolved = live.update(build_program(moved, program.interner))
    assert resolved.work.evaluations == 0
    assert compare(resolved, resolve_cold(moved), ("moved", "cold")) is None


def test_what_new_makes_is_not_guessed_before_it_is_known() -> None:
    """A cold run meets the call before the class body: an instance guessed then would stay, and only there."""
    made = """
        class C:
            def m(self): pass
        class B:
            def m(self): pass
            def __new__(cls): return C()
        """
    used = "import m\nz = m.B()\ndef g(): z.m()\n"
    texts = {"m.py": textwrap.dedent(made), "n.py": used}
    demand([texts, {**texts, "n.py": used + "y = 1\n"}], find_memory)
    assert [e.callee for e in resolve_cold(texts).edges if e.caller == "n:g" and e.kind.is_call] == ["m:C.m"]
