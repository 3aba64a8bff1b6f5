"""Which interpreter runs a command, and what it runs: the words after `--`, taken apart.

In: the words and, if given, `--python`. Out: a `Launch`; UserError where it can't be told.

    plan_launch(["python3.12", "-X", "dev", "-m", "pytest", "-q"], None)
      ->  Launch("/usr/bin/python3.12", ("-X", "dev"), "module", "pytest", ("-q",), "")

A console script such as `pytest` is run by the interpreter its first line names. Files are only read, nothing is run.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from contextc.errors import UserError
from contextc.model.escape import escape_unprintable

_PYTHON = re.compile(r"(python|pypy)w?(\d+(\.\d+)*)?t?(\.exe)?", re.IGNORECASE)
_WITH_VALUE = ("-check-hash-based-pycs",)  # long options of an interpreter that take a value
_USAGE = "contextc trace ROOT --out FILE -- pytest …"
_HEAD_BYTES = 4096
_OWN_PYTHON = "contextc's own interpreter"


class Launch(NamedTuple):
    """`options`: the interpreter's. `form`: "module", "script" or "code"; `name`: the module, the script's path or the
    code. `note`: what the user may not expect of the choice of interpreter; "" for nothing."""

    interpreter: str
    options: tuple[str, ...]
    form: str
    name: str
    arguments: tuple[str, ...]
    note: str


def plan_launch(words: Sequence[str], python: str | None) -> Launch:
    """What to start for the user's command. Raises UserError with how to mend it."""
    if not words:
        raise UserError(f"trace: no command: `{_USAGE}`")
    given = _find_program(python, "--python") if python is not None else None
    first, *rest = words
    if first.startswith("-"):  # `-m pytest`: an interpreter's arguments without the interpreter
        note = "" if given else f"no interpreter named: run with {_OWN_PYTHON}, {sys.executable}"
        return _parse_interpreter(given or _own_interpreter(), words, note)
    if _PYTHON.fullmatch(Path(first).name):
        return _parse_interpreter(given or _find_program(first, "the command"), rest, "")
    if given is not None and not _has_folder(first) and not first.endswith(".py"):
        return _plan_with(given, first, rest)
    if _has_folder(first) or (first.endswith(".py") and Path(first).exists()):
        return _plan_script(first, rest, given)
    return _plan_script(_find_program(first, "the command"), rest, given)


def _plan_with(interpreter: str, name: str, rest: Sequence[str]) -> Launch:
    """A console script's name and an interpreter: the script beside it, or the module of that name."""
    beside = Path(interpreter).parent / name
    if beside.is_file() and _read_interpreter_line(beside) is not None:
        return Launch(interpreter, (), "script", str(beside), tuple(rest), "")
    return Launch(interpreter, (), "module", name, tuple(rest), "")


def _plan_script(path: str, rest: Sequence[str], given: str | None) -> Launch:
    script = Path(path)
    if not script.exists():
        raise UserError(f"trace: no file '{_shown(path)}' to run")
    if given is not None:
        return Launch(given, (), "script", path, tuple(rest), "")
    line = _read_interpreter_line(script) if script.is_file() else None
    if line:
        interpreter, *options = line
        return Launch(_find_program(interpreter, f"the first line of {path}"), tuple(options), "script", path,
                      tuple(rest), "")  # fmt: skip
    if line is not None or script.suffix in (".py", ".pyz", ".zip") or script.is_dir():
        note = f"{_shown(path)} names no interpreter: run with {_OWN_PYTHON}, {sys.executable} (--python names another)"
        return Launch(_own_interpreter(), (), "script", path, tuple(rest), note)
    for name in ("python", "python3", "python.exe"):
        beside = script.parent / name
        if _is_launcher(script) and beside.is_file() and os.access(beside, os.X_OK):
            module = script.stem if script.suffix == ".exe" else script.name
            note = f"{_shown(path)} is no Python file: run as {_shown(str(beside))} -m {module}"
            return Launch(str(beside), (), "module", module, tuple(rest), note)
    raise UserError(
        f"trace: '{_shown(path)}' is no Python program: give the Python command it runs itself, `python -m …`, "
        "or an interpreter with --python"
    )


def _read_interpreter_line(script: Path) -> list[str] | None:
    """The interpreter and options a script's first line names; [] for a Python program that names none (its first line
    names a shell that the second hands over from, with the place only known when it runs); None for anything else."""
    try:
        with script.open("rb") as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", "surrogateescape")
    except OSError as fault:
        raise UserError(f"trace: can't read '{_shown(str(script))}': {fault.strerror}") from fault
    if not head.startswith("#!"):
        return None
    lines = head.splitlines()
    words = lines[0][2:].split()
    if words and Path(words[0]).name == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    if words and _PYTHON.fullmatch(Path(words[0]).name):
        return words
    if lines[1:] and lines[1].startswith("'''exec'"):  # for paths that are too long for a first line, or hold a space
        return _read_handover(lines[1], script)
    return None


def _is_launcher(script: Path) -> bool:
    """Whether it could stand for a Python program: a version manager's shim is a shell script, an environment's
    launcher on Windows an `.exe`; other binaries are what they are."""
    with script.open("rb") as file:
        return script.suffix == ".exe" or file.read(2) == b"#!"


def _read_handover(line: str, script: Path) -> list[str]:
    """`'''exec' "/a long/python" "$0" "$@"` names the interpreter; relocatable scripts say "beside me"."""
    try:
        words = shlex.split(line.removeprefix("'''exec'"))
    except ValueError:
        words = []
    if words and "$" not in words[0]:
        return words[:1]
    beside = script.resolve().parent / "python"
    return [str(beside)] if beside.is_file() else []


def _parse_interpreter(interpreter: str, words: Sequence[str], note: str) -> Launch:
    """The interpreter's options, then `-m MODULE`, `-c CODE` or a script, then what belongs to that."""
    options: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            break
        letters = word[1:]
        at = -1 if letters.startswith("-") else next((i for i, c in enumerate(letters) if c in "mcXW"), -1)
        if at < 0 or letters[at] in "XW":
            options.append(word)
            if letters in _WITH_VALUE or (at >= 0 and at == len(letters) - 1):
                options += rest[:1]
                del rest[:1]
            continue
        options += [f"-{letters[:at]}"] if at else []
        name = letters[at + 1 :] or (rest.pop(0) if rest else "")
        if not name:
            break
        return Launch(interpreter, tuple(options), "module" if letters[at] == "m" else "code", name, tuple(rest), note)
    else:
        word = "-"
    if word.startswith("-"):
        raise UserError("trace: the command runs no program: name a script, -m MODULE or -c CODE")
    if not Path(word).exists():
        raise UserError(f"trace: no file '{_shown(word)}' to run")
    return Launch(interpreter, tuple(options), "script", word, tuple(rest), note)


def _find_program(name: str, where: str) -> str:
    """The executable of that name or path. Not resolved: an environment's interpreter is a link."""
    found = shutil.which(name)
    if found is None:
        raise UserError(f"trace: no program '{_shown(name)}' ({_shown(where)}) on this system")
    return found


def _own_interpreter() -> str:
    if not sys.executable:
        raise UserError("trace: name the interpreter with --python PATH")
    return sys.executable


def _has_folder(word: str) -> bool:
    return os.sep in word or (os.altsep is not None and os.altsep in word)


def _shown(word: str) -> str:
    return escape_unprintable(word[:200])
