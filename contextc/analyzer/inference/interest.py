"""By text, which parameters a function's result hangs on: what a specialisation tells apart.

In: a definition. Out: parameter names. In `def make(cls, size): return cls()` it is `cls`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextc.analyzer.inference.lazy_names import is_module_hook
from contextc.analyzer.inference.program import FUNCTION_KINDS, Definition
from contextc.model import ir
from contextc.model.traverse import iter_nodes

if TYPE_CHECKING:
    from contextc.analyzer.inference.kernel import Kernel

MAX_NODES = 300  # of a body that is worth evaluating more than once
MAX_GUARDED_NODES = 2_000  # of one whose result depends on a test at its start
MAX_INTERESTING = 3  # parameters in a key
_TESTED = 2  # how much hangs on a name in a test
_NAMING_METHODS = frozenset({"__getattribute__", "__setattr__", "import_module"})
_NAMING = frozenset({"getattr", "setattr", "hasattr", "import_module", "__import__"})


def find_interesting(kernel: Kernel, definition: Definition) -> tuple[str, ...]:
    """The parameters, at most MAX_INTERESTING; none for a body without a result. In a large body only those that decide
    by a test whether the rest of it runs at all: `if func is None: return partial(decorate, name=name)`."""
    facts = definition.facts
    nodes = len(facts.spans) // 2
    if definition.kind not in FUNCTION_KINDS or nodes > MAX_GUARDED_NODES:
        return ()
    if not facts.is_generator and not any(_gives(node) for node in iter_nodes(*facts.body)):
        return ()
    if is_module_hook(definition):
        return tuple(p.name for p in facts.parameters[:1])
    receiver = kernel.first_parameter(definition)
    stars = frozenset(p.name for p in facts.parameters if p.kind == "star")
    uses = _uses(definition, stars) if nodes <= MAX_NODES else _guards(definition)
    names = [
        p.name
        for p in facts.parameters
        if p.kind != "doublestar"
        and p.name != receiver
        and p.name in uses
        and _says_little(kernel, definition, p)
    ]
    return tuple(sorted(names, key=lambda n: uses[n])[:MAX_INTERESTING])


def hangs_on_receiver(kernel: Kernel, definition: Definition) -> bool:
    """Whether a method with a result, and not a large one, looks into its receiver."""
    facts = definition.facts
    receiver = kernel.first_parameter(definition)
    if definition.kind not in FUNCTION_KINDS or len(facts.spans) // 2 > MAX_NODES or receiver is None:
        return False
    nodes = list(iter_nodes(*facts.body))
    if not facts.is_generator and not any(_gives(node) for node in nodes):
        return False
    return any(isinstance(n, ir.Attribute) and isinstance(n.value, ir.Name) and n.value.id == receiver for n in nodes)


def _says_little(kernel: Kernel, definition: Definition, parameter: ir.Parameter) -> bool:
    if parameter.annotation is None:
        return True
    return kernel.is_weak(kernel.annotations.read(parameter.annotation, definition.parent or definition, definition))


def _gives(node: object) -> bool:
    return isinstance(node, ir.Return) and node.value is not None and not isinstance(node.value, ir.Constant)


def _guards(definition: Definition) -> dict[str, int]:
    """Names tested by an `if` of the body itself whose branch ends in a `return`."""
    found: dict[str, int] = {}
    for statement in definition.facts.body:
        if isinstance(statement, ir.If) and statement.body and isinstance(statement.body[-1], ir.Return):
            for node in iter_nodes(statement.test):
                if isinstance(node, ir.Name):
                    found.setdefault(node.id, 2)
    return found


def find_none_guards(definition: Definition) -> frozenset[str]:
    """Names of which a test for None decides whether the rest of the body runs."""
    found: set[str] = set()
    for statement in definition.facts.body:
        if isinstance(statement, ir.If) and statement.body and isinstance(statement.body[-1], (ir.Return, ir.Raise)):
            for node in iter_nodes(statement.test):
                if isinstance(node, ir.Compare) and node.ops[0] in ("is", "is not") and isinstance(node.left, ir.Name):
                    right = node.comparators[0]
                    if isinstance(right, ir.Constant) and right.type == "None":
                        found.add(node.left.id)
    return frozenset(found)


def _uses(definition: Definition, stars: frozenset[str]) -> dict[str, int]:
    """Names by how much hangs on them: 0 called, or the name of an attribute; 1 used in a function made here; 2 tested;
    3 looked into. A `*args` is told apart by its length only, which counts where it is tested."""
    found: dict[str, int] = {}

    def note(expr: ir.Expr | None, weight: int) -> None:
        for node in iter_nodes(expr) if expr is not None else ():
            if isinstance(node, ir.Name) and (weight == _TESTED or node.id not in stars):
                found[node.id] = min(weight, found.get(node.id, weight))

    for node in iter_nodes(*definition.facts.body):
        if isinstance(node, ir.Call) and isinstance(node.func, ir.Name):
            note(node.func, 0)
            if node.func.id in _NAMING:
                for argument in node.args:
                    note(argument.value, 0)
        elif isinstance(node, ir.Call) and getattr(node.func, "attr", "") in _NAMING_METHODS:
            for argument in node.args:
                note(argument.value, 0)
        elif isinstance(node, (ir.If, ir.Conditional, ir.While)):
            note(node.test, _TESTED)
        elif isinstance(node, ir.BoolOp):
            note(node.values[0], _TESTED)
        elif isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name):
            note(node.value, 3)
    for child in definition.children:
        if child.is_function:
            for statement in child.facts.body:
                for node in iter_nodes(statement):
                    if isinstance(node, ir.Name):
                        note(node, 1)
    return found
