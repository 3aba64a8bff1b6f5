"""Reads libcst statements and blocks; definitions are in `libcst_definitions.py`.

In: the walk, a node, where it starts. Out: its IR; `pass`, `global` and `nonlocal` give none. `for x in y: z()` is
`For(0, Name(1, "x"), Name(2, "y"), (Evaluate(3, Call(…)),), (), False)` and binds `x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from contextc.analyzer.reading.builder import Scope, end_variables, normalize
from contextc.analyzer.reading.libcst_cursor import Read, Walk
from contextc.model import ir

_AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.MatrixMultiplyAssign: "@",
    cst.DivideAssign: "/", cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.BitAndAssign: "&",
    cst.BitOrAssign: "|", cst.BitXorAssign: "^", cst.LeftShiftAssign: "<<", cst.RightShiftAssign: ">>",
    cst.PowerAssign: "**",
}  # fmt: skip

# ------------------------------------------------------------------------------------------------------- blocks


def read_block(w: Walk, nodes: Sequence[Any]) -> tuple[ir.Stmt, ...]:
    """Reads the statements of a block: lines of small statements and compound ones."""
    w.enter_level(2)
    body: list[ir.Stmt] = []
    statements = w.statements
    for node in nodes:
        if node.__class__ is cst.SimpleStatementLine:
            _read_line(w, node.body, body)
        else:
            body.append(statements[node.__class__](w, node, w.skip()))
    w.levels -= 2
    return tuple(body)


def _read_line(w: Walk, nodes: Sequence[Any], body: list[ir.Stmt]) -> None:
    for node in nodes:
        statement = w.statements[node.__class__](w, node, w.skip())
        if statement is not None:
            body.append(statement)
        if node.semicolon is not cst.MaybeSentinel.DEFAULT:
            w.take(";")


def read_suite(w: Walk, node: cst.BaseSuite) -> tuple[ir.Stmt, ...]:
    """Reads an indented block or the statements on the header's own line."""
    if type(node) is cst.IndentedBlock:
        return read_block(w, node.body)
    body: list[ir.Stmt] = []
    w.enter_level(2)
    _read_line(w, node.body, body)
    w.levels -= 2
    return tuple(body)


def _read_block_after_colon(w: Walk, node: cst.BaseSuite) -> tuple[ir.Stmt, ...]:
    w.take(":")
    return read_suite(w, node)


def defined_names(nodes: Sequence[Any]) -> Iterator[str]:
    """The names that a def or class binds in these statements, compound statements looked into."""
    for node in nodes:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            yield normalize(node.name.value)
        elif isinstance(node, cst.Match):
            for case in node.cases:
                yield from defined_names(case.body.body)
        elif isinstance(node, cst.BaseCompoundStatement):
            yield from _defined_in_parts(node)


def _defined_in_parts(node: Any) -> Iterator[str]:
    part = node
    while part is not None:  # an `elif` hangs on `orelse`, as an `else` does
        yield from defined_names(part.body.body)
        for handler in getattr(part, "handlers", ()):
            yield from defined_names(handler.body.body)
        final = getattr(part, "finalbody", None)
        if final is not None:
            yield from defined_names(final.body.body)
        part = getattr(part, "orelse", None)


# --------------------------------------------------------------------------------------------- small statements


def read_expression(w: Walk, node: cst.Expr, start: int) -> ir.Evaluate:
    slot = w.open(start)
    value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    return ir.Evaluate(slot >> 1, value)


def read_assign(w: Walk, node: cst.Assign, start: int) -> ir.Assign:
    slot = w.open(start)
    targets = []
    variables: list[Scope] = []
    for item in node.targets:
        target = w.expression(item.target)
        w.take("=")
        variables += w.builder.declare_target(target, start)
        targets.append(target)
    value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    end_variables(variables, w.pos)
    return ir.Assign(slot >> 1, tuple(targets), value)


