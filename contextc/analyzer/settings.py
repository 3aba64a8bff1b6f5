"""What the user set: the command line, `[tool.contextc]` in ROOT's pyproject.toml, the user's own configuration.

In: a root folder and the command line's values. Out: one `Settings`.

    load_settings(Path("proj"), exclude=["docs/"])  ->  Settings(include=(), exclude=("build/", "docs/"), …)

Precedence, from strong to weak: command line, the repository's `[tool.contextc]`, the user's `config.toml` in the
platform's configuration folder for contextc (its `[tool.contextc]` table, or the same keys at its top level).
`exclude` adds up over all three; of every other key the strongest place that gives it counts, so `--include` replaces
a configured `include`. The repository is not trusted: its `environment` must lie inside ROOT.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from contextc.analyzer.source import MAX_FILE_BYTES, read_regular
from contextc.errors import ConfigurationError
from contextc.model.diagnostic import Note, Skip, SkipReason

MAX_TABLE_BYTES = 1_000_000
_PYTHON = re.compile(r"3\.(\d{1,2})")
_PLATFORMS = ("linux", "darwin", "win32")


class Settings(NamedTuple):
    """The values in force. `environment` is absolute and was checked; None for `python`: ask the project."""

    include: tuple[str, ...] = ()  # gitignore patterns relative to ROOT; empty: everything
    exclude: tuple[str, ...] = ()
    environment: Path | None = None  # a folder with pyvenv.cfg or conda-meta
    python: tuple[int, int] | None = None  # target version for sys.version_info branches
    platform: str = "linux"  # target for sys.platform branches
    max_file_bytes: int = MAX_FILE_BYTES
    profile: str | Mapping[str, Any] | None = None  # of a context: a name, or the keys of one
    budget: int | None = None  # tokens of a context
    notes: tuple[Note, ...] = ()


class UserFolders(NamedTuple):
    """The platform's places for this user."""

    config: Path
    cache: Path


def find_user_folders() -> UserFolders:
    """Where the user's configuration and cache for contextc lie. Creates nothing."""
    import platformdirs

    dirs = platformdirs.PlatformDirs("contextc", appauthor=False)
    return UserFolders(Path(dirs.user_config_dir), Path(dirs.user_cache_dir))


def load_settings(
    root: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    environment: Path | None = None,
    python: tuple[int, int] | None = None,
    user_config: Path | None = None,
) -> Settings:
    """The settings in force for `root`; the keyword arguments are the command line's, relative paths to the working
    folder. `user_config` stands in for the user's `config.toml`. Raises ConfigurationError."""
    own, notes = _read_repository_table(root)
    theirs = _read_user_table(user_config or find_user_folders().config / "config.toml")
    values: dict[str, Any] = {**theirs, **own}
    values["exclude"] = (*theirs.get("exclude", ()), *own.get("exclude", ()), *exclude)
    if include:
        values["include"] = tuple(include)
    if python:
        values["python"] = python
    if environment is not None:
        values["environment"] = _check_environment(_make_absolute(environment), "--environment")
    return Settings(**values, notes=notes)


