"""How one symbol looks in each form. In: a symbol and its file's text. Out: lines of Python.

    def area(side: float = 1.0) -> float:      full: as it stands, from the first decorator to the end of the last line
        '''The area of a square.'''            interface: header, docstring, `...`
        return side * side                     signature: `def area(side: float = 1.0) -> float: ...`

Headers are cut out of the text, never written anew: parameters, defaults and annotations are the author's. Whatever is
cut parses: a docstring's end is the author's own quotes, an elided value is `...`. Line ends come out as `\\n`.

What is put inside a class or function (the members that were reached) is for `skeleton`; here a symbol stands alone.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

from contextc.model.facts import SymbolKind
from contextc.model.span import LineIndex
from contextc.model.symbol import Symbol
from contextc.passes.rows import Row, rows_from, text_of_rows
from contextc.passes.secrets import Secret

_LINE_END = re.compile(r"\r\n|\r")
_BLANK = b" \t\f"
_STRING_START = re.compile(r"[A-Za-z]{0,2}('''|\"\"\")")
_LONGEST_PARSED = 20_000  # characters; longer fragments are not taken apart
_EMPTY_LINE = re.compile(r"\n[ \t\f]*(?=\n)")
_INLINE_IMPORT = re.compile(r"[ \t]*(?P<head>[a-z][^#]*:)[ \t]*(?P<statement>(?:from|import)[ \t][^#(]*)(?:#.*)?")
_IMPORT = re.compile(r"[ \t\f]*(?:from|import)[ \t]")
_PARAGRAPH = 15  # lines of a first paragraph that are shown where nothing else of a docstring is
STEP = "    "

# Decorators that change how the signature is to be read; they stay in signature form.
_TELLING = frozenset(
    {
        "property", "cached_property", "staticmethod", "classmethod", "abstractmethod", "abstractproperty", "overload",
        "contextmanager", "asynccontextmanager", "dataclass", "dataclass_transform", "final", "override", "deprecated",
        "singledispatch", "singledispatchmethod", "runtime_checkable", "total_ordering", "coroutine",
    }
)  # fmt: skip
_TELLING_ATTRIBUTES = frozenset({"setter", "getter", "deleter", "register"})  # of a property or a generic function


class Source:
    """One file's normalised text, ready to be cut. `secrets`: what is masked in it, by place. `cuts` are
    trimmed definitions, kept since the same ones are counted, then rendered for each budget tried."""

    __slots__ = ("cuts", "lines", "secrets", "text")

    def __init__(self, text: bytes, secrets: tuple[Secret, ...] = ()) -> None:
        self.text = text
        self.secrets = secrets
        self.cuts: dict[tuple[object, ...], tuple[Row, ...]] = {}
        self.lines = LineIndex(text)

    def cut(self, start: int, end: int) -> str:
        """The text between two byte offsets."""
        return _LINE_END.sub("\n", self.text[start:end].decode("utf-8", "replace"))

    def whole(self) -> str:
        """The whole file."""
        return self.cut(0, len(self.text))

    def line(self, number: int) -> str:
        """One line (from 1) without its end; empty past the last one."""
        if not 1 <= number <= self.lines.count:
            return ""
        span = self.lines.line_span(number, number, len(self.text))
        return self.cut(span.start, span.end).rstrip("\n")

    def whole_lines(self, start: int, end: int) -> str:
        """The lines that hold a range of offsets, the last one without its end."""
        first, last = self.lines.position(start).line, self.lines.position(max(start, end - 1)).line
        span = self.lines.line_span(first, last, len(self.text))
        return self.cut(span.start, span.end).rstrip("\n")

    def indent_at(self, offset: int) -> str | None:
        """The blanks between the line's start and `offset`; None where something else stands there."""
        start = self.lines.starts[self.lines.position(offset).line - 1]
        before = self.text[start:offset]
        return None if before.strip(_BLANK) else before.decode("ascii").replace("\f", "")


def indent_of(symbol: Symbol, source: Source) -> str:
    """The indentation of the symbol's first line."""
    return source.indent_at(symbol.span.start) or ""


def body_indent_of(symbol: Symbol, source: Source) -> str:
    """The indentation of the statements in a definition's body; one step more than its own where the body stands on
    the header's line; nothing for a module."""
    if symbol.kind is SymbolKind.MODULE:
        return ""
    own = indent_of(symbol, source)
    inside = source.indent_at(symbol.body_start)
    return inside if inside is not None and len(inside) > len(own) else own + STEP


