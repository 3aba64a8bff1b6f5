"""Reads tree-sitter expressions into the same IR as `libcst_expressions`. `READERS` has a function for each node type.

In: the walk and a node. Out: its IR. Ordinals follow the order of the text, as in the libcst reader.
"""

from __future__ import annotations

from collections.abc import Callable

from contextc.analyzer.reading.limits import MAX_LINKS
from contextc.analyzer.reading.strings import decode_text, join_texts, read_literal
from contextc.analyzer.reading.tree_cursor import Node, Read, Walk, children
from contextc.model import ir

_KEYWORDS: dict[str, tuple[str, int | None]] = {
    "true": ("bool", 1),
    "false": ("bool", 0),
    "none": ("None", None),
    "ellipsis": ("ellipsis", None),
}
_COMPREHENSIONS = {
    "list_comprehension": "list",
    "set_comprehension": "set",
    "dictionary_comprehension": "dict",
    "generator_expression": "generator",
}
_LARGEST = 1 << 63
_PREFIXES = "bBfFrRtTuU"
_MISGROUPED = frozenset({"&", "^"})
_UNION = frozenset({"|"})


def read_identifier(w: Walk, node: Node) -> ir.Name:
    return ir.Name(w.open(node), w.name(node))


def read_dotted(w: Walk, node: Node) -> ir.Expr:
    """`a.b` where the grammar has a dotted name instead of attributes (patterns, decorators of old)."""
    parts = children(node)
    ats = [w.open_between(parts[0], part) for part in reversed(parts)]
    value: ir.Expr = ir.Name(ats[-1], w.name(parts[0]))
    for at, part in zip(reversed(ats[:-1]), parts[1:], strict=True):
        value = ir.Attribute(at, value, w.name(part))
    return value


def read_keyword(w: Walk, node: Node) -> ir.Constant:
    return ir.Constant(w.open(node), *_KEYWORDS[node.type])


def read_number(w: Walk, node: Node) -> ir.Constant:
    at = w.open(node)
    text = w.word(node).lower()
    if text.endswith("j"):
        return ir.Constant(at, "complex", None)
    if node.type == "float":
        return ir.Constant(at, "float", None)
    try:
        value = int(text, 0) if len(text) <= 100 else _LARGEST
    except ValueError:
        value = _LARGEST
    return ir.Constant(at, "int", value if value < _LARGEST else None)


def read_attribute(w: Walk, node: Node) -> ir.Attribute:
    at = w.open(node)
    value = w.required_link(node, "object")
    attr = node.child_by_field_name("attribute")
    return ir.Attribute(at, value, "" if attr is None else w.name(attr))


def read_call(w: Walk, node: Node) -> ir.Expr:
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return ir.Unread(w.open(node), "call")
    at = w.open(node)
    w.builder.scope.calls += 1
    return ir.Call(at, w.link(function), read_arguments(w, arguments))


def read_arguments(w: Walk, node: Node) -> tuple[ir.Argument, ...]:
    """An argument list, or the generator that stands for one."""
    if node.type == "generator_expression":
        return (ir.Argument("", None, w.expression(node)),)
    args = []
    for child in children(node):
        if child.type == "keyword_argument":
            name = child.child_by_field_name("name")
            keyword = None if name is None else w.name(name)
            args.append(ir.Argument("", keyword, w.required(child, "value")))
        elif child.type in ("list_splat", "dictionary_splat") and len(children(child)) == 1:
            star = "*" if child.type == "list_splat" else "**"
            args.append(ir.Argument(star, None, w.expression(children(child)[0])))
        elif w.is_starred(child):
            args.append(ir.Argument("*", None, w.unstarred(child)))
        elif child.type != "ERROR":
            args.append(ir.Argument("", None, w.expression(child)))
    return tuple(args)


def read_subscript(w: Walk, node: Node) -> ir.Subscript:
    at = w.open(node)
    value = w.required_link(node, "value")
    keys = node.children_by_field_name("subscript")
    if not keys:
        return ir.Subscript(at, value, ir.Unread(w.open(node), "subscript"))
    if len(keys) == 1 and node.children[-2].type != "," and keys[0].type != "list_splat":
        return ir.Subscript(at, value, w.expression(keys[0]))
    return ir.Subscript(at, value, ir.TupleExpr(w.open_items(node, keys), w.expressions_of(keys)))


def read_items(w: Walk, node: Node) -> ir.Expr:
    """The expressions of a statement: `a`, or `a, b` as a tuple."""
    parts = children(node)
    if not parts:
        return ir.Unread(w.open(node), node.type)
    if len(parts) == 1 and all(child.type != "," for child in node.children):
        return w.expression(parts[0])
    return ir.TupleExpr(w.open_items(node, parts), w.expressions_of(parts))


