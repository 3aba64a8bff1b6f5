"""What is in the tree and what is not: skipped files are listed, ignored ones stay out, one bad file stops nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextc import cli
from contextc.model.diagnostic import SkipReason
from contextc.passes.json_form import render_json
from tests.context_checks.shop import SHOP, analyze, as_json, compile_one, compile_tree, shown
from tests.project.trees import make_tree

BROKEN = {
    "unclosed.py": b"def half(typed,\n\n\ndef after():\n    pass\n",
    "python2.py": b"print 'hello'\nexec 'x'\n\n\ndef sound():\n    raise E, 'x'\n",
    "dedent.py": b"def f():\n        a\n    b\n",
    "latin.py": b"name = '\xe9'\n",
    "utf16.py": "def f(): ...\n".encode("utf-16"),
    "nul.py": b"x = 1\x00\n",
    "deep.py": b"x = " + b"(" * 5_000 + b")" * 5_000 + b"\n",
    "generics.py": b"class Box[T: int\n    pass\n",
    "empty.py": b"",
    "no_newline.py": b"def last(): return 1",
    "bad_cookie.py": b"# -*- coding: no-such-code -*-\nx = 1\n",
}
SOUND = {"empty.py", "no_newline.py"}


def test_a_bad_file_stops_nothing_and_stays_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_tree(tmp_path, SHOP)
    before = as_json(compile_one(analyze(root), "shop.models:User.save"))
    for name, content in BROKEN.items():
        (root / name).write_bytes(content)
    repository = analyze(root)
    listed = {skip.path for skip in repository.analysis.skipped}
    assert listed == BROKEN.keys() - SOUND
    after = as_json(compile_one(repository, "shop.models:User.save"))
    assert [i["id"] for i in after["items"]] == [i["id"] for i in before["items"]]
    assert cli.main(["compile", str(root), "shop.models:User.save", "--no-jedi", "--workers", "1"]) == 0
    report = capsys.readouterr().err
    assert all(name in report for name in listed)


def test_a_bad_file_as_target_is_shown_or_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in BROKEN.items():
        (tmp_path / name).write_bytes(content)
    for name in sorted(BROKEN.keys() - SOUND):
        status = cli.main(["compile", str(tmp_path), name, "--no-jedi", "--workers", "1"])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        assert name in said.out or (status == 2 and said.err.count("\n") == 1 and name in said.err)


def test_a_valid_file_with_a_replacement_character_is_no_undecodable_one(tmp_path: Path) -> None:
    made = compile_tree(tmp_path, {"app.py": "def f():\n    return '\ufffd'\n"}, "app.py")
    assert "return '\ufffd'" in made.context.text and not made.context.skipped


IGNORE_FILES = {
    "a folder": None,
    "binary": bytes(range(256)) * 4,
    "UTF-16": "secret.py\n".encode("utf-16"),
    "malformed": b"[z-a]\n\\\n**a**b**\nsecret.py\n",
    "a byte order mark": b"\xef\xbb\xbfsecret.py\n",
    "CR LF": b"secret.py\r\n",
}


@pytest.mark.parametrize("content", IGNORE_FILES.values(), ids=IGNORE_FILES)
@pytest.mark.parametrize("place", [".gitignore", "shop/.gitignore"])
def test_an_ignore_file_of_any_content_is_no_crash(tmp_path: Path, content: bytes | None, place: str) -> None:
    """What can be read of it applies; what can't is listed; nothing else changes."""
    root = make_tree(tmp_path, SHOP | {"shop/secret.py": "X = 1\n"})
    file = root / place
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    repository = analyze(root)
    kept = {file.path for file in repository.graph.files}
    assert SHOP.keys() <= kept
    warned = [skip for skip in repository.analysis.skipped if skip.reason is SkipReason.IGNORE_FILE]
    is_read = content is not None and b"secret.py" in content
    assert ("shop/secret.py" not in kept) == is_read or warned
    assert all(skip.path == place for skip in warned)
    assert shown(compile_one(repository, "shop.views:show")) >= {"shop.models:User.save"}


