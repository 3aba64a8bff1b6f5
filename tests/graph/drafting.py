"""Analyses written by hand, for tests that should not depend on the analyser."""

from __future__ import annotations

from contextc.graph.builder import build_graph
from contextc.graph.call_graph import CallGraph
from contextc.model.analysis import Analysis, ModuleFile
from contextc.model.diagnostic import Note, Skip
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule, Site, Unresolved
from contextc.model.facts import SymbolKind
from contextc.model.span import Span
from contextc.model.symbol import Import, Symbol


class Draft:
    """Collects files, symbols and edges in any order. A symbol's span is its lines, a thousand bytes each."""

    def __init__(self, root: str = "project") -> None:
        self.root = root
        self.files: list[ModuleFile] = []
        self.symbols: list[Symbol] = []
        self.edges: list[Edge] = []
        self.unresolved: list[Unresolved] = []
        self.imports: list[Import] = []
        self.skipped: list[Skip] = []
        self.notes: list[Note] = []

    def file(self, path: str, module: str, *, module_id: str = "", source_root: str = "", lines: int = 100) -> None:
        """A file and its module symbol."""
        package = path.endswith("__init__.py")
        file = ModuleFile(path, module, module_id or module, source_root, package, path.endswith(".pyi"))
        self.files.append(file)
        self._symbol(file, "<module>", SymbolKind.MODULE, 1, lines, None)

    def define(self, path: str, local: str, kind: SymbolKind, first: int, last: int) -> str:
        """A definition over the lines `first` to `last`; its parent is the innermost one so far around it."""
        file = next(f for f in self.files if f.path == path)
        around = [s for s in self.symbols if s.path == path and s.line <= first and last <= s.end_line]
        return self._symbol(file, local, kind, first, last, max(around, key=lambda s: (s.line, -s.end_line)).id)

    def _symbol(self, file: ModuleFile, local: str, kind: SymbolKind, first: int, last: int, parent: str | None) -> str:
        # A module starts before everything in it, even on its first line.
        span = Span(0 if parent is None else first * 1000, last * 1000 + 999)
        name = local.split("#")[0]
        public = not name.rpartition(".")[2].startswith("_")
        self.symbols.append(
            Symbol(
                f"{file.module_id}:{local}", file.path, name, kind, first, 0, last, parent,
                span, span, None, span.start, public, False, False,
            )
        )  # fmt: skip
        return self.symbols[-1].id

    def edge(
        self,
        caller: str,
        callee: str,
        line: int,
        kind: EdgeKind = EdgeKind.CALL,
        certainty: Certainty = Certainty.CERTAIN,
        rule: Rule = Rule.NAME,
    ) -> Edge:
        """An edge whose site is the first ten columns of the line; a relation has none."""
        path = next(s.path for s in self.symbols if s.id == caller)
        site: Site | None = (line, 0, line, 10) if kind.is_call else None
        self.edges.append(Edge(caller, callee, path, line, site, kind, certainty, rule))
        return self.edges[-1]

    def unknown(self, caller: str, line: int, reason: Reason = Reason.UNTYPED_RECEIVER) -> Unresolved:
        path = next(s.path for s in self.symbols if s.id == caller)
        self.unresolved.append(Unresolved(caller, path, line, (line, 0, line, 8), reason, "x.run"))
        return self.unresolved[-1]

    def analysis(self) -> Analysis:
        return Analysis(
            self.root, tuple(self.files), tuple(self.symbols), tuple(self.edges), tuple(self.unresolved),
            tuple(self.imports), tuple(self.skipped), tuple(self.notes),
            len(self.edges) + len(self.unresolved), "typed",
        )  # fmt: skip

    def graph(self) -> CallGraph:
        return build_graph(self.analysis())


def shop() -> Draft:
    """Two modules: views calls models; models has a class with a property, a redefinition and a nested function."""
    draft = Draft("shop")
    draft.file("app/models.py", "app.models", lines=60)
    draft.file("app/views.py", "app.views", lines=20)
    draft.file("app/__init__.py", "app", lines=1)
    models = "app/models.py"
    draft.define(models, "LIMIT", SymbolKind.VARIABLE, 3, 3)
    draft.define(models, "User", SymbolKind.CLASS, 5, 30)
    draft.define(models, "User.email", SymbolKind.METHOD, 7, 9)
    draft.define(models, "User.email#2", SymbolKind.METHOD, 11, 13)
    draft.define(models, "User.save", SymbolKind.METHOD, 15, 20)
    draft.define(models, "User.table", SymbolKind.ATTRIBUTE, 22, 22)
    draft.define(models, "make", SymbolKind.FUNCTION, 40, 50)
    draft.define(models, "make.<locals>.inner", SymbolKind.FUNCTION, 42, 44)
    draft.define(models, "make.<locals>.<lambda>", SymbolKind.LAMBDA, 46, 46)
    draft.define("app/views.py", "show", SymbolKind.FUNCTION, 5, 10)
    draft.edge("app.views:show", "app.models:User.save", 7)
    draft.edge("app.views:show", "app.models:make", 6)
    draft.edge("app.models:make", "app.models:make.<locals>.inner", 48, certainty=Certainty.LIKELY)
    draft.edge("app.models:User.save", "app.models:User.email", 17, EdgeKind.PROPERTY, rule=Rule.PROPERTY_GET)
    draft.edge("app.models:make.<locals>.inner", "app.models:make", 43, EdgeKind.DYNAMIC, Certainty.POSSIBLE)
    draft.edge("app.views:<module>", "app.models:<module>", 1, EdgeKind.IMPORTS, rule=Rule.IMPORT_STATEMENT)
    draft.unknown("app.views:show", 9)
    draft.imports.append(Import("app.views:<module>", "User", "app.models:User", 1))
    draft.imports.append(Import("app.views:<module>", "json", None, 2))
    return draft
