"""The linked program: modules and definitions by id, and where an import leads.

In: facts of the repository's files, and a loader for stub modules. Out: `ModuleInfo`s and `Definition`s with unique
ids. Stub modules are loaded when first asked for; their ids start with `~`, so that a repository module named `typing`
and typeshed's never meet.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from contextc.analyzer.modules import MISSING, Found, ModuleIndex
from contextc.model import ir
from contextc.model.analysis import ModuleFile
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.interner import Interner
from contextc.model.span import LineIndex, Position, Span
from contextc.model.traverse import iter_nodes

FUNCTION_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.LAMBDA)
EMPTY_FACTS = ModuleFacts(
    (
        SymbolFacts(
            SymbolKind.MODULE, "<module>", "<module>", "<module>", -1, Span(0, 0), Span(0, 0), None, 0, False, False,
            (), (), (), None, (), (), (), (), (), (), 0,
        ),
    ),
    False,
    (),
    "none",
)  # fmt: skip


class Definition:
    """A symbol of the program. `order` is its place in a fixed order of all repository symbols."""

    __slots__ = ("children", "facts", "id", "index", "kind", "module", "name", "order", "parent")

    def __init__(self, module: ModuleInfo, index: int, facts: SymbolFacts, parent: Definition | None) -> None:
        self.module = module
        self.index = index
        self.facts = facts
        self.kind = facts.kind
        self.name = facts.name
        self.id = f"{module.module_id}:{facts.local_id}"
        self.parent = parent
        self.children: list[Definition] = []
        self.order = -1

    @property
    def is_function(self) -> bool:
        return self.kind in FUNCTION_KINDS

    @property
    def is_class(self) -> bool:
        return self.kind is SymbolKind.CLASS

    def enclosing_class(self) -> Definition | None:
        """The class in whose body this stands directly, or None."""
        return self.parent if self.parent is not None and self.parent.is_class else None

    def enclosing_method(self) -> Definition | None:
        """The method that this function is, or is written in."""
        at: Definition | None = self
        while at is not None and not (at.is_function and at.parent is not None and at.parent.is_class):
            at = at.parent
        return at

    def scope(self) -> Definition:
        """The nearest definition that owns code: itself, or for a variable the scope that holds it."""
        at: Definition = self
        while at.kind in (SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE) and at.parent is not None:
            at = at.parent
        return at

    def span(self, at: int) -> Span:
        """Byte offsets in the file of the node numbered `at` in this symbol."""
        base = self.facts.span.start if self.kind is not SymbolKind.MODULE else 0
        spans = self.facts.spans
        if at < 0 or 2 * at + 1 >= len(spans):
            return Span(self.facts.span.start, self.facts.span.start)
        return Span(base + spans[2 * at], base + spans[2 * at + 1])


class ModuleInfo:
    """A module. `origin`: repository, typeshed, environment, namespace, or unread: a file that could not be read."""

    __slots__ = ("definitions", "facts", "is_package", "lines", "module_id", "name", "origin", "path", "root")

    def __init__(
        self, name: str, module_id: str, path: str, root: str, is_package: bool, facts: ModuleFacts, origin: str
    ) -> None:
        self.name = name
        self.module_id = module_id
        self.path = path
        self.root = root
        self.is_package = is_package
        self.facts = facts
        self.origin = origin
        self.lines: LineIndex | None = None
        self.definitions: list[Definition] = []
        for index, symbol in enumerate(facts.symbols):
            parent = self.definitions[symbol.parent] if symbol.parent >= 0 else None
            definition = Definition(self, index, symbol, parent)
            self.definitions.append(definition)
            if parent is not None:
                parent.children.append(definition)

    @property
    def body(self) -> Definition:
        return self.definitions[0]

    @property
    def folder(self) -> str:
        """The folder of a repository module's file."""
        return posixpath.dirname(self.path)

    @property
    def in_repository(self) -> bool:
        return self.origin == "repository"

    def position(self, offset: int) -> Position:
        """The position of a byte offset; line 1 where the text is not at hand (stubs)."""
        return self.lines.position(offset) if self.lines is not None else Position(1, 0)


class StubSource(NamedTuple):
    """A stub module as its loader hands it over."""

    facts: ModuleFacts
    is_package: bool
    origin: str  # typeshed or environment


StubLoader = Callable[[str], "StubSource | None"]