def read_slice(w: Walk, node: Node) -> ir.Slice:
    at = w.open(node)
    parts: list[ir.Expr | None] = [None, None, None]
    index = 0
    for child in node.children:
        if child.type == ":":
            index = min(index + 1, 2)
        elif child.is_named and child.type != "comment":
            parts[index] = w.expression(child)
    return ir.Slice(at, *parts)


def read_tuple(w: Walk, node: Node) -> ir.Expr:
    parts = children(node)
    if node.type == "tuple_pattern" and len(parts) == 1 and all(child.type != "," for child in node.children):
        return w.expression(parts[0])  # `for (x) in y`
    return ir.TupleExpr(w.open(node), w.expressions_of(children(node)))


def read_list(w: Walk, node: Node) -> ir.ListExpr:
    return ir.ListExpr(w.open(node), w.expressions_of(children(node)))


def read_set(w: Walk, node: Node) -> ir.SetExpr:
    return ir.SetExpr(w.open(node), w.expressions_of(children(node)))


def read_dict(w: Walk, node: Node) -> ir.DictExpr:
    at = w.open(node)
    items = []
    for child in children(node):
        if child.type == "pair":
            key = w.required(child, "key")
            items.append(ir.DictItem(key, w.required(child, "value")))
        elif child.type == "dictionary_splat":
            items.append(ir.DictItem(None, read_inner(w, child)))
    return ir.DictExpr(at, tuple(items))


def read_starred(w: Walk, node: Node) -> ir.Expr:
    if w.star is not None and w.start(node) == w.star[1]:
        return read_inner(w, node)
    at = w.open(node)
    return ir.Starred(at, read_inner(w, node))


def read_inner(w: Walk, node: Node) -> ir.Expr:
    """The one expression that a wrapping node holds; parentheses and `type` are such."""
    parts = children(node)
    return w.expression(parts[0]) if len(parts) == 1 else ir.Unread(w.open(node), node.type)


def read_comprehension(w: Walk, node: Node) -> ir.Comprehension:
    at = w.open(node)
    body = node.child_by_field_name("body")
    value = None
    if body is not None and body.type == "pair":
        element = w.required(body, "key")
        value = w.required(body, "value")
    else:
        element = w.required(node, "body")
    generators: list[ir.Generator] = []
    for child in children(node):
        if child.type == "for_in_clause":
            clause = w.open(child)
            is_async = child.children[0].type == "async"
            target = w.required(child, "left")
            generators.append(ir.Generator(clause, target, _read_right(w, child), (), is_async))
        elif child.type == "if_clause" and generators:
            conditions = (*generators[-1].conditions, read_inner(w, child))
            generators[-1] = generators[-1]._replace(conditions=conditions)
            w.builder.scope.close(2 * generators[-1].at, w.end(child))
    return ir.Comprehension(at, _COMPREHENSIONS[node.type], element, value, tuple(generators))


def _read_right(w: Walk, node: Node) -> ir.Expr:
    nodes = node.children_by_field_name("right")
    parts = [part for part in nodes if part.is_named]
    if not parts:
        return ir.Unread(w.open(node), "missing right")
    if len(nodes) == 1:
        return w.expression(parts[0])
    return ir.TupleExpr(w.open_between(parts[0], nodes[-1]), w.expressions_of(parts))


def read_operator(w: Walk, node: Node) -> ir.Expr:
    operator = node.child_by_field_name("operator")
    op = "" if operator is None else w.word(operator)
    if op in _MISGROUPED:
        operands = _flatten(node, _MISGROUPED)
        if len(operands) <= MAX_LINKS and any(operand[1] != op for operand in operands[1:]):
            return _read_grouped(w, operands)
    at = w.open(node)
    left = w.required_link(node, "left")
    return ir.BinaryOp(at, op, left, w.required(node, "right"))


def _flatten(node: Node, ops: frozenset[str]) -> list[tuple[Node, str]]:
    """The operands of a tree of these operators from left to right, each with the operator before it."""
    operands: list[tuple[Node, str]] = []
    pending = [(node, "")]
    while pending:
        item, before = pending.pop()
        while item.type == "type" and len(children(item)) == 1:
            item = children(item)[0]
        parts = children(item)
        operator = item.child_by_field_name("operator") if item.type == "binary_operator" else None
        op = "|" if item.type == "union_type" else "" if operator is None else operator.type
        if op in ops and len(parts) == 2:
            pending += [(parts[1], op), (parts[0], before)]
        else:
            operands.append((item, before))
    return operands


