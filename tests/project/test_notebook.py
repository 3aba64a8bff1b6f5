"""Notebooks as targets and as code: cells, magics, locations, and what is no notebook."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextc.analyzer.notebook import read_notebook
from contextc.analyzer.source import MAX_FILE_BYTES
from tests.command import run, run_compile, run_graph

CellDraft = tuple[str, "str | list[str]"]


def write(cells: Sequence[CellDraft], **metadata: Any) -> bytes:
    """nbformat 4, each code cell with an output that must never be shown."""
    outputs = [{"output_type": "stream", "text": ["printed-output"]}]
    drafts = [
        {"cell_type": kind, "source": source, "metadata": {}, "outputs": outputs, "execution_count": 1}
        for kind, source in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": drafts}).encode()


def code_of(source: str) -> str:
    """What becomes of one code cell."""
    text = read_notebook(write([("code", source)]), MAX_FILE_BYTES).text.decode()
    assert text.startswith("# %% cell 1")
    return text.partition("\n")[2]


CELLS: list[CellDraft] = [
    ("markdown", "# Title"),
    ("code", "%load_ext autoreload\nimport json\nfrom lib import load\n"),
    ("code", ["%%bash\n", "ls -la\n"]),
    ("code", "def prepare(rows):\n    '''Cleans.'''\n    %time load('x')\n    return [load(r) for r in rows]\n"),
    ("raw", "raw"),
    ("code", "files = !ls\ndata = prepare(files)\nload?\n"),
    ("code", "%%time\nresult = load(data)\nresult"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "analysis.ipynb").write_bytes(write(CELLS, kernelspec={"language": "python"}))
    (tmp_path / "lib.py").write_text("def load(what):\n    return what\n")
    return tmp_path


def test_code_cells_are_joined_in_order() -> None:
    notebook = read_notebook(write(CELLS), MAX_FILE_BYTES)
    assert notebook.text.decode() == (
        "# %% cell 2\n\nimport json\nfrom lib import load\n"
        "# %% cell 3: %%bash\n"
        "# %% cell 4\ndef prepare(rows):\n    '''Cleans.'''\n    pass\n    return [load(r) for r in rows]\n"
        "# %% cell 6\nfiles = None\ndata = prepare(files)\n\n"
        "# %% cell 7\n\nresult = load(data)\nresult\n"
    )
    assert [(cell.number, cell.line) for cell in notebook.cells] == [(2, 2), (3, 6), (4, 7), (6, 12), (7, 16)]
    assert notebook.notes == ("Cell 3 is left out: %%bash.",)


@pytest.mark.parametrize(
    ("source", "cleaned"),
    [
        ("x = 1", "x = 1\n"),
        ("%matplotlib inline\nx = 1", "\nx = 1\n"),
        ("!pip install x\nx = 1", "\nx = 1\n"),
        ("?load\nload??\nx.y?\n%pinfo x", "\n\n\n\n"),
        ("if x:\n    !ls\n", "if x:\n    pass\n"),
        ("files = !ls *.py\n", "files = None\n"),
        ("t = %timeit -o f()\n", "t = None\n"),
        ("x = (1\n  % 2)\n", "x = (1\n  % 2)\n"),
        ("x = 1 \\\n  % 2\n", "x = 1 \\\n  % 2\n"),
        ("s = '''\n%time\n!ls\n'''\n", "s = '''\n%time\n!ls\n'''\n"),
        ("print('a % b') # what?\n", "print('a % b') # what?\n"),
        ("x != 1\nx %= 2\n", "x != 1\nx %= 2\n"),
        ("# don't %time\n%time f('it')\ny = 2\n", "# don't %time\n\ny = 2\n"),
        ("!echo \"it's\nz = [\n  1]\n%cd x\n", "\nz = [\n  1]\n\n"),
        ("\n%%timeit\nf()\n", "\n\nf()\n"),
        ("a = 1\r\nb = 2\r", "a = 1\nb = 2\n"),
    ],
)
def test_what_is_no_python_becomes_an_empty_line(source: str, cleaned: str) -> None:
    assert code_of(source) == cleaned


@given(st.lists(st.sampled_from(["x = 1", "%m", "!a", "f(", ")", "'''", "if x:", "  y", "# '", "b?", "\\", "''"])))
@settings(max_examples=200, deadline=None)
def test_lines_keep_their_places(lines: list[str]) -> None:
    """Whatever a cell holds, it has as many lines as before, and those of valid Python are as they were."""
    source = "\n".join(["a = 0", *lines, "z = 9"])
    cleaned = code_of(source)
    assert cleaned.count("\n") == source.count("\n") + 1
    try:
        ast.parse(source)
    except SyntaxError:
        return
    assert cleaned == source + "\n"


def test_the_older_form() -> None:
    sheet = {"cells": [{"cell_type": "heading", "source": "h"}, {"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}
    raw = json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [sheet]}).encode()
    assert read_notebook(raw, MAX_FILE_BYTES).text == b"# %% cell 2\nx = 1\ny = 2\n"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "it is no notebook"),
        (b'{"cells": [', "it is no notebook"),
        (b"[" * 100_000, "it is no notebook"),
        (b"[]", "no object at its top"),
        (b"{}", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b"\xff\xfe", "it is no notebook"),
        (write([], language_info={"name": "R"}), "its language is 'R', not Python"),
        (write([("code", "x = 1\0")]), "NUL"),
        (write([("code", "x = 1\n" * 400_000)]), "the limit is 2,000,000"),
    ],
)
def test_what_is_no_notebook_is_a_fault_in_one_sentence(raw: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_notebook(raw, MAX_FILE_BYTES)


def test_odd_cells_are_no_fault() -> None:
    cells: list[object] = [None, 3, {}, {"cell_type": "code"}]
    cells += [{"cell_type": "code", "source": source} for source in (3, [1], "x = '\ud800'")]
    notebook = read_notebook(json.dumps({"cells": cells, "metadata": []}).encode(), MAX_FILE_BYTES)
    assert notebook.text == b"# %% cell 7\nx = '?'\n"


# --------------------------------------------------------------------------------------------------- as a target


def test_a_notebook_is_a_target(root: Path) -> None:
    context = run_compile(root, "analysis.ipynb")
    text = context["text"]
    assert "## `analysis.ipynb` target, whole" in text and "def prepare(rows):" in text
    assert "def load(what)" in text
    for absent in ("printed-output", "ls -la", "%time", "autoreload", "# Title", str(root), "/tmp"):
        assert absent not in json.dumps(context)


@pytest.mark.parametrize("target", ["analysis.ipynb::prepare", "analysis.ipynb:cell 4", "analysis.ipynb:8",
                                    "analysis.ipynb:cell 4, line 2", "analysis.ipynb:cell 4:2"])  # fmt: skip
def test_a_definition_in_a_cell_is_a_target(root: Path, target: str) -> None:
    context = run_compile(root, target)
    item = context["items"][0]
    assert (item["id"], item["form"], item["place"]) == ("analysis@notebook:prepare", "full", "cell 4, lines 1-4")
    assert "## `analysis.ipynb` target, cell 2, line 3; cell 4, lines 1-4" in context["text"]


def test_every_id_is_a_target(root: Path) -> None:
    for symbol in run_graph(root)["symbols"]:
        assert run("compile", root, symbol["id"]).returncode == 0


def test_a_cell_of_statements_is_a_target(root: Path) -> None:
    ids = [item["id"] for item in run_compile(root, "analysis.ipynb:cell 7")["items"]]
    assert ids[0] == "analysis@notebook:result" and "lib:load" in ids


def test_a_wrong_cell_is_one_clear_line(root: Path) -> None:
    done = run("compile", root, "analysis.ipynb:cell 5", check=False)
    assert done.returncode == 2
    assert done.stderr == "contextc: no code cell 5 in analysis.ipynb: its code cells are 2, 3, 4, 6, 7\n"


def test_a_target_from_the_current_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    text = run("compile", root.name, f"{root.name}/analysis.ipynb::prepare").stdout
    assert text.startswith("# Context for `analysis.ipynb::prepare`")


# ----------------------------------------------------------------------------------------------------- as code


def test_a_notebook_is_a_caller(root: Path) -> None:
    edges = [e for e in run_graph(root)["edges"] if e["callee"] == "lib:load" and e["kind"] == "CALL"]
    assert {(e["caller"], e["path"], e["line"]) for e in edges} == {
        ("analysis@notebook:prepare", "analysis.ipynb", 10), ("analysis@notebook:<module>", "analysis.ipynb", 17),
    }  # fmt: skip
    text = run_compile(root, "lib.py::load")["text"]
    assert "analysis.ipynb (cell 4, line" in text and "cell 7, line 2" in text


def test_no_import_means_a_notebook(root: Path) -> None:
    (root / "other.py").write_text("import analysis\nfrom analysis import prepare\n\n\ndef f():\n    prepare([])\n")
    graph = run_graph(root)
    assert not [e for e in graph["edges"] if e["caller"].startswith("other:") and "analysis" in e["callee"]]


def test_a_module_and_a_notebook_of_one_name(root: Path) -> None:
    (root / "analysis.py").write_text("def prepare(rows):\n    return 0\n")
    (root / "other.py").write_text("from analysis import prepare\n\n\ndef f():\n    prepare([])\n")
    edges = [e["callee"] for e in run_graph(root)["edges"] if e["caller"] == "other:f" and e["kind"] == "CALL"]
    assert edges == ["analysis:prepare"]


def test_what_could_not_be_read_is_listed(root: Path) -> None:
    (root / "bad.ipynb").write_text('{"cells": [')
    (root / "r.ipynb").write_bytes(write([("code", "x <- 1")], kernelspec={"language": "R"}))
    (root / ".ipynb_checkpoints").mkdir()
    (root / ".ipynb_checkpoints" / "analysis-checkpoint.ipynb").write_bytes(write(CELLS))
    skipped = {s["path"]: (s["reason"], s["detail"]) for s in run_graph(root)["skipped"]}
    assert skipped["bad.ipynb"][0] == skipped["r.ipynb"][0] == "undecodable"
    assert skipped["r.ipynb"][1] == "Its language is 'R', not Python."
    assert skipped[".ipynb_checkpoints/"] == ("dependencies", "Saved states of notebooks.")


def test_warnings_have_cell_and_line(root: Path) -> None:
    secret = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3hJ6"
    cells = ("markdown", "x"), ("code", "a = 1"), ("code", f"import os\nkey = '{secret}'\nos.f(a.b())")
    (root / "secret.ipynb").write_bytes(write(cells))
    context = run_compile(root, "secret.ipynb")
    assert {"path": "secret.ipynb", "line": 5, "message": "cell 3, line 2: masked: github-pat"} in context["warnings"]
    assert secret not in json.dumps(context)
