"""Fitting callees (stratum 4): whether a callee takes what its site passes, and gives what its site can use.

In: a site's outcome and the body it stands in. Out: the callees that are only possible there. Of the functions in a
table, `await table[k](1)` runs those that take one argument and are async or give something; another would fail there.

Rules of the language, not of likelihood: a call binds each argument and each parameter without a default (language
reference 6.3.4 "Calls"); None has no attributes, elements, context, and can't be awaited (3.2 "None", 6.4 "Await
expression").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome, Target
from contextc.model import ir
from contextc.model.edge import EdgeKind
from contextc.model.traverse import iter_nodes

_AWAITING = frozenset({"gather", "wait_for", "create_task", "ensure_future", "shield", "run"})  # of asyncio
_PLAIN = frozenset({"~builtins:staticmethod", "~builtins:classmethod"})  # decorators that leave the result alone


class Fitness:
    """Which calls of a program need more of their callee than None."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._needing: dict[str, frozenset[int]] = {}
        self._empty: dict[str, bool] = {}

    def find_unfit(self, unit: Definition, at: int, outcome: Outcome) -> frozenset[str]:
        """The callees of a site with several that can't take its arguments, or give None where more is needed."""
        if len({t.group for t in outcome.targets if not t.possible}) < 2:
            return frozenset()
        through = {t.callee for t in outcome.targets if t.group != t.callee and t.kind is not EdgeKind.CONSTRUCT}
        refusing = frozenset(outcome.refusing - outcome.taking - through)  # a closure passes what it will
        if at not in self._needs(unit):
            return refusing
        return refusing.union(t.callee for t in outcome.targets if self._gives_none(t))

    def _needs(self, unit: Definition) -> frozenset[int]:
        known = self._needing.get(unit.id)
        if known is None:
            known = self._needing[unit.id] = frozenset(self._iter_needing(unit))
        return known

    def _iter_needing(self, unit: Definition) -> Iterator[int]:
        """The ordinals of the calls whose result is awaited, taken apart, entered, called or counted with."""
        for node in iter_nodes(*unit.facts.body):
            for part in _used(node):
                if isinstance(part, ir.Call):
                    yield part.at
            if isinstance(node, ir.Call) and self._is_awaiting(unit, node.func):
                yield from _awaited(argument.value for argument in node.args)

    def _is_awaiting(self, unit: Definition, func: ir.Expr) -> bool:
        """Whether it is asyncio that is called, with something that it awaits."""
        name = func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
        if name not in _AWAITING:
            return False
        found = self._kernel.statics.resolve_expression(unit, func)
        return any(isinstance(f, Definition) and f.module.name.split(".")[0] == "asyncio" for f in found)

    def _gives_none(self, target: Target) -> bool:
        """Whether a target is a plain function that returns nothing, not wrapped by anything unknown."""
        if target.kind is EdgeKind.CONSTRUCT or target.group != target.callee:
            return False
        known = self._empty.get(target.callee)
        if known is None:
            definition = self._kernel.definition(target.callee)
            known = definition.is_function and not definition.facts.is_async and self._is_plain(definition)
            known = self._empty[target.callee] = known and not self._kernel.gives_result(definition)
        return known

    def _is_plain(self, definition: Definition) -> bool:
        scope = definition.parent or definition
        for decorator in definition.facts.decorators:
            maker = decorator.func if isinstance(decorator, ir.Call) else decorator
            found = self._kernel.statics.resolve_expression(scope, maker)
            if not found or not all(
                isinstance(f, Definition) and (f.module.in_repository or f.id in _PLAIN) for f in found
            ):
                return False
        return True


def takes(kernel: Kernel, definition: Definition, args: Arguments, is_bound: bool) -> bool:
    """Whether a call's arguments can be bound to a function's parameters, as far as their number and names are known.
    `is_bound`: the receiver comes first."""
    kinds: dict[str, list[ir.Parameter]] = {}
    for parameter in definition.facts.parameters:
        kinds.setdefault("positional" if parameter.kind == "normal" else parameter.kind, []).append(parameter)
    positional = kinds.get("positional", [])
    given = sum(not mark for mark, _ in args.positional) + (is_bound and kernel.method_kind(definition) != "static")
    if given > len(positional) and "star" not in kinds:
        return False
    names = {name for name, _ in args.keywords}
    by_name = {p.name for p in definition.facts.parameters if p.kind in ("normal", "keyword")}
    if "doublestar" not in kinds and not names <= {None, *by_name}:
        return False
    if None in names:
        return True
    left = [] if any(mark for mark, _ in args.positional) else positional[given:]
    return all(p.default is not None or p.name in names for p in (*left, *kinds.get("keyword", ())))


def _used(node: object) -> tuple[ir.Expr | None, ...]:
    """The parts of a node that must be more than None."""
    if isinstance(node, (ir.Await, ir.Attribute, ir.Subscript, ir.Starred, ir.YieldFrom)):
        return (node.value,)
    if isinstance(node, ir.Call):
        return (node.func, *(a.value for a in node.args if a.star))
    if isinstance(node, (ir.For, ir.Generator)):
        return (node.iter,)
    if isinstance(node, ir.WithItem):
        return (node.context,)
    if isinstance(node, ir.BinaryOp):
        return (node.left, node.right)
    if isinstance(node, ir.Assign):
        return (node.value,) if any(isinstance(t, (ir.TupleExpr, ir.ListExpr)) for t in node.targets) else ()
    return ()


def _awaited(parts: Iterable[ir.Expr]) -> Iterator[int]:
    """The calls among the things that are awaited: themselves, or as elements of what is unpacked there."""
    for part in parts:
        element = part.element if isinstance(part, ir.Comprehension) else part
        if isinstance(element, ir.Call):
            yield element.at
