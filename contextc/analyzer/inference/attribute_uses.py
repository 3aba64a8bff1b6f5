"""What a body uses on a name, by its text (stratum 1): the attributes an object must have to get through.

In: a definition and a path that it holds, a parameter `node` or `self.node`. Out: `Uses`. For
`def f(node): other = node; return other.visit(node.name)` the uses of `node` are `visit` and `name`.

A use counts where the path can still be the object that came in: aliases count, what stands after a rebinding does
not; where branches meet, a name is the object if it is on one of them. What stands under `isinstance`, `hasattr`,
`callable`, a test of its type or a handler of AttributeError is only used on some objects, and does not count. A scope
inside counts if it captures a name that is bound once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from contextc.analyzer.inference.bindings import target_names
from contextc.analyzer.inference.memory import path_of
from contextc.analyzer.inference.program import Definition
from contextc.model import ir
from contextc.model.traverse import iter_nodes, outer_parts

MAX_SCOPES = 16  # scopes inside one another that a use is looked for in

Live = frozenset[str]  # the paths that can be the object at this point
End = Live | None  # None where the path has ended
_NONE: Live = frozenset()
_GUARDS = frozenset({"isinstance", "hasattr", "callable", "issubclass"})


class Passed(NamedTuple):
    """The object is an argument of that call: at a position, or by a keyword. `scope` is where the call stands."""

    scope: Definition
    func: ir.Expr
    position: int
    keyword: str | None


class Uses(NamedTuple):
    """`attributes` holds special methods too, as operators need them. `stored`: paths `self.x` that it is stored in."""

    attributes: frozenset[str]
    stored: frozenset[str]
    passed: tuple[Passed, ...]


def attributes_used(definition: Definition, path: str) -> Uses:
    """What a function's body does with the object that `path` holds when it is entered."""
    walk = _Walk(definition, path)
    walk.block(definition.facts.body, frozenset({path}))
    return Uses(frozenset(walk.attributes), frozenset(walk.stored), tuple(walk.passed))


def _root(path: str) -> str:
    return path.partition(".")[0]


def _without(live: Live, names: Iterable[str]) -> Live:
    """The paths that no rebinding of these names or paths touches."""
    gone = set(names)
    return frozenset(p for p in live if p not in gone and _root(p) not in gone) if gone else live


def _join(ends: Iterable[End]) -> End:
    known = [end for end in ends if end is not None]
    return frozenset().union(*known) if known else None


def carriers(expr: ir.Expr | None) -> frozenset[str]:
    """The paths whose object an expression can give unchanged: both arms of a conditional, each part of an `or`."""
    found: set[str] = set()
    waiting = [expr]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (ir.Name, ir.Attribute)):
            path = path_of(item)
            if path is not None:
                found.add(path)
        elif isinstance(item, ir.Conditional):
            waiting += (item.body, item.orelse)
        elif isinstance(item, ir.BoolOp):
            waiting += item.values if item.op == "or" else item.values[-1:]
        elif isinstance(item, ir.NamedExpr):
            waiting.append(item.value)
    return frozenset(found)


def guarded(test: ir.Expr, truth: bool) -> frozenset[str]:
    """The paths that a test with that outcome says more of than their uses do."""
    if isinstance(test, ir.UnaryOp) and test.op == "not":
        return guarded(test.operand, not truth)
    if isinstance(test, ir.BoolOp):
        parts = [guarded(part, truth) for part in test.values]
        if (test.op == "and") == truth:
            return frozenset().union(*parts)
        return frozenset.intersection(*parts)
    if not isinstance(test, (ir.Call, ir.Compare)):
        return _NONE
    if isinstance(test, ir.Call):
        func = test.func
        if truth and test.args and isinstance(func, ir.Name) and func.id in _GUARDS:
            return carriers(test.args[0].value)
        return _NONE
    if len(test.ops) == 1 and (test.ops[0] in ("is", "==", "in")) == truth:
        left = test.left
        if isinstance(left, ir.Call) and isinstance(left.func, ir.Name) and left.func.id == "type" and left.args:
            return carriers(left.args[0].value)
        if isinstance(left, ir.Attribute) and left.attr == "__class__":
            return carriers(left.value)
    return _NONE


