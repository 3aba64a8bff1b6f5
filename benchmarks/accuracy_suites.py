"""The suites that `accuracy.py` runs: each goes out to child processes and comes back as one plain record.

`score_package(entry, …)` is `{"recall": 0.977, "silent": 0.003, "precision": 0.963, …, "cpu": 2.1, "memory_mb": 73.2}`:
shares from 0 to 1, CPU seconds of the `graph` command with the workers it waited for and with facts cached, memory the
largest of these processes at its peak. This process stays small, since a child's peak counts its parent's at the start.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import runpy
import shlex
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import sources
from tests.case_files import Case

REPOSITORY = Path(__file__).resolve().parent.parent
HERE = REPOSITORY / "benchmarks"
Record = dict[str, Any]


class Cost(NamedTuple):
    """What a command took: CPU seconds, and megabytes of the largest process."""

    cpu: float
    memory_mb: float


class CpuLimitReached(Exception):
    """A command was ended since it took more CPU seconds than it may."""


class Scope(NamedTuple):
    """What of a package's sdist is analysed: where, with which options, and the folder before the recorded paths."""

    root: Path
    options: list[str]
    strip: str


def choose_scope(entry: dict[str, Any], sdist: Path, with_tests: bool) -> Scope:
    """The package alone as it was recorded, or all of its sdist: tests, examples and documents' code too."""
    inner = Path(entry["source_root"]).relative_to(entry["source_dir"])
    if with_tests:
        return Scope(sdist, [], "" if inner == Path() else f"{inner.as_posix()}/")
    options = [word for prefix in entry["prefixes"] for word in ("--include", f"{prefix}/")]
    if entry["exclude"]:  # a regular expression over paths; here the same in gitignore form
        options += ["--exclude", "tests/", "--exclude", "conftest.py"]
    return Scope(sdist / inner, options, "")


class Setting(NamedTuple):
    """How packages are analysed: the suite's name in the record, its title, whole sdists or the package alone, options
    for the `graph` command, and a limit on its CPU seconds, past which a package is recorded as not finished."""

    suite: str
    title: str
    with_tests: bool = False
    options: tuple[str, ...] = ()
    cpu_limit: int | None = None


SETTINGS = {
    setting.suite: setting
    for setting in (
        Setting("oracle", "Recorded calls"),
        Setting("oracle_without_jedi", "Recorded calls, jedi not asked", options=("--no-jedi",)),
        Setting("oracle_with_tests", "Recorded calls, the sdist's tests analysed too", True, (), 15 * 60),
    )
}


def score_package(entry: dict[str, Any], work: Path, setting: Setting, wrong: Path | None = None) -> Record:
    """Graph one package of the oracle's manifest and score it; `wrong` is a folder for the edges not seen at sites
    that ran. `{"cpu_limit": 900}` alone where the analysis needed more. Raises sources.NotFetched."""
    name = entry["package"]
    sdist = sources.unpack_sdist(name, entry["version"])
    scope = choose_scope(entry, sdist, setting.with_tests)
    graph, converted, record = (work / f"{name}.{part}.json" for part in ("graph", "converted", "record"))
    command = [*_contextc(), "graph", str(scope.root), "--format", "json", *scope.options, *setting.options]
    known = _count_cached_files()
    try:
        cost, _ = _run(command, graph, setting.cpu_limit)
        if _count_cached_files() != known:  # files were read for the first time: their cost is the readers'
            cost, _ = _run(command, graph, setting.cpu_limit)
    except CpuLimitReached:
        return {"cpu_limit": setting.cpu_limit}
    strip = ["--strip", scope.strip] if scope.strip else []
    converter = [sys.executable, str(HERE / "tools" / "graph_to_oracle.py"), "--without-possible", *strip]
    _, said = _run([*converter, str(graph)], converted)
    oracle = HERE / "oracle" / "edges" / f"{name}-{entry['version']}"
    root = sdist / Path(entry["source_root"]).relative_to(entry["source_dir"])
    judge = [sys.executable, str(HERE / "accuracy_edges.py"), str(graph), str(converted), "--oracle", str(oracle)]
    judge += ["--root", str(root), *strip]
    if setting.with_tests:
        judge += [word for prefix in entry["prefixes"] for word in ("--only", prefix)]
    if wrong:
        wrong.mkdir(parents=True, exist_ok=True)
        judge += ["--wrong", str(wrong / f"{name}{setting.suite.removeprefix('oracle').replace('_', '-')}.tsv")]
    _run(judge, record)
    figures = re.search(r"call sites (\d+), unresolved share ([\d.]+)%", said)
    sites, unresolved = (int(figures[1]), round(float(figures[2]) / 100, 4)) if figures else (0, 0.0)
    result: Record = json.loads(record.read_bytes())
    return {**result, "unresolved": unresolved, "call_sites": sites, **cost._asdict()}


