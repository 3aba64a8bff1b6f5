"""An analysis that follows edits: after each, the state of a cold run, from what the edit can have changed.

In: a program, then the programs that edits make of it. Out: a `Resolved` each time. Exact by construction: a unit
whose body changed, or that asked the tables something they answer otherwise now, is retracted together with every
unit that can rest on what it wrote, and all of them are evaluated again from what the others contribute. (Of the
scheme of Gupta, Mumick and Subrahmanian, "Maintaining Views Incrementally", SIGMOD 1993, this is the deletion without
the ranks that would let it stop earlier.) Where a widened cell takes part, what came before it was widened can leave a
trace that only the same rounds leave again: then everything is evaluated from nothing.

Two fixed points are kept: without the oracle's answers, which says what nothing fills, and with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextc.analyzer.inference.dependencies import TracedKernel, Tracer, describe_unit
from contextc.analyzer.inference.external_names import Oracle
from contextc.analyzer.inference.fixpoint import (
    Solver,
    Work,
    count_work,
    list_units,
    make_kernel,
    resolve_units,
    run_to_fixed_point,
)
from contextc.analyzer.inference.heap import CellKey, Heap
from contextc.analyzer.inference.kernel import REQUESTS, Kernel
from contextc.analyzer.inference.oracle import ORACLE, Answers, answer_external_names, answer_open_parameters
from contextc.analyzer.inference.program import Program
from contextc.analyzer.inference.recorder import Recorder
from contextc.analyzer.inference.resolution import Resolved, resolve_program
from contextc.analyzer.inference.units import Units
from contextc.analyzer.inference.worklist import Worklist


class _Stratum:
    """Cells on the way to a fixed point, the units that wait, the specialisations that were asked for."""

    def __init__(self, program: Program, numbers: Units) -> None:
        self.worklist = Worklist(numbers.ranks)
        self.heap = Heap(program.interner, self.worklist)
        self.requested: set[int] = set()
        self.cut: set[str] = set()
        self.counts: dict[int, int] = {}

    def fork(self, numbers: Units) -> _Stratum:
        """A copy that goes its own way."""
        copy = _Stratum.__new__(_Stratum)
        copy.worklist = Worklist(numbers.ranks)
        copy.heap = self.heap.fork(copy.worklist)
        copy.requested = set(self.requested)
        copy.cut = set(self.cut)
        copy.counts = dict(self.counts)
        return copy

    def attach(self, kernel: Kernel) -> None:
        """Makes a kernel work on these cells."""
        kernel.heap, kernel.worklist = self.heap, self.worklist
        kernel.requested, kernel.cut = self.requested, self.cut


class LiveSolver(Solver):
    """One analysis over many edits. `resolve` first, then `update` with each new program."""

    def __init__(self, program: Program, oracle: Oracle | None = None) -> None:
        self._oracle = oracle
        self._numbers = Units()
        self._tracer = Tracer()
        self._base = _Stratum(program, self._numbers)
        self._full = self._base
        self._answers: Answers = {}
        self._seen: dict[str, object] = {}
        self._settle(program)

    def _settle(self, program: Program) -> None:
        """Takes a program as the present one."""
        self.kernel = make_kernel(program, self._numbers, self._base.worklist)
        self.units = list_units(program)
        self._numbers.refresh(program)

    def resolve(self) -> Resolved:
        """The first program, from nothing."""
        self._start()
        return resolve_program(self)

    def _start(self) -> None:
        self._tracer.forget(self._numbers.all())
        self._base = _Stratum(self.kernel.program, self._numbers)
        self._seen = {unit.id: describe_unit(unit) for unit in self.units}
        for unit in self.units:
            self._base.worklist.add(self._numbers.number(unit, None))
        self._run(self._base)
        self._full = self._base.fork(self._numbers)
        self._answers = answer_open_parameters(self._on(self._base), self.units)
        for cell, values in self._answers.items():
            self._full.heap.write(cell, values, ORACLE)
        self._full.heap.end_round()
        self._run(self._full)

    def update(self, program: Program) -> Resolved:
        """The program as it is now, made with the interner of the one before."""
        self._settle(program)
        dirty = self._find_dirty()
        self._tracer.forget(dirty)
        if not self._follow(dirty):
            self._start()
        return resolve_program(self)

    def _follow(self, dirty: set[int]) -> bool:
        """Brings both fixed points up to date. False where a widened cell takes part: they are of no use then."""
        if not self._restart(self._base, dirty, ()):
            return False
        answers = answer_open_parameters(self._on(self._base), self.units)
        changed = [c for c in {**self._answers, **answers} if self._answers.get(c) != answers.get(c)]
        followed = self._restart(self._full, dirty, changed, answers)
        self._answers = answers
        return followed

    def solve(self) -> Recorder:
        """The resolution pass over the present cells."""
        kernel = self._on(self._full)
        if self._oracle is not None:
            answer_external_names(kernel, self._oracle)
        return resolve_units(kernel, self.units)

    @property
    def work(self) -> Work:
        """What was done since the first program or the last update."""
        return count_work(self._on(self._full), self._full.counts)

    # ---------------------------------------------------------------------------------------------- one stratum

    def _on(self, stratum: _Stratum) -> Kernel:
        stratum.attach(self.kernel)
        return self.kernel

    def _run(self, stratum: _Stratum) -> None:
        traced = TracedKernel(self._on(stratum), self._tracer)

        def begin(number: int) -> None:
            self._tracer.unit = number

        try:
            run_to_fixed_point(traced, stratum.counts, begin)
        finally:
            self._tracer.unit = -1

    def _find_dirty(self) -> set[int]:
        """Numbers of units that are gone, new or other than before, or would be told something else."""
        present = {unit.id: describe_unit(unit) for unit in self.units}
        changed = {symbol for symbol, seen in self._seen.items() if present.get(symbol) != seen}
        changed.update(symbol for symbol in present if symbol not in self._seen)
        self._seen = present
        # Old questions hold nodes of the old text: asked of the present tables, they would leave their answers there.
        dirty = self._tracer.find_changed(make_kernel(self.kernel.program, self._numbers, Worklist({})))
        dirty.update(n for n in self._numbers.all() if self._numbers.key(n)[0] in changed)
        dirty.update(self._numbers.number(unit, None) for unit in self.units if unit.id in changed)
        return dirty

    def _restart(
        self, stratum: _Stratum, dirty: set[int], cells: Sequence[CellKey], answers: Answers | None = None
    ) -> bool:
        """Retracts what rests on `dirty` units or `cells`, and runs to the fixed point again. False: nothing is sure,
        since a widened cell was read or written."""
        heap = stratum.heap
        reached = heap.reached_from(dirty, cells)
        if stratum.cut or heap.touches_widened(reached):
            return False
        for cell in cells:
            heap.withdraw(ORACLE, cell)
        heap.retract(reached)
        heap.forget_reads(reached)
        stratum.counts = {}
        self._drop_unwanted(stratum)
        present = {unit.id for unit in self.units}
        for number in reached:
            symbol, context = self._numbers.key(number)
            if symbol in present and (context is None or number in stratum.requested):
                stratum.worklist.add(number)
        for cell in cells:
            if answers is not None and cell in answers:
                heap.write(cell, answers[cell], ORACLE)
        heap.end_round()
        self._run(stratum)
        self._drop_unwanted(stratum)
        return not (stratum.cut or heap.touches_widened(stratum.counts))

    def _drop_unwanted(self, stratum: _Stratum) -> None:
        """Specialisations that no call asks for any more are forgotten: what they stand for may be gone."""
        unwanted = set()
        for number in stratum.requested:
            symbol, context = self._numbers.key(number)
            if not any(context in stratum.heap.read((kind, symbol), -1) for kind in REQUESTS):
                unwanted.add(number)
        stratum.heap.retract(unwanted)
        stratum.heap.forget_reads(unwanted)
        stratum.requested -= unwanted
