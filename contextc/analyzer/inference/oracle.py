"""Oracle rounds (stratum 3): what the fixed point left open gets an answer that enters as one more writer.

In: the cells after a fixed point. Out: answers by cell. A parameter that no caller in the repository fills
is open, with the reason; by its uses it may still be one of few classes of the repository (structural inference).
"""

from __future__ import annotations

from collections.abc import Iterable

from contextc.analyzer.inference.binding import UNKNOWN_LENGTH, parameter_cell
from contextc.analyzer.inference.construction import INITIALISER, cells_of_any_call
from contextc.analyzer.inference.external_names import Oracle
from contextc.analyzer.inference.heap import CellKey
from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.structural import Structure
from contextc.model import ir
from contextc.model.edge import Reason
from contextc.model.value import Grip, ValueSet

ORACLE = -1  # the writer of what no body says
Answers = dict[CellKey, ValueSet]


def answer_open_parameters(kernel: Kernel, units: Iterable[Definition]) -> Answers:
    """What to write into the cell of each parameter that nothing fills, in a fixed point without any such answer."""
    answers: Answers = {}
    structure = Structure(kernel)
    for unit in units:
        if not unit.is_function:
            continue
        receiver = kernel.first_parameter(unit)
        for parameter in unit.facts.parameters:
            if parameter.kind == "star" and not kernel.heap.read(("star", unit.id), -1):
                answers["star", unit.id] = frozenset({kernel.make.literal("int", UNKNOWN_LENGTH)})
            if parameter.kind in ("star", "doublestar") or parameter.name == receiver:
                continue
            cell = parameter_cell(unit, parameter)
            if not kernel.heap.read(cell, -1) - kernel.none:
                answer = answer_parameter(kernel, structure, unit, parameter)
                answers.update(dict.fromkeys(cells_of_any_call(unit, parameter.name), answer))
    for unit in units:
        if unit.is_class:
            answers.update(answer_construction(kernel, unit))
    return answers


def answer_construction(kernel: Kernel, unit: Definition) -> Answers:
    """A class that nothing here makes an object of, nor of one below it, is constructed from outside: as its
    initialiser is called for any class."""
    classes = kernel.classes
    if any(kernel.heap.read(("constructed", cls), -1) for cls in (unit.id, *classes.descendants(unit.id))):
        return {}
    answers: Answers = {}
    owner = classes.owner(unit.id, INITIALISER)
    for symbol in classes.functions(owner, INITIALISER) if owner is not None and classes.in_repository(owner) else ():
        for parameter in kernel.definition(symbol).facts.parameters:
            answers["made", unit.id, symbol, parameter.name] = frozenset({kernel.make.given(symbol, parameter.name)})
    return answers


def answer_parameter(kernel: Kernel, structure: Structure, unit: Definition, parameter: ir.Parameter) -> ValueSet:
    """What a parameter without a known caller can be: unknown, with the reason; and by what the code uses on it, of a
    class of the repository, as a guess."""
    guessed = structure.find_classes(unit, parameter.name)
    return kernel.open(Reason.UNTYPED_RECEIVER) | {kernel.make.instance(cls, Grip.GUESSED) for cls in guessed}


def answer_external_names(kernel: Kernel, oracle: Oracle) -> None:
    """Asks about the values that libraries without source or stubs gave. The answers tell known methods from unknown
    values in the resolution pass."""
    kernel.externals.learn(kernel.make.external_names(), oracle)
