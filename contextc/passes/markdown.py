"""A document as Markdown: a heading with figures, a fenced block per file, then what is uncertain and what is left out.

In: a `Document` and its token count. Out: text. Nothing from the repository can leave its place: fences are longer than
any run inside, names in headings and lists are code spans with control characters escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from contextc.graph.suggestions import printable
from contextc.passes.document import CALLER, TARGET, Document, Figures, Gap, Group
from contextc.passes.doubts import POSSIBLE, UNRESOLVED, Doubt, HiddenCallers, name_some
from contextc.passes.seeds.summary import MOST_MARKS, Summary

_EXAMPLES = 2
_TARGETS = 3  # enumerated for one site and named here; JSON names all


def render_markdown(document: Document, figures: Figures) -> str:
    """The whole text."""
    return "\n\n".join(_sections(document, figures)) + "\n"


def _sections(document: Document, figures: Figures) -> Iterator[str]:
    yield f"# Context for {code_span(document.target)}"
    bound = f" of {document.budget:,}" if document.budget else ""
    yield (
        f"{figures.tokens:,}{bound} {document.tokenizer} tokens (all {document.files_scanned:,} files: "
        f"{document.naive_tokens:,}). {document.symbols:,} symbols of {document.files_shown:,} files; "
        "an elided body is `...`."
    )
    if document.seeds is not None:
        yield f"## {document.seeds.title}\n\n" + "\n".join(_summary(document.seeds))
    for group in document.groups:
        if group.role == TARGET:
            yield _group(group)
    for title, is_caller in (("What it uses", False), ("What uses it", True)):
        groups = [g for g in document.groups if g.role != TARGET and (g.role == CALLER) is is_caller]
        if groups:
            yield f"## {title}\n\n{fence(_join_files(groups), 'python')}"
    for names in document.names:
        yield f"## {names.title}\n\n{fence(chr(10).join(map(printable_line, names.lines)))}"
    doubts = list(_brief_doubts(document) if document.is_brief else _doubts(document))
    if doubts:
        yield "## Uncertain\n\n" + "\n".join(doubts)
    gaps = list(_brief_gaps(document) if document.is_brief else map(_gap, document.gaps))
    if document.files_skipped:
        gaps.append(f"- not analysed, files or folders: {document.files_skipped:,}; `contextc graph ROOT` lists them")
    if gaps:
        yield "## Left out\n\n" + "\n".join(gaps)
    if document.reasons:
        yield "## Why\n\n" + "\n".join(f"- {printable_line(line)}" for line in document.reasons)


def _summary(seeds: Summary) -> Iterator[str]:
    """Marked lines with their text, scores, notes: a line each."""
    for mark in seeds.marks[:MOST_MARKS]:
        text = f" {code_span(mark.text)}" if mark.text else ""
        yield f"- {code_span(f'{mark.path}:{mark.line}')}{text}: {code_span(mark.note)}"
    if len(seeds.marks) > MOST_MARKS:
        yield f"- {len(seeds.marks) - MOST_MARKS:,} more lines; JSON has them"
    yield from (f"- {code_span(score.symbol)} score {score.score / 1000:.1f}" for score in seeds.scores)
    yield from (f"- note: {code_span(note)}" for note in seeds.notes)


def _group(group: Group) -> str:
    where = "whole" if group.is_whole else group.cells or ranges(group.lines)
    return f"## {code_span(group.path)} {group.role}, {where}\n\n{fence(group.code, 'python')}"


def _join_files(groups: Iterable[Group]) -> str:
    """Parts of several files in one block, each after a comment with its path: a third of what headings cost."""
    parts = ((f"{group.path} ({group.cells})" if group.cells else group.path, group.code) for group in groups)
    return "\n\n".join(f"# {printable_line(place)}\n{code.rstrip()}" for place, code in parts)


def ranges(lines: Iterable[tuple[int, int]]) -> str:
    """Line ranges as `3-9,12`."""
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in lines)


def _gap(gap: Gap) -> str:
    examples = ", ".join(map(code_span, gap.examples))
    more = ", …" if gap.size > len(gap.examples) else ""
    size = f"{gap.size:,} symbols" if gap.size > 1 else "1 symbol"
    size += f", {gap.tokens:,} tokens" if gap.tokens else ""
    return f"- {size} ({printable(gap.why)}): {examples}{more}; {code_span(gap.fetch)}"


def _brief_gaps(document: Document) -> Iterator[str]:
    """The sets of omissions alike in kind on one line, and once how to get them."""
    sizes = []
    for gap in document.gaps:
        tokens = f", {gap.tokens:,} tokens" if gap.tokens else ""
        sizes.append(f"{gap.size:,}{tokens} ({printable(gap.why)})")
    if sizes:
        yield f"- symbols: {'; '.join(sizes)}; `--budget`, `--max-hops` or a symbol as target brings them in"


def _doubts(document: Document) -> Iterator[str]:
    """Targets that were enumerated and sites of the target one by one; those of hop 1 counted, with examples."""
    yield from _enumerated_of_target([d for d in document.doubts if d.kind == POSSIBLE and d.hop == 0])
    yield from _sites_of_target([d for d in document.doubts if d.kind == UNRESOLVED and d.hop == 0])
    for kind in (POSSIBLE, UNRESOLVED):
        later = [d for d in document.doubts if d.kind == kind and d.hop > 0]
        if later:
            examples = ", ".join(f"{_place(d)} {code_span(d.written)}" for d in later[:_EXAMPLES])
            more = ", …" if len(later) > _EXAMPLES else ""
            yield f"- {len(later):,} {kind} sites in symbols of hop 1: {examples}{more}"
    for callers in document.hidden:
        yield f"- {_count_hidden((callers,))} {code_span(callers.name)}: {_name_places(callers.places)}"
    for warning in document.file_warnings:
        yield f"- {code_span(f'{warning.path}:{warning.line}')} {printable_line(warning.message)}"


def _enumerated_of_target(doubts: list[Doubt]) -> Iterator[str]:
    """Sites of one file and rule on one line, each with the targets that were enumerated for it, the first few by name;
    a site on its own line where only one is there."""
    sets: dict[tuple[str, str], list[Doubt]] = {}
    for doubt in doubts:
        sets.setdefault((doubt.path, doubt.reason), []).append(doubt)
    for (path, rules), sites in sets.items():
        listed = []
        for doubt in sites:
            written = f"{code_span(doubt.written)} " if doubt.written else ""
            listed.append(f"{written}{doubt.line}: {name_some(tuple(map(code_span, doubt.targets)), _TARGETS)}")
        yield f"- {code_span(path)} possible ({rules}), line by line: {'; '.join(listed)}"


def _sites_of_target(doubts: list[Doubt]) -> Iterator[str]:
    """Unresolved sites of one file and reason on one line; what is written alike once, with its line numbers."""
    sets: dict[tuple[str, str], dict[str, list[int]]] = {}
    for doubt in doubts:
        written = code_span(doubt.written)
        if doubt.targets:
            written += f" (by its name perhaps {name_some(tuple(map(code_span, doubt.targets)), _TARGETS)})"
        sets.setdefault((doubt.path, doubt.reason), {}).setdefault(written, []).append(doubt.line)
    for (path, reason), sites in sets.items():
        listed = ", ".join(f"{written} {' '.join(map(str, lines))}" for written, lines in sites.items())
        yield f"- {code_span(path)} unresolved ({reason}), line by line: {listed}"


def _brief_doubts(document: Document) -> Iterator[str]:
    """The lines of the target's sites, by file and reason; those of hop 1 counted."""
    for kind in (POSSIBLE, UNRESOLVED):
        lines: dict[tuple[str, str], set[int]] = {}
        for doubt in document.doubts:
            if doubt.kind == kind and doubt.hop == 0:
                lines.setdefault((doubt.path, doubt.reason), set()).add(doubt.line)
        for (path, reason), numbers in lines.items():
            yield f"- {code_span(path)} {kind} ({reason}): line {' '.join(map(str, sorted(numbers)))}"
    names = sorted({name for doubt in document.doubts if doubt.kind == UNRESOLVED for name in doubt.targets})
    if names:
        yield f"- there by name alone, for unresolved sites: {', '.join(map(code_span, names))}"
    later = sum(doubt.hop > 0 for doubt in document.doubts)
    if later:
        yield f"- {later:,} sites in symbols of hop 1"
    if document.hidden:
        yield f"- {_count_hidden(document.hidden)} it"
    for warning in document.file_warnings:
        yield f"- {code_span(f'{warning.path}:{warning.line}')} {printable_line(warning.message)}"


def _count_hidden(hidden: tuple[HiddenCallers, ...]) -> str:
    size = len({place for callers in hidden for place in callers.places})
    return f"{size:,} unresolved site{'s' if size > 1 else ''} elsewhere may call"


def _name_places(places: tuple[tuple[str, int], ...]) -> str:
    shown = ", ".join(code_span(f"{path}:{line}") for path, line in places[:_EXAMPLES])
    return f"{shown}, …" if len(places) > _EXAMPLES else shown


def _place(doubt: Doubt) -> str:
    return code_span(f"{doubt.path}:{doubt.line}")


def printable_line(text: str) -> str:
    """Text of any length on one line, control characters escaped."""
    return "".join(printable(text[i : i + 200]) for i in range(0, len(text), 200))


def code_span(text: str) -> str:
    """Text as inline code that nothing inside can end."""
    shown = printable_line(text)
    longest = max(map(len, re.findall("`+", shown)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fence(code: str, language: str = "") -> str:
    """A fenced block, its fence longer than any run of backticks inside."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    ticks = "`" * max(3, longest + 1)
    end = "" if code.endswith("\n") else "\n"
    return f"{ticks}{language}\n{code}{end}{ticks}"
