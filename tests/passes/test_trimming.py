"""Trimmed bodies, by example; then over the standard library and generated functions: what is shown stands in the file,
parses, holds the asked lines, and is never longer than the whole."""

from __future__ import annotations

import ast
import sysconfig
import textwrap
from pathlib import Path

from contextc.passes.forms import Source
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
