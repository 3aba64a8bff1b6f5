"""The walk: which Python files and notebooks lie under the root, and what was left out, with its reason.

In: a root folder and `Settings`. Out: a `Tree`, everything sorted; paths POSIX, relative to the root.

    walk_tree(Path("proj"), Settings(exclude=("docs/",)))
      ->  Tree(files=("app.py",), skipped=(Skip("docs/", EXCLUDED, ""), Skip("venv/", ENVIRONMENT, "")), …)

Each folder that is entered is listed once; a folder that is left out is never entered (an environment is recognised by
its own listing). Order of the questions: dependency folder, `exclude`, ignore files, `include`. A path that `include`
names exactly, without wildcards, is exempt from the first and the third. Symbolic links are never followed into
folders: a folder inside the root is judged under its own path.
"""

# ruff: noqa: PTH114, PTH116, PTH118
# One walk touches ten thousand paths: strings and os.path, not a Path object for each.

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.ignore_files import Level, find_outer_levels, read_level
from contextc.analyzer.ignore_rules import IgnoreRules, compile_rules, iterate_literals, iterate_prefixes
from contextc.analyzer.settings import Settings
from contextc.analyzer.source import describe_os_error
from contextc.errors import ConfigurationError
from contextc.model.diagnostic import Note, Skip, SkipReason

_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "_darcs", ".pijul"})
_INSTALLED = frozenset({"node_modules", "__pypackages__"})
_BYTECODE = "__pycache__"
_CHECKPOINTS = ".ipynb_checkpoints"
_METADATA = frozenset({"pyproject.toml", "setup.cfg", "setup.py"})
_OWN_LIBRARY = re.compile(r"(lib|lib64|Lib)/(python[\d.]+t?|site-packages)/")  # of a root that is an environment
_SUFFIXES = (".py", ".pyi", ".ipynb")


class Tree(NamedTuple):
    """What the walk found. Folders are named without a slash at the end, the root is ""."""

    files: tuple[str, ...]  # Python files and notebooks to analyse
    folders: frozenset[str]  # entered
    packages: frozenset[str]  # folders that hold an __init__.py or __init__.pyi
    metadata: dict[str, frozenset[str]]  # folder: which of pyproject.toml, setup.cfg, setup.py it holds; sorted
    links: tuple[tuple[str, str], ...]  # symbolic links inside the root: (link, where it leads)
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]


class _Folder(NamedTuple):
    """A folder still to be entered. `path` is "" or ends in "/"."""

    path: str
    levels: tuple[Level, ...]  # ignore rules in force, innermost first
    included: bool  # by itself or a folder above
    on_the_way: bool  # ignored, entered only to reach a path that --include names exactly


class _Selection(NamedTuple):
    """--include and --exclude, compiled."""

    include: IgnoreRules | None  # None: everything
    exclude: IgnoreRules
    exact: frozenset[str]  # paths that --include names exactly
    ways: frozenset[str]  # the folders above them
    prefixes: tuple[tuple[str, ...], ...]

    def may_hold(self, folder: str) -> bool:
        """False only if nothing below `folder` can match --include."""
        names = tuple(folder.split("/"))
        return any(all(mine == wanted for mine, wanted in zip(names, prefix, strict=False)) for prefix in self.prefixes)


def walk_tree(root: Path, settings: Settings) -> Tree:
    """Lists the Python files under `root`. Raises ConfigurationError if `root` is no folder or a pattern is no use."""
    if not root.is_dir():
        raise ConfigurationError(f"{root}: no such folder; give the root folder of a repository")
    return _Walk(root, settings).run()


