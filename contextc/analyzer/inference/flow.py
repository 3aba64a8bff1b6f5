"""`try` and `match`: blocks that are entered from more than one place."""

from __future__ import annotations

from collections.abc import Callable

from contextc.analyzer.inference.attributes import read_attributes
from contextc.analyzer.inference.expressions import evaluate
from contextc.analyzer.inference.generics import tuple_items
from contextc.analyzer.inference.implicit_calls import iterate
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.narrowing import join_environments, keep_instances, path_of
from contextc.analyzer.inference.scopes import bind_name
from contextc.model import ir
from contextc.model.value import NOTHING, ClassObject, External, Grip, Instance, Literal, Value, ValueSet

RunBlock = Callable[[Frame, tuple[ir.Stmt, ...]], None]
Environment = dict[str, ValueSet]


def evaluate_try(frame: Frame, statement: ir.Try, run_block: RunBlock) -> None:
    """A handler can be entered from before each statement of the body; `finally` from every end."""
    before = frame.env
    entries: list[Environment] = [dict(before)]
    frame.env = dict(before)
    for part in statement.body:
        if not frame.alive:
            break
        run_block(frame, (part,))
        entries.append(dict(frame.env))
    ends: list[Environment] = []
    if frame.alive:
        run_block(frame, statement.orelse)
        if frame.alive:
            ends.append(frame.env)
    entered = join_environments(entries)
    for handler in statement.handlers:
        frame.env = dict(entered)
        frame.alive = True
        _bind_error(frame, handler, statement.star)
        run_block(frame, handler.body)
        if handler.name is not None:
            frame.env.pop(handler.name, None)
        if frame.alive:
            ends.append(frame.env)
    alive = bool(ends)
    frame.env = join_environments(ends) if ends else dict(entered)
    frame.alive = True
    run_block(frame, statement.final)
    frame.alive = frame.alive and alive


def _bind_error(frame: Frame, handler: ir.Handler, star: bool) -> None:
    classes = evaluate(frame, handler.type) if handler.type is not None else NOTHING
    if handler.name is None:
        return
    make = frame.kernel.make
    found: set[Value] = set()
    for value in _flatten(frame, classes):
        if isinstance(value, ClassObject):
            found.add(make.instance(value.cls, Grip.DECLARED))
        elif isinstance(value, External):
            found.add(make.external(f"{value.name}()"))
        else:
            found.add(value)
    if star:
        group = frame.kernel.library_class("builtins", "ExceptionGroup")
        found = {make.instance(group, Grip.DECLARED, (frozenset(found),))} if group is not None else found
    bind_name(frame, handler.name, frozenset(found))


def _flatten(frame: Frame, values: ValueSet) -> ValueSet:
    """Exception classes, those in tuples included."""
    found: set[Value] = set()
    for value in values:
        items = tuple_items(frame, value) if isinstance(value, Instance) else None
        if items is not None:
            found |= frozenset().union(*items)
        elif isinstance(value, Instance):
            found |= iterate(frame, frozenset({value}), -1)
        else:
            found.add(value)
    return frozenset(found)


def evaluate_match(frame: Frame, statement: ir.Match, run_block: RunBlock) -> None:
    """Cases in order; a class pattern narrows the subject, and a case without guard takes its values away."""
    subject = evaluate(frame, statement.subject)
    path = path_of(statement.subject)
    before = frame.env
    ends: list[Environment] = []
    remaining = subject
    for case in statement.cases:
        frame.env = dict(before)
        frame.alive = True
        matched = bind_pattern(frame, case.pattern, remaining)
        if path is not None:
            frame.dotted.add(path.partition(".")[0])
            frame.env[path] = matched
        if case.guard is not None:
            evaluate(frame, case.guard)
        run_block(frame, case.body)
        if frame.alive:
            ends.append(frame.env)
        if case.guard is None:
            remaining = _left_over(frame, case.pattern, remaining)
    if not any(_always_matches(c.pattern) and c.guard is None for c in statement.cases):
        ends.append(dict(before))
    frame.alive = bool(ends)
    frame.env = join_environments(ends) if ends else before


def _always_matches(pattern: ir.Pattern) -> bool:
    return isinstance(pattern, ir.MatchAs) and (pattern.pattern is None or _always_matches(pattern.pattern))


