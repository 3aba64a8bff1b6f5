"""Every kind of edge, recorded on each interpreter at hand: the program says beside each line what it calls.

`# edge: callee kind/sub; callee kind | … | …`: the exact set of edges whose call stands on that line, after `|` what
the profile backend records where it can't know, after another `|` what it does where only lines are known. Not listed:
first resumptions of generators, comprehensions' own frames.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.tracing.recording import VERSIONS, Trace, interpreters, record

PROGRAM = (Path(__file__).parent / "kinds_program.txt").read_text(encoding="utf-8")
BACKENDS = [("3.10", "setprofile"), ("3.11", "setprofile"), ("3.12", "monitoring"), ("3.12", "setprofile"),
            ("3.13", "monitoring"), ("3.14", "monitoring")]  # fmt: skip
_NOT_LISTED = ("comprehension", "gen_resume", "gen_first_resume", "class_body")
_recorded: dict[tuple[str, str], Trace] = {}


def recording(version: str, backend: str, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    if version not in interpreters():
        pytest.skip(f"no Python {version} here")
    if (version, backend) not in _recorded:
        folder = tmp_path_factory.mktemp("kinds")
        (folder / "kinds.py").write_text(PROGRAM, encoding="utf-8")
        _recorded[version, backend] = record(folder, [interpreters()[version], "kinds.py"], backend=backend)
    return _recorded[version, backend]


def expected(column: int) -> dict[int, set[tuple[str, str]]]:
    """(callee, kind/sub) by line. `column`: 0 exact, 1 profile, 2 profile with lines only."""
    table: dict[int, set[tuple[str, str]]] = {}
    for number, line in enumerate(PROGRAM.split("\n"), 1):
        _, found, said = line.partition("# edge: ")
        if found:
            columns = said.split(" | ")
            pairs = columns[min(column, len(columns) - 1)].split("; ")
            table[number] = {(pair.split()[0], pair.split()[1]) for pair in pairs}
    return table


def seen(trace: Trace, wanted: dict[int, set[tuple[str, str]]], decorators_above: bool) -> dict[int, set[Any]]:
    """The same of a recording; the sub only where it is asked for."""
    table: dict[int, set[Any]] = {}
    for row in trace.rows:
        if row["kind"] in _NOT_LISTED:
            continue
        line = row["line"] - (decorators_above and row["kind"] == "decorator")
        name, kind = row["callee"]["raw"], row["kind"]
        full = (name, f"{kind}/{row['sub']}")
        table.setdefault(line, set()).add(full if full in wanted.get(line, ()) else (name, kind))
    return table


@pytest.mark.parametrize(("version", "backend"), BACKENDS)
def test_each_line_calls_what_it_says(version: str, backend: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    trace = recording(version, backend, tmp_path_factory)
    assert (trace.header["backend"], trace.header["status"]) == (backend, 0)
    assert trace.header["python"].startswith(version)
    assert trace.execution["errors"] == []
    wanted = expected(0 if backend == "monitoring" else 1 if trace.header["spans"] == "exact" else 2)
    got = seen(trace, wanted, decorators_above=version == "3.10")
    chain = {number for number, line in enumerate(PROGRAM.split("\n"), 1) if "Builder() " in line or "  .add(" in line}
    for number in chain:
        got.pop(number, None)
    assert got == wanted


def test_both_backends_record_the_same_edges(tmp_path_factory: pytest.TempPathFactory) -> None:
    """On one interpreter. Left out: who made a generator, and the one partial that no name leads to."""
    exact, guessed = (recording("3.12", name, tmp_path_factory) for name in ("monitoring", "setprofile"))
    resumed = ("produce", "delegate", "ask", "answer")

    def comparable(trace: Trace) -> set[Any]:
        return {
            (
                r["caller"]["raw"],
                r["line"],
                str(r["site"]),
                r["callee"]["raw"],
                r["kind"],
                r["sub"],
                r["op"],
                r["count"],
            )
            for r in trace.rows
            if r["callee"]["raw"] not in resumed
            and r["kind"] != "comprehension"
            and r["sub"] not in ("partial", "alias")
        }

    assert comparable(exact) == comparable(guessed)
    assert len(comparable(exact)) > 60
    assert exact.execution["functions"] == guessed.execution["functions"]


@pytest.mark.parametrize("version", [version for version in VERSIONS if version != "3.10"])
def test_sites_are_the_spans_of_call_expressions(version: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    backend = "monitoring" if version >= "3.12" else "setprofile"
    trace = recording(version, backend, tmp_path_factory)
    assert trace.header["spans"] == "exact"
    calls = {
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset): node
        for node in ast.walk(ast.parse(PROGRAM))
        if isinstance(node, ast.Call)
    }
    for row in trace.rows:
        if row["kind"] in ("explicit", "constructor", "instance_call"):
            node = calls[tuple(row["site"])]
            assert node.lineno <= row["line"] <= (node.end_lineno or 0)
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if row["kind"] == "explicit" and row["sub"] == "" and name not in ("alias", "wrapped"):
                assert row["callee"]["raw"].rpartition(".")[2] in (name or "<lambda>")
        elif row["kind"] in ("property", "dunder", "decorator", "finalizer"):
            assert row["site"] is None
    accented = PROGRAM.split("\n").index('    "é"; one("é")  # edge: one explicit') + 1
    (site,) = {tuple(row["site"]) for row in trace.rows if row["line"] == accented}
    assert site == (accented, 10, accented, 19)  # bytes: each é is two


@pytest.mark.parametrize(("version", "backend"), BACKENDS)
def test_a_chain_over_lines(version: str, backend: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    trace = recording(version, backend, tmp_path_factory)
    rows = [row for row in trace.rows if row["callee"]["raw"] == "Builder.add"]
    first = PROGRAM.split("\n").index("    Builder() \\") + 1
    assert [(row["kind"], row["count"]) for row in rows] == [("explicit", 1)] * 2
    if trace.header["spans"] == "exact":
        assert [row["site"] for row in rows] == [[first, 4, first + 1, 15], [first, 4, first + 2, 15]]
    else:
        assert [(row["line"], row["site"]) for row in rows] == [(first + 1, None), (first + 2, None)]


def test_callers_in_comprehensions_and_lambdas_fold(tmp_path_factory: pytest.TempPathFactory) -> None:
    version = next(iter(interpreters()))
    backend = "monitoring" if version >= "3.12" else "setprofile"
    rows = recording(version, backend, tmp_path_factory).rows
    folded = {(row["caller"]["raw"], row["caller"]["qualname"]) for row in rows}
    assert ("main.<locals>.<lambda>", "main") in folded
    assert ("main.<locals>.<genexpr>", "main") in folded
    assert ("outer.<locals>.inner", "outer.<locals>.inner") in folded
    lambdas = {row["callee"]["qualname"] for row in rows if row["callee"]["raw"].endswith("<lambda>")}
    assert lambdas == {"main.<locals>.<lambda>"}  # as a callee it is itself


def test_counts_and_what_was_executed(tmp_path_factory: pytest.TempPathFactory) -> None:
    version = next(iter(interpreters()))
    backend = "monitoring" if version >= "3.12" else "setprofile"
    trace = recording(version, backend, tmp_path_factory)
    counts = {(r["caller"]["raw"], r["callee"]["raw"], r["kind"]): r["count"] for r in trace.rows}
    assert counts["count", "count", "explicit"] == 2
    assert counts["main", "one", "via_c"] >= 1
    functions = {(path, name): times for path, name, _, times in trace.execution["functions"]}
    assert functions["kinds.py", "count"] == 3
    assert functions["kinds.py", "in_thread"] == 1
    assert ("kinds.py", "never") not in functions
