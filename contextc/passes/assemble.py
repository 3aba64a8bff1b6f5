"""Pass 3: the final text with its own exact token count in it. In: a `Document`. Out: text and count.

The heading says how many tokens the text has, and that number is part of the text: the two are brought to agree.
"""

from __future__ import annotations

from collections.abc import Callable

from contextc.passes.document import Document, Figures
from contextc.passes.markdown import render_markdown
from contextc.passes.tokens import Tokenizer
from contextc.passes.xml import render_xml

RENDERERS: dict[str, Callable[[Document, Figures], str]] = {"markdown": render_markdown, "xml": render_xml}
_ROUNDS = 12


def assemble(document: Document, markup: str, tokenizer: Tokenizer) -> tuple[str, int]:
    """The text in `markup` ("markdown" or "xml") and its count. The number in the text is that count."""
    render = RENDERERS[markup]
    return settle(lambda tokens: render(document, Figures(tokens)), tokenizer)


def settle(render: Callable[[int], str], tokenizer: Tokenizer) -> tuple[str, int]:
    """The text that names its own count: `tokenizer.count(text)` is the number given to `render`.

    Rendering with the count of the last text reaches it within a few rounds, unless two counts of different length
    take turns (say 999 and 1000). A few line ends more at the end of the text break such a tie.
    """
    for padding in range(8):
        tokens = 0
        for _ in range(_ROUNDS):
            text = render(tokens) + "\n" * padding
            counted = tokenizer.count(text)
            if counted == tokens:
                return text, tokens
            tokens = counted
    raise ArithmeticError(f"no text names its own count with {tokenizer.name}")
