"""What `make bench-accuracy` says is worth what its own arithmetic is: verdicts by edge, differences, bars, counts."""

from __future__ import annotations

import gzip
import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import accuracy, accuracy_document, accuracy_edges, accuracy_suites, accuracy_table
from contextc.passes.evidence import MEASURED
from tests.case_files import read_cases
from tests.command import REPOSITORY

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # the vendored scripts' habit
BENCHMARKS = REPOSITORY / "benchmarks"
SOURCE = "def a(): ...\ndef b(): ...\ndef main(x):\n    a()\n    x()\n    b()\n"
SITES = {4: (4, 4, 4, 7), 5: (5, 4, 5, 7), 6: (6, 4, 6, 7)}


def edge(callee: str, line: int, rule: str, certainty: str, kind: str = "CALL") -> dict[str, Any]:
    return {"caller": "m:main", "callee": f"m:{callee}", "path": "src/m.py", "line": line, "site": list(SITES[line]),
            "kind": kind, "certainty": certainty, "rule": rule}  # fmt: skip


def graph_of(*edges: dict[str, Any]) -> dict[str, Any]:
    symbols = [{"id": f"m:{name}", "path": "src/m.py", "qualname": name} for name in ("a", "b", "main")]
    unresolved = [{"caller": "m:main", "path": "src/m.py", "line": 5, "site": list(SITES[5]), "reason": "widened"}]
    return {"symbols": symbols, "edges": list(edges), "unresolved": unresolved, "stats": {"call_sites": 3}}


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """`main` called `a` on line 4 and `b` on line 5; line 6 never ran."""
    (tmp_path / "m.py").write_text(SOURCE)
    lines = {"a": 1, "b": 2, "main": 3}

    def function(name: str) -> dict[str, Any]:
        return {"path": "m.py", "raw": name, "qualname": name, "firstlineno": lines[name], "defline": lines[name]}

    rows = [
        {"caller": function("main"), "line": line, "site": SITES[line], "callee": function(name), "kind": "explicit"}
        for name, line in (("a", 4), ("b", 5))
    ]
    with gzip.open(tmp_path / "pkg.edges.jsonl.gz", "wt") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    sites: list[dict[str, Any]] = [
        {"path": "m.py", "line": n, "site": SITES[n], "n": 1, "ext": [], "cls": []} for n in (4, 5)
    ]
    with gzip.open(tmp_path / "pkg.exec.json.gz", "wt") as out:
        json.dump({"lines": {"m.py": [4, 5]}, "call_sites": sites}, out)
    return str(tmp_path / "pkg")


GRAPH = graph_of(
    edge("a", 4, "name", "certain"),
    edge("a", 5, "callable-value", "likely"),
    edge("b", 5, "callable-value", "likely"),
    edge("b", 5, "callable-value", "likely", "CALLBACK"),  # to the scorer the same edge as the one above
    edge("main", 5, "registry", "possible"),
    edge("b", 6, "name", "certain"),  # did not run: not judged
    edge("b", 4, "name", "certain", "READS_GLOBAL"),  # no call
)


def judge(graph: dict[str, Any], recording: str) -> list[accuracy_edges.Judged]:
    scorer = runpy.run_path(str(BENCHMARKS / "oracle" / "score_edges.py"))["score"]
    rows = accuracy_edges.label_edges(graph, {"READS_GLOBAL"}, {"PROPERTY": "property"}, "src/")
    return accuracy_edges.judge_edges(
        graph, rows, lambda neutral: scorer(recording, str(Path(recording).parent), neutral)
    )


def test_each_edge_that_ran_gets_its_verdict(recording: str) -> None:
    judged = judge(GRAPH, recording)
    assert [(j.number, j.is_right) for j in judged] == [(0, True), (1, False), (2, True), (3, True), (4, False)]


def test_edges_that_leave_the_package_are_not_scored() -> None:
    paths = [
        ("pkg/a.py", "pkg/b.py"),
        ("pkg/a.py", "tests/t.py"),
        ("tests/t.py", "pkg/a.py"),
        ("pkg2/a.py", "pkg/a.py"),
    ]
    rows = [{"caller": {"path": caller}, "callee": {"path": callee}} for caller, callee in paths]
    assert accuracy_edges.keep_inside(rows, ["pkg"]) == rows[:1]


