"""Files that don't parse: what is whole is read, what isn't is named."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from contextc.analyzer.reading import libcst_reader, tree_sitter_reader
from contextc.analyzer.reading.read import Failure, read_facts
from contextc.model.codec import decode_facts, encode_facts
from contextc.model.facts import Damage, ModuleFacts
from tests.reading.notation import show, symbol

BROKEN = b"""import os
x = foo(

def g(a, b: int = 3):
    '''doc'''
    return h(a)

@dec(1)
class A(B):
    y = 2
    def m(self): self.n()

async def last(): await it()
"""


def read(source: bytes) -> ModuleFacts:
    facts = read_facts(source)
    assert isinstance(facts, ModuleFacts)
    return facts


def ids(facts: ModuleFacts) -> list[str]:
    return [item.local_id for item in facts.symbols[1:]]


def test_an_unclosed_bracket_swallows_nothing() -> None:
    facts = read(BROKEN)
    assert facts.partial
    assert facts.reader == "tree-sitter"
    assert ids(facts) == ["g", "A", "A.y", "A.m", "last"]
    assert show(symbol(facts, "g").parameters) == "(Parameter(a, normal, None, None), Parameter(b, normal, int, 3))"
    assert show(symbol(facts, "A.m").body) == "(Evaluate(Call(Attribute(self, n), ())),)"
    assert show(symbol(facts, "A").decorators) == "(Call(dec, (1,)),)"
    assert "Import((os,))" in show(facts.symbols[0].body)
    assert facts.symbols[0].bindings == ("A", "g", "last", "os")
    span = symbol(facts, "A").span
    assert BROKEN[span.start : span.end].startswith(b"@dec(1)\nclass A(B):")
    assert BROKEN[span.start : span.end].endswith(b"self.n()")


def test_much_damage_is_cut_at_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_sitter_reader, "MAX_PARSED", 0)
    assert ids(read(BROKEN)) == ids(read(BROKEN + b"\n")) == ["g", "A", "A.y", "A.m", "last"]
    facts = read(b"@a(1)\n@b\ndef f(): pass\nx = (\n@c(\n@d\nclass A: pass\n")
    assert show(symbol(facts, "f").decorators) == "(Call(a, (1,)), b)"
    assert show(symbol(facts, "A").decorators) == "(d,)"


def test_damage_has_lines() -> None:
    assert [item.line for item in read(BROKEN).damage] == [2, 4]
    assert read(b"a\nb = 08\n").damage[0].message.startswith("leading zeros")
    assert read(b"def f(:\n    a()\ndef g(): h()\n").damage[0].line == 1
    many = read(b"".join(b"def f%d(:\n    a()\n" % number for number in range(150)))
    assert 100 <= len(many.damage) <= 101  # and what libcst says
    assert len(many.symbols) == 151


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"@foo(\n@bar\ndef f(): pass\ndef g(): pass\n", ["f", "g"]),
        (b"def f(a, (b, c)):\n    print d(a)\ndef g(): pass\n", ["f", "g"]),
        (b"class A:\n    def f(self):\n        return [1,\n    def g(self): pass\ndef h(): pass\n", ["A", "A.f", "h"]),
        (b"def f():\n    '''\ndef not_a_definition(): pass\n'''\n    g(\nclass B: pass\n", ["f", "B"]),
        (b"if a\n    def f(): pass\ndef g(): pass\n", ["g"]),
        (b"def f(): pass\n)\ndef g(): pass\n", ["f", "g"]),
        (b"x = [\n" + b"y = {\n" * 60 + b"def f(): pass\n" * 2, ["f", "f#2"]),
        (b"type(a).b = 1\nx = (\ndef g(): pass\n", ["g"]),
    ],
)
def test_definitions_after_the_damage(source: bytes, expected: list[str]) -> None:
    found = [name for name in ids(read(source)) if name not in ("x", "y")]
    assert [name for name in found if name in expected] == expected
    assert "not_a_definition" not in found


def test_python_2_keeps_its_calls() -> None:
    facts = read(b"def f(x):\n    print 'a', g(x)\n    exec h(x)\n    raise A, k(x)\n")
    assert symbol(facts, "f").call_sites == 3


def test_the_star_is_outermost() -> None:
    facts = read(b"x = [*a.b(c)[0], *d]\ny = (\n")
    assert "ListExpr((Starred(Subscript(Call(Attribute(a, b), (c,)), 0)), Starred(d)))" in show(facts.symbols[0].body)


def test_any_mutilation_is_read_or_refused() -> None:
    """Facts are always well formed: places inside the text, parents before children, fit for the store."""
    source = Path(libcst_reader.__file__).with_name("libcst_statements.py").read_bytes()
    choice = random.Random(7)
    pieces = [
        b"(",
        b")",
        b"[",
        b"}",
        b'"',
        b'"""',
        b"f'{",
        b":",
        b"\n",
        b"    ",
        b"\x0c",
        b"\r",
        b"\x00",
        b"\xc3\xa9",
        b"@",
    ]
    for _ in range(60):
        text = bytearray(source[: choice.randrange(len(source))])
        for _ in range(choice.randrange(4)):
            at = choice.randrange(len(text) + 1)
            text[at : at + choice.randrange(20)] = choice.choice(pieces)
        check(bytes(text))


def check(text: bytes) -> None:
    facts = read_facts(text)
    if isinstance(facts, Failure):
        return
    assert facts.partial == bool(facts.damage)
    assert all(isinstance(item, Damage) and item.line >= 1 for item in facts.damage)
    assert decode_facts(encode_facts(facts)) == facts
    for index, item in enumerate(facts.symbols):
        assert item.parent < index
        assert 0 <= item.span.start <= item.span.end <= len(text)
        base = item.span.start if index else 0
        pairs = zip(item.spans[::2], item.spans[1::2], strict=True)
        assert all(0 <= base + start <= base + end <= len(text) for start, end in pairs)
