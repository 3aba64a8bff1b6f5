"""The user's declared environment, read by path: its Python version, where its packages lie, what is installed.

In: a folder with `pyvenv.cfg` (venv, virtualenv, uv) or `conda-meta`. Out: an `Environment`.
`open_environment(Path(".venv")).search_path` is `(…/.venv/lib/python3.12/site-packages,)`.

Nothing is run: no interpreter, no `.pth` line that holds code. A `.pth` line that names a folder is followed only
where that folder lies inside the environment. One that leads out of it (an editable install, usually of the analysed
repository itself, which is read as the repository) is not, and neither is the base interpreter's site-packages of an
environment made with `--system-site-packages`: the user declared this folder and no other.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.externals.lookup import real_inside
from contextc.errors import ConfigurationError

_VERSION = re.compile(r"(\d+)\.(\d+)")
_LIBRARY = re.compile(r"(?:python|pypy)(\d+)\.(\d+)t?")
_CONDA_PYTHON = re.compile(r"python-(\d+)\.(\d+)[.\d]*-[^-]+\.json")
_CONFIG_LIMIT = 64 * 1024  # bytes of a pyvenv.cfg or .pth file that are read

Version = tuple[int, int]


class Environment(NamedTuple):
    """`root` and `search_path` are real paths; every folder of `search_path` lies inside `root`."""

    root: Path
    kind: str  # "venv" or "conda"
    python: Version
    search_path: tuple[Path, ...]  # site-packages first, then folders its .pth files name
    fingerprint: str  # changes when a distribution or a top-level module comes, goes or changes its version


def _read_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as stream:
            return stream.read(_CONFIG_LIMIT).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return []


def _read_configured_version(root: Path) -> Version | None:
    """The Python version that `pyvenv.cfg` (`version`, or virtualenv's `version_info`) or `conda-meta` names."""
    for line in _read_lines(root / "pyvenv.cfg"):
        key, _, value = line.partition("=")
        match = _VERSION.match(value.strip())
        if key.strip().lower() in ("version", "version_info") and match:
            return int(match[1]), int(match[2])
    for name in _list_names(root / "conda-meta"):
        if match := _CONDA_PYTHON.fullmatch(name):
            return int(match[1]), int(match[2])
    return None


def _list_names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def _find_site_packages(root: Path, configured: Version | None) -> tuple[Path, Version]:
    """The one site-packages folder and its Python version; the folder's own name outranks a stale `pyvenv.cfg`."""
    found: dict[Path, Version] = {}
    for lib in ("lib", "lib64"):
        for name in _list_names(root / lib):
            match = _LIBRARY.fullmatch(name)
            folder = real_inside(root / lib / name / "site-packages", (root,)) if match else None
            if match and folder and folder.is_dir():
                found[folder] = (int(match[1]), int(match[2]))
    if not found and configured:
        windows = real_inside(root / "Lib" / "site-packages", (root,))
        if windows and windows.is_dir():
            return windows, configured
    matching = [folder for folder, version in found.items() if version == configured] or list(found)
    if not matching:
        raise ConfigurationError(
            f"environment {root}: no site-packages folder inside it; create the environment again, or give another"
        )
    if len(matching) > 1:
        raise ConfigurationError(
            f"environment {root}: several Python versions and none named in pyvenv.cfg; give an environment with one"
        )
    return matching[0], found[matching[0]]


def _follow_path_files(site_packages: Path, root: Path) -> list[Path]:
    """Folders inside the environment that `.pth` files name, in the order `site` would add them."""
    folders: list[Path] = []
    for name in _list_names(site_packages):
        path_file = real_inside(site_packages / name, (root,)) if name.endswith(".pth") else None
        if path_file is None or not path_file.is_file():
            continue
        for line in _read_lines(path_file):
            text = line.strip()
            if not text or text.startswith(("#", "import ", "import\t")):
                continue
            folder = real_inside(site_packages / text, (root,))
            if folder and folder.is_dir() and folder != site_packages and folder not in folders:
                folders.append(folder)
    return folders


def _digest_contents(python: Version, search_path: tuple[Path, ...]) -> str:
    """Hash of the names that lie in the search path: `requests-2.32.3.dist-info` names a distribution and version."""
    digest = hashlib.sha256(f"{python[0]}.{python[1]}".encode())
    for folder in search_path:
        digest.update(b"\0\0")
        for name in _list_names(folder):
            digest.update(os.fsencode(name) + b"\0")
    return digest.hexdigest()


def open_environment(path: Path) -> Environment:
    """Read a declared environment. Raises ConfigurationError where the folder is none, or holds no site-packages."""
    try:
        root = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError):
        raise ConfigurationError(f"environment {path}: no such folder; give the folder that holds pyvenv.cfg") from None
    if (root / "pyvenv.cfg").is_file():
        kind = "venv"
    elif (root / "conda-meta").is_dir():
        kind = "conda"
    else:
        raise ConfigurationError(
            f"environment {path}: neither pyvenv.cfg nor conda-meta in it; give the folder made by venv, uv or conda"
        )
    site_packages, python = _find_site_packages(root, _read_configured_version(root))
    search_path = (site_packages, *_follow_path_files(site_packages, root))
    return Environment(root, kind, python, search_path, _digest_contents(python, search_path))
