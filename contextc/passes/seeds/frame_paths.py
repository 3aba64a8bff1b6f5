"""Paths in a traceback to files of the repository. In: the analysed paths. Out: those a frame's path can mean.

`PathIndex(["src/app.py"]).find("/srv/build/src/app.py")` is `("src/app.py",)`: the longest common end decides. A path
of Python's own library, or of an installed package of another name, means none.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

_INSTALLED = re.compile(r"/(?:site|dist)-packages/")
_LIBRARY = re.compile(r"/lib(?:64)?/(?:python|pypy)3(?:\.[0-9]+)?t?/|/Lib/(?!site-packages/)|\.(?:egg|zip)/")


class PathIndex:
    """The analysed files by name. `root`: the repository's absolute path, POSIX; empty where it isn't known."""

    def __init__(self, paths: Iterable[str], root: str = "") -> None:
        self._root = root.rstrip("/")
        self._by_name: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        self._known = frozenset(paths)
        for path in sorted(self._known):
            parts = tuple(path.split("/"))
            self._by_name[parts[-1]].append(parts)

    def find(self, written: str) -> tuple[str, ...]:
        """The paths it can mean, sorted: one where that is clear, none for a file outside."""
        path = _normal(written)
        if self._root and path.startswith(f"{self._root}/"):
            inside = path[len(self._root) + 1 :]
            return (inside,) if inside in self._known else ()
        if path in self._known:
            return (path,)
        installed = _INSTALLED.split(path)
        if len(installed) > 1:
            return self._whole_ends(installed[-1])
        if _LIBRARY.search(path):
            return ()
        found = self._longest(path)
        if not found and " " in path:  # a log's words before the path
            return self.find(path.rpartition(" ")[2])
        return found

    def is_whole(self, known: str, written: str) -> bool:
        """Whether one of the two is all of the other's end. A bare file name at the end of an absolute path is too
        little: many folders have a `main.py`."""
        path = _normal(written)
        if path.startswith("/"):
            return ("/" in known and path.endswith(f"/{known}")) or path == f"{self._root}/{known}"
        return f"/{path}".endswith(f"/{known}") or f"/{known}".endswith(f"/{path}")

    def _whole_ends(self, path: str) -> tuple[str, ...]:
        """A file of an installed package: one of the repository's only with the whole path, its `src` apart."""
        parts = tuple(path.split("/"))
        known = self._by_name.get(parts[-1], ())
        found = [p for p in known if p == parts or (p[-len(parts) :] == parts and len(parts) > 1)]
        return tuple("/".join(p) for p in found)

    def _longest(self, path: str) -> tuple[str, ...]:
        parts = tuple(part for part in path.split("/") if part)
        best: list[tuple[str, ...]] = []
        longest = 0
        for known in self._by_name.get(parts[-1], ()) if parts else ():
            common = _common_end(parts, known)
            if common > longest:
                best, longest = [known], common
            elif common == longest:
                best.append(known)
        return tuple("/".join(known) for known in best)


def _normal(written: str) -> str:
    path = written.strip().replace("\\", "/")
    path = re.sub(r"^[A-Za-z]:(?=/)", "", path)
    while path.startswith("./"):
        path = path[2:]
    return re.sub(r"/(?:\./)+", "/", path)


def _common_end(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    common = 0
    for a, b in zip(reversed(first), reversed(second), strict=False):
        if a != b:
            break
        common += 1
    return common
