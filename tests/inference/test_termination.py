"""Programs that would grow without end if anything could: each is solved within a counted number of evaluations.

The limit is per body and specialisation, and per line: what a program costs may grow with its size, not with what
flows through it. (What a line writes into a cell, a later line of the same body sees in the next round: a chain of them
takes as many rounds.) The counts are the same on each machine; no clock is asked.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pytest
from hypothesis import given

from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.resolution import resolve_program
from contextc.analyzer.inference.specialisation import MAX_CONTEXTS
from tests.inference.fuzzing import Program, compare, many, programs
from tests.inference.programs import build_program, resolve_cold

GROWING = {
    "a tuple around itself in a loop": """
        x = ()
        while unknown:
            x = (x, 1)
        x[0][0][0]()
        """,
    "a tuple around itself through functions": """
        def f(x): return g((x, 1))
        def g(y): return f((y, 2))
        f(())[0]()
        """,
    "every container around itself": """
        def f(x):
            x = [x]
            x = {"a": x}
            x = (x, x)
            x = {x}
            x = [y for y in x]
            x = {y: x for y in x}
            return f(x)
        f(f(None))
        """,
    "an attribute chain in a loop": """
        class Node:
            def __init__(self, down): self.down = Node(down)
        x = Node(None)
        while x: x = x.down
        for x in x: x = x.down.down
        """,
    "lists of lists": """
        from typing import TypeVar, List
        T = TypeVar("T")
        def wrap(x: T) -> "list[T]": return [x]
        def deeper(x: T) -> "List[List[T]]": return deeper(wrap(wrap(x)))
        x = wrap(1)
        while unknown: x = wrap(x)
        y = deeper(x)
        y[0][0][0][0]()
        """,
    "a generic class of itself": """
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Node(Generic[T]):
            def __init__(self, value: T) -> None: self.value = value
            def nest(self) -> "Node[Node[T]]": return Node(self).nest()
            def get(self) -> T: return self.value
        x = Node(1)
        while unknown: x = x.nest()
        for y in range(3): x = Node(x)
        x.get().get().get().get()
        """,
    "literals that grow in a ring": """
        def f(name, number): return g(name + "a", number + 1)
        def g(name, number): return h(f"{name}b", number * 2)
        def h(name, number): return f("%s-%s" % (name, number), -number) or name
        class A:
            def ab(self): pass
        getattr(A(), f("a", 1))()
        """,
    "f-strings in a loop": """
        x = "a"
        y = ""
        while unknown:
            x = f"{x}{y}a"
            y = f"b{x}"
            getattr(unknown, x)
        """,
    "a decorator that decorates itself": """
        def d(f):
            @d
            def wrapper(*args): return f(*args)
            @d
            @d
            def other(*args): return wrapper(*args)
            return other
        @d
        @d
        @d
        def job(): return job
        job()()()
        d(d)(d)(d)
        """,
    "a partial of a partial": """
        from functools import partial
        def f(*args, **kwargs): return partial(f, *args, f, k=f)
        x = f
        while unknown: x = partial(x, x, k=x)
        x = partial(partial(partial(x, x), x), x)
        x()()()
        """,
    "a bound method of a bound method": """
        class A:
            def m(self): return self.m.__get__(self.m)
        x = A().m
        while unknown: x = x.__get__(x)
        while unknown: x = x.__get__(A()).__func__.__get__(x)
        def f(self): return f.__get__(f.__get__(self))
        x(f)()()
        """,
    "attributes of what is outside": """
        import unknown
        x = unknown
        while x: x = getattr(x.y, x.name)(x)
        def f(y): return f(y.a.b().c[0])
        f(x)
        """,
    "a class made by what a function returns": """
        def base(x):
            class Made(base(x)):
                def m(self): return base(self)
            return Made
        class A(base(1)):
            def m(self): return super().m()
        class B(base(A), A): pass
        A = base(B)
        B().m()().m()
        """,
    "a dict keyed by its own values": """
        d = {}
        for k, v in d.items():
            d[v] = {v: d, k: v}
            d = {k: d, "a": d[v]}
        d[d]["a"]["a"] = d
        d["a"]["a"]["a"]()
        """,
    "a generator that delegates to itself": """
        def g(x):
            yield x
            y = yield from g((x, g))
            yield from (z for z in g(y))
            return g(y)
        for x in g(g(1)):
            for y in x: g(y)
        """,
    "closures around closures": """
        def f(x):
            def g(): return x
            return f(g)
        def k(x):
            return lambda: k(lambda: x)
        x = k(1)
        while unknown: x = x()
        f(k)()
        """,
    "a function that passes itself": """
        def f(x, *rest): return x(f, x, *rest, f)
        f(f, f)
        (lambda x: x(x))(lambda x: x(x))
        """,
    "unpacking its own tuple": """
        x = (1, "a")
        while unknown:
            x = (*x, x, *x)
            x, y = x, x
            x = x + y + (x,)
        def f(*args): return f(*args, args, *args)
        f(*x)
        """,
    "spread arguments around": """
        def f(**kwargs): return g(kwargs, **kwargs)
        def g(*args, **kwargs): return f(a=args, b=kwargs, **kwargs)
        f(a=1)
        """,
    "type of type": """
        class M(type):
            def __call__(cls): return type(cls)
            def __getattr__(cls, name): return type(cls)(name, (cls,), {})
        class A(metaclass=M): pass
        x = A
        while unknown: x = type(x)
        while unknown: x = x.y()
        """,
    "properties of properties": """
        class A:
            @property
            def p(self): return self.q.p
            @property
            def q(self): return A().p.q
            r = property(property(lambda self: self.r))
            s = classmethod(staticmethod(classmethod(p)))
        A().p.q.p.r.s
        """,
    "operators that make more": """
        class A:
            def __add__(self, x): return [self + x, x + self]
            def __getitem__(self, k): return A()[k][k]
            def __iter__(self): return iter([iter(self)])
            def __call__(self): return self()()
            def __enter__(self): return (self, self.__enter__())
        x = A()
        x += x + x
        for y in x: y = [y][0][y]
        with x() as z: z = (z, x)
        """,
}
PER_BODY = 12  # evaluations of one body or specialisation: most settle in three to six
CONTEXTS = 3 * MAX_CONTEXTS  # of one function, by values and by shapes; more only for a while, each from its own call


def unions(count: int) -> str:
    """One variable that can be any of so many classes, functions, strings and lists."""
    lines = [f"class C{n}:\n    def m(self): return C{(n + 1) % count}()\ndef f{n}(x): return x" for n in range(count)]
    lines += ["def pick(x):", *(f"    if unknown: x = C{n}()" for n in range(count)), "    x.m().m()", "    return x"]
    lines += ["def call(x):", *(f"    if unknown: x = f{n}" for n in range(count)), "    return x(x)"]
    lines += ["def name(x):", *(f"    if unknown: x = 'n{n}'" for n in range(count)), "    return getattr(call, x)"]
    lines += ["def hold(x):", *(f"    if unknown: x = [C{n}()]" for n in range(count)), "    return x[0].m()"]
    return "\n".join([*lines, "pick(call(name(hold(None))))", ""])


def chain(count: int) -> str:
    """Attributes so deep, read and written."""
    deep = ".a" * count
    lines = ["import b", "class A:", "    def __init__(self): self.a = self"]
    return "\n".join([*lines, f"x = A(){deep}", f"x{deep} = x", f"x{deep}()", f"b{deep}()", ""])


def growing_tuple(count: int) -> str:
    lines = ["x0 = (f,)", "def f(x): return x"]
    lines += [f"x{n + 1} = x{n} + (f(x{n}),)" for n in range(count)]
    return "\n".join([*lines, f"x{count}[0](x{count})[{count}]()", ""])


def callbacks(count: int) -> str:
    """Each function passes each to each."""
    lines = []
    for n in range(count):
        lines += [f"def f{n}(g, h):", f"    g(h, f{n})", *(f"    f{m}(f{n}, g)" for m in range(0, count, 7)),
                  f"    return f{(n + 1) % count}(h, g)"]  # fmt: skip
    return "\n".join([*lines, "f0(f1, f2)", ""])


def tower(count: int) -> str:
    """So many classes, each below the one before, each passing on to it."""
    lines = ["class C0:\n    def m(self, x): return x\n    def __init__(self): self.n = self"]
    for n in range(1, count):
        lines += [f"class C{n}(C{n - 1}):", "    def __init__(self):", "        super().__init__()",
                  f"    def m(self, x): return super().m((x, C{n}()))"]  # fmt: skip
    return "\n".join([*lines, f"C{count - 1}().m(1).m(2)", "def f(x: C0): x.m(x.n)", ""])


LARGE = {
    "500-way unions": unions(500),
    "attributes 200 deep": chain(200),
    "a tuple of 100 elements": growing_tuple(100),
    "60 functions that pass each other": callbacks(60),
    "300 classes, each below the one before": tower(300),
}


def demand_bounded(files: Mapping[str, str]) -> None:
    """No body is evaluated without end, and none had to be cut short."""
    solver = Solver(build_program(files))
    resolved = resolve_program(solver)
    work = resolved.work
    bodies = len(solver.units)
    lines = sum(text.count("\n") for text in files.values())
    assert bodies <= work.functions <= work.evaluations <= PER_BODY * (bodies + work.specialisations) + lines
    assert work.specialisations <= CONTEXTS * bodies + resolved.call_sites
    assert not work.cut


@pytest.mark.parametrize("name", [*GROWING, *LARGE])
def test_it_ends_within_counted_work(name: str) -> None:
    demand_bounded({"m.py": textwrap.dedent(GROWING.get(name) or LARGE[name])})


@pytest.mark.parametrize("name", GROWING)
def test_it_ends_the_same_in_any_order(name: str) -> None:
    program = {"m.py": textwrap.dedent(GROWING[name])}
    first = resolve_cold(program)
    for seed in range(5):
        assert compare(first, resolve_cold(program, seed), ("in program order", f"with seed {seed}")) is None


@given(program=programs(files=4, statements=4))
@many(60)
def test_any_program_ends_within_counted_work(program: Program) -> None:
    demand_bounded(program[0])
