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


def describe_jedi(asked: dict[str, Record], not_asked: dict[str, Record]) -> list[str]:
    """Each package with jedi and without."""
    head = ("package", "recall", "without", "precision", "without", "unresolved", "without", "CPU s", "without")
    return _table(head, [_compare(name, asked[name], not_asked[name]) for name in asked if name in not_asked])


def describe_tests(alone: dict[str, Record], with_tests: dict[str, Record]) -> list[str]:
    """Each package alone and with the sdist's tests in the analysis."""
    head = ("package", "recall", "with tests", "precision", "with tests", "unresolved", "with tests", "CPU s",
            "with tests")  # fmt: skip
    return _table(head, [_compare(name, alone[name], with_tests[name]) for name in alone if name in with_tests])


def describe_evidence(packages: dict[str, Record]) -> list[str]:
    """The counts as lines of a Python mapping: `("super", "certain"): (86, 86),`."""
    return [
        f'    ("{rule}", "{word}"): ({tally["edges"] - tally["wrong"]}, {tally["edges"]}),'
        for rule, tallies in total_by_rule(packages).items()
        for word, tally in tallies.items()
    ]


def fill_document(text: str, baseline: Record) -> str:
    """docs/precision.md with its three tables as the baseline has them; one whose suite was never run stays."""
    packages = baseline.get("oracle", {})
    text = replace_section(text, RULES, describe_rules(packages))
    if "oracle_without_jedi" in baseline:
        text = replace_section(text, JEDI, describe_jedi(packages, baseline["oracle_without_jedi"]))
    if "oracle_with_tests" in baseline:
        text = replace_section(text, TESTS, describe_tests(packages, baseline["oracle_with_tests"]))
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


def _compare(name: str, before: Record, after: Record) -> tuple[str, ...]:
    if "cpu_limit" in after:
        shown = [f"not finished in {after['cpu_limit'] // 60} CPU minutes", *["–"] * 3]
    else:
        shown = _figures(after)
    return name, *(cell for pair in zip(_figures(before), shown, strict=True) for cell in pair)


def _figures(record: Record) -> list[str]:
    return [*(percent(record[key]) for key in ("recall", "precision", "unresolved")), f"{record['cpu']:.1f}"]


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