def score_cases() -> Record:
    """The hard cases: how many are right, and what is wrong with each of the others."""
    cases = REPOSITORY / "fixtures" / "cases"
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "cases.json"
        scorer = [sys.executable, str(HERE / "tools" / "score_cases.py"), "--cmd", _command(), str(cases)]
        _run([*scorer, "--json", str(found)])
        return describe_cases(json.loads(found.read_bytes()))


def describe_cases(results: list[Record]) -> Record:
    """The case scorer's own list, summed up."""
    return {
        "cases": len(results),
        "right": sum(not r["problems"] for r in results),
        **{key: sum(r[key] for r in results) for key in ("must", "found", "must_not", "violated", "flags", "flagged")},
        "not_right": {r["id"]: r["problems"] for r in sorted(results, key=lambda r: str(r["id"])) if r["problems"]},
    }


def score_pycg(work: Path) -> Record:
    """PyCG's micro-benchmark: cases exact (no false edge, none missing), and which are not. Raises
    sources.NotFetched."""
    snippets = sources.unpack_sdist("pycg", "0.0.8") / "micro-benchmark" / "snippets"
    predicted = work / "pycg.json"
    _run([sys.executable, str(HERE / "pycg" / "run_pycg.py"), "--cmd", _command(), str(snippets), str(predicted)])
    scorer = runpy.run_path(str(HERE / "pycg" / "score.py"))
    rows = scorer["score"](json.loads(predicted.read_bytes()), str(snippets), "internal")
    return describe_pycg(rows, scorer["summary"](rows))


def describe_pycg(rows: dict[str, Record], summary: Record) -> Record:
    """The scorer's rows and summary as one record."""
    figures = ("cases", "complete", "sound", "exact", "crashed", "precision", "recall")
    not_exact = {case: {"false": r["fp"], "missing": r["fn"]} for case, r in sorted(rows.items()) if r["fp"] or r["fn"]}
    return {**{key: summary[key] for key in figures}, "not_exact": not_exact}


def describe_markdown_cases(cases: Iterable[Case]) -> Record:
    """The programs under fixtures/inference: how many, and the claims known to be wrong (`# bug:`), by case. Whether
    all the others hold is the tests' business."""
    found = {case.id: case.bugs for case in cases}
    with_bugs = {name: bugs for name, bugs in sorted(found.items()) if bugs}
    return {"cases": len(found), "bugs": sum(with_bugs.values()), "with_bugs": with_bugs}


def _cache_folder() -> Path:
    """The benchmark's own cache, so that the CPU of two runs compares: facts cached, whatever else ran before."""
    return REPOSITORY / ".work" / "accuracy-cache"


def _count_cached_files() -> int:
    count = 0
    for store in sorted(_cache_folder().glob("facts-*.sqlite3")):
        with contextlib.closing(sqlite3.connect(store)) as connection:
            count += connection.execute("SELECT count(*) FROM facts").fetchone()[0]
    return count


def _contextc() -> list[str]:
    return [sys.executable, "-m", "contextc"]


def _command() -> str:
    return f"{shlex.join(_contextc())} graph {{src}} --format json --quiet"


def _run(command: list[str], output: Path | None = None, cpu_limit: int | None = None) -> tuple[Cost, str]:
    """Run to the end, standard output to the file. Returns its cost and what it said on standard error. A failure
    ends the benchmark. Raises CpuLimitReached, where the system can limit a process."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "CONTEXTC_CACHE_DIR": str(_cache_folder())}
    if cpu_limit is not None and os.name == "posix":  # a limit of each of its processes; inference runs in one
        command = ["sh", "-c", f'ulimit -t {cpu_limit} && exec "$@"', "sh", *command]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said, Path(output or os.devnull).open("wb") as out:
        child = subprocess.Popen(command, stdout=out, stderr=said, env=environment)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if cpu_limit is not None and child.returncode < 0 and used.ru_utime + used.ru_stime > cpu_limit - 1:
        raise CpuLimitReached(shlex.join(command))
    if child.returncode:
        raise SystemExit(f"{shlex.join(command)}: exit {child.returncode}\n{text[-2000:]}")
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024  # of ru_maxrss
    return Cost(round(used.ru_utime + used.ru_stime, 2), round(used.ru_maxrss / unit, 1)), text
