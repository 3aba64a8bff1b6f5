"""The reference reader: what a file means is what libcst says.

In: the normalised UTF-8 text of a file. Out: its `ModuleFacts`, complete. `read_with_libcst(b"def f(): pass")` has two
symbols, `<module>` and `f`.

Importing this loads libcst (about 0.2 s), so callers import it late.
"""

from __future__ import annotations

import itertools
import re

import libcst as cst

from contextc.analyzer.reading import (
    libcst_definitions,
    libcst_expressions,
    libcst_patterns,
    libcst_statements,
    libcst_strings,
)
from contextc.analyzer.reading.builder import Scope
from contextc.analyzer.reading.libcst_cursor import Misplaced, Walk
from contextc.analyzer.reading.limits import DoesNotParse, check_nesting
from contextc.model.facts import ModuleFacts

_EXPRESSIONS = {**libcst_expressions.READERS, **libcst_strings.READERS, **libcst_definitions.EXPRESSIONS}
_STATEMENTS = {**libcst_statements.READERS, **libcst_definitions.STATEMENTS}

_PLACE = re.compile(r"parser error: error at (\d+):\d+: ")
_MESSAGE = 100  # characters: the list of what the parser expected can be long

# The text is UTF-8 already; without this libcst would obey the file's coding cookie once more.
_CONFIG = cst.PartialParserConfig(encoding="utf-8")


def parse_text(text: bytes) -> cst.Module:
    """The syntax tree. Raises TooDeep or TooLarge past the limits, DoesNotParse for what libcst does not read."""
    check_nesting(text)
    try:
        return cst.parse_module(text, _CONFIG)
    except cst.ParserSyntaxError as error:
        raise _fault(error.message) from None
    except cst.CSTValidationError as error:
        raise DoesNotParse(0, str(error).partition("\n")[0]) from None


def read_with_libcst(text: bytes) -> ModuleFacts:
    """Facts of a file that parses. Raises as `parse_text`, TooDeep also where the facts would nest too deep, and
    DoesNotParse where libcst's tree can't be laid over the text."""
    module = parse_text(text)
    source = text.decode("utf-8")
    walk = Walk(source, _EXPRESSIONS, _STATEMENTS, libcst_patterns.READERS)
    scope = walk.builder.scope
    scope.defined = frozenset(libcst_statements.defined_names(module.body))
    try:
        _read_module(walk, scope, module)
    except Misplaced as error:
        line = len(source[: error.position].splitlines()) or 1
        raise DoesNotParse(line, f"the syntax tree does not fit the text: {error.token!r} expected") from None
    offsets = None if len(source) == len(text) else _byte_offsets(source)
    return ModuleFacts(walk.builder.finish(offsets), False, (), "libcst")


def _fault(message: str) -> DoesNotParse:
    """libcst's message names the line of a parser error; of a tokenizer error it knows none."""
    match = _PLACE.match(message)
    line = int(match.group(1)) if match else 0
    first = message[match.end() if match else 0 :].partition("\n")[0].removeprefix("tokenizer error: ")
    return DoesNotParse(line, first if len(first) <= _MESSAGE else first[: _MESSAGE - 1] + "…")


def _read_module(walk: Walk, scope: Scope, module: cst.Module) -> None:
    if module.body:
        scope.body_start = walk.skip()
    scope.body = libcst_statements.read_block(walk, module.body)
    scope.take_docstring()
    if walk.skip() != len(walk.source):
        raise Misplaced(walk.pos, "end of file")
    scope.end = len(walk.source)


def _byte_offsets(source: str) -> list[int]:
    """The byte offset of each code point, and of the end."""
    widths = (1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4 for c in source)
    return list(itertools.accumulate(widths, initial=0))