def test_rules_are_tallied_by_certainty_over_different_edges(recording: str) -> None:
    judged = judge(GRAPH, recording)
    assert accuracy_edges.tally_by_rule(judged) == {
        "callable-value": {"likely": {"edges": 2, "wrong": 1}},
        "name": {"certain": {"edges": 1, "wrong": 0}},
        "registry": {"possible": {"edges": 1, "wrong": 1}},
    }
    assert accuracy_edges.tally_by_certainty(judged) == {
        "certain": {"edges": 1, "wrong": 0},
        "likely": {"edges": 2, "wrong": 1},
        "possible": {"edges": 1, "wrong": 1},
    }


def test_counts_by_rule_add_up_to_the_scorers_own(recording: str) -> None:
    """Also where edges differ by rule, kind or certainty alone: to the scorer they are one a certainty."""
    edges = [
        *GRAPH["edges"],
        edge("a", 5, "registry", "likely"),  # the same but for its rule
        edge("b", 5, "callable-value", "certain"),  # but for its certainty
        edge("b", 5, "property-get", "likely", "PROPERTY"),  # implicit: by line, not by site
    ]
    graph = graph_of(*edges)
    scorer = runpy.run_path(str(BENCHMARKS / "oracle" / "score_edges.py"))["score"]
    rows = accuracy_edges.label_edges(graph, {"READS_GLOBAL"}, {"PROPERTY": "property"}, "src/")
    plain = [
        {**row, "confidence": graph["edges"][int(row["confidence"])]["certainty"]}
        for row in rows
        if graph["edges"][int(row["confidence"])]["certainty"] != "possible"
    ]
    whole = scorer(recording, str(Path(recording).parent), {"edges": plain, "unresolved": []})["precision"]
    judged = judge(graph, recording)
    total = accuracy_table.add_up(accuracy_table.definite(t) for t in accuracy_edges.tally_by_rule(judged).values())
    assert total == {"edges": whole["ALL"]["edges"], "wrong": whole["ALL"]["edges"] - whole["ALL"]["seen"]}
    assert total == {"edges": 5, "wrong": 1}
    by_certainty = accuracy_edges.tally_by_certainty(judged)
    for word in ("certain", "likely"):
        tally = by_certainty[word]
        assert (tally["edges"], tally["edges"] - tally["wrong"]) == (whole[word]["edges"], whole[word]["seen"])


def test_wrong_edges_say_what_was_seen_there(recording: str) -> None:
    wrong = accuracy_edges.list_wrong(GRAPH, judge(GRAPH, recording), recording, "src/")
    assert wrong == [
        "callable-value\tlikely\tCALL\tsrc/m.py:5\tm:main\tm:a\tm.py:b",
        "registry\tpossible\tCALL\tsrc/m.py:5\tm:main\tm:main\tm.py:b",
    ]


def test_the_program_agrees_with_the_vendored_scorer(
    recording: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, converted = tmp_path / "graph.json", tmp_path / "converted.json"
    graph.write_text(json.dumps(GRAPH))
    convert = runpy.run_path(str(BENCHMARKS / "tools" / "graph_to_oracle.py"))["main"]
    convert(["--without-possible", "--strip", "src/", str(graph)])
    converted.write_text(capsys.readouterr().out)
    argv = [str(graph), str(converted), "--oracle", recording, "--root", str(tmp_path), "--strip", "src/"]
    monkeypatch.setattr("sys.argv", ["accuracy_edges.py", *argv])
    assert accuracy_edges.main() == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["recall"], record["silent"], record["judged"], record["precision"]) == (1.0, 0.0, 3, 0.6667)
    assert record["recall_by_kind"] == {"explicit": {"pairs": 2, "recall": 1.0, "silent": 0.0}}
    assert record["reasons"] == {"widened": 1}


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [(0.812, 0.815, "+0.3"), (0.815, 0.812, "−0.3"), (0.8120, 0.8124, "="), (0.9, 0.9, "="), (0.0, 1.0, "+100.0")],
)
def test_a_difference_is_in_points(before: float, after: float, shown: str) -> None:
    assert accuracy_table.difference(before, after) == shown


