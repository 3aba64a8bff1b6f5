"""`contextc compare --trace`: arguments, streams, faults; and once the whole way over a real repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextc.cli import main
from tests.cli.stand_in import StandIn, install
from tests.command import FIXTURES, run
from tests.graph.recordings import ran, row, write_oracle, write_trace

Captured = pytest.CaptureFixture[str]
CALL = (4, 4, 4, 15)  # user.save() in the stand-in's app/views.py
ROWS = [row("explicit", "app/views.py", "show", "app/models.py", "User.save", line=4, site=CALL)]
SITES = [ran("app/views.py", CALL)]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repo" / "app").mkdir(parents=True)
    (tmp_path / "repo" / "app" / "views.py").write_text("")
    write_trace(tmp_path / "t.jsonl.gz", ROWS, SITES, {"app/views.py": [4]})
    write_trace(tmp_path / "other.jsonl", [row("explicit", "x.py", "f", "x.py", "g", line=1)], [], {})
    (tmp_path / "notes.txt").write_text("no recording\n")
    return install(monkeypatch)


def test_text_goes_to_one_stream_and_the_time_to_the_other(engine: StandIn, capsys: Captured) -> None:
    assert main(["compare", "repo", "--trace", "t.jsonl.gz"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("against t.jsonl.gz (Python 3.12.1, monitoring)\n")
    assert "100.0 % (1/1)" in out and "0.0 % (0/1)" in out  # typed; name-only
    assert err == "0.25 s\n"
    assert engine.options is not None and engine.options.resolver == "typed"


@pytest.mark.parametrize("target", ["app/views.py", "repo/app/views.py::show", "app.views:show"])
def test_a_target_may_be_given(engine: StandIn, capsys: Captured, target: str) -> None:
    assert main(["compare", "repo", target, "--trace", "t.jsonl.gz"]) == 0
    assert f"{target.removeprefix('repo/')}, against t.jsonl.gz" in capsys.readouterr().out


def test_json(engine: StandIn, capsys: Captured, tmp_path: Path) -> None:
    write_oracle(tmp_path / "shop-1", ROWS, SITES, {})
    assert main(["compare", "repo", "--trace", "shop-1", "--format", "json", "--out", "made.json"]) == 0
    assert capsys.readouterr().out == ""
    document = json.loads((tmp_path / "made.json").read_text())
    assert (document["schema"], document["typed"]["recall"]) == ("contextc.comparison/1", 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare repo", "compare: give TARGET, or --trace FILE"),
        ("compare", "the following arguments are required: ROOT"),
        ("compare repo app/views.py --format json", "--format goes with --trace FILE only"),
        ("compare repo --trace t.jsonl.gz --format jsn", "did you mean 'json'? (text or json)"),
        ("compare repo --trace t.jsonl.gz --max-hops 2", "--max-hops says nothing with --trace FILE"),
        ("compare repo --trace", "--trace: expected one argument"),
        ("compare repo --trace gone", "no file 'gone': record one with `contextc trace ROOT --out FILE -- COMMAND`"),
        ("compare repo --trace repo", "'repo' is a folder"),
        ("compare repo --trace notes.txt", "'notes.txt' is no recording of `contextc trace`"),
        ("compare repo --trace other.jsonl", "of another tree: none of its 1 files lies under 'repo'"),
        ("compare repo app/view.py --trace t.jsonl.gz", "did you mean 'app/views.py'"),
        ("compare gone --trace t.jsonl.gz", "no folder 'gone'"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(engine: StandIn, capsys: Captured, words: str, said: str) -> None:
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("contextc: ") and said in err


def test_a_wrong_recording_is_told_before_the_work(engine: StandIn, capsys: Captured) -> None:
    assert main(["compare", "repo", "--trace", "other.jsonl"]) == 2
    assert engine.options is None


def test_what_a_recording_holds_does_not_steer_the_terminal(engine: StandIn, capsys: Captured, tmp_path: Path) -> None:
    rows = [*ROWS, row("explicit", "app/views.py", "show\x1b[31m", "app/models.py", "User\n.x", line=5)]
    write_trace(tmp_path / "t.jsonl", rows, SITES, {})
    assert main(["compare", "repo", "--trace", "t.jsonl"]) == 0
    out, _ = capsys.readouterr()
    assert "\x1b" not in out and r"app/views.py::show\x1b[31m -> app/models.py::User\n.x" in out


def test_a_real_repository(tmp_path: Path) -> None:
    """What a run of register_user and notify in fixtures/nine_files calls; one call is possible only, one by name."""
    make, save, greet, handle = (11, 11, 11, 28), (12, 4, 12, 15), (13, 11, 13, 29), (20, 11, 20, 33)
    handler = "app/handlers/handler_email.py"
    rows = [
        row("constructor", "app/views.py", "register_user", "app/models.py", "User.__init__", line=11, site=make),
        row("explicit", "app/views.py", "register_user", "app/models.py", "User.save", line=12, site=save),
        row("explicit", "app/views.py", "register_user", "app/services.py", "greeting_for", line=13, site=greet),
        row("explicit", "app/views.py", "notify", handler, "handle_email", line=20, site=handle),
    ]  # fmt: skip
    sites = [ran("app/views.py", site) for site in (save, greet, handle)]
    trace = write_trace(tmp_path / "t.jsonl", rows, sites, {})
    words = ("compare", FIXTURES / "nine_files", "--trace", trace, "--format", "json", "--no-cache")
    document = json.loads(run(*words).stdout)
    typed, by_name = document["typed"], document["name_only"]
    assert (typed["recall"], typed["precision"]) == (0.75, 1)
    assert [(m["line"], m["receiver"], m["is_possible"]) for m in typed["misses"]] == [(20, "handler", True)]
    assert by_name["precision"] < 1 and "app.models_order:Order.save" in {e["callee"] for e in by_name["wrong"]}
    assert run(*words, seed=7).stdout == run(*words, seed=8).stdout
