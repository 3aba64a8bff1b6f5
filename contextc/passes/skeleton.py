"""The chosen symbols of one file as Python text. In: forms by symbol id. Out: text that parses, in source order.

With `User.save` as a signature and nothing else chosen, models.py becomes

    class User(Model):
        def save(self) -> None: ...

A class or function that holds something chosen is opened around it by its header; chosen itself as an interface, it
also has its docstring and declared attributes, and one line counts the members that aren't shown. A definition that
stands inside an `if` or `try` of its file is put under `if ...:` with that line as a comment, so that the author's
indentation can stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.facts import SymbolKind
from contextc.model.plan import Form
from contextc.model.symbol import Symbol
from contextc.passes.forms import (
    Source,
    body_indent_of,
    docstring_text,
    first_line,
    full_text,
    header_text,
    import_statement,
    indent_of,
    statement_text,
    summary_of,
)
from contextc.passes.profile import Profile

_STATEMENTS = frozenset({SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE})
_MEMBERS = frozenset({SymbolKind.METHOD, SymbolKind.CLASS, SymbolKind.ATTRIBUTE})
_NAMED = 6  # hidden members named in the line that counts them
_LOOKED_BACK = 400  # lines searched for the statement around an indented definition


class Shown(NamedTuple):
    """A file's chosen symbols as text, with the line ranges of the file it was cut from."""

    text: str
    lines: tuple[tuple[int, int], ...]


class Skeleton:
    """Renders one file. `chosen` maps symbol ids to forms; `Form.NAME` shows nothing here."""

    def __init__(self, graph: CallGraph, source: Source, profile: Profile, chosen: Mapping[str, Form]) -> None:
        self._graph = graph
        self._source = source
        self._profile = profile
        self._chosen = {name: form for name, form in chosen.items() if form is not Form.NAME}
        self._open = self._holders()
        self._lines: list[tuple[int, int]] = []

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
        self._lines = []
        if self._chosen.get(module.id) is Form.FULL:
            return Shown(self._source.whole(), ((1, max(1, module.end_line)),))
        pieces = [*self._used_imports(imports), *self._body(module, "")]
        return Shown(_join_blocks(pieces), _merge_ranges(self._lines))

    def _used_imports(self, imports: Iterable[int]) -> Iterator[str]:
        """Each import statement once, without its indentation, at the top where none is needed."""
        statements: dict[int, str] = {}
        for line in imports:
            text, first, last = import_statement(self._source, line)
            if text and first not in statements:
                statements[first] = text
                self._lines.append((first, last))
        if statements:
            yield "\n".join(statements[first] for first in sorted(statements))

    def _body(self, holder: Symbol, indent: str) -> Iterator[str]:
        """What is shown inside a definition, each piece once."""
        block = 0  # the line of the statement around the last indented piece
        seen: set[tuple[int, int]] = set()
        shows_attributes = holder.kind is SymbolKind.CLASS and self._chosen.get(holder.id) is Form.INTERFACE
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
            if len(own) > len(indent) and _has_statement([piece]):
                around = self._line_around(symbol, own)
                if around != block:
                    block = around
                    yield f"{indent}if ...:  # line {around}: {first_line(self._source.line(around))}"
            else:
                block = 0
            yield piece
        if attributes < 0:
            yield f"{indent}# ... {-attributes} more attributes"

    def _piece(self, symbol: Symbol, indent: str) -> str:
        form = self._chosen.get(symbol.id)
        if form is Form.FULL:
            self._lines.append((symbol.line, symbol.end_line))
            return full_text(symbol, self._source)
        if symbol.kind in _STATEMENTS:
            self._lines.append((symbol.line, symbol.end_line))
            return statement_text(symbol, self._source, self._profile.value_chars, indent)
        if symbol.kind is SymbolKind.LAMBDA:
            self._lines.append((symbol.line, symbol.line))
            return lambda_line(symbol, self._source)
        return self._definition(symbol, form)

    def _definition(self, symbol: Symbol, form: Form | None) -> str:
        """A class or function with its body left out, opened for what is chosen inside."""
        header = header_text(symbol, self._source, form is Form.INTERFACE)
        last = self._source.lines.position(max(symbol.header.start, symbol.header.end - 1)).line
        self._lines.append((symbol.line, last))
        indent = body_indent_of(symbol, self._source)
        parts = []
        if form is Form.INTERFACE:
            docstring = docstring_text(symbol, self._source, self._profile.docstring_lines)
            if docstring:
                parts.append(docstring)
        inner = list(self._body(symbol, indent))
        parts += inner
        hidden = self._hidden_members(symbol) if symbol.kind is SymbolKind.CLASS and form is not None else ""
        is_class_with_body = symbol.kind is SymbolKind.CLASS and _has_statement(parts)
        if not parts:
            return f"{header} ...  # {hidden}" if hidden else f"{header} ..."
        if not is_class_with_body:
            parts.append(f"{indent}...")
        if hidden:
            parts.append(f"{indent}# {hidden}")
        return "\n".join([header, *parts])

    def _hidden_members(self, cls: Symbol) -> str:
        """The one line for the members of a class that aren't shown; empty when all are."""
        is_interface = self._chosen.get(cls.id) is Form.INTERFACE
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

    def _line_around(self, symbol: Symbol, indent: str) -> int:
        """The line of the statement that holds an indented definition: the nearest one above that is indented less."""
        for number in range(symbol.line - 1, max(0, symbol.line - _LOOKED_BACK), -1):
            line = self._source.line(number)
            text = line.strip()
            if text and not text.startswith("#") and len(line) - len(line.lstrip()) < len(indent):
                return number
        return symbol.line


def own_text(
    symbol: Symbol, form: Form, source: Source, profile: Profile, lines: tuple[int, ...] = ()
) -> str:
    """What one symbol adds to the text in a form, without what else is put inside it. `lines`: for whose sake a trimmed
    body is shown."""
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
    header = header_text(symbol, source, form is Form.INTERFACE)
    docstring = docstring_text(symbol, source, profile.docstring_lines) if form is Form.INTERFACE else ""
    return f"{header}\n{docstring}\n{body_indent_of(symbol, source)}..." if docstring else f"{header} ..."


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
    line = source.line(symbol.line)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _has_statement(parts: list[str]) -> bool:
    """Whether any of the lines is more than a comment."""
    return any(not line.lstrip().startswith("#") for part in parts for line in part.split("\n") if line.strip())


def _join_blocks(pieces: list[str]) -> str:
    """Top-level pieces, an empty line around those of several lines."""
    text = ""
    for before, piece in zip(["", *pieces], pieces, strict=False):
        if before:
            is_opening = before.lstrip().startswith("if ...:") and "\n" not in before
            wide = ("\n" in before or "\n" in piece) and not is_opening
            text += "\n\n" if wide else "\n"
        text += piece
    return text


def _merge_ranges(lines: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Line ranges in order, those that touch made one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(lines):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)
