"""Module names: from paths to dotted names and unique ids, and from an import back to the file.

In: the tree and the places that projects declare. Out: `ModuleFile`s, and `ModuleIndex.find`.

    src/pkg/mod.py with the source root "src"  ->  ModuleFile("src/pkg/mod.py", "pkg.mod", "pkg.mod", "src", …)

The rule of names. A file is named by its path below the deepest source root that holds it: `src/pkg/mod.py` is
`pkg.mod`, and `tests/test_x.py` below the plain root is `tests.test_x`, with or without an `__init__.py`, since a
folder without one is a namespace package. Source roots are the analysed root, each folder with project metadata, its
`src` folder, and what the metadata declares; a folder that holds an `__init__.py` is a package and no source root. If
the analysed root itself is a package (…/src/flask), names begin with its own name, and those of the packages around it.

The rule of ids. `module_id` is the module's name, with these marks where one name would mean several files:
`@services/a/src` (the source root, `@.` for the analysed root) where two roots hold the name; `@stub` for a .pyi
beside a .py of the same name; `@shadowed` for `mod.py` beside the package `mod/`, which Python finds first. A
notebook's name ends in `@notebook`: no import can mean it. In a name, characters that would be read as something else
(`.`, `:`, `@`, `#`, `%`, `/`) are percent-encoded, so that `foo.bar.py` is `foo%2Ebar`, which no import statement can
mean.

The rule of search. One file can have several names: the folder of a script is on `sys.path`, test runners add the
folder above the outermost package. `ModuleIndex` therefore searches folders, as Python does. `find` looks where the
importer surely finds its own: its source root, then the folder above its outermost package (its own folder for a file
in no package). What the standard library or the environment knows comes next, and is the caller's business: a
`logging.py` in some example's folder is not the `logging` of the whole repository. `find_in_roots` looks in the other
source roots, and last comes `find_elsewhere`: the importer's own folder, the folders above other outermost packages.

Below its first name an import stays in the package that was found, as in Python: `pkg.x` is absent when the `pkg` that
comes first has no `x`, whatever another `pkg` has. Only a package that extends its `__path__` lets the search go on.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.metadata import Place
from contextc.analyzer.tree import Tree
from contextc.model.analysis import ModuleFile

_RESERVED = re.compile(r"[%.:@#/\s]")
_CANDIDATES = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")


class Found(NamedTuple):
    """What a dotted name means. A namespace package has no file of its own; it may span several folders."""

    file: ModuleFile | None
    folders: tuple[str, ...]  # where submodules lie; empty for a plain module


MISSING = Found(None, ())  # surely nothing: the package that it would lie in was found, and lacks it


def name_root_package(root: Path) -> str:
    """The dotted name of `root` if it is a package, "" if not. Looks only whether `__init__.py` exists, upwards."""
    folder = Path(os.path.abspath(root))  # noqa: PTH100 - the name of a link, not of where it leads
    names: list[str] = []
    while folder.name and any((folder / f"__init__{suffix}").exists() for suffix in (".py", ".pyi")):
        names.append(_encode(folder.name))
        folder = folder.parent
    return ".".join(reversed(names))


def choose_roots(tree: Tree, declared: Iterable[Place], root_package: str) -> tuple[Place, ...]:
    """The source roots that name files, sorted: those declared and `src` folders, as far as they exist."""
    places = {Place("", root_package)}
    for place in declared:
        candidates = [place]
        if not place.prefix:
            candidates.append(Place(posixpath.join(place.folder, "src"), ""))
        for folder, prefix in candidates:
            # A prefix is declared for a package's own folder; without one a package is named from further up.
            if folder in tree.folders and folder and (prefix or folder not in tree.packages):
                places.add(Place(folder, _encode_dotted(prefix)))
    return tuple(sorted(places))


def choose_base_roots(tree: Tree) -> tuple[Place, ...]:
    """`src` of the analysed root counts even without any metadata."""
    return (Place("", ""),) if "src" in tree.folders else ()


def name_files(tree: Tree, roots: Iterable[Place]) -> tuple[ModuleFile, ...]:
    """All files of the tree by path, named by the rules above."""
    by_folder = _place_by_folder(roots)
    deepest: dict[str, Place] = {}
    drafts: list[ModuleFile] = []
    for path in tree.files:
        folder = posixpath.dirname(path)
        if folder not in deepest:
            deepest[folder] = next(by_folder[above] for above in _iterate_upwards(folder) if above in by_folder)
        drafts.append(_name_file(path, deepest[folder]))
    return tuple(_make_unique(drafts))


def _place_by_folder(roots: Iterable[Place]) -> dict[str, Place]:
    """One place per folder: a plain root before one with a prefix, which only a package-dir entry gives."""
    by_folder: dict[str, Place] = {}
    for place in sorted(roots):
        by_folder.setdefault(place.folder, place)
    return by_folder


def _iterate_upwards(folder: str) -> Iterable[str]:
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _shared_length(one: str, other: str) -> int:
    """How many folders two paths begin with alike."""
    return len(posixpath.commonpath([f"/{one}", f"/{other}"]).split("/")) if one else 0


def _name_file(path: str, place: Place) -> ModuleFile:
    below = path[len(place.folder) + 1 :] if place.folder else path
    stem, suffix = posixpath.splitext(below)
    names = [_encode(name) for name in stem.split("/")]
    is_package = names[-1] == "__init__" and suffix != ".ipynb"
    if is_package:
        names.pop()
    if suffix == ".ipynb":
        names[-1] += "@notebook"
    module = ".".join([place.prefix] * bool(place.prefix) + names) or "__init__"
    return ModuleFile(path, module, module, place.folder, is_package, suffix == ".pyi")


def _make_unique(drafts: Iterable[ModuleFile]) -> Iterable[ModuleFile]:
    by_module: defaultdict[str, list[ModuleFile]] = defaultdict(list)
    for draft in drafts:
        by_module[draft.module].append(draft)
    named: list[ModuleFile] = []
    for module, group in by_module.items():
        many_roots = len({file.root for file in group}) > 1
        taken: set[str] = set()
        # Within a root: sources before stubs, packages before plain modules, as Python finds them.
        for file in sorted(group, key=lambda f: (f.root, f.is_stub, not f.is_package, f.path)):
            identity = f"{module}@{_encode_root(file.root)}" if many_roots else module
            if identity in taken and file.is_stub:
                identity += "@stub"
            if identity in taken:
                identity += "@shadowed"
            taken.add(identity)
            named.append(file._replace(module_id=identity))
    return sorted(named)


def _encode(name: str) -> str:
    return _RESERVED.sub(lambda match: f"%{ord(match.group()):02X}", name)


def _encode_dotted(name: str) -> str:
    return ".".join(map(_encode, name.split(".")))


def _encode_root(folder: str) -> str:
    return re.sub(r"[%:@#\s]", lambda match: f"%{ord(match.group()):02X}", folder) or "."


class ModuleIndex:
    """From an import to the file it means. Built once; each look-up is a few dictionary reads per source root."""

    def __init__(
        self,
        files: Iterable[ModuleFile],
        roots: Iterable[Place],
        packages: Iterable[str],
        links: Iterable[tuple[str, str]] = (),
        extended: Iterable[str] = (),
    ) -> None:
        """`packages`: folders with an `__init__`, listed or not; `links`: symbolic links inside the root; `extended`:
        paths of `__init__` files that set their `__path__`."""
        self._files: Mapping[str, ModuleFile] = {file.path: file for file in files}
        self._links = dict(links)
        self._packages = frozenset(packages)
        self._extended = frozenset(extended)
        self._roots = tuple(sorted(roots))
        self._folders = {above for path in self._files for above in _iterate_upwards(posixpath.dirname(path))}
        self._prefix = {place.folder: place for place in self._roots}
        bases = {base for path in self._files if (base := self._base_of(path)) is not None}
        self._bases = tuple(Place(base, "") for base in sorted(bases))
        self._children = self._list_children()
        self._spaces = self._list_spaces()

    def find(self, importer: ModuleFile, name: str) -> Found | None:
        """What the absolute dotted `name` means in `importer`, before the standard library is asked; None: nothing.
        A regular module or package comes before namespace folders (PEP 420), an installed one as well."""
        return self._find_below(self._own_places(importer), name)

    def find_in_roots(self, importer: ModuleFile, name: str) -> Found | None:
        """What `name` means in the source roots that are not the importer's."""
        own = self._own_places(importer)
        return self._find_below([place for place in self._roots if place not in own], name)

    def find_elsewhere(self, importer: ModuleFile, name: str) -> Found | None:
        """What `name` can mean in the rest of the project, when none of the above, nor any library, knows it."""
        known = {*self._own_places(importer), *self._roots}
        rest = dict.fromkeys([Place("", ""), Place(posixpath.dirname(importer.path), ""), *self._bases])
        return self._find_below([place for place in rest if place not in known], name)

    def find_assumed(self, importer: ModuleFile, name: str) -> tuple[Found, tuple[str, ...]] | None:
        """What a dotted `name` that nothing answers means below a folder that no metadata calls a source root, and
        those folders: packages without `__init__` (PEP 420) lie there. Of several files the nearest to the importer;
        nothing where that does not decide."""
        names = name.split(".")
        places = [folder for folder in self._spaces.get(names[0], ()) if folder not in self._prefix]
        found = {folder: item for folder in places if (item := self._descend(folder, names)) not in (None, MISSING)}
        files = [folder for folder, item in found.items() if item is not None and item.file is not None]
        if files:
            near = {folder: _shared_length(folder, posixpath.dirname(importer.path)) for folder in files}
            best = [folder for folder in files if near[folder] == max(near.values())]
            item = found[best[0]]
            return (item, (best[0],)) if len(best) == 1 and item is not None else None
        folders = tuple(dict.fromkeys(part for item in found.values() if item is not None for part in item.folders))
        return (Found(None, folders), tuple(found)) if folders else None

    def find_inside(self, folders: Iterable[str], name: str) -> Found | None:
        """What `name`, relative to a package, means in that package's folders."""
        return self._find_below([Place(folder, "") for folder in folders], name)

    def list_inside(self, folders: Iterable[str]) -> list[str]:
        """The names of what can be imported from directly inside the folders, sorted."""
        return sorted({name for folder in folders for name in self._children.get(folder, ())})

    def _find_below(self, places: Iterable[Place], name: str) -> Found | None:
        spaces: list[str] = []
        for place in places:
            names = name.split(".")
            prefix = place.prefix.split(".") if place.prefix else []
            if names[: len(prefix)] != prefix:
                continue
            found = self._descend(place.folder, names[len(prefix) :])
            if found is None:
                continue
            if not found.folders or found.file is not None:
                return Found(None, tuple(spaces)) if found == MISSING and spaces else found
            spaces += [folder for folder in found.folders if folder not in spaces]
        return Found(None, tuple(spaces)) if spaces else None

    def _descend(self, folder: str, names: Sequence[str]) -> Found | None:
        """What `names`, one below the other, mean from a folder on; links on the way are followed."""
        path = folder
        file = self._file_at(path) if not names else None
        if not names and file is None and path not in self._folders:
            return None
        closed = False  # whether a package was passed that holds all its submodules
        for number, part in enumerate(names, 1):
            path = f"{path}/{part}" if path else part
            path = self._links.get(path, path)
            file = self._file_at(path)
            if file is None and path not in self._folders:
                return MISSING if closed else None
            if file is not None and number < len(names):
                if not file.is_package:
                    return MISSING
                path = posixpath.dirname(file.path)
                closed = file.path not in self._extended
        if file is None:
            return Found(None, (path,))
        return Found(file, (posixpath.dirname(file.path),) if file.is_package else ())

    def _file_at(self, path: str) -> ModuleFile | None:
        """The module or package whose path without its ending this is."""
        for ending in _CANDIDATES:
            candidate = (path + ending).removeprefix("/")  # below the analysed root the path is ""
            file = self._files.get(self._links.get(candidate, candidate))
            if file is not None:
                return file
        return None

    def _list_children(self) -> dict[str, set[str]]:
        """By folder, the names of modules and packages directly in it."""
        children: defaultdict[str, set[str]] = defaultdict(set)
        for path in [*(path for path in self._files if not path.endswith(".ipynb")), *self._links]:
            stem, name = posixpath.splitext(path)[0], ""
            while stem:
                stem, name = posixpath.split(stem)
                if name != "__init__":
                    children[stem].add(name)
        return dict(children)

    def _list_spaces(self) -> dict[str, list[str]]:
        """By name, the folders outside of packages that hold a folder of that name without `__init__`, sorted."""
        spaces: defaultdict[str, list[str]] = defaultdict(list)
        for folder in sorted(self._folders - {""}):
            above, name = posixpath.split(folder)
            if above and folder not in self._packages and self._packages.isdisjoint(_iterate_upwards(above)):
                spaces[name].append(above)
        return dict(spaces)

    def _own_places(self, importer: ModuleFile) -> list[Place]:
        own = self._prefix.get(importer.root, Place(importer.root, ""))
        base = self._base_of(importer.path)
        return [own] if base is None else [own, Place(base, "")]

    def _base_of(self, path: str) -> str | None:
        """The folder above the outermost package of `path`; None if that lies above the analysed root."""
        folder = posixpath.dirname(path)
        while folder in self._packages:
            if not folder:
                return None
            folder = posixpath.dirname(folder)
        return folder
