"""Trimmed bodies, by example; then over the standard library and generated functions: what is shown stands in the file,
parses, holds the asked lines, and is never longer than the whole."""

from __future__ import annotations

import ast
import copy
import random
import re
import sysconfig
import textwrap
from pathlib import Path

import pytest

from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol
from contextc.passes.forms import Source, full_text
from contextc.passes.rows import Row, text_of_rows
from contextc.passes.trimming import Kept, trim
from tests.passes.repository import Repository

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
CHOSEN = "argparse ast contextlib dataclasses enum functools inspect random shutil statistics tarfile typing zipfile"
PACKAGE = Path(__file__).parents[2] / "contextc"


def cut(text: str, *, asked: str = "!", depends: bool = False, name: str = "f", docstring: int = 0) -> str:
    """The definition `f` trimmed for the lines that hold the mark; the marks are left out of the answer."""
    text = textwrap.dedent(text).lstrip("\n")
    lines = tuple(n for n, line in enumerate(text.split("\n"), 1) if line.endswith(f"# {asked}"))
    rows = trim_text(text, name, Kept(lines, depends, docstring))
    return text_of_rows(rows).replace(f"  # {asked}", "")


def trim_text(text: str | bytes, name: str, kept: Kept) -> list[Row]:
    made = Repository({"m.py": text})
    return trim(made.graph.symbol(f"m:{name}"), Source(made.texts["m.py"]), kept)


def same(shown: str, expected: str) -> None:
    assert shown == textwrap.dedent(expected).strip("\n")
    ast.parse(shown)


# ------------------------------------------------------------------------------------------------- the asked lines


SHOP = '''
@route("/buy")
def f(user, goods, log=print):
    """Buy.

    Several at once.
    """
    log("about to buy", goods)
    total = 0
    for good in goods:
        price = good.price * user.discount
        if price > 100 or good.is_large:
            log("this is a large one", good)
            shipping = freight(good)
            total += price + shipping
        else:
            total += price
            log("this is a small one", good)
        log("and now the next one", good)
    return user.pay(total, {  # !
        "currency": "EUR",
    })
'''


def test_only_asked_lines() -> None:
    shown = """
        def f(user, goods, log=print):
            ...  # 15 lines
            return user.pay(total, {
                "currency": "EUR",
            })
        """
    same(cut(SHOP), shown)


def test_what_the_asked_lines_depend_on() -> None:
    shown = '''
        @route("/buy")
        def f(user, goods, log=print):
            """Buy.

            Several at once.
            """
            ...
            total = 0
            for good in goods:
                price = good.price * user.discount
                if price > 100 or good.is_large:
                    ...
                    shipping = freight(good)
                    total += price + shipping
                else:
                    total += price
                    ...
                ...
            return user.pay(total, {
                "currency": "EUR",
            })
        '''
    same(cut(SHOP, depends=True, docstring=15), shown)


# ------------------------------------------------------------------------------------------------ over real modules


def read_module(name: str) -> bytes:
    module = LIBRARY / f"{name}.py"
    return (module if module.exists() else LIBRARY / name / "__init__.py").read_bytes()  # some became packages


def check_rows(symbol: Symbol, source: Source, kept: Kept) -> list[Row]:
    """Everything that holds of a trimmed body, whatever is asked."""
    rows = trim(symbol, source, kept)
    shown = text_of_rows(rows)
    assert len(shown) <= len(full_text(symbol, source))
    cut, whole = (one_definition(text) for text in (shown, full_text(symbol, source)))
    assert signature_of(cut) == signature_of(whole)
    numbers = [row.line for row in rows if row.line]
    assert numbers == sorted(set(numbers)), "each line once, in the file's order"
    for row in rows:
        if row.line:
            written = source.line(row.line)
            assert row.text == written or written.startswith(row.text), (row, written)
        else:
            assert re.fullmatch(r"\s*(#? ?\.\.\.(  #)?( \d+ lines)?|\.\.\. \(\d+ more lines\)['\"]{3})", row.text), row
    return rows


def one_definition(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef:
    node = ast.parse("if 1:\n" + text if text[:1].isspace() else "\n" + text).body[0]
    inside = node.body[0] if isinstance(node, ast.If) else node
    assert isinstance(inside, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return inside


def signature_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    """The header alone, without decorators and positions."""
    node = copy.copy(node)
    node.body, node.decorator_list = [], []
    return ast.dump(node)


def code_lines(node: ast.AST) -> list[int]:
    """Lines at which a statement begins, as `ast` counts them."""
    return [inner.lineno for inner in ast.walk(node) if isinstance(inner, ast.stmt)]


def check_module(text: bytes, seed: int) -> int:
    """Each definition trimmed for some of its lines. How many there were."""
    made = Repository({"m.py": text})
    source = Source(made.texts["m.py"])
    chance = random.Random(seed)
    count = 0
    for symbol in made.graph.symbols:
        if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS):
            continue
        count += 1
        first = symbol.line - 2  # one_definition has a line before the first
        possible = [line + first for line in code_lines(one_definition(full_text(symbol, source)))]
        wanted = tuple(sorted({chance.choice(possible) for _ in range(chance.randint(1, 3))}))
        for depends in (False, True):
            rows = check_rows(symbol, source, Kept(wanted, depends, 15 * depends))
            shown = {row.line: row.text for row in rows}
            inside = [line for line in wanted if line > symbol.line]
            assert all(shown.get(line) == source.line(line) or is_docstring(symbol, source, line) for line in inside)
        check_rows(symbol, source, Kept())
    return count


def is_docstring(symbol: Symbol, source: Source, line: int) -> bool:
    """Whether the line belongs to the decorators or the docstring, which have rules of their own."""
    ends = [symbol.header.end, *([symbol.docstring.end] if symbol.docstring else [])]
    return line <= source.lines.position(max(ends)).line


@pytest.mark.parametrize("name", CHOSEN.split())
def test_the_standard_library(name: str) -> None:
    assert check_module(read_module(name), 3) > 20


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.name)
def test_this_package(path: Path) -> None:
    check_module(path.read_bytes(), 5)
