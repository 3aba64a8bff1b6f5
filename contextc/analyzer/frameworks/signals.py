"""Signals: a module variable on which functions are registered, and from which they are sent to.

In: a solved program. Out: edges. `@receiver(user_saved) def remember(...)` registers; `user_saved.send(...)` then has a
CALLBACK edge to `remember`, possible, since who is connected is decided at run time; the registering scope has a
REGISTRATION edge. The variable's identity ties the two, whatever library or class of the repository the signal is of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.relations import symbol_of
from contextc.analyzer.inference.statics import Assigned, ExternalName
from contextc.model import ir
from contextc.model.edge import Certainty, Edge, EdgeKind, Rule
from contextc.model.traverse import iter_nodes

CONNECT = frozenset({"connect", "connect_via", "subscribe", "register", "add_listener", "add_receiver", "listen"})
SEND = frozenset({"send", "send_robust", "send_async", "emit", "publish", "fire", "notify", "dispatch", "trigger"})

Signal = tuple[str, str]  # module id (or library name) and variable


class Registration(NamedTuple):
    """`function` is registered on `signal` in `scope`, at the node numbered `at` there."""

    signal: Signal
    function: Definition
    scope: Definition
    at: int
    sender: str | None


class Sending(NamedTuple):
    signal: Signal
    scope: Definition
    at: int
    sender: str | None


def iter_signal_edges(solver: Solver) -> Iterator[Edge]:
    """REGISTRATION edges for what is registered on a signal, CALLBACK edges from where it is sent."""
    registrations: list[Registration] = []
    sendings: list[Sending] = []
    for unit in solver.units:
        for node in iter_nodes(*unit.facts.body):
            if isinstance(node, ir.Define):
                registrations.extend(_decorated(solver, unit, unit.module.definitions[node.symbol]))
            elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
                signal = find_signal(solver, unit, node.func.value)
                if signal is not None and node.func.attr in CONNECT:
                    registrations.extend(_connected(solver, unit, node, signal))
                elif signal is not None and node.func.attr in SEND:
                    sendings.append(Sending(signal, unit, node.at, _sender(solver, unit, node)))
    for item in registrations:
        yield _edge(item.scope, item.at, item.function, EdgeKind.REGISTRATION, Certainty.CERTAIN, False)
    for sending in sendings:
        for item in registrations:
            if item.signal == sending.signal and _fits(item.sender, sending.sender):
                yield _edge(sending.scope, sending.at, item.function, EdgeKind.CALLBACK, Certainty.POSSIBLE, True)


def _fits(wanted: str | None, sent: str | None) -> bool:
    """Whether a registration for one sender can hear another; an unknown side hears everything."""
    return wanted is None or sent is None or wanted == sent


def find_signal(solver: Solver, scope: Definition, expr: ir.Expr) -> Signal | None:
    """The signal that an expression names: a module variable, here or in a library."""
    for item in solver.kernel.statics.resolve_expression(scope, expr):
        if isinstance(item, Assigned) and item.scope.parent is None:
            targets = solver.kernel.statics.follow_alias(item)
            final = targets[0] if targets else item
            if isinstance(final, ExternalName):
                return ("", final.name)
            if isinstance(final, Assigned) and _can_signal(solver, final):
                return (final.scope.module.module_id, final.name)
        if isinstance(item, ExternalName) and "." in item.name:
            return ("", item.name)
    return None


def _can_signal(solver: Solver, item: Assigned) -> bool:
    """Whether a variable's class has both sides, or is a library's, of which nothing is known."""
    value = item.binding.value
    if not isinstance(value, ir.Call):
        return False
    for made in solver.kernel.statics.resolve_expression(item.scope, value.func):
        if isinstance(made, ExternalName):
            return True
        if isinstance(made, Definition) and made.is_class:
            names = {
                n
                for cls in solver.kernel.classes.mro(made.id)
                if solver.kernel.classes.is_known(cls)
                for n in solver.kernel.statics.table(solver.kernel.definition(cls)).names
            }
            if names & CONNECT and names & SEND:
                return True
            if solver.kernel.classes.has_unknown_base(made.id):
                return True
        if isinstance(made, Definition) and made.is_function:
            return True
    return False


def _decorated(solver: Solver, scope: Definition, function: Definition) -> Iterator[Registration]:
    """`@receiver(signal, sender=X)`, `@signal.connect`, `@signal.connect_via(X)`."""
    if not function.is_function:
        return
    for decorator in function.facts.decorators:
        expr = decorator.func if isinstance(decorator, ir.Call) else decorator
        if isinstance(expr, ir.Attribute) and expr.attr in CONNECT:
            signal = find_signal(solver, scope, expr.value)
            if signal is not None:
                sender = _sender(solver, scope, decorator) if isinstance(decorator, ir.Call) else None
                yield Registration(signal, function, scope, decorator.at, sender)
        elif isinstance(decorator, ir.Call):
            for signal in _argument_signals(solver, scope, decorator):
                yield Registration(signal, function, scope, decorator.at, _keyword_class(solver, scope, decorator))


def _argument_signals(solver: Solver, scope: Definition, call: ir.Call) -> Iterator[Signal]:
    """Signals among a decorator's first arguments: one, or a list of them."""
    if not call.args or call.args[0].star or call.args[0].keyword is not None:
        return
    first = call.args[0].value
    candidates = first.items if isinstance(first, (ir.ListExpr, ir.TupleExpr)) else (first,)
    for candidate in candidates:
        if isinstance(candidate, (ir.Name, ir.Attribute)):
            signal = find_signal(solver, scope, candidate)
            if signal is not None:
                yield signal


def _connected(solver: Solver, scope: Definition, call: ir.Call, signal: Signal) -> Iterator[Registration]:
    """`signal.connect(function, sender=X)`."""
    for argument in call.args[:2]:
        if argument.star or argument.keyword not in (None, "receiver", "func", "callback", "fn"):
            continue
        for item in solver.kernel.statics.resolve_expression(scope, argument.value):
            symbol = symbol_of(solver, item)
            if symbol is not None and symbol.is_function:
                sender = _keyword_class(solver, scope, call)
                yield Registration(signal, symbol, scope, call.at, sender)


def _keyword_class(solver: Solver, scope: Definition, call: ir.Call) -> str | None:
    for argument in call.args:
        if argument.keyword == "sender":
            return _class_of(solver, scope, argument.value)
    return None


def _sender(solver: Solver, scope: Definition, call: ir.Call) -> str | None:
    """The class that a sending names as its sender; None where it is an object or computed."""
    named = _keyword_class(solver, scope, call)
    if named is not None or not call.args or call.args[0].star or call.args[0].keyword is not None:
        return named
    return _class_of(solver, scope, call.args[0].value)


def _class_of(solver: Solver, scope: Definition, expr: ir.Expr) -> str | None:
    if not isinstance(expr, (ir.Name, ir.Attribute)):
        return None
    for item in solver.kernel.statics.resolve_expression(scope, expr):
        if isinstance(item, Definition) and item.is_class:
            return item.id
    return None


def _edge(
    scope: Definition, at: int, function: Definition, kind: EdgeKind, certainty: Certainty, with_site: bool
) -> Edge:
    span = scope.span(at)
    start, end = scope.module.position(span.start), scope.module.position(span.end)
    site = (start.line, start.col, end.line, end.col) if with_site else None
    return Edge(scope.id, function.id, scope.module.path, start.line, site, kind, certainty, Rule.SIGNAL)
