"""Statements: the flow through a body.

In: a block of the IR and the frame. Out: the frame's variables after it, `alive` False where control does not come out.
Loops run until their variables stop changing; where paths meet, names join.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contextc.analyzer.inference.arithmetic import binary
from contextc.analyzer.inference.bare_containers import fit_containers
from contextc.analyzer.inference.binding import parameter_cell
from contextc.analyzer.inference.bindings import static_truth
from contextc.analyzer.inference.decided import is_impossible
from contextc.analyzer.inference.decorators import define
from contextc.analyzer.inference.expressions import evaluate, evaluate_symbolic
from contextc.analyzer.inference.flow import evaluate_match, evaluate_try
from contextc.analyzer.inference.implicit_calls import (
    enter,
    iterate,
    iterate_async,
    may_swallow,
    test_truth,
)
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.lazy_names import ask_module
from contextc.analyzer.inference.narrowing import join_environments, narrow
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.scopes import bind_name, bind_target, unbind_target
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import NOTHING, ClassObject, Instance, SpecialForm, Value, ValueSet

MAX_ROUNDS = 4  # of one loop, for a long chain of variables; a fixed number of monotone rounds is monotone too


def run_block(frame: Frame, body: tuple[ir.Stmt, ...]) -> None:
    """Runs statements in order until control leaves the block."""
    for statement in body:
        if not frame.alive:
            return
        _RUNNERS[type(statement)](frame, statement)


def _evaluate(frame: Frame, statement: ir.Evaluate) -> None:
    evaluate(frame, statement.value)
    if isinstance(statement.value, ir.Call) and _never_returns(statement.value):
        frame.alive = False


def _never_returns(call: ir.Call) -> bool:
    func = call.func
    return (
        isinstance(func, ir.Attribute)
        and isinstance(func.value, ir.Name)
        and (func.value.id, func.attr) in (("sys", "exit"), ("os", "_exit"), ("os", "abort"))
    )


def _assign(frame: Frame, statement: ir.Assign) -> None:
    frame.copies = _is_copy(frame, statement)
    values = evaluate_symbolic(frame, statement.value)
    frame.copies = False
    for target in statement.targets:
        if isinstance(target, ir.Name):
            bind_name(frame, target.id, values)
        else:
            bind_target(frame, target, values if isinstance(target, ir.Attribute) else frame.expand(values))


def _is_copy(frame: Frame, statement: ir.Assign) -> bool:
    """Whether a statement is `self.a = self.b`, in a method of its own."""
    own = frame.kernel.first_parameter(frame.unit) if frame.unit.is_function else None
    return own is not None and all(
        isinstance(part, ir.Attribute) and isinstance(part.value, ir.Name) and part.value.id == own
        for part in (*statement.targets, statement.value)
    )


def _annotated(frame: Frame, statement: ir.AnnotatedAssign) -> None:
    """`x: T = value`: the declaration holds for whoever reads the name later; flow keeps the value."""
    kernel = frame.kernel
    declared = kernel.annotations.read(statement.annotation, frame.unit)
    symbolic = evaluate_symbolic(frame, statement.value) if statement.value is not None else NOTHING
    values = frame.expand(symbolic)
    if kernel.is_weak(declared):
        kept = frozenset(v for v in declared if not isinstance(v, SpecialForm))
        stored = symbolic if isinstance(statement.target, ir.Attribute) else values
        bind_target(frame, statement.target, stored | kept)
        return
    if isinstance(statement.target, ir.Name):
        bind_name(frame, statement.target.id, declared | fit_containers(frame, declared, values))
        if frame.unit.is_function and statement.value is not None:
            frame.env[statement.target.id] = _narrowed_by(frame, statement.value, values, declared)
    else:
        bind_target(frame, statement.target, declared)
        if statement.value is not None:
            bind_target(frame, statement.target, _narrowed_by(frame, statement.value, values, declared))


_MAKING = (ir.TupleExpr, ir.ListExpr, ir.SetExpr, ir.DictExpr, ir.Comprehension)


def _narrowed_by(frame: Frame, expr: ir.Expr, values: ValueSet, declared: ValueSet) -> ValueSet:
    """What an assignment leaves of a declaration: each value more precise than it where the text shows that one is
    made here; else the declaration, and containers whose elements are known."""
    made = isinstance(expr, (*_MAKING, ir.Constant)) or (isinstance(expr, ir.Call) and _makes(frame, expr.func))
    if not made:
        fitting = fit_containers(frame, declared, values)
        return declared | fitting.union(v for v in values if isinstance(v, Instance) and v.site is not None)
    found: set[Value] = set()
    for value in values:
        found |= {_with_arguments(frame, value, declared)} if isinstance(value, (Instance, ClassObject)) else declared
    return frozenset(found)


def _with_arguments(frame: Frame, value: Instance | ClassObject, declared: ValueSet) -> Value:
    """`x: Box[User] = Box()` makes a box of users: an object of a generic class of the repository."""
    if isinstance(value, ClassObject) or value.args or not frame.kernel.classes.in_repository(value.cls):
        return value
    told = [v for v in declared if isinstance(v, Instance) and v.cls == value.cls and v.args]
    return frame.kernel.make.instance(value.cls, value.grip, told[0].args, value.site) if len(told) == 1 else value


def _makes(frame: Frame, func: ir.Expr) -> bool:
    """Whether a callee is a class by the text."""
    resolved = frame.kernel.statics.resolve_expression(frame.unit, func)
    return bool(resolved) and all(isinstance(item, Definition) and item.is_class for item in resolved)


def _augmented(frame: Frame, statement: ir.AugmentedAssign) -> None:
    left = evaluate(frame, statement.target)
    right = evaluate(frame, statement.value)
    result = binary(frame, statement.op, left, right, statement.at, in_place=True)
    containers = frozenset(v for v in left if isinstance(v, Instance) and v.site is not None)
    if containers and statement.op == "+":
        for value in containers:
            assert value is not None
            _extend(frame, value, right)
        result |= containers
    bind_target(frame, statement.target, result)


def _extend(frame: Frame, value: Value, added: ValueSet) -> None:
    from contextc.analyzer.inference.generics import element_values

    if isinstance(value, Instance) and value.site is not None and "#" not in value.site:
        frame.write(("arg", value.site, 0), element_values(frame, added))


def _alias(frame: Frame, statement: ir.TypeAlias) -> None:
    instances = frame.kernel.annotations.read(statement.value, frame.unit)
    bind_name(frame, statement.name, frame.kernel.annotations.classes_of(instances))


def _return(frame: Frame, statement: ir.Return) -> None:
    values = evaluate_symbolic(frame, statement.value) if statement.value is not None else frame.kernel.none
    frame.write_result(frame.expand(values) if frame.unit.facts.is_generator else values)
    frame.alive = False


def _raise(frame: Frame, statement: ir.Raise) -> None:
    for part in (statement.error, statement.cause):
        if part is not None:
            raised = evaluate(frame, part)
            if part is statement.error and not isinstance(part, ir.Call):
                _construct_raised(frame, raised, statement.at)
    frame.alive = False


def _construct_raised(frame: Frame, raised: ValueSet, at: int) -> None:
    """`raise Error` makes an instance of the class."""
    from contextc.analyzer.inference.attributes import implicit_outcome
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value

    for value in raised:
        if isinstance(value, ClassObject) and frame.kernel.classes.in_repository(value.cls):
            outcome = implicit_outcome(frame, at, "raise")
            call_value(frame, value, Arguments((), ()), -1, outcome, (EdgeKind.CONSTRUCT, Rule.CONSTRUCTOR))


def _assert(frame: Frame, statement: ir.Assert) -> None:
    test_truth(frame, evaluate(frame, statement.test), statement.at)
    if statement.message is not None:
        evaluate(frame, statement.message)
    narrow(frame, statement.test, True)


def _delete(frame: Frame, statement: ir.Delete) -> None:
    for target in statement.targets:
        unbind_target(frame, target)


def _import(frame: Frame, statement: ir.Import) -> None:
    kernel = frame.kernel
    for item in statement.names:
        name = item.name if item.asname is not None else item.name.partition(".")[0]
        module = kernel.program.find_module(name, frame.unit.module)
        value: Value = kernel.make.module(module.module_id) if module is not None else kernel.make.external(name)
        bind_name(frame, item.asname or name, frozenset({value}))


def _import_from(frame: Frame, statement: ir.ImportFrom) -> None:
    kernel = frame.kernel
    source = kernel.program.absolute_name(frame.unit.module, statement.level, statement.module)
    module = kernel.program.find_module(source, frame.unit.module) if source else None
    for item in statement.names:
        if item.name == "*":
            if module is not None:
                for name in kernel.statics.exported_names(module):
                    bind_name(frame, name, kernel.module_member(module, name, frame.order))
            continue
        bind_name(frame, item.asname or item.name, _imported(frame, source, item.name, item.at))


def _imported(frame: Frame, source: str | None, name: str, at: int) -> ValueSet:
    kernel = frame.kernel
    importer = frame.unit.module
    module = kernel.program.find_module(source, importer) if source else None
    if module is None:
        return frozenset({kernel.make.external(f"{source or '?'}.{name}")})
    if module is importer and module.is_package:
        submodule = kernel.program.find_module(f"{module.name}.{name}", importer)
        if submodule is not None:
            return frozenset({kernel.make.module(submodule.module_id)})
    found = kernel.module_member(module, name, frame.order, patched=False) | ask_module(frame, module, name, at)
    bound = name in kernel.statics.table(module.body).names
    if not bound:
        submodule = kernel.program.find_module(f"{module.name}.{name}", importer)
        if submodule is not None:
            return found | {kernel.make.module(submodule.module_id)}
        if not module.in_repository and not found:
            return frozenset({kernel.make.external(f"{source}.{name}")})
    return found


def _if(frame: Frame, statement: ir.If) -> None:
    truth = static_truth(frame.kernel.program, frame.unit.module, statement.test)
    test_truth(frame, evaluate(frame, statement.test), statement.test.at)
    before = frame.env
    ends: list[dict[str, ValueSet]] = []
    for branch, wanted in ((statement.body, True), (statement.orelse, False)):
        if (truth is not None and truth is not wanted) or is_impossible(frame, statement.test, wanted):
            continue
        frame.env = dict(before)
        frame.alive = True
        narrow(frame, statement.test, wanted)
        run_block(frame, branch)
        if frame.alive:
            ends.append(frame.env)
    _meet(frame, ends, before)


def _meet(frame: Frame, ends: list[dict[str, ValueSet]], before: dict[str, ValueSet]) -> None:
    """Joins the ends of several paths; with none left, control does not come out."""
    frame.alive = bool(ends)
    frame.env = join_environments(frame, ends) if ends else before


def _loop(frame: Frame, start: Callable[[], None], body: tuple[ir.Stmt, ...], orelse: tuple[ir.Stmt, ...]) -> None:
    before = dict(frame.env)
    head = before
    breaks: list[dict[str, ValueSet]] = []
    for _ in range(MAX_ROUNDS):
        frame.env = dict(head)
        frame.alive = True
        frame.jumps.append(([], []))
        start()
        run_block(frame, body)
        stops, again = frame.jumps.pop()
        ends = [*again, frame.env] if frame.alive else again
        breaks = stops
        joined = join_environments(frame, [head, *ends])
        if joined == head:
            break
        head = joined
    frame.env = dict(head)
    frame.alive = True
    run_block(frame, orelse)
    _meet(frame, [*breaks, frame.env] if frame.alive else breaks, before)


def _while(frame: Frame, statement: ir.While) -> None:
    def start() -> None:
        test_truth(frame, evaluate(frame, statement.test), statement.test.at)
        narrow(frame, statement.test, True)

    _loop(frame, start, statement.body, statement.orelse)


def _for(frame: Frame, statement: ir.For) -> None:
    source = evaluate(frame, statement.iter)
    step = iterate_async if statement.is_async else iterate
    items = step(frame, source, statement.at)

    def start() -> None:
        bind_target(frame, statement.target, items)

    _loop(frame, start, statement.body, statement.orelse)


def _with(frame: Frame, statement: ir.With) -> None:
    """Where the body does not end, the code after it still runs if a manager can swallow what was raised."""
    swallows = False
    for item in statement.items:
        managers = evaluate(frame, item.context)
        swallows = swallows or may_swallow(frame, managers, statement.is_async)
        entered = enter(frame, managers, item.at, statement.is_async)
        if item.target is not None:
            bind_target(frame, item.target, entered)
    before = dict(frame.env)
    run_block(frame, statement.body)
    if not frame.alive and swallows:
        frame.alive = True
        frame.env = join_environments(frame, [before, frame.env])


def _jump(frame: Frame, statement: ir.Jump) -> None:
    if frame.jumps:
        frame.jumps[-1][0 if statement.kind == "break" else 1].append(frame.env)
    frame.alive = False


def _try(frame: Frame, statement: ir.Try) -> None:
    evaluate_try(frame, statement, run_block)


def _match(frame: Frame, statement: ir.Match) -> None:
    evaluate_match(frame, statement, run_block)


def evaluate_defaults(frame: Frame, definition: Definition) -> None:
    """Default values reach the parameters' cells."""
    for parameter in definition.facts.parameters:
        if parameter.default is not None:
            values = evaluate(frame, parameter.default)
            frame.write(parameter_cell(definition, parameter), values)
            frame.write(("default", definition.id, parameter.name), values)


_RUNNERS: dict[type[Any], Callable[[Frame, Any], None]] = {
    ir.Evaluate: _evaluate, ir.Assign: _assign, ir.AnnotatedAssign: _annotated, ir.AugmentedAssign: _augmented,
    ir.TypeAlias: _alias, ir.Return: _return, ir.Raise: _raise, ir.Assert: _assert, ir.Delete: _delete,
    ir.Import: _import, ir.ImportFrom: _import_from, ir.Define: define, ir.If: _if, ir.While: _while, ir.For: _for,
    ir.With: _with, ir.Try: _try, ir.Match: _match, ir.Jump: _jump,
}  # fmt: skip

