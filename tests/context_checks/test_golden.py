"""The list of analysed files of every fixture is the one that was read and committed."""

from __future__ import annotations

from tests.context_checks.golden import GOLDEN, list_files, list_fixtures


def test_each_fixture_has_the_files_of_its_list() -> None:
    expected = GOLDEN.read_text(encoding="utf-8").splitlines()
    assert list(list_files()) == expected, "read what changed; then `python -m tests.context_checks.golden`"


def test_every_fixture_is_listed() -> None:
    names = {line.split("  ")[0] for line in GOLDEN.read_text(encoding="utf-8").splitlines()}
    assert len(names) == len(list_fixtures()) > 70
