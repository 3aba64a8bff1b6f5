"""Every syntax from Python 3.0 to 3.15, and what the libcst reader makes of it."""

from __future__ import annotations

import sys

import pytest

from contextc.analyzer.reading.limits import DoesNotParse
from contextc.analyzer.reading.read import read_facts
from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter
from contextc.model.facts import ModuleFacts
from tests.reading.ast_reference import reference
from tests.reading.notation import body, facts
from tests.reading.tables import tables

CASES: list[tuple[str, str]] = [
    ("(yield)", "Evaluate(Yield(None))"),
    ("x: int", "AnnotatedAssign(x, int, None)"),
    ("x: int = 3", "AnnotatedAssign(x, int, 3)"),
    ("x = y = f(1)", "Assign((x, y), Call(f, (1,)))"),
    ("x, *y = z", "Assign((TupleExpr((x, Starred(y))),), z)"),
    ("x += 1", "AugmentedAssign(x, +, 1)"),
    ("x @= y", "AugmentedAssign(x, @, y)"),
    ("f(a, *b, k=c, **d)", "Evaluate(Call(f, (a, *b, k=c, **d)))"),
    (
        "f(x for x in y if z if w)",
        "Evaluate(Call(f, (Comprehension(generator, x, None, (Generator(x, y, (z, w), False),)),)))",
    ),
    (
        "a[1], a[1:2], a[::3], a[b, c], a[b,], a[*b], a[:, 1]",
        "Evaluate(TupleExpr((Subscript(a, 1), Subscript(a, Slice(1, 2, None)), Subscript(a, Slice(None, "
        "None, 3)), Subscript(a, TupleExpr((b, c))), Subscript(a, TupleExpr((b,))), Subscript(a, "
        "TupleExpr((Starred(b),))), Subscript(a, TupleExpr((Slice(None, None, None), 1))))))",
    ),
    (
        "[a, *b], {a, *b}, {a: b, **c}, (), (a,), {}",
        "Evaluate(TupleExpr((ListExpr((a, Starred(b))), SetExpr((a, Starred(b))), DictExpr((DictItem(a, b), "
        "DictItem(None, c))), TupleExpr(()), TupleExpr((a,)), DictExpr(()))))",
    ),
    (
        "[a for b, c in d for e in f], {a for b in c}, {a: b for c in d}",
        "Evaluate(TupleExpr((Comprehension(list, a, None, (Generator(TupleExpr((b, c)), d, (), False), "
        "Generator(e, f, (), False))), Comprehension(set, a, None, (Generator(b, c, (), False),)), "
        "Comprehension(dict, a, b, (Generator(c, d, (), False),)))))",
    ),
    ("a < b not in c is not d != e", "Evaluate(Compare(a, (<, not in, is not, !=), (b, c, d, e)))"),
    ("a and b and c or d", "Evaluate(BoolOp(or, (BoolOp(and, (a, b, c)), d)))"),
    ("a and (b and c)", "Evaluate(BoolOp(and, (a, BoolOp(and, (b, c)))))"),
    ("not a, -b, ~c, +d", "Evaluate(TupleExpr((UnaryOp(not, a), UnaryOp(-, b), UnaryOp(~, c), UnaryOp(+, d))))"),
    ("a ** -b // c @ d", "Evaluate(BinaryOp(@, BinaryOp(//, BinaryOp(**, a, UnaryOp(-, b)), c), d))"),
    ("a if b else c", "Evaluate(Conditional(b, a, c))"),
    ("lambda a, /, b=1, *c, d, **e: a", "Evaluate(Lambda(1))"),
    ("(x := 1)", "Evaluate(NamedExpr(x, 1))"),
    ("...", "Evaluate(ellipsis)"),
    ("1, 0x1F, 1_000, 2.5, 3j, 99999999999999999999", "Evaluate(TupleExpr((1, 31, 1000, float, complex, int)))"),
    ("'a' \"b\" r'\\n' '\\x41\\n\\N{BULLET}\\q'", "Evaluate('ab\\\\nA\\n•\\\\q')"),
    ("b'a' b'b'", "Evaluate(bytes)"),
    (
        "f'a{{}}{b!r:>{c}}d' 'e'",
        "Evaluate(FString(('a{}', Formatted(b, r, FString(('>', Formatted(c, , None)))), 'd', 'e')))",
    ),
    (
        "f'{x = }{y=!s}{z=:3}'",
        "Evaluate(FString(('x = ', Formatted(x, r, None), 'y=', Formatted(y, s, None), 'z=', Formatted(z, , "
        "FString(('3',))))))",
    ),
    ("rf'\\d{x}'", "Evaluate(FString(('\\\\d', Formatted(x, , None))))"),
    ("t'a{b}'", "Evaluate(FString(('a', Formatted(b, , None))))"),
    ("True, False, None", "Evaluate(TupleExpr((True, False, None)))"),
    ("import a, b.c as d", "Import((a, b.c as d))"),
    ("from . import a", "ImportFrom(1, , (a,))"),
    ("from ..b.c import (d as e, f,)", "ImportFrom(2, b.c, (d as e, f))"),
    ("from x import *", "ImportFrom(0, x, (*,))"),
    ("return", "Return(None)"),
    ("return 1, 2", "Return(TupleExpr((1, 2)))"),
    ("raise", "Raise(None, None)"),
    ("raise A from b", "Raise(A, b)"),
    ("assert a, b", "Assert(a, b)"),
    ("del a, (b, c), d[0]", "Delete((a, TupleExpr((b, c)), Subscript(d, 0)))"),
    ("del (a, b)", "Delete((TupleExpr((a, b)),))"),
    ("pass", ""),
    ("global x, y", ""),
    ("if a: b\nelif c: d\nelse: e", "If(a, (Evaluate(b),), (If(c, (Evaluate(d),), (Evaluate(e),)),))"),
    ("while a: break\nelse: continue", "While(a, (Jump(break),), (Jump(continue),))"),
    ("for a, b in c: d\nelse: e", "For(TupleExpr((a, b)), c, (Evaluate(d),), (Evaluate(e),), False)"),
    ("with a as b, c: d", "With((WithItem(a, b), WithItem(c, None)), (Evaluate(d),), False)"),
    ("with (a as b, c as (d, e)): f", "With((WithItem(a, b), WithItem(c, TupleExpr((d, e)))), (Evaluate(f),), False)"),
    ("with (a): b", "With((WithItem(a, None),), (Evaluate(b),), False)"),
    (
        "try: a\nexcept A: b\nexcept (B, C) as e: c\nexcept: d\nelse: e\nfinally: f",
        "Try((Evaluate(a),), (Handler(A, None, (Evaluate(b),)), Handler(TupleExpr((B, C)), e, "
        "(Evaluate(c),)), Handler(None, None, (Evaluate(d),))), (Evaluate(e),), (Evaluate(f),), False)",
    ),
    (
        "try: a\nexcept* A as e: b\nelse: c",
        "Try((Evaluate(a),), (Handler(A, e, (Evaluate(b),)),), (Evaluate(c),), (), True)",
    ),
    (
        "try: a\nexcept A, B: c",
        "Try((Evaluate(a),), (Handler(TupleExpr((A, B)), None, (Evaluate(c),)),), (), (), False)",
    ),
    ("type X[T: int] = list[T]", "TypeAlias(X, Subscript(list, T))"),
    ("def f[T: int = str, *Ts, **P = [int]](a: T) -> T: pass", "Define(1)"),
    ("class A[T](B, *C, metaclass=M): pass", "Define(1)"),
    ("@a.b(1)\n@c\nasync def f(): await a", "Define(1)"),
    ("async with a as b: c", "With((WithItem(a, b),), (Evaluate(c),), True)"),
    ("async for a in b: c", "For(a, b, (Evaluate(c),), (), True)"),
    ("[a async for b in c]", "Evaluate(Comprehension(list, a, None, (Generator(b, c, (), True),)))"),
    (
        "match a:\n case 1 | None | -2 | 'x' | a.b | 1+2j: pass\n case [b, *c, *_]: pass\n case (d,): pass\n "
        "case e, f: pass\n case {'k': g, 1: _, **r}: pass\n case A.B(h, k=i): pass\n case (A() | B()) as j if "
        "k: pass\n case _: pass",
        "Match(a, (Case(MatchOr((MatchValue(1), MatchValue(None), MatchValue(UnaryOp(-, 2)), "
        "MatchValue('x'), MatchValue(Attribute(a, b)), MatchValue(BinaryOp(+, 1, complex)))), None, ()), "
        "Case(MatchSequence((MatchAs(None, b), MatchStar(c), MatchStar(None))), None, ()), "
        "Case(MatchSequence((MatchAs(None, d),)), None, ()), Case(MatchSequence((MatchAs(None, e), "
        "MatchAs(None, f))), None, ()), Case(MatchMapping(('k', 1), (MatchAs(None, g), MatchAs(None, None)), "
        "r), None, ()), Case(MatchClass(Attribute(A, B), (MatchAs(None, h),), (k,), (MatchAs(None, i),)), "
        "None, ()), Case(MatchAs(MatchOr((MatchClass(A, (), (), ()), MatchClass(B, (), (), ()))), j), k, "
        "()), Case(MatchAs(None, None), None, ())))",
    ),
    ("match = case = type = 1", "Assign((match, case, type), 1)"),
    ("print(match, case, type)", "Evaluate(Call(print, (match, case, type)))"),
    ("match(x)", "Evaluate(Call(match, (x,)))"),
    ("print >>f, x", "Evaluate(TupleExpr((BinaryOp(>>, print, f), x)))"),
    ("x = yield a, b", "Assign((x,), Yield(TupleExpr((a, b))))"),
    ("x = yield from a", "Assign((x,), YieldFrom(a))"),
    ("x = await a", "Assign((x,), Await(a))"),
    ("f(**a, b=c)", "Evaluate(Call(f, (**a, b=c)))"),
    ("f(*a, b)", "Evaluate(Call(f, (*a, b)))"),
    ("lazy import a.b as c", "Import((a.b as c,))"),
    ("lazy from a import b", "ImportFrom(0, a, (b,))"),
    ("[*a for a in b]", "Evaluate(Comprehension(list, Starred(a), None, (Generator(a, b, (), False),)))"),
    ("{**a for a in b}", "Evaluate(Comprehension(dict, Starred(a), None, (Generator(a, b, (), False),)))"),
    ("a; b; c", "Evaluate(a); Evaluate(b); Evaluate(c)"),
]


