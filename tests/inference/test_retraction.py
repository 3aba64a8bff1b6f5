"""Specialisations go away with the calls that asked for them, and with the functions and classes they stand for."""

from __future__ import annotations

import textwrap

import pytest

from contextc.analyzer.inference.incremental import LiveSolver
from tests.inference.fuzzing import compare
from tests.inference.programs import build_program, resolve_cold

FACTORY = """
    class Job:
        def run(self): pass
    class Task:
        def run(self): pass
    class User:
        def __init__(self, job): job.run()
    class Order:
        def __init__(self, job): job.run()
    def make(cls): return cls(Job())
    """
APPLY = """
    class Job:
        def run(self): pass
    def first(job): job.run()
    def second(job): job.run()
    def apply(function): return function(Job())
    """
DECORATOR = """
    class Job:
        def run(self): pass
    def log(function):
        def call(): return function(Job())
        return call
    """
MANY = "".join(f"class C{n}:\n    def m(self): pass\n" for n in range(8)) + "def make(cls): return cls()\n"


def call_each(count: int) -> str:
    return MANY + "".join(f"def use{n}(): make(C{n}).m()\n" for n in range(count))


def with_lines(text: str, *lines: str) -> str:
    return "\n".join([textwrap.dedent(text), *lines, ""])


HISTORIES = {
    "a caller goes": [
        with_lines(FACTORY, "make(User)", "make(Order)"), with_lines(FACTORY, "make(User)"), with_lines(FACTORY),
        with_lines(FACTORY, "make(Order)"),
    ],
    "a caller asks for something else": [
        with_lines(FACTORY, "def go(): return make(User)"), with_lines(FACTORY, "def go(): return make(Order)"),
        with_lines(FACTORY, "def go(): return make(User)"),
    ],
    "a function goes whose value is in a context": [
        with_lines(APPLY, "apply(first)", "apply(second)"),
        with_lines(APPLY.replace("def second(job): job.run()", ""), "apply(first)", "apply(second)"),
        with_lines(APPLY.replace("def first(job): job.run()", ""), "apply(first)", "apply(second)"),
        with_lines(APPLY, "apply(first)", "apply(second)"),
    ],
    "a class goes whose value is in a context": [
        with_lines(FACTORY, "make(User)", "make(Order)"),
        with_lines(FACTORY.replace("class Order", "class Other"), "make(User)", "make(Order)"),
        with_lines(FACTORY, "make(User)", "make(Order)"),
    ],
    "the specialised function goes and comes back": [
        with_lines(APPLY, "apply(first)"), with_lines(APPLY.replace("def apply", "def other"), "apply(first)"),
        with_lines(APPLY, "apply(first)"),
    ],
    "a decorated function goes": [
        with_lines(DECORATOR, "@log", "def a(job): job.run()", "@log", "def b(job): job.run()", "a()", "b()"),
        with_lines(DECORATOR, "@log", "def a(job): job.run()", "a()", "b()"),
        with_lines(DECORATOR, "def a(job): job.run()", "a()"),
    ],
    "fewer than are told apart, more, and fewer again": [call_each(n) for n in (5, 6, 7, 8, 7, 6, 1)],
}  # fmt: skip


def find_leftovers(texts: list[str]) -> str | None:
    """What a live analysis says otherwise than one from nothing, or which specialisations and cells it keeps."""
    program = build_program({"m.py": texts[0]})
    live = LiveSolver(program)
    resolved = live.resolve()
    for number, text in enumerate(texts):
        if number:
            program = build_program({"m.py": text}, program.interner)
            resolved = live.update(program)
        cold = resolve_cold({"m.py": text})
        said = compare(resolved, cold, ("live", "cold"))
        if said is None:
            kept = [(name, getattr(resolved.work, name), getattr(cold.work, name))
                    for name in ("specialisations", "cells", "contributions")]  # fmt: skip
            said = "\n".join(f"{name}: live {ours}, cold {theirs}" for name, ours, theirs in kept if ours != theirs)
        if said:
            return f"state {number}: {said}"
    return None


@pytest.mark.parametrize("name", HISTORIES)
def test_what_no_call_asks_for_is_forgotten(name: str) -> None:
    assert find_leftovers(HISTORIES[name]) is None


def test_it_would_be_seen_if_it_were_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A specialisation that no call asks for stays, and so do its results."""
    monkeypatch.setattr(LiveSolver, "_drop_unwanted", lambda self, stratum: None)
    assert "state 1: specialisations: live 2, cold 1" in (find_leftovers(HISTORIES["a caller goes"]) or "")


def test_what_is_gone_would_be_looked_for_if_it_were_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stale specialisation holds a function that no program has any more."""
    monkeypatch.setattr(LiveSolver, "_drop_unwanted", lambda self, stratum: None)
    with pytest.raises(KeyError, match="m:second"):
        find_leftovers(HISTORIES["a function goes whose value is in a context"])


def test_the_programs_do_specialise() -> None:
    assert all(resolve_cold({"m.py": texts[0]}).work.specialisations for texts in HISTORIES.values())
