"""The driver: evaluates every body until no cell grows, then once more to write down what each site can run.

In: a program. Out: a `Recorder`. Strata: hierarchy and tables when `Kernel` is made; the monotone fixed point; an
oracle round, in which questions the fixed point left open get an answer that enters as a writer; one resolution pass
over frozen cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from random import Random
from typing import NamedTuple

from contextc.analyzer.inference.bare_containers import fit_containers, is_bare
from contextc.analyzer.inference.binding import parameter_cell, star_value
from contextc.analyzer.inference.data_fields import field_values
from contextc.analyzer.inference.decided import settle_parameters
from contextc.analyzer.inference.enumerations import is_enum, keep_members
from contextc.analyzer.inference.external_names import Oracle
from contextc.analyzer.inference.heap import CellKey
from contextc.analyzer.inference.hidden_stores import find_hidden_stores
from contextc.analyzer.inference.implicit_names import find_implicit_names
from contextc.analyzer.inference.kernel import Frame, Kernel
from contextc.analyzer.inference.memory import Memory
from contextc.analyzer.inference.oracle import ORACLE, answer_external_names, answer_open_parameters
from contextc.analyzer.inference.program import FUNCTION_KINDS, Definition, Program
from contextc.analyzer.inference.recorder import Recorder
from contextc.analyzer.inference.specialisation import bind_key
from contextc.analyzer.inference.statements import run_block
from contextc.analyzer.inference.units import Units
from contextc.analyzer.inference.worklist import Worklist
from contextc.model import ir
from contextc.model.edge import Reason
from contextc.model.facts import SymbolKind
from contextc.model.value import (
    NOTHING,
    Context,
    SpecialForm,
    Value,
    ValueSet,
)

UNIT_KINDS = (SymbolKind.MODULE, SymbolKind.CLASS, *FUNCTION_KINDS)
MAX_EVALUATIONS = 400  # of one unit; one that needs more is cut, and says so

Progress = Callable[[int, int], None]


class Work(NamedTuple):
    """Counted work. `evaluations` counts bodies evaluated, each time; `functions` the units evaluated at least once;
    `cut` those that went over MAX_EVALUATIONS."""

    evaluations: int
    functions: int
    cells: int
    contributions: int
    specialisations: int
    cut: int


NO_WORK = Work(0, 0, 0, 0, 0, 0)


class Solver:
    """One analysis. `order` makes the worklist pick waiting units at random: nothing may depend on it."""

    def __init__(self, program: Program, oracle: Oracle | None = None, order: Random | None = None) -> None:
        self._oracle = oracle
        numbers = Units()
        self.kernel = make_kernel(program, numbers, Worklist(numbers.ranks, order))
        self.units = list_units(program)
        self._counts: dict[int, int] = {}

    def solve(self) -> Recorder:
        """Runs all strata and returns what the resolution pass recorded."""
        for unit in self.units:
            self.kernel.worklist.add(self.kernel.units.number(unit, None))
        run_to_fixed_point(self.kernel, self._counts)
        for cell, values in answer_open_parameters(self.kernel, self.units).items():
            self.kernel.heap.write(cell, values, ORACLE)
        self.kernel.heap.end_round()
        run_to_fixed_point(self.kernel, self._counts)
        if self._oracle is not None:
            answer_external_names(self.kernel, self._oracle)
        return resolve_units(self.kernel, self.units)

    @property
    def work(self) -> Work:
        """What was done so far."""
        return count_work(self.kernel, self._counts)


def make_kernel(program: Program, numbers: Units, worklist: Worklist) -> Kernel:
    """A kernel with the tables of stratum 1 and no cells."""
    kernel = Kernel(program, numbers, worklist)
    hidden = find_hidden_stores(program)
    stored = find_stored_attributes(program)
    for cls, names in hidden.names.items():
        stored[cls] = stored.get(cls, frozenset()) | names
    kernel.classes.stored_attributes = stored
    kernel.classes.computed_stores = hidden.computed
    kernel.classes.implicit_names = find_implicit_names(kernel.classes, program)
    kernel.classes.foreign_stores = find_foreign_stores(program)
    kernel.classes.borrowed_attributes = find_borrowed_attributes(program)
    return kernel


def list_units(program: Program) -> list[Definition]:
    """All bodies of the repository, in program order."""
    return [d for m in program.repository for d in m.definitions if d.kind in UNIT_KINDS]


def run_to_fixed_point(kernel: Kernel, counts: dict[int, int], begin: Callable[[int], None] | None = None) -> None:
    """Evaluates waiting units until none waits. `counts`: evaluations by unit. `begin` is told each unit's number."""
    while units := kernel.worklist.take_round(counts):
        for number in units:
            count = counts.get(number, 0)
            symbol, context = kernel.units.key(number)
            if count >= MAX_EVALUATIONS:
                kernel.cut.add(symbol)
                result: CellKey = ("return", symbol) if context is None else ("return", symbol, context)
                kernel.heap.write(result, kernel.open(Reason.BUDGET), number)
                continue
            counts[number] = count + 1
            if begin is not None:
                begin(number)
            evaluate_unit(kernel, kernel.definition(symbol), None, context, kernel.heap.remember(number))
        kernel.heap.end_round()


