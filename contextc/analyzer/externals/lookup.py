"""Modules found by path alone: nothing is imported, no interpreter is started, no import hook is asked.

In: folders, a name, the file suffixes that count. Out: the file that a plain `import` would take, or the folders of a
namespace package (PEP 420). `find_in([site_packages], "six", (".py",), roots)` is
`Found(.../site-packages/six.py, False, ())`.

Every file and folder handed out has been followed to its real path and lies inside one of `roots`: a link that leads
out of the environment is as good as absent.
"""

from __future__ import annotations

import keyword
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

READ_LIMIT = 10_000_000  # bytes; a larger module is generated data, and reading it would only cost

_INSTALL_FOLDERS = frozenset({"__pycache__"})


class Found(NamedTuple):
    """`file` is the module's real path, None for a namespace package; `folders` is where its submodules lie."""

    file: Path | None
    is_package: bool
    folders: tuple[Path, ...]


def split_name(name: str) -> tuple[str, ...] | None:
    """The parts of a dotted name, or None if one of them is no identifier (`../x`, `a..b`, `import`)."""
    parts = tuple(name.split("."))
    return parts if all(part.isidentifier() and not keyword.iskeyword(part) for part in parts) else None


def real_inside(path: Path, roots: Iterable[Path]) -> Path | None:
    """The real path if it exists and lies in (or is) one of the roots, which are real paths themselves."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return None
    return real if any(real.is_relative_to(root) for root in roots) else None


def find_file(path: Path, roots: Iterable[Path]) -> Path | None:
    """The real path of a regular file inside the roots."""
    if not os.path.isfile(path):  # noqa: PTH113 - on the hot path, and false on every error
        return None
    return real_inside(path, roots)


def find_in(folders: Sequence[Path], name: str, suffixes: Sequence[str], roots: Sequence[Path]) -> Found | None:
    """One step of an import: the module `name` in the first folder that has it.

    A regular package precedes a module of the same folder; a folder without `__init__` counts only if no folder has
    a regular module. Of the suffixes the earlier wins within a folder.
    """
    portions: list[Path] = []
    for folder in folders:
        package = folder / name
        for suffix in suffixes:
            if file := find_file(package / f"__init__{suffix}", roots):
                return Found(file, True, (package,))
        for suffix in suffixes:
            if file := find_file(folder / f"{name}{suffix}", roots):
                return Found(file, False, ())
        if os.path.isdir(package) and real_inside(package, roots):  # noqa: PTH112
            portions.append(package)
    return Found(None, True, tuple(portions)) if portions else None


def find_module(folders: Sequence[Path], parts: Sequence[str], suffixes: Sequence[str],
                roots: Sequence[Path]) -> Found | None:  # fmt: skip
    """All steps of `import a.b.c`. An empty `parts` names the folders themselves."""
    found = Found(None, True, tuple(folders))
    for part in parts:
        if not found.folders:
            return None
        step = find_in(found.folders, part, suffixes, roots)
        if step is None:
            return None
        found = step
    return found


def list_modules(folders: Sequence[Path], suffixes: Sequence[str]) -> set[str]:
    """The names of modules and packages (namespace ones too) that lie directly in the folders, unchecked."""
    names: set[str] = set()
    for folder in folders:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            stem, suffix = os.path.splitext(entry.name)  # noqa: PTH122
            if suffix in suffixes:
                names.add(stem)
            elif not suffix and entry.name not in _INSTALL_FOLDERS and entry.is_dir():
                names.add(entry.name)
    names.discard("__init__")
    return {name for name in names if split_name(name) is not None}
