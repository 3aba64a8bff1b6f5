"""Which reader reads a file. In: its normalised UTF-8 text. Out: `ModuleFacts`, or a `Failure` that says why not.

`read_facts(b"x = 1")` gives complete facts; `read_facts(b"def f(:")` partial ones, with the damage listed; so do 3,000
nested lists, as one line of damage that is `deep`, with all the rest of the file read.
"""

from __future__ import annotations

from typing import NamedTuple

from contextc.analyzer.reading.limits import MAX_BYTES, TOO_DEEP, DoesNotParse, TooDeep, TooLarge, check_size
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import Damage, ModuleFacts


class Failure(NamedTuple):
    """A file without facts. `detail` is one sentence."""

    reason: SkipReason
    detail: str


def read_facts(text: bytes, max_bytes: int = MAX_BYTES) -> ModuleFacts | Failure:
    """Reads with libcst; with tree-sitter what libcst can't. Never raises on bad source.

    Recursion follows the longest chain in the text (`limits.MAX_LINKS`): with less than a reader process has in stack
    and recursion limit, such a file fails."""
    from contextc.analyzer.reading.libcst_reader import read_with_libcst

    try:
        check_size(text, max_bytes)
        try:
            return read_with_libcst(text)
        except (TooDeep, DoesNotParse) as fault:
            return _read_otherwise(text, fault)
    except TooLarge as error:
        return Failure(SkipReason.TOO_LARGE, error.message)
    except RecursionError:
        return Failure(SkipReason.READER_FAILED, "a chain is longer than the stack here can follow")


def _read_otherwise(text: bytes, fault: TooDeep | DoesNotParse) -> ModuleFacts:
    """Tree-sitter's facts. They are complete where nothing was too deep and libcst finds the rest sound."""
    from contextc.analyzer.reading.masking import find_fault
    from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter

    facts = read_with_tree_sitter(text)
    remaining = find_fault(text, fault)
    if remaining is None:
        return facts
    is_deep = isinstance(remaining, TooDeep)
    damage = Damage(remaining.line, TOO_DEEP if is_deep else remaining.message, is_deep)
    if not damage.line:  # libcst knows no place: the first one tree-sitter found, or the file as a whole
        damage = damage._replace(line=facts.damage[0].line if facts.damage else 1)
    found = {item.line: item for item in (*facts.damage, damage)}
    return facts._replace(partial=True, damage=tuple(sorted(found.values())))
