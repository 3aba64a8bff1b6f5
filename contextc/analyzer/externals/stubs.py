"""Where the text of an outside module lies: typeshed for the standard library, else the declared environment.

In: a dotted module name. Out: the file to read, or None. `StubLibrary().locate("os.path")` is
`StubFile("os.path", …/typeshed/os/path.pyi, False, "typeshed")`.

The order is that of the typing specification ("Import resolution ordering"), without its first two steps, which are
the repository's own: typeshed's standard library, `name-stubs` packages, then `.pyi` before `.py` in the package.
Where a stub package lacks a module, the package's own is taken, whatever its `py.typed` says: inference gains from
knowing more, and the origin says which it was.

Typeshed is the copy that `typeshed_client` ships, asked for an explicit version with an empty search path: the host's
interpreter and site-packages play no part.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from contextc.analyzer.externals.environment import Environment, Version
from contextc.analyzer.externals.lookup import (
    Found,
    find_file,
    find_module,
    list_modules,
    real_inside,
    split_name,
)
from contextc.analyzer.source import Source, read_source

if TYPE_CHECKING:
    from typeshed_client import SearchContext

DEFAULT_PYTHON: Version = (3, 12)
DEFAULT_PLATFORM = "linux"

_STUB_ONLY = (".pyi",)
_STUB_FIRST = (".pyi", ".py")


class StubFile(NamedTuple):
    """A module outside the repository. `path` is real; `origin` is "typeshed", "environment-stub" (a `.pyi` of the
    environment) or "environment-source" (a `.py`)."""

    module: str
    path: Path
    is_package: bool
    origin: str


class StubLibrary:
    """Finds and reads outside modules for one target Python version, platform and environment.

    `oldest` is the first version that the program supports: a module of the standard library that went between that
    and `python` (`distutils`, `imp`) is found as it last was.
    """

    def __init__(self, python: Version = DEFAULT_PYTHON, platform: str = DEFAULT_PLATFORM,
                 environment: Environment | None = None, oldest: Version | None = None) -> None:  # fmt: skip
        self.python = python
        self.oldest = min(oldest or python, python)
        self.platform = platform
        self.environment = environment
        self._located: dict[str, StubFile | None] = {}

    def locate(self, module: str) -> StubFile | None:
        """The file of a module by dotted name. None for a missing one, a namespace package, or no valid name."""
        if module not in self._located:
            parts = split_name(module)
            self._located[module] = self._search(module, parts) if parts else None
        return self._located[module]

    def children(self, module: str) -> tuple[str, ...]:
        """The dotted names of a package's direct submodules, sorted; namespace packages among them."""
        parts = split_name(module)
        if parts is None:
            return ()
        stub = self.locate(module)
        if stub is not None and stub.origin == "typeshed":
            names = list_modules((stub.path.parent,), _STUB_ONLY) if stub.is_package else set()
        else:
            folders = [folder for found in self._search_environment(parts) for folder in found.folders]
            names = list_modules(folders, _STUB_FIRST)
        dotted = (f"{module}.{name}" for name in names)
        return tuple(sorted(name for name in dotted if self.locate(name) or self._search_environment(name.split("."))))

    def is_stdlib(self, module: str) -> bool:
        """Whether the name belongs to the standard library of a supported version, by typeshed's VERSIONS."""
        return self._find_version(module) is not None

    def _find_version(self, module: str) -> Version | None:
        """The latest supported version whose standard library has the module.

        A submodule that VERSIONS doesn't list shares the lifetime of its nearest listed parent.
        """
        parts = split_name(module)
        if parts is None or parts[0] not in self._lifetimes:
            return None
        version = self.python
        for length in range(1, len(parts) + 1):
            first, last = self._lifetimes.get(".".join(parts[:length]), (self.oldest, None))
            if first > self.python or (last is not None and last < self.oldest):
                return None
            version = min(version, last or version)
        return version

    def read_text(self, stub: StubFile) -> bytes | None:
        """The file as normalised UTF-8, or None where it is too large, can't be decoded or can't be read."""
        source = read_source(stub.path.parent, stub.path.name)
        return source.text if isinstance(source, Source) else None

    def external_text(self, module: str) -> bytes | None:
        """`read_text` of `locate`; None where either fails."""
        stub = self.locate(module)
        return self.read_text(stub) if stub is not None else None

    def _search(self, module: str, parts: tuple[str, ...]) -> StubFile | None:
        version = self._find_version(module)
        if version is not None:
            return self._search_typeshed(module, version)
        for found in self._search_environment(parts):
            if found.file is not None:
                origin = "environment-stub" if found.file.suffix == ".pyi" else "environment-source"
                return StubFile(module, found.file, found.is_package, origin)
        return None

    def _search_typeshed(self, module: str, version: Version) -> StubFile | None:
        from typeshed_client import get_stub_file

        path = get_stub_file(module, search_context=self._typeshed._replace(version=version))
        real = find_file(path, (self._typeshed_root,)) if path is not None else None
        return StubFile(module, real, real.name == "__init__.pyi", "typeshed") if real is not None else None

    def _search_environment(self, parts: tuple[str, ...] | list[str]) -> list[Found]:
        """What the environment has under this name: its stub package first, then the package itself."""
        if self.environment is None:
            return []
        roots = (self.environment.root,)
        folders = self.environment.search_path
        stubs = [folder / f"{parts[0]}-stubs" for folder in folders]
        stubs = [folder for folder in stubs if real_inside(folder, roots)]
        found: list[Found] = []
        if stubs:
            found += self._search_stub_package(stubs, tuple(parts[1:]), roots)
        inline = find_module(folders, parts, _STUB_FIRST, roots)
        return [*found, inline] if inline is not None else found

    def _search_stub_package(self, stubs: list[Path], rest: tuple[str, ...], roots: tuple[Path, ...]) -> list[Found]:
        if not rest:
            init = find_file(stubs[0] / "__init__.pyi", roots)
            return [Found(init, True, tuple(stubs))]
        found = find_module(stubs, rest, _STUB_ONLY, roots)
        return [found] if found is not None else []

    @cached_property
    def _typeshed(self) -> SearchContext:
        from typeshed_client import get_search_context

        return get_search_context(search_path=[], version=self.python, platform=self.platform)

    @cached_property
    def _typeshed_root(self) -> Path:
        return self._typeshed.typeshed.resolve()

    @cached_property
    def _lifetimes(self) -> dict[str, tuple[Version, Version | None]]:
        """Dotted name → first and last Python version, from typeshed's VERSIONS."""
        from typeshed_client.finder import get_typeshed_versions

        versions = get_typeshed_versions(self._typeshed.typeshed)
        return {name: (data.min, data.max) for name, data in versions.items()}
