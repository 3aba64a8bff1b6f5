"""What was seen while the program ran: tables that both backends fill and `rows` reads.

In: events. Out: by (site, callee) an `Edge`, by (site, callable) a `Call`. A site is (id of a code object, offset of an
instruction); code objects are kept, so an id stays theirs.

    observed.add_edge((id(caller), 24, id(callee)), "explicit").count += 1

Nothing here runs code of the program: attributes are read past its own `__getattribute__`.
"""

from __future__ import annotations

import os
import site
import sysconfig
from collections.abc import Iterable
from types import CodeType

from .syntax import Syntax

EdgeKey = tuple[int, int, int]  # id of the caller's code, offset, id of the callee's code
CallKey = tuple[object, ...]  # id of the caller's code, offset, what is called

LIBRARY, RECORDED, OWN, GENERATED = range(4)  # OWN: neither recorded nor a library: the user's tests and scripts
_FAULTS_KEPT = 50


class Edge:
    """`by_call`: counted where the call is made, not where the callee starts."""

    __slots__ = ("by_call", "count", "kind", "sub")

    def __init__(self, kind: str, sub: str, by_call: bool) -> None:
        self.kind, self.sub, self.by_call = kind, sub, by_call
        self.count = 0


class Call:
    """Calls of one callable at one site. `others`: ids of the functions seen there, where one code object may wrap
    different functions (the closures of one decorator); None where it can't."""

    __slots__ = ("count", "edge", "others")

    def __init__(self) -> None:
        self.count = 0
        self.edge: Edge | None = None
        self.others: set[int] | None = None


class Observed:
    """The tables of one run."""

    def __init__(self, root: str, files: Iterable[str]) -> None:
        own_folder = os.path.dirname(os.path.abspath(__file__)) + os.sep
        self.root = root
        self.cwd = os.getcwd()
        self.paths = {_norm(os.path.join(root, *path.split("/"))): path for path in files}
        self.paths = {full: path for full, path in self.paths.items() if not full.startswith(_norm(own_folder))}
        self.libraries = _library_folders()
        self.origin: dict[int, int] = {}  # of a code object
        self.codes: dict[int, CodeType] = {}
        self.calls: dict[CallKey, Call] = {}
        self.edges: dict[EdgeKey, Edge] = {}
        self.started: dict[int, int] = {}
        self.lines: dict[int, set[int]] = {}
        self.classes_at: dict[tuple[int, int], set[str]] = {}  # instantiated at a site, "module:qualname"
        self.external: dict[CallKey, str] = {}  # names of callables that are no recorded function
        self.main_module = "__main__"  # the name under which the program's own module would be imported
        self.faults: list[str] = []
        self.fault_count = 0
        self._origin_of_file: dict[str, int] = {}
        self._full: dict[str, str] = {}
        self._syntax: dict[str, Syntax] = {}

    def classify(self, code: CodeType) -> int:
        """LIBRARY, RECORDED, OWN or GENERATED; asked once for each code object, then in `origin`."""
        name = code.co_filename
        found = self._origin_of_file.get(name)
        if found is None:
            found = self._origin_of_file[name] = self._classify_file(name)
        self.codes[id(code)] = code
        self.origin[id(code)] = found
        return found

    def origin_of(self, code: CodeType) -> int:
        """`classify`, remembered."""
        found = self.origin.get(id(code))
        return self.classify(code) if found is None else found

    def _classify_file(self, name: str) -> int:
        if name.startswith("<"):
            return LIBRARY if name.startswith("<frozen") else GENERATED
        full = self.full_path(name)
        if full in self.paths:
            return RECORDED
        return LIBRARY if self._library_path(full) is not None else OWN

    def full_path(self, name: str) -> str:
        """The real path of a code object's file. A relative name is taken from where the program was started."""
        if name not in self._full:
            self._full[name] = _norm(os.path.join(self.cwd, name))
        return self._full[name]

    def path_of(self, code: CodeType) -> str:
        """The path of recorded code, relative to the root."""
        return self.paths[self.full_path(code.co_filename)]

    def syntax_of(self, code: CodeType) -> Syntax:
        """The index of a recorded code object's file, as it is on the disk when first asked for."""
        full = self.full_path(code.co_filename)
        if full not in self._syntax:
            try:
                with open(full, "rb") as file:
                    source = file.read()
            except OSError:
                source = b""
            self._syntax[full] = Syntax(source)
        return self._syntax[full]

    def name_foreign(self, code: CodeType, qualname: str) -> str:
        """`py:json/decoder.py:loads` for a library's function, `py:tests:/tests/test_a.py:…` for the user's own code
        that is not recorded. No absolute path."""
        name = code.co_filename
        if name.startswith("<"):
            return f"py:{name}:{qualname}"
        full = self.full_path(name)
        inside = self._library_path(full)
        if inside is not None:
            return f"py:{inside}:{qualname}"
        for folder in (self.root, self.cwd):
            start = _norm(folder).rstrip(os.sep) + os.sep
            if full.startswith(start):
                return f"py:tests:/{full[len(start) :].replace(os.sep, '/')}:{qualname}"
        return f"py:tests:/{os.path.basename(full)}:{qualname}"

    def _library_path(self, full: str) -> str | None:
        for mark in (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep):
            _, found, inside = full.rpartition(mark)
            if found:
                return inside.replace(os.sep, "/")
        for folder in self.libraries:
            if full.startswith(folder):
                return full[len(folder) :].replace(os.sep, "/")
        return None

    def add_edge(self, key: EdgeKey, kind: str, sub: str = "", by_call: bool = False) -> Edge:
        """The edge of a key, made if it is new. What a CALL event says outdoes what was concluded before."""
        edge = self.edges.get(key)
        if edge is None:
            edge = self.edges[key] = Edge(kind, sub, by_call)
        elif by_call and not edge.by_call:
            edge.kind, edge.sub, edge.by_call = kind, sub, True
        return edge

    def add_up_calls(self) -> None:
        """Gives edges that are counted at their call that count. Once, when recording has ended."""
        for call in list(self.calls.values()):
            if call.edge is not None:
                call.edge.count += call.count

    def note_fault(self, code: CodeType, fault: Exception) -> None:
        """An event that could not be recorded."""
        where = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
        self.note_loss(f"{where} {code.co_name}: {type(fault).__name__}")

    def note_loss(self, message: str) -> None:
        """Something that could not be recorded, in words without an absolute path."""
        self.fault_count += 1
        if len(self.faults) < _FAULTS_KEPT:
            self.faults.append(message)


def _norm(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))


def _library_folders() -> tuple[str, ...]:
    """Of the standard library and of installed packages; the longest first, since site-packages lies in the other."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {sysconfig.get_path(name) for name in names} | {os.path.dirname(os.__file__)}
    if hasattr(site, "getsitepackages"):
        folders |= {*site.getsitepackages(), site.getusersitepackages()}
    ends = {_norm(folder).rstrip(os.sep) + os.sep for folder in folders if folder}
    return tuple(sorted(ends, key=lambda folder: (-len(folder), folder)))
