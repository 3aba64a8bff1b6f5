"""Ignore rules mean what they mean to git: a table, and git itself as the judge of random rules on random trees."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from contextc.analyzer.ignore_rules import compile_rules
from contextc.model.diagnostic import SkipReason
from tests.project.trees import discover, make_tree, paths_of

NAMES = ["a", "b", "foo", "x.py", "keep.py", "A b", "foo.d"]
PATTERNS = [
    "*", "**", "a", "a/", "/a", "/a/", "foo", "foo/", "foo/*", "foo/**", "**/foo", "**/foo/", "a/**/b", "*.py", "!*.py",
    "!a/", "!foo", "*/", "!*/", "**/", "a/b", "a/b/", "/foo/*", "!/foo/keep.py", "!keep.py", "fo?", "[ab]", "[!a]*",
    "foo.d/", "**/*.py", "a/*/b", "A b", "foo*", "\\!x", "#c", "/", "/*", "!/*", "**/*", "*/**", "a/**/", "/**", "/*/",
    "foo//bar", "a/**/**/b", "x[", "!", "foo ", "foo\\ ", "**a", "a**", "a**b/x.py", "/**/a", "*/foo", "***",
    "[[:alpha:]]", "[a-", "[]-]", "[^a]", "", "  ", "!b", "b/**", "!b/keep.py",
]  # fmt: skip


def judge(lines: list[str], path: str) -> bool | None:
    rules, faults = compile_rules(lines)
    assert not faults
    return rules.judge(path.rstrip("/"), path.endswith("/"))


@pytest.mark.parametrize(
    ("lines", "path", "verdict"),
    [
        (["*.py"], "a/b.py", True),
        (["*.py", "!b.py"], "a/b.py", False),
        (["!b.py", "*.py"], "a/b.py", True),
        (["build/"], "build", None),
        (["build/"], "a/build/", True),
        (["build/"], "build/x.py", None),  # what is above it is the walk's business
        (["/build"], "a/build", None),
        (["a/b"], "c/a/b", None),
        (["**/a/b"], "c/a/b", True),
        (["a/**"], "a/", None),
        (["a/**"], "a/b/c.py", True),
        (["*.PY"], "b.py", None),
        (["#x"], "#x", None),
        (["\\#x"], "#x", True),
        (["b.py "], "b.py", True),
        (["[[:digit:]]*.py"], "1.py", True),
        (["[!_]*.py"], "_a.py", None),
        ([], "a", None),
    ],
)
def test_table(lines: list[str], path: str, verdict: bool | None) -> None:
    assert judge(lines, path) is verdict


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
def test_git_agrees(tmp_path: Path) -> None:
    """Nested ignore files, negations and odd patterns on trees of files and folders."""
    chance = random.Random(7)
    for number in range(40):
        root = tmp_path / str(number)
        subprocess.run(["git", "init", "-q", root], check=True)
        for _ in range(25):
            path = root / "/".join(chance.choice(NAMES) for _ in range(chance.randint(1, 4)))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch() if path.suffix == ".py" and not path.is_dir() else path.mkdir(exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                continue  # the name is taken by the other kind
        folders = [root, *sorted(p for p in root.iterdir() if p.is_dir() and p.name != ".git")[:2]]
        for folder in folders:
            lines = [chance.choice(PATTERNS) for _ in range(chance.randint(1, 4))]
            (folder / ".gitignore").write_text("\n".join(lines) + "\n")
        (root / ".git" / "info" / "exclude").write_text(chance.choice(PATTERNS) + "\n")
        files = [p.relative_to(root).as_posix() for p in sorted(root.rglob("*.py")) if p.is_file()]
        listed = subprocess.run(
            ["git", "-C", root, "check-ignore", "--stdin", "-z"], input="\0".join(files).encode(), capture_output=True
        )
        expected = sorted(set(files) - set(os.fsdecode(listed.stdout).split("\0")))
        shown = {p.relative_to(root).as_posix(): p.read_text() for p in root.rglob(".gitignore")}
        assert paths_of(discover(root)) == expected, shown


def test_lines_without_use_are_listed_and_the_others_apply(tmp_path: Path) -> None:
    ignore = "*a*a*a*a*a*a*a*b\n[z-a]\n\\\nleft.py\n"
    project = discover(make_tree(tmp_path, {".gitignore": ignore, "left.py": "", "kept.py": ""}))
    assert paths_of(project) == ["kept.py"]
    (fault,) = [skip for skip in project.skipped if skip.reason is SkipReason.IGNORE_FILE]
    assert fault.path == ".gitignore"
    assert fault.detail.startswith("Line 1 doesn't apply")


def test_a_hostile_pattern_costs_no_time() -> None:
    rules, faults = compile_rules(["*a*a*a*a*a*a*a*b", "/".join(["**", "a"] * 12), "x" * 5000])
    assert len(faults) == 3
    rules, faults = compile_rules(["*a*a*b"])
    start = time.process_time()
    assert rules.judge("a" * 250, False) is None
    assert time.process_time() - start < 2
