"""Reads the patterns of a `case` from tree-sitter, into the same IR as `libcst_patterns`.

In: the walk and a `case_clause`. Out: its pattern; captured names are bound in the current scope. `case A(b, c=-1):` is
`MatchClass(A, (MatchAs(b),), ("c",), (MatchValue(UnaryOp(-, 1)),))`.

In the grammar the sign of a number, `_` and the parts of an alternative are loose words in the node around them, so a
simple pattern is a list of nodes here.
"""

from __future__ import annotations

from collections.abc import Callable

from contextc.analyzer.reading.tree_cursor import Node, Walk, children
from contextc.model import ir

_SKIPPED = frozenset({"comment", "line_continuation"})


def read_case_pattern(w: Walk, clause: Node) -> ir.Pattern:
    """The pattern of a case: one, or a sequence without brackets."""
    patterns = [child for child in children(clause) if child.type == "case_pattern"]
    if not patterns:
        return ir.MatchAs(w.open(clause), None, None)
    commas = [child for child in clause.children if child.type == ","]
    if not commas:
        return _read(w, patterns[0])
    last = commas[-1] if commas[-1].start_byte > patterns[-1].start_byte else patterns[-1]
    at = w.open_between(patterns[0], last)
    return ir.MatchSequence(at, tuple([_read(w, pattern) for pattern in patterns]))


def _read(w: Walk, node: Node) -> ir.Pattern:
    if node.type in ("case_pattern", "_"):
        return _read_parts(w, node, _parts(node))
    read = _READERS.get(node.type)
    if read is None:
        return _read_value(w, [node])
    if not w.enter_level(node):
        return ir.MatchAs(w.open(node), None, None)
    result = read(w, node)
    w.leave_level()
    return result


def _parts(node: Node) -> list[Node]:
    return [child for child in node.children if child.type not in _SKIPPED]


def _read_parts(w: Walk, holder: Node, parts: list[Node]) -> ir.Pattern:
    """A simple pattern that lies loose in `holder`: one node, or a number and its sign."""
    if not parts or parts[0].type == "_" or parts[0].type == "ERROR":
        return ir.MatchAs(w.open(parts[0] if parts else holder), None, None)
    return _read(w, parts[0]) if len(parts) == 1 else _read_value(w, parts)


def _read_value(w: Walk, parts: list[Node]) -> ir.MatchValue:
    at = w.open_between(parts[0], parts[-1])
    return ir.MatchValue(at, _read_expression(w, parts))


def _read_expression(w: Walk, parts: list[Node]) -> ir.Expr:
    """A literal, a dotted name, a signed number, or a complex one."""
    first = parts[0]
    if len(parts) == 1 and first.type == "complex_pattern":
        return _read_expression(w, _parts(first))
    if len(parts) == 1:
        return w.expression(first)
    if len(parts) == 2 and first.type == "-":
        return ir.UnaryOp(w.open_between(first, parts[1]), "-", w.expression(parts[1]))
    at = w.open_between(first, parts[-1])
    left = _read_expression(w, parts[:-2])
    return ir.BinaryOp(at, parts[-2].type, left, w.expression(parts[-1]))


def _read_name(w: Walk, node: Node) -> ir.Pattern:
    """A name captures, a dotted one is a value."""
    if len(children(node)) > 1:
        return _read_value(w, [node])
    return ir.MatchAs(w.open(node), None, _capture(w, node))


def _capture(w: Walk, node: Node) -> str | None:
    name = w.name(node)
    if name == "_":
        return None
    w.builder.scope.bind(name)
    return name


def _read_sequence(w: Walk, node: Node) -> ir.Pattern:
    items = children(node)
    if node.type == "tuple_pattern" and len(items) == 1 and all(child.type != "," for child in node.children):
        return _read(w, items[0])
    return ir.MatchSequence(w.open(node), tuple([_read(w, item) for item in items]))


def _read_star(w: Walk, node: Node) -> ir.MatchStar:
    at = w.open(node)
    return ir.MatchStar(at, _capture(w, node.children[-1]))


def _read_as(w: Walk, node: Node) -> ir.MatchAs:
    at = w.open(node)
    parts = children(node)
    pattern = _read(w, parts[0])
    return ir.MatchAs(at, pattern, _capture(w, parts[-1]) if len(parts) > 1 else None)


def _read_union(w: Walk, node: Node) -> ir.MatchOr:
    at = w.open(node)
    return ir.MatchOr(at, tuple([_read_parts(w, node, parts) for parts in _split(_parts(node), "|")]))


def _split(nodes: list[Node], separator: str) -> list[list[Node]]:
    groups: list[list[Node]] = [[]]
    for node in nodes:
        if node.type == separator:
            groups.append([])
        else:
            groups[-1].append(node)
    return [group for group in groups if group]


def _read_mapping(w: Walk, node: Node) -> ir.MatchMapping:
    at = w.open(node)
    keys, patterns, rest = [], [], None
    for group in _split([child for child in _parts(node) if child.type not in ("{", "}")], ","):
        if group[0].type == "splat_pattern":
            rest = _capture(w, group[0].children[-1])
            continue
        sides = _split(group, ":")
        keys.append(_read_expression(w, sides[0]))
        value = sides[1] if len(sides) > 1 else []
        patterns.append(_read_parts(w, node, value))
    return ir.MatchMapping(at, tuple(keys), tuple(patterns), rest)


def _read_class(w: Walk, node: Node) -> ir.MatchClass:
    at = w.open(node)
    cls, *arguments = children(node)
    value = w.expression(cls)
    patterns: list[ir.Pattern] = []
    keywords: list[str] = []
    values: list[ir.Pattern] = []
    for argument in arguments:
        keyword = _keyword_of(argument)
        if keyword is None:
            patterns.append(_read(w, argument))
            continue
        name, _, *rest = _parts(keyword)
        keywords.append(w.name(name))
        bound = children(argument)[0]
        if bound == keyword:
            values.append(_read_parts(w, keyword, rest))
        else:  # `x=1 as y`: in the grammar the name is bound around the keyword
            inner = w.open_between(rest[0] if rest else keyword, bound)
            values.append(ir.MatchAs(inner, _read_parts(w, keyword, rest), _capture(w, children(bound)[-1])))
    return ir.MatchClass(at, value, tuple(patterns), tuple(keywords), tuple(values))


def _keyword_of(argument: Node) -> Node | None:
    """The `name=pattern` in a class pattern's argument, whether or not `as` follows."""
    node = argument
    while node.type in ("case_pattern", "as_pattern") and children(node):
        node = children(node)[0]
    return node if node.type == "keyword_pattern" else None


_READERS: dict[str, Callable[[Walk, Node], ir.Pattern]] = {
    "dotted_name": _read_name,
    "tuple_pattern": _read_sequence,
    "list_pattern": _read_sequence,
    "splat_pattern": _read_star,
    "as_pattern": _read_as,
    "union_pattern": _read_union,
    "dict_pattern": _read_mapping,
    "class_pattern": _read_class,
}