class _Walk:
    """One walk: the work list and what it has found so far."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.top = os.path.realpath(root)
        self.select = _compile_selection(settings)
        self.files: list[str] = []
        self.folders: set[str] = set()
        self.packages: set[str] = set()
        self.metadata: dict[str, frozenset[str]] = {}
        self.links: list[tuple[str, str]] = []
        self.skipped: list[Skip] = []
        self.is_environment = False

    def run(self) -> Tree:
        """Enters folder after folder until none is left."""
        levels, faults = find_outer_levels(self.top)
        self.skipped += faults
        work = [_Folder("", levels, self.select.include is None, False)]
        while work:
            work.extend(self._enter(work.pop()))
        files, skipped = sorted(self.files), _gather_not_included(self.files, self.skipped)
        metadata = {folder: self.metadata[folder] for folder in sorted(self.metadata)}
        notes = () if files or self.select.include is None else (Note("", "No Python file matches --include."),)
        return Tree(
            tuple(files), frozenset(self.folders), frozenset(self.packages), metadata, tuple(sorted(self.links)),
            tuple(sorted(skipped)), notes,
        )  # fmt: skip

    def _enter(self, folder: _Folder) -> Iterator[_Folder]:
        """Lists one folder and yields those of its folders that are to be entered."""
        try:
            with os.scandir(os.path.join(self.top, folder.path)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            if not folder.path:
                raise ConfigurationError(f"the root folder can't be read: {describe_os_error(error)}") from error
            self._skip(folder.path, SkipReason.UNREADABLE, describe_os_error(error))
            return
        names = {entry.name: entry for entry in entries}
        marker = _find_environment_marker(names)
        name = folder.path.rstrip("/")
        if marker and not folder.path:
            self.is_environment = True
        elif marker and not folder.on_the_way and name not in self.select.exact:
            if name not in self.select.ways:
                self._skip(folder.path, SkipReason.ENVIRONMENT, f"It holds {marker}.")
                return
            folder = folder._replace(on_the_way=True)
        self.folders.add(name)
        if "__init__.py" in names or "__init__.pyi" in names:
            self.packages.add(name)
        if found := _METADATA.intersection(names):
            self.metadata[name] = found
        if ".gitignore" in names:
            level, faults = read_level(self.top, folder.path)
            self.skipped += faults
            if level.rules:
                folder = folder._replace(levels=(level, *folder.levels))
        for entry in entries:
            yield from self._judge(folder, entry)

    def _judge(self, folder: _Folder, entry: os.DirEntry[str]) -> Iterator[_Folder]:
        """Files the entry under files, skipped or links; yields it if it is a folder to enter."""
        is_python = entry.name.endswith(_SUFFIXES)
        try:
            is_link = entry.is_symlink()
            is_folder = entry.is_dir(follow_symlinks=False)
            if not (is_folder or is_link or is_python):
                return
            path = folder.path + entry.name
            if not _is_utf8(entry.name):
                shown = folder.path + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                self._skip(shown + "/" * is_folder, SkipReason.UNDECODABLE, "Its name is no UTF-8.")
                return
            verdict = self._find_reason(folder, path, is_folder, is_link)
            if verdict is not None:
                reason, detail = verdict
                if is_folder and path in self.select.ways and reason is not SkipReason.EXCLUDED:
                    yield _Folder(path + "/", folder.levels, folder.included, True)
                elif is_folder or is_python:
                    self._list_left_out(path, is_folder, reason, detail)
                return
            if is_link:
                self._judge_link(path, is_python)
            elif is_folder:
                yield from self._judge_folder(folder, path)
            elif not entry.is_file(follow_symlinks=False):
                self._skip(path, SkipReason.NOT_REGULAR, "It is a socket, a pipe or a device.")
            elif self._is_included(folder, path, False):
                self.files.append(path)
            else:
                self._skip(path, SkipReason.NOT_INCLUDED, "")
        except OSError as error:
            self._skip(folder.path + entry.name, SkipReason.UNREADABLE, describe_os_error(error))

    def _judge_folder(self, folder: _Folder, path: str) -> Iterator[_Folder]:
        included = self._is_included(folder, path, True)
        if included or self.select.may_hold(path):
            yield _Folder(path + "/", folder.levels, included, False)
        else:
            self._skip(path + "/", SkipReason.NOT_INCLUDED, "")

    def _find_reason(self, folder: _Folder, path: str, is_folder: bool, is_link: bool) -> tuple[SkipReason, str] | None:
        """Why the entry is left out before --include is asked; None if it isn't. A link counts as a file, as in git."""
        exact = path in self.select.exact
        if is_folder and not exact and (detail := self._describe_dependency(path)):
            return SkipReason.DEPENDENCIES, detail
        if self.is_environment and not exact and is_folder and _OWN_LIBRARY.fullmatch(path + "/"):
            return SkipReason.ENVIRONMENT, "The root itself is an environment."
        if self.select.exclude.judge(path, is_folder):
            return SkipReason.EXCLUDED, ""
        if exact:
            return None
        if folder.on_the_way:
            return SkipReason.IGNORED, "A folder above it is left out."
        for level in folder.levels:
            found = level.rules.judge(level.prefix + path[level.depth :], is_folder)
            if found is not None:
                return (SkipReason.IGNORED, f"By {level.file}.") if found else None
        return None

    def _describe_dependency(self, path: str) -> str:
        name = path[path.rfind("/") + 1 :]
        if name in _VERSION_CONTROL:
            return "Version-control data."
        if name in _INSTALLED:
            return "Installed dependencies."
        if name == _CHECKPOINTS:
            return "Saved states of notebooks."
        return "Compiled bytecode." if name == _BYTECODE else ""

    def _is_included(self, folder: _Folder, path: str, is_folder: bool) -> bool:
        if self.select.include is None:
            return True
        found = self.select.include.judge(path, is_folder)
        return folder.included if found is None else found

    def _list_left_out(self, path: str, is_folder: bool, reason: SkipReason, detail: str) -> None:
        if is_folder and path.endswith(_BYTECODE) and reason is SkipReason.DEPENDENCIES:
            with os.scandir(os.path.join(self.top, path)) as listing:
                if not any(entry.name.endswith(_SUFFIXES) for entry in listing):
                    return  # nothing of the sources lies there: nothing is left out
        self._skip(path + "/" * is_folder, reason, detail)

    def _judge_link(self, path: str, is_python: bool) -> None:
        full = os.path.join(self.top, path)
        real = os.path.realpath(full)
        try:
            mode = os.stat(full).st_mode
        except FileNotFoundError:
            self._skip(path, SkipReason.UNREADABLE, "A symbolic link that leads nowhere.")
            return
        except OSError as error:
            loop = os.path.islink(real) or "symbolic" in (error.strerror or "")
            reason = SkipReason.SYMLINK_LOOP if loop else SkipReason.UNREADABLE
            self._skip(path, reason, describe_os_error(error))
            return
        is_folder = stat.S_ISDIR(mode)
        if not (is_folder or is_python):
            return
        shown = path + "/" * is_folder
        if real != self.top and not real.startswith(self.top.rstrip(os.sep) + os.sep):
            self._skip(shown, SkipReason.OUTSIDE_ROOT, "A symbolic link out of the analysed root.")
            return
        target = os.path.relpath(real, self.top).replace(os.sep, "/")
        if is_folder and (full + os.sep).startswith(real.rstrip(os.sep) + os.sep):
            self._skip(shown, SkipReason.SYMLINK_LOOP, "A symbolic link to a folder above it.")
        elif is_folder or target.endswith(_SUFFIXES):
            self.links.append((path, target))
            self._skip(shown, SkipReason.DUPLICATE, f"A symbolic link to {target}, which is judged by its own path.")
        else:
            # The target may be a file of secrets that an ignore rule keeps out; by its own name it is none of ours.
            self._skip(path, SkipReason.NOT_REGULAR, f"A symbolic link to {target}, no Python file by its own name.")

    def _skip(self, path: str, reason: SkipReason, detail: str) -> None:
        self.skipped.append(Skip(path, reason, detail))


