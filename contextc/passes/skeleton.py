"""The chosen symbols of one file as Python text. In: forms by symbol id. Out: text that parses, in source order.

With `User.save` as a signature and nothing else chosen, models.py becomes

    class User(Model):
        def save(self) -> None: ...

A class or function that holds something chosen is opened around it by its header; chosen itself as an interface, it
also has its docstring and declared attributes, and one line counts the members that aren't shown. A definition that
stands inside an `if` or `try` of its file is put under `if ...:` with that line as a comment, so that the author's
indentation can stay.

A trimmed function or class is cut by `trimming`; what is chosen inside it is kept with it. A class of which something
else is chosen, or one without lines to be shown for, is an interface where `trimmed` was asked; so is a module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.facts import SymbolKind
from contextc.model.plan import Form
from contextc.model.symbol import Symbol
from contextc.passes.forms import (
    Source,
    body_indent_of,
    docstring_rows,
    first_line,
    full_text,
    header_rows,
    import_statement,
    indent_of,
    statement_text,
    summary_of,
)
from contextc.passes.profile import Profile
from contextc.passes.rows import Row, ranges_of, rows_from, text_of_rows
from contextc.passes.trimming import Kept, trim

_STATEMENTS = frozenset({SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE})
_MEMBERS = frozenset({SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.ATTRIBUTE})
_NAMED = 6  # hidden members named in the line that counts them
_LOOKED_BACK = 400  # lines searched for the statement around an indented definition
_FOR_TYPES = re.compile(r"[ \t]*if[ \t]+(\w+\.)*TYPE_CHECKING[ \t]*:[ \t]*(#.*)?")


class Shown(NamedTuple):
    """A file's chosen symbols as text, with the line ranges of the file it was cut from. `numbers` has for each line of
    the text its number in the file, 0 for what isn't there."""

    text: str
    lines: tuple[tuple[int, int], ...]
    numbers: tuple[int, ...] = ()


