"""Where ignore rules are written: `.gitignore` at each level, above the root up to the repository's top, info/exclude.

In: a folder. Out: a `Level`, the rules of one ignore file and where they count from, and a `Skip` for each file or line
that can't be used.

    read_level("/proj", "docs/")  ->  Level("docs/.gitignore", rules, depth=5, prefix=""), ()

As git has it: nested files come before outer ones and add to them, a `.gitignore` that is a symbolic link is not
read. The git program is never called, and its index is not read either: a tracked file that a rule matches counts as
ignored. A user's global ignore file isn't read, so that the answer is the same on every machine.
"""

# ruff: noqa: PTH113, PTH118, PTH120
# One walk touches ten thousand paths: strings and os.path, not a Path object for each.

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.ignore_rules import IgnoreRules, compile_rules
from contextc.analyzer.source import read_regular
from contextc.model.diagnostic import Skip, SkipReason

MAX_IGNORE_BYTES = 1_000_000


class Level(NamedTuple):
    """One ignore file. A path p below the root is held against its rules as `prefix + p[depth:]`."""

    file: str  # relative to the root
    rules: IgnoreRules
    depth: int  # length of the path of the file's folder, for a folder below the root; else 0
    prefix: str  # path from the file's folder down to the root, for a folder above the root; else ""


def read_level(top: str, folder: str) -> tuple[Level, tuple[Skip, ...]]:
    """The `.gitignore` in `folder` ("" or "a/b/", below the root `top`)."""
    rules, faults = _read_rules(top, folder + ".gitignore", folder + ".gitignore")
    return Level(folder + ".gitignore", rules, len(folder), ""), faults


def find_outer_levels(top: str) -> tuple[tuple[Level, ...], tuple[Skip, ...]]:
    """The rules from above the root `top` (an absolute path), innermost first, `.git/info/exclude` last.

    Above the root only this is looked at: whether a folder holds `.git`, and its `.gitignore`.
    """
    above: list[str] = []
    folder = top
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return (), ()  # in no repository: ignore files above the root are someone else's
        above.append(parent)
        folder = parent
    levels: list[Level] = []
    faults: list[Skip] = []
    for number, place in enumerate(above, 1):
        if os.path.lexists(os.path.join(place, ".gitignore")):
            _add_outer(levels, faults, place, ".gitignore", "../" * number, _path_down(place, top))
    exclude = os.path.join(folder, ".git", "info", "exclude")
    if os.path.isfile(exclude):
        _add_outer(levels, faults, folder, ".git/info/exclude", "../" * len(above), _path_down(folder, top))
    return tuple(levels), tuple(faults)


def _add_outer(levels: list[Level], faults: list[Skip], place: str, file: str, way_up: str, prefix: str) -> None:
    rules, found = _read_rules(place, file, way_up + file)
    faults += found
    if rules:
        levels.append(Level(way_up + file, rules, 0, prefix))


def _path_down(place: str, top: str) -> str:
    down = os.path.relpath(top, place).replace(os.sep, "/")
    return "" if down == "." else down + "/"


def _read_rules(base: str, path: str, shown: str) -> tuple[IgnoreRules, tuple[Skip, ...]]:
    nothing, _ = compile_rules(())
    try:
        if stat.S_ISLNK(os.lstat(os.path.join(base, path)).st_mode):
            return nothing, (Skip(shown, SkipReason.IGNORE_FILE, "A symbolic link, which git doesn't follow either."),)
    except OSError:
        pass  # told by the reading itself
    raw = read_regular(Path(base), path, MAX_IGNORE_BYTES)
    if isinstance(raw, Skip):
        return nothing, (Skip(shown, SkipReason.IGNORE_FILE, f"Its rules don't apply: {_lower(raw.detail)}"),)
    if b"\0" in raw or raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        detail = "Its rules don't apply: it is binary or UTF-16, not plain text."
        return nothing, (Skip(shown, SkipReason.IGNORE_FILE, detail),)
    # Names on disk need not be UTF-8; os.scandir hands them out with the same escapes.
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    rules, faults = compile_rules(line.removesuffix("\r") for line in text.split("\n"))
    return rules, tuple(_describe_faults(shown, ((fault.line, fault.message) for fault in faults)))


def _describe_faults(shown: str, faults: Iterable[tuple[int, str]]) -> list[Skip]:
    found = list(faults)
    if not found:
        return []
    line, message = found[0]
    rest = f", nor {len(found) - 1} more" if len(found) > 1 else ""
    return [Skip(shown, SkipReason.IGNORE_FILE, f"Line {line} doesn't apply ({message}){rest}.")]


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
