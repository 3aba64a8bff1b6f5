"""Environments made of a few files: what venv and conda lay down, without an interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

MakeEnvironment = Callable[..., Path]


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by path relative to a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture
def make_environment(tmp_path: Path) -> MakeEnvironment:
    """Make a venv under `tmp_path` whose site-packages holds the given files; returns its root.

    Its interpreter, a sitecustomize and a `.pth` with code are traps: whoever runs one of them leaves `tmp_path/ran`.
    """

    def make(files: Mapping[str, str], name: str = "env", python: str = "3.12") -> Path:
        root = tmp_path / name
        site = root / "lib" / f"python{python}" / "site-packages"
        mark = f"open({str(tmp_path / 'ran')!r}, 'w').close()"
        traps = {"sitecustomize.py": mark, "usercustomize.py": mark, "trap.pth": f"import sys; {mark}"}
        write_files(site, {**traps, **files})
        write_files(root, {"pyvenv.cfg": f"home = /usr/bin\nversion = {python}.1\n"})
        for program in ("python", "python3", f"python{python}"):
            write_files(root, {f"bin/{program}": f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\n"})
            (root / "bin" / program).chmod(0o755)
        return root

    return make