class Skeleton:
    """Renders one file. `chosen` maps symbol ids to forms; `Form.NAME` shows nothing here. `kept` says for whose sake
    the trimmed ones are shown."""

    def __init__(
        self,
        graph: CallGraph,
        source: Source,
        profile: Profile,
        chosen: Mapping[str, Form],
        kept: Mapping[str, Kept] | None = None,
    ) -> None:
        self._graph = graph
        self._source = source
        self._profile = profile
        self._chosen = {name: form for name, form in chosen.items() if form is not Form.NAME}
        self._kept = kept or {}
        self._open = self._holders()
        self._imports: dict[str, dict[int, int]] = {}

    def _holders(self) -> set[str]:
        """The definitions around something chosen."""
        found: set[str] = set()
        for name in self._chosen:
            parent = self._graph.symbol(name).parent
            while parent is not None and parent not in found:
                found.add(parent)
                parent = self._graph.symbol(parent).parent
        return found

    def render(self, module: Symbol, imports: Iterable[int] = ()) -> Shown:
        """The text for the file of that module. The import statements on the lines `imports` stand before it."""
        if self._chosen.get(module.id) is Form.FULL:
            text = self._source.whole()
            last = max(1, module.end_line)
            count = text.count("\n") + 1
            return Shown(text, ((1, last),), tuple(n if n <= last else 0 for n in range(1, count + 1)))
        self._imports = self._place_imports(module, imports)
        rows = _join_blocks([*self._used_imports(module, ""), *self._body(module, "")])
        rows = [row if self._stands_there(row) else Row(row.text) for row in rows] or [Row("")]
        return Shown(text_of_rows(rows), _merge_ranges(ranges_of(rows)), tuple(row.line for row in rows))

    def _stands_there(self, row: Row) -> bool:
        """Whether the file's line has this text, or what comes before the sign that something is left out."""
        written = self._source.line(row.line) if row.line else ""
        return row.text.strip() in written or row.text.partition("...")[0].strip() in written

    def _place_imports(self, module: Symbol, imports: Iterable[int]) -> dict[str, dict[int, int]]:
        """By the module or the opened class in which they stand, first and last lines of the import statements."""
        classes = [s for s in map(self._graph.symbol, self._open) if s.kind is SymbolKind.CLASS]
        placed: dict[str, dict[int, int]] = {}
        for line in imports:
            text, first, last = import_statement(self._source, line)
            if text:
                around = [s for s in classes if s.line <= line <= s.end_line and s.path == module.path]
                holder = max(around, key=lambda s: s.line, default=module)
                placed.setdefault(holder.id, {})[first] = last
        return placed

    def _used_imports(self, holder: Symbol, indent: str) -> Iterator[list[Row]]:
        """Each import statement once, as the body's statements are indented; what stands under `if TYPE_CHECKING:`
        stays under it."""
        rows: list[Row] = []
        block = 0
        for first, last in sorted(self._imports.get(holder.id, {}).items()):
            written = [self._source.line(number) for number in range(first, last + 1)]
            own = _blanks_before(written[0])
            if first == last:
                written = [own + import_statement(self._source, first)[0]]
            around = self._line_around(first, own) if len(own) > len(indent) else first
            if _FOR_TYPES.fullmatch(self._source.line(around)) and self._indent_of_line(around) == indent:
                if around != block:
                    rows.append(Row(self._source.line(around), around))
                block = around
            else:
                written = [indent + line.removeprefix(own) for line in written]
            rows += [Row(line, number) for number, line in enumerate(written, first)]
        if rows:
            yield rows

    def _indent_of_line(self, number: int) -> str:
        return _blanks_before(self._source.line(number))

    def _body(self, holder: Symbol, indent: str) -> Iterator[list[Row]]:
        """What is shown inside a definition, each piece once."""
        block = 0  # the line of the statement around the last indented piece
        seen: set[tuple[int, int]] = set()
        shows_attributes = holder.kind is SymbolKind.CLASS and self._form_of(holder) is Form.INTERFACE
        attributes = self._profile.attributes
        for symbol in self._graph.children(holder.id):
            if symbol.kind is SymbolKind.ATTRIBUTE and shows_attributes and symbol.id not in self._chosen:
                attributes -= 1
                if attributes < 0:
                    continue
            elif symbol.id not in self._chosen and symbol.id not in self._open:
                continue
            if symbol.kind in _STATEMENTS or symbol.kind is SymbolKind.LAMBDA:
                if symbol.span in seen:
                    continue
                seen.add(symbol.span)
            own = indent_of(symbol, self._source)
            piece = self._piece(symbol, indent)
            if len(own) > len(indent) and _has_statement(piece):
                around = self._line_around(symbol.line, own)
                if around != block:
                    block = around
                    yield [Row(f"{indent}if ...:  # line {around}: {first_line(self._source.line(around))}")]
            else:
                block = 0
            yield piece
        if attributes < 0:
            yield [Row(f"{indent}# ... {-attributes} more attributes")]

    def _form_of(self, symbol: Symbol) -> Form | None:
        """The form a definition is shown in. None: only opened for what is inside."""
        form = self._chosen.get(symbol.id)
        if form is Form.TRIMMED and symbol.kind is SymbolKind.CLASS:
            is_cut = symbol.id not in self._open and self._kept.get(symbol.id, Kept()).lines
            return form if is_cut else Form.INTERFACE
        return form

    def _piece(self, symbol: Symbol, indent: str) -> list[Row]:
        form = self._form_of(symbol)
        if form is Form.FULL:
            return rows_from(full_text(symbol, self._source), symbol.line)
        if symbol.kind in _STATEMENTS:
            text = statement_text(symbol, self._source, self._profile.value_chars, indent)
            return rows_from(text, symbol.line)
        if symbol.kind is SymbolKind.LAMBDA:
            return rows_from(lambda_line(symbol, self._source), symbol.line)
        if form is Form.TRIMMED:
            return trim(symbol, self._source, self._kept_with_inner(symbol))
        return self._definition(symbol, form)

    def _kept_with_inner(self, symbol: Symbol) -> Kept:
        """For whose sake a trimmed definition is shown, and the lines of what is chosen inside it."""
        kept = self._kept.get(symbol.id, Kept())
        lines = list(kept.lines)
        for inner in self._graph.descendants(symbol.id) if symbol.id in self._open else ():
            form = self._chosen.get(inner.id)
            if form is Form.FULL:
                lines += range(inner.line, inner.end_line + 1)
            elif form is not None:
                lines += [self._source.lines.position(inner.header.start).line]
                lines += self._kept.get(inner.id, Kept()).lines
        return kept._replace(lines=tuple(lines))

    def _definition(self, symbol: Symbol, form: Form | None) -> list[Row]:
        """A class or function with its body left out, opened for what is chosen inside."""
        rows = header_rows(symbol, self._source, form is Form.INTERFACE)
        indent = body_indent_of(symbol, self._source)
        inside: list[Row] = []
        if form is Form.INTERFACE:
            inside += docstring_rows(symbol, self._source, self._profile.docstring_lines)
        for piece in [*self._used_imports(symbol, indent), *self._body(symbol, indent)]:
            inside += piece
        hidden = self._hidden_members(symbol) if symbol.kind is SymbolKind.CLASS and form is not None else ""
        if not inside:
            ending = f" ...  # {hidden}" if hidden else " ..."
            return [*rows[:-1], Row(rows[-1].text + ending, rows[-1].line)]
        if not (symbol.kind is SymbolKind.CLASS and _has_statement(inside)):
            inside.append(Row(f"{indent}..."))
        if hidden:
            inside.append(Row(f"{indent}# {hidden}"))
        return rows + inside

    def _hidden_members(self, cls: Symbol) -> str:
        """The one line for the members of a class that aren't shown; empty when all are."""
        is_interface = self._form_of(cls) is Form.INTERFACE
        hidden: dict[str, None] = {}
        shown: set[str] = set()
        for member in self._graph.children(cls.id):
            name = member.qualname.rpartition(".")[2]
            if member.id in self._chosen or member.id in self._open:
                shown.add(name)
            elif member.kind in _MEMBERS and not (member.kind is SymbolKind.ATTRIBUTE and is_interface):
                hidden[name] = None
        names = [name for name in hidden if name not in shown]
        if not names:
            return ""
        public = [name for name in names if not name.startswith("_")] or names
        listed = ", ".join(public[:_NAMED])
        more = ", …" if len(names) > len(public[:_NAMED]) else ""
        return f"{len(names)} more member{'s' if len(names) > 1 else ''}: {listed}{more}"

    def _line_around(self, start: int, indent: str) -> int:
        """The line of the statement that holds an indented one: the nearest one above that is indented less."""
        for number in range(start - 1, max(0, start - _LOOKED_BACK), -1):
            line = self._source.line(number)
            text = line.strip()
            if text and not text.startswith("#") and len(_blanks_before(line)) < len(indent):
                return number
        return start


