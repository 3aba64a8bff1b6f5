"""The forms rest on the layout that the readers give; here both are held against an independent reading by `ast`."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from contextc.analyzer.reading.read import Failure, read_facts
from contextc.analyzer.reading.tree_sitter_reader import read_with_tree_sitter
from contextc.model.facts import ModuleFacts, SymbolKind
from tests.passes.repository import FileReader

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
DEFINITIONS = (SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD)
ODD = b'''
@a
# comment
@b(1,
   [2])
def f(x: "a:b" = {1: 2}, *, y=lambda: 0) -> dict[str, int]: "doc"; return 1

class A(B, metaclass=M): x = 1; y: int
class C:
\tr"""doc"""  # trailing
\tasync def g(self): pass
\t@property
\tdef g(self):
\t\tdef inner(): ...

if True:
    def f(): return 2  # \xc3\xa9
else:
    class C: pass
'''


def layout_by_reader(facts: ModuleFacts) -> dict[str, tuple[object, ...]]:
    """What the forms use of a definition, by local id."""
    return {
        s.local_id: (s.kind, s.qualname, s.span, s.header, s.docstring, s.body_start)
        for s in facts.symbols
        if s.kind in DEFINITIONS
    }


def layout_by_ast(text: bytes) -> dict[str, tuple[object, ...]]:
    return {
        s.id.removeprefix("m:"): (s.kind, s.qualname, s.span, s.header, s.docstring, s.body_start)
        for s in FileReader("m.py", "m", text).read()
        if s.kind in DEFINITIONS
    }


@pytest.mark.parametrize("name", ["abc.py", "contextlib.py", "dataclasses.py", "functools.py", "uuid.py", "odd"])
@pytest.mark.parametrize("reader", ["libcst", "tree-sitter"])
def test_layout(name: str, reader: str) -> None:
    text = ODD if name == "odd" else (LIBRARY / name).read_bytes()
    facts = read_facts(text) if reader == "libcst" else read_with_tree_sitter(text)
    assert not isinstance(facts, Failure)
    assert layout_by_reader(facts) == layout_by_ast(text)
