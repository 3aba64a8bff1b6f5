"""What stands in the repository: names, docstrings, marks left behind, traces of one machine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

from contextc.model.diagnostic import SkipReason
from contextc.model.edge import Certainty, EdgeKind, Reason, Rule
from contextc.model.facts import SymbolKind
from contextc.model.plan import Form
from tests.command import REPOSITORY, tracked_files

FILES = tracked_files()
VENDORED = ("fixtures/", *(f"benchmarks/{folder}/" for folder in ("baselines", "context", "oracle", "pycg", "tools")))
CLOSED_LISTS: list[type[Enum]] = [SymbolKind, EdgeKind, Certainty, Rule, Reason, Form, SkipReason]
PRODUCT = sorted((REPOSITORY / "contextc").rglob("*.py"))
BINARY = {".gz", ".png"}


def relative(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def definitions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions and classes of a module and of its classes; not those inside functions."""
    todo: list[ast.stmt] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))


def is_obvious(node: ast.AST) -> bool:
    """A function whose body is one statement, or a guard before it."""
    return isinstance(node, ast.FunctionDef) and len(node.body) <= 2 and sum(1 for _ in ast.walk(node)) < 60


def is_plain_record(node: ast.AST) -> bool:
    """A class that has nothing but fields says what it is by its name and theirs."""
    return isinstance(node, ast.ClassDef) and all(isinstance(statement, ast.AnnAssign) for statement in node.body)


@pytest.mark.parametrize("path", PRODUCT, ids=relative)
def test_names_say_what_a_thing_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    vague = re.findall(r"\b(?:class|def)\s+(\w*(?:Manager|Helper|Utils?|Processor)\w*)", text)
    assert not vague
    assert not re.search(r"(?:^|_)(?:manager|helpers?|utils?|processor)(?:_|\.py$)", path.name)


@pytest.mark.parametrize("path", PRODUCT, ids=relative)
def test_public_things_are_documented(path: Path) -> None:
    """But a function of a line or two, and a reader's `read_for` for a `for`, say all by name and annotations."""
    families = ("_", "visit_", "leave_", *(["read_"] if "reading" in path.parts else []))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert path.stat().st_size == 0 or ast.get_docstring(tree), f"{relative(path)} opens without a docstring"
    silent = [
        f"{relative(path)}:{node.lineno} {node.name}"
        for node in definitions(tree)
        if not node.name.startswith(families)
        and not ast.get_docstring(node)
        and not is_plain_record(node)
        and not is_obvious(node)
    ]
    assert not silent


def test_nothing_is_left_to_do() -> None:
    mark = re.compile(r"\bTO" + r"DO\b|\bFIX" + r"ME\b|\bXX" + r"X\b")
    for path in FILES:
        if not relative(path).startswith(VENDORED) and path.suffix not in BINARY:
            found = mark.search(path.read_text(encoding="utf-8"))
            assert not found, f"{relative(path)}: {found}"


def test_no_trace_of_one_machine() -> None:
    """No absolute path of a workplace, no host of a package registry, no folder beside the repository."""
    folders = [r"/wo" + r"rk/", r"/ro" + r"ot/", r"/ho" + r"me/", r"\.\./sha" + r"red", r"file" + r":///"]
    hosts = [r"py" + r"pi\.org", r"python" + r"hosted"]
    trace = re.compile("|".join(folders + hosts))
    for path in FILES:
        if path.suffix not in BINARY:
            found = trace.search(path.read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{relative(path)}: {found}"


@pytest.mark.parametrize("words", CLOSED_LISTS, ids=lambda words: str(words.__name__))
def test_every_word_of_a_closed_list_is_documented(words: type[Enum]) -> None:
    text = (REPOSITORY / "docs" / "precision.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    missing = {str(word) for word in words} - rows
    assert not missing


def test_no_word_is_documented_that_does_not_exist() -> None:
    text = (REPOSITORY / "docs" / "precision.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    known = {str(word) for words in CLOSED_LISTS for word in words}
    assert rows == known


@pytest.mark.parametrize("words", [EdgeKind, Rule, Reason, Form], ids=lambda words: str(words.__name__))
def test_words_that_nothing_says_yet_are_marked(words: type[Enum]) -> None:
    """A word of a closed list that no code produces is described as reserved, and no other is."""
    producers = [p for p in PRODUCT if p.parent.name in ("inference", "frameworks", "graph", "passes")]
    code = "\n".join(p.read_text(encoding="utf-8") for p in producers)
    silent = {str(w) for w in words if not re.search(rf'\b{words.__name__}\.{w.name}\b|"{re.escape(str(w))}"', code)}
    text = (REPOSITORY / "docs" / "precision.md").read_text(encoding="utf-8")
    reserved = set(re.findall(r"^\| `([^`]+)` \| \(reserved\)", text, re.MULTILINE))
    assert {str(w) for w in words} & reserved == silent