def own_text(
    symbol: Symbol,
    form: Form,
    source: Source,
    profile: Profile,
    lines: tuple[int, ...] = (),
    is_dependent: bool = False,
) -> str:
    """What one symbol adds to the text in a form, without what else is put inside it. `lines`: for whose sake a trimmed
    body is shown, and `is_dependent`: with what they depend on."""
    if form is Form.NAME:
        return name_line(symbol, source)
    if form is Form.FULL:
        return full_text(symbol, source)
    if symbol.kind in _STATEMENTS:
        return statement_text(symbol, source, profile.value_chars)
    if symbol.kind is SymbolKind.LAMBDA:
        return lambda_line(symbol, source)
    if symbol.kind is SymbolKind.MODULE:  # stands for its file; what it holds is shown by itself
        return ""
    if form is Form.TRIMMED and (lines or symbol.kind is not SymbolKind.CLASS):
        return text_of_rows(trim(symbol, source, kept_for(profile, lines, is_dependent)))
    is_interface = form in (Form.INTERFACE, Form.TRIMMED)
    rows = header_rows(symbol, source, is_interface)
    docstring = docstring_rows(symbol, source, profile.docstring_lines) if is_interface else []
    if docstring:
        return text_of_rows([*rows, *docstring, Row(f"{body_indent_of(symbol, source)}...")])
    return f"{text_of_rows(rows)} ..."


def kept_for(profile: Profile, lines: tuple[int, ...], is_dependent: bool) -> Kept:
    """What is kept of a trimmed body. With what the lines depend on, it has the docstring that an interface has."""
    return Kept(lines, is_dependent, profile.docstring_lines if is_dependent else 0)


def name_line(symbol: Symbol, source: Source) -> str:
    """`path::qualname`; a module is its path with what its docstring says first."""
    if symbol.kind is not SymbolKind.MODULE:
        return f"{symbol.path}::{symbol.qualname}"
    summary = summary_of(symbol, source)
    return f"{symbol.path}: {summary}" if summary else symbol.path


def lambda_line(symbol: Symbol, source: Source) -> str:
    """A lambda is part of an expression; by itself it is shown in a comment."""
    text = first_line(source.cut(*symbol.span), 160)
    return f"{_line_indent(symbol, source)}# line {symbol.line}: {text}"


def _line_indent(symbol: Symbol, source: Source) -> str:
    return _blanks_before(source.line(symbol.line))


def _blanks_before(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _has_statement(rows: list[Row]) -> bool:
    """Whether any of the lines is more than a comment."""
    return any(row.text.strip() and not row.text.lstrip().startswith("#") for row in rows)


def _join_blocks(pieces: list[list[Row]]) -> list[Row]:
    """Top-level pieces, an empty line around those of several lines."""
    joined: list[Row] = []
    for before, piece in zip([[], *pieces], pieces, strict=False):
        if before:
            is_opening = len(before) == 1 and before[0].text.lstrip().startswith("if ...:")
            if (len(before) > 1 or len(piece) > 1) and not is_opening:
                joined.append(Row(""))
        joined += piece
    return joined


def _merge_ranges(lines: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Line ranges in order, those that touch made one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(lines):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)
