"""`try` and `match`: blocks that are entered from more than one place."""

from __future__ import annotations

from collections.abc import Callable

from contextc.analyzer.inference.attributes import read_attributes
from contextc.analyzer.inference.expressions import evaluate
from contextc.analyzer.inference.generics import tuple_items
from contextc.analyzer.inference.implicit_calls import iterate
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.memory import path_of
from contextc.analyzer.inference.narrowing import Tested, join_environments, keep_instances, tested_classes
from contextc.analyzer.inference.scopes import bind_name
from contextc.model import ir
from contextc.model.edge import Reason
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
    entered = join_environments(frame, entries)
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
    frame.env = join_environments(frame, ends) if ends else dict(entered)
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
    frame.env = join_environments(frame, ends) if ends else before


def _always_matches(pattern: ir.Pattern) -> bool:
    return isinstance(pattern, ir.MatchAs) and (pattern.pattern is None or _always_matches(pattern.pattern))


def _left_over(frame: Frame, pattern: ir.Pattern, values: ValueSet) -> ValueSet:
    if isinstance(pattern, ir.MatchClass) and not pattern.patterns and not pattern.keyword_patterns:
        return keep_instances(frame, values, tested_classes(frame, pattern.cls), False)
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
        if not isinstance(pattern.value, ir.Constant):  # a name: what it means may not be known yet
            return values
        return frozenset(v for v in values if not isinstance(v, Literal) or v in expected)
    return values


def _bind_class(frame: Frame, pattern: ir.MatchClass, values: ValueSet) -> ValueSet:
    evaluate(frame, pattern.cls)
    tested = tested_classes(frame, pattern.cls)
    matched = keep_instances(frame, values, tested, True)
    orders = _match_args(frame, tested)
    for index, part in enumerate(pattern.patterns):
        inner: set[Value] = set() if orders else set(matched)
        for names in orders:
            inner |= read_attributes(frame, matched, names[index], -1) if index < len(names) else matched
        bind_pattern(frame, part, frozenset(inner))
    for name, part in zip(pattern.keywords, pattern.keyword_patterns, strict=False):
        bind_pattern(frame, part, read_attributes(frame, matched, name, pattern.at))
    return matched


def _match_args(frame: Frame, tested: Tested) -> list[list[str]]:
    """`__match_args__` of each class of the repository: as written, or the fields of a data class."""
    from contextc.analyzer.inference.classes import declared_fields

    kernel = frame.kernel
    found: list[list[str]] = []
    for cls in (*tested.named, *tested.others):
        if kernel.classes.in_repository(cls.cls):
            written = _written_args(frame, cls.cls)
            fields = [name for name, _, _ in declared_fields(kernel.statics, kernel.classes, cls.cls)]
            found.append(fields if written is None else written)
    return found


def _written_args(frame: Frame, cls: str) -> list[str] | None:
    from contextc.analyzer.inference.bindings import ValueBinding

    kernel = frame.kernel
    for binding in kernel.statics.table(kernel.definition(cls)).names.get("__match_args__", []):
        if isinstance(binding, ValueBinding) and isinstance(binding.value, (ir.TupleExpr, ir.ListExpr)):
            return [str(i.value) for i in binding.value.items if isinstance(i, ir.Constant)]
    return None


def _bind_sequence(frame: Frame, pattern: ir.MatchSequence, values: ValueSet) -> ValueSet:
    fixed = not any(isinstance(p, ir.MatchStar) for p in pattern.patterns)
    matched: set[Value] = set()
    parts: list[set[Value]] = [set() for _ in pattern.patterns]
    for value in values:
        items = tuple_items(frame, value) if fixed and isinstance(value, Instance) else None
        if items is not None and len(items) != len(parts):
            continue  # a tuple of another length does not match
        matched.add(value)
        elements = [iterate(frame, frozenset({value}), -1)] * len(parts) if items is None else items
        for part, item in zip(parts, elements, strict=True):
            part |= item
    for inner, found in zip(pattern.patterns, parts, strict=True):
        if not isinstance(inner, ir.MatchStar):
            bind_pattern(frame, inner, frozenset(found))
        elif inner.name is not None:
            site = frame.site_key(inner.at)
            frame.write(("arg", site, 0), frozenset(found))
            bind_name(frame, inner.name, frozenset({frame.kernel.builtin("list", (), site)}))
    return frozenset(matched)


def _is_declared(frame: Frame, value: Instance) -> bool:
    """Whether a value is a mapping of which it is declared what it holds: by type arguments, by its own class."""
    classes = frame.kernel.classes
    if not classes.is_known(value.cls) or not classes.is_subclass(value.cls, "~typing:Mapping"):
        return False
    return bool(value.args) or classes.in_repository(value.cls)


def _bind_mapping(frame: Frame, pattern: ir.MatchMapping, values: ValueSet) -> ValueSet:
    """A mapping pattern asks a subject what it is: what one of no declared type holds is never known in full."""
    from contextc.analyzer.inference.implicit_calls import subscript

    rest = NOTHING
    if frame.recorder is not None and not any(isinstance(v, Instance) and _is_declared(frame, v) for v in values):
        rest = frame.kernel.open(Reason.UNTYPED_RECEIVER)
    for key, part in zip(pattern.keys, pattern.patterns, strict=False):
        bind_pattern(frame, part, subscript(frame, values, evaluate(frame, key), False, -1) | rest)
    if pattern.rest is not None:
        bind_name(frame, pattern.rest, frozenset(v for v in values if isinstance(v, Instance)))
    return values