def full_text(symbol: Symbol, source: Source) -> str:
    """The source of a definition, whole lines, from its first decorator to its last line; a module: the whole file."""
    if symbol.kind is SymbolKind.MODULE:
        return source.whole()
    return source.whole_lines(symbol.span.start, symbol.span.end)


def header_text(symbol: Symbol, source: Source, with_decorators: bool) -> str:
    """Decorators and `def`/`class` line up to the colon. Without `with_decorators` only those that change the reading
    of the signature stay."""
    return text_of_rows(header_rows(symbol, source, with_decorators))


def header_rows(symbol: Symbol, source: Source, with_decorators: bool) -> list[Row]:
    """The lines of the header text."""
    indent = indent_of(symbol, source)
    first = source.lines.position(symbol.span.start).line
    if with_decorators:
        return rows_from(indent + source.cut(symbol.span.start, symbol.header.end), first)
    kept = [row for line, text in _telling_decorators(symbol, source) for row in rows_from(indent + text, first + line)]
    line = source.lines.position(symbol.header.start).line
    return kept + rows_from(indent + source.cut(symbol.header.start, symbol.header.end), line)


def _telling_decorators(symbol: Symbol, source: Source) -> Iterator[tuple[int, str]]:
    """Each with the number of its line, from 0."""
    region = source.cut(symbol.span.start, symbol.header.start).strip()
    if not region:
        return
    # The first line has lost its indentation; the later decorators lose theirs. Inside brackets it means nothing.
    flat = re.sub(r"\n[ \t\f]*(?=@)", "\n", region)
    node = _parse_statement(f"{flat}\ndef f(): ...") if '"""' not in flat and "'''" not in flat else None
    if not isinstance(node, ast.FunctionDef):
        yield 0, region
        return
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        written = ast.get_source_segment(flat, decorator)
        if written and _is_telling(called):
            yield decorator.lineno - 1, f"@{written}"


def _is_telling(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Attribute):
        return decorator.attr in _TELLING or decorator.attr in _TELLING_ATTRIBUTES
    return isinstance(decorator, ast.Name) and decorator.id in _TELLING


def _parse_statement(text: str) -> ast.stmt | None:
    """The first statement; None where there is none to be read."""
    return next(iter(parse_quietly(text, _LONGEST_PARSED)), None)


def parse_quietly(text: str, longest: int) -> list[ast.stmt]:
    """The statements of a text; none of what has more than `longest` characters, is newer than this interpreter's
    grammar, or broken."""
    if len(text) > longest:
        return []
    try:
        with warnings.catch_warnings():  # of the author's escapes and comparisons: not ours to tell
            warnings.simplefilter("ignore")
            return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def docstring_text(symbol: Symbol, source: Source, longest: int) -> str:
    """The docstring as written, indented as the body is; one of more than `longest` lines ends after its first
    paragraph with a line that says how many are left. With 1 that is any of several paragraphs, with 0 there is none.
    Empty without a docstring."""
    return text_of_rows(docstring_rows(symbol, source, longest))


def docstring_rows(symbol: Symbol, source: Source, longest: int) -> list[Row]:
    """The lines of the docstring's text."""
    if symbol.docstring is None or not longest:
        return []
    indent = body_indent_of(symbol, source)
    written = source.cut(*symbol.docstring)
    rows = rows_from(indent + written, source.lines.position(symbol.docstring.start).line)
    kept = _lines_to_keep(written, longest)
    if kept == len(rows):
        return rows
    quotes = written[-3:]
    last = rows[kept - 1]
    rows[kept - 1] = Row(last.text.rstrip("\\"), last.line)  # a backslash would join the closing line to this one
    return [*rows[:kept], Row(f"{indent}... ({len(rows) - kept} more lines){quotes}")]


def _lines_to_keep(written: str, longest: int) -> int:
    """How many lines of a docstring are shown: all, or those of the first paragraph."""
    count = written.count("\n") + 1
    opening = _STRING_START.match(written)
    if count <= longest or opening is None:
        return count
    quotes = opening.group(1)
    content = written[opening.end() : -3]
    if not written.endswith(quotes) or quotes in content:  # several strings side by side
        return count
    start = len(content) - len(content.lstrip())
    blank = _EMPTY_LINE.search(content, start)
    head = content[: blank.start()] if blank else content
    kept = min(head.count("\n") + 1, longest if longest > 1 else _PARAGRAPH)
    return kept if count - kept > 3 else count


