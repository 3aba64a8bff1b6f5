"""What the programs of cases really call: each that has a `main()` is run under Python's own tracing.

In: folders of programs. Out: `Run`s: calls between lines and functions of a program, and the lines that ran. What a
library calls counts for the program's line that called the library. The programs run in one child process, so that
they don't see this one: `run_programs([Path("case")])`. That process imports nothing but the standard library.
"""

from __future__ import annotations

import builtins
import importlib
import json
import subprocess
import sys
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tests.command import REPOSITORY

_SECONDS = 120.0
_PARTS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})  # of the function around them


class Call(NamedTuple):
    """A function that ran, and the line it was called from. `first` is the line its definition starts on. `by_library`:
    Python code between the two is a library's."""

    path: str
    line: int
    callee_path: str
    first: int
    name: str
    by_library: bool


class Run(NamedTuple):
    """`fault`: why the program did not come to its end; "" if it did. `is_too_new`: for this Python."""

    fault: str
    is_too_new: bool
    calls: tuple[Call, ...]
    lines: frozenset[tuple[str, int]]


def run_programs(folders: list[Path]) -> dict[Path, Run]:
    """Runs the `main()` of each folder's `app.py`. Raises CalledProcessError, or TimeoutExpired after 120 s."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.case_truth"],
        input=json.dumps([str(folder) for folder in folders]), capture_output=True, text=True, check=True,
        cwd=REPOSITORY, timeout=_SECONDS,
    )  # fmt: skip
    found: dict[Path, Run] = {}
    for folder, (fault, is_too_new, calls, lines) in json.loads(done.stdout.splitlines()[-1]).items():
        seen = frozenset((path, line) for path, line in lines)
        found[Path(folder)] = Run(fault, is_too_new, tuple(Call(*call) for call in calls), seen)
    return found


class _Tracer:
    """Notes calls and lines of the code in one folder."""

    def __init__(self, folder: str) -> None:
        self._prefix = folder + "/"
        self.calls: set[Call] = set()
        self.lines: set[tuple[str, int]] = set()

    def run(self) -> None:
        """Imports the program and calls its `main`."""
        threading.setprofile(self._profile)
        sys.settrace(self._trace)
        sys.setprofile(self._profile)
        try:
            importlib.import_module("app").main()
        finally:
            sys.setprofile(None)
            sys.settrace(None)
            threading.setprofile(None)

    def _path(self, code: CodeType) -> str | None:
        name = code.co_filename
        return name[len(self._prefix) :] if name.startswith(self._prefix) else None

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        path = self._path(frame.f_code)
        if path is None:
            return None
        if event == "line":
            self.lines.add((path, frame.f_lineno))
        return self._trace

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        callee_path = self._path(code) if event == "call" else None
        if callee_path is None or not code.co_flags & CO_OPTIMIZED or code.co_name in _PARTS:
            return
        caller = frame.f_back
        while caller is not None:
            path = self._path(caller.f_code)
            if path is not None:
                by_library = caller is not frame.f_back
                self.calls.add(
                    Call(path, caller.f_lineno, callee_path, code.co_firstlineno, code.co_name, by_library)
                )
                return
            caller = caller.f_back


def _give_back(value: Any, /) -> Any:
    return value


def _run_folder(folder: str) -> tuple[str, bool, list[Call], list[tuple[str, int]]]:
    tracer = _Tracer(folder)
    known = set(sys.modules)
    sys.path.insert(0, folder)
    fault, is_too_new = "", False
    try:
        tracer.run()
    except Exception as error:  # a case's own fault is told, and the next case runs
        fault = f"{type(error).__name__}: {error}"
        is_too_new = isinstance(error, (SyntaxError, ImportError)) and sys.version_info < (3, 13)
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - known:
            file = getattr(sys.modules[name], "__file__", None) or f"{folder}/"
            if file.startswith(folder):
                del sys.modules[name]
        importlib.invalidate_caches()
    return fault, is_too_new, sorted(tracer.calls), sorted(tracer.lines)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    builtins.reveal_type = _give_back  # a type checker knows it, Python doesn't
    output, sys.stdout = sys.stdout, sys.stderr
    answer = {name: _run_folder(name) for name in json.load(sys.stdin)}
    output.write("\n" + json.dumps(answer) + "\n")
