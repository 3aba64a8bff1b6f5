"""Small programs and the calls they really make: each a kind that was once missed, or was once too sure.

A program is one file `app.py`; a call is "caller -> callee certainty", both without the module. The set is exact for
the callers named; REGISTRATION and the other relations don't count.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.engine import Options, analyze_repository

PROGRAMS = {
    "code after a with that swallows": (
        """
        import contextlib
        def post(): pass
        def main():
            with contextlib.suppress(ValueError):
                raise ValueError
            post()
        """,
        {"main -> post certain"},
    ),
    "code after a with that does not swallow": (
        """
        def post(): pass
        class Manager:
            def __enter__(self): return self
            def __exit__(self, *error): return None
        def main():
            with Manager():
                raise ValueError
            post()
        """,
        {"main -> Manager certain", "main -> Manager.__enter__ certain", "main -> Manager.__exit__ certain"},
    ),
    "a dict updated by keyword": (
        """
        def a(): pass
        def b(): pass
        def main():
            table = {}
            table.setdefault("c", a)
            table.update(b=b)
            table["b"]()
        """,
        {"main -> a likely", "main -> b likely"},
    ),
    "a default that is only looked up": (
        """
        def a(): pass
        def b(): pass
        TABLE = {"a": a}
        def other(): TABLE.get("x", b)
        def main(key): TABLE[key]()
        """,
        {"main -> a certain"},
    ),
    "a list made by repetition": (
        """
        def a(): pass
        def main():
            slots = [None] * 3
            slots[1] = a
            slots[1]()
        """,
        {"main -> a certain"},
    ),
    "a decorator's closure and what it wraps": (
        """
        def log(f):
            def wrapper(): return f()
            return wrapper
        @log
        def job(): pass
        def main(): job()
        """,
        {"main -> log.<locals>.wrapper certain", "main -> job likely"},
    ),
    "a registering decorator gives back just its own function": (
        """
        KEPT = []
        def register(f):
            KEPT.append(f)
            return f
        def named(name):
            def keep(f): return register(f)
            return keep
        @register
        def a(): pass
        @named("b")
        def b(): pass
        def main(): a()
        def other(): b()
        """,
        {"main -> a certain"},
    ),
    "a method replaced on a subclass": (
        """
        class A:
            def m(self): pass
            def call(self): self.m()
        class B(A): pass
        def replaced(self): pass
        B.m = replaced
        def main(): B().call()
        """,
        {"A.call -> A.m likely", "A.call -> replaced likely", "main -> B certain", "main -> A.call certain"},
    ),
    "an abstract method beside what implements it": (
        """
        class Base:
            def step(self): raise NotImplementedError
            def run(self): self.step()
        class Real(Base):
            def step(self): pass
        """,
        {"Base.run -> Base.step possible", "Base.run -> Real.step certain"},
    ),
    "a property and a class method of an Enum": (
        """
        import enum
        class Colour(enum.Enum):
            RED = 1
            @property
            def hex(self): return "f00"
            @classmethod
            def default(cls): return cls.RED
        def main():
            Colour.RED.hex
            Colour.default()
        """,
        {"main -> Colour.hex certain", "main -> Colour.default certain"},
    ),
    "print converts": (
        """
        class Card:
            def __str__(self): return "card"
        def main(card: Card): print(card)
        """,
        {"main -> Card.__str__ certain"},
    ),
    "a base that is a parameter": (
        """
        def build(base):
            class Child(base):
                def hi(self): super().hi()
            return Child
        """,
        {"build.<locals>.Child.hi -> ? untyped-receiver"},
    ),
    "elements of enumerate and zip": (
        """
        class Task:
            def cost(self): pass
        def main(tasks: list[Task]):
            for _, task in enumerate(tasks): task.cost()
            for one, other in zip(tasks, tasks): other.cost()
        """,
        {"main -> Task.cost certain"},
    ),
    "a generator runs in whoever iterates over it": (
        """
        def rows(): yield 1
        def consume(items):
            for item in items: pass
        def main(): consume(rows())
        """,
        {"main -> consume certain", "main -> rows certain", "consume -> rows certain"},
    ),
}


def calls_of(folder: Path, source: str, callers: set[str]) -> set[str]:
    """What the graph says these callers run, open sites as `?` with their reason."""
    lines = source.strip("\n").splitlines()
    indent = len(lines[0]) - len(lines[0].lstrip())
    (folder / "app.py").write_text("\n".join(line[indent:] for line in lines) + "\n", encoding="utf-8")
    analysis = analyze_repository(Options(folder)).analysis
    said = {
        f"{_name(e.caller)} -> {_name(e.callee)} {e.certainty}" for e in analysis.edges if e.kind.is_call
    } | {f"{_name(u.caller)} -> ? {u.reason}" for u in analysis.unresolved}
    return {line for line in said if line.partition(" -> ")[0] in callers}


def _name(symbol: str) -> str:
    return symbol.partition(":")[2]


@pytest.mark.parametrize("title", PROGRAMS)
def test_calls_of_a_small_program(tmp_path: Path, title: str) -> None:
    source, expected = PROGRAMS[title]
    callers = {line.partition(" -> ")[0] for line in expected}
    assert calls_of(tmp_path, source, callers) == expected
