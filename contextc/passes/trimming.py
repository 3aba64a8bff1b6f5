"""A definition with only those of its statements for whose sake it is shown. In: a symbol, its file's text, lines.
Out: rows that parse.

    def show(name):                              def show(name):
        log(name)                                    ...
        user = find(name)          line 4,           user = find(name)
        if user.is_old:            dependent:        if user.is_old:
            user.save()                                  user.save()
        return render(user)                          ...

Kept are the statements on the asked lines, whole, with the heads around them; `is_dependent` adds what defines what
they use and decides whether they run (`dependences`: Weiser 1984). Every gap is one line, with the number of lines that
hold text where that is more than one. A `try` keeps the heads of its handlers, a `match` at least one case; the
conditions and cases before a kept one stay only with dependences. Jumps (`return`, `break`) aren't kept for what
they prevent. All but the gap lines stand in the file as they are shown.

The whole text is shown where nothing can be left out safely: where none of the asked lines holds a statement, where the
text can't be parsed here (too long, newer grammar, heads continued by backslashes), and where trimming saves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextc.model.symbol import Symbol
from contextc.passes.dependences import Dependences
from contextc.passes.forms import Source, body_indent_of, docstring_rows, full_text, header_rows
from contextc.passes.rows import Row, rows_from, text_of_rows
from contextc.passes.statements import Broken, Clause, Reader, Statement, parse_fragment

_SHORT = 10  # characters of a line that a gap would not shorten
_COMMENTS = 3  # lines of comments between kept statements that stay


class Kept(NamedTuple):
    """For whose sake a body is shown. `docstring_lines`: 0 for no docstring, else what the longest uncut one may have;
    without dependences, only decorators that change the reading of the signature stay."""

    lines: tuple[int, ...] = ()
    is_dependent: bool = False
    docstring_lines: int = 0


def trim(symbol: Symbol, source: Source, kept: Kept) -> list[Row]:
    """The rows of a function or class, from its first decorator to its last line."""
    key = (symbol.id, kept)
    if key not in source.cuts:
        source.cuts[key] = tuple(_trim(symbol, source, kept))
    return list(source.cuts[key])


def _trim(symbol: Symbol, source: Source, kept: Kept) -> list[Row]:
    text = full_text(symbol, source)
    first = source.lines.position(symbol.span.start).line
    full = rows_from(text, first)
    node = parse_fragment(text)
    if node is None:
        return full
    reader = Reader(text, first)
    try:
        definition = reader.read(node)
    except Broken:
        return full
    if not definition.is_scope or definition.clauses[0].is_inline:
        return full
    asked = find_units(definition, kept.lines)
    if kept.lines and not asked:
        return full
    units = Dependences(reader.units, definition).close(asked) if kept.is_dependent else asked
    rows = _Cut(reader, units).rows_of(symbol, source, definition, kept)
    shown = text_of_rows(rows)
    return rows if len(shown) < len(text) and parse_fragment(shown) is not None else full


def find_units(definition: Statement, lines: Iterable[int]) -> set[int]:
    """The innermost units on these lines; all of them where a line holds several."""
    wanted = sorted(set(lines))
    found: set[int] = set()
    waiting = [definition]
    while waiting:
        statement = waiting.pop()
        inside = [line for line in wanted if statement.first <= line <= statement.last]
        if not inside:
            continue
        if not statement.clauses:
            found.add(statement.unit)
        if any(statement.first <= line <= statement.head_last for line in inside):
            found.add(statement.unit)
        for clause in statement.clauses:
            if any(clause.first <= line <= clause.head_last for line in inside):
                found.add(clause.unit)
            waiting += clause.body
    return found


class _Cut:
    """Writes what is kept of one definition."""

    def __init__(self, reader: Reader, kept: Iterable[int]) -> None:
        self._lines = reader.lines
        self._first = reader.units[0].first
        self._live: set[int] = set()  # ids of the statements and clauses that are shown
        for unit in kept:
            part: Statement | Clause | None = reader.units[unit]
            while part is not None and id(part) not in self._live:
                self._live.add(id(part))
                part = part.owner if isinstance(part, Clause) else part.within

    def rows_of(self, symbol: Symbol, source: Source, definition: Statement, kept: Kept) -> list[Row]:
        """The definition itself, which is always shown."""
        clause = definition.clauses[0]
        rows = header_rows(symbol, source, kept.is_dependent)
        start, body = clause.head_last + 1, clause.body
        docstring = docstring_rows(symbol, source, kept.docstring_lines) if kept.docstring_lines else []
        if docstring:
            rows += docstring
            start, body = body[0].last + 1, body[1:]
        inside = list(self._block(body, start, clause.last))
        if not docstring and not inside:
            inside = [Row(f"{body_indent_of(symbol, source)}...")]
        return rows + inside

    def _block(self, statements: list[Statement], first: int, last: int) -> Iterator[Row]:
        """The kept statements among those that stand on the lines from `first` to `last`, and the gaps."""
        indent = self._indent(statements[0].first) if statements else ""
        for statement in statements:
            if id(statement) not in self._live or statement.last < first:
                continue
            if statement.first >= first:
                yield from self._gap(first, statement.first - 1, indent)
            if statement.clauses:
                yield from self._compound(statement)
                first = self._end(statement) + 1
            else:
                yield from self._rows(max(first, statement.first), statement.last)
                first = statement.last + 1
        yield from self._gap(first, last, indent)

    def _gap(self, first: int, last: int, indent: str) -> Iterator[Row]:
        """One line for these lines; none for blank ones; themselves where that is as short."""
        held = [number for number in range(first, last + 1) if self._line(number).strip()]
        if not held:
            return
        is_comment = all(self._line(number).strip().startswith("#") for number in held)
        is_short = len(held) == 1 and len(self._line(held[0]).strip()) <= _SHORT
        if is_short or (is_comment and len(held) <= _COMMENTS):
            for number in held:
                yield from self._rows(number, number)
        else:
            size = f"  # {len(held)} lines" if len(held) > 1 else ""
            yield Row(f"{indent}# ... {len(held)} lines" if is_comment else f"{indent}...{size}")

    def _compound(self, statement: Statement) -> Iterator[Row]:
        shown = self._shown_clauses(statement)
        if statement.head_last:  # of a match
            yield from self._rows(statement.first, statement.head_last)
            hidden = [n for n in range(statement.head_last + 1, shown[0].first) if self._line(n).strip()]
            if hidden:
                yield Row(f"{self._indent(shown[0].first)}# ... {len(hidden)} lines")
        for clause, after in zip(shown, [*shown[1:], None], strict=True):
            end = after.first - 1 if after is not None else clause.last
            if clause.is_inline:
                yield from self._rows(clause.first, end)
            else:
                yield from self._rows(clause.first, clause.head_last)
                yield from self._block(clause.body, clause.head_last + 1, end)

    def _end(self, statement: Statement) -> int:
        """The last line that a kept statement accounts for: what its last clauses hold is left to the gap behind it."""
        return self._shown_clauses(statement)[-1].last

    def _shown_clauses(self, statement: Statement) -> list[Clause]:
        """Those that are kept, and those without which they would not parse."""
        clauses = statement.clauses
        live = [id(clause) in self._live for clause in clauses]
        if statement.head_last:
            live[0] = live[0] or not any(live)
        else:
            live[0] = True
        for number, clause in enumerate(clauses):
            if clause.word == "except" or (clause.word == "finally" and len(clauses) == 2):
                live[number] = True
            if number and clauses[number - 1].is_inline and any(live[number:]):
                live[number] = True
        return [clause for clause, is_live in zip(clauses, live, strict=True) if is_live]

    def _rows(self, first: int, last: int) -> Iterator[Row]:
        return (Row(self._line(number), number) for number in range(first, last + 1))

    def _line(self, number: int) -> str:
        return self._lines[number - self._first]

    def _indent(self, number: int) -> str:
        line = self._line(number)
        return line[: len(line) - len(line.lstrip(" \t\f"))].replace("\f", "")
