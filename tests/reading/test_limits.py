"""Sources made to hurt: nothing crashes, nothing takes long; what is too deep is named, all the rest is read."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from contextc.analyzer.reading.child import RECURSION, STACK_BYTES
from contextc.analyzer.reading.libcst_reader import read_with_libcst
from contextc.analyzer.reading.limits import MAX_BYTES, MAX_LEVELS, MAX_LINKS, TOO_DEEP, Unreadable
from contextc.analyzer.reading.pool import ReaderPool, Reading
from contextc.analyzer.reading.read import Failure, read_facts
from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter
from contextc.model import ir
from contextc.model.codec import decode_facts, encode_facts
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import ModuleFacts
from contextc.model.traverse import iter_module

N = 3_000
LONG = {  # as long as generated code gets: read in full; and how many calls it makes
    "attributes": ("a()" + ".b" * N, 1),
    "chained calls": ("a" + ".b()" * N, N),
    "subscripts": ("a()" + "[0]" * N, 1),
    "sum": ("x = a" + " + a()" * 5_000, 5_000),
    "and": ("a" + " and a()" * N, N),
    "comparison": ("a" + " < a()" * N, N),
    "conditional": ("a() if b else " * N + "c", N),
    "f-string inside": ("f'{" + "a." * N + "b()}'", 1),
    "elif": ("if a: b\n" + "elif a(): b\n" * N, N),
    "elif after else": ("for a in b():\n    pass\nelse:\n    if a: b\n" + "    elif a: b\n" * N, 1),
    "over lines": ("x = (\n" + "a() +  # c\n" * N + "b)", N),
    "strings": ("x = a(" + " 'b'" * 5_000 + ")", 1),
    "many sums": ("x = a" + " + a()" * 1_500 + ("\nx = a" + " + a()" * 1_500) * 8, 13_500),
    "many chains": (("x = a" + ".b()" * 600 + "\n") * 60, 36_000),
    "calls": ("f(" * 90 + ")" * 90, 90),
    "union": ("def f(a: int" + " | str" * N + ") -> None: a()", 1),
}
DEEP = {  # what no one writes: the part that is too deep is left out
    "lists": "x = " + "[" * N + "]" * N,
    "calls in calls": "f(" * N + ")" * N,
    "dicts": "x = " + "{1:" * N + "2" + "}" * N,
    "comprehensions": "x = " + "[" * N + "a" + " for b in c]" * N,
    "parentheses": "x = " + "(" * N + "1" + ")" * N,
    "power": "a" + " ** a" * N,
    "not": "not " * N + "a",
    "minus": "-" * N + "1",
    "lambda": "lambda: " * N + "a",
    "f-string": "f'{" * N + "a" + "}'" * N,
    "format": "f'{a:" + "{b:" * 150 + "}" * 150 + "}'",
    "assignment": "x = " * N + "1",
    "elif": "if a: b\n" + "elif a: b\n" * (MAX_LINKS + 10),
    "chained calls": "a" + ".b()" * (MAX_LINKS + 10),
    "walrus": "(x := " * N + "1" + ")" * N,
    "by turns": "x = " + "-(" * N + "a" + ") + 1" * N,
    "list in a sum": "x = f() + g([" + "[" * N + "]" * N + "])",
    "default": "def f(a=" + "[" * N + "]" * N + "): pass",
    "decorator": "@a(" + "[" * N + "]" * N + ")\ndef f(): pass",
    "base": "class A(a(" + "[" * N + "]" * N + ")): pass",
}
NO_PYTHON = {
    "ifs": "".join(" " * i + "if a:\n" for i in range(300)) + " " * 300 + "b\n",
    "functions": "".join(" " * i + "def f():\n" for i in range(150)) + " " * 150 + "b\n",
    "classes": "".join(" " * i + "class A:\n" for i in range(150)) + " " * 150 + "b\n",
    "deep and broken": "x = " + "[" * N + "]" * N + "\nif a:\n        b\n    c",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[ReaderPool]:
    with ReaderPool(1) as readers:
        yield readers


def read(pool: ReaderPool, source: str) -> ModuleFacts:
    """Facts of a source that stands between an import and a definition; both are read whatever it is."""
    started = time.perf_counter()
    result = pool.read_all([("", f"import os\n{source}\ndef after(): g()\n".encode())])[""]
    assert time.perf_counter() - started < 20
    assert isinstance(result, Reading), result
    facts = result.decode()
    assert facts.partial == bool(facts.damage)
    assert facts.symbols[-1].name == "after"
    assert facts.symbols[-1].call_sites == 1
    assert isinstance(facts.symbols[0].body[0], ir.Import)
    return facts


def unread(facts: ModuleFacts) -> list[str]:
    return [node.what for _, node in iter_module(facts) if isinstance(node, ir.Unread)]


@pytest.mark.parametrize("name", LONG)
def test_long_sources_are_read_in_full(name: str, pool: ReaderPool) -> None:
    source, calls = LONG[name]
    facts = read(pool, source)
    assert not facts.damage
    assert not unread(facts)
    assert sum(isinstance(node, ir.Call) for _, node in iter_module(facts)) == calls + 1
    assert sum(item.call_sites for item in facts.symbols) == calls + 1


@pytest.mark.parametrize("name", DEEP)
def test_only_what_is_too_deep_is_left_out(name: str, pool: ReaderPool) -> None:
    facts = read(pool, DEEP[name])
    assert {item.deep for item in facts.damage} == {True}
    assert facts.damage[0].message == TOO_DEEP
    assert facts.damage[0].line == (2 if name != "elif" else MAX_LINKS + 3)
    assert len(facts.damage) == 1
    assert set(unread(facts)) <= {TOO_DEEP}


@pytest.mark.parametrize("name", NO_PYTHON)
def test_what_is_no_python_is_not_called_deep(name: str, pool: ReaderPool) -> None:
    assert not all(item.deep for item in read(pool, NO_PYTHON[name]).damage)


def test_a_deep_expression_keeps_what_is_around_it(pool: ReaderPool) -> None:
    facts = read(pool, DEEP["list in a sum"] + "; y = h(2)")
    assert sum(item.call_sites for item in facts.symbols) == 4
    assert facts.symbols[0].bindings == ("after", "os", "x", "y")
    many = read(pool, "\n".join([DEEP["lists"], "y = f(1)"] * 5))
    assert [item.line for item in many.damage] == [2, 4, 6, 8, 10]


CHAINS: list[Callable[[int], str]] = [
    lambda n: "x = a" + ".b" * n,
    lambda n: "a" + ".b(1)" * n,
    lambda n: "a" + "[(b)]" * n,
    lambda n: "(" * 40 + "a" + ".b)" * 40 + " + c(1)" * n,
    lambda n: "a if b else " * n + "c",
    lambda n: "if a: b\n" + "elif c: d()\n" * n,
    lambda n: "if a: b\n" + "elif c: d()\n" * n + "else: e\n",
]
NESTED: list[Callable[[int], str]] = [
    lambda n: "f(" * n + ")" * n,
    lambda n: "f.a.b(c, " * n + ")" * n,
    lambda n: "x = " + "[" * n + "]" * n,
    lambda n: "x = " + "{1: (" * n + "2" + ",)}" * n,
    lambda n: "x = " + "[" * n + "a" + " for b in c]" * n,
    lambda n: "lambda: " * n + "a",
    lambda n: "x = " + "a[b.c[" * n + "0" + "]]" * n,
    lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "b\n",
    lambda n: "".join(" " * i + "def f():\n" for i in range(n)) + " " * n + "b\n",
]


@pytest.mark.parametrize("make", CHAINS)
def test_chains_do_not_nest(make: Callable[[int], str]) -> None:
    """Both readers agree on them, and a chain's length is not the depth of its facts."""

    def check() -> None:
        text = make(400).encode()
        facts = read_with_libcst(text)
        assert read_with_tree_sitter(text).symbols == facts.symbols
        encoded = encode_facts(facts)
        assert decode_facts(encoded) == facts
        assert depth(encoded) == depth(encode_facts(read_with_libcst(make(4).encode()))) < 20

    deeply(check)


