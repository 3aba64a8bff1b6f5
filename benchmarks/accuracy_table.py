"""Records of `accuracy.py` as lines of text: tables beside other tools, and what changed since the baseline.

`difference(0.812, 0.815)` is `+0.3`: points of a hundred, as every share here. Nothing is read, run or printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Record = dict[str, Any]
Tally = dict[str, int]  # "edges" judged, and how many of these were "wrong": not seen
KINDS = ("explicit", "constructor", "instance_call", "property", "dunder", "decorator", "via_c")
CERTAINTIES = ("certain", "likely", "possible")
RULE_CHANGES = 4  # rules named a package in the table of differences
PLACES = 0.05  # a difference below is none: shares are shown to a tenth of a point


class Others(NamedTuple):
    """Other tools on one package, percent, as "recall / silent miss / precision" (benchmarks/oracle/README.md)."""

    name_only: str
    jedi: str
    pyrefly: str


OTHERS = {
    "click": Others("93.0 / 1.1 / 35.1", "75.9 / 15.4 / 95.3", "94.4 / 1.1 / 91.9"),
    "flask": Others("80.2 / 1.0 / 38.1", "62.4 / 27.3 / 98.2", "80.5 / 0.6 / 98.2"),
    "marshmallow": Others("87.0 / 0.7 / 34.9", "51.8 / 30.3 / 99.6", "84.6 / 5.5 / 92.2"),
    "networkx": Others("86.8 / 1.8 / 51.7", "–", "69.6 / 0.6 / 96.3"),
    "celery": Others("89.8 / 2.1 / 15.0", "–", "72.4 / 1.1 / 82.6"),
    "django": Others("86.5 / 6.7 / 5.0", "–", "63.9 / 4.4 / 65.3"),
    "rope": Others("89.0 / 2.6 / 20.7", "63.7 / 9.4 / 96.9", "60.3 / 1.4 / 81.9"),
}
# benchmarks/README.md and fixtures/cases/README.md: exact of 119, precision, recall; cases right and must edges found.
PYCG_OTHERS = "pycg 0.0.8: 107 of 119, 97.9 / 94.2; jarviscg: 100, 93.2 / 95.1; jedi: 94, 98.1 / 84.8"
CASES_OTHERS = "name matching: 21 % right, 63 % of must edges; PyCG 0.0.8: 28 %, 51 %"


def percent(share: float | None) -> str:
    """`0.9769` as `97.7`; a dash for nothing to count."""
    return "–" if share is None else f"{100 * share:.1f}"


def difference(before: float, after: float) -> str:
    """The change of a share in points, with its sign; `=` where it is none to a tenth."""
    change = 100 * (after - before)
    return "=" if abs(change) < PLACES else f"{change:+.1f}".replace("-", "−")


def ratio(before: float, after: float) -> str:
    """A cost as a multiple of what it was: `×1.30`."""
    return f"×{after / before:.2f}" if before else "–"


def precision(tally: Tally) -> float | None:
    """The share of the edges judged that were seen."""
    return 1 - tally["wrong"] / tally["edges"] if tally["edges"] else None


def add_up(tallies: Iterable[Tally]) -> Tally:
    """One tally of several."""
    total = {"edges": 0, "wrong": 0}
    for tally in tallies:
        for key in total:
            total[key] += tally[key]
    return total


def definite(by_certainty: dict[str, Tally]) -> Tally:
    """A rule's certain and likely edges together."""
    return add_up(tally for word, tally in by_certainty.items() if word != "possible")


def only_scored(packages: dict[str, Record]) -> dict[str, Record]:
    """The packages whose analysis came to its end."""
    return {name: p for name, p in packages.items() if "recall" in p}


def show_tally(tally: Tally) -> str:
    """`91.8 of 659`: precision, and the number of edges judged; a dash for none."""
    return f"{percent(precision(tally))} of {tally['edges']}" if tally["edges"] else "–"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table, columns padded for the terminal."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
             for row in (head, *rows)]  # fmt: skip
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return lines