def statement_text(symbol: Symbol, source: Source, longest: int, indent: str = "") -> str:
    """The statement that defines a variable or attribute, on lines of its own. A right-hand side of more than
    `longest` characters becomes `...` with a note; what is no assignment (the target of a `for`, say) a comment.
    `indent` is for a statement that does not begin its line (`if x: y = 1`)."""
    own = source.indent_at(symbol.span.start)
    indent = indent if own is None else own
    written = source.cut(*symbol.span)
    value = _assigned_value(written)
    if value is None:
        return f"{indent}# line {source.lines.position(symbol.span.start).line}: {first_line(written)}"
    first, last = value
    if last - first <= longest:
        return indent + written + _comment_after(symbol.span.end, source)
    lines = written.count("\n", first, last) + 1
    size = f"{lines} lines" if lines > 1 else f"{last - first} characters"
    return f"{indent}{written[:first]}...{written[last:]}  # {size}"


def _comment_after(offset: int, source: Source) -> str:
    """A comment that ends the line, with the blanks before it."""
    position = source.lines.position(offset)
    tail = source.line(position.line).encode("utf-8")[position.col :].decode("utf-8", "ignore")
    return tail if tail.strip().startswith("#") else ""


def _assigned_value(written: str) -> tuple[int, int] | None:
    """Where the value of an assignment stands in its text; an empty range for `x: int`. None for other statements.
    Parentheses around the value are no part of it."""
    if len(written) > _LONGEST_PARSED:  # the value begins after the first `=`
        head = re.match(r"[\w.]+(?:[ \t]*:[^=\n]{1,200})?[ \t]*=[ \t]*(?!=)", written)
        return (head.end(), len(written)) if head else None
    node = _parse_statement(written)
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and type(node).__name__ != "TypeAlias":
        return None
    value: ast.expr | None = node.value  # type: ignore[union-attr]
    if value is None:
        return len(written), len(written)
    offsets = [0, *(m.end() for m in re.finditer("\n", written))]
    first = _character(written, offsets, value.lineno, value.col_offset)
    return first, _character(written, offsets, value.end_lineno or value.lineno, value.end_col_offset or 0)


def _character(text: str, offsets: list[int], line: int, column: int) -> int:
    """The offset in characters of a place as `ast` gives it: a line, and a column in UTF-8 bytes."""
    start = offsets[line - 1]
    stop = offsets[line] if line < len(offsets) else len(text)
    return start + len(text[start:stop].encode("utf-8")[:column].decode("utf-8", "ignore"))


def import_statement(source: Source, line: int) -> tuple[str, int, int]:
    """The import statement that stands on a line (or goes on there, between parentheses), with its first and last
    line; without its indentation. One on the line of an `if` has that before it. Empty where there is none."""
    inline = _INLINE_IMPORT.fullmatch(source.line(line))
    if inline is not None:
        return (inline[0] if inline["head"].startswith("if") else inline["statement"]).strip(), line, line
    first = line
    while first > 1 and line - first < 200 and not _IMPORT.match(source.line(first)):
        first -= 1
    if not _IMPORT.match(source.line(first)):
        return "", line, line
    last, parts, depth = first - 1, [], 0
    while last < source.lines.count:
        last += 1
        parts.append(source.line(last))
        code = parts[-1].partition("#")[0].rstrip()
        depth += code.count("(") - code.count(")")
        if depth <= 0 and not code.endswith("\\"):
            break
    return ("\n".join(parts).strip(), first, last) if last >= line else ("", line, line)


def first_line(text: str, longest: int = 100) -> str:
    """The first line of a text without blanks around it, cut at `longest` characters."""
    line = text.strip().split("\n", 1)[0].strip()
    return line if len(line) <= longest else f"{line[:longest].rstrip()}…"


def summary_of(symbol: Symbol, source: Source) -> str:
    """The first line of a docstring's text, without its quotes; empty without a docstring."""
    if symbol.docstring is None:
        return ""
    content = re.sub(r"^[A-Za-z]{0,2}['\"]+|['\"]+$", "", source.cut(*symbol.docstring))
    return first_line(content) if content.strip() else ""