def package(**changes: Any) -> dict[str, Any]:
    record = {
        "recall": 0.9, "silent": 0.01, "precision": 0.9, "recall_all": 0.85, "unresolved": 0.1, "call_sites": 1000,
        "cpu": 10.0, "memory_mb": 100.0, "judged": 20, "reasons": {"budget": 2},
        "recall_by_kind": {"explicit": {"pairs": 7, "recall": 0.9, "silent": 0.0}},
        "by_certainty": {word: {"edges": 10, "wrong": 1} for word in ("certain", "likely", "possible")},
        "by_rule": {"name": {"certain": {"edges": 10, "wrong": 1}, "possible": {"edges": 10, "wrong": 1}},
                    "super": {"likely": {"edges": 10, "wrong": 1}}},
    }  # fmt: skip
    return record | changes


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_table_of_differences() -> None:
    rules = {"name": {"certain": {"edges": 12, "wrong": 4}}, "super": {"likely": {"edges": 11, "wrong": 1}}}
    after = package(recall=0.903, precision=0.899, cpu=13.0, memory_mb=90.0, by_rule=rules)
    lines = accuracy_table.compare_packages({"flask": package()}, {"flask": after, "rope": package()})
    assert cells(lines[2]) == ["flask", "+0.3", "=", "−0.1", "=", "=", "=", "×1.30", "×0.90"]
    assert cells(lines[3])[:2] == ["rope", "not in the baseline"]
    assert lines[4:] == ["flask: name: wrong 1 → 4, judged 10 → 12"]


def test_what_became_right_and_wrong_is_listed() -> None:
    before = {"pycg": {"exact": 3, "not_exact": {"mro/a": {}, "mro/b": {}}}, "markdown": {"bugs": 3, "cases": 9}}
    after = {
        "pycg": {"exact": 4, "not_exact": {"mro/b": {}, "lists/c": {}}},
        "cases": {"right": 1, "not_right": {}},
        "markdown": {"bugs": 2, "cases": 10},
    }
    assert accuracy_table.compare(before, after) == [
        "## pycg: 3 → 4 exact",
        "became right: mro/a",
        "became wrong: lists/c",
        "## markdown: 3 → 2 known faults, 9 → 10 cases",
    ]
    assert accuracy_table.compare_names({"x": 1}, {"x": 2}) == ["the same cases are right"]


def test_tables_say_what_the_records_hold() -> None:
    packages = {"flask": package()}
    rules = [cells(line) for line in accuracy_table.describe_rules(packages)]
    assert rules[2] == ["name", "90.0 of 10", "90.0 of 10", "1", "50.0", "90.0 of 10", "–", "90.0 of 10"]
    kinds = cells(accuracy_table.describe_kinds(packages)[2])
    assert kinds[:3] == ["flask", "90.0 of 7", "–"]
    assert cells(accuracy_table.describe_certainties(packages)[2])[3] == "90.0 of 20"
    shown = cells(accuracy_table.describe_packages(packages, {"flask": "met"})[2])
    assert shown[:10] == ["flask", "90.0", "1.0", "90.0", "85.0", "10.0", "1,000", "10.0", "100", "met"]
    assert cells(accuracy_table.describe_reasons(packages)[-1]) == ["all", "2"]


def test_bars() -> None:
    assert accuracy.judge_packages({"click": package(recall=0.82, precision=0.88), "celery": package(recall=0.1)}) == {
        "click": "met"
    }
    assert accuracy.judge_packages({"rope": package(recall=0.61)}) == {"rope": "NOT MET: recall < 62"}
    assert accuracy.is_met({"oracle": {"rope": package()}, "pycg": {"exact": 95}})
    assert not accuracy.is_met({"oracle": {"rope": package()}, "pycg": {"exact": 94}})
    assert not accuracy.is_met({"oracle": {"rope": package(precision=0.8799)}})
    assert accuracy.is_met({"oracle_with_tests": {"rope": package(precision=0.1)}})


