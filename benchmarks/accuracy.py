"""Accuracy of the call graph: recorded calls of seven packages, PyCG's micro-benchmark, hard cases, Markdown cases.

    python benchmarks/accuracy.py [--packages click,flask] [--parts oracle,pycg,cases,markdown]
                                  [--with-tests | --no-jedi] [--json FILE] [--wrong FOLDER] [--baseline FILE]
    python benchmarks/accuracy.py --update-baseline

Recall is over recorded explicit, constructor and `__call__` edges (ALL: over every kind), function to function,
`possible` edges left out; precision is judged at call sites that ran; a silent miss is a recorded call that is neither
an edge nor at a site declared unresolved (benchmarks/oracle/README.md has the definitions, and where the others'
figures come from). The figures go to one JSON file; what changed against the committed baseline is printed last.
--update-baseline runs nothing: it takes the parts and packages of that JSON file into the baseline, and writes what
was measured into docs/precision.md and contextc/passes/evidence.py.
Exit status 1 if a figure is under its bar, 2 if a download fails or an argument is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from benchmarks import accuracy_document as documents
from benchmarks import accuracy_suites as suites
from benchmarks import accuracy_table as tables
from benchmarks import sources
from tests import case_files

HERE = REPOSITORY / "benchmarks"
SCHEMA = "contextc.accuracy/1"
PARTS = ("oracle", "pycg", "cases", "markdown")
RECALL_BARS = {"click": 0.82, "flask": 0.72, "marshmallow": 0.75, "rope": 0.62}
PRECISION_BAR = 0.88  # certain and likely together, on the packages above
PYCG_BAR = 95  # exact, of the 118 in the sdist

Record = dict[str, Any]


def judge_packages(packages: dict[str, Record]) -> dict[str, str]:
    """`met`, or what is under its bar, for each package that has one."""
    verdicts = {}
    for name, record in packages.items():
        if name in RECALL_BARS:
            faults = [
                f"{key} < {100 * bar:.0f}"
                for key, bar in (("recall", RECALL_BARS[name]), ("precision", PRECISION_BAR))
                if record[key] < bar
            ]
            verdicts[name] = "NOT MET: " + ", ".join(faults) if faults else "met"
    return verdicts


def judge_pycg(record: Record) -> str:
    """How PyCG's micro-benchmark stands to its bar."""
    return f"bar {PYCG_BAR}: met" if record["exact"] >= PYCG_BAR else f"NOT MET: bar {PYCG_BAR}"


def is_met(record: Record) -> bool:
    """Whether nothing that was measured is under its bar. With tests in the analysis, or without jedi, there is
    none."""
    verdicts = [*judge_packages(record.get("oracle", {})).values()]
    verdicts += [judge_pycg(record["pycg"])] if "pycg" in record else []
    return not any(verdict.startswith("NOT MET") for verdict in verdicts)


def merge_into_baseline(baseline: Record, measured: Record) -> Record:
    """The baseline with what was measured in place of its own: by package, and by whole suite otherwise. A package
    analysed in another way keeps beside its figures those that the first suite has now, so that a later run of only one
    of them doesn't lend its progress to the other."""
    merged = {**baseline, **measured}
    for suite in suites.SETTINGS:
        if suite in baseline and suite in measured:
            merged[suite] = dict(sorted({**baseline[suite], **measured[suite]}.items()))
    usual = tables.only_scored(merged.get("oracle", {}))
    for suite in (*suites.SETTINGS,)[1:]:
        for name in measured.get(suite, {}):
            if name in usual:
                beside = {key: usual[name][key] for key in documents.COMPARED}
                merged[suite][name] = {**merged[suite][name], "beside": beside}
    return merged


def choose_setting(arguments: argparse.Namespace) -> suites.Setting:
    """How the packages are analysed."""
    if arguments.with_tests:
        return suites.SETTINGS["oracle_with_tests"]
    return suites.SETTINGS["oracle" if arguments.jedi else "oracle_without_jedi"]


def run_oracle(arguments: argparse.Namespace, packages: list[str], work: Path) -> dict[str, Record]:
    """Score the packages, in the manifest's order; prints a word for each on standard error."""
    found = {}
    for entry in json.loads((HERE / "oracle" / "manifest.json").read_bytes()):
        if entry["package"] in packages:
            found[entry["package"]] = suites.score_package(entry, work, choose_setting(arguments), arguments.wrong)
            print(f"scored {entry['package']}", file=sys.stderr)
    return found


