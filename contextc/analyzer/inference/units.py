"""Units of evaluation, numbered: a body, merged or in one of its specialisations.

In: a definition and a context. Out: a small number that stands for the pair as long as the analysis lives, whatever
edits move it to. `ranks` says where a unit comes in a round: program order, specialisations after their merged body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextc.model.value import Context

if TYPE_CHECKING:
    from contextc.analyzer.inference.program import Definition, Program


class Units:
    """All units ever met. Numbers never order anything that is seen outside."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, Context | None], int] = {}
        self._keys: list[tuple[str, Context | None]] = []
        self.ranks: dict[int, tuple[int, ...]] = {}

    def number(self, definition: Definition, context: Context | None) -> int:
        """The unit's number."""
        key = (definition.id, context)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        if number not in self.ranks:
            self.ranks[number] = (definition.order,) if context is None else (definition.order, number)
        return number

    def key(self, number: int) -> tuple[str, Context | None]:
        """Symbol id and specialisation of a unit."""
        return self._keys[number]

    def all(self) -> range:
        """All numbers."""
        return range(len(self._keys))

    def refresh(self, program: Program) -> None:
        """Ranks anew, by the places that definitions have in this program."""
        self.ranks.clear()
        for number, (symbol, context) in enumerate(self._keys):
            definition = program.definitions.get(symbol)
            if definition is not None:
                self.ranks[number] = (definition.order,) if context is None else (definition.order, number)