def read_annotated(w: Walk, node: cst.AnnAssign, start: int) -> ir.AnnotatedAssign:
    slot = w.open(start)
    target = w.expression(node.target)
    variables = w.builder.declare_target(target, start)
    w.take(":")
    annotation = w.expression(node.annotation.annotation)
    value = None
    if node.value is not None:
        w.take("=")
        value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    end_variables(variables, w.pos)
    return ir.AnnotatedAssign(slot >> 1, target, annotation, value)


def read_augmented(w: Walk, node: cst.AugAssign, start: int) -> ir.AugmentedAssign:
    slot = w.open(start)
    target = w.expression(node.target)
    variables = w.builder.declare_target(target, start)
    op = _AUGMENTED[type(node.operator)]
    w.take(op + "=")
    value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    end_variables(variables, w.pos)
    return ir.AugmentedAssign(slot >> 1, target, op, value)


def read_return(w: Walk, node: cst.Return, start: int) -> ir.Return:
    slot = w.open(start)
    w.take("return")
    value = w.optional(node.value)
    w.spans[slot + 1] = w.pos
    return ir.Return(slot >> 1, value)


def read_raise(w: Walk, node: cst.Raise, start: int) -> ir.Raise:
    slot = w.open(start)
    w.take("raise")
    error = w.optional(node.exc)
    cause = None
    if node.cause is not None:
        w.take("from")
        cause = w.expression(node.cause.item)
    w.spans[slot + 1] = w.pos
    return ir.Raise(slot >> 1, error, cause)


def read_assert(w: Walk, node: cst.Assert, start: int) -> ir.Assert:
    slot = w.open(start)
    w.take("assert")
    test = w.expression(node.test)
    message = None
    if node.msg is not None:
        w.take(",")
        message = w.expression(node.msg)
    w.spans[slot + 1] = w.pos
    return ir.Assert(slot >> 1, test, message)


def read_delete(w: Walk, node: cst.Del, start: int) -> ir.Delete:
    """`del a, b` has two targets, `del (a, b)` one: the tuple without parentheses is not a node."""
    slot = w.open(start)
    w.take("del")
    target = node.target
    if type(target) is cst.Tuple and not target.lpar:
        targets = w.expressions_of(target.elements)
    else:
        targets = (w.expression(target),)
    for item in targets:
        w.builder.bind_target(item)
    w.spans[slot + 1] = w.pos
    return ir.Delete(slot >> 1, targets)


def read_pass(w: Walk, node: cst.Pass, start: int) -> None:
    w.take("pass")


def read_jump(w: Walk, node: cst.Break | cst.Continue, start: int) -> ir.Jump:
    slot = w.open(start)
    kind = "break" if type(node) is cst.Break else "continue"
    w.take(kind)
    w.spans[slot + 1] = w.pos
    return ir.Jump(slot >> 1, kind)


def read_global(w: Walk, node: cst.Global | cst.Nonlocal, start: int) -> None:
    scope = w.builder.scope
    is_global = type(node) is cst.Global
    w.take("global" if is_global else "nonlocal")
    names = scope.globals if is_global else scope.nonlocals
    for item in node.names:
        w.take(item.name.value)
        names.add(normalize(item.name.value))
        w.pass_comma()


# ------------------------------------------------------------------------------------------------------ imports


def read_import(w: Walk, node: cst.Import | cst.LazyImport, start: int) -> ir.Import:
    slot = w.open(start)
    if type(node) is cst.LazyImport:
        w.take("lazy")
    w.take("import")
    names = _read_aliases(w, node.names)
    for name in names:
        w.builder.scope.bind(name.asname or name.name.partition(".")[0])
    w.spans[slot + 1] = w.pos
    return ir.Import(slot >> 1, names)


