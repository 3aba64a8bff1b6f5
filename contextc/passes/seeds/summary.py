"""What a context says of its seeds, before any markup. In: `Seeds` and the files' texts as shown. Out: a `Summary`.

A failure in `load` gives the title "Failure" and `MarkedLine("app.py", 3, "raise ValueError(name)", "ValueError: x")`.
Targets given by name need no summary: it is None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from contextc.passes.forms import Source
from contextc.passes.secrets import mask_secrets
from contextc.passes.seeds.values import Score, Seeds

MOST_MARKS = 60  # in one text; JSON has all
_LONGEST = 200  # characters of a line of source
_LONGEST_NOTE = 1_000


class MarkedLine(NamedTuple):
    """A line that the context points at, as it stands in the file, and why."""

    path: str
    line: int
    text: str
    note: str


class Summary(NamedTuple):
    """`title` says what kind of seeds these are."""

    title: str
    marks: tuple[MarkedLine, ...]
    scores: tuple[Score, ...]
    notes: tuple[str, ...]


def summarise_seeds(seeds: Seeds, source_of: Callable[[str], Source], mask: bool) -> Summary | None:
    """The summary; None where there is nothing to say. `source_of` gives a file's text as it may be shown; `mask`:
    secrets in what comes from outside of the files, such as an exception's message."""

    def safe(text: str) -> str:
        cut = text if len(text) <= _LONGEST_NOTE else f"{text[:_LONGEST_NOTE]}…"
        return mask_secrets(cut.encode("utf-8", "backslashreplace")).text.decode("utf-8") if mask else cut

    marks = []
    for mark in seeds.marks:
        text = source_of(mark.path).line(mark.line).strip()
        marks.append(MarkedLine(mark.path, mark.line, text[:_LONGEST], safe(mark.note)))
    notes = tuple(map(safe, seeds.notes))
    if not (marks or notes or seeds.scores):
        return None
    return Summary(seeds.title or "Where it starts", tuple(marks), seeds.scores, notes)
