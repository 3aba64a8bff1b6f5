"""String annotations: `"User | None"` read as an IR expression.

In: the text. Out: an expression whose nodes have no position (`at` is -1), or None where the text is no annotation.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from contextc.model import ir

_LIMIT = 1000  # characters; a longer string is no annotation anyone wrote


@lru_cache(maxsize=4096)
def read_annotation_text(text: str) -> ir.Expr | None:
    """The expression that a string annotation holds (PEP 484 forward references)."""
    if len(text) > _LIMIT or text.count("[") > 50:
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _convert(tree.body)


def _convert(node: ast.expr) -> ir.Expr:
    if isinstance(node, ast.Name):
        return ir.Name(-1, node.id)
    if isinstance(node, ast.Attribute):
        return ir.Attribute(-1, _convert(node.value), node.attr)
    if isinstance(node, ast.Subscript):
        return ir.Subscript(-1, _convert(node.value), _convert(node.slice))
    if isinstance(node, ast.Tuple):
        return ir.TupleExpr(-1, tuple(map(_convert, node.elts)))
    if isinstance(node, ast.List):
        return ir.ListExpr(-1, tuple(map(_convert, node.elts)))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return ir.BinaryOp(-1, "|", _convert(node.left), _convert(node.right))
    if isinstance(node, ast.Starred):
        return ir.Starred(-1, _convert(node.value))
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    return ir.Unread(-1, type(node).__name__)


def _constant(value: object) -> ir.Constant:
    if value is None:
        return ir.Constant(-1, "None", None)
    if value is ...:
        return ir.Constant(-1, "ellipsis", None)
    if isinstance(value, bool):
        return ir.Constant(-1, "bool", int(value))
    if isinstance(value, (str, int)):
        return ir.Constant(-1, type(value).__name__, value)
    return ir.Constant(-1, type(value).__name__, None)
