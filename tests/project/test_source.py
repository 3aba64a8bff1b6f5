"""Reading a file: encodings, line ends, limits, and what must never be opened."""

from __future__ import annotations

import ast
import errno
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextc.analyzer.source import MAX_FILE_BYTES, Source, read_source
from contextc.model.diagnostic import Skip, SkipReason


def read(folder: Path, content: bytes) -> Source | Skip:
    (folder / "a.py").write_bytes(content)
    return read_source(folder, "a.py")


def text_of(folder: Path, content: bytes) -> bytes:
    found = read(folder, content)
    assert isinstance(found, Source), found
    assert found.digest == hashlib.sha256(found.text).hexdigest()
    return found.text


def notes_of(folder: Path, content: bytes) -> list[str]:
    found = read(folder, content)
    assert isinstance(found, Source), found
    return [note.message for note in found.notes]


def reason_of(found: Source | Skip) -> SkipReason:
    assert isinstance(found, Skip), found
    assert found.detail.endswith(".")
    return found.reason


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", ""),
        (b"x = 1", "x = 1"),
        ("x = 'é\ufffd'\n".encode(), "x = 'é\ufffd'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
        (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\n",
         "#!/bin/python\n# vim: set fileencoding=cp1252 :\nx = '€'\n"),
        (b"# coding: shift_jis\nx = '\x82\xa0'\n", "# coding: shift_jis\nx = 'あ'\n"),
        (b"# caf\xe9\n# coding: latin-1\n", "# café\n# coding: latin-1\n"),
        (b"# caf\xe9 coding: latin-1\n", "# café coding: latin-1\n"),
        (b"\n\n# coding: latin-1\n", "\n\n# coding: latin-1\n"),  # the third line says nothing
        (b"x = 1\n# coding: latin-1\n", "x = 1\n# coding: latin-1\n"),  # nor the second after code
        (b"# coding: latin-1\rx = '\xe9'\r", "# coding: latin-1\rx = 'é'\r"),
        (b"x = 1\x0c\r\ny = 2\r", "x = 1\x0c\r\ny = 2\r"),
    ],
)  # fmt: skip
def test_text_is_utf8_without_mark_and_with_its_line_ends(tmp_path: Path, content: bytes, text: str) -> None:
    assert text_of(tmp_path, content).decode() == text


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        (b"x = 1\n", []),
        (b"# coding: utf8\n", []),
        (b"# coding: ascii\n", ["Decoded as ascii, by its coding cookie."]),
        (b"\xef\xbb\xbfx\r\n", ["It begins with a UTF-8 byte order mark.", "Line ends are CRLF."]),
        (b"# coding: latin-1\n", ["Decoded as iso8859-1, by its coding cookie."]),
        (b"a\rb\r", ["Line ends are CR."]),
        (b"a\r\nb\n", ["Line ends are mixed: LF, CRLF."]),
        (b"a\r\nb\nc\r", ["Line ends are mixed: LF, CRLF, CR."]),
    ],
)
def test_notes(tmp_path: Path, content: bytes, notes: list[str]) -> None:
    assert notes_of(tmp_path, content) == notes


@pytest.mark.parametrize(
    "content",
    [
        b"x = '\xff'\n",
        b"x = 1\0\n",
        b"# coding: nonsense\n",
        b"# coding: hex\n00",
        b"# coding: rot13\n",
        b"# coding: idna\n",
        b"# coding: punycode\n",
        b"\xef\xbb\xbf# coding: latin-1\n",
        b"# coding: ascii\nx = '\xe9'\n",
        b"# coding: utf-7\nx = '+2AA-'\n",  # a lone surrogate
        "x = 1\n".encode("utf-16"),
        "x = 1\n".encode("utf-32"),
        "x = 1\n".encode("utf-16-be"),
    ],
)
def test_what_is_no_python_source_is_undecodable(tmp_path: Path, content: bytes) -> None:
    assert reason_of(read(tmp_path, content)) is SkipReason.UNDECODABLE