def _left_over(frame: Frame, pattern: ir.Pattern, values: ValueSet) -> ValueSet:
    if isinstance(pattern, ir.MatchClass) and not pattern.patterns and not pattern.keyword_patterns:
        classes = [v for v in evaluate(frame, pattern.cls) if isinstance(v, ClassObject)]
        return keep_instances(frame, values, classes, False) if classes else values
    if isinstance(pattern, ir.MatchOr):
        for part in pattern.patterns:
            values = _left_over(frame, part, values)
    return values


def bind_pattern(frame: Frame, pattern: ir.Pattern, values: ValueSet) -> ValueSet:
    """Binds a pattern's names; returns the values that can match it."""
    if isinstance(pattern, ir.MatchAs):
        matched = bind_pattern(frame, pattern.pattern, values) if pattern.pattern is not None else values
        if pattern.name is not None:
            bind_name(frame, pattern.name, matched)
        return matched
    if isinstance(pattern, ir.MatchOr):
        found: set[Value] = set()
        for part in pattern.patterns:
            found |= bind_pattern(frame, part, values)
        return frozenset(found)
    if isinstance(pattern, ir.MatchClass):
        return _bind_class(frame, pattern, values)
    if isinstance(pattern, ir.MatchSequence):
        return _bind_sequence(frame, pattern, values)
    if isinstance(pattern, ir.MatchMapping):
        return _bind_mapping(frame, pattern, values)
    if isinstance(pattern, ir.MatchValue):
        expected = evaluate(frame, pattern.value)
        literals = {v for v in expected if isinstance(v, Literal)}
        return frozenset(v for v in values if not isinstance(v, Literal) or not literals or v in literals)
    return values


def _bind_class(frame: Frame, pattern: ir.MatchClass, values: ValueSet) -> ValueSet:
    classes = [v for v in evaluate(frame, pattern.cls) if isinstance(v, ClassObject)]
    matched = keep_instances(frame, values, classes, True) if classes else values
    names = _match_args(frame, classes)
    for index, part in enumerate(pattern.patterns):
        inner = matched
        if index < len(names):
            inner = read_attributes(frame, matched, names[index], -1)
        bind_pattern(frame, part, inner)
    for name, part in zip(pattern.keywords, pattern.keyword_patterns, strict=False):
        bind_pattern(frame, part, read_attributes(frame, matched, name, pattern.at))
    return matched


def _match_args(frame: Frame, classes: list[ClassObject]) -> list[str]:
    """`__match_args__`: as written, or the fields of a data class."""
    from contextc.analyzer.inference.bindings import ValueBinding
    from contextc.analyzer.inference.classes import declared_fields

    kernel = frame.kernel
    for cls in classes:
        if not kernel.classes.in_repository(cls.cls):
            continue
        for binding in kernel.statics.table(kernel.definition(cls.cls)).names.get("__match_args__", []):
            if isinstance(binding, ValueBinding) and isinstance(binding.value, (ir.TupleExpr, ir.ListExpr)):
                return [str(i.value) for i in binding.value.items if isinstance(i, ir.Constant)]
        return [name for name, _, _ in declared_fields(kernel.statics, kernel.classes, cls.cls)]
    return []


def _bind_sequence(frame: Frame, pattern: ir.MatchSequence, values: ValueSet) -> ValueSet:
    element = iterate(frame, values, -1)
    for index, part in enumerate(pattern.patterns):
        if isinstance(part, ir.MatchStar):
            if part.name is not None:
                site = frame.site_key(part.at)
                frame.write(("arg", site, 0), element)
                bind_name(frame, part.name, frozenset({frame.kernel.builtin("list", (), site)}))
            continue
        known: set[Value] = set()
        for value in values:
            items = tuple_items(frame, value) if isinstance(value, Instance) else None
            if items is not None and len(items) == len(pattern.patterns):
                known |= items[index]
        bind_pattern(frame, part, frozenset(known) or element)
    return values


def _bind_mapping(frame: Frame, pattern: ir.MatchMapping, values: ValueSet) -> ValueSet:
    from contextc.analyzer.inference.implicit_calls import subscript

    for key, part in zip(pattern.keys, pattern.patterns, strict=False):
        bind_pattern(frame, part, subscript(frame, values, evaluate(frame, key), False, -1))
    if pattern.rest is not None:
        bind_name(frame, pattern.rest, frozenset(v for v in values if isinstance(v, Instance)))
    return values
