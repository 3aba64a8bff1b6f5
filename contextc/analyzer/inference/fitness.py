"""Fitting results (stratum 4): whether what a callee gives can be used as its site uses it.

In: a site's outcome and the body it stands in. Out: the callees that are only possible there. Of the functions in a
table, `await table[k]()` runs those that are async or give something; one that plainly gives None would fail there.

A rule of the language, not of likelihood: None has no attributes, elements, context, and can't be awaited (language
reference 3.2 "None", 6.4 "Await expression").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
        """The callees of a site with several that give None where more is needed."""
        if len({t.group for t in outcome.targets if not t.possible}) < 2:
            return frozenset()
        if at not in self._needs(unit):
            return frozenset()
        return frozenset(t.callee for t in outcome.targets if self._gives_none(t))

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
