"""Small programs in Markdown, with the calls they make: `fixtures/inference/*.md`, and the examples of
`docs/resolution.md` (format: `fixtures/README.md`).

In: a file of cases. Out: `Case`s, each a few program files and what their comments claim.

`python -m tests.case_files` checks all cases; with `--update-cases` it rewrites what they state to what the graph says
now, and lowers the count of known bugs. Read the difference before committing it.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.case_notation import Claim, NotationError, split_line
from tests.command import FIXTURES, REPOSITORY

FOLDER = FIXTURES / "inference"
DOCUMENT = REPOSITORY / "docs" / "resolution.md"  # its examples are cases as well
BUGS = Path(__file__).with_name("case_bugs.txt")
DEFAULT_FILE = "app.py"
INSTALLED = "site-packages/"  # a file below it is one of the program's environment
ENVIRONMENT = ".venv"
_FILE_NAME = re.compile(r"`([^`]+)`:\s*")
_HEADING = re.compile(r"#{2,} (.*)")
_FENCE = re.compile(r"(`{3,})\s*(\w*)\s*")


class CaseError(ValueError):
    """A case that can't be read; the text begins with file and line."""


@dataclass
class Case:
    """One program. Lines of programs count from 1, rows of the Markdown file from 0."""

    file: Path
    name: str
    row: int
    texts: dict[str, list[str]] = field(default_factory=dict)  # lines by path
    rows: dict[tuple[str, int], int] = field(default_factory=dict)  # the row that a program's line stands in
    claims: dict[tuple[str, int], list[tuple[int, Claim]]] = field(default_factory=dict)  # by line: row, claim

    @property
    def id(self) -> str:
        return f"{self.file.stem}: {self.name}"

    @property
    def bugs(self) -> int:
        """How many claims are known to be wrong."""
        return sum(claim.should is not None for claims in self.claims.values() for _, claim in claims)

    @property
    def has_environment(self) -> bool:
        """Whether packages are installed for the program."""
        return any(path.startswith(INSTALLED) for path in self.texts)

    def write_to(self, folder: Path) -> None:
        """Writes the program's files, and the environment's into a folder of them."""
        texts = {path: "\n".join(lines) + "\n" for path, lines in self.texts.items()}
        if self.has_environment:
            texts[INSTALLED + "../../../pyvenv.cfg"] = "version = 3.12.1\n"
        for path, text in texts.items():
            inside = f"{ENVIRONMENT}/lib/python3.12/" if path.startswith(INSTALLED) else ""
            place = folder / (inside + path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    def add_line(self, path: str, row: int, text: str) -> None:
        """Adds a line of a program, and what its comments claim. Raises CaseError."""
        lines = self.texts.setdefault(path, [])
        lines.append(text)
        self.rows[path, len(lines)] = row
        try:
            _, claims = split_line(text) if path.endswith((".py", ".pyi")) else (text, [])
        except NotationError as error:
            raise CaseError(f"{self.file.name}:{row + 1}: {error}") from None
        for claim in claims:
            number = len(lines)
            while claim.caret is not None and number > 1 and _is_caret_line(lines[number - 1]):
                number -= 1
            self.claims.setdefault((path, number), []).append((row, claim))


def _is_caret_line(text: str) -> bool:
    return text.lstrip().startswith("#") and any(claim.caret is not None for claim in split_line(text)[1])


def list_files() -> list[Path]:
    """All files of cases, sorted, and the document that holds some."""
    return [*sorted(FOLDER.glob("*.md")), DOCUMENT]


def read_cases(file: Path) -> list[Case]:
    """The cases of a file in order. Raises CaseError."""
    cases: list[Case] = []
    path = DEFAULT_FILE
    fence = ""
    for row, line in enumerate(file.read_text(encoding="utf-8").split("\n")):
        here = f"{file.name}:{row + 1}"
        if fence:
            if line.strip() == fence:
                fence = ""
            else:
                cases[-1].add_line(path, row, line)
            continue
        opened = _FENCE.fullmatch(line)
        named = _FILE_NAME.fullmatch(line)
        if opened:
            fence, language = opened.groups()
            if not cases or (language not in ("py", "python") and path.endswith(".py")):
                raise CaseError(f"{here}: a fence without `py`, a file name or a heading")
            cases[-1].texts.setdefault(path, [])  # an empty fence is an empty file
        elif heading := _HEADING.fullmatch(line):
            name = heading[1].strip()
            if any(case.name == name for case in cases):
                raise CaseError(f"{here}: a second case of that name")
            cases.append(Case(file, name, row))
            path = DEFAULT_FILE
        elif named:
            path = named.group(1)
    if fence:
        raise CaseError(f"{file.name}: a fence is not closed")
    return [case for case in cases if case.texts]


def read_all() -> list[Case]:
    """The cases of all files. Raises CaseError."""
    return [case for file in list_files() for case in read_cases(file)]


def read_bugs() -> dict[str, int]:
    """The committed number of known bugs by file."""
    lines = BUGS.read_text(encoding="utf-8").splitlines()
    return {name: int(count) for line in lines if line and line[0] != "#" for name, count in [line.split()]}


def write_bugs(counts: dict[str, int]) -> None:
    """Writes the numbers, sorted."""
    lines = ["# Known bugs by file of cases (`fixtures/inference`). A number may only fall.", ""]
    lines += [f"{name} {count}" for name, count in sorted(counts.items()) if count]
    BUGS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def count_bugs(cases: Iterable[Case]) -> dict[str, int]:
    """Known bugs by file."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.file.stem] = counts.get(case.file.stem, 0) + case.bugs
    return counts


def rewrite(file: Path, changes: dict[int, list[Claim]]) -> None:
    """Replaces the claims on some rows of a file of cases by others."""
    rows = file.read_text(encoding="utf-8").split("\n")
    for row, claims in changes.items():
        code, old = split_line(rows[row])
        place = re.search(r"#\s*(calls|revealed):", rows[row])
        if any(claim.caret is not None for claim in old):
            rows[row] = "".join(f"{rows[row][: claim.caret]}^ {claim}" for claim in claims)
            continue
        column = place.start() if place and len(code) + 2 <= place.start() else len(code) + 2
        written = "  ".join(f"# {claim}" for claim in claims)
        rows[row] = code.ljust(column) + written if written else code
    file.write_text("\n".join(rows), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Checks all cases, or rewrites them. Returns the exit status."""
    from tests.case_runner import CaseRunner

    parser = argparse.ArgumentParser(prog="python -m tests.case_files", description="Check the cases of inference.")
    parser.add_argument("--update-cases", action="store_true", help="rewrite what they state to what the graph says")
    parser.add_argument("--mark-bugs", action="store_true", help="the same, with what they state as the right answers")
    parser.add_argument("names", nargs="*", help="only these: `receivers`, or `receivers: Inherited method`")
    options = parser.parse_args(arguments)
    is_writing = options.update_cases or options.mark_bugs
    cases = [c for c in read_all() if not options.names or {c.id, c.file.stem} & set(options.names)]
    problems = 0
    changes: dict[Path, dict[int, list[Claim]]] = {}
    with CaseRunner() as runner:
        for case in cases:
            verdict = runner.run(case, options.mark_bugs)
            problems += bool(verdict.problems)
            changes.setdefault(case.file, {}).update(verdict.changes)
            if verdict.problems and not is_writing:
                print("\n".join([case.id, *_indent(verdict.problems)]))
    if is_writing:
        for file, rows in changes.items():
            rewrite(file, rows)
        counts, known = count_bugs(read_all()), read_bugs()
        if options.update_cases:
            counts = {name: min(count, known.get(name, 0)) for name, count in counts.items()}
        write_bugs(counts)
    print(f"{len(cases)} cases, {problems} {'rewritten' if is_writing else 'wrong'}")
    return bool(problems) and not is_writing


def _indent(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