def test_nested_ignore_files_add_to_the_outer_rules(tmp_path: Path) -> None:
    tree = SHOP | {
        ".gitignore": "__pycache__/\n*_local.py\n", "shop/.gitignore": "made/\n", "shop/__pycache__/x.py": "A = 1\n",
        "shop/a_local.py": "B = 1\n", "shop/made/c.py": "C = 1\n",
    }  # fmt: skip
    repository = analyze(make_tree(tmp_path, tree))
    assert {file.path for file in repository.graph.files} == SHOP.keys()
    listed = {skip.path for skip in repository.analysis.skipped}
    assert {"shop/__pycache__/", "shop/a_local.py", "shop/made/"} <= listed


def test_rules_of_the_repository_apply_to_a_folder_in_it(tmp_path: Path) -> None:
    tree = SHOP | {".gitignore": "*_pb2.py\n/shop/made/\n", "shop/x_pb2.py": "A = 1\n", "shop/made/y.py": "B = 1\n"}
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    repository = analyze(make_tree(tmp_path, tree) / "shop")
    assert {file.path for file in repository.graph.files} == {"__init__.py", "models.py", "views.py"}


def test_what_is_ignored_is_never_in_a_context(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither through an import, a string, `--include` of all, nor as a target or by a diff."""
    hidden = "never-" + "shown-17"
    tree = {
        ".gitignore": "*.env\nlocal.py\n", ".env": f"KEY={hidden}\n", "prod.env": f"KEY={hidden}\n",
        "id_rsa": hidden, "local.py": f"KEY = '{hidden}'\n\n\ndef load():\n    return '{hidden}'\n",
        "app.py": "import local\nfrom local import load\n\n\ndef read():\n    return open('.env').read() + load()\n",
    }  # fmt: skip
    root = make_tree(tmp_path, tree)
    diff = tmp_path / "change.diff"
    diff.write_text(f"--- a/local.py\n+++ b/local.py\n@@ -1 +1 @@\n-KEY = 1\n+KEY = '{hidden}'\n")
    for status, words in (
        (0, ["app.py"]), (0, ["app.py", "--format", "html"]), (0, ["app.py", "--include", "*"]), (2, ["local.py"]),
        (2, [".env"]), (2, ["--diff", str(diff)]), (0, ["app.py", "--resolver", "name-only"]),
    ):  # fmt: skip
        assert cli.main(["compile", str(root), *words, "--no-jedi", "--workers", "1"]) == status
        said = capsys.readouterr()
        assert said.out + said.err and hidden not in said.out + said.err, words


def test_one_ignored_file_comes_in_by_its_name_and_no_other(tmp_path: Path) -> None:
    tree = SHOP | {".gitignore": "made/\n", "shop/made/a.py": "A = 1\n", "shop/made/b.py": "B = 1\n"}
    repository = analyze(make_tree(tmp_path, tree), include=("*.py", "shop/made/a.py"))
    assert {file.path for file in repository.graph.files} == {*SHOP, "shop/made/a.py"}


def test_a_notebook_is_told_by_cells_without_outputs_magics_or_other_paths(tmp_path: Path) -> None:
    def cell(kind: str, source: str) -> dict[str, object]:
        output = {"output_type": "stream", "name": "stdout", "text": ["OUTPUT-TEXT"]}
        more = {"outputs": [output], "execution_count": 3} if kind == "code" else {}
        return {"cell_type": kind, "metadata": {}, "source": source, **more}

    cells = [
        cell("markdown", "# Title"), cell("code", "%matplotlib inline\nfrom shop.models import User"),
        cell("code", "!pip install x\ndef load(name):\n    return User(name).save()\n\n\nload('a')"),
    ]  # fmt: skip
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    repository = analyze(make_tree(tmp_path, SHOP | {"study.ipynb": notebook}))
    for target in ("study.ipynb", "study.ipynb::load", "study.ipynb:cell 3"):
        made = compile_one(repository, target)
        text = made.context.text + render_json(made)
        assert "def load(name):" in text and "cell 3" in text
        assert not [
            word for word in ("OUTPUT-TEXT", "%matplotlib", "pip install", str(tmp_path), "/tmp") if word in text
        ]
    assert "study.ipynb" in compile_one(repository, "shop.models:User.save").context.text


def test_settings_that_can_not_be_read_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_tree(tmp_path, SHOP | {"pyproject.toml": "[tool.contextc\n"})
    assert cli.main(["compile", str(root), "shop.models:User.save", "--no-jedi", "--workers", "1"]) == 0
    assert "pyproject.toml: [tool.contextc] was not read" in capsys.readouterr().err
