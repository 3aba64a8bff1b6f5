"""What the recorder is to do. In: `job.json` in a folder made by the launching side. Out: a `Job`.

    {"root": "/srv/shop", "files": ["shop/cart.py"], "backend": "auto", "form": "module", "name": "pytest",
     "arguments": ["-q"]}

`root` is a real path, `files` are POSIX and relative to it. `form`: "module", "script" or "code"; `name`: the module,
the script's path, or the code itself.
"""

from __future__ import annotations

import json
import os
from typing import NamedTuple


class Job(NamedTuple):
    """`folder` is where the results go."""

    folder: str
    root: str
    files: tuple[str, ...]
    backend: str
    form: str
    name: str
    arguments: tuple[str, ...]


def read_job(folder: str) -> Job:
    """The job that lies in a folder."""
    folder = os.path.abspath(folder)
    with open(os.path.join(folder, "job.json"), encoding="utf-8") as file:
        value = json.load(file)
    return Job(
        folder,
        value["root"],
        tuple(value["files"]),
        value["backend"],
        value["form"],
        value["name"],
        tuple(value["arguments"]),
    )


def note_start(job: Job) -> None:
    """Tells the launching side that the interpreter runs and has read the job."""
    with open(os.path.join(job.folder, "started"), "wb"):
        pass


def write_fault(job: Job, message: str) -> None:
    """Leaves a line for the launching side: why the program was not run."""
    with open(os.path.join(job.folder, "fault.txt"), "w", encoding="utf-8", errors="surrogatepass") as file:
        file.write(message)
