"""Reads the patterns of a `case`. Captured names are bound in the current scope.

`case [Point(x=0), *rest]` is `MatchSequence(0, (MatchClass(1, Name(2, "Point"), (), ("x",), (MatchValue(3,
Constant(4, "int", 0)),)), MatchStar(5, "rest")))`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from contextc.analyzer.reading.builder import normalize
from contextc.analyzer.reading.libcst_cursor import Read, Walk
from contextc.model import ir


def read_value(w: Walk, node: cst.MatchValue | cst.MatchSingleton, start: int) -> ir.MatchValue:
    slot = w.open(start)
    value = w.expression(node.value)
    at = slot >> 1
    w.spans[slot : slot + 2] = w.spans[slot + 2 : slot + 4]  # as in `ast`, parentheses are left out
    return ir.MatchValue(at, value)


def read_tuple(w: Walk, node: cst.MatchTuple, start: int) -> ir.MatchSequence:
    return _read_sequence(w, node.patterns, start, "(" if node.lpar else "", ")")


def read_list(w: Walk, node: cst.MatchList, start: int) -> ir.MatchSequence:
    return _read_sequence(w, node.patterns, start, "[" if node.lbracket else "", "]")


def _read_sequence(w: Walk, nodes: Sequence[Any], start: int, opening: str, closing: str) -> ir.MatchSequence:
    slot = w.open(start)
    if opening:
        w.take(opening)
    patterns = _read_elements(w, nodes)
    if opening:
        w.take(closing)
    w.spans[slot + 1] = w.pos
    return ir.MatchSequence(slot >> 1, patterns)


def _read_elements(w: Walk, nodes: Sequence[Any]) -> tuple[ir.Pattern, ...]:
    w.enter_level(1)
    patterns: list[ir.Pattern] = []
    for node in nodes:
        patterns.append(_read_star(w, node) if type(node) is cst.MatchStar else w.pattern(node.value))
        if node.comma is not cst.MaybeSentinel.DEFAULT:
            w.take(",")
    w.levels -= 1
    return tuple(patterns)


def _read_star(w: Walk, node: cst.MatchStar) -> ir.MatchStar:
    slot = w.open(w.take("*"))
    name = _capture(w, node.name)
    w.spans[slot + 1] = w.pos
    return ir.MatchStar(slot >> 1, name)


def _capture(w: Walk, node: cst.Name | None) -> str | None:
    """Takes a captured name, or `_` for none, and binds it."""
    if node is None:
        w.take("_")
        return None
    w.take(node.value)
    name = normalize(node.value)
    w.builder.scope.bind(name)
    return name


def read_mapping(w: Walk, node: cst.MatchMapping, start: int) -> ir.MatchMapping:
    slot = w.open(start)
    w.take("{")
    w.enter_level(1)
    keys = []
    patterns = []
    for element in node.elements:
        keys.append(w.expression(element.key))
        w.take(":")
        patterns.append(w.pattern(element.pattern))
        w.pass_comma()
    rest = None
    if node.rest is not None:
        w.take("**")
        rest = _capture(w, node.rest)
        w.pass_comma()
    w.levels -= 1
    w.take("}")
    w.spans[slot + 1] = w.pos
    return ir.MatchMapping(slot >> 1, tuple(keys), tuple(patterns), rest)


def read_class(w: Walk, node: cst.MatchClass, start: int) -> ir.MatchClass:
    slot = w.open(start)
    cls = w.expression(node.cls)
    w.take("(")
    patterns = _read_elements(w, node.patterns)
    w.enter_level(1)
    keywords = []
    keyword_patterns = []
    for element in node.kwds:
        w.take(element.key.value)
        keywords.append(normalize(element.key.value))
        w.take("=")
        keyword_patterns.append(w.pattern(element.pattern))
        w.pass_comma()
    w.levels -= 1
    w.take(")")
    w.spans[slot + 1] = w.pos
    return ir.MatchClass(slot >> 1, cls, patterns, tuple(keywords), tuple(keyword_patterns))


def read_as(w: Walk, node: cst.MatchAs, start: int) -> ir.MatchAs:
    slot = w.open(start)
    pattern = None
    if node.pattern is not None:
        pattern = w.pattern(node.pattern)
        w.take("as")
    name = _capture(w, node.name)
    w.spans[slot + 1] = w.pos
    return ir.MatchAs(slot >> 1, pattern, name)


def read_or(w: Walk, node: cst.MatchOr, start: int) -> ir.MatchOr:
    slot = w.open(start)
    w.enter_level(1)
    patterns = []
    for element in node.patterns:
        patterns.append(w.pattern(element.pattern))
        if element.separator is not cst.MaybeSentinel.DEFAULT:
            w.take("|")
    w.levels -= 1
    w.spans[slot + 1] = w.pos
    return ir.MatchOr(slot >> 1, tuple(patterns))


READERS: dict[type[cst.CSTNode], Read] = {
    cst.MatchValue: read_value,
    cst.MatchSingleton: read_value,
    cst.MatchTuple: read_tuple,
    cst.MatchList: read_list,
    cst.MatchMapping: read_mapping,
    cst.MatchClass: read_class,
    cst.MatchAs: read_as,
    cst.MatchOr: read_or,
}
