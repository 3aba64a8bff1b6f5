"""Where text stands in Python source: string literals and comments. In: source as text. Out: their places.

`list(iterate_literals('x = b"ab"  # c'))` gives the string's inside at 6–8 and the comment's at 11–13. It is a scan,
not a parse: it takes source that Python doesn't, and never fails. Of an f-string `{…}` is no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_OPENING = re.compile(r"\"\"\"|'''|\"|'|#[^\r\n]*")
_CLOSING = {
    '"': re.compile(r'\\(?:\r\n|[\s\S])|"|[\r\n]'),
    "'": re.compile(r"\\(?:\r\n|[\s\S])|'|[\r\n]"),
    '"""': re.compile(r'\\[\s\S]|"""'),
    "'''": re.compile(r"\\[\s\S]|'''"),
}
_FIELD = re.compile(r"\{\{|\}\}|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")


class Literal(NamedTuple):
    """The inside of a string literal (`start` to `end`, without prefix and quotes), or of a comment after its `#`.
    `opening`: where its prefix or `#` stands. An f-string's fields lie between its texts."""

    opening: int
    start: int
    end: int
    is_comment: bool
    texts: tuple[tuple[int, int], ...]


def iterate_literals(text: str) -> Iterator[Literal]:
    """In order. What isn't closed ends with its line, a triple-quoted one with the text."""
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        sign, start = opening.group(), opening.end()
        if sign[0] == "#":
            at = start
            yield Literal(opening.start(), opening.start() + 1, start, True, ((opening.start() + 1, start),))
            continue
        end, at = _find_end(text, start, sign)
        first = opening.start()
        while first and opening.start() - first < 2 and text[first - 1] in "rRbBuUfFtT":
            first -= 1
        prefix = text[first : opening.start()].lower()
        is_formatted = "f" in prefix or "t" in prefix
        yield Literal(first, start, end, False, tuple(_texts(text, start, end)) if is_formatted else ((start, end),))


def _find_end(text: str, start: int, quotes: str) -> tuple[int, int]:
    """Where the inside ends, and where to go on."""
    closing = _CLOSING[quotes]
    at = start
    while (found := closing.search(text, at)) is not None:
        if found.group()[0] != "\\":
            return found.start(), found.end()
        at = found.end()
    return len(text), len(text)


def _texts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for field in _FIELD.finditer(text, start, end):
        if field.group() not in ("{{", "}}"):
            if field.start() > at:
                yield at, field.start()
            at = field.end()
    if at < end:
        yield at, end
