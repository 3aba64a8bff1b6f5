"""The small programs of `fixtures/inference`: each says what every line calls, and the graph has to say the same.

What a case calls right is held against the program as it really runs, where it has a `main()`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.case_files import Case, count_bugs, read_all, read_bugs
from tests.case_observations import can_run, contradictions
from tests.case_runner import CaseRunner
from tests.case_truth import Run, run_programs

CASES = read_all()
PROGRAMS = [case for case in CASES if can_run(case)]


@pytest.fixture(scope="module")
def runner() -> Iterator[CaseRunner]:
    with CaseRunner() as runner:
        yield runner


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folders: dict[Path, Case] = {}
    for case in PROGRAMS:
        folder = tmp_path_factory.mktemp("case").resolve()
        case.write_to(folder)
        folders[folder] = case
    return {folders[folder].id: run for folder, run in run_programs(list(folders)).items()}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_line_calls_what_it_states(runner: CaseRunner, case: Case) -> None:
    assert runner.run(case).problems == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="a decorator is called on the line of its def before 3.11")
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
def test_right_answers_are_what_python_does(runner: CaseRunner, runs: dict[str, Run], case: Case) -> None:
    run = runs[case.id]
    if run.is_too_new:
        pytest.skip(f"needs a newer Python: {run.fault}")
    assert contradictions(case, runner.resolve(case).symbols, run) == []


@pytest.mark.parametrize("name", sorted({case.file.stem for case in CASES}))
def test_known_bugs_get_fewer(name: str) -> None:
    count, known = count_bugs(CASES).get(name, 0), read_bugs().get(name, 0)
    assert count <= known, "more bugs than committed: mend them, or raise the number by hand and say why"
    assert count == known, "fewer bugs than committed: `python -m tests.case_files --update-cases` lowers the number"