def _read_grouped(w: Walk, operands: list[tuple[Node, str]]) -> ir.Expr:
    """`&` binds tighter than `^`; in the grammar it is the other way round."""
    groups: list[list[Node]] = []
    for operand, before in operands:
        if before == "&":
            groups[-1].append(operand)
        else:
            groups.append([operand])
    return _read_chain(w, "^", groups, lambda group: _read_chain(w, "&", [[item] for item in group], None))


def _read_chain(w: Walk, op: str, groups: list[list[Node]], read: Callable[[list[Node]], ir.Expr] | None) -> ir.Expr:
    """One operator between groups of operands, grouped to the left."""
    first = groups[0][0]
    ats = [w.open_between(first, group[-1]) for group in reversed(groups[1:])]
    value: ir.Expr | None = None
    for group in groups:
        item = w.expression(group[0]) if read is None else read(group)
        value = item if value is None else ir.BinaryOp(ats.pop(), op, value, item)
    assert value is not None
    return value


def read_boolean(w: Walk, node: Node) -> ir.BoolOp:
    at = w.open(node)
    operator = node.child_by_field_name("operator")
    op = "and" if operator is None else operator.type
    rights = []
    left = node
    while left is not None and left.type == "boolean_operator" and left.child_by_field_name("operator").type == op:
        rights.append(left.child_by_field_name("right"))
        left = left.child_by_field_name("left")
    values = [part for part in (left, *reversed(rights)) if part is not None]
    return ir.BoolOp(at, op, w.expressions_of(values))


def read_unary(w: Walk, node: Node) -> ir.UnaryOp:
    at = w.open(node)
    op = "not" if node.type == "not_operator" else node.children[0].type
    return ir.UnaryOp(at, op, w.required(node, "argument"))


def read_comparison(w: Walk, node: Node) -> ir.Expr:
    at = w.open(node)
    ops = [w.word(operator) for operator in node.children_by_field_name("operators")]
    operands = w.expressions_of(children(node))
    if len(operands) != len(ops) + 1:
        return ir.Unread(at, "comparison_operator")
    ops = [" ".join(op.split()).replace("<>", "!=") for op in ops]
    return ir.Compare(at, operands[0], tuple(ops), operands[1:])


def read_conditional(w: Walk, node: Node) -> ir.Expr:
    at = w.open(node)
    parts = children(node)
    if len(parts) != 3:
        return ir.Unread(at, "conditional_expression")
    body, test = w.expression(parts[0]), w.expression(parts[1])
    return ir.Conditional(at, test, body, w.link(parts[2]))


def read_await(w: Walk, node: Node) -> ir.Await:
    at = w.open(node)
    return ir.Await(at, read_inner(w, node))


def read_yield(w: Walk, node: Node) -> ir.Expr:
    at = w.open(node)
    w.builder.scope.is_generator = True
    parts = children(node)
    if any(child.type == "from" for child in node.children):
        return ir.YieldFrom(at, read_inner(w, node))
    return ir.Yield(at, w.expression(parts[0]) if parts else None)


def read_named(w: Walk, node: Node) -> ir.NamedExpr:
    at = w.open(node)
    name = node.child_by_field_name("name")
    target = "" if name is None else w.name(name)
    if target:
        w.builder.scope.bind(target)
    return ir.NamedExpr(at, target, w.required(node, "value"))


def read_string(w: Walk, node: Node) -> ir.Expr:
    if not _is_formatted(node):
        return ir.Constant(w.open(node), *read_literal(w.word(node)))
    return ir.FString(w.open(node), _read_parts(w, node))


def read_concatenated(w: Walk, node: Node) -> ir.Expr:
    at = w.open(node)
    pieces = children(node)
    if not any(_is_formatted(piece) for piece in pieces):
        literals = [read_literal(w.word(piece)) for piece in pieces]
        return ir.Constant(at, literals[-1][0], join_texts([value for _, value in literals]))
    parts: list[ir.Expr] = []
    for piece in pieces:
        parts.extend(_read_parts(w, piece) if _is_formatted(piece) else (read_string(w, piece),))
    return ir.FString(at, tuple(parts))


def _is_formatted(node: Node) -> bool:
    start = node.children[0] if node.children else None
    return start is not None and start.type == "string_start" and any(c in b"fFtT" for c in start.text)


def _read_parts(w: Walk, node: Node) -> tuple[ir.Expr, ...]:
    parts: list[ir.Expr] = []
    raw = "r" in w.word(node.children[0]).lower()
    for child in children(node):
        if child.type == "string_content":
            text = w.word(child).replace("{{", "{").replace("}}", "}")
            parts.append(ir.Constant(w.open(child), "str", decode_text(text, raw)))
        elif child.type in ("interpolation", "format_expression"):
            parts.extend(_read_field(w, child))
    width = len(w.word(node.children[0]).lstrip(_PREFIXES))
    end = node.children[-1]
    if end.end_byte - end.start_byte > width:  # of a raw string, the grammar counts `\\'` before its end to that
        slot = w.builder.scope.open(w.start(end))
        w.builder.scope.close(slot, w.base + end.end_byte - width)
        parts.append(ir.Constant(slot >> 1, "str", decode_text(w.word(end)[:-width], raw)))
    return tuple(parts)