class Program:
    """All modules of one analysis. `python` and `platform` decide the stubs' `sys.version_info` and `sys.platform`
    branches; the repository's are decided where every version from `oldest` to `newest` agrees. `interner`: that of
    the program which this one follows, so that values stay the same objects."""

    def __init__(
        self,
        files: Sequence[tuple[ModuleFile, ModuleFacts, bytes]],
        index: ModuleIndex,
        load_stub: StubLoader,
        python: tuple[int, int],
        platform: str,
        oldest: tuple[int, int] = (3, 0),
        newest: tuple[int, int] = (3, 99),
        interner: Interner | None = None,
    ) -> None:
        self.interner = interner if interner is not None else Interner()
        self.python = python
        self.platform = platform
        self.oldest = oldest
        self.newest = newest
        self._index = index
        self._load_stub = load_stub
        self.modules: dict[str, ModuleInfo] = {}
        self.definitions: dict[str, Definition] = {}
        self._by_path: dict[str, ModuleInfo] = {}
        self._files: dict[str, ModuleFile] = {}  # by module_id
        self._folders: dict[str, tuple[str, ...]] = {}  # by module_id, where a package's submodules lie
        self._found: dict[tuple[str, str, str], ModuleInfo | None] = {}
        self._stubs: dict[str, ModuleInfo | None] = {}
        self._assumed: dict[str, list[str]] | None = None
        self.repository: list[ModuleInfo] = []
        order = 0
        for file, facts, text in files:
            module = ModuleInfo(file.module, file.module_id, file.path, file.root, file.is_package, facts, "repository")
            module.lines = LineIndex(text)
            self._add(module)
            self.repository.append(module)
            self._by_path[file.path] = module
            self._files[file.module_id] = file
            if file.is_package:
                self._folders[file.module_id] = (posixpath.dirname(file.path),)
            for definition in module.definitions:
                definition.order = order
                order += 1
        self._names = _list_names(file.module for file, _, _ in files)

    def _add(self, module: ModuleInfo) -> None:
        self.modules[module.module_id] = module
        for definition in module.definitions:
            self.definitions[definition.id] = definition

    def definition(self, symbol: str) -> Definition:
        """The definition of an id; a library's module is loaded for it. Raises KeyError for one that there isn't."""
        found = self.definitions.get(symbol)
        if found is None:
            if symbol.startswith("~"):
                self.find_stub(symbol[1:].partition(":")[0])
            found = self.definitions[symbol]
        return found

    def module(self, module_id: str, name: str) -> ModuleInfo:
        """The module of an id and its dotted name. Raises KeyError for one that there isn't."""
        if module_id not in self.modules and module_id.startswith("~"):
            self.find_stub(name)
        return self.modules[module_id]

    def find_module(self, name: str, importer: ModuleInfo) -> ModuleInfo | None:
        """The module that `import name` means in `importer`. A library's import never means a repository module."""
        if importer.origin not in ("repository", "namespace"):
            return self.find_stub(name) if importer.origin != "unread" else None
        # Files of one folder, named from one root, find the same.
        key = (importer.module_id if importer.origin == "namespace" else importer.root, importer.folder, name)
        if key not in self._found:
            if importer.origin == "namespace":
                self._found[key] = self._find_from_namespace(name, importer)
            else:
                self._found[key] = self._find(name, self._files[importer.module_id])
        return self._found[key]

    def assumed_roots(self) -> dict[str, list[str]]:
        """Folders that some import takes for a source root, since nothing else answers it, with what they are asked
        for: an assumption, which no metadata confirms."""
        if self._assumed is None:
            self._assumed = {}
            found: dict[str, set[str]] = {}
            asked: dict[tuple[str, str, str], ModuleInfo] = {}
            for module in self.repository:  # files of one folder, named from one root, find the same
                asked.update({(module.root, module.folder, n): module for n in _dotted_imports(module.facts)})
            for (_, _, name), module in asked.items():
                file = self._files[module.module_id]
                for root in self._assume(name, file)[1] if self._find_known(name, file) is None else ():
                    found.setdefault(root, set()).add(name)
            self._assumed = {root: sorted(names) for root, names in sorted(found.items())}
        return self._assumed

    def crosses_assumed(self, one: ModuleInfo, other: ModuleInfo) -> bool:
        """Whether a module is reached from another one through an assumed root."""
        return any(
            other.path.startswith(f"{root}/") and not one.path.startswith(f"{root}/") for root in self.assumed_roots()
        )

    def _assume(self, name: str, importer: ModuleFile) -> tuple[Found, tuple[str, ...]]:
        top = name.partition(".")[0]
        known = self._find_known(top, importer)
        if known is not None and known.origin != "namespace":
            return MISSING, ()
        return self._index.find_assumed(importer, name) or (MISSING, ())

    def _find(self, name: str, importer: ModuleFile) -> ModuleInfo | None:
        known = self._find_known(name, importer)
        if known is not None:
            return known
        if "." not in name and all(f"{name}." not in f"{n}." for names in self.assumed_roots().values() for n in names):
            return None
        found, _ = self._assume(name, importer)
        if found.file is not None:
            return self._module_of(found.file)
        return self._namespace(name, found.folders) if found.folders else None

    def _find_known(self, name: str, importer: ModuleFile) -> ModuleInfo | None:
        """Looks in the importer's own places, the standard library, the source roots, the environment, elsewhere."""
        own = self._index.find(importer, name)
        if own is not None and own.file is not None:
            return self._module_of(own.file)
        stub = self.find_stub(name)
        if own == MISSING or (stub is not None and stub.origin == "typeshed"):
            return stub
        rooted = self._index.find_in_roots(importer, name)
        if rooted is not None and rooted.file is not None:
            return self._module_of(rooted.file)
        if rooted == MISSING or stub is not None:
            return stub
        other = self._index.find_elsewhere(importer, name)
        if other is not None and other.file is not None:
            return self._module_of(other.file)
        folders = dict.fromkeys(folder for found in (own, rooted, other) if found for folder in found.folders)
        return self._namespace(name, tuple(folders)) if folders else None

    def _find_from_namespace(self, name: str, package: ModuleInfo) -> ModuleInfo | None:
        """A namespace package has no code: what is looked for from it lies inside it, or in a library's part of it."""
        if name.startswith(f"{package.name}."):
            found = self._index.find_inside(self._folders[package.module_id], name[len(package.name) + 1 :])
            if found is not None and found.file is not None:
                return self._module_of(found.file)
            if found is not None and found.folders:
                return self.find_stub(name) or self._namespace(name, found.folders)
        return self.find_stub(name)

    def _module_of(self, file: ModuleFile) -> ModuleInfo:
        """The module in a file. One that could not be read is a module all the same, of which nothing is known."""
        module = self._by_path.get(file.path)
        if module is None:
            module = ModuleInfo(
                file.module, file.module_id, file.path, file.root, file.is_package, EMPTY_FACTS, "unread"
            )
            self._add(module)
            self._by_path[file.path] = module
        return module

    def _namespace(self, name: str, folders: tuple[str, ...]) -> ModuleInfo:
        """A package without `__init__` (PEP 420), whose parts lie in `folders`."""
        module_id = f"{name}/{'+'.join(folders)}"
        if module_id not in self.modules:
            self._add(ModuleInfo(name, module_id, "", "", True, EMPTY_FACTS, "namespace"))
            self._folders[module_id] = folders
        return self.modules[module_id]

    def find_stub(self, name: str) -> ModuleInfo | None:
        """The stub (or installed source) of a library module, or None."""
        if name in self._stubs:
            return self._stubs[name]
        source = self._load_stub(name)
        module = None
        if source is not None:
            module = ModuleInfo(name, f"~{name}", "", "", source.is_package, source.facts, source.origin)
            self._add(module)
        self._stubs[name] = module
        return module

    def has_submodules(self, package: ModuleInfo, prefix: str = "") -> list[str]:
        """Names of the repository modules directly inside `package`, sorted, that start with `prefix`."""
        names = self._index.list_inside(self._folders.get(package.module_id, ()))
        return [name for name in names if name.startswith(prefix)]

    def module_names(self) -> list[str]:
        """Dotted names of the repository's modules and namespace packages, sorted."""
        return self._names

    def absolute_name(self, importer: ModuleInfo, level: int, module: str) -> str | None:
        """The dotted name that `from ..module import` means; None if it climbs out of the root (PEP 328)."""
        if level == 0:
            return module
        parts = importer.name.split(".")
        drop = level - 1 if importer.is_package else level
        if drop > len(parts) or (drop == len(parts) and not module):
            return None
        base = parts[: len(parts) - drop]
        return ".".join([*base, module] if module else base)


def _dotted_imports(facts: ModuleFacts) -> Iterator[str]:
    """Absolute dotted names that a file imports; of `from a import b` both `a` and `a.b`, which may be a module."""
    for symbol in facts.symbols:
        for node in iter_nodes(*symbol.body):
            if isinstance(node, ir.Import):
                yield from (item.name for item in node.names if "." in item.name)
            elif isinstance(node, ir.ImportFrom) and not node.level:
                yield from (f"{node.module}.{item.name}" for item in node.names if item.name != "*")
                if "." in node.module:
                    yield node.module


def _list_names(modules: Iterable[str]) -> list[str]:
    """The names and those of the packages above them, sorted."""
    names: set[str] = set()
    for name in modules:
        while name and name not in names:
            names.add(name)
            name = name.rpartition(".")[0]
    return sorted(names)
