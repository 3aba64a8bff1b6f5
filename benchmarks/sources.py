"""Fetches the packages that the benchmarks read: name and version in, unpacked folder out.

`unpack_sdist("flask", "3.1.3")` is `.work/sources/flask-3.1.3`. pip downloads, nothing is installed. The environment
variable CONTEXTC_BENCH_SOURCES names another folder; what lies there unpacked is not fetched again.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


class NotFetched(Exception):
    """A download failed. The message says what, and what pip said last."""


def sources_folder() -> Path:
    """Where downloads lie, made if need be."""
    folder = Path(os.environ.get("CONTEXTC_BENCH_SOURCES") or REPOSITORY / ".work" / "sources").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def unpack_sdist(name: str, version: str) -> Path:
    """The unpacked source distribution. Raises NotFetched."""
    here = sources_folder()
    unpacked = _find(here.iterdir(), name, version, "")
    if unpacked is not None:
        return unpacked
    archive = _download(name, version, ".tar.gz", ["--no-binary", ":all:"])
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(here, filter="data")
        else:
            tar.extractall(here)
    unpacked = _find(here.iterdir(), name, version, "")
    if unpacked is None:
        raise NotFetched(f"{archive.name} does not hold a folder {name}-{version}")
    return unpacked


def unpack_wheel(name: str, version: str) -> Path:
    """A folder with the wheel's files in it. Raises NotFetched."""
    folder = sources_folder() / f"{name}-{version}-wheel"
    if not folder.is_dir():
        archive = _download(name, version, ".whl", ["--only-binary", ":all:"])
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(part)
        part.rename(folder)
    return folder


def _download(name: str, version: str, suffix: str, options: list[str]) -> Path:
    target = sources_folder() / "archives"
    target.mkdir(exist_ok=True)
    found = _find(target.iterdir(), name, version, suffix)
    if found is not None:
        return found
    said = ""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(target), *options]
    # pip asks an sdist's build backend for its metadata: with one of its own, or with the one installed here.
    for more in ([], ["--no-build-isolation"]):
        done = subprocess.run([*pip, *more, f"{name}=={version}"], capture_output=True, text=True)
        found = _find(target.iterdir(), name, version, suffix)
        if found is not None:
            return found
        said = said or next((s for s in reversed(done.stderr.splitlines()) if "error" in s.lower()), done.stderr[-300:])
    raise NotFetched(f"{name}=={version} could not be downloaded: {said.strip()}")


def _find(entries: Iterable[Path], name: str, version: str, suffix: str) -> Path | None:
    """The folder (suffix "") or file of that name and version; case and `-` against `_` don't matter in names."""
    stem = f"{_plain(name)}-{version}"
    for entry in sorted(entries):
        found = _plain(entry.name)
        if entry.is_dir():
            if suffix == "" and found == stem:
                return entry
        elif suffix and found.startswith(stem) and found.endswith(suffix) and found[len(stem)] in "-.":
            return entry
    return None


def _plain(name: str) -> str:
    return re.sub(r"[-_]+", "-", name).lower()
