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


# ---------------------------------------------------------------------------------------------------- kinds of code

LONG = "unrelated = compute_something(1, 2, 3)"  # too long to stand for itself in a gap


def kept_lines(body: str, depends: bool = True) -> list[str]:
    """What is shown of a body, without indentation and the gap at its end. `L` on a line of its own is a statement
    that nothing depends on."""
    lines = textwrap.dedent(body).strip().split("\n")
    lines = [f"{line[:-1]}{LONG}" if line.strip() == "L" else line for line in lines]
    text = "def f(a, b, self):\n" + textwrap.indent("\n".join(lines), "    ") + f"\n    {LONG}\n    {LONG}\n"
    shown = cut(text, depends=depends)
    ast.parse(shown)
    return [line.strip() for line in shown.split("\n")[1:-1]]


KINDS = {
    "a later definition hides an earlier one": (
        "x = read(a, 1, 2, 3)\nx = read(b, 1, 2, 3)\nuse(x)  # !",
        ["...", "x = read(b, 1, 2, 3)", "use(x)"],
    ),
    "both branches may define": (
        "if a:\n    x = one(1, 2, 3, 4)\nelse:\n    x = two(1, 2, 3, 4)\nuse(x)  # !",
        ["if a:", "x = one(1, 2, 3, 4)", "else:", "x = two(1, 2, 3, 4)", "use(x)"],
    ),
    "a branch that returns defines nothing behind it": (
        "x = one(1, 2, 3, 4)\nif a:\n    x = two(1, 2, 3, 4)\n    return x\nuse(x)  # !",
        ["x = one(1, 2, 3, 4)", "...  # 3 lines", "use(x)"],
    ),
    "a loop's end is before its beginning": (
        "x = None\nwhile ready():\n    use(x)  # !\n    x = other(1, 2, 3)\n    L",
        ["x = None", "while ready():", "use(x)", "x = other(1, 2, 3)", "..."],
    ),
    "conditions before a branch": (
        "if first(a, 1, 2):\n    L\nelif second(b):\n    L\nelif third(a):\n    use(a)  # !\nelse:\n    L",
        ["if first(a, 1, 2):", "...", "elif second(b):", "...", "elif third(a):", "use(a)"],
    ),
    "augmented": (
        "total = 0\nL\ntotal += a.price(1, 2)\nuse(total)  # !",
        ["total = 0", "...", "total += a.price(1, 2)", "use(total)"],
    ),
    "attributes": (
        "self.x = one(1, 2, 3)\nself.y = two(1, 2, 3)\nuse(self.x)  # !",
        ["self.x = one(1, 2, 3)", "...", "use(self.x)"],
    ),
    "items": (
        "found = {}\nfound[a] = one(1, 2, 3)\nuse(found)  # !",
        ["found = {}", "found[a] = one(1, 2, 3)", "use(found)"],
    ),
    "containers that grow": (
        "parts = []\nparts.append(one(a))\nlog.warning('no part')\nuse(parts)  # !",
        ["parts = []", "parts.append(one(a))", "...", "use(parts)"],
    ),
    "walrus in a comprehension": (
        "rest = [last := item for item in a]\nL\nuse(last)  # !",
        ["rest = [last := item for item in a]", "...", "use(last)"],
    ),
    "a comprehension's name is its own": (
        "item = read(a, 1, 2)\nuse([item.x for item in b])  # !",
        ["...", "use([item.x for item in b])"],
    ),
    "a lambda's parameter is its own": (
        "key = read(a, 1, 2)\nuse(lambda key: key.x)  # !",
        ["...", "use(lambda key: key.x)"],
    ),
    "stars and tuples": (
        "first, *rest = read(a)\nL\nuse(rest)  # !",
        ["first, *rest = read(a)", "...", "use(rest)"],
    ),
    "del": (
        "x = read(a, 1, 2)\ndel x\nx = other(1, 2, 3)\nL\nuse(x)  # !",
        ["...  # 2 lines", "x = other(1, 2, 3)", "...", "use(x)"],
    ),
    "with": (
        "with open(a) as f, lock:\n    L\n    use(f)  # !\n    L",
        ["with open(a) as f, lock:", "...", "use(f)", "..."],
    ),
    "for": (
        "for i, x in enumerate(a):\n    L\n    use(x)  # !\nelse:\n    L",
        ["for i, x in enumerate(a):", "...", "use(x)"],
    ),
    "try": (
        "try:\n    x = read(a, 1, 2)\n    L\nexcept OSError as fault:\n    L\n    raise Wrong(fault)\nuse(x)  # !",
        ["try:", "x = read(a, 1, 2)", "...", "except OSError as fault:", "...  # 2 lines", "use(x)"],
    ),
    "an exception's name": (
        "try:\n    L\nexcept OSError as fault:\n    use(fault)  # !\nfinally:\n    L",
        ["try:", "...", "except OSError as fault:", "use(fault)"],
    ),
    "finally alone": (
        "try:\n    use(a)  # !\nfinally:\n    L",
        ["try:", "use(a)", "finally:", "..."],
    ),
    "a handler sees what was defined before the fault": (
        "x = one(1, 2, 3, 4)\ntry:\n    x = two(1, 2, 3, 4)\n    x = three(1, 2, 3)\nexcept E:\n    use(x)  # !",
        ["x = one(1, 2, 3, 4)", "try:", "x = two(1, 2, 3, 4)", "x = three(1, 2, 3)", "except E:", "use(x)"],
    ),
    "match": (
        "match a:\n    case [x, *xs] if x > 1:\n        L\n    case {'k': v, **kw}:\n        use(kw)  # !\n"
        "    case _:\n        L",
        ["match a:", "case [x, *xs] if x > 1:", "...", "case {'k': v, **kw}:", "use(kw)"],
    ),
    "import": (
        "import os.path as p, sys\nL\nfrom x import y\nuse(p, y)  # !",
        ["import os.path as p, sys", "...", "from x import y", "use(p, y)"],
    ),
    "global": (
        "global x\nL\nx = read(a)\nuse(x)  # !",
        ["global x", "...", "x = read(a)", "use(x)"],
    ),
    "a closure is its head": (
        "y = read(a)\n@cached(1)\ndef inner(p=y):\n    L\n    return p\nL\nuse(inner)  # !",
        ["y = read(a)", "@cached(1)", "def inner(p=y):", "...  # 2 lines", "...", "use(inner)"],
    ),
    "inside a closure": (
        "def inner(p):\n    z = p + y\n    L\n    use(z)  # !\nL\ny = read(a, 1)\nreturn inner",
        ["def inner(p):", "z = p + y", "...", "use(z)", "...", "y = read(a, 1)"],
    ),
    "one line": (
        "if a: x = read(a); y = read(b)\nelse: z = read(a, b)\nL\nuse(x)  # !",
        ["if a: x = read(a); y = read(b)", "...  # 2 lines", "use(x)"],
    ),
    "asynchronous": (
        "async for x in a:\n    L\n    async with x as y:\n        use(y)  # !",
        ["async for x in a:", "...", "async with x as y:", "use(y)"],
    ),
    "comments": (
        "# why\nuse(a)  # !\n# one\n# two\n# three\n# four\n# five",
        ["# why", "use(a)"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_code(kind: str) -> None:
    body, expected = KINDS[kind]
    assert kept_lines(body) == expected


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
