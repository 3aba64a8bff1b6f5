"""The format of the cases: what is read, what counts as the same, what is rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from contextc.analyzer.inference.revealing import WRITERS
from contextc.model.value import Value
from tests.case_files import CaseError, read_cases, rewrite
from tests.case_notation import Claim, Fact, Names, NotationError, agrees, parse_items, sort_union, split_line, state
from tests.case_observations import contradictions
from tests.case_runner import CaseRunner
from tests.case_truth import run_programs

NAMES = Names(["app:A.run", "app:f", "lib:f"])
RUN = Fact("app:A.run", "CALL", "certain", "")
MAYBE = Fact("app:f", "DYNAMIC", "possible", "")
OPEN = Fact("", "", "", "untyped-receiver")
REGISTERED = Fact("lib:f", "REGISTRATION", "certain", "")

PROGRAM = """\
## One

```py
class A:
    def run(self): ...

def job(): ...

def main():
    {line}
```
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[CaseRunner]:
    with CaseRunner() as runner:
        yield runner


@pytest.mark.parametrize(
    ("line", "code", "claims"),
    [
        ("x()", "x()", []),
        ("x()  # a remark", "x()  # a remark", []),
        ("x()  # calls: f", "x()", [Claim("calls", "f")]),
        ("x()  # calls: f  # bug: should be g", "x()", [Claim("calls", "f", "g")]),
        ("x()  # calls: f#2  # revealed: A", "x()", [Claim("calls", "f#2"), Claim("revealed", "A")]),
        ("#    ^ calls: f", "", [Claim("calls", "f", None, 5)]),
    ],
)
def test_claims_of_a_line(line: str, code: str, claims: list[Claim]) -> None:
    assert split_line(line) == (code, claims)


@pytest.mark.parametrize(
    "line",
    ["# calls: f", "x()  # bug: should be f", "x()  # calls: f  # bug: f", "x()  # ^ calls: f"],
)
def test_misplaced_claims_are_refused(line: str) -> None:
    with pytest.raises(NotationError):
        split_line(line)


@pytest.mark.parametrize(
    "text", ["a b c", "f via LOVE", "f sure", "? via CALL", "f [untyped-receiver]", "?", "? [why]", ""]
)
def test_unknown_words_are_refused(text: str) -> None:
    with pytest.raises(NotationError):
        parse_items(text)


@pytest.mark.parametrize(
    ("stated", "facts"),
    [
        ("nothing", []),
        ("A.run", [RUN]),
        ("app:A.run via CALL certain", [RUN]),
        ("A.run, ? [untyped-receiver]", [RUN, OPEN]),
        ("? [untyped-receiver]", [OPEN]),
        ("app:f possible", [MAYBE]),
        ("A.run", [RUN, REGISTERED]),
        ("A.run, lib:f via REGISTRATION", [RUN, REGISTERED]),
    ],
)
def test_statement_agrees(stated: str, facts: list[Fact]) -> None:
    assert agrees(stated, facts, NAMES)
    assert state(facts, NAMES, stated) == stated


@pytest.mark.parametrize(
    ("stated", "facts"),
    [
        ("nothing", [RUN]),
        ("A.run", []),
        ("A.run", [RUN, OPEN]),
        ("A.run likely", [RUN]),
        ("A.run via SUPER", [RUN]),
        ("app:f", [MAYBE]),
        ("? [widened]", [OPEN]),
        ("lib:f", [REGISTERED]),
        ("lib:f via REGISTRATION", []),
    ],
)
def test_statement_disagrees(stated: str, facts: list[Fact]) -> None:
    assert not agrees(stated, facts, NAMES)
    assert agrees(state(facts, NAMES, stated), facts, NAMES)


@pytest.mark.parametrize("name", ["f", "A.stop"])
def test_ambiguous_and_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(NotationError):
        agrees(name, [RUN], NAMES)


