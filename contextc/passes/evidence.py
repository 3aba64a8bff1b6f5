"""How likely an edge is to be real, as measured: by its rule and certainty. In: an edge. Out: millionths.

`chance_of(edge)` of a `likely` edge by `receiver-declared` says how many of such edges, at recorded call sites that
ran, were seen to be taken. `MEASURED` is the table of docs/precision.md; a test keeps both equal to
benchmarks/accuracy_baseline.json, from which `make bench-accuracy-baseline` writes them.

A chance is a whole number of millionths, so that sums and products of chances are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from contextc.model.edge import Certainty, Edge, Rule

SURE = 1_000_000
ENOUGH = 30  # judged edges; a rule with fewer says no more than its certainty does

# rule and certainty: edges seen, edges judged
MEASURED: Mapping[tuple[str, str], tuple[int, int]] = {
    # begin evidence
    ("name", "certain"): (1134, 1134),
    ("name", "likely"): (54, 64),
    ("name", "possible"): (1, 3),
    ("import", "certain"): (1533, 1534),
    ("import", "likely"): (82, 88),
    ("import", "possible"): (0, 3),
    ("module-attribute", "certain"): (559, 571),
    ("module-attribute", "likely"): (566, 572),
    ("receiver-exact", "certain"): (1764, 1768),
    ("receiver-exact", "likely"): (921, 1285),
    ("receiver-exact", "possible"): (112, 351),
    ("receiver-declared", "certain"): (440, 442),
    ("receiver-declared", "likely"): (1135, 1758),
    ("receiver-declared", "possible"): (381, 1739),
    ("receiver-self", "certain"): (2648, 2650),
    ("receiver-self", "likely"): (439, 530),
    ("receiver-self", "possible"): (85, 341),
    ("receiver-inferred", "likely"): (176, 243),
    ("receiver-inferred", "possible"): (6, 69),
    ("class-attribute", "certain"): (134, 134),
    ("class-attribute", "likely"): (16, 25),
    ("class-attribute", "possible"): (13, 20),
    ("super", "certain"): (310, 310),
    ("super", "likely"): (4, 5),
    ("constructor", "certain"): (1983, 1985),
    ("constructor", "likely"): (1393, 1470),
    ("constructor", "possible"): (12, 71),
    ("callable-value", "certain"): (119, 129),
    ("callable-value", "likely"): (244, 445),
    ("callable-value", "possible"): (61, 350),
    ("callable-instance", "likely"): (2, 4),
    ("property-get", "certain"): (616, 624),
    ("property-get", "likely"): (469, 549),
    ("property-get", "possible"): (59, 400),
    ("property-set", "certain"): (25, 25),
    ("property-set", "likely"): (6, 7),
    ("descriptor", "certain"): (483, 501),
    ("descriptor", "likely"): (231, 285),
    ("descriptor", "possible"): (238, 467),
    ("operator", "certain"): (185, 197),
    ("operator", "likely"): (149, 297),
    ("operator", "possible"): (168, 1732),
    ("iteration", "certain"): (152, 167),
    ("iteration", "likely"): (3, 6),
    ("iteration", "possible"): (158, 496),
    ("context-manager", "certain"): (92, 92),
    ("context-manager", "likely"): (12, 18),
    ("conversion", "certain"): (46, 60),
    ("conversion", "likely"): (33, 42),
    ("conversion", "possible"): (148, 802),
    ("decoration", "certain"): (504, 504),
    ("decoration", "likely"): (855, 865),
    ("library-callback", "certain"): (4, 4),
    ("library-callback", "likely"): (24, 40),
    ("library-callback", "possible"): (15, 1030),
    ("getattr-pattern", "possible"): (0, 172),
    ("signal", "possible"): (0, 49),
    ("class-creation", "certain"): (176, 202),
    # end evidence
}


def chance_of(edge: Edge) -> int:
    """The chance that an edge is real: above 0, below `SURE`."""
    return measured_chance(edge.rule, edge.certainty)


def chance_of_both(first: int, second: int) -> int:
    """The chance of a chain from those of its two parts, rounded down, but never 0."""
    return max(1, first * second // SURE)


@cache
def measured_chance(rule: Rule, certainty: Certainty) -> int:
    """Seen of judged edges, by Laplace's rule of succession (one more seen, one more not), so that no count makes an
    edge sure or impossible. A rule with fewer than `ENOUGH` judged edges, and every relation, which nothing judges,
    has the figure of its certainty over all rules."""
    seen, judged = MEASURED.get((rule.value, certainty.value), (0, 0))
    if judged < ENOUGH:
        counts = [count for (_, word), count in MEASURED.items() if word == certainty.value]
        seen, judged = sum(count[0] for count in counts), sum(count[1] for count in counts)
    return (seen + 1) * SURE // (judged + 2)
