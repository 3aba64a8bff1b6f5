"""Reads libcst expressions. `READERS` has one function for each kind of node; strings are in `libcst_strings.py`.

In: the walk, a node, where it starts. Out: its IR. `f(1)` gives `Call(0, Name(1, "f"), (Argument("", None,
Constant(2, "int", 1)),))`. Each function takes its node's tokens in source order and closes its span last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from contextc.analyzer.reading.builder import normalize
from contextc.analyzer.reading.libcst_cursor import Read, Walk
from contextc.model import ir

_KEYWORD_VALUES: dict[str, tuple[str, int | None]] = {"True": ("bool", 1), "False": ("bool", 0), "None": ("None", None)}
_LARGEST = 1 << 63

_UNARY: dict[type[cst.CSTNode], str] = {cst.Plus: "+", cst.Minus: "-", cst.BitInvert: "~", cst.Not: "not"}
_BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.MatrixMultiply: "@", cst.Power: "**", cst.LeftShift: "<<", cst.RightShift: ">>", cst.BitAnd: "&",
    cst.BitOr: "|", cst.BitXor: "^",
}  # fmt: skip
_COMPARE: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Equal: ("==",), cst.NotEqual: ("!=",), cst.LessThan: ("<",), cst.LessThanEqual: ("<=",),
    cst.GreaterThan: (">",), cst.GreaterThanEqual: (">=",), cst.Is: ("is",), cst.IsNot: ("is", "not"),
    cst.In: ("in",), cst.NotIn: ("not", "in"),
}  # fmt: skip


def read_name(w: Walk, node: cst.Name, start: int) -> ir.Expr:
    value = node.value
    w.take(value)
    spans = w.spans
    at = len(spans) >> 1
    spans.append(start)
    spans.append(w.pos)
    constant = _KEYWORD_VALUES.get(value)
    if constant is not None:
        return ir.Constant(at, *constant)
    return ir.Name(at, value if value.isascii() else normalize(value))


def read_number(w: Walk, node: cst.Integer | cst.Float | cst.Imaginary, start: int) -> ir.Constant:
    slot = w.open(start)
    w.take(node.value)
    w.spans[slot + 1] = w.pos
    if type(node) is cst.Integer:
        return ir.Constant(slot >> 1, "int", int_value(node.value))
    return ir.Constant(slot >> 1, "float" if type(node) is cst.Float else "complex", None)


def int_value(text: str) -> int | None:
    """The value of an integer literal, None past 63 bits."""
    if len(text) > 100:
        return None
    try:
        value = int(text, 0)
    except ValueError:
        return None
    return value if value < _LARGEST else None


def read_ellipsis(w: Walk, node: cst.Ellipsis, start: int) -> ir.Constant:
    slot = w.open(start)
    w.take("...")
    w.spans[slot + 1] = w.pos
    return ir.Constant(slot >> 1, "ellipsis", None)


def read_attribute(w: Walk, node: cst.Attribute, start: int) -> ir.Attribute:
    slot = w.open(start)
    value = w.link(node.value)
    w.take(".")
    attr = node.attr.value
    w.take(attr)
    w.spans[slot + 1] = w.pos
    return ir.Attribute(slot >> 1, value, attr if attr.isascii() else normalize(attr))


def read_call(w: Walk, node: cst.Call, start: int) -> ir.Call:
    slot = w.open(start)
    w.builder.scope.calls += 1
    func = w.link(node.func)
    paren = w.take("(")
    args = read_arguments(w, node.args)
    w.take(")")
    w.spans[slot + 1] = w.pos
    if len(args) == 1 and type(node.args[0].value) is cst.GeneratorExp and not node.args[0].value.lpar:
        inner = args[0].value.at  # `f(x for x in y)`: the call's parentheses are the generator's too
        w.spans[2 * inner : 2 * inner + 2] = (paren, w.pos)
    return ir.Call(slot >> 1, func, args)


def read_arguments(w: Walk, nodes: Sequence[cst.Arg]) -> tuple[ir.Argument, ...]:
    """The arguments of a call or a class statement, without the parentheses."""
    if not nodes:
        return ()
    w.enter_level(2)
    args = []
    for node in nodes:
        if node.star:
            w.take(node.star)
        keyword = None
        if node.keyword is not None:
            keyword = node.keyword.value
            w.take(keyword)
            w.take("=")
            keyword = normalize(keyword)
        args.append(ir.Argument(node.star, keyword, w.expression(node.value)))
        w.pass_comma()
    w.levels -= 2
    return tuple(args)


def read_subscript(w: Walk, node: cst.Subscript, start: int) -> ir.Subscript:
    slot = w.open(start)
    value = w.link(node.value)
    w.take("[")
    key = _read_key(w, node.slice)
    w.take("]")
    w.spans[slot + 1] = w.pos
    return ir.Subscript(slot >> 1, value, key)


def _read_key(w: Walk, elements: Sequence[cst.SubscriptElement]) -> ir.Expr:
    first = elements[0]
    single = len(elements) == 1 and first.comma is cst.MaybeSentinel.DEFAULT
    if single and not (type(first.slice) is cst.Index and first.slice.star):
        return _read_slice(w, first.slice)
    slot = w.open(w.skip())
    w.enter_level(1)
    items = []
    for element in elements:
        items.append(_read_slice(w, element.slice))
        if element.comma is not cst.MaybeSentinel.DEFAULT:
            w.take(",")
    w.levels -= 1
    w.spans[slot + 1] = w.pos
    return ir.TupleExpr(slot >> 1, tuple(items))


def _read_slice(w: Walk, node: cst.BaseSlice) -> ir.Expr:
    if type(node) is cst.Index:
        if not node.star:
            return w.expression(node.value)
        slot = w.open(w.take("*"))
        starred = ir.Starred(slot >> 1, w.expression(node.value))
        w.spans[slot + 1] = w.pos
        return starred
    assert type(node) is cst.Slice
    slot = w.open(w.skip())
    lower = w.optional(node.lower)
    w.take(":")
    upper = w.optional(node.upper)
    if node.step is not None or node.second_colon is not cst.MaybeSentinel.DEFAULT:
        w.take(":")
    step = w.optional(node.step)
    w.spans[slot + 1] = w.pos
    return ir.Slice(slot >> 1, lower, upper, step)


def read_tuple(w: Walk, node: cst.Tuple, start: int) -> ir.TupleExpr:
    slot = w.open(start)
    if node.lpar:
        w.take("(")
    w.enter_level(1)
    items = []
    for element in node.elements:
        items.append(w.element(element))
        if element.comma is not cst.MaybeSentinel.DEFAULT:
            w.take(",")
    w.levels -= 1
    if node.lpar:
        w.take(")")
    w.spans[slot + 1] = w.pos
    return ir.TupleExpr(slot >> 1, tuple(items))


def read_list(w: Walk, node: cst.List, start: int) -> ir.ListExpr:
    slot = w.open(start)
    w.take("[")
    items = w.expressions_of(node.elements)
    w.take("]")
    w.spans[slot + 1] = w.pos
    return ir.ListExpr(slot >> 1, items)


def read_set(w: Walk, node: cst.Set, start: int) -> ir.SetExpr:
    slot = w.open(start)
    w.take("{")
    items = w.expressions_of(node.elements)
    w.take("}")
    w.spans[slot + 1] = w.pos
    return ir.SetExpr(slot >> 1, items)


def read_dict(w: Walk, node: cst.Dict, start: int) -> ir.DictExpr:
    slot = w.open(start)
    w.take("{")
    w.enter_level(2)
    items = []
    for element in node.elements:
        if type(element) is cst.DictElement:
            key = w.expression(element.key)
            w.take(":")
            items.append(ir.DictItem(key, w.expression(element.value)))
        else:
            w.take("**")
            items.append(ir.DictItem(None, w.expression(element.value)))
        w.pass_comma()
    w.levels -= 2
    w.take("}")
    w.spans[slot + 1] = w.pos
    return ir.DictExpr(slot >> 1, tuple(items))


def read_starred(w: Walk, node: cst.StarredElement, start: int) -> ir.Starred:
    slot = w.open(start)
    w.take("*")
    value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    return ir.Starred(slot >> 1, value)


def read_comprehension(w: Walk, node: Any, start: int) -> ir.Comprehension:
    """List, set, dict and generator; `{**d for d in ds}` has a Starred element."""
    slot = w.open(start)
    kind, opening, closing = _COMPREHENSIONS[type(node)]
    enclosed = kind != "generator" or node.lpar
    if enclosed:
        w.take(opening)
    w.enter_level(2)
    value = None
    if type(node) is cst.DictComp:
        element = w.expression(node.key)
        w.take(":")
        value = w.expression(node.value)
    elif type(node) is cst.StarredDictComp:
        inner = w.open(w.take("**"))
        element = ir.Starred(inner >> 1, w.expression(node.value))
        w.spans[inner + 1] = w.pos
    else:
        element = w.expression(node.elt)
    generators = _read_generators(w, node.for_in)
    w.levels -= 2
    if enclosed:
        w.take(closing)
    w.spans[slot + 1] = w.pos
    return ir.Comprehension(slot >> 1, kind, element, value, generators)


def _read_generators(w: Walk, first: cst.CompFor) -> tuple[ir.Generator, ...]:
    generators = []
    clause: cst.CompFor | None = first
    while clause is not None:
        slot = w.open(w.skip())
        if clause.asynchronous is not None:
            w.take("async")
        w.take("for")
        target = w.expression(clause.target)
        w.take("in")
        source = w.expression(clause.iter)
        conditions = []
        for condition in clause.ifs:
            w.take("if")
            conditions.append(w.expression(condition.test))
        w.spans[slot + 1] = w.pos
        is_async = clause.asynchronous is not None
        generators.append(ir.Generator(slot >> 1, target, source, tuple(conditions), is_async))
        clause = clause.inner_for_in
    return tuple(generators)


def read_unary(w: Walk, node: cst.UnaryOperation, start: int) -> ir.UnaryOp:
    slot = w.open(start)
    op = _UNARY[type(node.operator)]
    w.take(op)
    operand = w.expression(node.expression)
    w.spans[slot + 1] = w.pos
    return ir.UnaryOp(slot >> 1, op, operand)


def read_binary(w: Walk, node: cst.BinaryOperation, start: int) -> ir.BinaryOp:
    slot = w.open(start)
    op = _BINARY[type(node.operator)]
    left = w.link(node.left)
    w.take(op)
    right = w.expression(node.right)
    w.spans[slot + 1] = w.pos
    return ir.BinaryOp(slot >> 1, op, left, right)


def read_boolean(w: Walk, node: cst.BooleanOperation, start: int) -> ir.BoolOp:
    """`a and b and c` nests to the left in libcst and is flat in the IR; parentheses keep their own node."""
    slot = w.open(start)
    operator = type(node.operator)
    op = "and" if operator is cst.And else "or"
    rights = [node.right]
    left = node.left
    while type(left) is cst.BooleanOperation and type(left.operator) is operator and not left.lpar:
        rights.append(left.right)
        left = left.left
    values = [w.expression(left)]
    w.enter_level(1)
    for right in reversed(rights):
        w.take(op)
        values.append(w.expression(right))
    w.levels -= 1
    w.spans[slot + 1] = w.pos
    return ir.BoolOp(slot >> 1, op, tuple(values))


def read_comparison(w: Walk, node: cst.Comparison, start: int) -> ir.Compare:
    slot = w.open(start)
    left = w.expression(node.left)
    w.enter_level(1)
    ops = []
    comparators = []
    for target in node.comparisons:
        operator = target.operator
        tokens = (operator.value,) if type(operator) is cst.NotEqual else _COMPARE[type(operator)]
        for token in tokens:
            w.take(token)
        ops.append(" ".join(_COMPARE[type(operator)]))
        comparators.append(w.expression(target.comparator))
    w.levels -= 1
    w.spans[slot + 1] = w.pos
    return ir.Compare(slot >> 1, left, tuple(ops), tuple(comparators))


def read_conditional(w: Walk, node: cst.IfExp, start: int) -> ir.Conditional:
    slot = w.open(start)
    body = w.expression(node.body)
    w.take("if")
    test = w.expression(node.test)
    w.take("else")
    orelse = w.link(node.orelse)
    w.spans[slot + 1] = w.pos
    return ir.Conditional(slot >> 1, test, body, orelse)


def read_await(w: Walk, node: cst.Await, start: int) -> ir.Await:
    slot = w.open(start)
    w.take("await")
    value = w.expression(node.expression)
    w.spans[slot + 1] = w.pos
    return ir.Await(slot >> 1, value)


def read_yield(w: Walk, node: cst.Yield, start: int) -> ir.Expr:
    slot = w.open(start)
    w.builder.scope.is_generator = True
    w.take("yield")
    value = node.value
    result: ir.Expr
    if type(value) is cst.From:
        w.take("from")
        result = ir.YieldFrom(slot >> 1, w.expression(value.item))
    else:
        assert value is None or isinstance(value, cst.BaseExpression)
        result = ir.Yield(slot >> 1, w.optional(value))
    w.spans[slot + 1] = w.pos
    return result


def read_named(w: Walk, node: cst.NamedExpr, start: int) -> ir.Expr:
    slot = w.open(start)
    assert type(node.target) is cst.Name
    target = normalize(node.target.value)
    w.take(node.target.value)
    w.builder.scope.bind(target)
    w.take(":=")
    value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    return ir.NamedExpr(slot >> 1, target, value)


_COMPREHENSIONS: dict[type[cst.CSTNode], tuple[str, str, str]] = {
    cst.ListComp: ("list", "[", "]"),
    cst.SetComp: ("set", "{", "}"),
    cst.DictComp: ("dict", "{", "}"),
    cst.StarredDictComp: ("dict", "{", "}"),
    cst.GeneratorExp: ("generator", "(", ")"),
}

READERS: dict[type[cst.CSTNode], Read] = {
    cst.Name: read_name,
    cst.Integer: read_number,
    cst.Float: read_number,
    cst.Imaginary: read_number,
    cst.Ellipsis: read_ellipsis,
    cst.Attribute: read_attribute,
    cst.Call: read_call,
    cst.Subscript: read_subscript,
    cst.Tuple: read_tuple,
    cst.List: read_list,
    cst.Set: read_set,
    cst.Dict: read_dict,
    cst.StarredElement: read_starred,
    **dict.fromkeys(_COMPREHENSIONS, read_comprehension),
    cst.UnaryOperation: read_unary,
    cst.BinaryOperation: read_binary,
    cst.BooleanOperation: read_boolean,
    cst.Comparison: read_comparison,
    cst.IfExp: read_conditional,
    cst.Await: read_await,
    cst.Yield: read_yield,
    cst.NamedExpr: read_named,
}