def show_oracle(setting: suites.Setting, found: dict[str, Record]) -> None:
    """The tables of one way to analyse; the packages that were not finished by name."""
    scored = tables.only_scored(found)
    bars = judge_packages(scored) if setting.suite == "oracle" else {}
    ended = [f"{name}: not finished in {found[name]['cpu_limit']} CPU seconds" for name in found if name not in scored]
    show(setting.title, tables.describe_packages(scored, bars), tables.describe_kinds(scored),
         tables.describe_certainties(scored), tables.describe_rules(scored), tables.describe_reasons(scored),
         *([ended] if ended else []))  # fmt: skip


def run(arguments: argparse.Namespace, packages: list[str], parts: list[str]) -> Record:
    """Run the parts asked for and print each when it is done. Raises sources.NotFetched."""
    record: Record = {"schema": SCHEMA}
    with tempfile.TemporaryDirectory() as folder:
        if "oracle" in parts:
            setting = choose_setting(arguments)
            found = record[setting.suite] = run_oracle(arguments, packages, Path(folder))
            show_oracle(setting, found)
        if "pycg" in parts:
            record["pycg"] = suites.score_pycg(Path(folder))
            show("PyCG micro-benchmark", tables.describe_pycg(record["pycg"], judge_pycg(record["pycg"])))
        if "cases" in parts:
            record["cases"] = suites.score_cases()
            show("Hard cases (fixtures/cases)", tables.describe_cases(record["cases"]))
        if "markdown" in parts:
            record["markdown"] = suites.describe_markdown_cases(case_files.read_all())
            show("Markdown cases (fixtures/inference)", tables.describe_markdown(record["markdown"]))
    return record


def show(title: str, *blocks: list[str]) -> None:
    """A heading and blocks of lines, each set off."""
    print(f"# {title}\n")
    for block in blocks:
        print(*block, sep="\n", end="\n\n", flush=True)


def write_json(path: Path, record: Record) -> None:
    """One file, keys in the record's order; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> Record | None:
    """The record in a file; None if there is none."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    record: Record = json.loads(text)
    return record


def update_baseline(arguments: argparse.Namespace) -> int:
    """Take the last run's figures into the baseline, and the baseline's into the document and the planner."""
    measured = read_json(arguments.json)
    if measured is None:
        print(f"{arguments.json}: no such file; run the benchmark first", file=sys.stderr)
        return 2
    baseline = merge_into_baseline(read_json(arguments.baseline) or {}, measured)
    write_json(arguments.baseline, baseline)
    documents.rewrite(arguments.document, arguments.evidence, baseline)
    print(f"{arguments.baseline}: {', '.join(key for key in measured if key != 'schema')} taken from {arguments.json}")
    return 0


def parse_arguments() -> tuple[argparse.Namespace, list[str], list[str]]:
    """The arguments, the packages, the parts. A word that is none ends the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", help="comma-separated, of the oracle's seven; the default is all")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"comma-separated, of: {', '.join(PARTS)}")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--with-tests", action="store_true", help="analyse whole sdists, their tests too; no bars")
    how.add_argument("--no-jedi", dest="jedi", action="store_false", help="don't ask jedi; no bars")
    parser.add_argument("--json", type=Path, default=REPOSITORY / ".work" / "accuracy.json", help="where figures go")
    parser.add_argument("--wrong", type=Path, help="folder for the edges not seen at sites that ran, a file a package")
    parser.add_argument("--baseline", type=Path, default=HERE / "accuracy_baseline.json", help="what to compare with")
    parser.add_argument("--update-baseline", action="store_true", help="take the last run's JSON into the baseline")
    parser.add_argument("--document", type=Path, default=REPOSITORY / "docs" / "precision.md", help=argparse.SUPPRESS)
    planner = REPOSITORY / "contextc" / "passes" / "evidence.py"
    parser.add_argument("--evidence", type=Path, default=planner, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    known = [entry["package"] for entry in json.loads((HERE / "oracle" / "manifest.json").read_bytes())]
    packages = arguments.packages.split(",") if arguments.packages else known
    parts = arguments.parts.split(",")
    for word, allowed in [*((p, known) for p in packages), *((p, list(PARTS)) for p in parts)]:
        if word not in allowed:
            parser.error(f"{word}: not one of {', '.join(allowed)}")
    return arguments, packages, parts


def main() -> int:
    """Run, write, compare, judge."""
    arguments, packages, parts = parse_arguments()
    if arguments.update_baseline:
        return update_baseline(arguments)
    try:
        record = run(arguments, packages, parts)
    except sources.NotFetched as fault:
        print(fault, file=sys.stderr)
        return 2
    write_json(arguments.json, record)
    baseline = read_json(arguments.baseline)
    if baseline is not None:
        show("Against the baseline (points; costs as ratios)", tables.compare(baseline, record))
    return 0 if is_met(record) else 1


if __name__ == "__main__":
    raise SystemExit(main())
