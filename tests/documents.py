"""The commands shown in the documents, run again: `python -m tests.documents README.md` writes their output anew.

A fenced block of the language `console` holds commands, each on a line that begins with `$ `, and what they print:
standard output, then standard error. `tests/test_documents.py` compares, times aside. A command may end in
`| grep WORD`, `| head -20` or `2>/dev/null`; nothing else of the shell is understood.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.command import REPOSITORY

BLOCK = re.compile(r"^(?P<fence>`{3,})console\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|seconds)\b")
FILTER = r"(?: \| (?P<filter>grep|head) -?(?P<argument>\S+))?"
COMMAND = re.compile(r"contextc (?P<words>.*?)(?P<quiet> 2>/dev/null)?" + FILTER)


class Example(NamedTuple):
    """One command as written, and the lines shown below it."""

    command: str
    shown: str


def find_examples(text: str) -> list[Example]:
    """The commands of all console blocks, in order."""
    found = []
    for block in BLOCK.finditer(text):
        for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Example(command, shown))
    return found


def run_example(command: str) -> str:
    """What the command prints now. Only `contextc` commands are run."""
    parts = COMMAND.fullmatch(command)
    if parts is None:
        raise ValueError(f"not a contextc command: {command}")
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "COLUMNS": "120"}
    argv = [sys.executable, "-m", "contextc", *shlex.split(parts["words"])]
    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", env=environment)
    lines = done.stdout.splitlines()
    if parts["filter"] == "head":
        lines = lines[: int(parts["argument"])]
    elif parts["filter"] == "grep":
        lines = [line for line in lines if parts["argument"] in line]
    if parts["quiet"] is None:
        lines += done.stderr.splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def without_times(text: str) -> str:
    """The text with every duration replaced by one word."""
    return SECONDS.sub("<time>", text)


def rewrite(text: str) -> str:
    """The document with each example's output made anew; an output that differs in times only is kept."""
    for example in find_examples(text):
        now = run_example(example.command)
        if without_times(now) != without_times(example.shown):
            text = text.replace(f"$ {example.command}\n{example.shown}", f"$ {example.command}\n{now}", 1)
    return text


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = REPOSITORY / Path(name)
        path.write_text(rewrite(path.read_text(encoding="utf-8")), encoding="utf-8")
