"""The statement and expression IR of one scope: what inference evaluates, free of layout.

Every node whose identity matters carries `at`, its preorder ordinal within the symbol that owns it (the scope in
which it is evaluated). Positions are not in the nodes: `SymbolFacts.spans[2 * at]` and `[2 * at + 1]` are the byte
offsets of the node's start and end, relative to the owning symbol's start, so that an edit above a function leaves its
facts equal.

`x = f(1)` is `Assign(0, (Name(1, "x"),), Call(2, Name(3, "f"), (Argument("", None, Constant(4, "int", 1)),)))`.

Decorators, defaults, annotations and class bases are evaluated in the scope that holds the definition, so their nodes
are numbered there; the defined symbol's own body starts again at 0. Identifiers are NFKC-normalised (PEP 3131);
private names (`__x` in a class) stand as written, mangling them is inference's work.
"""

from __future__ import annotations

from typing import NamedTuple, Union

# ---------------------------------------------------------------------------------------------------- expressions


class Name(NamedTuple):
    """A use of a name (or a binding, where it stands as a target)."""

    at: int
    id: str


class Constant(NamedTuple):
    """`type`: str bytes int float complex bool None ellipsis. `value` is kept for str (up to 256 characters), int
    (up to 64 bits) and bool (0/1); else None."""

    at: int
    type: str
    value: str | int | None


class FString(NamedTuple):
    """Parts in order: `Constant` of type str, or `Formatted`."""

    at: int
    parts: tuple[Expr, ...]


class Formatted(NamedTuple):
    """A replacement field. `conversion` is "", "r", "s" or "a"; `spec` is an FString, or None without one."""

    at: int
    value: Expr
    conversion: str
    spec: Expr | None


class Attribute(NamedTuple):
    at: int
    value: Expr
    attr: str


class Subscript(NamedTuple):
    """`key` is a TupleExpr for `x[a, b]` and a Slice for `x[a:b]`."""

    at: int
    value: Expr
    key: Expr


class Slice(NamedTuple):
    at: int
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


class Argument(NamedTuple):
    """`star` is "", "*" or "**"; `keyword` the name for `name=value`."""

    star: str
    keyword: str | None
    value: Expr


class Call(NamedTuple):
    """A call expression. Arguments in source order. Its span is `ast.Call`'s: own enclosing parentheses left out."""

    at: int
    func: Expr
    args: tuple[Argument, ...]


class Lambda(NamedTuple):
    """`symbol` is the index of the lambda's symbol in ModuleFacts.symbols; its body is one Return."""

    at: int
    symbol: int


class TupleExpr(NamedTuple):
    at: int
    items: tuple[Expr, ...]


class ListExpr(NamedTuple):
    at: int
    items: tuple[Expr, ...]


class SetExpr(NamedTuple):
    at: int
    items: tuple[Expr, ...]


class DictItem(NamedTuple):
    """`key` is None for `**value`."""

    key: Expr | None
    value: Expr


class DictExpr(NamedTuple):
    at: int
    items: tuple[DictItem, ...]


class Starred(NamedTuple):
    at: int
    value: Expr


class Generator(NamedTuple):
    """One `for target in iter if ...` clause of a comprehension."""

    at: int
    target: Expr
    iter: Expr
    conditions: tuple[Expr, ...]
    is_async: bool


class Comprehension(NamedTuple):
    """`kind`: list set dict generator. For a dict `element` is the key and `value` the value; else `value` is None."""

    at: int
    kind: str
    element: Expr
    value: Expr | None
    generators: tuple[Generator, ...]


class Conditional(NamedTuple):
    at: int
    test: Expr
    body: Expr
    orelse: Expr


class BoolOp(NamedTuple):
    """`op`: and / or. Nested chains of one operator are flat."""

    at: int
    op: str
    values: tuple[Expr, ...]


class UnaryOp(NamedTuple):
    """`op`: - + ~ not."""

    at: int
    op: str
    operand: Expr


class BinaryOp(NamedTuple):
    """`op`: + - * / // % @ ** << >> & | ^."""

    at: int
    op: str
    left: Expr
    right: Expr


class Compare(NamedTuple):
    """`ops`: == != < <= > >= is "is not" in "not in"; as many as `comparators`."""

    at: int
    left: Expr
    ops: tuple[str, ...]
    comparators: tuple[Expr, ...]


class Await(NamedTuple):
    at: int
    value: Expr


class Yield(NamedTuple):
    at: int
    value: Expr | None


class YieldFrom(NamedTuple):
    at: int
    value: Expr


class NamedExpr(NamedTuple):
    """`target := value`; binds in the enclosing function even inside a comprehension (PEP 572)."""

    at: int
    target: str
    value: Expr


class Unread(NamedTuple):
    """An expression the reader could not express; `what` names the syntax. Its value is unknown, with that reason."""

    at: int
    what: str


