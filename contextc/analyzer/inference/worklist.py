"""The units that wait to be evaluated.

In: unit numbers, each with a rank. Out: the next one. Rounds go through the program in rank order, so that a unit runs
at most once a round however many cells it has read grow. With `order`, each waiting unit is equally likely to be next:
the fixed point must not depend on it, and a test demands that.
"""

from __future__ import annotations

from heapq import heappop, heappush
from random import Random
from typing import Any


class Worklist:
    """Waiting units, each once. `ranks` belongs to whoever numbers the units."""

    def __init__(self, ranks: dict[int, tuple[int, ...]], order: Random | None = None) -> None:
        self._ranks = ranks
        self._order = order
        self._now: list[tuple[Any, int]] = []
        self._later: list[tuple[Any, int]] = []
        self._waiting: set[int] = set()
        self._at: tuple[int, ...] = ()

    def add(self, unit: int) -> None:
        """Asks for a unit to be evaluated (again): in this round if its turn is still to come, else in the next."""
        if unit in self._waiting:
            return
        self._waiting.add(unit)
        if self._order is not None:
            heappush(self._now, (self._order.random(), unit))
            return
        rank = self._ranks[unit]
        heappush(self._now if rank > self._at else self._later, (rank, unit))

    def take(self) -> int | None:
        """The next unit, or None when nothing waits."""
        if not self._now:
            self._now, self._later = self._later, []
            self._at = ()
            if not self._now:
                return None
        rank, unit = heappop(self._now)
        if self._order is None:
            self._at = rank
        self._waiting.discard(unit)
        return unit
