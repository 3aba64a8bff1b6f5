"""Counts are exact, offline, and blind to what looks like a special token."""

from __future__ import annotations

import sys

import pytest

from contextc.errors import ConfigurationError
from contextc.passes.tokens import TOKENIZERS, load_tokenizer


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("a<|endoftext|>b", 9),
        ("<|fim_prefix|>x", 7),
        ("naïve ﬁ 日本語 🧑‍🚀", 12),
        (" " * 5000, 40),
    ],
)
def test_o200k(text: str, tokens: int) -> None:
    """Figures of three independent implementations that agree."""
    assert load_tokenizer("o200k").count(text) == tokens


def test_chars4() -> None:
    tokenizer = load_tokenizer("chars4")
    assert (tokenizer.name, tokenizer.count("hello world"), tokenizer.count("abc")) == ("chars4", 2, 0)


def test_an_unknown_name_is_the_users_fault() -> None:
    with pytest.raises(ConfigurationError, match="o200k, chars4"):
        load_tokenizer("gpt2")
    assert TOKENIZERS == ("o200k", "chars4")


def test_long_runs_take_no_time() -> None:
    """A generated file with a long run of one character must not hold up the count."""
    assert load_tokenizer("o200k").count("a" * 400_000) == 50_000
    assert "splintr" in sys.modules