@given(
    prefix=st.sampled_from([b"", b"\xef\xbb\xbf", b"#!x\n", b"# \xe9\n", b"\n", b"\x0c\n", b"pass\n", b"\r\n"]),
    cookie=st.sampled_from([b"", b"# coding: latin-1\n", b"#-*- coding:cp1251 -*-\n", b"# coding=utf-8\n",
    b"#coding: x\n"]),
    body=st.lists(st.sampled_from([b"a", b"\xe9", b"\xc3\xa9", b"\xd0\xbf", b"\xff",
    b"\x98"]), max_size=4).map(b"".join),
)  # fmt: skip
def test_agrees_with_python(
    tmp_path_factory: pytest.TempPathFactory, prefix: bytes, cookie: bytes, body: bytes
) -> None:
    """The text means to Python what the file's bytes mean; what Python can't decode, we don't either."""
    content = prefix + cookie + b"name = '" + body + b"'\n"
    try:
        tree = ast.dump(ast.parse(content))
    except SyntaxError:
        tree = None
    found = read(tmp_path_factory.getbasetemp(), content)
    if isinstance(found, Source):
        assert ast.dump(ast.parse(found.text.replace(b"coding", b"c_ding"))) == tree
    elif tree is not None:  # Python takes any byte in a comment when it compiles a module, but not when it runs one
        assert prefix == b"# \xe9\n"


def test_size_is_looked_up_before_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "a.py").open("wb") as stream:
        stream.truncate(MAX_FILE_BYTES + 1)

    def refuse(*_: object) -> int:
        raise AssertionError("opened")

    monkeypatch.setattr(os, "open", refuse)
    assert reason_of(read_source(tmp_path, "a.py")) is SkipReason.TOO_LARGE


def test_limit_is_inclusive(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1")
    assert isinstance(read_source(tmp_path, "a.py", 5), Source)
    assert reason_of(read_source(tmp_path, "a.py", 4)) is SkipReason.TOO_LARGE


@pytest.mark.parametrize("fault", [errno.EACCES, errno.EIO, errno.ENOENT])
def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1")

    def fail(*_: object) -> int:
        raise OSError(fault, os.strerror(fault), str(tmp_path / "a.py"))

    monkeypatch.setattr(os, "open", fail)
    found = read_source(tmp_path, "a.py")
    assert reason_of(found) is SkipReason.UNREADABLE
    assert str(tmp_path) not in str(found)


def test_pipes_and_folders_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "folder.py").mkdir()
    assert reason_of(read_source(tmp_path, "pipe.py")) is SkipReason.NOT_REGULAR
    assert reason_of(read_source(tmp_path, "folder.py")) is SkipReason.NOT_REGULAR


def test_a_file_that_becomes_a_pipe_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1")
    status = (tmp_path / "a.py").stat()
    (tmp_path / "a.py").unlink()
    os.mkfifo(tmp_path / "a.py")
    monkeypatch.setattr(os, "stat", lambda *_, **__: status)
    assert reason_of(read_source(tmp_path, "a.py")) is SkipReason.NOT_REGULAR


def test_a_path_never_leads_out_of_the_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret.py").write_text("x = 1")
    (root / "link.py").symlink_to(tmp_path / "secret.py")
    (root / "folder").symlink_to(tmp_path)
    (tmp_path / "root2").mkdir()
    (tmp_path / "root2" / "a.py").write_text("x = 1")
    for path in ("../secret.py", "link.py", "folder/secret.py", "../root2/a.py", str(tmp_path / "secret.py")):
        assert reason_of(read_source(root, path)) is SkipReason.OUTSIDE_ROOT


def test_a_file_that_lies_about_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * 100)
    real = (tmp_path / "a.py").stat()
    monkeypatch.setattr(os, "stat", lambda *_, **__: os.stat_result([*real[:6], 0, *real[7:]]))
    assert reason_of(read_source(tmp_path, "a.py", 50)) is SkipReason.TOO_LARGE
