"""Reading recordings: both forms, and what is said of files that are none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from contextc.errors import UserError
from contextc.graph import trace_file
from contextc.graph.trace_file import Code, RanSite, RecordedCall, check_root, read_trace
from tests.graph.recordings import ran, row, write_oracle, write_trace

ROWS = [row("explicit", "app.py", "main", "lib/store.py", "Store.save", line=7, site=(7, 4, 7, 15), count=3)]
SITES = [ran("app.py", (7, 4, 7, 15), n=3, ext=["builtins.len"], cls=["lib.store:Store"])]
LINES = {"app.py": [6, 7], "lib/store.py": [2]}
HEAD = '{"schema": "contextc.trace/1"}\n'


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_one_file(tmp_path: Path, name: str) -> None:
    trace = read_trace(write_trace(tmp_path / name, ROWS, SITES, LINES))
    site = (7, 4, 7, 15)
    assert trace.calls == (
        RecordedCall(Code("app.py", "main"), Code("lib/store.py", "Store.save"), 7, site, "explicit", "CALL", 3),
    )
    assert trace.sites == (RanSite("app.py", 7, site, 3, ("builtins.len",), ("lib.store:Store",)),)
    assert trace.lines == {"app.py": frozenset({6, 7}), "lib/store.py": frozenset({2})}
    assert (trace.name, trace.python, trace.backend, trace.spans, trace.status) == (
        name, "3.12.1", "monitoring", True, 0,
    )  # fmt: skip
    assert trace.paths() == ("app.py", "lib/store.py")


@pytest.mark.parametrize("suffix", ["", ".edges.jsonl.gz", ".exec.json.gz"])
def test_a_pair_of_files_by_any_of_its_names(tmp_path: Path, suffix: str) -> None:
    whole = read_trace(write_trace(tmp_path / "t.jsonl", ROWS, SITES, LINES))
    base = write_oracle(tmp_path / "shop-1.2.3", ROWS, SITES, LINES)
    trace = read_trace(base.with_name(base.name + suffix))
    assert trace == whole._replace(name="shop-1.2.3", status=None)


def test_lines_alone(tmp_path: Path) -> None:
    written = write_trace(tmp_path / "t", [], [], LINES).read_text().replace('"exact"', '"lines"')
    (tmp_path / "t").write_text(written)
    assert not read_trace(tmp_path / "t").spans


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "is no recording of `contextc trace`: its first line has no contextc.trace/1"),
        (b"# a heading\n", "holds what is no JSON"),
        (b"[" * 100_000, "holds what is no JSON"),
        (b"\xff\xfe", "holds what is no JSON"),
        (b'{"schema": "contextc.graph/1"}\n', "(its schema is 'contextc.graph/1')"),
        (b"[1, 2]\n", "line 1: no JSON object"),
        (HEAD.encode(), "ends too early"),
        (HEAD.encode() + b'{"kind": "explicit"}\n', "line 2, caller: no JSON object"),
        (HEAD.encode() + b'{"exec": {"lines": {}}}\n', "exec: no list 'call_sites'"),
        (HEAD.encode() + b'{"exec": {"lines": {"a.py": ["1"]}, "call_sites": []}}\n', "no line numbers in 'lines'"),
        (HEAD.encode() + b'{"exec": {"lines": {}, "call_sites": [{"path": 3}]}}\n', "call_sites 0: no text 'path'"),
        (gzip.compress(HEAD.encode() * 50, mtime=0)[:-12], "damaged gzip data"),
        (gzip.compress(HEAD.encode(), mtime=0)[:20] + b"x" * 40, "damaged gzip data"),
    ],
)
def test_what_is_no_recording_is_one_clear_line(tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / "t.jsonl").write_bytes(text)
    with pytest.raises(UserError) as fault:
        read_trace(tmp_path / "t.jsonl")
    assert str(fault.value).startswith("--trace: ") and said in str(fault.value) and "\n" not in str(fault.value)


@pytest.mark.parametrize("site", [[1, 2, 3], [1, 2, 3, "4"], "1:2", [1, 2, 3, True]])
def test_a_span_is_four_numbers(tmp_path: Path, site: object) -> None:
    write_trace(tmp_path / "t", [{**ROWS[0], "site": site}], [], {})
    with pytest.raises(UserError, match="line 2: no span 'site'"):
        read_trace(tmp_path / "t")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file '.*gone': record one with `contextc trace"):
        read_trace(tmp_path / "gone")
    with pytest.raises(UserError, match="is a folder"):
        read_trace(tmp_path)
    write_oracle(tmp_path / "half", ROWS, SITES, LINES)
    (tmp_path / "half.exec.json.gz").unlink()
    for name in ("half", "half.edges.jsonl.gz"):
        with pytest.raises(UserError, match=r"has no 'half\.exec\.json\.gz' beside it"):
            read_trace(tmp_path / name)


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "MAX_BYTES", 10_000)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(HEAD.encode() + b" " * 1_000_000))
    with pytest.raises(UserError, match="too large: more than 10,000 bytes unpacked"):
        read_trace(tmp_path / "bomb.gz")


def test_a_recording_of_another_tree(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "t", ROWS, SITES, LINES))
    (tmp_path / "root" / "lib").mkdir(parents=True)
    with pytest.raises(UserError, match=r"of another tree: none of its 2 files lies under .*the first is 'app\.py'"):
        check_root(trace, tmp_path / "root")
    (tmp_path / "root" / "lib" / "store.py").write_text("")
    check_root(trace, tmp_path / "root")


def test_a_recording_of_nothing(tmp_path: Path) -> None:
    trace = read_trace(write_trace(tmp_path / "t", [], [], {}))
    with pytest.raises(UserError, match="recorded nothing"):
        check_root(trace, tmp_path)
