"""Expressions to values.

In: an expression of the IR and the frame's local variables. Out: a value set; calls and implicit calls met on the way
are recorded in the resolution pass. One function per kind of expression, found by the node's class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contextc.analyzer.inference import dynamic
from contextc.analyzer.inference.arithmetic import binary
from contextc.analyzer.inference.attributes import read_attributes
from contextc.analyzer.inference.bare_containers import without_unsaid
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import PLAIN, How, call_values
from contextc.analyzer.inference.conversions import convert, look_up, run_conversions
from contextc.analyzer.inference.decided import is_impossible
from contextc.analyzer.inference.dictionaries import copy_items, is_dict, join_dicts, store_item, store_unknown
from contextc.analyzer.inference.generics import cut_tuple, tuple_items
from contextc.analyzer.inference.implicit_calls import (
    await_values,
    call_method,
    compare,
    iterate,
    iterate_async,
    pick,
    subscript,
    test_truth,
)
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.memory import REMEMBERED, item_path_of, path_of
from contextc.analyzer.inference.narrowing import narrow
from contextc.analyzer.inference.patches import patch_by_fixture
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome, describe_callee
from contextc.analyzer.inference.scopes import bind_name, bind_target, read_name
from contextc.analyzer.inference.texts import join_text, shown_parts, text_operation, text_parts
from contextc.model import ir
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import (
    NOTHING,
    ClassObject,
    FunctionValue,
    Grip,
    Instance,
    Literal,
    ModuleValue,
    SpecialForm,
    SuperObject,
    Value,
    ValueSet,
)


def evaluate(frame: Frame, expr: ir.Expr) -> ValueSet:
    """The values of an expression."""
    values = evaluate_symbolic(frame, expr)
    values = frame.expand(values) if isinstance(expr, _CARRIERS) else values
    return values if frame.recorder is None else without_unsaid(frame, values)


def evaluate_symbolic(frame: Frame, expr: ir.Expr) -> ValueSet:
    """The same, with parameters that come through unchanged left as `Given`: for what is returned, passed on, or bound
    to another name."""
    kind = type(expr)
    if frame.memory is None or kind not in REMEMBERED:
        return _EVALUATORS[kind](frame, expr)
    return frame.memory.evaluate(frame, _EVALUATORS[kind], expr)


_CARRIERS = (ir.Name, ir.Subscript, ir.Call, ir.Conditional, ir.BoolOp, ir.NamedExpr)


def _name(frame: Frame, expr: ir.Name) -> ValueSet:
    return read_name(frame, expr.id)


def _constant(frame: Frame, expr: ir.Constant) -> ValueSet:
    return frame.kernel.constant(expr)


def _fstring(frame: Frame, expr: ir.FString) -> ValueSet:
    """With one replacement field one text for each of its values; with several the text around them."""
    parts: list[str | None] = []
    fields: list[tuple[int, ir.Expr, ValueSet]] = []
    for part in expr.parts:
        if isinstance(part, ir.Constant):
            parts.append(str(part.value) if part.value is not None else None)
            continue
        values = evaluate(frame, part)
        name = dynamic.module_name(frame, part)
        if name is None:
            fields.append((len(parts), part, values))
        parts.append(name)
    if len(fields) != 1:
        return frozenset({join_text(frame, parts)})
    index, field, values = fields[0]
    plain = not isinstance(field, ir.Formatted) or (field.spec is None and field.conversion in ("", "s"))
    found: set[Value] = set()
    for value in values if values or frame.recorder is None else (None,):
        inner = shown_parts(value) if plain and value is not None else (None,)
        found.add(join_text(frame, (*parts[:index], *inner, *parts[index + 1 :])))
    return frozenset(found)


def _formatted(frame: Frame, expr: ir.Formatted) -> ValueSet:
    values = evaluate(frame, expr.value)
    if expr.spec is not None:
        evaluate(frame, expr.spec)
    if expr.conversion in ("r", "a"):
        convert(frame, values, ("__repr__",), expr.at)
    elif expr.conversion == "s":
        convert(frame, values, ("__str__", "__repr__"), expr.at)
    else:
        convert(frame, values, ("__format__", "__str__", "__repr__"), expr.at)
    return values


def _attribute(frame: Frame, expr: ir.Attribute) -> ValueSet:
    path = path_of(expr)
    if path is not None and path in frame.env:
        _note_read(frame, evaluate(frame, expr.value), expr)
        return frame.env[path]
    values = read_attributes(frame, evaluate(frame, expr.value), expr.attr, expr.at)
    return dynamic.name_classes(frame, expr, values) if expr.attr == "__name__" else values


def _note_read(frame: Frame, owner: ValueSet, expr: ir.Attribute) -> None:
    """What flow knows of an attribute spares no run of its property."""
    if frame.recorder is not None:
        read_attributes(frame, owner, expr.attr, expr.at)


def _subscript(frame: Frame, expr: ir.Subscript) -> ValueSet:
    path = item_path_of(expr)
    if path is not None and path in frame.env:
        return frame.env[path]
    values = evaluate(frame, expr.value)
    sequences = {v: items for v in values if isinstance(v, Instance) and (items := tuple_items(frame, v, True))}
    rest = values.difference(sequences)
    if isinstance(expr.key, ir.Slice):
        evaluate(frame, expr.key)
        found = {cut_tuple(frame, items, expr.key, expr.at) for items in sequences.values()}
        return frozenset(found) | subscript(frame, rest, NOTHING, True, expr.at)
    key = evaluate(frame, expr.key)
    return subscript(frame, rest, key, False, expr.at).union(*(pick(frame, i, key) for i in sequences.values()))


def _slice(frame: Frame, expr: ir.Slice) -> ValueSet:
    for part in (expr.lower, expr.upper, expr.step):
        if part is not None:
            evaluate(frame, part)
    return frozenset({frame.kernel.builtin("slice")})


# ------------------------------------------------------------------------------------------------------ calls


def evaluate_arguments(frame: Frame, args: tuple[ir.Argument, ...]) -> Arguments:
    """The values of a call's arguments, in source order."""
    positional: list[tuple[str, ValueSet]] = []
    keywords: list[tuple[str | None, ValueSet]] = []
    for argument in args:
        values = evaluate_symbolic(frame, argument.value)
        if argument.keyword is not None:
            keywords.append((argument.keyword, values))
        elif argument.star == "**":
            keywords.append((None, frame.expand(values)))
        else:
            positional.append((argument.star, frame.expand(values) if argument.star else values))
    return Arguments(tuple(positional), tuple(keywords))


