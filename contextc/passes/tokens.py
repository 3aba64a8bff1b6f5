"""Exact token counts, offline. In: a tokenizer's name. Out: a `Tokenizer`, whose name stands beside every count.

`load_tokenizer("o200k").count("hello world")` is 2; `load_tokenizer("chars4").count("hello world")` also (11 // 4).

Text from a repository is ordinary text: `<|endoftext|>` in a source file counts as the characters it is made of.
"""

from __future__ import annotations

from collections.abc import Callable

from contextc.errors import ConfigurationError

TOKENIZERS = ("o200k", "chars4")
DEFAULT_TOKENIZER = "o200k"
_MOST_KEPT = 50_000  # counts kept; a run of the largest repository measured asks for a fifth of that


class Tokenizer:
    """Counts tokens; equal texts are counted once."""

    __slots__ = ("_count", "_known", "name")

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        self._count = count
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """The number of tokens of `text`."""
        known = self._known.get(text)
        if known is None:
            known = self._count(text)
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[text] = known
        return known


def load_tokenizer(name: str = DEFAULT_TOKENIZER) -> Tokenizer:
    """The tokenizer of that name. Raises ConfigurationError for an unknown one. Costs about 50 ms for o200k."""
    if name == "chars4":
        return Tokenizer(name, lambda text: len(text) // 4)
    if name == "o200k":
        from splintr import Tokenizer as Vocabulary

        encode = Vocabulary.from_pretrained("o200k_base").encode_ordinary
        return Tokenizer(name, lambda text: len(encode(text)))
    raise ConfigurationError(f"no tokenizer named '{name}': one of {', '.join(TOKENIZERS)}")