def read_import_from(w: Walk, node: cst.ImportFrom | cst.LazyImportFrom, start: int) -> ir.ImportFrom:
    slot = w.open(start)
    if type(node) is cst.LazyImportFrom:
        w.take("lazy")
    w.take("from")
    for _ in node.relative:
        w.take(".")
    module = "" if node.module is None else _take_dotted(w, node.module)
    w.take("import")
    names: tuple[ir.ImportedName, ...]
    if isinstance(node.names, cst.ImportStar):
        star = w.open(w.take("*"))
        w.spans[star + 1] = w.pos
        names = (ir.ImportedName(star >> 1, "*", None),)
    else:
        if node.lpar is not None:
            w.take("(")
        names = _read_aliases(w, node.names)
        if node.lpar is not None:
            w.take(")")
        for name in names:
            w.builder.scope.bind(name.asname or name.name)
    w.spans[slot + 1] = w.pos
    return ir.ImportFrom(slot >> 1, len(node.relative), module, names)


def _read_aliases(w: Walk, nodes: Sequence[cst.ImportAlias]) -> tuple[ir.ImportedName, ...]:
    names = []
    for node in nodes:
        slot = w.open(w.skip())
        name = _take_dotted(w, node.name)
        w.spans[slot + 1] = w.pos
        asname = None
        if node.asname is not None:
            alias = node.asname.name
            assert type(alias) is cst.Name
            w.take("as")
            w.take(alias.value)
            asname = normalize(alias.value)
        names.append(ir.ImportedName(slot >> 1, name, asname))
        w.pass_comma()
    return tuple(names)


def _take_dotted(w: Walk, node: cst.BaseExpression) -> str:
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    assert type(node) is cst.Name
    w.take(node.value)
    name = node.value
    for part in reversed(parts):
        w.take(".")
        w.take(part)
        name += "." + part
    return normalize(name)


# ------------------------------------------------------------------------------------------ compound statements


def read_if(w: Walk, node: cst.If, start: int) -> ir.If:
    """Each `elif` is the only statement of the `orelse` before it; all of them end together."""
    parts = []
    clause: Any = node
    while type(clause) is cst.If:
        slot = w.open(start)
        w.take("elif" if w.source.startswith("elif", start) else "if")
        test = w.expression(clause.test)
        parts.append((slot, test, _read_block_after_colon(w, clause.body)))
        w.enter_link()
        clause = clause.orelse
        start = w.pos if clause is None else w.skip()
    w.links -= len(parts)
    orelse = _read_else(w, clause)
    for slot, test, body in reversed(parts[1:]):
        w.spans[slot + 1] = w.pos
        orelse = (ir.If(slot >> 1, test, body, orelse),)
    slot, test, body = parts[0]
    w.spans[slot + 1] = w.pos
    return ir.If(slot >> 1, test, body, orelse)


def _read_else(w: Walk, node: Any) -> tuple[ir.Stmt, ...]:
    if node is None:
        return ()
    w.take("else")
    return _read_block_after_colon(w, node.body)


def read_while(w: Walk, node: cst.While, start: int) -> ir.While:
    slot = w.open(start)
    w.take("while")
    test = w.expression(node.test)
    body = _read_block_after_colon(w, node.body)
    orelse = _read_else(w, node.orelse)
    w.spans[slot + 1] = w.pos
    return ir.While(slot >> 1, test, body, orelse)


def read_for(w: Walk, node: cst.For, start: int) -> ir.For:
    slot = w.open(start)
    is_async = node.asynchronous is not None
    if is_async:
        w.take("async")
    w.take("for")
    target = w.expression(node.target)
    variables = w.builder.declare_target(target, start)
    w.take("in")
    source = w.expression(node.iter)
    w.take(":")
    end_variables(variables, w.pos)
    body = read_suite(w, node.body)
    orelse = _read_else(w, node.orelse)
    w.spans[slot + 1] = w.pos
    return ir.For(slot >> 1, target, source, body, orelse, is_async)


