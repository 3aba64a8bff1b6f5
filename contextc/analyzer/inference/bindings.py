"""Syntactic tables (stratum 1): which statements of a scope bind which names.

In: a module, class or function body. Out: name → bindings in source order, with branches on `sys.version_info`,
`sys.platform` and, in stubs, `TYPE_CHECKING` decided by the target version. `import a.b as c` gives
`{"c": [ModuleBinding("a.b")]}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Union

from contextc.analyzer.inference.program import Definition, ModuleInfo, Program
from contextc.model import ir


class DefinitionBinding(NamedTuple):
    definition: Definition
    conditional: bool


class ModuleBinding(NamedTuple):
    """`import a.b` binds `a` to module `a`; with `as`, to `a.b`."""

    module: str
    conditional: bool


class FromBinding(NamedTuple):
    """`from module import name`; `module` is absolute, None where it can't be."""

    module: str | None
    name: str
    conditional: bool


class ValueBinding(NamedTuple):
    """An assignment to a plain name. `annotation` or `value` may be None."""

    annotation: ir.Expr | None
    value: ir.Expr | None
    conditional: bool


class OtherBinding(NamedTuple):
    """Bound by a loop, with, except, match, unpacking …: only evaluation knows the value."""

    conditional: bool


Binding = Union[DefinitionBinding, ModuleBinding, FromBinding, ValueBinding, OtherBinding]


Public = Union[str, ir.Expr, FromBinding]  # a name, or what gives names: `one.__all__`, an import of it


class Table(NamedTuple):
    """`stars`: absolute names of star-imported modules, in order."""

    names: dict[str, list[Binding]]
    stars: tuple[str, ...]
    public: tuple[Public, ...] | None  # what `__all__` is put together from, None without one


def static_truth(program: Program, module: ModuleInfo, test: ir.Expr) -> bool | None:
    """Whether a branch is taken on the target version and platform; None if it depends on anything else."""
    if _dotted(test).rpartition(".")[2] == "TYPE_CHECKING":
        return None if module.in_repository else True
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        inner = static_truth(program, module, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ir.BoolOp):
        parts = [static_truth(program, module, v) for v in test.values]
        decisive = test.op == "or"
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, ir.Compare) and len(test.ops) == 1:
        return _compare_static(program, module, test.left, test.ops[0], test.comparators[0])
    if isinstance(test, ir.Call) and _dotted(test.func) == "sys.platform.startswith" and test.args:
        argument = test.args[0].value
        if not module.in_repository and isinstance(argument, ir.Constant):
            return program.platform.startswith(str(argument.value))
    return None


def _dotted(expr: ir.Expr) -> str:
    if isinstance(expr, ir.Name):
        return expr.id
    if isinstance(expr, ir.Attribute):
        return f"{_dotted(expr.value)}.{expr.attr}"
    return ""


def _compare_static(program: Program, module: ModuleInfo, left: ir.Expr, op: str, right: ir.Expr) -> bool | None:
    if _dotted(left) == "sys.version_info" and isinstance(right, ir.TupleExpr):
        wanted = tuple(
            item.value for item in right.items if isinstance(item, ir.Constant) and isinstance(item.value, int)
        )
        if len(wanted) != len(right.items):
            return None
        size = max(2, len(wanted))
        versions = (program.oldest, program.newest) if module.in_repository else (program.python,)
        answers = {_order((*version, 99)[:size], op, wanted) for version in versions}
        return answers.pop() if len(answers) == 1 else None
    if isinstance(left, ir.Subscript) and _dotted(left.value) == "sys.version_info" and isinstance(right, ir.Constant):
        if isinstance(left.key, ir.Constant) and left.key.value == 0 and isinstance(right.value, int):
            return _order((program.python[0],), op, (right.value,))
        return None
    if _dotted(left) in ("sys.platform", "platform") and isinstance(right, ir.Constant):
        if module.in_repository:
            return None
        return {"==": program.platform == right.value, "!=": program.platform != right.value}.get(op)
    return None


def _order(have: tuple[int, ...], op: str, want: tuple[int, ...]) -> bool | None:
    return {
        ">=": have >= want,
        ">": have > want,
        "<": have < want,
        "<=": have <= want,
        "==": have[: len(want)] == want,
        "!=": have[: len(want)] != want,
    }.get(op)


def build_table(program: Program, scope: Definition) -> Table:
    """The names bound by the statements of `scope`, nested blocks included, nested scopes not."""
    names: dict[str, list[Binding]] = {}
    stars: list[str] = []
    public: list[Public] = []
    for name, binding in _scan(program, scope, scope.facts.body, False):
        if name == "*" and isinstance(binding, FromBinding):
            if binding.module is not None:
                stars.append(binding.module)
            continue
        names.setdefault(name, []).append(binding)
        if name == "__all__" and isinstance(binding, ValueBinding) and binding.value is not None:
            public.extend(public_parts(binding.value))
        elif name == "__all__" and isinstance(binding, FromBinding):
            public.append(binding)
    if "__all__" in names:
        public.extend(_added_names(scope.facts.body))
    assigned = any(not isinstance(b, ValueBinding) or b.value is not None for b in names.get("__all__", ()))
    return Table(names, tuple(stars), tuple(public) if assigned else None)


