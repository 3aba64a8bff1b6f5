"""The units that wait to be evaluated, in rounds.

In: unit numbers. Out: the units of the next round. What is added during a round comes in the next one, so that a unit
runs at most once a round however many cells it has read grow. With `order`, a round is shuffled: nothing may depend on
the order within it, and a test demands that.
"""

from __future__ import annotations

from random import Random


class Worklist:
    """Waiting units, each once. `ranks` belongs to whoever numbers the units."""

    def __init__(self, ranks: dict[int, tuple[int, ...]], order: Random | None = None) -> None:
        self._ranks = ranks
        self._order = order
        self._waiting: set[int] = set()

    def add(self, unit: int) -> None:
        """Asks for a unit to be evaluated (again)."""
        self._waiting.add(unit)

    def take_round(self) -> list[int]:
        """All that wait, in program order; empty when nothing waits."""
        units = sorted(self._waiting, key=self._ranks.__getitem__)
        self._waiting = set()
        if self._order is not None:
            self._order.shuffle(units)
        return units