def parse_toml(text: bytes) -> dict[str, Any]:
    """A TOML document. Raises ValueError on anything that is none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document: dict[str, Any] = tomllib.loads(text.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("nested too deep") from None
    return document


def read_toml_file(file: Path, option: str, names: Collection[str] = ()) -> dict[str, Any]:
    """The table of a file that the user names with an option; `names` are what could be meant instead. Raises
    ConfigurationError."""
    try:
        return parse_toml(file.read_bytes())
    except OSError as error:
        if isinstance(error, FileNotFoundError) and names:
            near = difflib.get_close_matches(str(file), names, n=1)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            known = ", ".join(names)
            raise ConfigurationError(f"{option}: '{file}' is none of {known}, and no such file{meant}") from error
        raise ConfigurationError(f"{option}: can't read '{file}': {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"{option}: '{file}' is no valid TOML ({error})") from error


def _read_repository_table(root: Path) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """ROOT's `[tool.contextc]`. A pyproject.toml that can't be read is a note: code under edit may be broken."""
    raw = read_regular(root, "pyproject.toml", MAX_TABLE_BYTES)
    if isinstance(raw, Skip):
        missing = raw.reason is SkipReason.UNREADABLE and not os.path.lexists(root / "pyproject.toml")
        note = Note("pyproject.toml", f"[tool.contextc] was not read: {raw.detail}")
        return {}, () if missing else (note,)
    try:
        document = parse_toml(raw)
    except ValueError as error:
        return {}, (Note("pyproject.toml", f"[tool.contextc] was not read, the file is no valid TOML: {error}."),)
    tool = document.get("tool")
    table = tool.get("contextc", {}) if isinstance(tool, dict) else {}
    values = _check_table(table, "pyproject.toml")
    notes: tuple[Note, ...] = ()
    written = values.pop("environment", None)
    if written is not None:
        values["environment"], notes = _find_repository_environment(root, written)
    return values, notes


def _find_repository_environment(root: Path, written: str) -> tuple[Path | None, tuple[Note, ...]]:
    top = os.path.realpath(root)
    place = os.path.realpath(f"{top}/{written}" if not Path(written).is_absolute() else written)
    if not place.startswith(top.rstrip(os.sep) + os.sep):
        raise ConfigurationError(
            f"pyproject.toml: [tool.contextc] environment = {written!r} lies outside the repository; "
            "give it with --environment or in your own configuration file instead"
        )
    if not is_environment(Path(place)):
        message = f"environment {written!r} is not used: no folder with pyvenv.cfg or conda-meta is there."
        return None, (Note("pyproject.toml", message),)
    return Path(place), ()


def _read_user_table(file: Path) -> dict[str, Any]:
    try:
        text = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise ConfigurationError(f"{file}: it can't be read ({error.strerror}); mend or remove it") from error
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise ConfigurationError(f"{file}: it is no valid TOML ({error}); mend or remove it") from error
    tool = document.get("tool")
    nested = tool.get("contextc") if isinstance(tool, dict) else None
    values = _check_table(document if nested is None else nested, str(file))
    if "environment" in values:
        place = file.parent / Path(values["environment"]).expanduser()
        values["environment"] = _check_environment(_make_absolute(place), f"{file}: environment")
    return values


def is_environment(folder: Path) -> bool:
    """True for a virtual environment (pyvenv.cfg) or a conda one (conda-meta)."""
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


def _make_absolute(folder: Path) -> Path:
    return Path(os.path.abspath(folder))  # noqa: PTH100 - a link stays the link that the user named


def _check_environment(folder: Path, source: str) -> Path:
    if not is_environment(folder):
        raise ConfigurationError(
            f"{source}: {folder} is no environment; name a folder that holds pyvenv.cfg or conda-meta"
        )
    return folder


def _check_table(table: object, where: str) -> dict[str, Any]:
    """The table's values under the names of `Settings`. Raises ConfigurationError on an unknown key or wrong type."""
    if not isinstance(table, Mapping):
        raise ConfigurationError(f"{where}: tool.contextc must be a table; write [tool.contextc] and keys below it")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            known = ", ".join(sorted(_KEYS))
            raise ConfigurationError(f"{where}: [tool.contextc] has no key {key!r}; remove it or use one of: {known}")
        field, expected, check = _KEYS[key]
        checked = check(value)
        if checked is None:
            raise ConfigurationError(f"{where}: [tool.contextc] {key} must be {expected}, not {_show(value)}")
        values[field] = checked
    return values


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _check_patterns(value: object) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) and item.strip() for item in value):
        return tuple(value)
    return None


def _check_path(value: object) -> str | None:
    return value if isinstance(value, str) and value and "\0" not in value else None


def parse_python(value: object) -> tuple[int, int] | None:
    """ "3.12" as (3, 12); None for anything else."""
    match = _PYTHON.fullmatch(value) if isinstance(value, str) else None
    return (3, int(match.group(1))) if match else None


def _check_platform(value: object) -> str | None:
    return value if isinstance(value, str) and value in _PLATFORMS else None


def _check_size(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _check_profile(value: object) -> str | Mapping[str, Any] | None:
    return value if isinstance(value, str | Mapping) else None


def _check_budget(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


_KEYS: Mapping[str, tuple[str, str, Callable[[object], Any]]] = {
    "include": ("include", 'a list of patterns such as ["src/"]', _check_patterns),
    "exclude": ("exclude", 'a list of patterns such as ["docs/"]', _check_patterns),
    "environment": ("environment", 'a path such as ".venv"', _check_path),
    "python": ("python", 'a version such as "3.12"', parse_python),
    "platform": ("platform", f"one of {', '.join(map(repr, _PLATFORMS))}", _check_platform),
    "profile": ("profile", 'a name such as "review", or a table of what a profile holds', _check_profile),
    "budget": ("budget", "a number of tokens, 0 for no bound", _check_budget),
    "max-file-bytes": ("max_file_bytes", "a whole number above 0", _check_size),
}
