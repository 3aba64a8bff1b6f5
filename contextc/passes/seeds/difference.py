"""Two states of a tree to `Change`s. In: the old files and the present ones, as normalised text. Out: changes by line.

`compare_trees({"a.py": b"x = 1\\n"}, {"a.py": b"x = 2\\n"})` gives `Change("a.py", "changed", (1,))`. A file that is
gone and a new one of nearly the same text are one renamed file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from contextc.passes.seeds.changes import Change, Deletion

_ALIKE = 0.5  # of a renamed file's lines, as git has it
_PAIRS = 2_000  # of files compared in the search for renames


def compare_trees(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[Change, ...]:
    """The changes from `old` to `new`, by path. Line ends don't count."""
    before = {path: split_lines(text) for path, text in old.items()}
    after = {path: split_lines(text) for path, text in new.items()}
    gone = sorted(before.keys() - after.keys())
    fresh = sorted(after.keys() - before.keys())
    renamed = _match_renamed(before, gone, after, fresh)
    changes = []
    for path in sorted(after):
        origin = renamed.get(path, path)
        if origin not in before:
            changes.append(Change(path, "new"))
        elif origin != path or before[origin] != after[path]:
            change = compare_lines(path, before[origin], after[path])
            changes.append(change if origin == path else change._replace(kind="renamed", old_path=origin))
    changes += [Change(path, "deleted") for path in gone if path not in renamed.values()]
    return tuple(sorted(changes))


def split_lines(text: bytes) -> list[str]:
    """The lines of a normalised text without their ends, as Python counts lines in source."""
    return text.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def compare_lines(path: str, old: Sequence[str], new: Sequence[str]) -> Change:
    """Which lines of `new` are added or changed, and where lines of `old` are gone."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    touched: list[int] = []
    deletions: list[Deletion] = []
    matcher = difflib.SequenceMatcher(None, middle_old, middle_new, autojunk=len(middle_old) > 2_000)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            touched += range(start + j1 + 1, start + j2 + 1)
        elif tag == "delete":
            deletions.append(Deletion(start + j1, tuple(middle_old[i1:i2])))
    return Change(path, "changed", tuple(touched), tuple(deletions))


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many lines two texts have in common from their start."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def _match_renamed(
    before: Mapping[str, list[str]], gone: Sequence[str], after: Mapping[str, list[str]], fresh: Sequence[str]
) -> dict[str, str]:
    """New path → old path of renamed files: the most alike pair first, equal texts before all others."""
    pairs: list[tuple[float, str, str]] = []
    for index, (path, origin) in enumerate((path, origin) for path in fresh for origin in gone):
        if before[origin] == after[path]:
            pairs.append((-1.0, path, origin))
        elif index < _PAIRS:
            likeness = _likeness(before[origin], after[path])
            if likeness >= _ALIKE:
                pairs.append((-likeness, path, origin))
    renamed: dict[str, str] = {}
    for _, path, origin in _in_order(pairs):
        if path not in renamed and origin not in renamed.values() and any(line.strip() for line in after[path]):
            renamed[path] = origin
    return renamed


def _in_order(pairs: Sequence[tuple[float, str, str]]) -> Iterator[tuple[float, str, str]]:
    """By likeness, then equal file names before others, then by path."""
    yield from sorted(pairs, key=lambda p: (p[0], p[1].rpartition("/")[2] != p[2].rpartition("/")[2], p[1], p[2]))


def _likeness(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of lines that both have, wherever they stand: linear in their number, as git's measure is."""
    matcher = difflib.SequenceMatcher(None, first, second)
    return 0.0 if matcher.real_quick_ratio() < _ALIKE else matcher.quick_ratio()
