"""From what a user gives to a compiled context, with the real engine: diffs against git, patches, failures, words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from contextc.engine import Given, Options, Repository, Request, analyze_repository, compile_context, find_seeds
from contextc.errors import TargetNotFound, UserError
from contextc.model.plan import Form
from contextc.passes.json_form import render_json
from tests.command import FIXTURES

IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENVIRONMENT = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **IDENTITY}


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, env=ENVIRONMENT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The failing program under git, then changed: `level_of`, a new file, a renamed one, one deleted, one ignored."""
    root = tmp_path / "shop"
    shutil.copytree(FIXTURES / "failures" / "program", root)
    (root / "notes.txt").write_text("one\n")
    (root / "kept.py").write_text("".join(f"LINE_{n} = {n}\n" for n in range(20)))
    (root / "build").mkdir()
    (root / "build" / "made.py").write_text("x = 1\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    stock = root / "shop" / "stock.py"
    stock.write_text(stock.read_text().replace("    return LEVELS[article]", "    return LEVELS.get(article, 0)"))
    (root / "kept.py").rename(root / "moved.py")
    (root / "group.py").unlink()
    (root / "added.py").write_text("from shop.stock import take\n\n\ndef added():\n    take('apple', 1)\n")
    (root / "notes.txt").write_text("two\n")
    (root / "build" / "made.py").write_text("x = 2\n")
    (root / ".gitignore").write_text("build/\n")
    return root


def analyse(root: Path) -> Repository:
    return analyze_repository(Options(root, workers=1, cache=False, jedi=False))


def test_what_was_changed_since_a_revision(root: Path) -> None:
    repository = analyse(root)
    seeds = find_seeds(repository, Given(root, revision="HEAD"))
    assert seeds.target.symbols == ("added:added", "shop.stock:level_of")
    assert seeds.notes == (
        "renamed: kept.py → moved.py", "deleted: group.py", "changed outside of Python: notes.txt",
        "changed, but not among the analysed files: build/made.py",
    )  # fmt: skip
    made = compile_context(repository, seeds, Request(tokenizer="chars4"))
    assert "return LEVELS.get(article, 0)" in made.context.text
    assert "\n## Changed\n" in made.context.text
    assert json.loads(render_json(made))["notes"] == list(seeds.notes)


def test_a_patch_says_the_same_as_the_revision(root: Path) -> None:
    repository = analyse(root)
    git(root, "add", "-A")
    patch = git(root, "diff", "--cached", "HEAD", "--", "*.py").encode()
    by_patch = find_seeds(repository, Given(root, patch=patch))
    by_revision = find_seeds(repository, Given(root, revision="HEAD"))
    assert by_patch.target.symbols == by_revision.target.symbols
    assert by_patch.lines == by_revision.lines


def test_a_tree_without_changes(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "two")
    with pytest.raises(TargetNotFound, match=r"--diff HEAD: no analysed Python code was changed \(the diff is empty\)"):
        find_seeds(analyse(root), Given(root, revision="HEAD"))


def test_a_notebook_is_told_to_be_changed_only_where_it_was(root: Path) -> None:
    """Its lines in a diff are those of the JSON: it is named, and no seed, new or changed, by revision or patch."""
    cell = {"cell_type": "code", "source": "from shop.stock import take\ntake(1)\n", "metadata": {}, "outputs": []}
    notebook = {"cells": [cell], "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    (root / "same.ipynb").write_text(json.dumps(notebook, indent=1))
    (root / "other.ipynb").write_text(json.dumps(notebook, indent=1))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "two")
    (root / "added.py").write_text("def added():\n    return 1\n")
    (root / "other.ipynb").write_text(json.dumps(notebook, indent=1).replace("take(1)", "take(2)"))
    (root / "new.ipynb").write_text(json.dumps(notebook))
    repository = analyse(root)
    seeds = find_seeds(repository, Given(root, revision="HEAD"))
    assert seeds.target.paths == ("added.py",)
    told = "changed notebooks, not looked into: as targets they are shown: "
    assert seeds.notes == (f"{told}new.ipynb, other.ipynb",)
    by_patch = find_seeds(repository, Given(root, patch=git(root, "diff").encode()))
    assert by_patch.target.paths == ("added.py",) and by_patch.notes == (f"{told}other.ipynb",)


def test_a_failure_in_a_notebook_finds_its_cells_by_their_text(tmp_path: Path) -> None:
    sources = ("from lib import load\n", "def prepare(rows):\n    return load(rows)\n", "prepare(3)\n")
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "work.ipynb").write_text(json.dumps(notebook))
    (tmp_path / "lib.py").write_text("def load(rows):\n    return {}[rows]\n")
    said = (
        "KeyError                                  Traceback (most recent call last)\n"
        "Cell In[9], line 1\n----> 1 prepare(3)\n\nCell In[4], line 2, in prepare(rows)\n      1 def prepare(rows):\n"
        "----> 2     return load(rows)\n\nFile ~/elsewhere/lib.py:2, in load(rows)\n----> 2     return {}[rows]\n\n"
        "KeyError: 3\n"
    )
    seeds = find_seeds(analyse(tmp_path), Given(tmp_path, failure=said))
    assert dict(seeds.ranks) == {"lib:load": 0, "work@notebook:prepare": 1}
    assert [(mark.path, mark.note) for mark in seeds.marks] == [
        ("lib.py", "KeyError: 3"), ("work.ipynb", "calls load"), ("work.ipynb", "calls prepare"),
    ]  # fmt: skip
    assert seeds.notes == ()


