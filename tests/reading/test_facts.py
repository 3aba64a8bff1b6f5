"""What facts say beyond the tree: symbols, names, bindings, spans, docstrings."""

from __future__ import annotations

from contextc.model import ir
from contextc.model.codec import decode_facts, encode_facts
from contextc.model.facts import SymbolKind
from contextc.model.span import Span
from tests.reading.notation import facts, show, symbol
from tests.reading.tables import place, walk


def ids(source: str) -> list[str]:
    return [item.local_id for item in facts(source).symbols[1:]]


def test_symbols_in_source_order_with_their_kinds() -> None:
    read = facts("""
x = lambda: 0
class A:
    y: int
    def m(self):
        z = 1
        def inner(): pass
        class L: w = 1
for i, (j, *k) in []: l = 1
""")
    assert [(item.local_id, str(item.kind)) for item in read.symbols] == [
        ("<module>", "module"),
        ("x", "variable"),
        ("<lambda>", "lambda"),
        ("A", "class"),
        ("A.y", "attribute"),
        ("A.m", "method"),
        ("A.m.<locals>.inner", "function"),
        ("A.m.<locals>.L", "class"),
        ("A.m.<locals>.L.w", "attribute"),
        ("i", "variable"),
        ("j", "variable"),
        ("k", "variable"),
        ("l", "variable"),
    ]
    assert all(item.parent < index for index, item in enumerate(read.symbols))


def test_a_second_definition_gets_a_number() -> None:
    source = """
class C:
    @property
    def x(self): pass
    @x.setter
    def x(self, value): pass
if a:
    def f(): pass
else:
    def f(): pass
(lambda: 0, lambda: 1)
"""
    assert ids(source) == ["C", "C.x", "C.x#2", "f", "f#2", "<lambda>", "<lambda>#2"]


def test_a_variable_has_one_symbol_and_none_beside_a_definition() -> None:
    assert ids("a = 1\na = 2\nif b:\n    a = 3\n") == ["a"]
    assert ids("f = None\ntry:\n    pass\nfinally:\n    def f(): pass\n") == ["f"]
    assert ids("class C:\n    m = 1\n    if a:\n        pass\n    elif b:\n        def m(self): pass\n") == ["C", "C.m"]
    assert ids("global a\na = 1\n") == ["a"]
    assert ids("class C:\n    global a\n    a = 1\n") == ["C"]
    assert ids("try: pass\nexcept E as e: pass\nimport m\ndel q\n(w := 1)\n") == []


def test_a_global_definition_has_a_bare_qualname() -> None:
    assert ids(
        "def f():\n    global g, h\n    def g(): pass\n    class C:\n        def m(self): pass\n    def h(): pass\n"
    ) == [
        "f",
        "g",
        "f.<locals>.C",
        "f.<locals>.C.m",
        "h",
    ]


def test_bindings() -> None:
    source = """
def f(a, /, b=(d := 1), *c, **k):
    global g1, g2
    nonlocal n1
    g1 = n1 = x = 1
    for y, (z, *w) in [q for q in r if (walrus := q)]: pass
    with u as v: import os.path, sys as system
    from m import one, two as three
    from m import *
    try: pass
    except E as e: pass
    match s:
        case [m1, *m2] | {"k": m3, **m4} | A(m5, x=m6) | (B() as m7): pass
    del gone
    type T = int
    obj.attr = sub[0] = 1
    def inner(): unseen = 1
    class Inner: unseen = 1
    lambda unseen: (unseen2 := 1)
    t += 1
    o: int
"""
    read = facts(source)
    assert symbol(read, "<module>").bindings == ("d", "f")
    f = symbol(read, "f")
    assert f.globals == ("g1", "g2")
    assert f.nonlocals == ("n1",)
    assert f.bindings == tuple(
        sorted(
            [
                *("a", "b", "c", "k", "x", "y", "z", "w", "walrus", "v", "os", "system", "one", "three", "e", "gone"),
                *("m1", "m2", "m3", "m4", "m5", "m6", "m7", "T", "inner", "Inner", "t", "o"),
            ]
        )
    )
    assert symbol(read, "f.<locals>.<lambda>").bindings == ("unseen", "unseen2")


def test_headers_are_numbered_where_the_definition_stands() -> None:
    read = facts("@d(1)\ndef f(a: A = g(), *b: B) -> R: return h()\n")
    module, f = read.symbols
    assert show(module.body) == "(Define(1),)"
    assert show(f.decorators) == "(Call(d, (1,)),)"
    assert show(f.parameters) == "(Parameter(a, normal, A, Call(g, ())), Parameter(b, star, B, None))"
    assert show(f.returns) == "R"
    numbered = [
        node.at for part in (f.decorators, f.parameters, f.returns) for node, _ in walk((part,)) if hasattr(node, "at")
    ]
    assert numbered == list(range(1, 1 + len(numbered)))
    assert (module.call_sites, f.call_sites) == (2, 1)
    assert f.body[0].at == 0