class _Walk:
    """One walk over a body, statements in order, `live` carried along."""

    def __init__(self, definition: Definition, path: str) -> None:
        self.scope = definition
        self.module = definition.module
        self.attributes: set[str] = set()
        self.stored: set[str] = set()
        self.passed: list[Passed] = []
        self.receivers = {path}
        self._muted = 0
        self._depth = 0
        self._rebound: dict[str, frozenset[str]] = {}

    # ------------------------------------------------------------------------------------------- statements

    def block(self, statements: tuple[ir.Stmt, ...], live: End) -> End:
        """What is live after a block; None if control never gets there."""
        for statement in statements:
            if live is None:
                return None
            live = self._statement(statement, live)
        return live

    def _statement(self, statement: ir.Stmt, live: Live) -> End:
        if isinstance(statement, (ir.Assign, ir.AnnotatedAssign)):
            return self._assign(statement, live)
        if isinstance(statement, ir.If):
            return self._if(statement, live)
        if isinstance(statement, (ir.Return, ir.Raise, ir.Jump)):
            self._visit(statement, live)
            return None
        if isinstance(statement, ir.Assert):
            return self._visit(statement, live) - guarded(statement.test, True)
        if isinstance(statement, ir.AugmentedAssign):
            live = self._visit((statement.target, statement.value), live)
            return _without(live, self._bound(statement.target))
        if isinstance(statement, (ir.For, ir.While)):
            return self._loop(statement, live)
        if isinstance(statement, ir.With):
            return self._with(statement, live)
        if isinstance(statement, ir.Try):
            return self._try(statement, live)
        if isinstance(statement, ir.Match):
            return self._match(statement, live)
        if isinstance(statement, ir.Define):
            return self._define(statement, live)
        if isinstance(statement, (ir.Import, ir.ImportFrom)):
            return _without(live, ((item.asname or item.name).partition(".")[0] for item in statement.names))
        live = self._visit(statement, live)
        if isinstance(statement, ir.Delete):
            return _without(live, (name for target in statement.targets for name in self._bound(target)))
        return live

    def _assign(self, statement: ir.Assign | ir.AnnotatedAssign, live: Live) -> Live:
        targets = statement.targets if isinstance(statement, ir.Assign) else (statement.target,)
        if statement.value is None:
            return live
        live = self._visit(statement.value, live)
        same = not live.isdisjoint(carriers(statement.value))
        for target in targets:
            live = self._store(target, live)
            live = _without(live, self._bound(target))
            path = path_of(target) if isinstance(target, (ir.Name, ir.Attribute)) else None
            if path is None or not same:
                continue
            if isinstance(target, ir.Name):
                live |= {path}
            elif path.count(".") == 1 and not self._muted:
                self.stored.add(path)
        return live

    def _store(self, target: ir.Expr, live: Live) -> Live:
        """The reads that a target makes: `a` in `a.b = …`, all of `a[b] = …`."""
        if isinstance(target, ir.Attribute):
            return self._visit(target.value, live)
        if isinstance(target, ir.Subscript):
            self._need("__setitem__", target.value, live)
            return self._visit((target.value, target.key), live)
        if isinstance(target, (ir.TupleExpr, ir.ListExpr)):
            for item in target.items:
                live = self._store(item, live)
        elif isinstance(target, ir.Starred):
            return self._store(target.value, live)
        return live

    def _bound(self, target: ir.Expr) -> list[str]:
        """The names and paths that a target binds."""
        names = list(target_names(target))
        path = path_of(target) if isinstance(target, ir.Attribute) else None
        return [*names, path] if path is not None else names

    def _if(self, statement: ir.If, live: Live) -> End:
        ends: list[End] = []
        while True:
            live = self._visit(statement.test, live)
            ends.append(self.block(statement.body, live - guarded(statement.test, True)))
            live -= guarded(statement.test, False)
            if len(statement.orelse) != 1 or not isinstance(statement.orelse[0], ir.If):
                break
            statement = statement.orelse[0]
        ends.append(self.block(statement.orelse, live))
        return _join(ends)

    def _loop(self, statement: ir.For | ir.While, live: Live) -> End:
        if isinstance(statement, ir.For):
            self._need("__iter__", statement.iter, live)
            live = self._visit(statement.iter, live)
            inner = _without(self._store(statement.target, live), self._bound(statement.target))
        else:
            live = self._visit(statement.test, live)
            inner = live - guarded(statement.test, True)
        after = _join((live, self.block(statement.body, inner)))
        if isinstance(statement, ir.While) and after is not None:
            after -= guarded(statement.test, False)
        return self.block(statement.orelse, after)

    def _with(self, statement: ir.With, live: Live) -> End:
        mutes = False
        for item in statement.items:
            self._need("__enter__", item.context, live)
            live = self._visit(item.context, live)
            if item.target is not None:
                live = _without(self._store(item.target, live), self._bound(item.target))
            mutes = mutes or (isinstance(item.context, ir.Call) and _catches(item.context, "suppress"))
        self._muted += mutes
        end = self.block(statement.body, live)
        self._muted -= mutes
        return end if end is not None else live

    def _try(self, statement: ir.Try, live: Live) -> End:
        mutes = any(handler.type is None or _names_missing(handler.type) for handler in statement.handlers)
        self._muted += mutes
        end = self.block(statement.body, live)
        self._muted -= mutes
        ends = [self.block(statement.orelse, end)]
        entered = live if end is None else live | end
        for handler in statement.handlers:
            if handler.type is not None:
                entered = self._visit(handler.type, entered)
            inside = _without(entered, (handler.name,)) if handler.name is not None else entered
            ends.append(self.block(handler.body, inside))
        after = _join(ends)
        final = self.block(statement.final, after if after is not None else entered)
        return final if after is not None else None

    def _match(self, statement: ir.Match, live: Live) -> End:
        live = self._visit(statement.subject, live)
        subject = carriers(statement.subject)
        ends: list[End] = [live]
        for case in statement.cases:
            names = [n for n in _captures(case.pattern) if n is not None]
            told = not (isinstance(case.pattern, ir.MatchAs) and case.pattern.pattern is None)
            inside = _without(live - subject if told else live, names)
            if case.guard is not None:
                inside = self._visit(case.guard, inside)
            ends.append(self.block(case.body, inside))
        return _join(ends)

    def _define(self, statement: ir.Define, live: Live) -> Live:
        child = self.module.definitions[statement.symbol]
        live = self._visit(outer_parts(child.facts), live)
        self._enter(child, live)
        return _without(live, (child.name,))

    def _enter(self, child: Definition, live: Live) -> None:
        """A scope inside: it sees the names it does not bind, at any later time."""
        once = self._bound_once()
        seen = frozenset(p for p in live if _root(p) not in child.facts.bindings and _root(p) in once)
        if seen and self._depth < MAX_SCOPES:
            outer, self.scope = self.scope, child
            muted, self._muted = self._muted, 0
            self._depth += 1
            self.block(child.facts.body, seen)
            self._depth -= 1
            self._muted = muted
            self.scope = outer

    def _bound_once(self) -> frozenset[str]:
        """Names of the scope that its own statements bind at most once (a parameter: never)."""
        known = self._rebound.get(self.scope.id)
        if known is None:
            counts = dict.fromkeys((p.name for p in self.scope.facts.parameters), 1)
            for node in iter_nodes(*self.scope.facts.body):
                for name in _binds(node):
                    counts[name] = counts.get(name, 0) + 1
            inherited = self._rebound.get(self.scope.parent.id, _NONE) if self.scope.parent is not None else _NONE
            free = inherited - set(self.scope.facts.bindings)
            known = frozenset(name for name, count in counts.items() if count == 1) | free
            self._rebound[self.scope.id] = known
        return known

    # ------------------------------------------------------------------------------------------- expressions

    def _need(self, attribute: str, owner: ir.Expr, live: Live) -> None:
        """Notes a use if `owner` is the object."""
        if not self._muted and isinstance(owner, (ir.Name, ir.Attribute)) and path_of(owner) in live:
            self.attributes.add(attribute)

    def _visit(self, root: Any, live: Live) -> Live:
        """Notes what an expression (or a plain tuple of nodes) uses; gives what is live after it."""
        waiting: list[tuple[Any, Live]] = [(root, live)]
        killed: set[str] = set()
        made: set[str] = set()
        while waiting:
            node, here = waiting.pop()
            if not isinstance(node, tuple) or (not here and not made):
                continue
            if isinstance(node, ir.Attribute):
                self._need(node.attr, node.value, here)
            elif isinstance(node, ir.Subscript):
                self._need("__getitem__", node.value, here)
            elif isinstance(node, ir.Call):
                self._call(node, here)
            elif isinstance(node, ir.NamedExpr):
                killed.add(node.target)
                if not here.isdisjoint(carriers(node.value)):
                    made.add(node.target)
            elif isinstance(node, (ir.BoolOp, ir.Conditional, ir.Comprehension, ir.Lambda)):
                waiting.extend(reversed(self._parts(node, here)))
                continue
            waiting.extend((field, here) for field in reversed(node) if isinstance(field, tuple))
        return (_without(live, killed) | made) if killed else live

    def _parts(self, node: Any, live: Live) -> list[tuple[Any, Live]]:
        """The parts of an expression that is not evaluated as a whole, with what is live in each."""
        parts: list[tuple[Any, Live]] = []
        if isinstance(node, ir.BoolOp):
            for value in node.values:
                parts.append((value, live))
                live -= guarded(value, node.op == "and")
        elif isinstance(node, ir.Conditional):
            parts.append((node.test, live))
            parts.append((node.body, live - guarded(node.test, True)))
            parts.append((node.orelse, live - guarded(node.test, False)))
        elif isinstance(node, ir.Lambda):
            child = self.module.definitions[node.symbol]
            parts.append((outer_parts(child.facts), live))
            self._enter(child, live)
        else:
            for clause in node.generators:
                self._need("__iter__", clause.iter, live)
                parts.append((clause.iter, live))
                live = _without(live, target_names(clause.target))
                for condition in clause.conditions:
                    parts.append((condition, live))
                    live -= guarded(condition, True)
            parts.append((node.element, live))
            parts.append((node.value, live))
        return parts

    def _call(self, node: ir.Call, live: Live) -> None:
        self._need("__call__", node.func, live)
        if self._muted:
            return
        starred = False
        for position, argument in enumerate(node.args):
            starred = starred or bool(argument.star)
            if argument.star or live.isdisjoint(carriers(argument.value)):
                continue
            if argument.keyword is not None or not starred:
                self.passed.append(Passed(self.scope, node.func, position, argument.keyword))


