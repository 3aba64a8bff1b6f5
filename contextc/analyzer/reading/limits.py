"""What libcst is not asked to read, before any of it can hurt: counted work, never a clock.

In: a file's bytes. Out: nothing, or one of the faults below. `check_nesting(b"x = " + b"(" * 300 + b")" * 300)` raises
`TooDeep(1, "brackets nested more than 200 deep", 204)`.

libcst parses by recursion in native code: past some depth of its stack it ends the process, and some nestings cost it
quadratic time and memory (400 nested calls: 2.5 s, 376 MB; 5,000 terms of a sum: 28 s). So a linear scan over the raw
text comes first. It overestimates on purpose: depth is bounded by the tokens seen since the last comma in each open
bracket, work by the sum of that over all tokens. What is past the limits goes to tree-sitter.
"""

from __future__ import annotations

import re

MAX_BYTES = 2_000_000
MAX_TOKENS = 400_000  # libcst takes up to 40 µs and 3 kB for each
MAX_BRACKETS = 200  # CPython's own limit for nested parentheses (MAXLEVEL in its tokenizer)
MAX_CHAIN = 4_000  # names, operators and brackets that an expression may hold since the last comma in each bracket
MAX_WORK = 40_000_000  # sum of those over all tokens: 2 s of libcst for every 8 million
MAX_STRINGS = 2_000  # adjacent literals; libcst takes 3,000
MAX_LEVELS = 300  # of nested facts, which plain recursion can bear at Python's default limit; real code has up to 80
MAX_LINKS = 8_000  # of one chain: `a.b().c()`, `a + b + c`, `elif … elif …`; facts don't nest by them, values do
TOO_MANY_BRACKETS = f"brackets nested more than {MAX_BRACKETS} deep"
TOO_DEEP = "expression nested too deep"  # what an `Unread` node and a damaged line say of it


class Unreadable(Exception):
    """A file that a reader gives up on: `line` (from 1, 0 if unknown) and one sentence."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


class DoesNotParse(Unreadable):
    """Not Python as far as this reader knows."""


class TooDeep(Unreadable):
    """Nested deeper than the limits above. `offset` is a byte of the expression, -1 where the text is Python for sure
    and only its facts would nest too deep."""

    def __init__(self, line: int, message: str, offset: int = -1) -> None:
        super().__init__(line, message)
        self.offset = offset


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
    """Raises TooDeep when some expression could nest deeper than libcst bears, TooLarge for too many tokens."""
    fault = find_deep(text)
    if fault is not None:
        offset, message = fault
        raise TooDeep(_line(text, offset), message, offset)


def find_deep(text: bytes, start: int = 0, most: int = MAX_CHAIN) -> tuple[int, str] | None:
    """The first place, from `start` on, that is too deep for libcst, and why; with `most` in place of MAX_CHAIN. Raises
    TooLarge for too many tokens. Linear in the text.

    No expression goes on past two operands side by side (`f(x` and on the next line `y = 1`): a parser stops there, so
    a bracket left open does not make the rest of the file one expression. Calls and subscripts, and operators before
    their operand, weigh more than the rest: they cost libcst more."""
    weights = [0]  # tokens since the last comma, for each open bracket
    total = work = strings = 0
    after_operand = False
    for count, match in enumerate(_TOKEN.finditer(text, start)):
        kind = match.lastgroup
        added = 0
        if count > MAX_TOKENS:
            raise TooLarge(_line(text, match.start()), f"more than {MAX_TOKENS:,} tokens")
        if kind == "word":
            is_operand = match.group() not in _OPERATORS
            if is_operand and after_operand:
                weights, total = [0], 0
            added = 1 if is_operand or after_operand else _HEAVY
            after_operand = is_operand
        elif kind == "sign":
            added = 1 if after_operand else _HEAVY
            after_operand = False
        elif kind == "open":
            added = _HEAVY if after_operand else 1
            after_operand = False
        elif kind == "string":
            strings += 1
            after_operand = True
            fault = _find_deep_in_string(text, match.start(), match.end())
            if fault:
                return match.start(), fault
        elif kind == "close":
            after_operand = True
            if len(weights) > 1:
                total -= weights.pop()
        elif kind == "comma" or (kind == "line" and len(weights) == 1):
            after_operand = False
            total -= weights[-1]
            weights[-1] = 0
        weights[-1] += added
        total += added
        work += total
        if kind == "open":
            weights.append(0)
        if kind in _BREAKS:
            strings = 0
        if total > most or len(weights) > MAX_BRACKETS or strings > MAX_STRINGS or work > MAX_WORK:
            return match.start(), _fault(total, len(weights), strings, most)
    return None


_HEAVY = 4
_BREAKS = frozenset({"word", "sign", "open", "close", "comma"})  # what ends a run of adjacent strings


def _fault(chain: int, brackets: int, strings: int, most: int = MAX_CHAIN) -> str:
    if chain > most:
        return f"one expression of more than {most:,} parts"
    if brackets > MAX_BRACKETS:
        return TOO_MANY_BRACKETS
    if strings > MAX_STRINGS:
        return f"more than {MAX_STRINGS:,} adjacent strings"
    return f"expressions too long to read in {MAX_WORK:,} steps"


def _find_deep_in_string(text: bytes, start: int, end: int) -> str:
    """An f-string (or t-string) can nest expressions of its own: its braces and brackets are bounded too."""
    prefix = text[start : start + 2].lower()
    if not (b"f" in prefix or b"t" in prefix):
        return ""
    depth = parts = 0
    for byte in text[start:end]:
        if byte in b"([{":
            depth += 1
        elif byte in b")]}":
            depth = max(0, depth - 1)
            parts = parts if depth else 0
        elif depth:
            parts += byte in b".+-*/%&|^~<>= "
        if depth > MAX_BRACKETS or parts > MAX_CHAIN:
            return _fault(parts, depth, 0)
    return ""


def _line(text: bytes, offset: int) -> int:
    return len(re.findall(rb"\r\n|\r|\n", text[:offset])) + 1
