"""A symbol as the graph and the passes see it: a definition with an id, a place, and the layout its forms need."""

from __future__ import annotations

from typing import NamedTuple

from contextc.model.facts import SymbolKind
from contextc.model.span import Span


class Symbol(NamedTuple):
    """One definition of the repository.

    `id` is unique: `pkg.mod:Class.method`, `pkg.mod:<module>`, `#2` for a redefinition; where two source roots hold
    one dotted name, the module part is `pkg.mod@path/of/the/root`. Offsets are bytes in the file's normalised text.
    """

    id: str
    path: str  # POSIX, relative to the analysed root
    qualname: str  # Python's __qualname__, without "#n"; "<module>" for module code
    kind: SymbolKind
    line: int  # of the first decorator or the def/class keyword
    col: int
    end_line: int
    parent: str | None  # id of the enclosing symbol; None for a module
    span: Span
    header: Span
    docstring: Span | None
    body_start: int
    is_public: bool  # no leading underscore in its own name (dunders are public)
    is_overload: bool  # decorated with typing.overload
    is_test: bool  # its file is a test file by pytest's default patterns, or lies in a `tests` folder


class Import(NamedTuple):
    """A name bound by an import in `importer` (a symbol id): what was imported, where.

    `target` is the id of the symbol the name means in the repository, None for an external one.
    """

    importer: str
    name: str
    target: str | None
    line: int
