"""The linked program: modules and definitions by id, and where an import leads.

In: facts of the repository's files, and a loader for stub modules. Out: `ModuleInfo`s and `Definition`s with unique
ids. Stub modules are loaded when first asked for; their ids start with `~`, so that a repository module named `typing`
and typeshed's never meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from contextc.model.analysis import ModuleFile
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.span import LineIndex, Position, Span
from contextc.model.value import Interner

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
    """A module. `origin`: repository, typeshed, environment, namespace."""

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
    branches; the repository's are decided where every version from `oldest` to `newest` agrees."""

    def __init__(
        self,
        files: Sequence[tuple[ModuleFile, ModuleFacts, bytes]],
        load_stub: StubLoader,
        python: tuple[int, int],
        platform: str,
        oldest: tuple[int, int] = (3, 0),
        newest: tuple[int, int] = (3, 99),
    ) -> None:
        self.interner = Interner()
        self.python = python
        self.platform = platform
        self.oldest = oldest
        self.newest = newest
        self._load_stub = load_stub
        self.modules: dict[str, ModuleInfo] = {}
        self.definitions: dict[str, Definition] = {}
        self._by_name: dict[str, list[ModuleInfo]] = {}
        self._stubs: dict[str, ModuleInfo | None] = {}
        self.repository: list[ModuleInfo] = []
        for file, facts, text in files:
            module = ModuleInfo(file.module, file.module_id, file.path, file.root, file.is_package, facts, "repository")
            module.lines = LineIndex(text)
            self._add(module)
            self.repository.append(module)
            if not file.is_stub or file.module not in self._by_name:
                self._by_name.setdefault(file.module, []).append(module)
        self._prefer_sources(files)
        self._add_namespaces()
        order = 0
        for module in self.repository:
            for definition in module.definitions:
                definition.order = order
                order += 1

    def _add(self, module: ModuleInfo) -> None:
        self.modules[module.module_id] = module
        for definition in module.definitions:
            self.definitions[definition.id] = definition

    def _prefer_sources(self, files: Sequence[tuple[ModuleFile, ModuleFacts, bytes]]) -> None:
        """Where a `.py` and a `.pyi` share a name, an import means the source."""
        stubs = {file.module_id for file, _, _ in files if file.is_stub}
        for name, modules in self._by_name.items():
            sources = [m for m in modules if m.module_id not in stubs]
            if sources:
                self._by_name[name] = sources

    def _add_namespaces(self) -> None:
        """Folders without `__init__` that hold modules are packages too (PEP 420)."""
        for name in sorted(self._by_name):
            parts = name.split(".")
            for end in range(1, len(parts)):
                package = ".".join(parts[:end])
                if package not in self._by_name:
                    module = ModuleInfo(package, f"{package}/", "", "", True, EMPTY_FACTS, "namespace")
                    self.modules[module.module_id] = module
                    self.definitions[module.body.id] = module.body
                    self._by_name[package] = [module]

    def find_module(self, name: str, importer: ModuleInfo | None) -> ModuleInfo | None:
        """The module that `import name` means in `importer`: the repository's (its own source root first), then stubs.

        A stub never means a repository module.
        """
        if importer is None or importer.origin in ("repository", "namespace"):
            found = self._find_in_repository(name, importer)
            if found is not None:
                return found
        return self.find_stub(name)

    def _find_in_repository(self, name: str, importer: ModuleInfo | None) -> ModuleInfo | None:
        candidates = self._by_name.get(name)
        if candidates:
            if importer is not None and len(candidates) > 1:
                for module in candidates:
                    if module.root == importer.root:
                        return module
            return candidates[0]
        if importer is not None and "." in importer.name and not importer.is_package:
            sibling = f"{importer.name.rpartition('.')[0]}.{name}"
            beside = self._by_name.get(sibling)
            parent = self._by_name.get(importer.name.rpartition(".")[0])
            if beside and parent and parent[0].origin == "namespace" and self.find_stub(name) is None:
                return beside[0]
        return None

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
        lead = f"{package.name}."
        return sorted(
            name[len(lead) :]
            for name in self._by_name
            if name.startswith(lead + prefix) and "." not in name[len(lead) :]
        )

    def module_names(self) -> list[str]:
        """Dotted names of the repository's modules and namespace packages, sorted."""
        return sorted(self._by_name)

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
