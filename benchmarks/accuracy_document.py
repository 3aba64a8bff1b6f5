"""The measured figures where others read them: tables in docs/precision.md, and the planner's own in contextc.

`describe_rules({"click": record, …})` is a Markdown table whose row `| super | 86 / 86 = 100.0 % | – | – |` says: of
the certain edges that rest on this rule and lie at a call site which ran, how many were seen, and how many there are.
In: a baseline as `accuracy.py` keeps it. Out: the same files with what stands between two marks made anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.accuracy_table import CERTAINTIES, Record, Tally, add_up, percent
from contextc.model.edge import Rule

COMPARED = ("recall", "precision", "unresolved", "cpu")  # between two ways to analyse a package
RULES, JEDI, TESTS, EVIDENCE = "precision-by-rule", "jedi", "tests", "evidence"


def total_by_rule(packages: dict[str, Record]) -> dict[str, dict[str, Tally]]:
    """Rule → certainty → tally over all packages; rules in the order of the model's list, none without judged edges."""
    total: dict[str, dict[str, Tally]] = {}
    for rule in (rule.value for rule in Rule):
        found = [p["by_rule"].get(rule, {}) for p in packages.values()]
        tallies = {word: add_up(t[word] for t in found if word in t) for word in CERTAINTIES}
        if any(tally["edges"] for tally in tallies.values()):
            total[rule] = {word: tally for word, tally in tallies.items() if tally["edges"]}
    return total


def describe_rules(packages: dict[str, Record]) -> list[str]:
    """Precision by rule and certainty, all packages together."""
    total = total_by_rule(packages)
    rows = [(f"`{rule}`", *(_show(tallies.get(word)) for word in CERTAINTIES)) for rule, tallies in total.items()]
    sums = {word: add_up(t[word] for t in total.values() if word in t) for word in CERTAINTIES}
    rows.append(("all", *(_show(sums[word]) for word in CERTAINTIES)))
    return [f"Seen / judged on {_name_all(packages)}.", "", *_table(("rule", *CERTAINTIES), rows)]


def describe_pairs(packages: dict[str, Record], word: str) -> list[str]:
    """Each package as usual, and analysed in another way, which `word` names: percent and CPU seconds."""
    head = ["package"]
    for what in ("recall", "precision", "unresolved", "CPU s"):
        head += [what, word]
    rows = []
    for name, record in packages.items():
        if "cpu_limit" in record:
            other = [f"not finished in {record['cpu_limit'] // 60} CPU minutes", *["–"] * 3]
        else:
            other = _figures(record)
        pairs = zip(_figures(record["beside"]), other, strict=True)
        rows.append([name, *(cell for pair in pairs for cell in pair)])
    return _table(head, rows)


def describe_evidence(packages: dict[str, Record]) -> list[str]:
    """The counts as lines of a Python mapping: `("super", "certain"): (86, 86),`."""
    return [
        f'    ("{rule}", "{word}"): ({tally["edges"] - tally["wrong"]}, {tally["edges"]}),'
        for rule, tallies in total_by_rule(packages).items()
        for word, tally in tallies.items()
    ]


def fill_document(text: str, baseline: Record) -> str:
    """docs/precision.md with its three tables as the baseline has them; one whose suite was never run stays."""
    text = replace_section(text, RULES, describe_rules(baseline.get("oracle", {})))
    for suite, name, word in (("oracle_without_jedi", JEDI, "without"), ("oracle_with_tests", TESTS, "with tests")):
        if suite in baseline:
            text = replace_section(text, name, describe_pairs(baseline[suite], word))
    return text


def fill_evidence(text: str, baseline: Record) -> str:
    """The planner's module with the counts as the baseline has them."""
    return replace_section(text, EVIDENCE, describe_evidence(baseline.get("oracle", {})))


def rewrite(document: Path, evidence: Path, baseline: Record) -> None:
    """Both files, in place."""
    document.write_text(fill_document(document.read_text(encoding="utf-8"), baseline), encoding="utf-8")
    evidence.write_text(fill_evidence(evidence.read_text(encoding="utf-8"), baseline), encoding="utf-8")


def replace_section(text: str, name: str, lines: Iterable[str]) -> str:
    """The text with these lines between the line that has `begin NAME` and the one that has `end NAME`. Raises
    ValueError where a mark is missing."""
    kept = text.split("\n")
    first = next((i for i, line in enumerate(kept) if f"begin {name}" in line), None)
    last = next((i for i, line in enumerate(kept) if f"end {name}" in line), None)
    if first is None or last is None or last < first:
        raise ValueError(f"no section '{name}' between two marks")
    return "\n".join([*kept[: first + 1], *lines, *kept[last:]])


def _figures(record: Record) -> list[str]:
    return [*(percent(record[key]) for key in COMPARED[:-1]), f"{record['cpu']:.1f}"]


def _show(tally: Tally | None) -> str:
    if not tally or not tally["edges"]:
        return "–"
    right, judged = tally["edges"] - tally["wrong"], tally["edges"]
    return f"{right:,} / {judged:,} = {percent(right / judged)} %"


def _name_all(packages: dict[str, Any]) -> str:
    names = list(packages)
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table as the document has them: unpadded."""
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return [lines[0], "|" + "---|" * (lines[0].count("|") - 1), *lines[1:]]
