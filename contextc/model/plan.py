"""What the passes hand to each other: candidates by hop, then a form for each.

Slice: `Candidate("app.models:User.save", 1, edge)`. Plan: `Item(candidate, Form.INTERFACE)`. Assemble: text.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from contextc.model.diagnostic import Note, Skip, Warning
from contextc.model.edge import Edge


class Form(str, Enum):
    """How much of a symbol is shown."""

    FULL = "full"
    TRIMMED = "trimmed"
    INTERFACE = "interface"  # signature, docstring, decorators, declared attributes
    SIGNATURE = "signature"
    NAME = "name"

    def __str__(self) -> str:
        return self.value


class Direction(str, Enum):
    """How a symbol stands to the target. A seed itself is what the target USES."""

    USES = "uses"
    USED_BY = "used by"  # its text holds a call of the target, or leads to one
    OVERRIDDEN = "overridden"  # what the target overrides, and what overrides it
    TESTS = "tests"  # test code that reaches the target

    def __str__(self) -> str:
        return self.value


class Candidate(NamedTuple):
    """A symbol the slice reached. `via` is the edge that brought it first (None for a seed). `chance`, in millionths:
    that the edges of the likeliest chain that brings it there are all real, as measured. For what uses the target,
    `via` leads from the candidate towards it."""

    symbol: str
    hop: int
    via: Edge | None
    chance: int = 1_000_000
    direction: Direction = Direction.USES


class Item(NamedTuple):
    """A candidate with its form, and why it got that form. `lines`: of its file, those for whose sake a trimmed body is
    shown (the edges of the slice that leave it). `worth`: the terms of what showing it is worth, in thousandths."""

    symbol: str
    hop: int
    form: Form
    via: Edge | None
    why: str
    direction: Direction = Direction.USES
    lines: tuple[int, ...] = ()
    worth: tuple[tuple[str, int], ...] = ()


class Omission(NamedTuple):
    """A candidate left out, and why. `tokens`: what it would have taken, where that was counted."""

    symbol: str
    hop: int
    why: str
    tokens: int = 0


class Context(NamedTuple):
    """The compiled result: `text` is what goes to the agent, `tokens` its exact count with `tokenizer`."""

    target: str
    items: tuple[Item, ...]
    omitted: tuple[Omission, ...]
    warnings: tuple[Warning, ...]
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]
    tokenizer: str
    tokens: int
    naive_tokens: int
    files_scanned: int
    text: str
    budget: int | None = None  # the most tokens allowed; None: no bound
