"""The analyser's result, as plain values: what `engine` carries from the analyser to the graph."""

from __future__ import annotations

from typing import NamedTuple

from contextc.model.diagnostic import Note, Skip
from contextc.model.edge import Edge, Unresolved
from contextc.model.symbol import Import, Symbol


class ModuleFile(NamedTuple):
    """A Python file of the project. `module` is its dotted name, `module_id` the same made unique across roots."""

    path: str  # POSIX, relative to the analysed root
    module: str
    module_id: str
    root: str  # source root it was found under, POSIX, relative; "" for the analysed root itself
    is_package: bool  # an __init__ file
    is_stub: bool  # a .pyi


class Analysis(NamedTuple):
    """Everything sorted: symbols by (path, span start, id), edges and unresolved by their fields' order."""

    root: str  # the analysed root's folder name, for people; never an absolute path
    files: tuple[ModuleFile, ...]  # those analysed, partial ones included
    symbols: tuple[Symbol, ...]
    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]
    imports: tuple[Import, ...]
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]
    call_sites: int  # call expressions in analysed files
    resolver: str  # "typed" or "name-only"
