"""Random programs: a few names used again and again, so that values run in circles through everything there is.

In: a source of choices (hypothesis' `draw`). Out: texts by path, which parse; whether they make sense does not matter.
Code is written by filling templates: `<e>().<m>` is a call of an expression, then a member. The first alternative of
each list is the simplest, and failing programs shrink towards it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st

Draw = Callable[["st.SearchStrategy[int]"], int]
Lines = list[str]
Item = TypeVar("Item")

FUNCTIONS = ("f", "g")
CLASSES = ("A", "B")
VARIABLES = ("x", "y")
PARAMETERS = ("p", "q")
MEMBERS = ("f", "a", "g", "b")
NAMES = (*VARIABLES, *FUNCTIONS, *CLASSES)
RARE_NAMES = ("h", "C", "z")
MODULES = {"m.py": "m", "n.py": "n", "p/__init__.py": "p", "p/q.py": "p.q"}
LIBRARY = {
    "partial": "from functools import partial",
    "wraps": "from functools import wraps",
    "lru_cache": "from functools import lru_cache",
    "cached_property": "from functools import cached_property",
    "contextmanager": "from contextlib import contextmanager",
    "dataclass": "from dataclasses import dataclass",
    "Enum": "from enum import Enum",
    "Generic": "from typing import Generic",
    "TypeVar": "from typing import TypeVar",
    "Optional": "from typing import Optional",
    "Callable": "from typing import Callable",
    "Any": "from typing import Any",
    "Protocol": "from typing import Protocol",
}
ANNOTATIONS = (
    "A", "B", "int", "str", "'C'", "list[A]", "dict[str, 'B']", "'A | None'", "Optional[B]", "Callable[[A], B]",
    "Callable[..., 'C']", "type[A]", "T", "tuple[A, ...]", "tuple[A, B]", "Any", "Missing", "'C[A]'", "list[list[T]]",
    "object", "'f'", "A | B",
)  # fmt: skip
KEYS = ("'a'", "0", "'f'", "1", "x", "-1")
CONSTANTS = ("None", "1", "'a'", "0", "'f'", "True", "2", "()", "[]", "{}")
EXPRESSIONS = (
    "<c>(<l>)", "<o>.<m>", "<c>(<l>)", "(<e>,)", "[<e>]", "<o>[<k>]", "{<k>: <e>}", "(lambda <i>: <e>)",
    "getattr(<n>, <w>)", "(<e> or <e>)", "(<e> if <t> else <e>)", "[<e> for <v> in <o>]", "(<e> + <e>)", "(<e>, <e>)",
    "<o>.<m>(<l>)", "<o>.<m>(<l>)", "<o>[<k>](<l>)", "partial(<e>, <e>)", "super().<m>(<l>)", "type(<e>)",
    "{<k>: <e>, <k>: <e>}", "[<e>, <e>]", "(<e> for <v> in <o> if <t>)", "(<e> == <e>)", "(<e> | <e>)", "(<e> and <e>)",
    "{x: <e> for x, y in <o>}", "getattr(<n>, <w>, <e>)", "{**<n>, <k>: <e>}", "(*<n>, <e>)", "(yield <e>)",
    "(<v> := <e>)", "f'{<n>}a'", "f'f{<n>}'", "(<e> % <e>)", "(await <e>)", "(yield from <e>)", "(not <e>)",
    "unknown.x.f(<e>)", "unknown(<e>)",
)  # fmt: skip
CALLS = ("<c>(<l>)", "<o>.<m>(<l>)", "<c>(<l>)", "<c>(<l>).<m>(<l>)", "<o>.<m>", "<c>(<l>)(<l>)", "<c>(<n>, <n>)")
LIBRARY_CALLS = (
    "list(<e>)", "dict(<e>)", "map(<e>, <e>)", "next(<e>)", "iter(<e>)", "str(<e>)", "tuple(<e>)", "zip(<e>, <e>)",
    "sorted(<e>, key=<e>)", "max(<e>, <e>)", "print(<e>)", "len(<e>)", "vars(<e>)", "setattr(<n>, <w>, <e>)",
    "filter(<e>, <e>)", "reversed(<e>)", "hash(<e>)", "isinstance(<e>, <n>)", "globals()[<w>]", "partial(<c>)",
    "<v>.items()", "<v>.get(<k>)", "<v>.append(<e>)", "<v>.setdefault(<k>, <e>)", "<v>.update(a=<e>)", "<v>.pop()",
    "object.__new__(<n>)", "super().__init__(<l>)", "min(<e>, key=<e>)", "sum(<e>)",
)  # fmt: skip
TESTS = (
    "<v>", "<v> is None", "isinstance(<v>, <C>)", "<v> is not None", "not <v>", "not isinstance(<v>, (A, B))",
    "callable(<v>)", "<v> == 'a'", "hasattr(<v>, 'a')", "issubclass(<v>, A)", "type(<v>) is B", "unknown",
    "<v> is None or isinstance(<v>, A)", "isinstance(<v>, str)", "<v> in ('a', 'f')", "<v>.a is None",
    "isinstance(<v>.a, A)",
)  # fmt: skip
TARGETS = (
    "<v>", "<v>", "<n>.<m>", "<v>", "<n>[<k>]", "x, y", "<n>.<m>", "<n>", "x = y", "x, *y", "(x, y), z", "<n>.a.b",
    "self.<m>", "<v>",
)  # fmt: skip
GROWTH = ("({0}, 1)", "[{0}]", "({0}, {0})", "{{'a': {0}}}", "A({0})", "f'{{{0}}}a'", "{0} + 'a'", "partial({0}, 1)",
          "(lambda: {0})", "{0}.a", "{0}()", "({0}, *{0})", "type({0})", "{0} + 1", "{0} + ({0},)")  # fmt: skip
IMPORTS = (
    "from <M> import <n>", "from <M> import *", "import <M>", "from <M> import <n> as <n>", "import <M> as <v>",
    "from . import <n>", "from . import q", "from .q import <n>", "from .q import *", "from missing import <n>",
)  # fmt: skip
OTHERS = (
    "pass", "<v> += <e>", "<v>: <a> = <e>", "del <v>", "global <v>\n<v> = <e>", "nonlocal <v>\n<v> = <e>",
    "raise <e>", "break", "<v>: <a>", "assert <t>", "continue", "<v>.append(<e>)", "<v>.update(a=<e>)",
    "<v>.setdefault(<k>, <e>)", "<v>.extend(<e>)", "<v>.a += <e>", "global <n>", "setattr(<n>, <w>, <e>)",
)  # fmt: skip
FLOWS = (
    "<F>(<F>(<n>))", "p.f()", "<v>.g(<F>(<n>))", "p()", "self.a = <F>(<n>)", "<F>(<v>.f())", "<C>(<F>(<n>))", "p.a.f()",
    "<v>.a = <F>(<n>)", "return p", "<F>(<v>)", "self.a.g()", "p.g(<v>)", "return p.f()", "q.f()", "x.f()", "<F>(p)",
    "<v> = <C>()", "<v> = <F>(<n>)", "<v>.f()", "return <v>", "<v>.a = <n>", "<v> = <v>.a", "<v>()", "<F>(<C>())",
    "<F>(<F>)", "<F>(<C>)", "return <F>(<v>)", "return <C>()", "self.a = <v>", "self.a.f()", "self.g(<v>)",
    "<v>.g(<n>)",
    "return self.a", "return self", "return <n>", "<v> = [<n>]", "<v>[0].f()", "<v> = {'a': <n>}", "<v>['a']()",
    "<v>.append(<n>)", "for <v> in <v>:\n    <v>.f()", "if isinstance(<v>, <C>):\n    <v>.f()", "<C>.a = <n>",
    "<C>().g(<n>)", "<C>.f(<v>)", "<v> = lambda: <n>", "getattr(<v>, 'f')()", "<v>.f().g()", "<v>.a.f()",
    "return lambda: <v>", "m.x = <n>", "m.f(<n>)", "<F>(<n>, <n>)", "<F>(p=<n>)", "<F>(*<v>)", "global x\nx = <n>",
    "yield <n>", "for <v> in <F>(<n>):\n    <v>.f()", "<v> = <v> or <n>", "x, y = <n>, <n>", "<v> = (<n>, <n>)",
    "super().f()", "<v> = <C>(<n>)", "with <C>() as <v>:\n    <v>.f()", "<v>.a = <v>.f()", "return <v>.f()", "<v>(<v>)",
    "return <F>", "return <v>(<n>)", "<v> = <F>(<v>)", "<v>.f(<n>)", "<F>(<v>).f()", "<F>(<v>)()", "<v> = m.x",
    "self.f()", "self.a = <C>()", "<v> = self", "self.a(<n>)", "n.f(<n>).f()", "n.y.f()", "setattr(<v>, 'a', <n>)",
)  # fmt: skip
BOUND = ("<C>()", "<F>", "<F>(<C>)", "<C>", "<F>(<F>)", "<F>(<C>())", "[<C>()]", "{'a': <F>}", "<C>(<F>)", "<e>",
         "<F>(<C>, <F>)", "<C>(<C>())")  # fmt: skip
CARRIED = ("<n>", "<C>()", "<v>", "<F>(<n>)", "<v>.a", "<v>.f()", "<C>(<n>)", "<F>", "[<n>]", "<v>[0]", "m.x", "n.y",
           "(<n>, <n>)", "{'a': <n>}", "(lambda: <v>)", "<F>(<n>, <n>)")  # fmt: skip
BASES = ("A", "B", "C", "Generic[T]", "A[B]", "Enum", "f(x)", "list[A]", "Protocol", "dict", "x", "type", "Exception",
         "metaclass=B", "str", "m.A", "q.B")  # fmt: skip
SPECIAL = ("__init__", "__call__", "__getattr__", "__iter__", "__getitem__", "__enter__", "__new__", "__get__",
           "__add__", "__next__", "__init_subclass__", "__eq__", "__exit__", "__set_name__", "__set__", "__radd__",
           "__class_getitem__", "__contains__")  # fmt: skip
METHOD_DECORATORS = ("f", "property", "g", "classmethod", "staticmethod", "g(x)", "cached_property", "f.setter", "A")
DECORATORS = ("f", "g", "g(x)", "wraps(x)", "h", "lru_cache", "contextmanager", "A", "A.f", "partial(f, x)")
PATTERNS = ("A()", "B(a=x)", "[x, *y]", "{'a': x}", "'f'", "A(x) | B(x)", "(x, y)", "None", "x")
DEPTH = 3


@functools.cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


class Grammar:
    """Writes code at random. `inside` is the stack of scopes that what is written next stands in; `wild` says how much
    of it is anything at all, in quarters: the rest carries values from here to there, which makes results hang on each
    other."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self.inside: list[str] = []
        self.wild = 4

    # -------------------------------------------------------------------------------------------------- choices

    def number(self, count: int) -> int:
        """0 to `count` - 1."""
        return self._draw(_below(count))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.number(len(items))]

    def chance(self, one_in: int) -> bool:
        return self.number(one_in) == one_in - 1

    def _is_wild(self) -> bool:
        return self.wild == 4 or (self.wild > 0 and self.number(4) < self.wild)

    def fill(self, template: str, depth: int = 2) -> str:
        """The template with each mark replaced by what it stands for, from left to right."""
        return re.sub(r"<([a-zA-Z])>", lambda mark: self._part(mark.group(1), depth), template)

    def _part(self, mark: str, depth: int) -> str:
        plain = _PLAIN.get(mark)
        if plain is not None:
            return self.pick(plain)
        if mark == "v":
            return self.pick(("p", "x", "p", "q", "y") if self._is_local() else VARIABLES)
        if mark == "n":
            return self.name()
        if mark == "e":
            return self.expression(depth - 1)
        if mark == "t":
            return self.fill(self.pick(TESTS), depth)
        if mark == "c":
            return self.pick((*FUNCTIONS, *CLASSES, *VARIABLES))
        if mark == "o":
            return self.fill(self.pick(("<n>", "<n>.<m>", "<c>(<l>)", "<n>[<k>]", "getattr(<n>, <w>)")), depth - 1)
        assert mark == "l", mark
        return self._arguments(depth - 1)

    # -------------------------------------------------------------------------------------------------- expressions

    def name(self) -> str:
        """A name in use; in a method the receiver is one as well."""
        if self.inside and self.inside[-1] == "method" and self.chance(3):
            return "self"
        if self.chance(20):
            return self.pick(RARE_NAMES)
        return self.pick((*PARAMETERS, *NAMES) if self._is_local() else NAMES)

    def _is_local(self) -> bool:
        return bool(self.inside) and self.inside[-1] != "class"

    def expression(self, depth: int = DEPTH) -> str:
        if not self._is_wild():
            return self.fill(self.pick(CARRIED))
        kind = self.number(8) if depth > 0 else self.number(4)
        if kind in (0, 2):
            return self.name()
        if kind == 1:
            return self.pick(CONSTANTS)
        if kind in (3, 4):
            return self.fill(self.pick(CALLS), depth)
        return self.fill(self.pick(EXPRESSIONS if kind < 7 else LIBRARY_CALLS), depth)

    def _arguments(self, depth: int) -> str:
        """In an order that parses: positional ones before keywords."""
        found = [self.expression(depth) for _ in range(self.pick((1, 0, 1, 2)))]
        more = self.number(12)
        if more == 9:
            found.append(self.fill("*<n>"))
        if more == 10:
            found.append(f"{self.pick(('p', 'q', 'x'))}={self.expression(depth)}")
        if more == 11:
            found.append(self.fill("**<n>"))
        return ", ".join(found)

    # -------------------------------------------------------------------------------------------------- statements

    def block(self, depth: int, more: int = 2) -> Lines:
        """One statement and up to `more` others, indented."""
        lines: Lines = []
        for _ in range(1 + self.number(more + 1)):
            lines += self.statement(depth)
            if lines[-1].startswith("return"):  # what follows would never run
                break
        return [f"    {line}" for line in lines]

    def statement(self, depth: int = DEPTH) -> Lines:
        """Lines of one statement, at the margin."""
        if depth > 0 and self.chance(4) and self._is_wild():
            return self.pick(_COMPOUND)(self, depth - 1)
        if not self._is_wild():
            return self._flow()
        kind = self.number(10)
        if kind < 4:
            method = self.inside and self.inside[-1] == "method" and self.chance(2)
            return [self.fill("self.<m>" if method else self.pick(TARGETS)) + f" = {self.expression()}"]
        if kind < 6:
            return [self.expression()]
        if kind == 6:
            return [self.pick(VARIABLES) + " = " + self.pick(GROWTH).format(self.pick(VARIABLES))]
        if kind == 7 and self.chance(3):
            return [self.fill(self.pick(IMPORTS))]
        if kind in (7, 8) and self.inside and self.inside[-1] != "class":
            return [self.fill(self.pick(("return <e>", "return <e>", "yield <e>", "return <e>, <e>")), DEPTH)]
        return self.fill(self.pick(OTHERS)).split("\n")

    def _flow(self) -> Lines:
        """What carries values from here to there."""
        inside = self.inside[-1] if self.inside else ""
        template = self.pick(FLOWS)
        if ("return" in template or "yield" in template) and inside in ("", "class"):
            template = "<v>.f()"
        elif "self" in template and inside != "method":
            template = template.replace("self", "<v>")
        return self.fill(template).split("\n")

    def _if(self, depth: int) -> Lines:
        lines = [self.fill("if <t>:"), *self.block(depth)]
        return lines + (["else:", *self.block(depth)] if self.chance(2) else [])

    def _loop(self, depth: int) -> Lines:
        return [self.fill(self.pick(("for <v> in <e>:", "while <t>:", "for x, y in <e>:", "for <n>.a in <e>:"))),
                *self.block(depth)]  # fmt: skip

    def _try(self, depth: int) -> Lines:
        caught = self.pick((" A as x", " Exception", "", " (A, B) as y", " ImportError"))
        lines = ["try:", *self.block(depth), f"except{caught}:", *self.block(depth, 0)]
        return lines + (["finally:", *self.block(depth, 0)] if self.chance(4) else [])

    def _with(self, depth: int) -> Lines:
        return [self.fill(self.pick(("with <e> as <v>:", "with <e>:", "with <e> as (x, y):"))), *self.block(depth)]

    def _match(self, depth: int) -> Lines:
        lines = [self.fill("match <v>:")]
        for _ in range(1 + self.number(2)):
            lines += [f"    case {self.pick(PATTERNS)} if True:", *(f"    {line}" for line in self.block(depth, 0))]
        return [*lines, f"    case {self.pick(PATTERNS[:-1])}:", "        pass", "    case _:",
                *(f"    {line}" for line in self.block(depth, 0))]  # fmt: skip

    # -------------------------------------------------------------------------------------------------- definitions

    def _parameters(self) -> str:
        """A parameter list without its receiver."""
        names = self.pick((("p",), ("p", "q"), ("p", "q"), (), ("p",), ("f", "p"), ("p", "q", "g"), ("x",)))
        if not self._is_wild():
            return self.pick(("p", "p", "p, q", "p, q=None", ""))
        found = [name + (f": {self.pick(ANNOTATIONS)}" if self.chance(8) else "") for name in names]
        if found and self.chance(4):
            found[-1] += f"={self.expression(1)}"
        more = self.number(8)
        found += {5: ["*args"], 6: ["*", f"b={self.expression(1)}"], 7: ["*args", "**kwargs"]}.get(more, [])
        return ", ".join(found)

    def _function(self, depth: int) -> Lines:
        return self._define(self.pick(FUNCTIONS), "function", depth)

    def _define(self, name: str, kind: str, depth: int) -> Lines:
        decorators = METHOD_DECORATORS if kind == "method" else DECORATORS
        count = self.pick((0, 0, 0, 0, 1, 2)) if self._is_wild() else 0
        lines = [f"@{self.pick(decorators)}" for _ in range(count)]
        receiver = ("cls" if self._is_wild() and self.chance(4) else "self") if kind == "method" else ""
        parameters = ", ".join(part for part in (receiver, self._parameters()) if part)
        result = f" -> {self.pick(ANNOTATIONS)}" if self.chance(6) else ""
        prefix = "async " if self._is_wild() and self.chance(12) else ""
        self.inside.append(kind)
        body = self.block(depth)
        if self.chance(2) and not body[-1].startswith("    return"):
            body += [f"    return {self.expression()}"]
        self.inside.pop()
        return [*lines, f"{prefix}def {name}({parameters}){result}:", *body]

    def _class(self, depth: int, name: str | None = None) -> Lines:
        chosen = {"A"} if name == "B" and self.chance(2) else set()
        if self._is_wild() and self.chance(3):
            chosen |= {self.pick(BASES) for _ in range(self.number(3))}
        bases = sorted(chosen, key=lambda base: ("=" in base, base))
        lines = [f"@{self.pick(('dataclass', 'f', 'g(x)'))}"] if self._is_wild() and self.chance(8) else []
        name = name or self.pick(CLASSES)
        self.inside.append("class")
        body = [line for _ in range(1 + self.number(3)) for line in self._member(depth)]
        self.inside.pop()
        return [*lines, f"class {name}({', '.join(bases)}):", *(f"    {line}" for line in body)]

    def _member(self, depth: int) -> Lines:
        if not self._is_wild():
            return self._tame_member()
        kind = self.number(12)
        if kind == 6:
            return [self.fill("<m> = <e>")]
        if kind == 7:
            return [self.fill("<m>: <a>")]
        if kind == 8:
            return [self.fill("<m>: <a> = <e>")]
        if kind == 9:
            return self.statement(depth)
        return self._define(self.pick((*MEMBERS[:3], "__init__") if kind < 4 else SPECIAL), "method", depth - 1)

    def _tame_member(self) -> Lines:
        kind = self.number(5)
        if kind == 0:
            return self.fill("def __init__(self, p=None):\n    self.a = p\n    <c>(<n>)").split("\n")
        if kind == 1:
            return [self.fill("a = <C>()")]
        return self._define(self.pick(("f", "g", "f")), "method", 0)

    # -------------------------------------------------------------------------------------------------- files

    def _bind(self, name: str, others: Sequence[str]) -> Lines:
        """A module's own idea of a name: imported, or defined."""
        if others and self.chance(3):
            module = self.pick(others)
            return [self.pick((f"from {module} import {name}", f"from {module} import *", f"import {module} as {name}",
                               self.fill(f"from {module} import <n> as {name}")))]  # fmt: skip
        if name in FUNCTIONS:
            return self._define(name, "function", self.number(2))
        return self._class(self.number(2), name) if name in CLASSES else [self.fill(f"{name} = {self.pick(BOUND)}")]

    def _shuffled(self, items: Sequence[str]) -> list[str]:
        left = list(items)
        return [left.pop(self.number(len(left))) for _ in items]

    def file(self, statements: int = 6, others: Sequence[str] = ()) -> str:
        """The text of one module: each name is bound, then some more happens. `others`: modules it may import."""
        names = self._shuffled(NAMES) if self._is_wild() and self.chance(2) else [*CLASSES, *FUNCTIONS, *VARIABLES]
        lines = [line for name in names for line in self._bind(name, others)]
        for _ in range(1 + self.number(statements)):
            lines += self.statement(2)
        return finish("\n".join(lines))

    def files(self, most: int = 4, statements: int = 6) -> dict[str, str]:
        """The texts of a program by path."""
        self.wild = self.pick((0, 1, 0, 2, 4))
        paths = tuple(MODULES)[: 1 + self.number(most)]
        return {path: self.file(statements, [MODULES[p] for p in paths if p != path]) for path in paths}


def finish(body: str) -> str:
    """A module's text, with imports of the library's names it uses and has not."""
    if re.search(r"\bT\b", body) and "T = TypeVar" not in body:
        body = f"T = TypeVar('T')\n{body}"
    needed = [line for name, line in LIBRARY.items() if re.search(rf"\b{name}\b", body) and line not in body]
    return "\n".join([*needed, body.rstrip("\n")]) + "\n"


_PLAIN: dict[str, Sequence[str]] = {
    "m": MEMBERS,
    "k": KEYS,
    "a": ANNOTATIONS,
    "C": CLASSES,
    "F": FUNCTIONS,
    "M": tuple(MODULES.values()),
    "w": ("'f'", "'a'", "f'{x}'", "f'f{x}'", "x", "f'{x}{y}'", "'x'"),
    "i": ("", "p", "p, q=None", "*p", "f", "**q"),
}
_COMPOUND = (
    Grammar._function, Grammar._class, Grammar._if, Grammar._loop, Grammar._function, Grammar._class, Grammar._try,
    Grammar._with, Grammar._match, Grammar._function,
)  # fmt: skip
