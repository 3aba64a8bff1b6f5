"""Words of code. In: text of any kind. Out: the words its identifiers are made of, alike for `HTTPServers` and prose.

`split_words("load_HTTPServers2")` is `["load", "http", "server", "2"]`.

Plurals are undone by the rules of the S stemmer (D. Harman, "How effective is suffixing?", JASIS 42, 1991), which
errs rarely on identifiers.
"""

from __future__ import annotations

import re
from functools import lru_cache

_IDENTIFIER = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_RUN = re.compile(r"[^\W\d_]+|\d+")  # of letters of any script, or of digits
_LONGEST = 200  # characters of an identifier looked at

# Words of all English and of all code: they tell nothing apart.
STOP_WORDS = frozenset(
    {
        "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for", "from", "has",
        "have", "how", "if", "in", "into", "is", "it", "its", "of", "on", "or", "so", "such", "than", "that", "the",
        "their", "them", "then", "there", "these", "they", "this", "to", "was", "we", "when", "where", "which", "while",
        "who", "will", "with", "you", "your", "class", "def", "return", "self", "cls", "none", "true", "false",
        "import", "not",
    }
)  # fmt: skip


def split_words(text: str) -> list[str]:
    """The words of a text in order, stop words left out."""
    found: list[str] = []
    for match in _IDENTIFIER.finditer(text):
        found += words_of(match.group())
    return found


@lru_cache(maxsize=200_000)
def words_of(identifier: str) -> tuple[str, ...]:
    """The words of one identifier."""
    cut = identifier[:_LONGEST]
    # Capitals part words in ASCII alone: other scripts have none, or are not written so.
    runs = _PART.findall(cut) if cut.isascii() else _RUN.findall(cut)
    return tuple(stem(word) for word in map(str.lower, runs) if word not in STOP_WORDS)


def stem(word: str) -> str:
    """A word without its plural's ending."""
    if len(word) > 4 and word.endswith("ies") and word[-4] not in "ae":
        return word[:-3] + "y"
    if (len(word) > 4 and word.endswith("es") and word[-3] in "xz") or word.endswith(("sses", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and word[-2] not in "us" and not word.endswith("is"):
        return word[:-1]
    return word
