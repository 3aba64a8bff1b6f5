"""Which files of each fixture are analysed: `python -m tests.context_checks.golden` writes the list anew.

`file_lists.txt` has one line a file, `fixtures/nine_files  app/views.py  app.views`, and one for each path left out,
`fixtures/nine_files  - app/x.py  ignored`. A change of the list is to be read before it is committed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.command import FIXTURES, tracked_files
from tests.project.trees import discover

GOLDEN = Path(__file__).with_name("file_lists.txt")


def list_fixtures() -> list[Path]:
    """The repositories among the fixtures: those by themselves, and each case."""
    cases = {path.parent for path in tracked_files() if path.match("fixtures/cases/*/case.json")}
    return [FIXTURES / "failures" / "program", FIXTURES / "nine_files", *sorted(cases)]


def list_files() -> Iterator[str]:
    """A line for each file and for each path left out, fixture by fixture."""
    for root in list_fixtures():
        project = discover(root)
        name = f"fixtures/{root.relative_to(FIXTURES).as_posix()}"
        yield from (f"{name}  {file.path}  {file.module_id}" for file in project.files)
        left_out = (skip for skip in project.skipped if "__pycache__" not in skip.path)  # there once a fixture has run
        yield from (f"{name}  - {skip.path}  {skip.reason}" for skip in left_out)


if __name__ == "__main__":
    GOLDEN.write_text("".join(f"{line}\n" for line in list_files()), encoding="utf-8")
