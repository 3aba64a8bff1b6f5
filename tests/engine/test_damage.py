"""What could not be read in full: listed, open where something could be called, never taken for a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.engine import Options, Repository, analyze_repository

DEEP = b"x = " + b"[" * 3_000 + b"]" * 3_000 + b"\n"


def analyse(root: Path, files: dict[str, bytes]) -> Repository:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return analyze_repository(Options(root, cache=False, workers=1))


def skips(repository: Repository) -> dict[str, tuple[str, str]]:
    return {skip.path: (skip.reason.value, skip.detail) for skip in repository.analysis.skipped}


def open_sites(repository: Repository) -> set[tuple[str, int, str]]:
    return {(site.caller, site.line, site.reason.value) for site in repository.analysis.unresolved}


def calls(repository: Repository) -> set[tuple[str, str]]:
    return {(edge.caller, edge.callee) for edge in repository.analysis.edges if edge.kind.is_call}


def test_one_deep_expression_leaves_the_rest_of_its_file(tmp_path: Path) -> None:
    found = analyse(
        tmp_path, {"deep.py": b"def f(): g()\n" + DEEP + b"def g(): pass\n", "app.py": b"import deep\ndeep.f()\n"}
    )
    assert skips(found) == {"deep.py": ("too-deep", "line 2: expression nested too deep")}
    assert calls(found) == {("deep:f", "deep:g"), ("app:<module>", "deep:f")}
    assert open_sites(found) == {("deep:<module>", 2, "syntax")}


def test_a_broken_file_with_a_deep_expression_is_partial(tmp_path: Path) -> None:
    found = analyse(tmp_path, {"a.py": DEEP + b"def f(: pass\ndef g(): f()\n"})
    assert skips(found)["a.py"][0] == "partial"
    assert open_sites(found) >= {("a:<module>", 1, "syntax"), ("a:<module>", 2, "syntax")}
    assert ("a:g", "a:f") in calls(found)


@pytest.mark.parametrize(
    ("content", "line", "detail"),
    [
        (b"def f(): g()\ndef g(): pass\n# \xff\n", 3, "'utf-8' codec can't decode byte 0xff"),
        (b"def f(): g()\r\ndef g(): '\xe9'\r\n", 2, "'utf-8' codec can't decode byte 0xe9"),
        (b"\xef\xbb\xbfdef f(): g()\ndef g(): '\xe9'\n", 2, "'utf-8' codec can't decode byte 0xe9"),
        (b"# coding: nonsense\ndef f(): g()\ndef g(): pass\n", 1, "Unknown encoding: nonsense"),
    ],
)
def test_what_an_undecodable_file_defines_is_known(tmp_path: Path, content: bytes, line: int, detail: str) -> None:
    found = analyse(tmp_path, {"a.py": content, "b.py": b"from a import f, x\nf()\nx()\n"})
    reason, told = skips(found)["a.py"]
    assert reason == "undecodable"
    assert told.startswith(detail)
    assert len(found.analysis.skipped) == 1
    assert calls(found) == {("a:f", "a:g"), ("b:<module>", "a:f")}
    assert open_sites(found) == {("a:<module>", line, "syntax"), ("b:<module>", 3, "syntax")}


@pytest.mark.parametrize("content", [b"def f(): pass\n\0", "def f(): pass\n".encode("utf-16")])
def test_what_is_no_text_is_an_unresolved_import(tmp_path: Path, content: bytes) -> None:
    """`json` is in the standard library, too: Python would not look there."""
    app = (
        b"from json import dumps\nimport json\ndumps()\njson.loads().x()\nfrom pkg.bad import y\ny()\nimport pkg.json\n"
    )
    found = analyse(tmp_path, {"json.py": content, "app.py": app, "pkg/__init__.py": b"", "pkg/bad.py": content})
    assert {path: reason for path, (reason, _) in skips(found).items()} == dict.fromkeys(
        ["json.py", "pkg/bad.py"], "undecodable"
    )
    assert calls(found) == set()
    assert open_sites(found) == {("app:<module>", line, "unresolved-import") for line in (3, 4, 6)}
