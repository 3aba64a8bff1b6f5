"""Runs the user's command under the recorder. The one place where contextc runs code of the user's, on that request.

In: a `Launch`, the root, the files to record. Out: a `Recording`; UserError where nothing was run or recorded.

    with record_command(launch, Path("shop"), ("shop/cart.py",), "auto") as recording:
        recording.status                    # what the command ended with

The command inherits the terminal, the environment and the working folder; the recorder in it talks to this side by
files in a private temporary folder, so that the command's output and input stay its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from contextc.errors import UserError
from contextc.tracing.command import Launch

_RECORDER = Path(__file__).resolve().parent / "recorder" / "__main__.py"
_SIGNALLED = 128  # a shell's status for a command that a signal ended


class NothingRecorded(UserError):
    """The command ended without leaving a recording. `status` is what it ended with."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Recording(NamedTuple):
    """`status`: the command's exit status. `edges`: a file of edge rows, one JSON object a line. `execution`: what ran
    besides; see `recorder.rows.describe_execution`."""

    status: int
    edges: Path
    execution: dict[str, Any]


@contextmanager
def record_command(launch: Launch, root: Path, files: Sequence[str], backend: str) -> Iterator[Recording]:
    """Runs the command to its end. The recording's files are gone when the block is left. `backend`: "auto",
    "monitoring" or "setprofile". Raises UserError (NothingRecorded where the command did run)."""
    with tempfile.TemporaryDirectory(prefix="contextc-trace-") as name:
        folder = Path(name)
        job = {
            "root": str(root.resolve()), "files": list(files), "backend": backend,
            "form": launch.form, "name": launch.name, "arguments": list(launch.arguments),
        }  # fmt: skip
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        status = _run([launch.interpreter, *launch.options, str(_RECORDER), str(folder)])
        fault = folder / "fault.txt"
        if fault.exists():
            raise UserError(f"trace: {fault.read_text(encoding='utf-8', errors='replace')}")
        if not (folder / "started").exists():
            raise UserError(f"trace: '{launch.interpreter}' is no Python that starts (status {status})")
        execution = folder / "exec.json"
        if not execution.exists():
            raise NothingRecorded(
                f"trace: nothing was recorded: {launch.name} was killed or ended by os._exit (status {status})", status
            )
        yield Recording(status, folder / "edges.jsonl", json.loads(execution.read_text(encoding="utf-8")))


def _run(words: Sequence[str]) -> int:
    """The exit status, as a shell gives it. Signals meant for the command reach it; this side waits for its end."""
    if sys.stdout is not None:
        sys.stdout.flush()
    received: list[int] = []
    started: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        received.append(number)
        if started and not (number == signal.SIGINT and _shares_terminal()):
            started[0].send_signal(number)

    # A handler, not "ignore": an ignored signal would stay ignored in the command.
    previous = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        started.append(subprocess.Popen(words))
        for number in received:  # before there was anyone to pass it on to
            started[0].send_signal(number)
        status = started[0].wait()
    except OSError as fault:
        raise UserError(f"trace: can't run '{words[0]}': {fault.strerror}") from fault
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    return _SIGNALLED - status if status < 0 else status


def _shares_terminal() -> bool:
    """Whether Ctrl-C in the terminal goes to the command as well, without our doing."""
    if os.name == "nt":
        return True
    try:
        with open("/dev/tty", "rb") as terminal:  # noqa: PTH123 - a device
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