@pytest.mark.parametrize("make", NESTED)
@pytest.mark.parametrize("read_text", [read_with_libcst, read_with_tree_sitter])
def test_what_is_read_fits_plain_recursion(
    make: Callable[[int], str], read_text: Callable[[bytes], ModuleFacts]
) -> None:
    """The deepest facts of a kind can be decoded at Python's default recursion limit, which is what a parent has."""
    texts: list[str] = []

    def read_deepest() -> None:
        low, high = 1, 160
        while high - low > 1:
            middle = (low + high) // 2
            try:
                is_read = not read_text(make(middle).encode()).damage
            except Unreadable:
                is_read = False
            low, high = (middle, high) if is_read else (low, middle)
        assert low > 40
        texts.append(encode_facts(read_text(make(low).encode())))

    deeply(read_deepest)
    assert encode_facts(decode_facts(texts[0])) == texts[0]
    assert depth(texts[0]) <= 2 * MAX_LEVELS


def deeply(work: Callable[[], None]) -> None:
    """Runs `work` with the stack and the recursion limit that a reader process has."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as fault:
            faults.append(fault)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(RECURSION)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    if faults:
        raise faults[0]


def test_a_short_stack_fails_the_file() -> None:
    result = read_facts(b"x = a" + b" + a" * 1_500)
    assert isinstance(result, Failure)
    assert result.reason is SkipReason.READER_FAILED


def depth(text: str) -> int:
    level = most = 0
    for char in text:
        if char == "[":
            level += 1
            most = max(most, level)
        elif char == "]":
            level -= 1
    return most


def test_what_is_long_but_not_deep_is_read() -> None:
    for source in (
        "x = (" + " 'a'" * N + ")",
        "x = [" + "a, " * N + "]",
        "f(" + "a.b(c), " * N + ")",
        "@a\n" * N + "def f(): pass",
        "a; " * N,
        "x = {\n" + "    'k': [1, 2, (3, 4)],\n" * N + "}",
        "def f():\n" + "    a.b(c + d)\n" * N,
        "x = f'" + "{a}" * N + "'",
    ):
        assert isinstance(read_facts(source.encode()), ModuleFacts), source[:20]


def test_an_open_bracket_does_not_make_the_rest_one_expression() -> None:
    result = read_facts(b"x = f(\n" + b"y = g(1) + h.i\n" * N)
    assert isinstance(result, ModuleFacts)
    assert result.partial


def test_large_files_are_refused_at_once() -> None:
    started = time.process_time()
    result = read_facts(b"x = 1\n" * (5_000_000 // 6))
    assert isinstance(result, Failure)
    assert result.reason is SkipReason.TOO_LARGE
    many = read_facts(b"x, " * (MAX_BYTES // 3))
    assert isinstance(many, Failure)
    assert many.reason is SkipReason.TOO_LARGE
    assert time.process_time() - started < 3
