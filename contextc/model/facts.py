"""ModuleFacts: everything one file says by itself. No path, no module name, no fact about another file.

Both readers turn the same bytes into equal facts. `def f(x): return x` gives two symbols: the module (index 0, body
`Define(0, 1)`) and `f` (index 1, parent 0, one parameter, body `Return(0, Name(1, "x"))`).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from contextc.model.ir import Argument, Expr, Parameter, Stmt, TypeParameter
from contextc.model.span import Span


class SymbolKind(str, Enum):
    """The closed list of symbol kinds. A function defined in a class body is a METHOD, whatever its decorators."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    LAMBDA = "lambda"
    VARIABLE = "variable"  # a name assigned in module code
    ATTRIBUTE = "attribute"  # a name assigned or declared in a class body

    def __str__(self) -> str:
        return self.value


class SymbolFacts(NamedTuple):
    """One definition.

    `kind` decides which fields are filled; those that don't apply are empty. Expressions in `decorators`, `bases`,
    `parameters`, `returns` and `type_parameters` are numbered in the scope that holds the definition (the nearest
    enclosing module, class, function or lambda: the one whose body has the Define or Lambda node).
    """

    kind: SymbolKind
    name: str
    qualname: str  # Python's __qualname__; "<module>" for the module
    local_id: str  # qualname, with "#2", "#3" … from the second definition of that qualname on, in source order
    parent: int  # index of the enclosing symbol; -1 for the module. A parent precedes its children
    span: Span  # from the first decorator (or def/class) to the end of the last statement; a variable: its statement
    header: Span  # from `def`/`async`/`class` to just after the `:`; a lambda: to the `:`; a variable: its statement
    docstring: Span | None  # the string expression
    body_start: int  # byte offset of the body's first statement, the docstring counted; equal to header end if none
    is_async: bool
    is_generator: bool
    decorators: tuple[Expr, ...]
    bases: tuple[Argument, ...]  # class arguments as written, keywords (metaclass=) included
    parameters: tuple[Parameter, ...]
    returns: Expr | None
    type_parameters: tuple[TypeParameter, ...]
    bindings: tuple[str, ...]  # names bound in this scope, parameters included, sorted; without global/nonlocal ones
    globals: tuple[str, ...]  # declared `global`, sorted
    nonlocals: tuple[str, ...]  # declared `nonlocal`, sorted
    body: tuple[Stmt, ...]
    spans: tuple[int, ...]  # start, end of node 0, 1, …, relative to span.start (to 0 for the module)
    call_sites: int  # number of Call nodes numbered in this symbol


class Damage(NamedTuple):
    """A place that could not be read: line (from 1) and one sentence. `deep`: it is Python, but nested too deep."""

    line: int
    message: str
    deep: bool = False


class ModuleFacts(NamedTuple):
    """One file. `symbols[0]` is the module; children follow their parents in source order.

    Partial facts come from a file that does not parse: definitions, signatures as far as they could be read, and
    imports; bodies may be empty. `damage` then says where. They also come from one with expressions nested too deep:
    each is an `Unread` node and a `deep` line of `damage`, everything else is there.
    """

    symbols: tuple[SymbolFacts, ...]
    partial: bool
    damage: tuple[Damage, ...]
    reader: str  # "libcst" or "tree-sitter"