def count_work(kernel: Kernel, counts: dict[int, int]) -> Work:
    """The figures of a solved kernel."""
    heap = kernel.heap
    functions = sum(kernel.units.key(n)[1] is None for n in counts)
    return Work(
        sum(counts.values()), functions, heap.size, heap.contributions, len(kernel.requested), len(kernel.cut)
    )


def resolve_units(kernel: Kernel, units: Iterable[Definition]) -> Recorder:
    """The resolution pass: each body once, over frozen cells."""
    recorder = Recorder()
    for unit in units:
        evaluate_unit(kernel, unit, recorder)
    for (symbol, _), outcome in recorder.calls.items():
        if symbol in kernel.cut:
            outcome.reasons.add(Reason.BUDGET)
    return recorder


def evaluate_unit(
    kernel: Kernel,
    unit: Definition,
    recorder: Recorder | None,
    context: Context | None = None,
    memory: Memory | None = None,
) -> None:
    """Evaluates one body: its parameters in, its results and names out into their cells."""
    frame = Frame(kernel, unit, recorder, context, memory)
    if unit.is_function:
        _bind_parameters(frame)
    run_block(frame, unit.facts.body)
    if recorder is not None or unit.is_function:
        return
    if unit.kind is SymbolKind.MODULE:
        for name, values in frame.env.items():
            if "." not in name:
                frame.write(("global", unit.module.module_id, name), values)
    else:
        _write_class(frame)


def _write_class(frame: Frame) -> None:
    """A class body's names become class attributes; an Enum's values its members."""
    unit = frame.unit
    holds_members = is_enum(frame, unit.id)
    for name, values in frame.env.items():
        if "." in name:
            continue
        if holds_members:
            values = keep_members(frame, unit.id, name, values)
        values = field_values(frame, name, values)
        frame.write(("cattr", unit.id, name), values)


def _bind_parameters(frame: Frame) -> None:
    unit = frame.unit
    receiver = frame.kernel.first_parameter(unit)
    keys = dict(frame.context.bindings) if frame.context is not None else {}
    frame.settled = settle_parameters(frame)
    for parameter in unit.facts.parameters:
        name = parameter.name
        if name == receiver:
            values = frozenset({keys[name]}) if name in keys else frame.kernel.self_values(unit)
            receiver = None
            symbolic = False
        else:
            symbolic = parameter.annotation is None and parameter.kind not in ("star", "doublestar")
            kept = None
            if name in keys:
                values, exact = bind_key(frame, keys[name], partial(parameter_values, frame, parameter))
                symbolic = parameter.kind != "star"
                kept = values if exact else None
            else:
                values = parameter_values(frame, parameter)
        frame.env[name] = values
        if symbolic:
            frame.concrete[name] = values
            frame.env[name] = frozenset({frame.kernel.make.given(unit.id, name, kept)})
        if unit.children:
            frame.write(("closure", unit.id, name), values)


