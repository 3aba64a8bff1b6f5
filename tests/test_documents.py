"""The documents show what the commands really print, and point to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import REPOSITORY
from tests.documents import Example, find_examples, run_example, without_times

DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
EXAMPLES = [(p, e) for p in DOCUMENTS for e in find_examples(p.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(("path", "example"), EXAMPLES, ids=[f"{p.name}: {e.command}" for p, e in EXAMPLES])
def test_output_is_what_the_command_prints(path: Path, example: Example) -> None:
    """When this fails after a wanted change: `make docs`, and read the difference."""
    assert without_times(example.shown) == without_times(run_example(example.command))


def test_the_readme_shows_each_command() -> None:
    shown = {e.command.split()[1] for p, e in EXAMPLES if p.name == "README.md"}
    assert {"compile", "graph", "compare"} <= shown


def test_the_readme_names_the_two_commands_of_a_newcomer() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^make demo\b", text, re.MULTILINE)
    assert re.search(r"^make test\b", text, re.MULTILINE)
    assert "make test" in (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.relative_to(REPOSITORY).as_posix())
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", "", text)
    for link in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (path.parent / link).exists(), link


def test_every_make_target_named_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for path in DOCUMENTS:
        named = set(re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        assert named <= targets, path.name