def _call(frame: Frame, expr: ir.Call) -> ValueSet:
    owner: ValueSet = NOTHING
    if isinstance(expr.func, ir.Attribute):
        owner, callees = _read_method(frame, expr.func)
    else:
        callees = evaluate(frame, expr.func)
    special = dynamic.evaluate_special_call(frame, expr, callees)
    args = evaluate_arguments(frame, expr.args)
    if dynamic.reveals(callees):
        special = dynamic.reveal_argument(frame, args, expr.at)
    patch_by_fixture(frame, expr, args)
    outcome: Outcome | None = None
    if frame.recorder is not None:
        outcome = frame.recorder.open_call(frame.unit.id, expr.at, describe_callee(expr.func))
        if not callees:
            reason = _why_empty(frame, expr.func, owner)
            outcome.reasons.add(reason)
            special |= frame.kernel.open(reason)  # what comes back is unknown too: beside it nothing else is certain
    how = _how(frame, expr.func, owner, callees) if outcome is not None else PLAIN
    result = call_values(frame, callees, args, expr.at, outcome, how)
    result |= special
    run_conversions(frame, callees, args, expr.at)
    return result


def _read_method(frame: Frame, func: ir.Attribute) -> tuple[ValueSet, ValueSet]:
    """The receiver and the method of `receiver.method(…)`, each evaluated once."""
    owner = evaluate(frame, func.value)
    path = path_of(func)
    if path is not None and path in frame.env:
        _note_read(frame, owner, func)
        return owner, frame.env[path]
    if frame.memory is not None:
        return owner, frame.memory.recall(~id(func), (owner,), read_attributes, frame, owner, func.attr, func.at)
    return owner, read_attributes(frame, owner, func.attr, func.at)


def _why_empty(frame: Frame, func: ir.Expr, owner: ValueSet) -> Reason:
    """Why nothing is known of a callee."""
    if isinstance(func, ir.Attribute):
        known = [v for v in owner if isinstance(v, (Instance, ClassObject, ModuleValue, Literal))]
        return Reason.MISSING_ATTRIBUTE if known else Reason.UNTYPED_RECEIVER
    if isinstance(func, ir.Name):
        return Reason.UNKNOWN_CALLABLE if _is_bound(frame, func.id) else Reason.UNBOUND_NAME
    return Reason.UNKNOWN_CALLABLE


