"""A compiled context as JSON, `contextc.context/1`. In: a `Compilation`. Out: one JSON document.

`tokens` counts `text`, the context as Markdown. An item's `tokens` count its own text; a class's `members` are those
shown with it. `skipped` counts what was not analysed and lists what touches the context's files. The form is described
by `context.schema.json`, which ships in the package (`schema`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from contextc.model.edge import Edge
from contextc.model.facts import SymbolKind
from contextc.model.plan import Item
from contextc.passes.compilation import Compilation, tokens_of
from contextc.passes.explanation import Chains
from contextc.passes.routes import write_chain
from contextc.passes.seeds.summary import Summary

SCHEMA = "contextc.context/1"


def render_json(compilation: Compilation, explain: bool = False) -> str:
    """The document, one record a line, ending in a newline."""
    context = compilation.context
    chains = Chains(compilation.graph, context.items)
    head = {
        "schema": SCHEMA,
        "target": context.target,
        "resolver": compilation.graph.analysis.resolver,
        "tokenizer": context.tokenizer,
        "tokens": context.tokens,
        "budget": context.budget,
        "naive_tokens": context.naive_tokens,
    }
    lines = [f'"{key}": {_encode(value)}' for key, value in head.items()]
    lines += _seeds(compilation.document.seeds)
    lines.append(_array("items", [_item(compilation, item, chains, explain) for item in context.items]))
    omitted = [{"id": o.symbol, "hop": o.hop, "why": o.why, "tokens": o.tokens} for o in context.omitted]
    lines.append(_array("omitted", omitted))
    lines.append(_array("warnings", [w._asdict() for w in context.warnings]))
    lines.append(f'"skipped": {_encode(_skipped(compilation))}')
    lines.append(f'"stats": {_encode(_stats(compilation))}')
    lines.append(f'"text": {_encode(context.text)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(", ", ": "))


def _array(key: str, records: list[dict[str, Any]]) -> str:
    if not records:
        return f'"{key}": []'
    return f'"{key}": [\n' + ",\n".join(map(_encode, records)) + "\n]"


def _seeds(summary: Summary | None) -> Iterator[str]:
    """Marked lines, scores and notes; empty for targets given by name."""
    yield _array("marks", [mark._asdict() for mark in summary.marks] if summary else [])
    yield _array("scores", [{"id": s.symbol, "score": s.score} for s in summary.scores] if summary else [])
    yield f'"notes": {_encode(list(summary.notes) if summary else [])}'


def _item(compilation: Compilation, item: Item, chains: Chains, explain: bool) -> dict[str, Any]:
    symbol = compilation.graph.symbol(item.symbol)
    record: dict[str, Any] = {
        "id": item.symbol, "path": symbol.path, "qualname": symbol.qualname, "kind": symbol.kind.value,
        "line": symbol.line, "end_line": symbol.end_line, "form": item.form.value, "hop": item.hop,
        "direction": item.direction.value,
        "tokens": tokens_of(compilation, item),
        "members": _members(compilation, item, chains.items) if symbol.kind is SymbolKind.CLASS else [],
        "why": item.why, "via": _via(item.via),
    }  # fmt: skip
    if (file := compilation.graph.file(symbol.path)).cells:
        record["place"] = file.describe_lines(symbol.line, symbol.end_line)
    if explain:
        record["chain"] = write_chain(chains.find(item))
        record["worth"] = dict(item.worth)
    return record


def _members(compilation: Compilation, item: Item, items: dict[str, Item]) -> list[str]:
    """Names of the methods and inner classes shown with a class."""
    children = compilation.graph.children(item.symbol)
    shown = [c for c in children if item.form.value == "full" or (c.id in items and items[c.id].form.value != "name")]
    kinds = (SymbolKind.METHOD, SymbolKind.CLASS)
    return sorted({c.qualname.rpartition(".")[2] for c in shown if c.kind in kinds})


def _via(edge: Edge | None) -> dict[str, Any] | None:
    if edge is None:
        return None
    return {
        "caller": edge.caller, "kind": edge.kind.value, "certainty": edge.certainty.value, "rule": edge.rule.value,
        "path": edge.path, "line": edge.line,
    }  # fmt: skip


def _skipped(compilation: Compilation) -> dict[str, Any]:
    skipped = compilation.context.skipped
    reasons = Counter(skip.reason.value for skip in skipped)
    touching = [
        {"path": s.path, "reason": s.reason.value, "detail": s.detail} for s in skipped if s.path in compilation.sources
    ]
    return {"count": len(skipped), "by_reason": dict(sorted(reasons.items())), "touching": touching}


def _stats(compilation: Compilation) -> dict[str, Any]:
    context = compilation.context
    hops = compilation.forms_by_hop
    return {
        "files_scanned": context.files_scanned,
        "files_shown": compilation.document.files_shown,
        "symbols": len(context.items),
        "omitted": len(context.omitted),
        "forms_by_hop": {str(hop): dict(sorted(hops[hop].items())) for hop in sorted(hops)},
        "reduction": round(1 - context.tokens / context.naive_tokens, 4) if context.naive_tokens else 0.0,
    }
