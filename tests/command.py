"""Runs the `contextc` command as a user does: in a process of its own.

`run_graph(folder)` gives the parsed JSON graph; `run("compile", folder, "a.py")` the finished process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
FIXTURES = REPOSITORY / "fixtures"


def run(*arguments: str | Path, seed: int | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
    """One command. `seed` sets PYTHONHASHSEED; `check` demands exit status 0."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)} | ({} if seed is None else {"PYTHONHASHSEED": str(seed)})
    command = [sys.executable, "-m", "contextc", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300, env=environment)
    if check:
        assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr[-2000:]}"
    return done


def run_graph(root: Path, *arguments: str) -> dict[str, Any]:
    """The graph of `root` as the command prints it."""
    graph: dict[str, Any] = json.loads(run("graph", root, "--format", "json", *arguments).stdout)
    return graph


def run_compile(root: Path, target: str, *arguments: str) -> dict[str, Any]:
    """The context for `target` as the command prints it in JSON."""
    context: dict[str, Any] = json.loads(run("compile", root, target, "--format", "json", *arguments).stdout)
    return context


def tracked_files() -> list[Path]:
    """Files as git lists them; without git (an unpacked archive), all those outside folders that begin with a dot."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        paths = [REPOSITORY / name for name in listed.stdout.split("\0") if name]
    else:
        everything = REPOSITORY.rglob("*")
        paths = [p for p in everything if not any(part.startswith(".") for part in p.relative_to(REPOSITORY).parts)]
    return sorted(p for p in paths if p.is_file())
