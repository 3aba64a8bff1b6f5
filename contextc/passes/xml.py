"""A document as XML. In: a `Document` and its token count. Out: well-formed XML 1.0, code in CDATA sections.

A file has one role; `callers` are its lines that use the target, where the role is another. Attributes are escaped.
Characters that XML can't hold (most control characters) appear in code as U+FFFD and in attributes as Python writes
them (`\\x1b`); nothing else of the code is changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextc.passes.document import Document, Figures
from contextc.passes.doubts import PLACES
from contextc.passes.markdown import printable_line, ranges
from contextc.passes.seeds.summary import MOST_MARKS

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_xml(document: Document, figures: Figures) -> str:
    """The whole text."""
    return "\n".join(_lines(document, figures)) + "\n"


def _lines(document: Document, figures: Figures) -> Iterator[str]:
    yield _tag(
        "context",
        target=document.target,
        tokens=figures.tokens,
        tokenizer=document.tokenizer,
        naive_tokens=document.naive_tokens,
        **({"budget": document.budget} if document.budget else {}),
        files_scanned=document.files_scanned,
        symbols=document.symbols,
    )
    yield from _summary(document)
    for group in document.groups:
        lines = "whole" if group.is_whole else group.cells or ranges(group.lines)
        users = {"callers": ranges(group.callers)} if group.callers else {}
        yield f"{_tag('file', path=group.path, role=group.role, lines=lines, **users)}{_cdata(group.code)}</file>"
    for names in document.names:
        yield from (f"{_tag('names', role=names.title)}{_escape(line)}</names>" for line in names.lines)
    for doubt in document.doubts:
        tag = _tag(doubt.kind, path=doubt.path, line=doubt.line, reason=doubt.reason, hop=doubt.hop)
        targets = "".join(f"<target>{_escape(name)}</target>" for name in doubt.targets)
        yield f"{tag}<site>{_escape(doubt.written)}</site>{targets}</{doubt.kind}>"
    for callers in document.hidden:
        tag = _tag("may_call", path=callers.path, line=callers.line, called=callers.name, count=len(callers.places))
        yield f"{tag}{_escape(', '.join(f'{path}:{line}' for path, line in callers.places[:PLACES]))}</may_call>"
    for warning in document.file_warnings:
        yield f"{_tag('warning', path=warning.path, line=warning.line)}{_escape(warning.message)}</warning>"
    for gap in document.gaps:
        tag = _tag("omitted", count=gap.size, tokens=gap.tokens, why=gap.why, fetch=gap.fetch)
        yield f"{tag}{_escape(', '.join(gap.examples))}</omitted>"
    if document.files_skipped:
        yield _tag("not_analysed", count=document.files_skipped) + "</not_analysed>"
    for reason in document.reasons:
        yield f"<why>{_escape(reason)}</why>"
    yield "</context>"


def _summary(document: Document) -> Iterator[str]:
    """The seeds' marked lines, scores and notes."""
    if document.seeds is None:
        return
    for mark in document.seeds.marks[:MOST_MARKS]:
        yield f"{_tag('mark', path=mark.path, line=mark.line, note=mark.note)}{_escape(mark.text)}</mark>"
    yield from (f"{_tag('score', id=score.symbol, score=score.score)}</score>" for score in document.seeds.scores)
    yield from (f"<note>{_escape(note)}</note>" for note in document.seeds.notes)


def _tag(name: str, **attributes: object) -> str:
    pairs = "".join(f' {key}="{_escape(str(value))}"' for key, value in attributes.items())
    return f"<{name}{pairs}>"


def _escape(text: str) -> str:
    shown = printable_line(text)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        shown = shown.replace(sign, entity)
    return shown


def _cdata(code: str) -> str:
    safe = _FORBIDDEN.sub("\ufffd", code).replace("]]>", "]]]]><![CDATA[>")
    return f"<![CDATA[\n{safe}{'' if safe.endswith(chr(10)) else chr(10)}]]>"