def test_a_run_of_some_packages_leaves_the_others_in_the_baseline() -> None:
    baseline = {"oracle": {"click": {"recall": 1}, "rope": {"recall": 2}}, "cases": {"right": 3}}
    merged = accuracy.merge_into_baseline(baseline, {"oracle": {"click": {"recall": 4}}, "pycg": {"exact": 5}})
    assert merged == {
        "oracle": {"click": {"recall": 4}, "rope": {"recall": 2}}, "cases": {"right": 3}, "pycg": {"exact": 5}
    }  # fmt: skip


def test_updating_the_baseline_needs_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    last, baseline = tmp_path / "last.json", tmp_path / "baseline.json"
    document, evidence = tmp_path / "precision.md", tmp_path / "evidence.py"
    document.write_text(DOCUMENT)
    evidence.write_text("# begin evidence\n    old\n# end evidence\n")
    argv = ["accuracy.py", "--update-baseline", "--json", str(last), "--baseline", str(baseline)]
    argv += ["--document", str(document), "--evidence", str(evidence)]
    monkeypatch.setattr("sys.argv", argv)
    assert accuracy.main() == 2
    assert "run the benchmark first" in capsys.readouterr().err
    measured = {"schema": accuracy.SCHEMA, "pycg": {"exact": 96}, "oracle": {"flask": package()}}
    last.write_text(json.dumps(measured))
    assert accuracy.main() == 0
    assert json.loads(baseline.read_text()) == measured
    assert "| `name` | 9 / 10 = 90.0 % | – | 9 / 10 = 90.0 % |\n" in document.read_text()
    assert evidence.read_text().splitlines() == [
        "# begin evidence", '    ("name", "certain"): (9, 10),', '    ("name", "possible"): (9, 10),',
        '    ("super", "likely"): (9, 10),', "# end evidence",
    ]  # fmt: skip


DOCUMENT = "".join(f"{name}\n<!-- begin {name} -->\nold\n<!-- end {name} -->\n" for name in (
    accuracy_document.RULES, accuracy_document.JEDI, accuracy_document.TESTS
))  # fmt: skip


def test_tables_of_the_document() -> None:
    usual = {"oracle": {"flask": package(), "rope": package(cpu=20.0)}}
    without_jedi = {"oracle_without_jedi": {"flask": package(recall=0.8, cpu=9.0)}}
    with_tests = {"oracle_with_tests": {"flask": package(precision=0.95), "rope": {"cpu_limit": 900}}}
    baseline = accuracy.merge_into_baseline(usual, {**without_jedi, **with_tests})
    later = {"oracle": {"flask": package(recall=1.0), "rope": package(recall=1.0)}}
    assert accuracy.merge_into_baseline(baseline, later)["oracle_with_tests"] == baseline["oracle_with_tests"]
    lines = accuracy_document.fill_document(DOCUMENT, baseline).splitlines()
    assert "old" not in lines
    assert lines[2] == "Seen / judged on flask and rope."
    assert [line for line in lines if line.startswith("| `super`")] == ["| `super` | – | 18 / 20 = 90.0 % | – |"]
    assert [line for line in lines if line.startswith("| all")] == [
        "| all | 18 / 20 = 90.0 % | 18 / 20 = 90.0 % | 18 / 20 = 90.0 % |"
    ]
    assert [line for line in lines if line.startswith("| flask")] == [
        "| flask | 90.0 | 80.0 | 90.0 | 90.0 | 10.0 | 10.0 | 10.0 | 9.0 |",
        "| flask | 90.0 | 90.0 | 90.0 | 95.0 | 10.0 | 10.0 | 10.0 | 10.0 |",
    ]
    assert lines[-2] == "| rope | 90.0 | not finished in 15 CPU minutes | 90.0 | – | 10.0 | – | 20.0 | – |"
    assert accuracy_document.fill_document(DOCUMENT, {"oracle": {}}).count("old") == 2


def test_a_section_needs_its_marks() -> None:
    assert accuracy_document.replace_section("a\n# begin x\nb\n# end x\nc\n", "x", ["1", "2"]) == (
        "a\n# begin x\n1\n2\n# end x\nc\n"
    )
    for text in ("# begin x\n", "# end x\n# begin x\n", ""):
        with pytest.raises(ValueError, match="no section 'x'"):
            accuracy_document.replace_section(text, "x", [])


