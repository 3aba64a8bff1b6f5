"""Accuracy of the call graph: recorded calls of seven packages, the hard cases, PyCG's micro-benchmark.

    python benchmarks/accuracy.py [--packages click,flask] [--parts oracle,cases,pycg] [--json FILE]

Recall is over recorded explicit, constructor and `__call__` edges, function to function, `possible` edges left out;
precision is judged at call sites that ran; a silent miss is a recorded call that is neither an edge nor at a site
declared unresolved (benchmarks/oracle/README.md has the definitions, and where the others' figures come from).
Exit status 1 if a package falls under its bar, 2 if a download fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from benchmarks import sources

HERE = REPOSITORY / "benchmarks"
PARTS = ("oracle", "cases", "pycg")
RECALL_BAR, PRECISION_BAR = 0.70, 0.85
BARRED = ("click", "flask", "marshmallow")


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


class Score(NamedTuple):
    """One package: shares from 0 to 1, CPU seconds of the `graph` command with its workers."""

    package: str
    recall: float
    silent: float
    precision: float
    unresolved: float
    call_sites: int
    cpu: float

    @property
    def is_met(self) -> bool:
        """Whether the package reaches its bar; without a bar, always."""
        return self.package not in BARRED or (self.recall >= RECALL_BAR and self.precision >= PRECISION_BAR)


def score_package(entry: dict[str, Any], work: Path) -> Score:
    """Graph one package of the oracle's manifest and score it. Raises sources.NotFetched."""
    folder = sources.unpack_sdist(entry["package"], entry["version"])
    root = folder / Path(entry["source_root"]).relative_to(entry["source_dir"])
    graph, neutral, scored = (work / f"{entry['package']}.{kind}.json" for kind in ("graph", "edges", "score"))
    command = [*_contextc(), "graph", str(root), "--format", "json"]
    for prefix in entry["prefixes"]:
        command += ["--include", f"{prefix}/"]
    if entry["exclude"]:  # a regular expression over paths; here the same in gitignore form
        command += ["--exclude", "tests/", "--exclude", "conftest.py"]
    before = _cpu_of_children()
    with graph.open("wb") as out:
        _run(command, stdout=out)
    cpu = _cpu_of_children() - before
    with neutral.open("wb") as out:
        converter = [sys.executable, str(HERE / "tools" / "graph_to_oracle.py"), "--without-possible"]
        said = _run([*converter, str(graph)], stdout=out)
    edges = HERE / "oracle" / "edges" / f"{entry['package']}-{entry['version']}"
    scorer = [sys.executable, str(HERE / "oracle" / "score_edges.py"), "--oracle", str(edges), "--root", str(root)]
    _run([*scorer, str(neutral), "--json", str(scored)], stdout=subprocess.DEVNULL)
    result = json.loads(scored.read_text())
    calls, precise = result["recall"]["ALL_CALLS"], result["precision"].get("ALL", {"precision": 0.0})
    figures = re.search(r"call sites (\d+), unresolved share ([\d.]+)%", said)
    sites, share = (int(figures[1]), float(figures[2]) / 100) if figures else (0, 0.0)
    return Score(
        entry["package"], calls["func_recall"], calls["silent_miss_rate"], precise["precision"], share, sites, cpu
    )


def print_scores(scores: list[Score]) -> None:
    """contextc beside the others, as a Markdown table."""
    head = ("package", "recall", "silent miss", "precision", "unresolved share", "call sites", "CPU s", "bar",
            "name-only r / s / p", "jedi r / s / p", "pyrefly r / s / p")  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for s in scores:
        bar = "–" if s.package not in BARRED else "met" if s.is_met else "NOT MET"
        percent = (f"{100 * share:.1f}" for share in (s.recall, s.silent, s.precision, s.unresolved))
        cells = [s.package, *percent, f"{s.call_sites:,}", f"{s.cpu:.1f}", bar, *OTHERS[s.package]]
        print("| " + " | ".join(cells) + " |")


def score_cases() -> None:
    """The hard cases: prints the scorer's own table."""
    command = f"{shlex.join(_contextc())} graph {{src}} --format json"
    print("\nHard cases (fixtures/cases)\n", flush=True)
    cases = str(REPOSITORY / "fixtures" / "cases")
    _run([sys.executable, str(HERE / "tools" / "score_cases.py"), "--cmd", command, cases])


def score_pycg(work: Path) -> None:
    """PyCG's micro-benchmark: prints the scorer's line. Raises sources.NotFetched."""
    snippets = sources.unpack_sdist("pycg", "0.0.8") / "micro-benchmark" / "snippets"
    command = f"{shlex.join(_contextc())} graph {{src}} --format json"
    predicted = str(work / "pycg.json")
    print("\nPyCG micro-benchmark (complete: no false edge; sound: none missing; exact: both)\n", flush=True)
    _run([sys.executable, str(HERE / "pycg" / "run_pycg.py"), "--cmd", command, str(snippets), predicted])
    _run([sys.executable, str(HERE / "pycg" / "score.py"), "--gt", str(snippets), "--mode", "internal", predicted])


def _contextc() -> list[str]:
    return [sys.executable, "-m", "contextc"]


def _run(command: list[str], stdout: Any = None) -> str:
    """Run to the end and return what it said on standard error. A failure ends the benchmark."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        status = subprocess.run(command, stdout=stdout, stderr=said, env=environment).returncode
        said.seek(0)
        text = said.read()
    if status:
        raise SystemExit(f"{shlex.join(command)}: exit {status}\n{text[-2000:]}")
    return text


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Run the parts asked for, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", help="comma-separated, of the oracle's seven; the default is all")
    parser.add_argument("--parts", default=",".join(PARTS), help="comma-separated, of: oracle, cases, pycg")
    parser.add_argument("--json", type=Path, help="write the packages' figures to this file as well")
    arguments = parser.parse_args()
    manifest = json.loads((HERE / "oracle" / "manifest.json").read_text())
    known = [entry["package"] for entry in manifest]
    packages = arguments.packages.split(",") if arguments.packages else known
    parts = arguments.parts.split(",")
    for word, allowed in [*((p, known) for p in packages), *((p, PARTS) for p in parts)]:
        if word not in allowed:
            parser.error(f"{word}: not one of {', '.join(allowed)}")
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            if "oracle" in parts:
                for entry in manifest:
                    if entry["package"] in packages:
                        scores.append(score_package(entry, Path(folder)))
                        print(f"scored {entry['package']}", file=sys.stderr)
                print_scores(scores)
            if "cases" in parts:
                score_cases()
            if "pycg" in parts:
                score_pycg(Path(folder))
        except sources.NotFetched as fault:
            print(fault, file=sys.stderr)
            return 2
    if arguments.json:
        arguments.json.write_text(json.dumps([s._asdict() for s in scores], indent=1) + "\n")
    return 0 if all(score.is_met for score in scores) else 1


if __name__ == "__main__":
    raise SystemExit(main())