def _read_field(w: Walk, node: Node) -> list[ir.Expr]:
    tokens = [child.type for child in node.children]
    labelled = "=" in tokens[:-1]
    parts: list[ir.Expr] = []
    if labelled:
        first, stop = w.start(node) + 1, w.start(node.children[tokens.index("=") + 1])
        slot = w.builder.scope.open(first)
        w.builder.scope.close(slot, stop)
        label = w.text[first:stop].decode("utf-8", "replace")
        parts.append(ir.Constant(slot >> 1, "str", decode_text(label, True)))
    at = w.open(node)
    value = w.required(node, "expression")
    conversion_node = node.child_by_field_name("type_conversion")
    conversion = "" if conversion_node is None else w.word(conversion_node).lstrip("!").strip()
    spec_node = node.child_by_field_name("format_specifier")
    spec = None
    if spec_node is not None:
        spec = _read_spec(w, spec_node)
    if labelled and not conversion and spec is None:
        conversion = "r"
    parts.append(ir.Formatted(at, value, conversion, spec))
    return parts


def _read_spec(w: Walk, node: Node) -> ir.FString:
    """The format after the `:`; the tree has no nodes for its plain text."""
    scope = w.builder.scope
    place = w.start(node) + 1
    slot = scope.open(place)
    parts: list[ir.Expr] = []
    if not w.enter_level(node):
        return ir.FString(slot >> 1, ())
    for child in [*(child for child in children(node) if child.type == "format_expression"), None]:
        stop = w.end(node) if child is None else w.start(child)
        if stop > place:
            text = scope.open(place)
            scope.close(text, stop)
            parts.append(
                ir.Constant(text >> 1, "str", decode_text(w.text[place:stop].decode("utf-8", "replace"), True))
            )
        if child is not None:
            parts.extend(_read_field(w, child))
            place = w.end(child)
    w.leave_level()
    scope.close(slot, w.end(node))
    return ir.FString(slot >> 1, tuple(parts))


def read_generic(w: Walk, node: Node) -> ir.Expr:
    """`list[int]` where a type is expected: a subscript like any other."""
    parts = children(node)
    if len(parts) != 2 or not children(parts[1]):
        return ir.Unread(w.open(node), node.type)
    at = w.open(node)
    value = w.expression(parts[0])
    keys = children(parts[1])
    if len(keys) == 1 and w.text.startswith(b"*", w.start(keys[0])):
        return ir.Subscript(at, value, ir.TupleExpr(w.open_items(parts[1], keys), w.expressions_of(keys)))
    return ir.Subscript(at, value, read_items(w, parts[1]))


def read_union(w: Walk, node: Node) -> ir.Expr:
    """`list[int] | str | None` where a type is expected. The grammar groups to the right, Python to the left."""
    operands = [operand for operand, _ in _flatten(node, _UNION)]
    if not 2 <= len(operands) <= MAX_LINKS:
        return ir.Unread(w.open(node), node.type)
    return _read_chain(w, "|", [[operand] for operand in operands], None)


READERS: dict[str, Read] = {
    "identifier": read_identifier,
    "keyword_identifier": read_identifier,
    "dotted_name": read_dotted,
    **dict.fromkeys(_KEYWORDS, read_keyword),
    "integer": read_number,
    "float": read_number,
    "attribute": read_attribute,
    "call": read_call,
    "subscript": read_subscript,
    "slice": read_slice,
    "tuple": read_tuple,
    "tuple_pattern": read_tuple,
    "expression_list": read_tuple,
    "pattern_list": read_tuple,
    "list": read_list,
    "list_pattern": read_list,
    "set": read_set,
    "dictionary": read_dict,
    "list_splat": read_starred,
    "list_splat_pattern": read_starred,
    "parenthesized_list_splat": read_inner,
    "parenthesized_expression": read_inner,
    "type": read_inner,
    "generic_type": read_generic,
    "union_type": read_union,
    "splat_type": read_starred,
    "as_pattern_target": read_inner,
    **dict.fromkeys(_COMPREHENSIONS, read_comprehension),
    "binary_operator": read_operator,
    "boolean_operator": read_boolean,
    "not_operator": read_unary,
    "unary_operator": read_unary,
    "comparison_operator": read_comparison,
    "conditional_expression": read_conditional,
    "await": read_await,
    "yield": read_yield,
    "named_expression": read_named,
    "string": read_string,
    "concatenated_string": read_concatenated,
}
