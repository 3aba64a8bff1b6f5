"""Programs from texts, in this process: what the property tests solve.

In: texts by path. Out: a `Program`, or its resolutions. `build_program({"m.py": "def f(): f()"})` reads with
tree-sitter alone, whose facts equal libcst's, and keeps facts by text: a small program is read in less than a
millisecond. Outside modules come from typeshed, read once per process.
"""

from __future__ import annotations

import functools
import posixpath
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from contextc.analyzer.externals.stubs import StubLibrary
from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.program import Program, StubSource
from contextc.analyzer.inference.resolution import Resolved, resolve_program
from contextc.analyzer.metadata import Place
from contextc.analyzer.modules import ModuleIndex, name_files
from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter
from contextc.analyzer.tree import Tree
from contextc.model.facts import ModuleFacts
from contextc.model.interner import Interner

Files = Mapping[str, str]  # texts by path

PYTHON = (3, 12)
PLATFORM = "linux"
RECURSION = 20_000

_LIBRARY = StubLibrary(PYTHON, PLATFORM)
_ROOTS = (Place("", ""),)


@functools.lru_cache(maxsize=20_000)
def read_text(text: str) -> ModuleFacts:
    """The facts of one text."""
    return read_with_tree_sitter(text.encode("utf-8"))


@functools.cache
def load_stub(module: str) -> StubSource | None:
    """A module of the standard library."""
    stub = _LIBRARY.locate(module)
    text = _LIBRARY.read_text(stub) if stub is not None else None
    if stub is None or text is None:
        return None
    return StubSource(read_with_tree_sitter(text), stub.is_package, "typeshed")


def build_program(files: Files, interner: Interner | None = None) -> Program:
    """The program of these files. `interner`: that of the program which this one follows, whose values live on."""
    paths = tuple(sorted(files))
    folders = frozenset(posixpath.dirname(path) for path in paths)
    packages = frozenset(posixpath.dirname(path) for path in paths if posixpath.basename(path) == "__init__.py")
    named = name_files(Tree(paths, packages, folders, {}, (), (), ()), _ROOTS)
    index = ModuleIndex(named, _ROOTS, packages)
    read = tuple((file, read_text(files[file.path]), files[file.path].encode("utf-8")) for file in named)
    more: dict[str, Any] = {} if interner is None else {"interner": interner}
    return Program(read, index, load_stub, PYTHON, PLATFORM, **more)


class ScatteredInterner(Interner):
    """Values at addresses that a seed decides: sets of them are gone through in another order."""

    __slots__ = ("_between", "_random")

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)
        self._between: list[object] = []

    def _make(self, kind: type[Any], *fields: Any) -> Any:
        if (kind, *fields) not in self._made:
            self._between.extend(object.__new__(kind) for _ in range(self._random.randrange(4)))
        return super()._make(kind, *fields)


def resolve_cold(files: Files, seed: int | None = None) -> Resolved:
    """Everything from nothing. `seed`: it decides in which order units are taken from the worklist, and sets of values
    are gone through."""
    if seed is None:
        return resolve_program(Solver(build_program(files)))
    program = build_program(files, ScatteredInterner(seed))
    return resolve_program(Solver(program, order=random.Random(seed)))


@contextmanager
def allow_deep_programs() -> Iterator[None]:
    """Programs nest: as on the analysis thread, the recursion limit is no limit of ours."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
