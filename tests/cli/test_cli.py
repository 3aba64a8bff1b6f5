"""Arguments, streams and exit statuses of the command, over an engine in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contextc import __version__
from contextc.cli import main
from contextc.model.diagnostic import Note
from tests.cli.stand_in import StandIn, install, wrong_setting
from tests.command import REPOSITORY

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repo" / "app").mkdir(parents=True)
    (tmp_path / "repo" / "app" / "views.py").write_text("")
    (tmp_path / "file.py").write_text("")
    return install(monkeypatch)


def test_compile_writes_the_context_to_one_stream_and_the_report_to_the_other(
    engine: StandIn, capsys: Captured
) -> None:
    assert main(["compile", "repo", "app/views.py"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# Context for `app/views.py`\n") and "user.save()" in out
    lines = err.splitlines()
    assert lines[0] == "app/views.py"
    assert "  files    3 scanned, 2 in the context" in lines
    assert "  symbols  hop 0: 2 full; hop 1: 1 interface" in lines
    assert any(line.startswith("  tokens   ") and "o200k, all files" in line for line in lines)
    assert "  time     0.25 s" in lines
    assert "  app/views.py:5: unresolved (untyped-receiver): user.gone" in lines


def test_what_the_run_has_to_say_goes_to_the_report(engine: StandIn, capsys: Captured) -> None:
    engine.notes = (Note("", "Cache not used: the folder /tmp/\x1b[31m belongs to another user."),)
    assert main(["graph", "repo"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines()[0] == r"Cache not used: the folder /tmp/\x1b[31m belongs to another user."
    assert "Cache" not in out
    assert main(["graph", "repo", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_quiet_silences_the_report(engine: StandIn, capsys: Captured) -> None:
    assert main(["compile", "repo", "app/views.py", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_formats(engine: StandIn, capsys: Captured) -> None:
    assert main(["compile", "repo", "app/views.py", "--format", "json", "--tokenizer", "chars4"]) == 0
    reply = json.loads(capsys.readouterr().out)
    assert (reply["schema"], reply["tokens"]) == ("contextc.context/1", len(reply["text"]) // 4)
    assert main(["compile", "repo", "app/views.py", "--format=xml"]) == 0
    assert capsys.readouterr().out.startswith('<context target="app/views.py"')
    assert main(["graph", "repo", "--format", "dot"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("digraph") and "\x1b" not in out
    assert err == "3 files, 7 symbols, 1 call sites, 1 edges, 1 unresolved; 0.25 s\n"


def test_options_reach_the_engine(engine: StandIn) -> None:
    words = (
        "graph repo --include a --include b/ --exclude c --environment venv --workers 2 --no-cache --no-jedi "
        "--resolver name-only"
    )
    assert main(words.split()) == 0
    assert engine.options is not None
    assert engine.options._replace(progress=None) == (
        Path("repo"), ("a", "b/"), ("c",), Path("venv"), "name-only", 2, False, False, True, None,
    )  # fmt: skip


def test_out_writes_a_file_with_plain_line_ends(engine: StandIn, capsys: Captured, tmp_path: Path) -> None:
    assert main(["compile", "repo", "app/views.py", "--out", "made.md"]) == 0
    assert capsys.readouterr().out == ""
    written = (tmp_path / "made.md").read_bytes()
    assert written.startswith(b"# Context") and b"\r" not in written


@pytest.mark.parametrize(
    "given",
    ["repo/app/views.py", "repo/app/views.py::show", "app/views.py", "./repo/app/views.py:4", "app.views.show"],
)
def test_a_path_from_the_current_folder_works_too(engine: StandIn, given: str) -> None:
    assert main(["compile", "repo", given]) == 0


def test_an_absolute_path_works_too(engine: StandIn, tmp_path: Path) -> None:
    assert main(["compile", "repo", str(tmp_path / "repo" / "app" / "views.py")]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "no command: one of compile, graph, compare"),
        ("compil repo a.py", "no command 'compil'; did you mean 'compile'?"),
        ("compile", "the following arguments are required: ROOT"),
        ("compile repo", "compile: give TARGET, --diff REV or --about WORDS"),
        ("--quiet compile repo app/views.py", "'--quiet' goes after the command"),
        ("compile repo app/views.py --max-hop 2", "no option '--max-hop'; did you mean '--max-hops'?"),
        ("compile repo app/views.py --format jsn", "--format: no 'jsn'; did you mean 'json'? (markdown, xml,"),
        ("graph repo --format xml", "--format: no 'xml'"),
        ("compile repo app/views.py --max-hops -1", "'-1' is no number of hops"),
        ("compile repo app/views.py --max-hops two", "'two' is no number of hops from 0 on"),
        ("graph repo --workers 0", "'0' is no number of workers from 1 on"),
        ("graph repo --resolver type", "did you mean 'typed'?"),
        ("compile repo app/views.py --tokenizer gpt", "o200k, cl100k, chars4, claude or claude-before-4.7"),
        ("compile gone app/views.py", "no folder 'gone'"),
        ("compile file.py app/views.py", "'file.py' is a file: give the repository's folder as ROOT"),
        ("compile repo app/view.py", "did you mean 'app/views.py'"),
        ("compile repo app.views:shw", "did you mean 'app.views:show'"),
        ("compile repo app/views.py --out gone/x.md", "no folder 'gone'"),
        ("compile repo app/views.py --out repo", "'repo' is a folder"),
        ("compile repo app/views.py --resolver name-only --budget 9", "--budget says nothing with --resolver"),
        ("compile repo app/views.py --resolver name-only --no-tests", "--tests says nothing with --resolver"),
    ],
)
def test_a_wrong_argument_is_one_clear_line(engine: StandIn, capsys: Captured, words: str, said: str) -> None:
    assert main(words.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("contextc: ") and said in err


def test_a_fault_from_below_is_one_line_without_control_characters(engine: StandIn, capsys: Captured) -> None:
    engine.fault = wrong_setting()
    assert main(["graph", "repo"]) == 2
    assert capsys.readouterr().err == "contextc: bad\\x1b[31m value in [tool.contextc]\n"


def test_control_c(engine: StandIn, capsys: Captured) -> None:
    engine.fault = KeyboardInterrupt()
    assert main(["graph", "repo"]) == 130
    assert capsys.readouterr().err == "contextc: interrupted\n"


def test_the_terminal_is_not_steered(engine: StandIn, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    target = "app/odd\x1b[31m.py"
    assert main(["compile", "repo", target]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err and "app/odd\\x1b[31m.py" in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line() -> None:
    code = "import sys, pytest; from tests.cli.stand_in import install; from contextc.cli import main; "
    code += "install(pytest.MonkeyPatch()); sys.exit(main(['graph', '.', '--quiet']))"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=REPOSITORY, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("contextc: can't write to standard output: ") and done.stderr.count("\n") == 1


def test_version_and_help(capsys: Captured) -> None:
    for words, start in (
        (["--version"], f"contextc {__version__}\n"),
        (["compile", "--help"], "usage: contextc compile"),
    ):
        with pytest.raises(SystemExit) as stop:
            main(words)
        assert stop.value.code == 0
        assert capsys.readouterr().out.startswith(start)


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    code = (
        "import sys, pytest\n"
        "from tests.cli.stand_in import install\n"
        "from contextc.cli import main\n"
        "install(pytest.MonkeyPatch())\n"
        "sys.exit(main(['graph', '.']))\n"
    )
    command = f'"{sys.executable}" -c "{code}" | true; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode in (0, 141) and "Traceback" not in done.stderr