Expr = Union[
    Name, Constant, FString, Formatted, Attribute, Subscript, Slice, Call, Lambda, TupleExpr, ListExpr, SetExpr,
    DictExpr, Starred, Comprehension, Conditional, BoolOp, UnaryOp, BinaryOp, Compare, Await, Yield, YieldFrom,
    NamedExpr, Unread,
]  # fmt: skip

# ------------------------------------------------------------------------------------------------------ patterns


class MatchValue(NamedTuple):
    """A literal or dotted name compared by `==` (or by `is` for None, True, False)."""

    at: int
    value: Expr


class MatchSequence(NamedTuple):
    at: int
    patterns: tuple[Pattern, ...]


class MatchStar(NamedTuple):
    at: int
    name: str | None


class MatchMapping(NamedTuple):
    at: int
    keys: tuple[Expr, ...]
    patterns: tuple[Pattern, ...]
    rest: str | None


class MatchClass(NamedTuple):
    """`keywords` are the attribute names of the last patterns in `keyword_patterns`, same order."""

    at: int
    cls: Expr
    patterns: tuple[Pattern, ...]
    keywords: tuple[str, ...]
    keyword_patterns: tuple[Pattern, ...]


class MatchAs(NamedTuple):
    """`pattern as name`; `_` has neither; a bare capture has only the name."""

    at: int
    pattern: Pattern | None
    name: str | None


class MatchOr(NamedTuple):
    at: int
    patterns: tuple[Pattern, ...]


Pattern = Union[MatchValue, MatchSequence, MatchStar, MatchMapping, MatchClass, MatchAs, MatchOr]

# ---------------------------------------------------------------------------------------------------- statements


class Evaluate(NamedTuple):
    """An expression statement."""

    at: int
    value: Expr


class Assign(NamedTuple):
    """`a = b = value`: targets left to right."""

    at: int
    targets: tuple[Expr, ...]
    value: Expr


class AnnotatedAssign(NamedTuple):
    at: int
    target: Expr
    annotation: Expr
    value: Expr | None


class AugmentedAssign(NamedTuple):
    """`op` without the `=`."""

    at: int
    target: Expr
    op: str
    value: Expr


class TypeAlias(NamedTuple):
    """PEP 695 `type name = value`."""

    at: int
    name: str
    value: Expr


class Return(NamedTuple):
    at: int
    value: Expr | None


class Raise(NamedTuple):
    at: int
    error: Expr | None
    cause: Expr | None


class Assert(NamedTuple):
    at: int
    test: Expr
    message: Expr | None


class Delete(NamedTuple):
    at: int
    targets: tuple[Expr, ...]


class ImportedName(NamedTuple):
    """`at` spans the name as written. `asname` None: `import a.b` binds `a`; `from m import n` binds `n`."""

    at: int
    name: str
    asname: str | None


class Import(NamedTuple):
    at: int
    names: tuple[ImportedName, ...]


class ImportFrom(NamedTuple):
    """`level` counts the leading dots; `module` is "" for `from . import x`; a star import has the one name `*`."""

    at: int
    level: int
    module: str
    names: tuple[ImportedName, ...]


class Define(NamedTuple):
    """A `def` or `class` statement: runs decorators, defaults, bases; binds `symbol`'s name."""

    at: int
    symbol: int


class If(NamedTuple):
    at: int
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class While(NamedTuple):
    at: int
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


class For(NamedTuple):
    at: int
    target: Expr
    iter: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    is_async: bool


class WithItem(NamedTuple):
    at: int
    context: Expr
    target: Expr | None


class With(NamedTuple):
    at: int
    items: tuple[WithItem, ...]
    body: tuple[Stmt, ...]
    is_async: bool


class Handler(NamedTuple):
    """`type` None for a bare `except:`."""

    at: int
    type: Expr | None
    name: str | None
    body: tuple[Stmt, ...]


class Try(NamedTuple):
    """`star` for `except*`: then a handler's name is bound to a group."""

    at: int
    body: tuple[Stmt, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Stmt, ...]
    final: tuple[Stmt, ...]
    star: bool


class Case(NamedTuple):
    at: int
    pattern: Pattern
    guard: Expr | None
    body: tuple[Stmt, ...]


class Match(NamedTuple):
    at: int
    subject: Expr
    cases: tuple[Case, ...]


class Jump(NamedTuple):
    """`kind`: break or continue."""

    at: int
    kind: str


Stmt = Union[
    Evaluate, Assign, AnnotatedAssign, AugmentedAssign, TypeAlias, Return, Raise, Assert, Delete, Import, ImportFrom,
    Define, If, While, For, With, Try, Match, Jump,
]  # fmt: skip

# --------------------------------------------------------------------------------------------------- definitions


class Parameter(NamedTuple):
    """`kind`: positional (before `/`), normal, star (`*args`), keyword (after `*`), doublestar (`**kwargs`).
    `annotation` and `default` are numbered in the defining scope."""

    name: str
    kind: str
    annotation: Expr | None
    default: Expr | None


class TypeParameter(NamedTuple):
    """PEP 695 / 696. `kind`: typevar, paramspec, typevartuple."""

    name: str
    kind: str
    bound: Expr | None
    default: Expr | None
