"""What the final text says, before any markup. In: a plan. Out: a `Document` that `markdown`, `xml` and `json` render.

One `Group` per file, ordered by (lowest hop, path); inside a file by line. Each set of omissions is one `Gap`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.diagnostic import Warning
from contextc.model.facts import SymbolKind
from contextc.model.plan import Direction, Form, Item, Omission
from contextc.passes.doubts import Doubt, HiddenCallers
from contextc.passes.forms import Source
from contextc.passes.profile import Profile
from contextc.passes.seeds.summary import Summary
from contextc.passes.skeleton import Skeleton, kept_for, name_line
from contextc.passes.trimming import Kept

TARGET, CALLER = "target", "caller"
LOWERED = "shown, in a lesser form than without a budget"
_EXAMPLES = 2
PLACE = 10  # tokens that a symbol's place in the text costs beside its own: headings, headers of what is around it


class Group(NamedTuple):
    """One file's part. `role`: TARGET, "hop 1" …, or CALLER where all of it uses the target; `lines` are ranges of the
    file's lines (of a notebook: of its code cells joined), `numbers` has for each line of the code its number in the
    file, 0 for what isn't there."""

    path: str
    role: str
    lines: tuple[tuple[int, int], ...]
    is_whole: bool
    code: str
    numbers: tuple[int, ...] = ()
    cells: str = ""  # of a notebook: where `lines` lie
    callers: tuple[tuple[int, int], ...] = ()  # of another role: those of `lines` that belong to users of the target


class Gap(NamedTuple):
    """One line for a set of omissions: how many (`size`), why, and what brings them back. `tokens`: what they would
    take, where that was counted."""

    size: int
    why: str
    fetch: str
    examples: tuple[str, ...]
    tokens: int = 0


class Names(NamedTuple):
    """What is shown by name, a line a file: `app/views.py: show 12, Page.render 40`; the numbers are lines of calls."""

    title: str
    lines: tuple[str, ...]


class Document(NamedTuple):
    """Everything but the counts of the text itself."""

    target: str
    groups: tuple[Group, ...]
    names: tuple[Names, ...]
    doubts: tuple[Doubt, ...]
    file_warnings: tuple[Warning, ...]
    gaps: tuple[Gap, ...]
    reasons: tuple[str, ...]  # one line an item, for --explain
    tokenizer: str
    naive_tokens: int
    symbols: int
    files_shown: int
    files_scanned: int
    files_skipped: int
    budget: int | None = None  # tokens that the text may have
    is_brief: bool = False  # what is uncertain is told by its lines alone
    seeds: Summary | None = None  # of a diff, a failure, a task in words
    hidden: tuple[HiddenCallers, ...] = ()


class Figures(NamedTuple):
    """What is known of the text only once it is there."""

    tokens: int


def build_groups(
    graph: CallGraph,
    items: Iterable[Item],
    sources: Mapping[str, Source],
    profile: Profile,
    imports: Mapping[str, Sequence[int]],
) -> tuple[Group, ...]:
    """The files' parts, in the order of the text. `imports`: by path, lines of import statements to show as well."""
    chosen: dict[str, dict[str, Form]] = {}
    kept: dict[str, dict[str, Kept]] = {}
    hops: dict[str, int] = {}
    used: set[str] = set()
    callers: dict[str, list[str]] = {}
    for item in items:
        if item.form is not Form.NAME:
            path = graph.symbol(item.symbol).path
            chosen.setdefault(path, {})[item.symbol] = item.form
            is_dependent = item.direction is Direction.USES
            kept.setdefault(path, {})[item.symbol] = kept_for(profile, item.lines, is_dependent)
            hops[path] = min(item.hop, hops.get(path, item.hop))
            if item.direction is Direction.USED_BY:
                callers.setdefault(path, []).append(item.symbol)
            else:
                used.add(path)
    groups = []
    for path in sorted(chosen, key=lambda p: (p not in used, hops[p], p)):
        module = graph.symbols_in_file(path)[0]
        is_whole = chosen[path].get(module.id) is Form.FULL
        skeleton = Skeleton(graph, sources[path], profile, chosen[path], kept[path])
        shown = skeleton.render(module, imports.get(path, ()))
        role = TARGET if hops[path] == 0 else f"hop {hops[path]}" if path in used else CALLER
        file = graph.file(path)
        cells = "; ".join(file.describe_lines(*lines) for lines in shown.lines) if file.cells and not is_whole else ""
        users = [] if role == CALLER else [graph.symbol(name) for name in callers.get(path, ())]
        inside = {(max(first, s.line), min(last, s.end_line)) for first, last in shown.lines for s in users}
        of_users = tuple(sorted(lines for lines in inside if lines[0] <= lines[1]))
        groups.append(Group(path, role, shown.lines, is_whole, shown.text, shown.numbers, cells, of_users))
    return tuple(groups)


