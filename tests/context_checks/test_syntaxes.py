"""The whole command set over a project that uses the syntax of Python 3.8 to 3.13: no symbol makes it fail."""

from __future__ import annotations

import ast
import json
import sys
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from contextc import cli, engine
from contextc.model.facts import SymbolKind
from contextc.passes.json_form import render_json
from contextc.passes.picture import render_page
from contextc.passes.profile import PROFILES
from tests.context_checks.shop import analyze, as_json, compile_one
from tests.context_checks.syntaxes import SYNTAXES
from tests.project.trees import make_tree

CODE = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tree(tmp_path_factory.mktemp("syntaxes"), SYNTAXES)


@pytest.fixture(scope="module")
def project(root: Path) -> engine.Repository:
    return analyze(root)


def test_the_program_is_what_it_says() -> None:
    """Each module is Python of its version; the newest can only be judged by a newer one."""
    for path, text in SYNTAXES.items():
        version = (3, int(path[3:-3])) if path.startswith("py3") else (3, 8)
        if sys.version_info >= version:
            ast.parse(text, path)


def test_nothing_is_skipped_or_read_in_part(project: engine.Repository) -> None:
    assert project.analysis.skipped == ()
    assert [file.path for file in project.graph.files] == sorted(SYNTAXES)
    decorated = [s for s in project.graph.symbols if project.texts[s.path][s.span.start :].startswith(b"@")]
    assert len(decorated) > 15


def test_each_definition_is_a_target_shown_whole(project: engine.Repository) -> None:
    for symbol in project.graph.symbols:
        if symbol.kind not in CODE:
            continue
        source = project.texts[symbol.path][symbol.span.start : symbol.span.end].decode()
        start = source.lstrip()
        made = compile_one(project, symbol.id)
        plain = textwrap.dedent(made.context.text)
        for line in start.splitlines():
            assert line.strip() in plain, f"{symbol.id}: {line}"


def test_each_rendering_of_each_file(project: engine.Repository) -> None:
    for path in SYNTAXES:
        ElementTree.fromstring(compile_one(project, path, markup="xml", line_numbers=True).context.text)
        for name, profile in PROFILES.items():
            made = compile_one(project, path, profile=profile, explain=True)
            assert json.loads(render_json(made, explain=True))["items"], (path, name)
            assert as_json(made)["text"] == made.context.text
            assert render_page(made).startswith("<!DOCTYPE html>")


COMMANDS = [
    ["compile", "main.py"], ["compile", "main.py", "--format", "xml"], ["compile", "main.py", "--format", "json"],
    ["compile", "main.py", "--format", "html"], ["compile", "py312.py::Box", "--explain", "--line-numbers"],
    ["compile", "main:main", "--why-not", "py313:Shelf.take"], ["compile", "--about", "several points"],
    ["compile", "py39.py", "--resolver", "name-only"], ["graph"], ["graph", "--format", "dot"],
    ["graph", "--resolver", "name-only"], ["compare", "main.py"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_each_command(root: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    command, *rest = words
    assert cli.main([command, str(root), *rest, "--no-jedi", "--workers", "1"]) == 0
    said = capsys.readouterr()
    assert said.out.strip() and "Traceback" not in said.err