def describe_packages(packages: dict[str, Record], bars: dict[str, str]) -> list[str]:
    """contextc beside the others. `bars` says for a package how it stands to its bar."""
    head = ("package", "recall", "silent miss", "precision", "recall ALL", "unresolved", "call sites", "CPU s",
            "peak MB", "bar", "name-only r / s / p", "jedi r / s / p", "pyrefly r / s / p")  # fmt: skip
    rows = []
    for name, p in packages.items():
        shares = [percent(p[key]) for key in ("recall", "silent", "precision", "recall_all", "unresolved")]
        costs = [f"{p['call_sites']:,}", f"{p['cpu']:.1f}", f"{p['memory_mb']:.0f}", bars.get(name, "–")]
        rows.append([name, *shares, *costs, *OTHERS.get(name, Others("–", "–", "–"))])
    return table(head, rows)


def describe_kinds(packages: dict[str, Record]) -> list[str]:
    """Recall by kind of recorded call, with the number of recorded pairs."""
    rows = []
    for name, p in packages.items():
        kinds = [p["recall_by_kind"].get(kind) for kind in KINDS]
        rows.append([name, *(f"{percent(k['recall'])} of {k['pairs']}" if k else "–" for k in kinds)])
    return table(("recall", *KINDS), rows)


def describe_certainties(packages: dict[str, Record]) -> list[str]:
    """Precision by certainty, with the number of edges judged; `possible` stands outside every other figure."""
    rows = []
    for name, p in packages.items():
        tallies = [p["by_certainty"][word] for word in CERTAINTIES]
        cells = [show_tally(t) for t in tallies]
        rows.append([name, cells[0], cells[1], f"{percent(p['precision'])} of {p['judged']}", cells[2]])
    return table(("precision", "certain", "likely", "certain + likely", "possible"), rows)


def describe_rules(packages: dict[str, Record]) -> list[str]:
    """Precision by rule: of certain and likely edges by package and over all, then by certainty over all; the rules
    with most wrong edges first."""
    rules: dict[str, dict[str, Tally]] = {}
    for rule in sorted({rule for p in packages.values() for rule in p["by_rule"]}):
        found = [p["by_rule"].get(rule, {}) for p in packages.values()]
        rules[rule] = {word: add_up(t[word] for t in found if word in t) for word in CERTAINTIES}
    judged = sum(definite(tallies)["edges"] for tallies in rules.values())
    rows = []
    for rule, tallies in sorted(rules.items(), key=lambda item: (-definite(item[1])["wrong"], item[0])):
        whole = definite(tallies)
        cells = [show_tally(definite(p["by_rule"].get(rule, {}))) for p in packages.values()]
        of_edges = percent(whole["edges"] / judged) if judged else "–"
        rows.append([rule, *cells, show_tally(whole), str(whole["wrong"]), of_edges,
                     *(show_tally(tallies[word]) for word in CERTAINTIES)])  # fmt: skip
    return table(("precision by rule", *packages, "all", "wrong", "% of edges", *CERTAINTIES), rows)


def describe_reasons(packages: dict[str, Record]) -> list[str]:
    """Sites that may be incomplete, by reason."""
    reasons = sorted({reason for p in packages.values() for reason in p["reasons"]})
    rows = [[reason, *(f"{p['reasons'].get(reason, 0):,}" for p in packages.values())] for reason in reasons]
    rows.append(["all", *(f"{sum(p['reasons'].values()):,}" for p in packages.values())])
    return table(("unresolved", *packages), rows)


def describe_pycg(record: Record, bar: str) -> list[str]:
    """PyCG's micro-benchmark in two lines."""
    return [
        f"{record['exact']} of {record['cases']} exact ({bar}), {record['complete']} complete (no false edge), "
        f"{record['sound']} sound (none missing); precision {percent(record['precision'])}, "
        f"recall {percent(record['recall'])}",
        f"others (exact, precision / recall): {PYCG_OTHERS}",
    ]


