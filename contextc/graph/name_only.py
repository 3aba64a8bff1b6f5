"""The name-only resolver: which files a target reaches when only names are compared. The baseline, kept honest.

In: the facts of every file by path. Out: files by hop, colliding names, and for each file what brought it in.
With `user.save()` in views.py, and a `save` in models.py and in orders.py, `NameIndex(facts).reach("views.py", 2)`
has both files at hop 1, `why["orders.py"] == (Cause("name", "save", "views.py"),)`, and `save` among the collisions.

The rules are those of `benchmarks/baselines/name_only_compile.py`, its blind spots included; a differential test holds
them equal. A module is its path with dots, `__init__` left off, so `src/app/x.py` is `src.app.x`. Dots in front of a
relative import are ignored, `from . import x` says nothing. An import means its longest indexed prefix. A called name
that is no builtin, starts with no `__` and is not bound by an import anywhere in the file means every file that defines
it. What doesn't parse has no definitions and leads nowhere, but can be imported.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from contextc.model import ir
from contextc.model.facts import ModuleFacts, SymbolKind
from contextc.model.traverse import iter_module

BUILTINS = frozenset(dir(builtins))  # the running interpreter's, as in the baseline
DEFINITIONS = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})


class Cause(NamedTuple):
    """Why a file came in: `kind` "import" or "name"; `name` the dotted import or the called name; `source` the file it
    stands in (the first one in path order, when several of one hop say the same)."""

    kind: str
    name: str
    source: str


class Reach(NamedTuple):
    """Every reached file once, in the order of hops, then paths; `why` has no entry for the target itself."""

    hops: dict[str, int]
    collisions: dict[str, tuple[str, ...]]  # called name → all files that define it, where there are several
    why: dict[str, tuple[Cause, ...]]  # imports before names, each sorted by name


class _Uses(NamedTuple):
    imported: tuple[str, ...]
    called: tuple[str, ...]


class NameIndex:
    """Modules by dotted path and files by the names they define. None in place of facts: a file that can't be read."""

    def __init__(self, facts: Mapping[str, ModuleFacts | None]) -> None:
        self._facts = {path: f for path, f in facts.items() if path.endswith(".py")}
        self._uses: dict[str, _Uses] = {}  # of the files asked about so far
        self.modules = _index_modules(self._facts)
        files: dict[str, set[str]] = {}
        for path in self._facts:
            readable = self._readable(path)
            for symbol in readable.symbols if readable else ():
                if symbol.kind in DEFINITIONS:
                    files.setdefault(symbol.name, set()).add(path)
        self.definitions = {name: tuple(sorted(files[name])) for name in sorted(files)}

    def _readable(self, path: str) -> ModuleFacts | None:
        facts = self._facts.get(path)
        return None if facts is None or facts.partial else facts

    def reach(self, target: str, max_hops: int) -> Reach:
        """Breadth-first over files from `target` (a path), each file once, up to `max_hops`."""
        hops, frontier = {target: 0}, [target]
        collisions: dict[str, tuple[str, ...]] = {}
        why: dict[str, tuple[Cause, ...]] = {}
        for hop in range(1, max_hops + 1):
            found: dict[str, dict[tuple[str, str], Cause]] = {}
            for source in frontier:
                for path, cause in self._leads(source, collisions):
                    if path not in hops:
                        found.setdefault(path, {}).setdefault((cause.kind, cause.name), cause)
            frontier = sorted(found)
            hops.update((path, hop) for path in frontier)
            why.update((path, tuple(sorted(found[path].values()))) for path in frontier)
        return Reach(hops, {name: collisions[name] for name in sorted(collisions)}, why)

    def _uses_in(self, path: str) -> _Uses:
        if path not in self._uses:
            facts = self._readable(path)
            self._uses[path] = _collect_uses(facts) if facts else _Uses((), ())
        return self._uses[path]

    def _leads(self, source: str, collisions: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, Cause]]:
        """The files that `source` leads to, each with its cause; notes the collisions on the way."""
        uses = self._uses_in(source)
        for dotted in uses.imported:
            module = dotted
            while module and module not in self.modules:
                module = module.rpartition(".")[0]
            if module:
                yield self.modules[module], Cause("import", dotted, source)
        for name in uses.called:
            paths = self.definitions.get(name, ())
            if len(paths) > 1:
                collisions[name] = paths
            for path in paths:
                yield path, Cause("name", name, source)


def _index_modules(paths: Mapping[str, object]) -> dict[str, str]:
    """Dotted names to paths. Of two files with one name the later counts, a folder's files before its subfolders'."""
    modules: dict[str, str] = {}
    for path in sorted(paths, key=_walk_order):
        modules[path[: -len(".py")].replace("/", ".").removesuffix(".__init__")] = path
    return modules


def _walk_order(path: str) -> tuple[tuple[bool, str], ...]:
    *folders, name = path.split("/")
    return (*((True, folder) for folder in folders), (False, name))


def _collect_uses(facts: ModuleFacts) -> _Uses:
    """Imported dotted names, and called names that neither an import of the file nor the builtins explain."""
    imported: set[str] = set()
    bound: set[str] = set()
    called: set[str] = set()
    for _, node in iter_module(facts):
        if isinstance(node, ir.Import):
            imported.update(name.name for name in node.names)
            bound.update((name.asname or name.name).partition(".")[0] for name in node.names)
        elif isinstance(node, ir.ImportFrom) and node.module:
            imported.update(f"{node.module}.{name.name}" for name in node.names)
            bound.update(name.asname or name.name for name in node.names)
        elif isinstance(node, ir.Call):
            called_name = name_called(node)
            if called_name and called_name not in BUILTINS and not called_name.startswith("__"):
                called.add(called_name)
    return _Uses(tuple(sorted(imported)), tuple(sorted(called - bound)))


def name_called(call: ir.Call) -> str | None:
    """The bare name at a call: `save` of `a.b.save()` and of `save()`; None where the callee is no name."""
    if isinstance(call.func, ir.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ir.Name) else None