def _catches(call: ir.Call, name: str) -> bool:
    func = call.func
    written = func.id if isinstance(func, ir.Name) else func.attr if isinstance(func, ir.Attribute) else ""
    return written == name and any(_names_missing(a.value) for a in call.args)


def _names_missing(expr: ir.Expr) -> bool:
    """Whether AttributeError is among the exceptions written there."""
    return any(isinstance(node, ir.Name) and node.id == "AttributeError" for node in iter_nodes(expr))


def _captures(pattern: ir.Pattern) -> list[str | None]:
    found: list[str | None] = []
    for node in iter_nodes(pattern):
        if isinstance(node, (ir.MatchAs, ir.MatchStar)):
            found.append(node.name)
        elif isinstance(node, ir.MatchMapping):
            found.append(node.rest)
    return found


def _binds(node: Any) -> list[str]:
    """Plain names that a node binds in the scope that it stands in."""
    if isinstance(node, ir.Assign):
        return [name for target in node.targets for name in target_names(target)]
    if isinstance(node, (ir.AnnotatedAssign, ir.AugmentedAssign, ir.For)):
        return list(target_names(node.target))
    if isinstance(node, ir.WithItem):
        return list(target_names(node.target)) if node.target is not None else []
    if isinstance(node, ir.NamedExpr):
        return [node.target]
    if isinstance(node, ir.Handler):
        return [node.name] if node.name is not None else []
    if isinstance(node, ir.Delete):
        return [name for target in node.targets for name in target_names(target)]
    return []
