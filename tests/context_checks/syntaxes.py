"""A program that uses the syntax each Python from 3.8 to 3.13 brought, decorated wherever that is allowed.

`SYNTAXES["py312.py"]` is one module's text; all of them are modules of one project, `main.py` uses each.
"""

from __future__ import annotations

BASE = '''"""Decorators of every shape, shared by the others."""

import functools


def plain(function):
    return function


def named(*names, **options):
    def wrap(function):
        @functools.wraps(function)
        def inner(*arguments, **more):
            return function(*arguments, **more)

        return inner

    return wrap


class Registry:
    table = {}
    buttons = [plain, plain]

    def __call__(self, item):
        self.table[item.__name__] = item
        return item

    def add(self, name):
        return self


registry = Registry()
'''
PY38 = '''"""3.8: positional-only parameters, assignment expressions, `f"{x=}"`, unpacking in return and yield."""

from typing import Final, overload

from base import named, plain, registry

LIMIT: Final = 3


@plain
def take(a, b=1, /, c=2, *rest, d, e=4, **options):
    if (n := len(rest)) > LIMIT and (m := n + a):
        return *rest, m
    return f"{a=} {b!r:>{c}} {d=:3}", e


@overload
def pick(value: int, /) -> int: ...
@overload
def pick(value: str, /) -> str: ...
@named("pick", kind=None)
def pick(value, /):
    return [y for x in [value] if (y := x)]


@registry
class Holder:
    @property
    @plain
    def size(self) -> int:
        return LIMIT

    @size.setter
    def size(self, value: int) -> None:
        self.__dict__["size"] = value

    @staticmethod
    def build(*, size: int = 0) -> "Holder":
        return Holder()

    @classmethod
    def twice(cls): return cls.build(), cls.build()

    def each(self):
        rest = (1, 2)
        yield 0, *rest
        yield from rest


async def run(source):
    async with source as opened, opened:
        async for item in opened:
            await item
    return {k: v async for k, v in source}, [x async for x in source], lambda a, /, *b, c=1, **d: a
'''
PY39 = '''"""3.9: any expression as a decorator, unions of dicts, generics of built-in types."""

import base
from base import Registry, plain


@base.registry.add("later").add(name="x")
@Registry.buttons[0]
@(lambda function: function)
@(chosen := plain)
def relaxed(names: list[str], table: dict[str, tuple[int, ...]] = {}) -> set[str]:
    merged = table | {"a": (1,)}
    merged |= {}
    return {name.removeprefix("a") for name in names}


@{"one": plain}["one"]
class Chosen(dict[str, int]):
    @base.Registry.buttons[1]
    async def later(self):
        return self
'''
PY310 = '''"""3.10: structural patterns, unions with a bar, several managers in brackets, parameter specifications."""

from dataclasses import dataclass
from typing import ParamSpec, TypeAlias, TypeGuard

from base import plain

P = ParamSpec("P")
Number: TypeAlias = int | float


@dataclass(frozen=True, kw_only=True)
class Point:
    x: Number
    y: Number = 0
    __match_args__ = ("x", "y")


@plain
def sort(value: object) -> str | None:
    match value:
        case Point(x=0, y=0) | Point(1, 1):
            return "corner"
        case [Point() as first, *others] if others:
            return sort(first)
        case {"point": Point(x=a), **rest} if rest:
            return sort(a)
        case (-1 | 2 + 1j | "text" | None) as literal:
            return str(literal)
        case Point.x | (1, [2, _]):
            return None
        case _:
            match = case = 1
            return f"{match}{case}"


def is_number(value: object) -> TypeGuard[Number]:
    with (open("a") as first, open("b") as second,):
        return first is second
'''
PY311 = '''"""3.11: groups of exceptions, variadic generics, stars in subscripts."""

import asyncio
from typing import Generic, Self, TypeVarTuple, Unpack

from base import named

Ts = TypeVarTuple("Ts")


class Several(Generic[*Ts]):
    @named()
    def __init__(self, *values: *Ts) -> None:
        self.values = values

    def itself(self) -> Self:
        return self


@named(several=True)
async def gather(*values: *tuple[int, *tuple[str, ...]]) -> tuple[Unpack[Ts]]:
    try:
        async with asyncio.TaskGroup() as group, asyncio.timeout(3):
            group.create_task(gather())
    except* (ValueError, TypeError) as several:
        raise ExceptionGroup("again", several.exceptions) from several
    except* OSError:
        values[*values]
    else:
        return values
    finally:
        pass
'''
PY312 = '''"""3.12: type parameters, type statements, quotes and comments inside f-strings."""

from collections.abc import Callable
from typing import TypedDict, override

from base import plain

type Pair[T] = tuple[T, T]
type Handler[**P, *Ts] = Callable[P, tuple[*Ts]]


class Options(TypedDict, total=False):
    name: str


@plain
class Box[T: (int, str), *Ts, **P](list[T]):
    @plain
    def put[S: T](self, value: S, *more: *Ts) -> Pair[S]:
        def inner[R](made: R) -> R:
            return made

        return inner((value, value))

    @override
    def append(self, value: T) -> None:
        type = f"{", ".join([f"{value!r:{"10"}}"])} {
            value  # why
        }"
        print(type)


def first[T](pair: Pair[T], **options: Options) -> T:
    return [other for pair in [pair] for other in pair][0]
'''
PY313 = '''"""3.13: defaults of type parameters, and what only newer standard libraries have."""

import warnings
from typing import NoDefault, ReadOnly, TypedDict, TypeIs

from base import plain, registry

try:
    from copy import replace
except ImportError:
    replace = None


@registry
class Shelf[T = int, *Ts = *tuple[int, ...], **P = [int, str]]:
    @warnings.deprecated("use get")
    @plain
    def take[S = T](self, value: S = NoDefault) -> S:
        return replace(self, value=value) and value


class Row(TypedDict):
    key: ReadOnly[str]


@plain
def is_row[T = Row](value: object) -> TypeIs[T]:
    global late
    late = value
    del late
    return not (value is None) and isinstance(value, dict)
'''
MAIN = '''"""Uses each of them."""

import py38, py39 as nine
from py310 import *
from py311 import Several, gather as _gather
from py312 import Box, first
from py313 import Shelf, is_row


def main():
    holder = py38.Holder.build(size=1)
    holder.size = 2
    py38.take(1, 2, d=holder.size), py38.pick("a"), nine.relaxed([]), nine.Chosen().later()
    sort(Point(x=1)), is_number(1), Several(1, "a").itself(), _gather(1)
    return first(Box().put(1)), Shelf().take(1), is_row({})


if __name__ == "__main__":
    main()
'''
SYNTAXES = {
    "base.py": BASE, "py38.py": PY38, "py39.py": PY39, "py310.py": PY310, "py311.py": PY311, "py312.py": PY312,
    "py313.py": PY313, "main.py": MAIN,
}  # fmt: skip