def _compile_selection(settings: Settings) -> _Selection:
    include, exact = None, frozenset(iterate_literals(_clean(settings.include)))
    if settings.include:
        include = _compile_patterns("include", settings.include)
    ways = {way for path in exact for way in _iterate_parents(path)}
    exclude = _compile_patterns("exclude", settings.exclude)
    prefixes = tuple(iterate_prefixes(_clean(settings.include)))
    return _Selection(include, exclude, exact, frozenset(ways), prefixes)


def _compile_patterns(key: str, patterns: Iterable[str]) -> IgnoreRules:
    patterns = tuple(_clean(patterns))
    rules, faults = compile_rules(patterns)
    if faults:
        fault = faults[0]
        raise ConfigurationError(f"{key}: {patterns[fault.line - 1]!r} can't be used: {fault.message}")
    return rules


def _clean(patterns: Iterable[str]) -> Iterator[str]:
    """Patterns as people type them: "./src" means "/src"."""
    for pattern in patterns:
        yield pattern[1:] if pattern.startswith("./") else pattern


def _iterate_parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path[: path.rfind("/")]
        yield path


def _find_environment_marker(names: dict[str, os.DirEntry[str]]) -> str:
    if "pyvenv.cfg" in names and names["pyvenv.cfg"].is_file(follow_symlinks=False):
        return "pyvenv.cfg"
    if "conda-meta" in names and names["conda-meta"].is_dir(follow_symlinks=False):
        return "conda-meta"
    return ""


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _gather_not_included(files: Iterable[str], skipped: Iterable[Skip]) -> list[Skip]:
    """One line for a folder of which nothing is included, in place of a line for each file in it."""
    live = {"", *(parent for path in files for parent in _iterate_parents(path))}
    kept: list[Skip] = []
    closed: set[str] = set()
    for skip in skipped:
        if skip.reason is SkipReason.NOT_INCLUDED:
            parents = [*_iterate_parents(skip.path.rstrip("/"))][::-1]
            outermost = next((f"{parent}/" for parent in parents if parent not in live), skip.path)
            if outermost.endswith("/"):
                closed.add(outermost)
    for skip in skipped:
        above = [f"{parent}/" for parent in _iterate_parents(skip.path.rstrip("/"))]
        if not closed.intersection(above) and skip.path not in closed:
            kept.append(skip)
    return kept + [Skip(path, SkipReason.NOT_INCLUDED, "") for path in closed]