def parameter_values(frame: Frame, parameter: ir.Parameter) -> ValueSet:
    """What a parameter can hold: its declaration where that says enough, joined with what callers pass where not."""
    kernel = frame.kernel
    unit = frame.unit
    if parameter.kind in ("star", "doublestar"):
        return star_value(frame, unit, parameter)
    declared = NOTHING
    if parameter.annotation is not None:
        declared = kernel.annotations.read(parameter.annotation, unit.parent or unit, unit)
        if not kernel.is_weak(declared):
            if not any(is_bare(v) for v in declared):
                return declared
            return declared | fit_containers(frame, declared, frame.read(parameter_cell(unit, parameter)))
    passed = frame.read(parameter_cell(unit, parameter))
    told: set[Value] = {v for v in declared if not isinstance(v, SpecialForm)}
    return frozenset(told) | passed


def find_stored_attributes(program: Program) -> dict[str, frozenset[str]]:
    """By class id, the attributes that its methods store on their first parameter, by text."""
    from contextc.model.traverse import iter_nodes

    found: dict[str, set[str]] = {}
    for module in program.repository:
        for definition in module.definitions:
            owner = definition.enclosing_class()
            if owner is None or not definition.is_function or not definition.facts.parameters:
                continue
            receiver = definition.facts.parameters[0].name
            names = found.setdefault(owner.id, set())
            for node in iter_nodes(*definition.facts.body):
                for target in _targets(node):
                    if isinstance(target, ir.Attribute) and _is_name(target.value, receiver):
                        names.add(target.attr)
    return {cls: frozenset(names) for cls, names in found.items()}


def find_borrowed_attributes(program: Program) -> dict[str, frozenset[str]]:
    """By class id, the attributes that its methods read on anything but their first parameter, by text: what
    `super().name` and `Base.name` can mean is among them."""
    from contextc.model.traverse import iter_nodes

    found: dict[str, set[str]] = {}
    for module in program.repository:
        for definition in module.definitions:
            method = definition.enclosing_method()
            owner = method.enclosing_class() if method is not None else None
            if method is None or owner is None or not definition.is_function:
                continue
            receiver = method.facts.parameters[0].name if method.facts.parameters else ""
            names = found.setdefault(owner.id, set())
            for node in iter_nodes(*definition.facts.body):
                if isinstance(node, ir.Attribute) and not _is_name(node.value, receiver):
                    names.add(node.attr)
    return {cls: frozenset(names) for cls, names in found.items()}


def find_foreign_stores(program: Program) -> frozenset[str]:
    """Attribute names that some code stores on an object that is not its own receiver, by text: on a class, a module,
    through `setattr`. A method of such a name may have been replaced."""
    from contextc.model.traverse import iter_nodes

    found: set[str] = set()
    for module in program.repository:
        for unit in module.definitions:
            is_method = unit.kind is SymbolKind.METHOD and bool(unit.facts.parameters)
            receiver = unit.facts.parameters[0].name if is_method else ""
            for node in iter_nodes(*unit.facts.body):
                for target in _targets(node):
                    if isinstance(target, ir.Attribute) and not _is_name(target.value, receiver):
                        found.add(target.attr)
                found.update(_replaced_names(node))
    return frozenset(found)


def _replaced_names(node: object) -> Iterator[str]:
    """The names that `setattr(owner, "name", f)`, `patch.object(owner, "name")`, `patch("owner.name")` write out."""
    if not isinstance(node, ir.Call):
        return
    called = node.func.attr if isinstance(node.func, ir.Attribute) else getattr(node.func, "id", "")
    for argument in node.args[:2] if called in ("setattr", "patch", "object") else ():
        text = argument.value
        if isinstance(text, ir.Constant) and isinstance(text.value, str):
            yield text.value.rpartition(".")[2]


def _is_name(expr: ir.Expr, name: str) -> bool:
    return isinstance(expr, ir.Name) and expr.id == name


def _targets(node: object) -> list[ir.Expr]:
    """Assignment targets of a statement, tuples opened."""
    roots: list[ir.Expr] = []
    if isinstance(node, ir.Assign):
        roots.extend(node.targets)
    elif isinstance(node, (ir.AnnotatedAssign, ir.AugmentedAssign, ir.For, ir.WithItem)) and node.target is not None:
        roots.append(node.target)
    found: list[ir.Expr] = []
    while roots:
        target = roots.pop()
        if isinstance(target, (ir.TupleExpr, ir.ListExpr)):
            roots.extend(target.items)
        elif isinstance(target, ir.Starred):
            roots.append(target.value)
        else:
            found.append(target)
    return found
