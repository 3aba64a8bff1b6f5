"""ModuleFacts as JSON text and back: plain data for the store and for worker processes, never pickle.

A NamedTuple becomes `[tag, field, …]`, a plain tuple `[0, item, …]`; strings, numbers, booleans and None stay.
The tags are part of the store's format: `FORMAT` changes whenever a node's shape does.
"""

from __future__ import annotations

import json
from typing import Any

from contextc.model import ir
from contextc.model.facts import Damage, ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.span import Span

_NODES: tuple[type[Any], ...] = (
    Span, Damage, SymbolFacts, ModuleFacts,
    ir.Name, ir.Constant, ir.FString, ir.Formatted, ir.Attribute, ir.Subscript, ir.Slice, ir.Argument, ir.Call,
    ir.Lambda, ir.TupleExpr, ir.ListExpr, ir.SetExpr, ir.DictItem, ir.DictExpr, ir.Starred, ir.Generator,
    ir.Comprehension, ir.Conditional, ir.BoolOp, ir.UnaryOp, ir.BinaryOp, ir.Compare, ir.Await, ir.Yield,
    ir.YieldFrom, ir.NamedExpr, ir.Unread, ir.MatchValue, ir.MatchSequence, ir.MatchStar, ir.MatchMapping,
    ir.MatchClass, ir.MatchAs, ir.MatchOr, ir.Evaluate, ir.Assign, ir.AnnotatedAssign, ir.AugmentedAssign,
    ir.TypeAlias, ir.Return, ir.Raise, ir.Assert, ir.Delete, ir.ImportedName, ir.Import, ir.ImportFrom, ir.Define,
    ir.If, ir.While, ir.For, ir.WithItem, ir.With, ir.Handler, ir.Try, ir.Case, ir.Match, ir.Jump, ir.Parameter,
    ir.TypeParameter,
)  # fmt: skip
_TAGS: dict[type[Any], int] = {cls: number for number, cls in enumerate(_NODES, 1)}
FORMAT = 1

__all__ = ["FORMAT", "decode_facts", "encode_facts"]


def _encode(item: Any) -> Any:
    kind = type(item)
    tag = _TAGS.get(kind)
    if tag is not None:
        return [tag, *map(_encode, item)]
    if kind is tuple:
        return [0, *map(_encode, item)]
    return item.value if kind is SymbolKind else item


def _decode(item: Any) -> Any:
    if type(item) is not list:
        return item
    tag = item[0]
    fields = [(_decode(x) if type(x) is list else x) for x in item[1:]]
    return _NODES[tag - 1](*fields) if tag else tuple(fields)


def encode_facts(facts: ModuleFacts) -> str:
    """Facts as one line of JSON. Depth follows the facts' own depth, which the readers bound."""
    return json.dumps(_encode(facts), separators=(",", ":"), ensure_ascii=False)


def decode_facts(text: str) -> ModuleFacts:
    """The inverse of `encode_facts`. Raises ValueError or TypeError on text of another format."""
    raw = _decode(json.loads(text))
    if not isinstance(raw, ModuleFacts):
        raise ValueError("not module facts")
    symbols = tuple(s._replace(kind=SymbolKind(s.kind)) for s in raw.symbols)
    return raw._replace(symbols=symbols)
