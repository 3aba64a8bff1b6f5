"""What the readers refuse, before any of it can hurt: counted work, never a clock.

In: a file's bytes. Out: nothing, or one of the faults below. `check_nesting(b"x = " + b"(" * 300 + b")" * 300)` raises
`TooDeep(1, "brackets nested more than 200 deep")`.

libcst parses by recursion in native code: past some depth of its stack it ends the process, and some nestings cost it
quadratic time and memory (3,000 nested lists: 46 s, 8 GB; 200: 0.1 s, 61 MB). So a linear scan over the raw text comes
first. It overestimates on purpose: depth is bounded by the tokens seen since the last comma in each open bracket.
"""

from __future__ import annotations

import re

MAX_BYTES = 2_000_000
MAX_TOKENS = 400_000  # libcst takes up to 40 µs and 3 kB for each
MAX_BRACKETS = 200  # CPython's own limit for nested parentheses (MAXLEVEL in its tokenizer)
MAX_CHAIN = 2_000  # names, operators and brackets that an expression may hold since the last comma in each bracket
MAX_LEVELS = 200  # of nested facts, which plain recursion can bear at Python's default limit; real code has up to 80


class Unreadable(Exception):
    """A file that a reader gives up on: `line` (from 1, 0 if unknown) and one sentence."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


class DoesNotParse(Unreadable):
    """Not Python as far as this reader knows."""


class TooDeep(Unreadable):
    """Nested deeper than the limits above."""


class TooLarge(Unreadable):
    """More bytes than `MAX_BYTES`, or more tokens than `MAX_TOKENS`."""


_TOKEN = re.compile(
    rb"""
      (?P<string>[A-Za-z]{0,2}(?:\"\"\"(?:[^"\\]|\\.|"(?!\"\"))*(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)
        |"(?:[^"\\\r\n]|\\.)*"?|'(?:[^'\\\r\n]|\\.)*'?))
    | (?P<comment>\#[^\r\n]*)
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<comma>[,;])
    | (?P<joined>\\(?:\r\n|\r|\n))
    | (?P<line>[\r\n])
    | (?P<word>[\w\x80-\xff]+(?:\.\d\w*)?)
    | (?P<sign>[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)


_OPERATORS = frozenset(b"and or not in is if else for lambda await async yield from as".split())


def check_size(text: bytes, limit: int = MAX_BYTES) -> None:
    """Raises TooLarge for a text of more than `limit` bytes."""
    if len(text) > limit:
        raise TooLarge(0, f"{len(text):,} bytes; the limit is {limit:,}")


def check_nesting(text: bytes) -> None:
    """Raises TooDeep when some expression could nest deeper than libcst bears, TooLarge for too many tokens. Linear in
    the text.

    No expression goes on past two operands side by side (`f(x` and on the next line `y = 1`): a parser stops there, so
    a bracket left open does not make the rest of the file one expression."""
    weights = [0]  # tokens since the last comma, for each open bracket
    total = 0
    after_operand = False
    for count, match in enumerate(_TOKEN.finditer(text)):
        kind = match.lastgroup
        if count > MAX_TOKENS:
            raise TooLarge(_line(text, match.start()), f"more than {MAX_TOKENS:,} tokens")
        if kind == "word":
            is_operand = match.group() not in _OPERATORS
            if is_operand and after_operand:
                weights, total = [0], 0
            after_operand = is_operand
            weights[-1] += 1
            total += 1
        elif kind == "sign" or kind == "open":
            after_operand = False
            weights[-1] += 1
            total += 1
            if kind == "open":
                weights.append(0)
        elif kind == "string":
            _check_string(text, match.start(), match.end())
        elif kind == "close":
            after_operand = True
            if len(weights) > 1:
                total -= weights.pop()
        elif kind == "comma" or (kind == "line" and len(weights) == 1):
            after_operand = False
            total -= weights[-1]
            weights[-1] = 0
        if total > MAX_CHAIN:
            raise TooDeep(_line(text, match.start()), f"one expression of more than {MAX_CHAIN:,} parts")
        if len(weights) > MAX_BRACKETS:
            raise TooDeep(_line(text, match.start()), f"brackets nested more than {MAX_BRACKETS} deep")


def _check_string(text: bytes, start: int, end: int) -> None:
    """An f-string (or t-string) can nest expressions of its own: its braces and brackets are bounded too."""
    prefix = text[start : start + 2].lower()
    if not (b"f" in prefix or b"t" in prefix):
        return
    depth = parts = 0
    for byte in text[start:end]:
        if byte in b"([{":
            depth += 1
            if depth > MAX_BRACKETS:
                raise TooDeep(_line(text, start), f"brackets nested more than {MAX_BRACKETS} deep")
        elif byte in b")]}":
            depth = max(0, depth - 1)
            parts = parts if depth else 0
        elif depth:
            parts += byte in b".+-*/%&|^~<>= "
            if parts > MAX_CHAIN:
                raise TooDeep(_line(text, start), f"one expression of more than {MAX_CHAIN:,} parts")


def _line(text: bytes, offset: int) -> int:
    return len(re.findall(rb"\r\n|\r|\n", text[:offset])) + 1
