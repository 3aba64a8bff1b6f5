"""Reads libcst strings: plain, concatenated, f-strings and t-strings.

`"a" "b"` is one `Constant(0, "str", "ab")`. `f"x{y!r}"` is `FString(0, (Constant(1, "str", "x"), Formatted(2,
Name(3, "y"), "r", None)))`; adjacent literals of which one is an f-string make one FString.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import libcst as cst

from contextc.analyzer.reading.libcst_cursor import Read, Walk
from contextc.analyzer.reading.strings import decode_text, join_texts, read_literal
from contextc.model import ir


def read_simple(w: Walk, node: cst.SimpleString, start: int) -> ir.Constant:
    slot = w.open(start)
    w.take(node.value)
    w.spans[slot + 1] = w.pos
    return ir.Constant(slot >> 1, *read_literal(node.value))


def read_formatted_string(w: Walk, node: Any, start: int) -> ir.FString:
    slot = w.open(start)
    parts = _read_parts_of(w, node)
    w.spans[slot + 1] = w.pos
    return ir.FString(slot >> 1, parts)


def read_concatenated(w: Walk, node: cst.ConcatenatedString, start: int) -> ir.Expr:
    """libcst nests these to the right; a table of thousands is normal, so they are unrolled first."""
    pieces: list[Any] = []
    rest: Any = node
    while type(rest) is cst.ConcatenatedString:
        pieces.append(rest.left)
        rest = rest.right
    pieces.append(rest)
    slot = w.open(start)
    if all(type(piece) is cst.SimpleString for piece in pieces):
        values = []
        kind = "str"
        for piece in pieces:
            w.take(piece.value)
            kind, value = read_literal(piece.value)
            values.append(value)
        w.spans[slot + 1] = w.pos
        return ir.Constant(slot >> 1, kind, join_texts(values))
    parts: list[ir.Expr] = []
    w.enter_level(1)
    for piece in pieces:
        if type(piece) is cst.SimpleString:
            parts.append(read_simple(w, piece, w.skip()))
        else:
            parts.extend(_read_parts_of(w, piece))
    w.levels -= 1
    w.spans[slot + 1] = w.pos
    return ir.FString(slot >> 1, tuple(parts))


def _read_parts_of(w: Walk, node: Any) -> tuple[ir.Expr, ...]:
    w.take(node.start)
    parts = _read_parts(w, node.parts, "r" in node.start.lower())
    w.take_next(node.end)
    return parts


def _read_parts(w: Walk, nodes: Sequence[Any], raw: bool) -> tuple[ir.Expr, ...]:
    w.enter_level(2)
    parts: list[ir.Expr] = []
    for node in nodes:
        if type(node) is cst.FormattedStringText or type(node) is cst.TemplatedStringText:
            slot = w.open(w.take_next(node.value))
            w.spans[slot + 1] = w.pos
            value = decode_text(node.value.replace("{{", "{").replace("}}", "}"), raw)
            parts.append(ir.Constant(slot >> 1, "str", value))
        else:
            parts.extend(_read_field(w, node, raw))
    w.levels -= 2
    return tuple(parts)


def _read_field(w: Walk, node: Any, raw: bool) -> list[ir.Expr]:
    """One replacement field. `{x=}` is the text `x=` and then the field, by repr where nothing else is asked."""
    start = w.take_next("{")
    label = w.open(start + 1) if node.equal is not None else None
    slot = w.open(start)
    value = w.expression(node.expression)
    parts: list[ir.Expr] = []
    conversion = node.conversion or ""
    if label is not None:
        w.take("=")
        end = w.skip()
        w.spans[label + 1] = end
        parts.append(ir.Constant(label >> 1, "str", decode_text(w.source[start + 1 : end], True)))
        if not conversion and node.format_spec is None:
            conversion = "r"
    if node.conversion:
        w.take("!")
        w.take(node.conversion)
    spec = None
    if node.format_spec is not None:
        w.take(":")
        inner = w.open(w.pos)
        spec = ir.FString(inner >> 1, _read_parts(w, node.format_spec, raw))
        w.spans[inner + 1] = w.pos
    w.take("}")
    w.spans[slot + 1] = w.pos
    parts.append(ir.Formatted(slot >> 1, value, conversion, spec))
    return parts


READERS: dict[type[cst.CSTNode], Read] = {
    cst.SimpleString: read_simple,
    cst.ConcatenatedString: read_concatenated,
    cst.FormattedString: read_formatted_string,
    cst.TemplatedString: read_formatted_string,
}