def public_parts(value: ir.Expr) -> Iterator[Public]:
    """What a value of `__all__` is put together from: the names written there, and what else gives some."""
    if isinstance(value, ir.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, (ir.ListExpr, ir.TupleExpr, ir.SetExpr)):
        for item in value.items:
            yield from public_parts(item.value if isinstance(item, ir.Starred) else item)
    elif isinstance(value, ir.BinaryOp):
        yield from public_parts(value.left)
        yield from public_parts(value.right)
    elif isinstance(value, ir.Call) and _dotted(value.func) in ("list", "tuple", "set", "sorted") and value.args:
        yield from public_parts(value.args[0].value)
    else:
        yield value


def _added_names(body: tuple[ir.Stmt, ...]) -> Iterator[Public]:
    """`__all__.extend(…)` and `__all__.append(…)`."""
    for statement in body:
        call = statement.value if isinstance(statement, ir.Evaluate) else None
        if isinstance(call, ir.Call) and _dotted(call.func) in ("__all__.extend", "__all__.append"):
            for argument in call.args:
                yield from public_parts(argument.value)
        for block in child_blocks(statement):
            yield from _added_names(block)


def _scan(
    program: Program, scope: Definition, body: tuple[ir.Stmt, ...], conditional: bool
) -> Iterator[tuple[str, Binding]]:
    module = scope.module
    for statement in body:
        if isinstance(statement, ir.Define):
            definition = module.definitions[statement.symbol]
            yield definition.name, DefinitionBinding(definition, conditional)
        elif isinstance(statement, (ir.Import, ir.ImportFrom)):
            yield from _scan_import(program, module, statement, conditional)
        elif isinstance(statement, (ir.Assign, ir.AnnotatedAssign, ir.AugmentedAssign, ir.TypeAlias)):
            yield from _scan_assignment(statement, conditional)
        elif isinstance(statement, ir.If):
            truth = static_truth(program, module, statement.test)
            if truth is not False:
                yield from _scan(program, scope, statement.body, conditional or truth is None)
            if truth is not True:
                yield from _scan(program, scope, statement.orelse, conditional or truth is None)
        else:
            yield from _scan_block(program, scope, statement)


def _scan_import(
    program: Program, module: ModuleInfo, statement: ir.Stmt, conditional: bool
) -> Iterator[tuple[str, Binding]]:
    if isinstance(statement, ir.Import):
        for item in statement.names:
            if item.asname is not None:
                yield item.asname, ModuleBinding(item.name, conditional)
            else:
                top = item.name.partition(".")[0]
                yield top, ModuleBinding(top, conditional)
    elif isinstance(statement, ir.ImportFrom):
        source = program.absolute_name(module, statement.level, statement.module)
        for item in statement.names:
            yield item.asname or item.name, FromBinding(source, item.name, conditional)


def _scan_assignment(statement: ir.Stmt, conditional: bool) -> Iterator[tuple[str, Binding]]:
    if isinstance(statement, ir.Assign):
        for target in statement.targets:
            if isinstance(target, ir.Name):
                yield target.id, ValueBinding(None, statement.value, conditional)
            else:
                for name in target_names(target):
                    yield name, OtherBinding(conditional)
    elif isinstance(statement, ir.AnnotatedAssign) and isinstance(statement.target, ir.Name):
        yield statement.target.id, ValueBinding(statement.annotation, statement.value, conditional)
    elif isinstance(statement, ir.AugmentedAssign) and isinstance(statement.target, ir.Name):
        yield statement.target.id, ValueBinding(None, statement.value, True)
    elif isinstance(statement, ir.TypeAlias):
        yield statement.name, ValueBinding(None, statement.value, conditional)


def _scan_block(program: Program, scope: Definition, statement: ir.Stmt) -> Iterator[tuple[str, Binding]]:
    """Loops, with, try, match: what they bind themselves, then their blocks."""
    if isinstance(statement, ir.For):
        for name in target_names(statement.target):
            yield name, OtherBinding(True)
    if isinstance(statement, ir.With):
        for item in statement.items:
            if item.target is not None:
                for name in target_names(item.target):
                    yield name, OtherBinding(True)
    for block in child_blocks(statement):
        yield from _scan(program, scope, block, type(statement) is not ir.With)


def child_blocks(statement: ir.Stmt) -> tuple[tuple[ir.Stmt, ...], ...]:
    """The statement blocks directly inside a compound statement."""
    if isinstance(statement, (ir.For, ir.While, ir.If)):
        return (statement.body, statement.orelse)
    if isinstance(statement, ir.With):
        return (statement.body,)
    if isinstance(statement, ir.Try):
        return (statement.body, *(h.body for h in statement.handlers), statement.orelse, statement.final)
    if isinstance(statement, ir.Match):
        return tuple(case.body for case in statement.cases)
    return ()


def target_names(target: ir.Expr) -> Iterator[str]:
    """Plain names bound by an assignment target."""
    if isinstance(target, ir.Name):
        yield target.id
    elif isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        for item in target.items:
            yield from target_names(item)
    elif isinstance(target, ir.Starred):
        yield from target_names(target.value)
