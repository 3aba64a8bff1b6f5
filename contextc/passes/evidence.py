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
    ("import", "certain"): (1533, 1534),
    ("import", "likely"): (82, 88),
    ("import", "possible"): (0, 3),
    ("module-attribute", "certain"): (559, 571),
    ("module-attribute", "likely"): (566, 572),
    ("receiver-exact", "certain"): (1769, 1773),
    ("receiver-exact", "likely"): (867, 1250),
    ("receiver-exact", "possible"): (114, 345),
    ("receiver-declared", "certain"): (449, 451),
    ("receiver-declared", "likely"): (1145, 1752),
    ("receiver-declared", "possible"): (361, 1670),
    ("receiver-self", "certain"): (2647, 2649),
    ("receiver-self", "likely"): (437, 527),
    ("receiver-self", "possible"): (31, 167),
    ("receiver-inferred", "likely"): (176, 243),
    ("receiver-inferred", "possible"): (9, 79),
    ("class-attribute", "certain"): (134, 134),
    ("class-attribute", "likely"): (30, 39),
    ("super", "certain"): (310, 310),
    ("super", "likely"): (4, 5),
    ("constructor", "certain"): (1983, 1985),
    ("constructor", "likely"): (1388, 1465),
    ("constructor", "possible"): (12, 49),
    ("callable-value", "certain"): (119, 129),
    ("callable-value", "likely"): (239, 452),
    ("callable-value", "possible"): (57, 315),
    ("callable-instance", "likely"): (0, 2),
    ("property-get", "certain"): (628, 638),
    ("property-get", "likely"): (466, 553),
    ("property-get", "possible"): (49, 381),
    ("property-set", "certain"): (31, 32),
    ("descriptor", "certain"): (291, 312),
    ("descriptor", "likely"): (197, 263),
    ("descriptor", "possible"): (221, 368),
    ("operator", "certain"): (174, 183),
    ("operator", "likely"): (158, 289),
    ("operator", "possible"): (163, 1910),
    ("iteration", "certain"): (96, 104),
    ("iteration", "likely"): (3, 3),
    ("iteration", "possible"): (104, 342),
    ("context-manager", "certain"): (94, 94),
    ("context-manager", "likely"): (4, 6),
    ("conversion", "certain"): (46, 57),
    ("conversion", "likely"): (49, 63),
    ("conversion", "possible"): (64, 246),
    ("decoration", "certain"): (504, 504),
    ("decoration", "likely"): (855, 865),
    ("library-callback", "certain"): (4, 4),
    ("library-callback", "likely"): (24, 42),
    ("library-callback", "possible"): (15, 872),
    ("getattr-pattern", "possible"): (0, 6),
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
