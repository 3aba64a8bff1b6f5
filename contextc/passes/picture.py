"""A compiled context as a picture: one HTML page that asks for nothing else. In: a `Compilation`. Out: the page.

Hops are columns: what uses the target to its left, what it uses to its right, what was left out at the far right. The
page is `page/page.html` with the style, the script and the data written into it. The data is JSON, in which no sign
that HTML gives a meaning to stands for itself; the script turns it into elements, texts as texts. The page's own policy
lets nothing run or load but that style and that script, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Edge, EdgeKind
from contextc.model.escape import escape_unprintable
from contextc.model.facts import SymbolKind
from contextc.model.plan import Direction, Form, Item
from contextc.passes.compilation import Compilation, text_of
from contextc.passes.explanation import Chains
from contextc.passes.slice import uses_of

_MEANINGFUL = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_LEFT = (Direction.TESTS, Direction.USED_BY, Direction.OVERRIDDEN)  # of the target, from the outside in


class _Place(NamedTuple):
    """Where an item stands: the item it is drawn in, the item whose text its own is cut from, and whether it lies in
    none that is shown in full."""

    inside: int | None
    within: int | None
    is_alone: bool


def render_page(compilation: Compilation) -> str:
    """The page, the same bytes for the same compilation."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    title = escape(f"Context for {escape_unprintable(compilation.context.target)}")
    data = _encode(describe_picture(compilation))
    page = Template(_asset("page.html"))
    return page.substitute(policy=policy, title=title, style=style, script=script, data=data)


