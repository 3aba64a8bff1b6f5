"""ModuleFacts as JSON text and back: plain data for the store and for worker processes, never pickle.

A NamedTuple becomes `[tag, field, …]`, a plain tuple `[0, item, …]`; strings, numbers, booleans and None stay. A chain
(`a.b().c()`, `a + b + c`, `elif … elif …`) nests as deep as it is long, so it is written flat, innermost node first:
`[-1, a, [tag, at, 0, "b"], …]`, each link with 0 in the place of the node before it.
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
FORMAT = 2

# Where a node holds the next one of a chain; `If` holds it as the only statement of its `orelse`.
_LINKS: dict[type[Any], int] = {
    ir.Attribute: 1, ir.Call: 1, ir.Subscript: 1, ir.BinaryOp: 2, ir.Conditional: 3, ir.If: 3,
}  # fmt: skip

__all__ = ["FORMAT", "decode_facts", "encode_facts"]


def _encode(item: Any) -> Any:
    kind = type(item)
    tag = _TAGS.get(kind)
    if tag is not None:
        if kind in _LINKS and _next(item) is not None:
            return _encode_chain(item)
        return [tag, *map(_encode, item)]
    if kind is tuple:
        return [0, *map(_encode, item)]
    return item.value if kind is SymbolKind else item


def _next(node: Any) -> Any:
    """The next node of the chain that `node` is in; None where it ends."""
    held = node[_LINKS[type(node)]]
    if type(node) is ir.If:
        held = held[0] if len(held) == 1 else None
    return held if type(held) in _LINKS else None


def _encode_chain(node: Any) -> list[Any]:
    links = []
    while (inner := _next(node)) is not None:
        slot = _LINKS[type(node)]
        fields = [(0 if index == slot else _encode(field)) for index, field in enumerate(node)]
        links.append([_TAGS[type(node)], *fields])
        node = inner
    return [-1, _encode(node), *reversed(links)]


def _decode(item: Any) -> Any:
    if type(item) is not list:
        return item
    tag = item[0]
    if tag < 0:
        return _decode_chain(item)
    fields = []  # a comprehension would take a second level of recursion
    for field in item[1:]:
        fields.append(_decode(field) if type(field) is list else field)  # noqa: PERF401
    return _NODES[tag - 1](*fields) if tag else tuple(fields)


def _decode_chain(item: list[Any]) -> Any:
    node = _decode(item[1])
    for link in item[2:]:
        kind = _NODES[link[0] - 1]
        fields = []
        for field in link[1:]:
            fields.append(_decode(field) if type(field) is list else field)  # noqa: PERF401
        fields[_LINKS[kind]] = (node,) if kind is ir.If else node
        node = kind(*fields)
    return node


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