def test_the_document_and_the_planner_have_the_figures_of_the_baseline() -> None:
    """When this fails: `make bench-accuracy-baseline` writes both."""
    baseline = json.loads((BENCHMARKS / "accuracy_baseline.json").read_bytes())
    document = (REPOSITORY / "docs" / "precision.md").read_text(encoding="utf-8")
    assert accuracy_document.fill_document(document, baseline) == document
    counts = {
        (rule, word): (tally["edges"] - tally["wrong"], tally["edges"])
        for rule, tallies in accuracy_document.total_by_rule(baseline["oracle"]).items()
        for word, tally in tallies.items()
    }
    assert counts == MEASURED


def test_the_baselines_counts_add_up() -> None:
    """By rule and by certainty alike, on each package, to the edges that the scorer judged."""
    baseline = json.loads((BENCHMARKS / "accuracy_baseline.json").read_bytes())
    for name, record in accuracy_table.only_scored(baseline["oracle"]).items():
        by_rule = accuracy_table.add_up(accuracy_table.definite(tallies) for tallies in record["by_rule"].values())
        assert by_rule == accuracy_table.definite(record["by_certainty"]), name
        assert by_rule["edges"] == record["judged"], name
        assert round(1 - by_rule["wrong"] / by_rule["edges"], 4) == record["precision"], name


def test_known_faults_of_markdown_cases_are_counted(tmp_path: Path) -> None:
    text = """## One
```py
f()  # calls: f  # bug: should be g
h()  # calls: h  # bug: should be i
```

## Two
```py
print()
```
"""
    (tmp_path / "calls.md").write_text(text)
    record = accuracy_suites.describe_markdown_cases(read_cases(tmp_path / "calls.md"))
    assert record == {"cases": 2, "bugs": 2, "with_bugs": {"calls: One": 2}}


def test_whole_sdists_are_analysed_from_their_root() -> None:
    entry = {"source_dir": "s/p-1", "source_root": "s/p-1/src", "prefixes": ["p"], "exclude": "/tests/"}
    sdist = Path("unpacked")
    narrow = ["--include", "p/", "--exclude", "tests/", "--exclude", "conftest.py"]
    assert accuracy_suites.choose_scope(entry, sdist, False) == (sdist / "src", narrow, "")
    assert accuracy_suites.choose_scope(entry, sdist, True) == (sdist, [], "src/")
    assert accuracy_suites.choose_scope(entry | {"source_root": "s/p-1"}, sdist, True) == (sdist, [], "")


@pytest.mark.skipif(os.name != "posix", reason="no limit on a process's CPU time elsewhere")
def test_a_command_that_takes_too_long_is_ended() -> None:
    busy = [sys.executable, "-c", "while True: pass"]
    with pytest.raises(accuracy_suites.CpuLimitReached):
        accuracy_suites._run(busy, cpu_limit=1)
    with pytest.raises(SystemExit, match="exit 3"):
        accuracy_suites._run([sys.executable, "-c", "raise SystemExit(3)"], cpu_limit=9)


def test_case_scores_are_summed_up() -> None:
    counts = {"must": 2, "must_not": 1, "violated": 0, "flags": 1, "flagged": 1}
    results = [
        {"id": "b", "problems": ["missing x"], "found": 1, **counts},
        {"id": "a", "problems": [], "found": 2, **counts},
    ]
    record = accuracy_suites.describe_cases(results)
    assert (record["cases"], record["right"], record["found"], record["must"]) == (2, 1, 3, 4)
    assert record["not_right"] == {"b": ["missing x"]}


def test_pycg_rows_are_summed_up() -> None:
    rows: dict[str, dict[str, Any]] = {"mro/a": {"fp": [], "fn": []}, "mro/b": {"fp": [("x", "y")], "fn": []}}
    figures = {
        "cases": 2,
        "complete": 1,
        "sound": 2,
        "exact": 1,
        "crashed": 0,
        "precision": 0.5,
        "recall": 1.0,
        "tp": 1,
    }
    record = accuracy_suites.describe_pycg(rows, figures)
    assert record["exact"] == 1
    assert record["not_exact"] == {"mro/b": {"false": [("x", "y")], "missing": []}}