@cache
def _asset(name: str) -> str:
    return (files("contextc.passes") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _encode(value: object) -> str:
    """JSON of ASCII alone, without `<`, `>` and `&`: it can end no element and begin no comment."""
    written = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for sign, escaped in _MEANINGFUL.items():
        written = written.replace(sign, escaped)
    return written


def describe_picture(compilation: Compilation) -> dict[str, Any]:
    """What the page draws, as plain values. Items are spoken of by their number in `items`."""
    context, graph = compilation.context, compilation.graph
    columns = _lay_out(graph, context.items)
    texts = [text_of(compilation, item) for item in context.items]
    places = _find_places(graph, context.items, texts, columns)
    numbers = {item.symbol: number for number, item in enumerate(context.items)}
    chains = _describe_chains(graph, context.items, numbers)
    holders = {place.inside for place in places}
    items = [
        _describe(graph, item, text, place)
        | {"tokens": compilation.tokenizer.count(text), "chain": chains[number], "holds": number in holders}
        for number, (item, text, place) in enumerate(zip(context.items, texts, places, strict=True))
    ]
    return {
        "target": context.target, "tokens": context.tokens, "tokenizer": context.tokenizer,
        "naive_tokens": context.naive_tokens, "files_scanned": context.files_scanned,
        "left_out": len(context.omitted), "items": items,
        "columns": [
            {"title": title, "items": members, "tokens": sum(items[n]["tokens"] for n in members if places[n].is_alone)}
            for title, members in columns
        ],
        "middle": next((n for n, (title, _) in enumerate(columns) if title == "target"), 0),
        "edges": _describe_edges(graph, context.items, numbers, chains),
        "seeds": _describe_seeds(compilation), "omitted": _describe_omitted(compilation),
        "warnings": [w._asdict() for w in context.warnings],
    }  # fmt: skip


# --------------------------------------------------------------------------------------------------------- columns


def _lay_out(graph: CallGraph, items: Iterable[Item]) -> list[tuple[str, list[int]]]:
    """The columns from left to right, each with its items in the order of the files."""
    sets: dict[tuple[int, int], list[int]] = {}
    titles: dict[tuple[int, int], str] = {}
    order: dict[int, tuple[object, ...]] = {}
    for number, item in enumerate(items):
        key = _column_of(item)
        sets.setdefault(key, []).append(number)
        titles[key] = _role(item)
        symbol = graph.symbol(item.symbol)
        order[number] = (symbol.path, symbol.span.start, -symbol.span.end, symbol.parent is not None, symbol.id)
    return [(titles[key], sorted(sets[key], key=order.__getitem__)) for key in sorted(sets)]


def _column_of(item: Item) -> tuple[int, int]:
    if item.hop == 0:
        return (0, 0)
    if item.direction is Direction.USES:
        return (1, item.hop)
    return (_LEFT.index(item.direction) - len(_LEFT), -item.hop if item.direction is Direction.USED_BY else 0)


def _role(item: Item) -> str:
    if item.hop == 0:
        return "target"
    if item.direction is Direction.USED_BY:
        return f"used by, hop {item.hop}"
    return f"hop {item.hop}" if item.direction is Direction.USES else str(item.direction)


def _find_places(
    graph: CallGraph, items: Sequence[Item], texts: Sequence[str], columns: Iterable[tuple[str, list[int]]]
) -> list[_Place]:
    numbers = {item.symbol: number for number, item in enumerate(items)}
    column_of = {number: column for column, (_, members) in enumerate(columns) for number in members}
    lines: dict[int, list[str]] = {}
    places = []
    for number, item in enumerate(items):
        holders = [numbers[s] for s in _ancestors(graph, item.symbol) if s in numbers]
        drawn = (h for h in holders if column_of[h] == column_of[number] and _can_hold(graph, items[h]))
        whole = next((h for h in reversed(holders) if items[h].form is Form.FULL), None)
        within = None
        if whole is not None:
            lines.setdefault(whole, texts[whole].split("\n"))
            symbol, first = graph.symbol(item.symbol), graph.symbol(items[whole].symbol).line
            cut = "\n".join(lines[whole][symbol.line - first : symbol.end_line - first + 1])
            within = whole if cut.rstrip("\n") == texts[number].rstrip("\n") else None
        places.append(_Place(next(drawn, None), within, whole is None))
    return places


def _ancestors(graph: CallGraph, symbol: str) -> Iterator[str]:
    """What the symbol lies in, the innermost first."""
    parent = graph.symbol(symbol).parent
    while parent is not None:
        yield parent
        parent = graph.symbol(parent).parent


def _can_hold(graph: CallGraph, item: Item) -> bool:
    return item.form is Form.FULL or graph.symbol(item.symbol).kind is not SymbolKind.MODULE


# ----------------------------------------------------------------------------------------------------------- items


def _describe(graph: CallGraph, item: Item, text: str, place: _Place) -> dict[str, Any]:
    return {
        **_describe_symbol(graph, item.symbol), "hop": item.hop, "form": item.form.value, "role": _role(item),
        "why": item.why, "worth": item.worth, "inside": place.inside, "within": place.within,
        "code": text if place.within is None else None,
    }  # fmt: skip


def _describe_symbol(graph: CallGraph, name: str) -> dict[str, Any]:
    """`is_numbered`: its lines are those of its file; a notebook's are of its code cells joined."""
    symbol = graph.symbol(name)
    file = graph.file(symbol.path)
    return {
        "id": symbol.id, "name": symbol.qualname, "kind": symbol.kind.value, "path": symbol.path, "line": symbol.line,
        "end_line": symbol.end_line, "place": f"{symbol.path}:{file.describe_lines(symbol.line, symbol.end_line)}",
        "is_numbered": not file.cells,
    }  # fmt: skip


def _place_of(graph: CallGraph, path: str, line: int) -> str:
    return f"{path}:{graph.file(path).describe_line(line)}"


def _describe_chains(graph: CallGraph, items: Iterable[Item], numbers: Mapping[str, int]) -> list[list[dict[str, Any]]]:
    found = Chains(graph, items)
    chains = []
    for item in found.items.values():
        chain = []
        for step in found.find(item):
            record: dict[str, Any] = {"id": step.symbol, "item": numbers.get(step.symbol)}
            if step.edge is not None:
                edge = step.edge
                record |= {"certainty": edge.certainty.value, "rule": edge.rule.value, "back": step.is_back}
                record |= {"place": _place_of(graph, edge.path, edge.line), "kind": edge.kind.value}
            chain.append(record)
        chains.append(chain)
    return chains


# ----------------------------------------------------------------------------------------------------------- edges


def _describe_edges(
    graph: CallGraph, items: Iterable[Item], numbers: Mapping[str, int], chains: list[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """One edge for two items, the most telling; `brought` where it is the one that brought an item in."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for chain in chains:
        if len(chain) > 1 and chain[-2]["item"] is not None:
            before, last = chain[-2]["item"], chain[-1]
            ends = (last["item"], before) if last["back"] else (before, last["item"])
            found[ends] = {key: last[key] for key in ("certainty", "kind", "place")} | {"brought": True}
    best: dict[tuple[int, int], Edge] = {}
    for a, b, edge in _edges_between(graph, items, numbers):
        if (a, b) not in best or _rank(edge) < _rank(best[a, b]):
            best[a, b] = edge
    for ends, edge in best.items():
        place = _place_of(graph, edge.path, edge.line)
        record = {"certainty": edge.certainty.value, "kind": edge.kind.value, "place": place, "brought": False}
        found.setdefault(ends, record)
    return [{"from": a, "to": b, **found[a, b]} for a, b in sorted(found)]


def _edges_between(
    graph: CallGraph, items: Iterable[Item], numbers: Mapping[str, int]
) -> Iterator[tuple[int, int, Edge]]:
    """Edges from one item's text to another item; not between an item and what lies in it."""
    for number, item in enumerate(items):
        for edge in uses_of(graph, graph.symbol(item.symbol), item.hop == 0):
            if edge.kind is EdgeKind.IMPORTS:
                continue
            inner = next((s for s in (edge.caller, *_ancestors(graph, edge.caller)) if s in numbers), item.symbol)
            caller = inner if item.symbol in _ancestors(graph, inner) else item.symbol
            callee = next((s for s in (edge.callee, *_ancestors(graph, edge.callee)) if s in numbers), None)
            if callee is None or callee == caller or caller in _ancestors(graph, callee):
                continue
            if callee not in _ancestors(graph, caller):
                yield (numbers.get(caller, number), numbers[callee], edge)


def _rank(edge: Edge) -> tuple[object, ...]:
    return (not edge.kind.is_call, edge.certainty.rank, edge.path, edge.line, edge.kind.value)


# ------------------------------------------------------------------------------------------------------- omissions


def _describe_omitted(compilation: Compilation) -> list[dict[str, Any]]:
    """What was left out, by reason, in the order of first sight."""
    fetch = {gap.why: gap.fetch for gap in compilation.document.gaps}
    sets: dict[str, list[dict[str, Any]]] = {}
    for omission in compilation.context.omitted:
        symbol = _describe_symbol(compilation.graph, omission.symbol)
        sets.setdefault(omission.why, []).append(symbol | {"hop": omission.hop})
    return [{"why": why, "fetch": fetch.get(why, ""), "symbols": symbols} for why, symbols in sets.items()]


def _describe_seeds(compilation: Compilation) -> dict[str, Any] | None:
    """What a failure, a diff or words say of the target."""
    summary = compilation.document.seeds
    if summary is None:
        return None
    marks = [
        {"place": _place_of(compilation.graph, mark.path, mark.line), "text": mark.text, "note": mark.note}
        for mark in summary.marks
    ]
    scores = [{"id": score.symbol, "score": score.score} for score in summary.scores]
    return {"title": summary.title, "marks": marks, "scores": scores, "notes": summary.notes}