def test_unions_are_compared_whatever_their_order() -> None:
    assert sort_union("C | list[B | A] | A") == "A | C | list[B | A]"


@pytest.mark.parametrize(
    ("line", "problem", "rewritten"),
    [
        ("job()  # calls: job", "", "job()  # calls: job"),
        ("job()", "not stated: `# calls: job`", "job()  # calls: job"),
        ("job()  # calls: A", "stated `A`, the graph says `job`", "job()  # calls: job"),
        ("len([])  # calls: A", "stated `A`, the graph says `nothing`", "len([])"),
        (
            "job()  # calls: A  # bug: should be A.run",
            "stated `A`, the graph says `job`",
            "job()  # calls: job  # bug: should be A.run",
        ),
        ("job()  # calls: A  # bug: should be job", "now right, `job`: remove the bug note", "job()  # calls: job"),
        ("len([])  # calls: A  # bug: should be nothing", "now right, `nothing`: remove the bug note", "len([])"),
        ("job()  # calls: jobs", "`jobs` names nothing in this case", "job()  # calls: jobs"),
        ("reveal_type(1)", "not stated: `# revealed: 1`", "reveal_type(1)  # revealed: 1"),
        ("reveal_type(1)  # revealed: 2", "stated `2`, it is `1`", "reveal_type(1)  # revealed: 1"),
    ],
)
def test_a_wrong_claim_is_told_and_rewritten(
    tmp_path: Path, runner: CaseRunner, line: str, problem: str, rewritten: str
) -> None:
    file = tmp_path / "one.md"
    file.write_text(PROGRAM.format(line=line), encoding="utf-8")
    verdict = runner.run(read_cases(file)[0])
    assert [text.partition(": ")[2] for text in verdict.problems] == ([problem] if problem else [])
    rewrite(file, verdict.changes)
    assert file.read_text(encoding="utf-8") == PROGRAM.format(line=rewritten)


def test_a_caret_claims_one_call_of_a_line(tmp_path: Path, runner: CaseRunner) -> None:
    file = tmp_path / "carets.md"
    lines = ["job(), A().run()  # calls: A", "    # ^ calls: job"]
    lines += ["    #          ^ calls: job", "    #       ^ calls: A"]
    file.write_text(PROGRAM.format(line="\n".join(lines)), encoding="utf-8")
    verdict = runner.run(read_cases(file)[0])
    assert verdict.problems == [
        "carets.md:12: stated `job`, the graph says `A.run`",
        "carets.md:13: stated `A`, the graph says `nothing`",
        "carets.md:10: the `^` before `calls: A` marks no callee's name",
    ]
    rewrite(file, verdict.changes)
    lines[2:] = ["    #          ^ calls: A.run", "    #       ^ calls: nothing"]
    assert file.read_text(encoding="utf-8") == PROGRAM.format(line="\n".join(lines))


def test_what_python_does_contradicts(tmp_path: Path, runner: CaseRunner) -> None:
    file = tmp_path / "truth.md"
    file.write_text(PROGRAM.format(line="job()  # calls: A.run"), encoding="utf-8")
    (case,) = read_cases(file)
    folder = (tmp_path / "program").resolve()
    case.write_to(folder)
    assert contradictions(case, runner.resolve(case).symbols, run_programs([folder])[folder]) == [
        "truth.md:10: it really calls job",
        "truth.md:10: it really calls none of A.run",
    ]


@pytest.mark.parametrize(
    "text",
    ["```py\nx\n```\n", "## A\n\n```py\nx\n", "## A\n\n## A\n", "## A\n\n```toml\nx\n```\n"],
    ids=["no heading", "not closed", "twice", "no name"],
)
def test_unreadable_files_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.md"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CaseError, match=r"bad\.md"):
        read_cases(file)


def test_every_kind_of_value_can_be_revealed() -> None:
    assert set(get_args(Value)) == set(WRITERS)
