"""A hundred hard cases. Those that are not right yet are listed in `cases_not_right.txt` with what is wrong."""

from __future__ import annotations

import pytest

from tests.cases import case_names, find_problems, read_known

KNOWN = read_known()

# The vendored scorer leaves closing its files to the collector.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.mark.parametrize("name", case_names())
def test_case_has_no_new_problem(name: str) -> None:
    problems = find_problems(name)
    assert set(problems) <= set(KNOWN.get(name, [])), "worse than recorded"
    assert problems or name not in KNOWN, f"{name} is right now: `python -m tests.cases` takes it off the list"


def test_the_list_names_cases_that_exist() -> None:
    assert set(KNOWN) < set(case_names())
    assert all(KNOWN.values())
