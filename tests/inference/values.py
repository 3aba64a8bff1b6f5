"""Random value sets, of every kind of value there is, and large enough to pass each cap.

In: a source of choices and an interner. Out: value sets. Most are small and share their values, so that joins meet;
some hold one more of a kind than a cell may.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from contextc.model.edge import Reason
from contextc.model.interner import Interner
from contextc.model.value import (
    MAX_CALLABLES,
    MAX_EXTERNAL,
    MAX_EXTERNALS,
    MAX_KEYS,
    MAX_LITERALS,
    MAX_METHODS,
    MAX_WIDTH,
    NOTHING,
    FunctionValue,
    Given,
    Grip,
    Instance,
    Partial,
    Value,
    ValueSet,
)
from tests.inference.grammar import Grammar

CLASSES = ("m:A", "m:B", "~builtins:list", "~builtins:str", "~builtins:int", "~builtins:dict", "~builtins:bool")
GRIPS = (Grip.EXACT, Grip.DECLARED, Grip.SELF)
DEPTH = 4  # one more than type arguments may nest
CAPS = (MAX_LITERALS, MAX_WIDTH, MAX_KEYS, MAX_EXTERNALS, MAX_CALLABLES, MAX_METHODS)
MANY = tuple(sorted({n for cap in CAPS for n in (cap // 2 + 1, cap, cap + 1)}))  # two halves pass a cap together


class ValueGrammar:
    """Makes values at random."""

    def __init__(self, choices: Grammar, make: Interner) -> None:
        self._choose = choices
        self._make = make
        self._kinds: tuple[Callable[[int], Value], ...] = (
            self._plain, self._literal, self._function, self._class, self._generic, self._method, self._text,
            self._open, self._partial, self._callable, self._property, self._wrapper, self._external, self._variable,
            self._module, self._super, self._possible, self._given, self._special, self._intrinsic, self._context,
        )  # fmt: skip

    def values(self, depth: int = DEPTH) -> ValueSet:
        """A few values, and at times a crowd of one kind."""
        found = {self.value(depth) for _ in range(self._choose.number(5 if depth == DEPTH else 3))}
        if depth >= DEPTH - 1 and self._choose.chance(5):
            found |= self._crowd()
        return frozenset(found)

    def value(self, depth: int = DEPTH) -> Value:
        """One value of any kind; those made of others only where there is depth left."""
        return self._choose.pick(self._kinds)(depth - 1)

    def _crowd(self) -> set[Value]:
        """Many of a kind, from one of a few starts: crowds overlap."""
        make, start = self._make, self._choose.number(3) * 20
        numbers = range(start, start + self._choose.pick(MANY))
        kinds: tuple[Callable[[int], Value], ...] = (
            lambda n: make.literal("int", n),
            lambda n: make.literal("str", str(n)),
            lambda n: make.text((str(n), None)),
            lambda n: make.instance(f"m:K{n}"),
            lambda n: make.function(f"m:f{n}"),
            lambda n: make.class_object(f"m:K{n}"),
            lambda n: make.instance("~builtins:list", Grip.EXACT, (), f"m@{n}"),
            lambda n: make.bound(make.instance(f"m:K{n}"), make.function("m:A.f")),
            lambda n: make.instance("~builtins:list", Grip.EXACT, (frozenset({make.literal("int", n)}),)),
            lambda n: make.instance("~builtins:list", Grip.EXACT, (frozenset({make.instance(f"m:K{n}")}),)),
            lambda n: make.external(f"a.b{n}"),
            lambda n: make.partial(make.function(f"m:f{n}"), (), ()),
            lambda n: make.module(f"m{n}"),
            lambda n: make.super_object("m:A", make.instance(f"m:K{n}")),
            lambda n: make.possible(make.function(f"m:f{n}"), "getattr-pattern"),
            lambda n: make.given("m:f", f"p{n}"),
            lambda n: make.type_variable(f"m:T{n}"),
            lambda n: make.callable_type(None, frozenset({make.instance(f"m:K{n}")})),
            lambda n: make.property(make.function(f"m:f{n}")),
            lambda n: make.wrapper("staticmethod", make.function(f"m:f{n}")),
            lambda n: make.special(f"S{n}"),
            lambda n: make.key(f"k{n}"),
            lambda n: make.instance("~builtins:tuple", Grip.EXACT, (), f"m:f@args#{n}" if n % 7 else "m:f@args"),
            lambda n: make.intrinsic("property.setter", make.function(f"m:f{n}")),
        )
        return {self._choose.pick(kinds)(n) for n in numbers[:1]} | set(map(self._choose.pick(kinds), numbers))

    # -------------------------------------------------------------------------------------------------- kinds

    def _arguments(self, depth: int, most: int) -> tuple[ValueSet, ...]:
        count = self._choose.number(most + 1) if depth > 0 else 0
        return tuple(self.values(depth) for _ in range(count))

    def _plain(self, depth: int) -> Value:
        return self._make.instance(
            self._choose.pick(CLASSES), self._choose.pick(GRIPS), (), self._choose.pick((None, "m@1", "m:f@2"))
        )

    def _generic(self, depth: int) -> Value:
        """Type arguments may differ in number between instances of one class."""
        arguments = self._arguments(depth, 2)
        return self._make.instance(
            self._choose.pick(CLASSES), self._choose.pick(GRIPS), arguments, self._choose.pick((None, "m@1"))
        )

    def _literal(self, depth: int) -> Value:
        kind = self._choose.pick(("int", "str", "bool", "bytes"))
        number = self._choose.number(4)
        return self._make.literal(kind, f"k{number}" if kind in ("str", "bytes") else number)

    def _text(self, depth: int) -> Value:
        parts = [self._choose.pick((None, "a", "b", "")) for _ in range(self._choose.number(11))]
        return self._make.text(parts)

    def _function_value(self, depth: int) -> FunctionValue:
        inner = self._function_value(depth - 1) if depth > 0 and self._choose.chance(3) else None
        return self._make.function(
            f"m:{self._choose.pick('fgh')}", inner, self._choose.pick(("", "contextmanager", "singledispatch"))
        )

    def _function(self, depth: int) -> Value:
        return self._function_value(depth)

    def _context(self, depth: int) -> Value:
        """A function made in a specialisation."""
        make = self._make
        bound = self.value(depth) if depth > 0 else make.literal("str", "a")
        return make.function("m:f.<locals>.g", None, "", make.context("m:f", (("x", bound),), None))

    def _class(self, depth: int) -> Value:
        return self._make.class_object(
            self._choose.pick(CLASSES), self._choose.pick(GRIPS), self._arguments(depth, 1)
        )

    def _method(self, depth: int) -> Value:
        receiver = self.value(depth) if depth > 0 else self._plain(0)
        return self._make.bound(receiver, self._function_value(0))

    def _super(self, depth: int) -> Value:
        return self._make.super_object("m:A", self._plain(0))

    def _module(self, depth: int) -> Value:
        return self._make.module(self._choose.pick(("m", "n")))

    def _property(self, depth: int) -> Value:
        setter = self._function_value(0) if self._choose.chance(2) else None
        return self._make.property(self._function_value(0), setter, None, self._choose.chance(2))

    def _wrapper(self, depth: int) -> Value:
        inner = self.value(depth) if depth > 0 else self._function_value(0)
        return self._make.wrapper(self._choose.pick(("staticmethod", "classmethod")), inner)

    def _partial(self, depth: int) -> Value:
        function = self.value(depth) if depth > 0 else self._function_value(0)
        keywords = (("k", self.values(depth)),) if depth > 0 and self._choose.chance(3) else ()
        return self._make.partial(function, self._arguments(depth, 2), keywords)

    def _callable(self, depth: int) -> Value:
        parameters = None if self._choose.chance(3) else self._arguments(depth, 2)
        return self._make.callable_type(parameters, self.values(depth) if depth > 0 else NOTHING)

    def _variable(self, depth: int) -> Value:
        bound = self.values(depth) if depth > 0 and self._choose.chance(3) else NOTHING
        return self._make.type_variable(self._choose.pick(("m:T", "m:P")), bound)

    def _special(self, depth: int) -> Value:
        return self._make.special(self._choose.pick(("Any", "Union", "Optional")))

    def _external(self, depth: int) -> Value:
        parts = ["a", *(self._choose.pick(("b", "c()")) for _ in range(self._choose.number(MAX_EXTERNAL + 3)))]
        return self._make.external(".".join(parts))

    def _possible(self, depth: int) -> Value:
        inner = self.value(depth) if depth > 0 else self._function_value(0)
        return self._make.possible(inner, self._choose.pick(("getattr-pattern", "registry")))

    def _intrinsic(self, depth: int) -> Value:
        owner = self.value(depth) if depth > 0 and self._choose.chance(2) else None
        return self._make.intrinsic(self._choose.pick(("identity", "property.setter")), owner)

    def _given(self, depth: int) -> Value:
        kept = self.values(depth) if depth > 0 and self._choose.chance(3) else None
        return self._make.given("m:f", self._choose.pick(("x", "y")), kept)

    def _open(self, depth: int) -> Value:
        return self._make.open(self._choose.pick((Reason.UNTYPED_RECEIVER, Reason.WIDENED, Reason.BUDGET)))


def make_poorer(make: Interner, value: Value, choose: random.Random) -> Value:
    """The value as it may have been at some time before: with less in its parts."""

    def some(values: ValueSet) -> ValueSet:
        kept = (v for v in sorted(values, key=show_key) if choose.random() < 0.6)
        return frozenset(make_poorer(make, v, choose) for v in kept)

    if isinstance(value, Instance) and value.args:
        return make.instance(value.cls, value.grip, tuple(map(some, value.args)), value.site)
    if isinstance(value, Given) and value.kept is not None:
        return make.given(value.symbol, value.parameter, some(value.kept))
    if isinstance(value, Partial):
        keywords = tuple((name, some(values)) for name, values in value.keywords)
        return make.partial(value.function, tuple(map(some, value.args)), keywords)
    return value


def show_values(values: ValueSet) -> str:
    """A set for people, sorted; of a large one the beginning."""
    shown = sorted(map(_show, values))
    more = f", … ({len(shown)} values)" if len(shown) > 12 else ""
    return "{" + ", ".join(shown[:12]) + more + "}"


def _show(item: object) -> str:
    if isinstance(item, frozenset):
        return show_values(item)
    if isinstance(item, tuple):
        return "(" + ", ".join(map(_show, item)) + ")"
    names = getattr(type(item), "__slots__", ())
    if not names or isinstance(item, str):
        return str(item)
    fields = [getattr(item, name) for name in names if name != "depth"]
    return f"{type(item).__name__}({', '.join(_show(f) for f in fields if f is not None and f != ())})"


def show_key(key: object) -> str:
    """A cell's key, or any value, for people and for sorting."""
    return " ".join(map(_show, key)) if isinstance(key, tuple) else _show(key)
