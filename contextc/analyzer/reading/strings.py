"""What a string literal means, without running anything. Shared by both readers.

In: a literal as written. Out: its kind and value. `read_literal(r"'a\\x62'")` gives `("str", "ab")`.
"""

from __future__ import annotations

import re
import unicodedata

MAX_TEXT = 256  # longer values are not kept: they are prose, not dispatch keys

_LITERAL = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_ESCAPE = re.compile(
    r"\\(\r\n|[\n\r\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]+\})"
)
_SIMPLE = {
    "\n": "", "\r": "", "\r\n": "", "\\": "\\", "'": "'", '"': '"', "a": "\a", "b": "\b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


def read_literal(text: str) -> tuple[str, str | None]:
    """("str", value) or ("bytes", None) for a literal with prefix and quotes; the value None past 256 characters."""
    match = _LITERAL.match(text)
    if match is None:
        return ("str", None)
    prefix = match.group(1).lower()
    if "b" in prefix:
        return ("bytes", None)
    width = len(match.group(2))
    return ("str", decode_text(text[match.end() : len(text) - width], raw="r" in prefix))


def decode_text(text: str, raw: bool) -> str | None:
    """The value of a literal's inside: escapes resolved, line ends as `\\n`. None where it is too long to keep, or
    holds a lone surrogate, which no file can."""
    if len(text) > 10 * MAX_TEXT:  # the longest escape, \\U0001F600, is ten characters for one
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not raw and "\\" in text:
        text = _ESCAPE.sub(_resolve, text)
        if any("\ud800" <= char <= "\udfff" for char in text):
            return None
    return text if len(text) <= MAX_TEXT else None


def join_texts(texts: list[str | None]) -> str | None:
    """The value of adjacent literals; None when one is unknown or the whole is too long."""
    joined = ""
    for text in texts:
        if text is None:
            return None
        joined += text
    return joined if len(joined) <= MAX_TEXT else None


def _resolve(match: re.Match[str]) -> str:
    body = match.group(1)
    simple = _SIMPLE.get(body)
    if simple is not None:
        return simple
    try:
        if body[0] == "N":
            return unicodedata.lookup(body[2:-1])
        return chr(int(body[1:], 16) if body[0] in "xuU" else int(body, 8))
    except (KeyError, ValueError, OverflowError):
        return match.group()