def locate_doubt(graph: CallGraph, doubt: Doubt) -> Doubt:
    """In a notebook with the cell and its line beside what is written."""
    file = graph.file(doubt.path)
    return doubt._replace(written=f"{doubt.written} ({file.describe_line(doubt.line)})") if file.cells else doubt


def locate_warning(graph: CallGraph, warning: Warning) -> Warning:
    """In a notebook with the cell and its line before the message."""
    file = graph.file(warning.path)
    return warning._replace(message=f"{file.describe_line(warning.line)}: {warning.message}") if file.cells else warning


def masked_places(groups: Iterable[Group], sources: Mapping[str, Source]) -> list[Warning]:
    """Where what is shown has a secret masked, and of which kind; each line and kind once."""
    places = {
        Warning(group.path, secret.line, f"masked: {secret.kind}")
        for group in groups
        for secret in sources[group.path].secrets
        if group.is_whole or any(first <= secret.line <= last for first, last in group.lines)
    }
    return sorted(places)


_TITLES = {
    Direction.USES: "By name", Direction.USED_BY: "Callers by name", Direction.OVERRIDDEN: "Overrides by name",
    Direction.TESTS: "Tests that reach it",
}  # fmt: skip


def list_names(
    graph: CallGraph, items: Iterable[Item], sources: Mapping[str, Source], groups: Iterable[Group]
) -> tuple[Names, ...]:
    """The items shown by name alone, by direction and file; not a module whose file has a part of its own."""
    shown = {group.path for group in groups}
    table: dict[Direction, dict[str, list[str]]] = {}
    for item in items:
        symbol = graph.symbol(item.symbol)
        if item.form is not Form.NAME:
            continue
        files = table.setdefault(item.direction, {})
        file = graph.file(symbol.path)
        lines = "".join(f" {f'({file.describe_line(line)})' if file.cells else line}" for line in item.lines)
        if symbol.kind is not SymbolKind.MODULE:
            files.setdefault(symbol.path, []).append(symbol.qualname + lines)
        elif item.lines and file.cells:
            files.setdefault(symbol.path, []).extend(file.describe_line(line) for line in item.lines)
        elif item.lines:
            files.setdefault(symbol.path, []).append(f"line{'s' * (len(item.lines) > 1)}{lines}")
        elif symbol.path not in shown:
            files.setdefault(name_line(symbol, sources[symbol.path]), [])
    found = []
    for direction, title in _TITLES.items():
        files = table.get(direction, {})
        if files:
            listed = (f"{path}: {', '.join(names)}" if names else path for path, names in files.items())
            found.append(Names(title, tuple(listed)))
    return tuple(found)


def list_gaps(omitted: Iterable[Omission], budget: int | None, lowered: Sequence[str] = ()) -> tuple[Gap, ...]:
    """One gap per reason, in the order of first sight; last what is shown with less than the profile gives it."""
    sets: dict[str, list[Omission]] = {}
    for omission in omitted:
        sets.setdefault(omission.why, []).append(omission)
    gaps = []
    for why, members in sets.items():
        tokens = sum(omission.tokens for omission in members)
        if "past the last hop" in why:
            fetch = f"contextc compile ROOT TARGET --max-hops {members[0].hop}"
        elif tokens and budget:
            fetch = f"contextc compile ROOT TARGET --budget {budget + tokens + len(members) * PLACE}"
        else:
            fetch = "contextc compile ROOT ID"
        gaps.append(Gap(len(members), why, fetch, tuple(o.symbol for o in members[:_EXAMPLES]), tokens))
    if lowered:
        fetch = "contextc compile ROOT TARGET --budget 0"
        gaps.append(Gap(len(lowered), LOWERED, fetch, tuple(lowered[:_EXAMPLES])))
    return tuple(gaps)
