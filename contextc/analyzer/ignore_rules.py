"""Ignore rules as git means them: which entry does the last matching pattern leave out, or take back in?

In: the lines of a `.gitignore` (or of --include, --exclude). Out: for one entry, True (matched), False (taken back by
`!`), None (no pattern speaks of it).

    rules, faults = compile_rules(["*.py", "!keep.py"])
    rules.judge("a/x.py", is_folder=False)      # True
    rules.judge("a/keep.py", is_folder=False)   # False

As in git a pattern is held against the entry alone, never against what lies above it: whoever walks does not descend
into an ignored folder, so that nothing below one can be taken back. Sole importer of pathspec, which turns each
pattern into a regular expression; last-match order and folders are decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Regular expressions backtrack: with k wildcards in one name, about length ** k steps. Real patterns have one or two.
_MAX_STARS = 4
_MAX_PATTERN = 1024
_EVERYTHING = re.compile(r"(?s:.*)")
_POSIX_CLASS = re.compile(r"(\[[!^]?\]?[^\]/\[]*)\[:(\w+):\]")
_CLASS_RANGES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \t", "digit": "0-9", "lower": "a-z", "space": " \t\n\r\f\v",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


class Fault(NamedTuple):
    """A line that is no usable pattern; `line` counts from 1."""

    line: int
    message: str


class _Rule(NamedTuple):
    order: int
    verdict: bool  # True: matched; False: taken back
    pattern: re.Pattern[str]
    folders_only: bool
    contents: bool  # "dir/**": all that lies inside, not the folder itself

    def matches(self, path: str) -> bool:
        """`path` of a folder ends in "/". A match that ends before the path's end is one of a folder above."""
        found = self.pattern.match(path)
        if found is None:
            return False
        if self.folders_only and not path.endswith("/"):
            return False
        return found.end() < len(path) if self.contents else found.end() == len(path)


class IgnoreRules:
    """The patterns of one file, in order; the last that matches decides."""

    def __init__(self, by_name: Iterable[_Rule], by_path: Iterable[_Rule]) -> None:
        """Use `compile_rules`. `by_name`: patterns without a slash inside, held against the last name alone."""
        self._by_name = sorted(by_name, reverse=True)
        self._by_path = sorted(by_path, reverse=True)
        self._seen: dict[str, _Rule | None] = {}

    def __bool__(self) -> bool:
        return bool(self._by_name or self._by_path)

    def judge(self, path: str, is_folder: bool) -> bool | None:
        """What the rules say of `path` (POSIX, relative to the folder of the rules, without a slash at the end)."""
        name = path[path.rfind("/") + 1 :]
        if is_folder:
            name, path = name + "/", path + "/"
        best = self._find_by_name(name)
        for rule in self._by_path:
            if best is not None and rule.order < best.order:
                break
            if rule.matches(path):
                return rule.verdict
        return None if best is None else best.verdict

    def _find_by_name(self, name: str) -> _Rule | None:
        if name not in self._seen:  # the same few names, "__init__.py" or "tests", recur in every folder
            self._seen[name] = next((rule for rule in self._by_name if rule.matches(name)), None)
        return self._seen[name]


def compile_rules(lines: Iterable[str]) -> tuple[IgnoreRules, tuple[Fault, ...]]:
    """The rules of `lines` (without line ends), and the lines that can't be used."""
    by_name: list[_Rule] = []
    by_path: list[_Rule] = []
    faults: list[Fault] = []
    for number, line in enumerate(lines, 1):
        try:
            rule = _compile_rule(number, line)
        except ValueError as error:
            faults.append(Fault(number, str(error)))
            continue
        if rule is not None:
            is_path = "/" in _strip_pattern(line).rstrip("/")
            (by_path if is_path else by_name).append(rule)
    return IgnoreRules(by_name, by_path), tuple(faults)


def _compile_rule(number: int, line: str) -> _Rule | None:
    """None for blank lines, comments and what git itself passes over. Raises ValueError on an unusable line."""
    body = _strip_pattern(line)
    if not body or line.startswith("#"):
        return None
    if len(line) > _MAX_PATTERN or any(_count_stars(part) > _MAX_STARS for part in body.split("/")):
        raise ValueError("the pattern is too long or has too many wildcards")
    if body.split("/").count("**") > _MAX_STARS:
        raise ValueError("the pattern has too many wildcards")
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        compiled = GitIgnoreSpecPattern(_expand_classes(line))
    except (ValueError, re.error):
        raise ValueError("it is no pattern") from None
    if compiled.include is None or compiled.regex is None:
        return None
    folders_only = body.endswith("/")
    if _means_everything(body):
        return _Rule(number, compiled.include, _EVERYTHING, folders_only, contents=False)
    return _Rule(number, compiled.include, compiled.regex, folders_only, contents=body.rstrip("/").endswith("/**"))


def _means_everything(body: str) -> bool:
    """True for `*`, `**`, `**/*` and the like, for which the library's own expression ends after one character."""
    parts = body.rstrip("/").split("/")
    if parts[0] == "":
        del parts[0]
        if parts[:1] == ["*"]:
            return False  # "/*": the top level only
    return parts in (["*"], ["**"]) or (len(parts) == 2 and parts[0] == "**" and parts[1] in ("*", "**"))


def _expand_classes(line: str) -> str:
    """POSIX classes such as `[[:alpha:]]`, which git knows and the library does not, as ranges."""
    while (found := _POSIX_CLASS.search(line)) is not None and found.group(2) in _CLASS_RANGES:
        line = line[: found.end(1)] + _CLASS_RANGES[found.group(2)] + line[found.end() :]
    return line


def _strip_pattern(line: str) -> str:
    """The pattern without `!` and trailing blanks."""
    body = line if line.endswith("\\ ") else line.rstrip()
    return body[1:] if body.startswith("!") else body


def _count_stars(part: str) -> int:
    return len(re.findall(r"\*+", part))


def iterate_literals(patterns: Iterable[str]) -> Iterator[str]:
    """The paths that patterns name exactly: no wildcard, no negation, no escape; without slashes at the ends."""
    for pattern in patterns:
        body = pattern.strip().strip("/")
        if body and not pattern.startswith(("!", "#")) and not re.search(r"[*?\[\\]", body):
            yield body


def iterate_prefixes(patterns: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """For each pattern that adds, the leading names any match must begin with; () when it may match anywhere."""
    for pattern in patterns:
        body = pattern.strip()
        if not body or body.startswith(("!", "#")):
            continue
        if "/" not in body.rstrip("/"):
            yield ()
            continue
        names: list[str] = []
        for part in body.strip("/").split("/"):
            if re.search(r"[*?\[\\]", part):
                break
            names.append(part)
        yield tuple(names)