def read_with(w: Walk, node: cst.With, start: int) -> ir.With:
    slot = w.open(start)
    is_async = node.asynchronous is not None
    if is_async:
        w.take("async")
    w.take("with")
    enclosed = isinstance(node.lpar, cst.LeftParen)
    if enclosed:
        w.take("(")
    items = []
    variables: list[Scope] = []
    for item in node.items:
        inner = w.open(w.skip())
        context = w.expression(item.item)
        target = None
        if item.asname is not None:
            w.take("as")
            target = w.expression(item.asname.name)
            variables += w.builder.declare_target(target, start)
        w.spans[inner + 1] = w.pos
        items.append(ir.WithItem(inner >> 1, context, target))
        w.pass_comma()
    if enclosed:
        w.take(")")
    w.take(":")
    end_variables(variables, w.pos)
    body = read_suite(w, node.body)
    w.spans[slot + 1] = w.pos
    return ir.With(slot >> 1, tuple(items), body, is_async)


def read_try(w: Walk, node: cst.Try | cst.TryStar, start: int) -> ir.Try:
    slot = w.open(start)
    w.take("try")
    body = _read_block_after_colon(w, node.body)
    handlers = tuple([_read_handler(w, handler) for handler in node.handlers])
    orelse = _read_else(w, node.orelse)
    final: tuple[ir.Stmt, ...] = ()
    if node.finalbody is not None:
        w.take("finally")
        final = _read_block_after_colon(w, node.finalbody.body)
    w.spans[slot + 1] = w.pos
    return ir.Try(slot >> 1, body, handlers, orelse, final, type(node) is cst.TryStar)


def _read_handler(w: Walk, node: cst.ExceptHandler | cst.ExceptStarHandler) -> ir.Handler:
    slot = w.open(w.take("except"))
    if type(node) is cst.ExceptStarHandler:
        w.take("*")
    kind = w.optional(node.type)
    name = None
    if node.name is not None:
        assert type(node.name.name) is cst.Name
        w.take("as")
        w.take(node.name.name.value)
        name = normalize(node.name.name.value)
        w.builder.scope.bind(name)
    w.enter_level(2)
    body = _read_block_after_colon(w, node.body)
    w.levels -= 2
    w.spans[slot + 1] = w.pos
    return ir.Handler(slot >> 1, kind, name, body)


def read_match(w: Walk, node: cst.Match, start: int) -> ir.Match:
    slot = w.open(start)
    w.take("match")
    subject = w.expression(node.subject)
    w.take(":")
    w.enter_level(2)
    cases = tuple([_read_case(w, case) for case in node.cases])
    w.levels -= 2
    w.spans[slot + 1] = w.pos
    return ir.Match(slot >> 1, subject, cases)


def _read_case(w: Walk, node: cst.MatchCase) -> ir.Case:
    slot = w.open(w.take("case"))
    pattern = w.pattern(node.pattern)
    guard = None
    if node.guard is not None:
        w.take("if")
        guard = w.expression(node.guard)
    body = _read_block_after_colon(w, node.body)
    w.spans[slot + 1] = w.pos
    return ir.Case(slot >> 1, pattern, guard, body)


READERS: dict[type[cst.CSTNode], Read] = {
    cst.Expr: read_expression,
    cst.Assign: read_assign,
    cst.AnnAssign: read_annotated,
    cst.AugAssign: read_augmented,
    cst.Return: read_return,
    cst.Raise: read_raise,
    cst.Assert: read_assert,
    cst.Del: read_delete,
    cst.Pass: read_pass,
    cst.Break: read_jump,
    cst.Continue: read_jump,
    cst.Global: read_global,
    cst.Nonlocal: read_global,
    cst.Import: read_import,
    cst.LazyImport: read_import,
    cst.ImportFrom: read_import_from,
    cst.LazyImportFrom: read_import_from,
    cst.If: read_if,
    cst.While: read_while,
    cst.For: read_for,
    cst.With: read_with,
    cst.Try: read_try,
    cst.TryStar: read_try,
    cst.Match: read_match,
}