def _is_bound(frame: Frame, name: str) -> bool:
    at: Definition | None = frame.unit
    while at is not None:
        if name in at.facts.bindings:
            return True
        at = at.parent
    return bool(frame.kernel.statics.resolve_name(frame.unit, name))


def _how(frame: Frame, func: ir.Expr, owner: ValueSet, callees: ValueSet) -> How:
    """Kind and rule of a call by how the callee is written."""
    if isinstance(func, ir.Name):
        if _is_imported(frame, func.id):
            return EdgeKind.CALL, Rule.IMPORT
        named = any(isinstance(c, FunctionValue) and c.symbol.endswith(func.id) for c in callees)
        return EdgeKind.CALL, Rule.NAME if named else Rule.CALLABLE_VALUE
    if isinstance(func, ir.Attribute):
        if any(isinstance(v, SuperObject) for v in owner):
            return EdgeKind.SUPER, Rule.SUPER
        if any(isinstance(v, ModuleValue) for v in owner):
            return EdgeKind.CALL, Rule.MODULE_ATTRIBUTE
        if any(isinstance(v, ClassObject) for v in owner):
            return EdgeKind.CALL, Rule.CLASS_ATTRIBUTE
    return EdgeKind.CALL, Rule.CALLABLE_VALUE


def _is_imported(frame: Frame, name: str) -> bool:
    from contextc.analyzer.inference.bindings import FromBinding

    at: Definition | None = frame.unit
    while at is not None:
        bindings = frame.kernel.statics.table(at).names.get(name)
        if bindings:
            return isinstance(bindings[-1], FromBinding)
        at = at.parent
    return False


def _lambda(frame: Frame, expr: ir.Lambda) -> ValueSet:
    definition = frame.unit.module.definitions[expr.symbol]
    from contextc.analyzer.inference.statements import evaluate_defaults

    evaluate_defaults(frame, definition)
    return frozenset({frame.function_value(definition)})


# ------------------------------------------------------------------------------------------------------ displays


def _tuple(frame: Frame, expr: ir.TupleExpr) -> ValueSet:
    return _display(frame, expr, "tuple")


def _list(frame: Frame, expr: ir.ListExpr) -> ValueSet:
    return _display(frame, expr, "list")


def _set(frame: Frame, expr: ir.SetExpr) -> ValueSet:
    return _display(frame, expr, "set")


def _display(frame: Frame, expr: ir.TupleExpr | ir.ListExpr | ir.SetExpr, name: str) -> ValueSet:
    """A tuple, list or set display: its allocation site holds the elements; a tuple's and a list's also each index."""
    starred = any(isinstance(item, ir.Starred) for item in expr.items)
    site = frame.site_key(expr.at)
    if name != "set" and not starred and len(expr.items) <= 8:
        site = f"{site}#{len(expr.items)}"
    for index, item in enumerate(expr.items):
        if isinstance(item, ir.Starred):
            frame.write(("arg", site, 0), iterate(frame, evaluate(frame, item.value), item.at))
            continue
        values = evaluate(frame, item)
        frame.write(("arg", site, 0), values)
        if name != "set":
            frame.write(("index", site, index), values)
        else:
            look_up(frame, values, expr.at)
    return frozenset({frame.kernel.builtin(name, (), site)})


def _dict(frame: Frame, expr: ir.DictExpr) -> ValueSet:
    site = frame.site_key(expr.at)
    for item in expr.items:
        values = evaluate(frame, item.value)
        if item.key is not None:
            key = evaluate(frame, item.key)
            look_up(frame, key, expr.at)
            store_item(frame, site, key, values)
            continue
        for value in values:
            copy_items(frame, value, site)
    return frozenset({frame.kernel.builtin("dict", (), site)})


def _starred(frame: Frame, expr: ir.Starred) -> ValueSet:
    return iterate(frame, evaluate(frame, expr.value), expr.at)


