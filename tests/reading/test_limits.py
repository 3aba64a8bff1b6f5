"""Sources made to hurt: nothing crashes, nothing takes long, each is refused with its reason."""

from __future__ import annotations

import time

import pytest

from contextc.analyzer.reading.limits import MAX_BYTES, MAX_LEVELS
from contextc.analyzer.reading.read import Failure, read_facts
from contextc.model.codec import decode_facts, encode_facts
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import ModuleFacts

N = 3_000
DEEP = {
    "parentheses": "x = " + "(" * N + "1" + ")" * N,
    "lists": "x = " + "[" * N + "]" * N,
    "calls in calls": "f(" * N + ")" * N,
    "dicts": "x = " + "{1:" * N + "2" + "}" * N,
    "comprehensions": "x = " + "[" * N + "a" + " for b in c]" * N,
    "attributes": "a" + ".b" * N,
    "chained calls": "a" + ".b()" * N,
    "subscripts": "a" + "[0]" * N,
    "sum": "a" + " + a" * N,
    "power": "a" + " ** a" * N,
    "and": "a" + " and a" * N,
    "comparison": "a" + " < a" * N,
    "not": "not " * N + "a",
    "minus": "-" * N + "1",
    "conditional": "a if b else " * N + "c",
    "lambda": "lambda: " * N + "a",
    "f-string": "f'{" * N + "a" + "}'" * N,
    "f-string inside": "f'{" + "a." * N + "b}'",
    "assignment": "x = " * N + "1",
    "elif": "if a: b\n" + "elif a: b\n" * N,
    "walrus": "(x := " * N + "1" + ")" * N,
    "stars": "f(" + "*" * N + "a)",
    "over lines": "x = (\n" + "a +  # c\n" * N + "b)",
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_sources_are_refused(name: str) -> None:
    started = time.process_time()
    result = read_facts(("import os\n" + DEEP[name] + "\n").encode())
    assert isinstance(result, Failure)
    assert result.reason is SkipReason.TOO_DEEP
    assert result.detail.startswith("line ")
    assert time.process_time() - started < 5


def deepest(make: object) -> str:
    """The deepest source of a kind that is still read."""
    low, high = 1, 1_000
    while high - low > 1:
        middle = (low + high) // 2
        result = read_facts(make(middle).encode())  # type: ignore[operator]
        if isinstance(result, ModuleFacts) and not result.partial:
            low = middle
        else:
            high = middle
    return make(low)  # type: ignore[operator,no-any-return]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "a" + ".b" * n,
        lambda n: "a" + ".b()" * n,
        lambda n: "a" + " + a" * n,
        lambda n: "f(" * n + ")" * n,
        lambda n: "x = " + "[" * n + "]" * n,
        lambda n: "if a: b\n" + "elif a: b\n" * n,
        lambda n: "lambda: " * n + "a",
        lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "b\n",
        lambda n: "".join(" " * i + "def f():\n" for i in range(n)) + " " * n + "b\n",
    ],
)
def test_what_is_read_fits_plain_recursion(make: object) -> None:
    """The deepest facts can be encoded and decoded at Python's default recursion limit."""
    facts = read_facts(deepest(make).encode())
    assert isinstance(facts, ModuleFacts)
    text = encode_facts(facts)
    assert decode_facts(text) == facts
    assert depth(text) <= MAX_LEVELS + 10


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