def test_parameter_kinds() -> None:
    f = symbol(facts("def f(a, /, b, *, c, **d): pass\n"), "f")
    assert [(item.name, item.kind) for item in f.parameters] == [
        ("a", "positional"),
        ("b", "normal"),
        ("c", "keyword"),
        ("d", "doublestar"),
    ]


def test_type_parameters() -> None:
    f = symbol(facts("def f[T: (int, str) = int, *Ts = *tuple[int], **P = [int]](): pass\n"), "f")
    assert show(f.type_parameters) == (
        "(TypeParameter(T, typevar, TupleExpr((int, str)), int), "
        "TypeParameter(Ts, typevartuple, None, Starred(Subscript(tuple, int))), "
        "TypeParameter(P, paramspec, None, ListExpr((int,))))"
    )


def test_spans() -> None:
    source = (
        '@d\n\n@e\nasync def f(  # c\n  a\n) -> R :\n    "doc"  # d\n    x = 1 ;\n    # end\n\ny = é = [\n1]; z = 2\n'
    )
    text = source.encode()
    read = facts(source)
    f, y = symbol(read, "f"), symbol(read, "y")
    assert text[slice(*f.span)] == text[: text.index(b"    # end") - 1]
    assert text[slice(*f.header)] == b"async def f(  # c\n  a\n) -> R :"
    assert f.docstring is not None
    assert text[slice(*f.docstring)] == b'"doc"'
    assert f.body_start == f.docstring.start
    assert text[slice(*y.span)] == text[slice(*y.header)] == "y = é = [\n1]".encode()
    assert text[slice(*symbol(read, "z").span)] == b"z = 2"
    module = read.symbols[0]
    assert module.span == Span(0, len(text))
    assert module.header == Span(0, 0)
    assert module.body_start == 0


def test_an_edit_above_a_function_leaves_its_facts_equal() -> None:
    source = "def f(a):\n    return g(a)(lambda: 1)\n"
    before = [item for item in facts(source).symbols if item.parent >= 0]
    after = [item for item in facts("import os\n\n\n" + source).symbols if item.parent >= 0]
    for old, new in zip(before, after, strict=True):
        assert (old.body, old.spans, old.parameters) == (new.body, new.spans, new.parameters)
        assert new.span.start == old.span.start + 12


def test_docstrings() -> None:
    def has(source: str) -> bool:
        return facts(source).symbols[-1].docstring is not None

    assert has("'a'\n")
    assert has("('a' \"b\")\n")
    assert has("class A:\n    r'''a'''\n")
    assert not has("f'a'\n")
    assert not has("b'a'\n")
    assert not has("'a'.b\n")
    assert not has("def f():\n    pass\n    'a'\n    return lambda: 'a'\n")


def test_empty_modules() -> None:
    for source in ("", "\n", "# comment", "pass\n"):
        module = facts(source).symbols[0]
        assert module.body == ()
        assert module.span == Span(0, len(source))
        assert module.body_start == 0


def test_generators_by_their_own_yields() -> None:
    read = facts(
        "def f():\n    def g(): yield\n    h = lambda: (yield)\n    return [x for x in y]\n"
        "def k(a=(lambda: 1)): yield from a\n"
    )
    assert [item.local_id for item in read.symbols if item.is_generator] == ["f.<locals>.g", "f.<locals>.<lambda>", "k"]


def test_strings_are_kept_when_short_and_storable() -> None:
    def value(literal: str) -> object:
        statement = facts(literal + "\n").symbols[0].body[0]
        assert isinstance(statement, ir.Evaluate)
        assert isinstance(statement.value, ir.Constant)
        return statement.value.value

    assert value("'" + "a" * 256 + "'") == "a" * 256
    assert value("'" + "a" * 257 + "'") is None
    assert value("'" + "a" * 200 + "' '" + "a" * 57 + "'") is None
    assert value(r"'\ud800'") is None
    assert value(r"'\U00110000\N{NO SUCH NAME}'") == r"\U00110000\N{NO SUCH NAME}"
    assert value("'''a\r\nb\rc'''") == "a\nb\nc"
    assert value("'a\\\r\nb'") == "ab"


def test_names_are_normalized() -> None:
    read = facts("ﬁ = 1\ndef ªb(ﬁx): ﬁx.ﬁy\nimport ﬁ.x\n")
    assert ids("ﬁ = 1\n") == ["fi"]
    assert symbol(read, "ab").bindings == ("fix",)
    assert show(symbol(read, "ab").body) == "(Evaluate(Attribute(fix, fiy)),)"
    assert "fi" in read.symbols[0].bindings


def test_a_cookie_is_not_obeyed_again() -> None:
    read = facts("# -*- coding: latin-1 -*-\nx = 'é'; f(x)\n")
    call = read.symbols[0].body[1]
    assert isinstance(call, ir.Evaluate)
    assert place(read.symbols[0], call.at) == (36, 40)
    assert show(read.symbols[0].body[0]) == "Assign((x,), 'é')"


def test_facts_survive_the_store() -> None:
    read = facts("class A(B):\n    x: int = 1\n    def f(self): return f'{self.x!r}'\n")
    again = decode_facts(encode_facts(read))
    assert again == read
    assert again.symbols[1].kind is SymbolKind.CLASS
