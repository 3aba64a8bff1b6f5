"""What CPython's own parser says about a file, in a form that facts can be compared with. Needs nothing but Python.

`nodes`: (owner's qualname, IR class, start, end) of each expression, pattern and statement, in UTF-8 bytes.
Inside f-strings `ast` gives wrong places before Python 3.12; there `nodes` has only the f-string itself.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

KINDS = {
    "Name": "Name", "Attribute": "Attribute", "Subscript": "Subscript", "Slice": "Slice", "Call": "Call",
    "Lambda": "Lambda", "Tuple": "TupleExpr", "List": "ListExpr", "Set": "SetExpr", "Dict": "DictExpr",
    "Starred": "Starred", "ListComp": "Comprehension", "SetComp": "Comprehension", "DictComp": "Comprehension",
    "GeneratorExp": "Comprehension", "IfExp": "Conditional", "BoolOp": "BoolOp", "UnaryOp": "UnaryOp",
    "BinOp": "BinaryOp", "Compare": "Compare", "Await": "Await", "Yield": "Yield", "YieldFrom": "YieldFrom",
    "NamedExpr": "NamedExpr", "Constant": "Constant", "JoinedStr": "FString", "TemplateStr": "FString",
    "MatchValue": "MatchValue", "MatchSingleton": "MatchValue", "MatchSequence": "MatchSequence",
    "MatchStar": "MatchStar", "MatchMapping": "MatchMapping", "MatchClass": "MatchClass", "MatchAs": "MatchAs",
    "MatchOr": "MatchOr", "Expr": "Evaluate", "Assign": "Assign", "AnnAssign": "AnnotatedAssign",
    "AugAssign": "AugmentedAssign", "TypeAlias": "TypeAlias", "Return": "Return", "Raise": "Raise",
    "Assert": "Assert", "Delete": "Delete", "Import": "Import", "ImportFrom": "ImportFrom", "If": "If",
    "While": "While", "For": "For", "AsyncFor": "For", "With": "With", "AsyncWith": "With", "Try": "Try",
    "TryStar": "Try", "ExceptHandler": "Handler", "Match": "Match", "Break": "Jump", "Continue": "Jump",
    "FunctionDef": "Define", "AsyncFunctionDef": "Define", "ClassDef": "Define",
}  # fmt: skip
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TRUE_PLACES = sys.version_info >= (3, 12)


class _Reader:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.starts = [0, *(m.end() for m in re.finditer(rb"\r\n|\n|\r", text))]
        self.nodes: list[tuple[str, str, int, int]] = []
        self.symbols: list[tuple[str, str, int, int]] = []
        self.imports: list[str] = []
        self.owner = "<module>"
        self.kind = "module"
        self.globals: set[str] = set()
        self.in_string = 0
        self.arguments: set[int] = set()

    def place(self, node: Any) -> tuple[int, int]:
        start = self.starts[node.lineno - 1] + node.col_offset
        if isinstance(node, _DEFINITIONS) and node.decorator_list:
            first = node.decorator_list[0]
            start = self.text.rindex(b"@", 0, self.starts[first.lineno - 1] + first.col_offset)
        return start, self.starts[node.end_lineno - 1] + node.end_col_offset

    def visit(self, node: Any) -> None:
        kind = KINDS.get(type(node).__name__)
        if id(node) in self.arguments:  # `*args` in a call is an Argument in the IR, no node
            kind = None
        if isinstance(node, (ast.Call, ast.ClassDef)):
            values = node.args if isinstance(node, ast.Call) else node.bases
            self.arguments.update(id(value) for value in values if isinstance(value, ast.Starred))
        if kind and (_TRUE_PLACES or not self.in_string) and not (self.in_string and kind in ("Constant", "FString")):
            self.nodes.append((self.owner, kind, *self.place(node)))
        if isinstance(node, ast.MatchSingleton):  # here `ast` has the bare value, the IR a Constant
            self.nodes.append((self.owner, "Constant", *self.place(node)))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [f"{alias.name} as {alias.asname}" for alias in node.names]
            head = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
            self.imports.append(f"{self.owner}: {head} {names}")
        if isinstance(node, ast.Global):
            self.globals.update(node.names)
        if isinstance(node, _DEFINITIONS):
            self.visit_definition(node)
        elif isinstance(node, ast.Lambda):
            self.visit_arguments(node.args)
            self.symbols.append((self.qualify("<lambda>"), "lambda", *self.place(node)))
            self.inside(self.qualify("<lambda>"), "lambda", [node.body])
        elif type(node).__name__ in ("JoinedStr", "TemplateStr"):
            self.in_string += 1
            self.children(node)
            self.in_string -= 1
        elif type(node).__name__ in ("TypeAlias", "NamedExpr"):  # the name bound is no node in the IR
            self.visit(node.value)
        else:
            self.children(node)

    def children(self, node: Any) -> None:
        for child in ast.iter_child_nodes(node):
            self.visit(child)

    def visit_arguments(self, node: ast.arguments) -> None:
        self.children(node)

    def visit_definition(self, node: Any) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        for parameter in getattr(node, "type_params", ()):
            self.children(parameter)
        if isinstance(node, ast.ClassDef):
            kind = "class"
            for part in (*node.bases, *node.keywords):
                self.visit(part)
        else:
            kind = "method" if self.kind == "class" else "function"
            self.visit_arguments(node.args)
            if node.returns:
                self.visit(node.returns)
        self.symbols.append((self.qualify(node.name), kind, *self.place(node)))
        self.inside(self.qualify(node.name), kind, node.body)

    def inside(self, owner: str, kind: str, body: list[Any]) -> None:
        saved = self.owner, self.kind, self.globals
        self.owner, self.kind, self.globals = owner, kind, set()
        for child in body:
            self.visit(child)
        self.owner, self.kind, self.globals = saved

    def qualify(self, name: str) -> str:
        if self.kind == "module" or name in self.globals:
            return name
        return f"{self.owner}.{name}" if self.kind == "class" else f"{self.owner}.<locals>.{name}"


def reference(text: bytes) -> dict[str, list[Any]]:
    """What `ast` says about a normalised text. Raises SyntaxError or ValueError where it doesn't parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text.decode("utf-8"))
    reader = _Reader(text)
    for statement in tree.body:
        reader.visit(statement)
    return {
        "nodes": sorted(reader.nodes),
        "symbols": sorted(reader.symbols),
        "imports": sorted(reader.imports),
    }


if __name__ == "__main__":
    for path in sys.stdin.read().split("\n"):
        try:
            text = Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf")
            print(json.dumps([path, reference(text)]), flush=True)
        except (SyntaxError, ValueError, OSError, RecursionError) as error:
            print(json.dumps([path, repr(error)]), flush=True)
