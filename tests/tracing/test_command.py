"""Which interpreter a command is run with, and what it is told to run. Nothing is started here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from contextc.errors import UserError
from contextc.tracing.command import Launch, plan_launch


def make_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def binaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH, alone, that holds a `python`; the working folder is another."""
    folder = tmp_path / "bin"
    make_script(folder / "python", "#!/bin/sh\n")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def summarise(launch: Launch, folder: Path) -> tuple[str, tuple[str, ...], str, str, tuple[str, ...]]:
    return (
        launch.interpreter.replace(str(folder), "BIN"),
        *launch[1:3],
        launch.name.replace(str(folder), "BIN"),
        launch[4],
    )


@pytest.mark.parametrize(
    ("words", "options", "form", "name", "arguments"),
    [
        ("python -m pytest -q -m slow", [], "module", "pytest", ["-q", "-m", "slow"]),
        ("python -X dev -W error -B -m pytest", ["-X", "dev", "-W", "error", "-B"], "module", "pytest", []),
        ("python -Xdev -Werror -uIm pytest -v", ["-Xdev", "-Werror", "-uI"], "module", "pytest", ["-v"]),
        ("python -mpytest", [], "module", "pytest", []),
        ("python -uX dev -c pass a b", ["-uX", "dev"], "code", "pass", ["a", "b"]),
        ("python --check-hash-based-pycs x run.py -x", ["--check-hash-based-pycs", "x"], "script", "run.py", ["-x"]),
        ("python run.py -m pytest", [], "script", "run.py", ["-m", "pytest"]),
    ],
)  # fmt: skip
def test_an_interpreter_and_its_arguments(
    words: str, options: list[str], form: str, name: str, arguments: list[str], binaries: Path
) -> None:
    Path("run.py").write_text("pass\n")
    launch = plan_launch(words.split(), None)
    assert summarise(launch, binaries) == ("BIN/python", tuple(options), form, name, tuple(arguments))
    assert launch.note == ""


@pytest.mark.parametrize(
    ("head", "interpreter", "options"),
    [
        ("#!{}/python\n", "BIN/python", ()),
        ("#! {}/python -E -s\n", "BIN/python", ("-E", "-s")),
        ("#!/usr/bin/env python\n", "BIN/python", ()),
        ("#!/usr/bin/env -S python -u\n", "BIN/python", ("-u",)),
        ("#!/bin/sh\n'''exec' \"{}/python\" \"$0\" \"$@\"\n' '''\n", "BIN/python", ()),
        ("#!/bin/sh\n'''exec' \"$(dirname -- \"$0\")\"/'python' \"$0\" \"$@\"\n' '''\n", "BIN/python", ()),
    ],
)
def test_a_console_script_is_run_by_the_interpreter_it_names(
    head: str, interpreter: str, options: tuple[str, ...], binaries: Path
) -> None:
    make_script(binaries / "pytest", head.format(binaries) + "import sys\n")
    launch = plan_launch(["pytest", "-q"], None)
    assert summarise(launch, binaries) == (interpreter, options, "script", "BIN/pytest", ("-q",))


def test_a_launcher_that_is_no_python_file(binaries: Path) -> None:
    """A version manager's shim: the `python` beside it is asked for the module."""
    make_script(binaries / "pytest", "#!/usr/bin/env bash\nexec pyenv exec pytest\n")
    launch = plan_launch(["pytest", "-q"], None)
    assert summarise(launch, binaries) == ("BIN/python", (), "module", "pytest", ("-q",))
    assert launch.note.endswith("/bin/pytest is no Python file: run as " + str(binaries / "python") + " -m pytest")


def test_a_script_without_interpreter_is_run_with_our_own_and_that_is_said(binaries: Path) -> None:
    Path("run.py").write_text("pass\n")
    launch = plan_launch(["run.py", "-x"], None)
    assert launch[:5] == (sys.executable, (), "script", "run.py", ("-x",))
    assert launch.note.startswith("run.py names no interpreter: run with contextc's own interpreter, ")
    launch = plan_launch(["-m", "pytest"], None)
    assert launch[:5] == (sys.executable, (), "module", "pytest", ())
    assert "contextc's own interpreter" in launch.note


def test_a_named_interpreter_goes_before_all_others(binaries: Path, tmp_path: Path) -> None:
    other = make_script(tmp_path / "other" / "bin" / "python3", "#!/bin/sh\n")
    make_script(binaries / "pytest", f"#!{binaries}/python\n")
    Path("run.py").write_text("#!/usr/bin/env python\n")
    assert plan_launch(["-m", "pytest"], str(other))[:4] == (str(other), (), "module", "pytest")
    assert plan_launch(["python", "-m", "pytest"], str(other))[:4] == (str(other), (), "module", "pytest")
    assert plan_launch(["run.py"], str(other))[:4] == (str(other), (), "script", "run.py")
    assert plan_launch(["pytest"], str(other))[:4] == (str(other), (), "module", "pytest")
    beside = make_script(other.parent / "pytest", f"#!{other}\n")
    assert plan_launch(["pytest"], str(other))[:4] == (str(other), (), "script", str(beside))


@pytest.mark.parametrize(
    ("words", "python", "says"),
    [
        ([], None, "trace: no command: `contextc trace ROOT --out FILE -- pytest …`"),
        (["pytest"], None, "trace: no program 'pytest' (the command) on this system"),
        (["python3.99", "a.py"], None, "trace: no program 'python3.99' (the command) on this system"),
        (["pytest"], "no/python", "trace: no program 'no/python' (--python) on this system"),
        (["python"], None, "trace: the command runs no program: name a script, -m MODULE or -c CODE"),
        (["python", "-"], None, "trace: the command runs no program: name a script, -m MODULE or -c CODE"),
        (["python", "-m"], None, "trace: the command runs no program: name a script, -m MODULE or -c CODE"),
        (["python", "gone.py"], None, "trace: no file 'gone.py' to run"),
        (["./gone.py"], None, "trace: no file './gone.py' to run"),
        (["./a\nb.py"], None, "trace: no file './a\\nb.py' to run"),
    ],
)
def test_what_can_not_be_run_is_said_in_one_line(
    words: list[str], python: str | None, says: str, binaries: Path
) -> None:
    with pytest.raises(UserError) as fault:
        plan_launch(words, python)
    assert str(fault.value) == says


def test_a_program_that_is_no_python_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A binary beside a `python` is no launcher of it; nor is a shell script with no `python` beside it."""
    make_script(tmp_path / "bin" / "make", "\x7fELF")
    make_script(tmp_path / "bin" / "python", "#!/bin/sh\n")
    make_script(tmp_path / "scripts" / "check", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{tmp_path / 'scripts'}")
    with pytest.raises(UserError, match=r"'.*make' is no Python program: give the Python command it runs itself"):
        plan_launch(["make", "test"], None)
    with pytest.raises(UserError, match=r"'.*check' is no Python program"):
        plan_launch(["check"], None)
