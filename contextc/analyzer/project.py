"""A project: its Python files with their module names, its source roots, and all that was left out.

In: a root folder and `Settings`. Out: `Project`, everything sorted, paths POSIX and relative to the root.

    discover_project(Path("proj"), load_settings(Path("proj")))
      ->  Project(files=(ModuleFile("src/app/views.py", "app.views", "app.views", "src", False, False), …), roots=("",
          "src"), skipped=(Skip(".venv/", ENVIRONMENT, "It holds pyvenv.cfg."),), …)

Nothing is imported or executed, and no file's content is read but ignore files and project metadata.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.metadata import Metadata, Place, read_metadata
from contextc.analyzer.modules import ModuleIndex, choose_base_roots, choose_roots, name_files, name_root_package
from contextc.analyzer.settings import Settings
from contextc.analyzer.tree import Tree, walk_tree
from contextc.model.analysis import ModuleFile
from contextc.model.diagnostic import Note, Skip


class Project(NamedTuple):
    """What there is to analyse. The rules of module names stand in `contextc.analyzer.modules`."""

    root: Path  # as it was given
    files: tuple[ModuleFile, ...]  # sorted by path
    roots: tuple[str, ...]  # source roots, sorted; "" is the analysed root
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]
    python: tuple[int, int] | None  # target version: the settings', else the lower bound that the project declares
    places: tuple[Place, ...]  # the source roots with the dotted prefix of what lies there
    packages: frozenset[str]  # folders that hold an __init__ file
    links: tuple[tuple[str, str], ...]  # symbolic links inside the root: (link, where it leads)

    def index_modules(self, extended: Iterable[str] = ()) -> ModuleIndex:
        """The look-up from imports to files. `extended`: paths of `__init__` files that set their `__path__`."""
        return ModuleIndex(self.files, self.places, self.packages, self.links, extended)


def discover_project(root: Path, settings: Settings) -> Project:
    """The project at `root`. Raises ConfigurationError if there is no such folder or a pattern can't be used."""
    tree = walk_tree(root, settings)
    found = {folder: read_metadata(root, folder, names) for folder, names in tree.metadata.items()}
    declared = [place for metadata in found.values() for place in metadata.places]
    places = choose_roots(tree, [*choose_base_roots(tree), *declared], name_root_package(root))
    notes = [*settings.notes, *tree.notes, *(note for metadata in found.values() for note in metadata.notes)]
    return Project(
        root=root,
        files=name_files(tree, places),
        roots=tuple(sorted({place.folder for place in places})),
        skipped=tree.skipped,
        notes=tuple(sorted(set(notes))),
        python=settings.python or _find_python(tree, found),
        places=places,
        packages=tree.packages,
        links=tree.links,
    )


def _find_python(tree: Tree, found: dict[str, Metadata]) -> tuple[int, int] | None:
    """The lowest version of the outermost projects that declare one: a fixture deep below doesn't speak for all."""
    bounds = [(folder.count("/") + bool(folder), data.python) for folder, data in found.items() if data.python]
    depth = min((depth for depth, _ in bounds), default=0)
    return min((python for level, python in bounds if level == depth and python), default=None)
