"""Which reader reads a file. In: its normalised UTF-8 text. Out: `ModuleFacts`, or a `Failure` that says why not.

`read_facts(b"x = 1")` gives complete facts; `read_facts(b"def f(:")` partial ones, with the damage listed.
"""

from __future__ import annotations

from typing import NamedTuple

from contextc.analyzer.reading.limits import MAX_BYTES, DoesNotParse, TooDeep, TooLarge, check_size
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import Damage, ModuleFacts


class Failure(NamedTuple):
    """A file without facts. `detail` is one sentence."""

    reason: SkipReason
    detail: str


def read_facts(text: bytes, max_bytes: int = MAX_BYTES) -> ModuleFacts | Failure:
    """Reads with libcst; with tree-sitter what libcst can't parse. Never raises on bad source."""
    from contextc.analyzer.reading.libcst_reader import read_with_libcst

    try:
        check_size(text, max_bytes)
        return read_with_libcst(text)
    except TooLarge as error:
        return Failure(SkipReason.TOO_LARGE, error.message)
    except TooDeep as error:
        return Failure(SkipReason.TOO_DEEP, f"line {error.line}: {error.message}")
    except DoesNotParse as error:
        return _read_damaged(text, Damage(error.line, error.message))


def _read_damaged(text: bytes, damage: Damage) -> ModuleFacts:
    from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter

    facts = read_with_tree_sitter(text)
    if not damage.line:  # libcst knows no place: the first one tree-sitter found, or the file as a whole
        damage = damage._replace(line=facts.damage[0].line if facts.damage else 1)
    found = {item.line: item for item in (*facts.damage, damage)}
    return facts._replace(damage=tuple(sorted(found.values())))
