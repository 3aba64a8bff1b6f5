"""What a project says of itself in pyproject.toml, setup.cfg and setup.py: where its packages lie, which Python.

In: a folder and which of the three files it holds. Out: `Metadata`. All three are read as text; setup.py is parsed,
never run, and only literals count in it.

    [tool.setuptools.package-dir] / "" = "src"   in   services/a/pyproject.toml
      ->  Metadata(places=(Place("services/a", ""), Place("services/a/src", "")), python=None, notes=())

A `Place` is a folder whose contents are importable, with the dotted prefix they get: `package-dir = {pkg = "lib/p"}`
gives `Place("lib/p", "pkg")`. Read are setuptools (package-dir, packages.find where), poetry (packages from), hatch
(packages, sources), pdm (package-dir), maturin (python-source), uv (module-root), scikit-build (wheel.packages).
"""

from __future__ import annotations

import configparser
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from contextc.analyzer.settings import MAX_TABLE_BYTES, parse_toml
from contextc.analyzer.setup_script import SetupCall, read_setup_call
from contextc.analyzer.source import read_regular
from contextc.model.diagnostic import Note, Skip

_LOWER_BOUND = re.compile(r"(>=|>|~=|===?|\^|~|)\s*v?(\d+)(?:\.(\d+))?")


class Place(NamedTuple):
    """A folder relative to the root ("" is the root) whose contents are imported with `prefix` before their names."""

    folder: str
    prefix: str


class Metadata(NamedTuple):
    """What one project folder declares; `python` is the lower bound of its versions."""

    places: tuple[Place, ...]
    python: tuple[int, int] | None
    notes: tuple[Note, ...]


def read_metadata(root: Path, folder: str, names: Iterable[str]) -> Metadata:
    """Reads the metadata files `names` of `folder` (relative to `root`). What can't be read is a note."""
    places: set[Place] = {Place(folder, "")}
    bounds: list[tuple[int, int]] = []
    notes: list[Note] = []
    for name in sorted(names):
        path = posixpath.join(folder, name)
        raw = read_regular(root, path, MAX_TABLE_BYTES)
        if isinstance(raw, Skip):
            notes.append(Note(path, f"Source roots were not looked up here: {raw.detail}"))
            continue
        try:
            declared, python = _READERS[name](raw)
        except (ValueError, configparser.Error) as error:
            first = (str(error).splitlines() or [""])[0]
            notes.append(Note(path, f"Source roots were not looked up here, the file can't be read: {first[:120]}."))
            continue
        places.update(Place(*place) for place in _resolve(folder, declared))
        bounds += filter(None, [parse_lower_bound(python)])
    return Metadata(tuple(sorted(places)), min(bounds, default=None), tuple(notes))


def parse_lower_bound(text: str) -> tuple[int, int] | None:
    """The lowest Python 3 that a specifier such as ">=3.9,<4" or "^3.8" admits; None if it sets no lower bound."""
    bounds = []
    for clause in re.split(r"[,\s]+(?=[^\d\s])|,", text.split("||")[0]):
        match = _LOWER_BOUND.match(clause.strip())
        if match and match.group(2) == "3":
            bounds.append((3, int(match.group(3) or 0)))
    return max(bounds, default=None)


def _resolve(folder: str, declared: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Declared folders as paths relative to the root; those that lead out of it are left out."""
    for written, prefix in declared:
        if not written or written.startswith("/") or "\\" in written or "\0" in written:
            continue
        path = posixpath.normpath(posixpath.join(folder, written))
        if path != ".." and not path.startswith("../"):
            yield ("" if path == "." else path), prefix


def _read_pyproject(raw: bytes) -> tuple[list[tuple[str, str]], str]:
    document = parse_toml(raw)
    tool = _Table(document).table("tool")
    found: list[tuple[str, str]] = []
    found += _split_package_dir(tool.table("setuptools").table("package-dir").strings())
    for finder in ("find", "find-namespace"):
        found += ((where, "") for where in tool.table("setuptools").table("packages").table(finder).names("where"))
    for item in tool.table("poetry").tables("packages"):
        found.append((item.text("from"), ""))
    hatch = tool.table("hatch").table("build")
    for target in (hatch, hatch.table("targets").table("wheel")):
        found += _parents(target.names("packages"))
        found += ((source, "") for source in target.names("sources"))
        found += ((source, name.replace("/", ".")) for source, name in target.table("sources").strings().items())
    found.append((tool.table("pdm").table("build").text("package-dir"), ""))
    found.append((tool.table("maturin").text("python-source"), ""))
    found.append((tool.table("uv").table("build-backend").text("module-root"), ""))
    found += _parents(tool.table("scikit-build").table("wheel").names("packages"))
    python = _Table(document).table("project").text("requires-python")
    return found, python or tool.table("poetry").table("dependencies").text("python")


def _read_setup_cfg(raw: bytes) -> tuple[list[tuple[str, str]], str]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(raw.decode("utf-8-sig"))
    mapping: dict[str, str] = {}
    for line in re.split(r"[\n,]", parser.get("options", "package_dir", fallback="")):
        name, sign, place = line.partition("=")
        if sign:
            mapping[name.strip()] = place.strip()
    found = _split_package_dir(mapping)
    for where in parser.get("options.packages.find", "where", fallback="").splitlines():
        found.append((where.strip(), ""))
    return found, parser.get("options", "python_requires", fallback="")


def _read_setup_py(raw: bytes) -> tuple[list[tuple[str, str]], str]:
    call: SetupCall = read_setup_call(raw)
    return _split_package_dir(call.package_dir) + [(place, "") for place in call.where], call.python_requires


_READERS: Mapping[str, Callable[[bytes], tuple[list[tuple[str, str]], str]]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "setup.py": _read_setup_py,
}


def _split_package_dir(mapping: Mapping[str, str]) -> list[tuple[str, str]]:
    """`{"": "src"}` is a source root; `{"pkg": "lib/pkg"}` a package whose folder may have any name."""
    return [(place, name) for name, place in mapping.items() if place]


def _parents(packages: Iterable[str]) -> Iterator[tuple[str, str]]:
    """`src/pkg` is importable as `pkg`: the folder above is a source root."""
    for package in packages:
        yield posixpath.dirname(package.rstrip("/")) or ".", ""


class _Table:
    """A table of a document that may be of any shape: what isn't of the asked type counts as absent."""

    def __init__(self, value: object) -> None:
        self._value: dict[str, Any] = value if isinstance(value, dict) else {}

    def table(self, key: str) -> _Table:
        """The table under `key`, or an empty one."""
        return _Table(self._value.get(key))

    def tables(self, key: str) -> list[_Table]:
        """The tables of the array under `key`."""
        value = self._value.get(key)
        return [_Table(item) for item in value] if isinstance(value, list) else []

    def text(self, key: str) -> str:
        """The string under `key`, or ""."""
        value = self._value.get(key)
        return value if isinstance(value, str) else ""

    def names(self, key: str) -> list[str]:
        """The strings of the array under `key`."""
        value = self._value.get(key)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def strings(self) -> dict[str, str]:
        """The entries whose values are strings."""
        return {key: value for key, value in self._value.items() if isinstance(value, str)}
