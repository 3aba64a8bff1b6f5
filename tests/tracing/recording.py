"""Records programs for the tests: a folder and a command in, the written trace out.

`record(folder, [sys.executable, "a.py"])` runs the recorder as `contextc trace` does, in the folder; `.rows` are its
edge rows. `interpreters()` lists the Pythons of this machine by version.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from contextc.engine import record_trace
from contextc.tracing.record import TraceRequest, TraceSummary

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


class Trace(NamedTuple):
    """A trace file, read."""

    header: dict[str, Any]
    rows: list[dict[str, Any]]
    execution: dict[str, Any]
    summary: TraceSummary

    def edges(self) -> set[tuple[str, int, str, str]]:
        """(caller, line, callee, kind) of each row."""
        return {(r["caller"]["raw"], r["line"], r["callee"]["raw"], r["kind"]) for r in self.rows}


def record(folder: Path, command: list[str], name: str = "trace.jsonl", **options: Any) -> Trace:
    """One recording of a command run in `folder`, which is the root too."""
    out = folder / name
    with contextlib.chdir(folder) if sys.version_info >= (3, 11) else _inside(folder):
        summary = record_trace(TraceRequest(root=folder, command=tuple(command), out=out, **options))
    return read(out, summary)


def read(out: Path, summary: TraceSummary) -> Trace:
    """A trace file's three parts."""
    text = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    header, *rows, last = [json.loads(line) for line in text.decode("utf-8").split("\n")[:-1]]
    return Trace(header, rows, last["exec"], summary)


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@cache
def interpreters() -> dict[str, str]:
    """Paths by version: this one's own, and those that pyenv or the PATH has and that start."""
    own = "{}.{}".format(*sys.version_info[:2])
    found = {own: sys.executable}
    folder = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in VERSIONS:
        candidates = sorted(map(str, folder.glob(f"{version}.*/bin/python")))
        on_path = shutil.which(f"python{version}")
        for candidate in [*candidates, *([on_path] if on_path else [])]:
            if version not in found and _starts(candidate, version):
                found[version] = candidate
    return found


def _starts(path: str, version: str) -> bool:
    say = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-I", "-c", say], capture_output=True, text=True)
    return done.returncode == 0 and done.stdout.strip() == version
