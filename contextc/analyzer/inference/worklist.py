"""The units that wait to be evaluated, in rounds.

In: unit numbers. Out: the units of the next round: of all that wait, those that were evaluated least often. A body that
many others feed thus waits until these have said what they have to say. What is added during a round comes in a later
one, so that a unit runs at most once a round however many cells it has read grow. With `order`, a round is shuffled:
nothing may depend on the order within it, and a test demands that.
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

    def take_round(self, counts: dict[int, int]) -> list[int]:
        """Those that wait and were evaluated least often by `counts`, in program order; empty when nothing waits."""
        least = min((counts.get(unit, 0) for unit in self._waiting), default=0)
        units = [unit for unit in self._waiting if counts.get(unit, 0) == least]
        units.sort(key=self._ranks.__getitem__)
        self._waiting.difference_update(units)
        if self._order is not None:
            self._order.shuffle(units)
        return units
