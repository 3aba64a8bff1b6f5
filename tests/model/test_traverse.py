"""The IR walk: complete for every node class, iterative, and each node once under the scope it is numbered in."""

from __future__ import annotations

import typing
from collections import Counter
from typing import Any

import pytest

from contextc.model import ir
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.span import Span
from contextc.model.traverse import enclosing_scope, iter_module, iter_nodes, iter_scope

NODE_CLASSES = [
    item
    for item in vars(ir).values()
    if isinstance(item, type) and issubclass(item, tuple) and item.__module__ == ir.__name__
]
EXPRESSIONS = typing.get_args(ir.Expr)
PATTERNS = typing.get_args(ir.Pattern)
STATEMENTS = typing.get_args(ir.Stmt)


def sample(annotation: Any, planted: list[Any]) -> Any:
    """A value for a field of that type, holding fresh nodes, which are noted in `planted`."""
    if typing.get_origin(annotation) is tuple:
        item = typing.get_args(annotation)[0]
        return (sample(item, planted), sample(item, planted))
    options = typing.get_args(annotation) or (annotation,)
    if any(option in EXPRESSIONS for option in options):
        return plant(ir.Name(len(planted), "x"), planted)
    if any(option in PATTERNS for option in options):
        return plant(ir.MatchAs(len(planted), None, "x"), planted)
    if any(option in STATEMENTS for option in options):
        return plant(ir.Jump(len(planted), "break"), planted)
    if options[0] in NODE_CLASSES:
        return plant(build(options[0], planted), planted)
    return {str: "x", int: 0, bool: False}[options[0]]


def plant(node: Any, planted: list[Any]) -> Any:
    planted.append(node)
    return node


def build(cls: type[Any], planted: list[Any]) -> Any:
    hints = typing.get_type_hints(cls, vars(ir))
    return cls(*(sample(hints[field], planted) for field in cls._fields))


@pytest.mark.parametrize("cls", NODE_CLASSES, ids=lambda cls: cls.__name__)
def test_every_child_of_every_node_class_is_visited(cls: type[Any]) -> None:
    planted: list[Any] = []
    node = build(cls, planted)
    walked = list(iter_nodes(node))
    assert walked[0] is node
    assert Counter(map(id, walked)) == Counter(map(id, [node, *planted]))


def test_preorder() -> None:
    call = ir.Call(0, ir.Attribute(1, ir.Name(2, "a"), "b"), (ir.Argument("", None, ir.Constant(3, "int", 1)),))
    assert [node.at for node in iter_nodes(call, None, (ir.Name(4, "z"),)) if hasattr(node, "at")] == [0, 1, 2, 3, 4]


def test_depth_needs_no_recursion() -> None:
    deep: Any = ir.Name(0, "x")
    for number in range(20_000):
        deep = ir.UnaryOp(number + 1, "-", deep)
    assert sum(1 for _ in iter_nodes(deep)) == 20_001


def scope(kind: SymbolKind, name: str, parent: int, body: tuple[Any, ...], **parts: Any) -> SymbolFacts:
    empty = SymbolFacts(
        kind, name, name, name, parent, Span(0, 0), Span(0, 0), None, 0, False, False,
        (), (), (), None, (), (), (), (), body, (), 0,
    )  # fmt: skip
    return empty._replace(**parts)


def called(name: str) -> ir.Call:
    return ir.Call(0, ir.Name(0, name), ())


def example() -> ModuleFacts:
    """`@deco() class C(base()): def m(self, x=default(lambda y=inner(): body())) -> ret(): run()`, and a variable."""
    method = scope(
        SymbolKind.METHOD, "m", 1, (ir.Evaluate(0, called("run")),),
        parameters=(ir.Parameter("x", "normal", None, ir.Call(0, ir.Name(0, "default"), (
            ir.Argument("", None, ir.Lambda(0, 3)),))),),
        returns=called("ret"),
    )  # fmt: skip
    inner = scope(
        SymbolKind.LAMBDA, "<lambda>", 1, (ir.Return(0, called("body")),),
        parameters=(ir.Parameter("y", "normal", None, called("inner")),),
    )  # fmt: skip
    cls = scope(
        SymbolKind.CLASS, "C", 0, (ir.Define(0, 2),),
        decorators=(called("deco"),), bases=(ir.Argument("", None, called("base")),),
    )  # fmt: skip
    variable = scope(SymbolKind.VARIABLE, "v", 0, ())
    module = scope(SymbolKind.MODULE, "<module>", -1, (ir.Define(0, 1),))
    return ModuleFacts((module, cls, method, inner, variable), False, (), "libcst")


def names(nodes: typing.Iterable[Any]) -> list[str]:
    return [node.func.id for node in nodes if isinstance(node, ir.Call)]


def test_outer_parts_belong_to_the_scope_around() -> None:
    facts = example()
    assert names(iter_scope(facts, 0)) == ["deco", "base"]
    assert names(iter_scope(facts, 1)) == ["default", "inner", "ret"]
    assert names(iter_scope(facts, 2)) == ["run"]
    assert names(iter_scope(facts, 3)) == ["body"]


def test_a_module_is_walked_once() -> None:
    facts = example()
    found = sorted((index, node.func.id) for index, node in iter_module(facts) if isinstance(node, ir.Call))
    assert found == [
        (0, "base"), (0, "deco"), (1, "default"), (1, "inner"), (1, "ret"), (2, "run"), (3, "body"),
    ]  # fmt: skip
    by_scope = [id(node) for index in range(4) for node in iter_scope(facts, index)]
    assert sorted(by_scope) == sorted(id(node) for _, node in iter_module(facts))


def test_a_partial_files_headers_are_seen_without_a_define() -> None:
    facts = example()
    bare = facts._replace(symbols=(facts.symbols[0]._replace(body=()), *facts.symbols[1:]), partial=True)
    assert "deco" in names(node for _, node in iter_module(bare))


def test_variables_are_no_scopes() -> None:
    facts = example()
    inside = scope(SymbolKind.LAMBDA, "<lambda>", 4, ())
    more = facts._replace(symbols=(*facts.symbols, inside))
    assert enclosing_scope(more, 5) == 0
    assert enclosing_scope(more, 2) == 1
    assert enclosing_scope(more, 0) == 0
