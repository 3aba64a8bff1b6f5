"""Names and messages that may hold anything, made safe to show: what doesn't print stands as Python writes it."""

from __future__ import annotations


def escape_unprintable(text: str) -> str:
    """The text with control characters, line ends and lone surrogates as escapes: a newline becomes `\\\\n`."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