def describe_cases(record: Record) -> list[str]:
    """The hard cases in two lines."""
    return [
        f"{record['right']} of {record['cases']} right; must edges {record['found']} of {record['must']}, wrong edges "
        f"{record['violated']} of {record['must_not']}, sites flagged {record['flagged']} of {record['flags']}",
        f"others: {CASES_OTHERS}",
    ]


def describe_markdown(record: Record) -> list[str]:
    """The Markdown cases in a line, and those with known faults."""
    worst = [f"{name}: {count}" for name, count in record["with_bugs"].items()]
    return [f"{record['cases']} cases, {record['bugs']} known faults", *worst]


def compare_packages(before: dict[str, Record], after: dict[str, Record]) -> list[str]:
    """What changed, by package: shares in points, costs as ratios; then the rules whose count of wrong edges moved."""
    head = ("package", "recall", "silent", "precision", "recall ALL", "unresolved", "certain", "CPU", "memory")
    rows, notes = [], []
    before = only_scored(before)
    for name, new in only_scored(after).items():
        old = before.get(name)
        if old is None:
            rows.append([name, "not in the baseline", *[""] * (len(head) - 2)])
            continue
        shares = [difference(old[k], new[k]) for k in ("recall", "silent", "precision", "recall_all", "unresolved")]
        certain = [precision(record["by_certainty"]["certain"]) or 0.0 for record in (old, new)]
        costs = [ratio(old[key], new[key]) for key in ("cpu", "memory_mb")]
        rows.append([name, *shares, difference(*certain), *costs])
        notes += [f"{name}: {line}" for line in compare_rules(old["by_rule"], new["by_rule"])]
    return [*table(head, rows), *notes]


def compare_rules(before: dict[str, dict[str, Tally]], after: dict[str, dict[str, Tally]]) -> list[str]:
    """The rules whose count of wrong edges, certain or likely, changed most, with their counts then and now."""
    pairs = {
        rule: (definite(before.get(rule, {})), definite(after.get(rule, {}))) for rule in sorted({*before, *after})
    }
    moved = [rule for rule, (old, new) in pairs.items() if old["wrong"] != new["wrong"]]
    moved.sort(key=lambda rule: (-abs(pairs[rule][1]["wrong"] - pairs[rule][0]["wrong"]), rule))
    return [
        f"{rule}: wrong {old['wrong']} → {new['wrong']}, judged {old['edges']} → {new['edges']}"
        for rule, (old, new) in ((rule, pairs[rule]) for rule in moved[:RULE_CHANGES])
    ]


def compare_names(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """From the cases that were not right and those that are not now: which became right, which wrong."""
    lines = []
    for word, names in (("became right", {*before} - {*after}), ("became wrong", {*after} - {*before})):
        if names:
            lines.append(f"{word}: {', '.join(sorted(names))}")
    return lines or ["the same cases are right"]


def compare(before: Record, after: Record) -> list[str]:
    """Two records of the whole benchmark: what is different, by suite. A suite that either lacks is left out."""
    lines: list[str] = []
    for suite in ("oracle", "oracle_without_jedi", "oracle_with_tests"):
        if suite in before and suite in after:
            lines += [f"## {suite.replace('_', ' ')}", *compare_packages(before[suite], after[suite])]
    for suite, right, wrong in (("pycg", "exact", "not_exact"), ("cases", "right", "not_right")):
        if suite in before and suite in after:
            counts = [record[suite][right] for record in (before, after)]
            lines += [f"## {suite}: {counts[0]} → {counts[1]} {right}"]
            lines += compare_names(before[suite][wrong], after[suite][wrong])
    if "markdown" in before and "markdown" in after:
        old, new = before["markdown"], after["markdown"]
        lines += [f"## markdown: {old['bugs']} → {new['bugs']} known faults, {old['cases']} → {new['cases']} cases"]
    return lines
