"""What showing a symbol is worth, in named terms. In: a candidate, its symbol, the target's. Out: terms and a worth.

`rate(candidate, symbol)` gives `(("hop", 500), ("edge", 1000), ("real", 940))`, each a share in thousandths; the worth
is their product, here 470. A form has a share of that: a signature tells most of what an edit asks of a callee, the
name of a caller that it has to be looked at.

The shares are not measured one by one; what they bring together is, in `make bench-context`, over budgets and packages.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextc.model.edge import EdgeKind
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate, Direction, Form
from contextc.model.symbol import Symbol

Terms = tuple[tuple[str, int], ...]
WHOLE = 1_000

_HOPS = (1_000, 1_000, 550, 200)  # by hop; past the last one like it
_DIRECTIONS = {
    Direction.USES: 1_000, Direction.USED_BY: 1_000, Direction.OVERRIDDEN: 700, Direction.TESTS: 400,
}  # fmt: skip
_EDGES = {
    EdgeKind.USES_TYPE: 500, EdgeKind.INHERITS: 500, EdgeKind.READS_GLOBAL: 600, EdgeKind.READS_ATTRIBUTE: 500,
    EdgeKind.REGISTRATION: 500, EdgeKind.IMPORTS: 150, EdgeKind.OVERRIDES: 700,
}  # fmt: skip
_FORMS = {Form.NAME: 300, Form.SIGNATURE: 1_000, Form.INTERFACE: 1_150, Form.TRIMMED: 1_250, Form.FULL: 1_300}
_CALLER_FORMS = {Form.NAME: 850, Form.SIGNATURE: 870, Form.INTERFACE: 900, Form.TRIMMED: 1_000, Form.FULL: 1_050}


def rate(candidate: Candidate, symbol: Symbol) -> Terms:
    """The terms of a candidate's worth, each in thousandths."""
    terms = [("hop", _HOPS[min(candidate.hop, len(_HOPS) - 1)])]
    edge = candidate.via
    if candidate.direction is not Direction.USES:
        terms.append((candidate.direction.value, _DIRECTIONS[candidate.direction]))
    elif edge is not None and not edge.kind.is_call:
        terms.append((edge.kind.value.lower(), _EDGES.get(edge.kind, 500)))
    if symbol.kind is SymbolKind.CLASS and edge is not None and edge.kind is EdgeKind.CONSTRUCT:
        terms.append(("class of a constructor", 600))
    if candidate.chance < 1_000_000:
        terms.append(("real", max(1, candidate.chance // 1_000)))
    return tuple(terms)


def multiply(terms: Sequence[tuple[str, int]]) -> int:
    """The product of the terms, in millionths."""
    worth = 1_000_000
    for _, share in terms:
        worth = worth * share // WHOLE
    return worth


def share_of(form: Form, direction: Direction) -> int:
    """How much of a symbol's worth a form brings, in thousandths of that of a signature (a caller: of its calls)."""
    table = _CALLER_FORMS if direction in (Direction.USED_BY, Direction.TESTS) else _FORMS
    return table[form]