def test_all_ways_at_once(root: Path) -> None:
    repository = analyse(root)
    failure = (FIXTURES / "failures" / "chained.txt").read_text()
    seeds = find_seeds(repository, Given(root, ("shop/orders.py::total",), failure, None, "HEAD", "order articles"))
    assert seeds.target.symbols[0] == "shop.orders:total"
    assert {"shop.stock:level_of", "shop.orders:Order._take", "added:added"} <= set(seeds.target.symbols)
    assert seeds.target.text == 'shop/orders.py::total a failure on standard input --diff HEAD --about "order articles"'
    assert seeds.scores and seeds.marks
    assert any("has changed since" in note for note in seeds.notes)  # the failure is of the text before the change


def test_a_secret_in_a_message_is_masked(root: Path) -> None:
    repository = analyse(root)
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    failure = (FIXTURES / "failures" / "chained.txt").read_text().replace("'plum'", f"'{key}'")
    seeds = find_seeds(repository, Given(root, failure=failure))
    assert key not in compile_context(repository, seeds, Request(tokenizer="chars4")).context.text
    assert key in compile_context(repository, seeds, Request(tokenizer="chars4", mask=False)).context.text


def test_recorded_failures_bring_what_failed_in_full_and_the_callers_lines() -> None:
    program = FIXTURES / "failures" / "program"
    repository = analyse(program)
    for name in ("chained", "group", "pytest_long"):
        text = (FIXTURES / "failures" / f"{name}.txt").read_text(encoding="utf-8")
        seeds = find_seeds(repository, Given(program, failure=text))
        made = compile_context(repository, seeds, Request(tokenizer="chars4"))
        forms = {item.symbol: item.form for item in made.context.items}
        shown = {(group.path, number) for group in made.document.groups for number in group.numbers}
        assert {forms[symbol] for symbol, rank in seeds.ranks.items() if rank == 0} == {Form.FULL}
        inside = [m for m in seeds.marks if repository.texts[m.path].splitlines()[m.line - 1].startswith(b" ")]
        assert len(inside) >= 6
        assert {(mark.path, mark.line) for mark in inside} <= shown


def test_nothing_given(root: Path) -> None:
    with pytest.raises(UserError, match="nothing to start from"):
        find_seeds(analyse(root), Given(root))
