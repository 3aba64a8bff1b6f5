"""Oracle rounds (stratum 3): what the fixed point left open gets an answer that enters as one more writer.

In: the cells after a fixed point. Out: whether anything was added. A parameter that no caller in the repository fills
is open, with the reason; by its uses it may still be one of few classes of the repository (structural inference).
"""

from __future__ import annotations

from contextc.analyzer.inference.binding import parameter_cell
from contextc.analyzer.inference.external_names import Oracle
from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition
from contextc.model.edge import Reason

ORACLE = -1  # the writer of what no body says


def answer_open_parameters(kernel: Kernel, units: list[Definition]) -> bool:
    """Opens each parameter that nothing fills. Returns False when every parameter has been answered."""
    changed = False
    unknown = kernel.open(Reason.UNTYPED_RECEIVER)
    for unit in units:
        if not unit.is_function:
            continue
        receiver = kernel.first_parameter(unit)
        for parameter in unit.facts.parameters:
            if parameter.kind in ("star", "doublestar") or parameter.name == receiver:
                continue
            cell = parameter_cell(unit, parameter)
            if not kernel.heap.read(cell, -1) - kernel.none:
                kernel.heap.write(cell, unknown, ORACLE)
                changed = True
    return changed


def answer_external_names(kernel: Kernel, oracle: Oracle) -> None:
    """Asks about the values that libraries without source or stubs gave. The answers tell known methods from unknown
    values in the resolution pass."""
    kernel.externals.learn(kernel.make.external_names(), oracle)
