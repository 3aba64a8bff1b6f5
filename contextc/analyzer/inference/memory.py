"""What an evaluation can skip: parts of a body whose inputs are those of an earlier evaluation.

In: an expression, the frame's variables that it names, the cells that it read. Out: its values, remembered as long as
none of these has changed. A body is evaluated again because a few cells grew; what reads none of them, and is handed
the same values, would write and give what it did before.

Exact, since the evaluation of an expression is a function of the frame's variables that it names and of the cells that
it reads, and since what a unit wrote once stays in the cells until it is retracted. (Memoised functions with the reads
as dependencies: Acar, Blelloch, Harper, "Selective Memoization", POPL 2003.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from contextc.model import ir
from contextc.model.traverse import iter_nodes
from contextc.model.value import NOTHING, ValueSet

if TYPE_CHECKING:
    from contextc.analyzer.inference.heap import CellKey
    from contextc.analyzer.inference.program import ModuleInfo

REMEMBERED = frozenset({
    ir.Call, ir.Attribute, ir.Subscript, ir.Comprehension, ir.BinaryOp, ir.BoolOp, ir.Compare, ir.Conditional,
    ir.DictExpr, ir.ListExpr, ir.SetExpr, ir.TupleExpr, ir.FString, ir.Await, ir.YieldFrom,
})  # fmt: skip
_MAX_PATH = 4  # parts of a dotted path that flow keeps apart


def path_of(expr: ir.Expr) -> str | None:
    """`self.user` as the key under which flow knows it; None for anything but names and dots."""
    parts: list[str] = []
    while isinstance(expr, ir.Attribute) and len(parts) < _MAX_PATH:
        parts.append(expr.attr)
        expr = expr.value
    if not isinstance(expr, ir.Name):
        return None
    return ".".join([expr.id, *reversed(parts)])


def item_path_of(expr: ir.Expr) -> str | None:
    """`pair[0]` as the key under which flow knows it; None for anything but a constant item of a name or path."""
    if not isinstance(expr, ir.Subscript) or not isinstance(expr.key, ir.Constant):
        return None
    path = path_of(expr.value)
    return f"{path}.[{expr.key.value!r}]" if path is not None else None


class Slot:
    """A cell as its readers see it."""

    __slots__ = ("key", "readers", "shown")

    def __init__(self, key: CellKey) -> None:
        self.key = key
        self.shown: ValueSet = NOTHING
        self.readers: dict[int, None] = {}

    def copy(self) -> Slot:
        """One that goes its own way."""
        other = Slot(self.key)
        other.shown = self.shown
        other.readers = dict(self.readers)
        return other


class Remembered(NamedTuple):
    """One evaluation of one node: what it was given, what it read, what it gave."""

    inputs: tuple[object, ...]
    reads: set[Slot]
    result: Any


class Names:
    """By node, the variables and dotted paths that an expression can look up; None for one that binds some."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ir.Expr, tuple[str, ...] | None]] = {}  # the node kept, so that its id stays its

    def of(self, expr: ir.Expr, module: ModuleInfo) -> tuple[str, ...] | None:
        """Those of an expression in this module."""
        known = self._known.get(id(expr))
        if known is None:
            known = self._known[id(expr)] = (expr, _find_paths(expr, module))
        return known[1]


def _find_paths(expr: ir.Expr, module: ModuleInfo) -> tuple[str, ...] | None:
    found: dict[str, None] = {}
    waiting: list[object] = [expr]
    while waiting:
        for node in iter_nodes(waiting.pop()):
            if isinstance(node, ir.NamedExpr):
                return None
            if isinstance(node, ir.Lambda):  # its defaults are evaluated here
                waiting.append(module.definitions[node.symbol].facts.parameters)
            if isinstance(node, (ir.Name, ir.Attribute, ir.Subscript)):
                path = item_path_of(node) if isinstance(node, ir.Subscript) else path_of(node)
                if path is not None:
                    found[path] = None
    return tuple(found)


class Memory:
    """What one unit's evaluations leave for the next one."""

    __slots__ = ("_entries", "_names", "_visits", "grown", "trace")

    def __init__(self, names: Names) -> None:
        self._names = names
        self._entries: dict[tuple[object, int], Remembered] = {}
        self._visits: dict[object, int] = {}
        self.grown: set[Slot] = set()  # what this unit has read and has grown since
        self.trace: set[Slot] | None = None  # what the open node has read so far

    def begin(self) -> None:
        """A new evaluation: what has read a cell that grew is forgotten."""
        grown = self.grown
        if grown:
            for key in [k for k, entry in self._entries.items() if not grown.isdisjoint(entry.reads)]:
                del self._entries[key]
            self.grown = set()
        self._visits = {}
        self.trace = None

    def evaluate(self, frame: Any, function: Callable[[Any, Any], ValueSet], expr: ir.Expr) -> ValueSet:
        """`function(frame, expr)`, remembered."""
        paths = self._names.of(expr, frame.unit.module)
        if paths is None:
            return function(frame, expr)
        env = frame.env
        return self.recall(id(expr), tuple([env.get(path) for path in paths]), function, frame, expr)  # type: ignore[no-any-return]

    def recall(self, node: object, inputs: tuple[object, ...], function: Callable[..., Any], *args: Any) -> Any:
        """`function(*args)`, which depends on `inputs` and on cells alone. A node that is met several times in one
        evaluation has as many entries."""
        visit = self._visits.get(node, 0)
        self._visits[node] = visit + 1
        outer = self.trace
        entry = self._entries.get((node, visit))
        if entry is not None and entry.inputs == inputs:
            if outer is not None:
                outer |= entry.reads
            return entry.result
        reads: set[Slot] = set()
        self.trace = reads
        result = function(*args)
        self.trace = outer
        if outer is not None:
            outer |= reads
        self._entries[(node, visit)] = Remembered(inputs, reads, result)
        return result