def _comprehension(frame: Frame, expr: ir.Comprehension) -> ValueSet:
    """A comprehension: its targets live only inside, a walrus in it binds outside (PEP 572)."""
    outer = frame.env
    frame.env = dict(outer)
    inner_names: set[str] = set()
    for clause in expr.generators:
        source = evaluate(frame, clause.iter)
        items = iterate_async(frame, source, clause.at) if clause.is_async else iterate(frame, source, clause.at)
        bind_target(frame, clause.target, items, local=inner_names)
        for condition in clause.conditions:
            test_truth(frame, evaluate(frame, condition), condition.at)
            narrow(frame, condition, True)
    element = evaluate(frame, expr.element)
    value = evaluate(frame, expr.value) if expr.value is not None else NOTHING
    if expr.kind in ("dict", "set"):
        look_up(frame, element, expr.at, is_sure=False)
    kept = {n: v for n, v in frame.env.items() if n not in inner_names and n in frame.unit.facts.bindings}
    frame.env = {**outer, **kept}
    return _comprehension_value(frame, expr, element, value)


def _comprehension_value(frame: Frame, expr: ir.Comprehension, element: ValueSet, value: ValueSet) -> ValueSet:
    site = frame.site_key(expr.at)
    frame.write(("arg", site, 0), element)
    if expr.kind == "dict":
        store_unknown(frame, site, value)
    if expr.kind != "generator":
        return frozenset({frame.kernel.builtin(expr.kind, (), site)})
    name = "AsyncGenerator" if any(g.is_async for g in expr.generators) else "Generator"
    cls = frame.kernel.library_class("typing", name)
    return frozenset({frame.kernel.make.instance(cls, Grip.EXACT, (), site)}) if cls is not None else NOTHING


# ------------------------------------------------------------------------------------------------------ operators


def _conditional(frame: Frame, expr: ir.Conditional) -> ValueSet:
    test_truth(frame, evaluate(frame, expr.test), expr.test.at)
    before = dict(frame.env)
    found = NOTHING
    for branch, wanted in ((expr.body, True), (expr.orelse, False)):
        if not is_impossible(frame, expr.test, wanted):
            frame.env = dict(before)
            narrow(frame, expr.test, wanted)
            found |= evaluate_symbolic(frame, branch)
    frame.env = before
    return found


def _bool_op(frame: Frame, expr: ir.BoolOp) -> ValueSet:
    before = dict(frame.env)
    found: set[Value] = set()
    for index, part in enumerate(expr.values):
        values = evaluate_symbolic(frame, part)
        last = index == len(expr.values) - 1
        if not last:
            test_truth(frame, frame.expand(values), part.at)
            found |= _kept_by(frame, values, expr.op)
            if is_impossible(frame, part, expr.op == "and"):
                break
            narrow(frame, part, expr.op == "and")
        else:
            found |= values
    bound = {n: v for n, v in frame.env.items() if n not in before and n in frame.unit.facts.bindings}
    frame.env = {**before, **bound}
    return frozenset(found)


def _kept_by(frame: Frame, values: ValueSet, op: str) -> ValueSet:
    """What a non-last operand can contribute: `or` keeps what can be true, `and` what can be false."""
    kernel = frame.kernel
    if op == "or":
        return frozenset(v for v in values if v not in kernel.none and not _is_false(v))
    return frozenset(v for v in values if not isinstance(v, (FunctionValue, ClassObject, ModuleValue)))


def _is_false(value: Value) -> bool:
    return isinstance(value, Literal) and not value.value


def _unary(frame: Frame, expr: ir.UnaryOp) -> ValueSet:
    values = evaluate(frame, expr.operand)
    if expr.op == "not":
        test_truth(frame, values, expr.operand.at)
        return frozenset({frame.kernel.builtin("bool")})
    name = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[expr.op]
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Literal) and value.type == "int" and expr.op == "-":
            found.add(frame.kernel.make.literal("int", -int(value.value)))
        else:
            found |= call_method(frame, value, name, (), expr.at, Rule.OPERATOR)
    return frozenset(found)