@pytest.mark.parametrize(("source", "expected"), CASES, ids=[source for source, _ in CASES])
def test_syntax(source: str, expected: str) -> None:
    assert body(source) == expected


def parses_here(source: str) -> bool:
    """Whether the Python that runs this knows the syntax: `ast` can only be asked about what it does."""
    try:
        reference(source.encode())
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("source", [source for source, _ in CASES if parses_here(source)])
def test_places_are_those_of_ast(source: str) -> None:
    expected = reference(source.encode())
    assert tables(facts(source), sys.version_info >= (3, 12)) == expected


ONLY_LIBCST = {
    "with (a): b",  # the item's own place counts the parentheses
    "type X[T: int] = list[T]",
    "def f[T: int = str, *Ts, **P = [int]](a: T) -> T: pass",
    "print >>f, x",  # Python 2's statement
    "lazy import a.b as c",
    "lazy from a import b",
    "{**a for a in b}",
}


def test_tree_sitter_reads_the_same() -> None:
    different = {
        source.partition("\n")[0]
        for source, _ in CASES
        if read_with_tree_sitter(source.encode()).symbols != facts(source).symbols
    }
    assert different == ONLY_LIBCST


PATTERNS = [
    "{'a': 1, **r}",
    "[x, *_]",
    "A.B(c, d=-1.5)",
    "'x' 'y'",
    "-1-2j",
    "{-1: _, x.y: (b), 'c': [d, *e], }",
    "x.y, None",
    "a,",
    "{'a': 1, **r} | [x, *_] | A.B(c, d=-1.5) | 'x' 'y' | 1+2j as z if b",
    "()",
    "(a,)",
    "((a))",
    "-1 | -2",
    "_ | 1",
    "*a, b",
    "A(b, c=1 as d, e=-1 as f, g=(h) as i)",
    "[a, (b, c), *d,]",
    "(a | b) as c",
    "A(_, x=(y | 1), z=[*_])",
    "{**rest}",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_tree_sitter_reads_the_same_patterns(pattern: str) -> None:
    source = f"match a:\n    case {pattern}:\n        pass\n"
    assert read_with_tree_sitter(source.encode()).symbols == facts(source).symbols


@pytest.mark.parametrize(
    "source",
    [
        "def f(a: A[x] | B | C & D ^ E): pass",  # the grammar groups types to the right
        "x = a & b ^ c & d ^ e; y = (a ^ b) & c",  # and `^` tighter than `&`
        "def f(a: D[x, y,]): return a, b,",
        "for (x) in y: pass\nfor (x,) in y: pass",
        "def f():\n    a();\n",
        "x = rf'a{b}\\''",
        "def f():\n    type(a).b = c()\n    type(d)[0], e = f\n    type(g).h: i = j",
        "x: tuple[*A]\ny: tuple[*A, b]\nz: tuple[b]",
        "f(a, *b.c(*d.e(), g=[*h.i]), *j[0], **k)",  # and hangs the star on the first name
    ],
)
def test_tree_sitter_reads_the_same_of_what_it_parses_otherwise(source: str) -> None:
    assert read_with_tree_sitter(source.encode()).symbols == facts(source).symbols


LIBCST_GAPS = [
    "(x): int = 1",
    "class A:\n    (x.y): int",
    "class A(metaclass=M, *b): pass",
    "def f():\n    if a:\n        (x): B = c()\n        class D(*a, k=1, *b): pass",
]


@pytest.mark.parametrize("source", LIBCST_GAPS)
def test_what_libcst_wrongly_rejects_is_read_in_full(source: str) -> None:
    with pytest.raises(DoesNotParse):
        facts(source)
    read = read_facts(source.encode())
    assert isinstance(read, ModuleFacts)
    assert not read.partial
    assert tables(read, sys.version_info >= (3, 12)) == reference(source.encode())
    broken = read_facts(f"{source}\nx = = 1\n".encode())
    assert isinstance(broken, ModuleFacts)
    assert [item.line for item in broken.damage] == [source.count("\n") + 2]


def test_layout_does_not_matter() -> None:
    plain = body("if a:\n    f(b, c)\nd = 1\n")
    for source in (
        "if a:\r\n    f(b, c)\r\nd = 1\r\n",
        "if a:\r    f(b, c)\rd = 1\r",
        "\x0cif a:\n\tf(b, c)\n\x0c\nd = 1\n",
        "if a: f(b, c);\nd = 1",
        "if a :  # c\n  # d\n      f ( b ,\n# e\n c , ) ; \n\n\nd \\\n = \\\r\n 1",
        "\\\nif a:\n    f(b, c)\nd = 1 ;",
    ):
        assert body(source) == plain
