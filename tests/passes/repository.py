"""A repository in memory for tests of the passes: symbols read by `ast` from given texts, edges given by hand.

`Repository({"app.py": "def f(): ..."}, [("app:main", "app:f", "CALL")]).graph` is a real `CallGraph`. An edge may go
on with certainty, rule and line. Independent of the readers, so that a fault there can't hide one here.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from contextc.graph.builder import build_graph
from contextc.graph.call_graph import CallGraph
from contextc.model.analysis import Analysis, ModuleFile
from contextc.model.diagnostic import Skip
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule, Unresolved
from contextc.model.facts import SymbolKind
from contextc.model.span import LineIndex, Span
from contextc.model.symbol import Import, Symbol

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class FileReader:
    """Symbols of one file as the contract in `contextc.model.symbol` describes them."""

    def __init__(self, path: str, module: str, text: bytes) -> None:
        self.path, self.module, self.text = path, module, text
        self.lines = LineIndex(text)
        self.seen: dict[str, int] = {}
        self.imports: list[Import] = []

    def read(self) -> Iterator[Symbol]:
        tree = ast.parse(self.text)
        whole = Span(0, len(self.text))
        top = self._symbol("<module>", SymbolKind.MODULE, whole, Span(0, 0), tree, 0, None)
        yield top
        yield from self._inside(tree, top, "")

    def offset(self, line: int, column: int) -> int:
        return self.lines.starts[line - 1] + column

    def span(self, node: ast.stmt | ast.expr) -> Span:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset))

    def _symbol(
        self,
        qualname: str,
        kind: SymbolKind,
        span: Span,
        header: Span,
        node: ast.AST | None,
        body: int,
        parent: str | None,
    ) -> Symbol:
        number = self.seen[qualname] = self.seen.get(qualname, 0) + 1
        start, end = self.lines.position(span.start), self.lines.position(max(span.start, span.end - 1))
        name = qualname.rpartition(".")[2]
        decorators = [ast.unparse(d) for d in getattr(node, "decorator_list", [])]
        return Symbol(
            f"{self.module}:{qualname}" + (f"#{number}" if number > 1 else ""), self.path, qualname, kind, start.line,
            start.col, end.line, parent, span, header, self._docstring(node), body,
            not name.startswith("_") or name.endswith("__"), any(d.endswith("overload") for d in decorators),
            "test" in self.path,
        )  # fmt: skip

    def _docstring(self, node: ast.AST | None) -> Span | None:
        if not isinstance(node, ast.Module | Definition) or ast.get_docstring(node, clean=False) is None:
            return None
        statement = node.body[0]
        assert isinstance(statement, ast.Expr)
        return self.span(statement.value)

    def _definition(self, node: Definition, holder: Symbol, prefix: str) -> Symbol:
        span = self.span(node)
        keyword = span.start
        if node.decorator_list:
            first = self.span(node.decorator_list[0]).start
            span = Span(self.text.rindex(b"@", 0, first), span.end)
        body = self.span(node.body[0]).start
        inner = getattr(node.body[0], "decorator_list", [])
        if inner:
            body = self.text.rindex(b"@", 0, self.span(inner[0]).start)
        in_class = holder.kind is SymbolKind.CLASS
        kind = SymbolKind.METHOD if in_class else SymbolKind.FUNCTION
        if isinstance(node, ast.ClassDef):
            kind = SymbolKind.CLASS
        return self._symbol(
            prefix + node.name, kind, span, Span(keyword, self._colon(node, keyword)), node, body, holder.id
        )

    def _colon(self, node: Definition, start: int) -> int:
        """Just after the colon that ends the header: the first one outside brackets, strings and lambdas."""
        import io
        import tokenize

        tokens = tokenize.tokenize(io.BytesIO(self.text[start:]).readline)
        depth = lambdas = 0
        lines = LineIndex(self.text[start:])
        for token in tokens:
            if token.string in ("(", "[", "{"):
                depth += 1
            elif token.string in (")", "]", "}"):
                depth -= 1
            elif token.string == "lambda" and depth == 0:
                lambdas += 1
            elif token.string == ":" and depth == 0 and token.type == tokenize.OP:
                if not lambdas:
                    line, column = token.end
                    text = self.text[start:]
                    row = text[lines.starts[line - 1] :].decode("utf-8")
                    return start + lines.starts[line - 1] + len(row[:column].encode("utf-8"))
                lambdas -= 1
        raise AssertionError(node.name)

    def _inside(self, node: ast.AST, holder: Symbol, prefix: str) -> Iterator[Symbol]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Definition):
                symbol = self._definition(child, holder, prefix)
                yield symbol
                inner = f"{symbol.qualname}." if isinstance(child, ast.ClassDef) else f"{symbol.qualname}.<locals>."
                yield from self._inside(child, symbol, inner)
                continue
            if isinstance(child, ast.Assign | ast.AnnAssign) and holder.kind in (SymbolKind.MODULE, SymbolKind.CLASS):
                yield from self._variables(child, holder, prefix)
            elif isinstance(child, ast.Import | ast.ImportFrom):
                self.imports += [
                    Import(holder.id, a.asname or a.name.split(".")[0], None, child.lineno) for a in child.names
                ]
            yield from self._inside(child, holder, prefix)

    def _variables(self, node: ast.Assign | ast.AnnAssign, holder: Symbol, prefix: str) -> Iterator[Symbol]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        kind = SymbolKind.ATTRIBUTE if holder.kind is SymbolKind.CLASS else SymbolKind.VARIABLE
        span = self.span(node)
        for name in (
            n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        ):
            yield self._symbol(prefix + name, kind, span, span, None, span.end, holder.id)


EdgeRow = tuple[str, ...]


class Repository:
    """Texts, and the graph over them."""

    def __init__(
        self,
        texts: Mapping[str, str | bytes],
        edges: Sequence[EdgeRow] = (),
        unresolved: Sequence[tuple[str, int, str]] = (),
        skipped: Sequence[Skip] = (),
    ) -> None:
        self.texts = {
            path: text if isinstance(text, bytes) else textwrap.dedent(text).lstrip("\n").encode()
            for path, text in texts.items()
        }
        readers = [FileReader(path, module_name(path), text) for path, text in self.texts.items()]
        symbols = [symbol for reader in readers for symbol in reader.read()]
        by_id = {symbol.id: symbol for symbol in symbols}
        analysis = Analysis(
            "repository",
            tuple(ModuleFile(r.path, r.module, r.module, "", r.path.endswith("__init__.py"), False) for r in readers),
            tuple(symbols),
            tuple(make_edge(by_id, row) for row in edges),
            tuple(
                Unresolved(caller, by_id[caller].path, line, (line, 0, line, 1), Reason.UNTYPED_RECEIVER, written)
                for caller, line, written in unresolved
            ),
            tuple(item for reader in readers for item in reader.imports),
            tuple(skipped),
            (),
            len(edges),
            "typed",
        )
        self.graph: CallGraph = build_graph(analysis)


def make_edge(symbols: Mapping[str, Symbol], row: EdgeRow) -> Edge:
    """(caller, callee, kind, certainty, rule, line), the last three optional; the line is the caller's by default."""
    caller, callee, kind, certainty, rule, line = (*row, *("certain", "name", "")[len(row) - 3 :])
    place = symbols[caller]
    where = int(line) if line else place.line
    return Edge(caller, callee, place.path, where, None, EdgeKind(kind), Certainty(certainty), Rule(rule))


def module_name(path: str) -> str:
    """`app/models.py` is `app.models`, `app/__init__.py` is `app`."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
