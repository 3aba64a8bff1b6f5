"""Reads files that don't parse: their definitions, imports, and the bodies that are whole. Half-typed code is normal.
Files with expressions too deep for libcst are read here too.

In: the normalised UTF-8 text. Out: partial `ModuleFacts` with the damage. From `def f(:` and, on the next line,
`def g(): h()` come `f`, `g` with its call, and damage on line 1.

An unclosed bracket swallows every later definition. So a broken stretch at the top level ends, at the latest, where a
line starts with `def`, `class`, `async def` or `@`; from there the rest is parsed anew.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import tree_sitter
import tree_sitter_python

from contextc.analyzer.reading.limits import TOO_DEEP
from contextc.analyzer.reading.tree_cursor import Node, Walk, children
from contextc.analyzer.reading.tree_expressions import READERS
from contextc.analyzer.reading.tree_statements import EXPRESSIONS, STATEMENTS, defined_names
from contextc.model.facts import Damage, ModuleFacts
from contextc.model.span import LineIndex

MAX_DAMAGE = 100  # lines reported
MAX_PARSED = 2_000_000  # bytes: each restart parses the rest again; past this the rest is cut at every definition

_LOOKAHEAD = 80  # bytes past a broken node: enough to recognise a definition whose keyword it ends in

_EXPRESSIONS = {**READERS, **EXPRESSIONS}
_DEFINITION = re.compile(rb"^(?:async[ \t]+def|def|class|@)[ \t]*(?=[\w\x80-\xff])", re.MULTILINE)
_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))

Piece = tuple[int, list[Node]]  # where its tree's text starts, top-level nodes of that tree


def read_with_tree_sitter(text: bytes) -> ModuleFacts:
    """Facts, partial where there is damage; whether the text is Python is not for tree-sitter to say. What nests too
    deep is `Unread`."""
    walk = Walk(text, _EXPRESSIONS, STATEMENTS, parse_tree)
    pieces = list(_pieces(text))
    scope = walk.builder.scope
    names: set[str] = set()
    for base, nodes in pieces:
        walk.base = base
        names.update(defined_names(walk, nodes))
        if nodes and scope.body_start < 0:
            scope.body_start = walk.start(nodes[0])
    scope.defined = frozenset(names)
    body: list[object] = []
    for base, nodes in pieces:
        walk.base = base
        for node in nodes:
            walk.statement(node, body)  # type: ignore[arg-type]
    scope.body = tuple(body)  # type: ignore[arg-type]
    scope.end = len(text)
    scope.take_docstring()
    damage = _damage(text, pieces, walk.deep)
    return ModuleFacts(walk.builder.finish(None), bool(damage), damage, "tree-sitter")


def _pieces(text: bytes) -> Iterator[Piece]:
    """The top-level nodes in order, parsed anew after each broken stretch that swallowed a definition."""
    start = parsed = 0
    while True:
        root = parse_tree(text[start:])
        nodes = children(root)
        parsed += len(text) - start
        shattered = _first_shattered(root)
        cut = _first_swallowed(text, start, nodes) if shattered is None else None
        if parsed > MAX_PARSED and (cut or shattered):
            break
        if shattered is not None:
            yield start, [node for node in nodes if node.end_byte <= shattered]
            start += shattered
        elif cut is not None:
            index, end = cut
            yield start, nodes[:index]
            broken = start + nodes[index].start_byte
            yield broken, _parse(text[broken:end])
            start = end
        else:
            yield start, nodes
            return
    for first, last in itertools.pairwise(_cuts(text, start)):
        yield first, _parse(text[first:last])


def _cuts(text: bytes, start: int) -> list[int]:
    """Every place from `start` on where a definition starts at the margin, whole decorators with what they decorate,
    and both ends."""
    cuts = [start]
    for match in _DEFINITION.finditer(text, start + 1):
        last = cuts[-1]
        decorated = text.startswith(b"@", last) and text.count(b"(", last, match.start()) == text.count(
            b")", last, match.start()
        )
        if not decorated:
            cuts.append(match.start())
    return [*cuts, len(text)]


def parse_tree(text: bytes) -> Node:
    """The root of a text's tree."""
    return _PARSER.parse(text).root_node


def _parse(text: bytes) -> list[Node]:
    return children(parse_tree(text))


def _first_shattered(root: Node) -> int | None:
    """Where the first definition starts of which only loose words are left, as when the parser gives up on a text."""
    if root.type == "ERROR":
        for child in root.children[1:]:
            if child.type in ("def", "class") and child.start_point.column == 0:
                return int(child.start_byte)
    return None


def _first_swallowed(text: bytes, base: int, nodes: list[Node]) -> tuple[int, int] | None:
    """The first broken node that holds the start of another definition: its index, and where that starts."""
    for index, node in enumerate(nodes):
        if not node.has_error:
            continue
        start, end = base + node.start_byte, base + node.end_byte
        for match in _DEFINITION.finditer(text, _first_line_end(text, start, node), end + _LOOKAHEAD):
            if match.start() >= end:
                break
            if not _in_string(node, match.start() - base):
                return index, match.start()
    return None


def _first_line_end(text: bytes, start: int, node: Node) -> int:
    """Where to look for another definition: after the keyword of this one, decorators passed."""
    if node.type == "decorated_definition":
        definition = node.child_by_field_name("definition")
        if definition is not None:
            start += int(definition.start_byte - node.start_byte)
    elif text.startswith(b"@", start):
        own = re.compile(rb"^(?:async[ \t]+def|def|class)\b", re.MULTILINE).search(text, start)
        start = start if own is None else own.start()
    return start + 1


def _in_string(node: Node, offset: int) -> bool:
    found = node.descendant_for_byte_range(offset, offset + 1)
    while found is not None and found.start_byte > node.start_byte:
        if found.type == "string":
            return not found.has_error
        found = found.parent
    return False


def _damage(text: bytes, pieces: list[Piece], deep: list[int]) -> tuple[Damage, ...]:
    """The places that are no Python, and those nested too deep: one for each line, the first hundred."""
    index = LineIndex(text)
    found: dict[int, str] = {}
    for base, nodes in pieces:
        pending = [node for node in reversed(nodes) if node.has_error]
        while pending:
            node = pending.pop()
            line = index.position(base + node.start_byte).line
            if node.is_missing:
                found.setdefault(line, f"`{node.type}` is missing")
            elif node.type == "ERROR":
                words = text[base + node.start_byte : base + node.end_byte][:200].decode("utf-8", "replace").split()
                found.setdefault(line, "unexpected `" + " ".join(words)[:40] + "`")
            else:
                pending.extend(child for child in reversed(node.children) if child.has_error or child.is_missing)
    damage = [Damage(line, message) for line, message in sorted(found.items())]
    lines = sorted({index.position(place).line for place in deep} - set(found))
    damage += [Damage(line, TOO_DEEP, True) for line in lines]
    return tuple(sorted(damage)[:MAX_DAMAGE])
