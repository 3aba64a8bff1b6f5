"""Is a text Python apart from what libcst can't be asked to read? Then tree-sitter's facts of it are complete.

In: the text and the fault libcst was stopped by. Out: None, or the fault that remains when every expression too deep
for libcst, and every construct it wrongly rejects, is masked by a `_`. `find_fault(text, fault)` is None for a sum of
5,000 terms, for `(x): int = 1` and for `class A(metaclass=M, *bases): ...`.

Why ask: tree-sitter reports no error for some texts that are no Python (bad dedents, Python 2).
"""

from __future__ import annotations

import re

from contextc.analyzer.reading.libcst_reader import parse_text
from contextc.analyzer.reading.limits import (
    MAX_CHAIN,
    TOO_MANY_BRACKETS,
    DoesNotParse,
    TooDeep,
    TooLarge,
    Unreadable,
    find_deep,
)
from contextc.analyzer.reading.tree_cursor import Node, children
from contextc.analyzer.reading.tree_expressions import READERS
from contextc.analyzer.reading.tree_sitter_reader import parse_tree
from contextc.analyzer.reading.tree_statements import EXPRESSIONS, STATEMENTS

MAX_MASKS = 2_000  # expressions, each round; each costs a search in the tree
ROUNDS = (MAX_CHAIN, MAX_CHAIN // 16)  # parts of an expression that is not masked; many long ones ask for less

_EXPRESSION_TYPES = frozenset({*READERS, *EXPRESSIONS})
_ENDS = frozenset({*STATEMENTS, "block", "module", "default_parameter", "typed_default_parameter"})
_MASK = b"(_)"

# Where the two constructs may stand that libcst 1.9 rejects; the tree then says whether they do.
_GAP = re.compile(rb"^[ \t]*\([^()\n]*\)[ \t]*:|^[ \t]*class\b[^:]*=[^:]*\*", re.MULTILINE)

Range = tuple[int, int]


def find_fault(text: bytes, fault: Unreadable) -> Unreadable | None:
    """What makes the text no Python, as far as can be told; None for nothing. `fault` is what libcst, or the scan
    before it, said of the whole text."""
    gaps = _GAP.search(text) is not None
    if isinstance(fault, TooDeep) and fault.offset < 0:  # libcst has read it
        return None
    if isinstance(fault, DoesNotParse) and not gaps:
        return fault
    root = parse_tree(text)
    masked = bytearray(text)
    for start, end in _find_gaps(root) if gaps else ():
        masked[start:end] = b"_".ljust(end - start)
    remaining = fault
    for most in ROUNDS:
        _mask_deep(root, masked, most)
        try:
            parse_text(bytes(masked))
            return fault if fault.message == TOO_MANY_BRACKETS else None  # Python takes no more either
        except TooDeep as error:
            remaining = error
        except (DoesNotParse, TooLarge) as error:
            return error
    return remaining


def _mask(text: bytearray, place: Range) -> None:
    """Puts `(_)` in the place of an expression; lines stay where they are."""
    start, end = place
    blanks = bytes(byte if byte in b"\r\n" else 32 for byte in text[start + 2 : end - 1])
    text[start:end] = _MASK[:2] + blanks + _MASK[2:]


def _mask_deep(root: Node, masked: bytearray, most: int) -> None:
    """Masks each expression that the scan stops at, going on behind it. The scan of the whole has the last word."""
    start = 0
    for _ in range(MAX_MASKS):
        try:
            fault = find_deep(bytes(masked), start, most)
        except TooLarge:
            return
        place = None if fault is None else _outermost(root, fault[0])
        if place is None or place[1] <= start:
            return
        _mask(masked, place)
        start = place[1]


def _outermost(root: Node, offset: int) -> Range | None:
    """The largest expression around a byte, within its statement. From the root down: a step up costs as much."""
    found = None
    cursor = root.walk()
    while cursor.goto_first_child_for_byte(offset) is not None:
        node = cursor.node
        if node is None or node.start_byte > offset:
            break
        if node.type in _ENDS:
            found = None
        elif found is None and node.type in _EXPRESSION_TYPES and node.end_byte - node.start_byte >= len(_MASK):
            found = (node.start_byte, node.end_byte)
    return found


def _find_gaps(root: Node) -> list[Range]:
    """The places, each on one line, of what libcst 1.9 rejects though it is Python: the target of an annotation, in
    parentheses; a class's arguments, with a star after a keyword."""
    found = []
    pending = [root]
    while pending:
        node = pending.pop()
        place = None
        if node.type == "assignment" and node.child_by_field_name("type") is not None:
            place = node.child_by_field_name("left")
            if place is not None and place.type not in ("parenthesized_expression", "tuple_pattern"):
                place = None
        elif node.type == "class_definition":
            superclasses = node.child_by_field_name("superclasses")
            kinds = [] if superclasses is None else [child.type for child in children(superclasses)]
            if "keyword_argument" in kinds and "list_splat" in kinds[kinds.index("keyword_argument") :]:
                place = superclasses
        if place is not None and place.start_point.row == place.end_point.row:
            found.append((place.start_byte, place.end_byte))
        if node.type in _HOLD_GAPS:
            pending.extend(node.named_children)
    return found


_HOLD_GAPS = frozenset(
    {
        "module", "block", "expression_statement", "decorated_definition", "class_definition", "function_definition",
        "if_statement", "elif_clause", "else_clause", "for_statement", "while_statement", "try_statement",
        "except_clause", "except_group_clause", "finally_clause", "with_statement", "match_statement", "case_clause",
    }
)  # fmt: skip
