"""Typed against name-only: what each takes in for one target, file by file.

In: the files of a typed slice and a name-only `Reach`. Out: a `Comparison`. Where a bare `save` pulled in orders.py,
which no value in the target can reach, `only_name_only` holds `PulledIn("orders.py", 1, (Cause("name", "save", …),))`.
Token counts are not known here; `engine` adds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from contextc.graph.name_only import Cause, Reach


class PulledIn(NamedTuple):
    """A file that only the name-only resolver took in, and what brought it in."""

    path: str
    hop: int
    causes: tuple[Cause, ...]


class Found(NamedTuple):
    """A file that the typed slice took in: with its hop there and, where both have it, in the name-only reach."""

    path: str
    hop: int
    name_only_hop: int | None


class Comparison(NamedTuple):
    """Each array sorted by hop, then path. Lengths are the counts."""

    target: str
    typed: tuple[Found, ...]  # all the typed slice's files
    both: tuple[Found, ...]
    only_typed: tuple[Found, ...]
    only_name_only: tuple[PulledIn, ...]
    collisions: dict[str, tuple[str, ...]]  # called name → the files that define it, where there are several

    @property
    def name_only_files(self) -> int:
        """How many files the name-only resolver reaches."""
        return len(self.both) + len(self.only_name_only)


def compare_resolvers(target: str, typed: Mapping[str, int], reach: Reach) -> Comparison:
    """`typed`: each file of the typed slice with its lowest hop. Both must have been taken from the same target."""
    found = [Found(path, hop, reach.hops.get(path)) for path, hop in sorted(typed.items(), key=lambda i: (i[1], i[0]))]
    pulled = [
        PulledIn(path, hop, reach.why.get(path, ()))
        for path, hop in sorted(reach.hops.items(), key=lambda i: (i[1], i[0]))
        if path not in typed
    ]
    return Comparison(
        target=target,
        typed=tuple(found),
        both=tuple(f for f in found if f.name_only_hop is not None),
        only_typed=tuple(f for f in found if f.name_only_hop is None),
        only_name_only=tuple(pulled),
        collisions=dict(reach.collisions),
    )
