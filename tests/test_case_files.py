"""The small programs of `fixtures/inference`: each says what every line calls, and the graph has to say the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.case_files import Case, count_bugs, read_all, read_bugs
from tests.case_runner import CaseRunner

CASES = read_all()


@pytest.fixture(scope="module")
def runner() -> Iterator[CaseRunner]:
    with CaseRunner() as runner:
        yield runner


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_every_line_calls_what_it_states(runner: CaseRunner, case: Case) -> None:
    assert runner.run(case).problems == []


@pytest.mark.parametrize("name", sorted({case.file.stem for case in CASES}))
def test_known_bugs_get_fewer(name: str) -> None:
    count, known = count_bugs(CASES).get(name, 0), read_bugs().get(name, 0)
    assert count <= known, "more bugs than committed: mend them, or raise the number by hand and say why"
    assert count == known, "fewer bugs than committed: `python -m tests.case_files --update-cases` lowers the number"