def _binary(frame: Frame, expr: ir.BinaryOp) -> ValueSet:
    left = evaluate(frame, expr.left)
    right = evaluate(frame, expr.right)
    found: set[Value] = set()
    rest = left
    if expr.op in ("+", "%"):
        texts = frozenset(v for v in left if text_parts(v) is not None)
        found |= text_operation(frame, expr, texts, right)
        if texts and expr.op == "%":
            _convert_operands(frame, right, expr.at)
        rest -= texts
    if expr.op == "+":
        containers = frozenset(v for v in rest if isinstance(v, Instance) and v.cls in _JOINED)
        found |= _joined_containers(frame, containers, right, expr.at)
        rest -= containers
    elif expr.op == "*":  # `[None] * n` holds what its display holds
        repeated = {v for v in rest if isinstance(v, Instance) and v.cls == "~builtins:list"}
        found |= repeated
        rest -= repeated
    elif expr.op == "|":
        dicts = frozenset(v for v in rest if is_dict(frame, v))
        found |= join_dicts(frame, dicts, right, expr.at)
        rest -= dicts
        types = {v for v in rest if isinstance(v, (ClassObject, SpecialForm))}
        found |= types.union(right) if types else types
        rest -= types
    return frozenset(found) | binary(frame, expr.op, rest, right, expr.at, beside=left - rest)


def _convert_operands(frame: Frame, values: ValueSet, at: int) -> None:
    """`"%s" % x` converts x, or each item of a tuple."""
    for value in values:
        items = tuple_items(frame, value) if isinstance(value, Instance) else None
        for index, item in enumerate(items if items is not None else [frozenset({value})]):
            convert(frame, item, ("__str__", "__repr__"), at, index)


_JOINED = ("~builtins:list", "~builtins:tuple")


def _joined_containers(frame: Frame, left: ValueSet, right: ValueSet, at: int) -> ValueSet:
    """`[…] + […]`: a new list (or tuple) that holds both sides' elements."""
    from contextc.analyzer.inference.generics import element_values

    if not left:
        return NOTHING
    site = frame.site_key(at)
    frame.write(("arg", site, 0), element_values(frame, left) | element_values(frame, right))
    names = {v.cls for v in left if isinstance(v, Instance)}
    return frozenset(frame.kernel.make.instance(name, Grip.EXACT, (), site) for name in names)


def _compare(frame: Frame, expr: ir.Compare) -> ValueSet:
    left = evaluate(frame, expr.left)
    found: set[Value] = set()
    for op, comparator in zip(expr.ops, expr.comparators, strict=False):
        right = evaluate(frame, comparator)
        found |= compare(frame, op, left, right, expr.at)
        left = right
    return frozenset(found)


def _await(frame: Frame, expr: ir.Await) -> ValueSet:
    return await_values(frame, evaluate(frame, expr.value), expr.at)


def _yield(frame: Frame, expr: ir.Yield) -> ValueSet:
    values = evaluate(frame, expr.value) if expr.value is not None else frame.kernel.none
    frame.write(("yield", frame.unit.id), values)
    return frame.read(("sent", frame.unit.id))


def _yield_from(frame: Frame, expr: ir.YieldFrom) -> ValueSet:
    from contextc.analyzer.inference.generics import mapping_for

    values = evaluate(frame, expr.value)
    frame.write(("yield", frame.unit.id), iterate(frame, values, expr.at))
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Instance) and value.cls == "~typing:Generator":
            arguments = list(mapping_for(frame, value, "~typing:Generator").values())
            found |= arguments[2] if len(arguments) > 2 else NOTHING
    return frozenset(found)


def _named(frame: Frame, expr: ir.NamedExpr) -> ValueSet:
    values = evaluate_symbolic(frame, expr.value)
    bind_name(frame, expr.target, values)
    return values


def _unread(frame: Frame, expr: ir.Unread) -> ValueSet:
    return frame.kernel.open(Reason.SYNTAX)


_EVALUATORS: dict[type[Any], Callable[[Frame, Any], ValueSet]] = {
    ir.Name: _name, ir.Constant: _constant, ir.FString: _fstring, ir.Formatted: _formatted,
    ir.Attribute: _attribute, ir.Subscript: _subscript, ir.Slice: _slice, ir.Call: _call, ir.Lambda: _lambda,
    ir.TupleExpr: _tuple, ir.ListExpr: _list, ir.SetExpr: _set, ir.DictExpr: _dict, ir.Starred: _starred,
    ir.Comprehension: _comprehension, ir.Conditional: _conditional, ir.BoolOp: _bool_op, ir.UnaryOp: _unary,
    ir.BinaryOp: _binary, ir.Compare: _compare, ir.Await: _await, ir.Yield: _yield, ir.YieldFrom: _yield_from,
    ir.NamedExpr: _named, ir.Unread: _unread,
}  # fmt: skip
