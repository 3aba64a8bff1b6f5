"""Values: what an expression can be at run time, as inference sees it. A closed union.

`User()` is `Instance("app:User", EXACT, (), None)`; a parameter annotated `User` is the same with DECLARED, whose
member lookup also admits overrides in subclasses. Values are made only by an `Interner`, one per analysis: equal
values are one object, so sets of them compare by identity. No order may depend on that identity.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Union

from contextc.model.edge import Reason


class Grip(Enum):
    """How firmly the class of an instance is known."""

    EXACT = "exact"  # made by a constructor call
    DECLARED = "declared"  # by an annotation: this class or a subclass
    GUESSED = "guessed"  # by what is used on it: this class or a subclass; always beside an Open
    SELF = "self"  # the receiver of the method being evaluated, replaced by the caller's receiver in results


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """An object of a class. `args` are its type arguments where declared; `site` is where a container was made:
    then element values live in cells keyed by the site; or where a module or class body made an object of its own."""

    cls: str
    grip: Grip
    args: tuple[ValueSet, ...]
    site: str | None
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class ClassObject:
    """A class itself. DECLARED comes from `type[C]`, SELF is `cls` in a class method."""

    cls: str
    grip: Grip
    args: tuple[ValueSet, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionValue:
    """A function or lambda. `inner` is the function a decorator's closure stands for; `flavor` says how a standard
    decorator changed a call's result: "" or "contextmanager"; `env` is the specialisation of the function around it in
    which it was made, None for the merged one."""

    symbol: str
    inner: FunctionValue | None
    flavor: str
    env: Context | None


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """A specialisation of a function: single values for some of its parameters, and of the function around it."""

    symbol: str
    bindings: tuple[tuple[str, Value], ...]
    env: Context | None
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class BoundMethod:
    receiver: Value
    function: FunctionValue


@dataclass(frozen=True, slots=True, eq=False)
class SuperObject:
    """`super()`: lookup starts after `cls` in the MRO of the receiver."""

    cls: str
    receiver: Value


@dataclass(frozen=True, slots=True, eq=False)
class ModuleValue:
    module: str  # module_id


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A string, integer or boolean: dispatch keys. `type` is str, int, bool or bytes."""

    type: str
    value: str | int


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string of which parts are known: literal parts and holes (None), `f"handle_{kind}"` is ("handle_", None)."""

    parts: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PropertyObject:
    getter: FunctionValue | None
    setter: FunctionValue | None
    deleter: FunctionValue | None
    cached: bool


@dataclass(frozen=True, slots=True, eq=False)
class Wrapper:
    """A static or class method object, before it is looked up on a class. `kind`: staticmethod, classmethod."""

    kind: str
    function: Value


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """functools.partial: argument values already bound."""

    function: Value
    args: tuple[ValueSet, ...]
    keywords: tuple[tuple[str, ValueSet], ...]


@dataclass(frozen=True, slots=True, eq=False)
class CallableType:
    """A declared callable: parameter values (None: any) and result."""

    params: tuple[ValueSet, ...] | None
    returns: ValueSet
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class TypeVariable:
    """A type variable that is not solved yet. `key` is unique; `kind`: typevar, paramspec, typevartuple."""

    key: str
    bound: ValueSet
    kind: str


@dataclass(frozen=True, slots=True, eq=False)
class SpecialForm:
    """A name of `typing` that is no class: Any, Union, Optional …"""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class External:
    """Something of a library for which there is neither source nor stub, by qualified name. A call appends `()`."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Possible:
    """A value enumerated from dynamic code: it can be meant here, but nothing proves it."""

    value: Value
    rule: str


@dataclass(frozen=True, slots=True, eq=False)
class Intrinsic:
    """A bound operation that inference models itself, such as `property.setter`. `owner` is its object."""

    name: str
    owner: Value | None


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What the caller passed for a parameter, unchanged: in a result it stands for that caller's own argument. `kept`:
    the values that a test let through, None for all."""

    symbol: str
    parameter: str
    kept: ValueSet | None


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A literal key, in the cell that lists those of a dict and nowhere else."""

    value: str | int


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """The set it stands in may be incomplete, for this reason."""

    reason: Reason


Value = Union[
    Instance, ClassObject, FunctionValue, BoundMethod, SuperObject, ModuleValue, Literal, Text, PropertyObject,
    Wrapper, Partial, CallableType, TypeVariable, SpecialForm, External, Possible, Intrinsic, Given, Context,
    Key, Open,
]  # fmt: skip
ValueSet = frozenset[Value]

NOTHING: ValueSet = frozenset()
PLACE = "place:"  # begins the site of an object that is told apart by where it was made
MAX_PLACES = 3  # objects of a class per cell that are told apart so; past it they become any object of the class
MAX_DEPTH = 3  # nesting of type arguments; deeper ones are dropped
MAX_LITERALS = 12  # of a kind per cell; past it they become a plain instance of their type
MAX_WIDTH = 8  # instances per cell; past it they become Open(widened)
MAX_EXTERNALS = 8  # external values per cell; the same
MAX_CALLABLES = 96  # functions and classes per cell; the same
MAX_METHODS = 24  # bound methods per cell; the same
MAX_KEYS = 64  # listed keys of a dict; the same
MAX_EXTERNAL = 8  # parts of an external name


class Interner:
    """Makes values; equal ones are the same object."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Any] = {}

    def _make(self, kind: type[Any], *fields: Any) -> Any:
        key = (kind, *fields)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = kind(*fields)
        return made

    def instance(
        self, cls: str, grip: Grip = Grip.EXACT, args: tuple[ValueSet, ...] = (), site: str | None = None
    ) -> Instance:
        """An instance; type arguments nested deeper than MAX_DEPTH are dropped."""
        depth = parts_depth(args) if args else 1
        if depth > MAX_DEPTH:
            args = tuple(self._cut_all(a, MAX_DEPTH - 1) for a in args)
            depth = parts_depth(args)
        return self._make(Instance, cls, grip, args, site, depth)  # type: ignore[no-any-return]

    def cut(self, value: Value, levels: int) -> Value:
        """The value without what is nested below so many levels. It goes by level alone, not by what else is there, so
        that of more values it never leaves less."""
        if type(value) not in (Instance, CallableType) or value.depth <= levels:  # type: ignore[union-attr]
            return value
        if levels <= 1:
            return self.flatten(value)
        if type(value) is Instance:
            args = tuple(self._cut_all(a, levels - 1) for a in value.args)
            return self.instance(value.cls, value.grip, args, value.site)
        assert type(value) is CallableType
        params = tuple(self._cut_all(p, levels - 1) for p in value.params) if value.params is not None else None
        return self.callable_type(params, self._cut_all(value.returns, levels - 1))

    def _cut_all(self, values: ValueSet, levels: int) -> ValueSet:
        return frozenset(self.cut(v, levels) for v in values) if set_depth(values) > levels else values

    def unplaced(self, value: Value) -> Value:
        """The value as any object of its class; a bound method as any object's."""
        if type(value) is BoundMethod and is_placed(value.receiver):
            return self.bound(self.unplaced(value.receiver), value.function)
        if type(value) is Instance and is_placed(value):
            return self.instance(value.cls, value.grip, value.args)
        return value

    def flatten(self, value: Value) -> Value:
        """The value without type arguments."""
        if type(value) is Instance and value.args:
            return self.instance(value.cls, value.grip, (), value.site)
        if type(value) is CallableType:
            return self.callable_type(None, NOTHING)
        return value

    def class_object(self, cls: str, grip: Grip = Grip.EXACT, args: tuple[ValueSet, ...] = ()) -> ClassObject:
        return self._make(ClassObject, cls, grip, args)  # type: ignore[no-any-return]

    def function(
        self, symbol: str, inner: FunctionValue | None = None, flavor: str = "", env: Context | None = None
    ) -> FunctionValue:
        """A function; a chain of decorator closures keeps its outermost and innermost function."""
        while inner is not None and inner.inner is not None:
            inner = inner.inner
        if inner is not None and inner.symbol == symbol:
            inner = None
        return self._make(FunctionValue, symbol, inner, flavor, env)  # type: ignore[no-any-return]

    def context(self, symbol: str, bindings: tuple[tuple[str, Value], ...], env: Context | None) -> Context:
        """A specialisation; values that were themselves made in one nested deeper than MAX_DEPTH lose theirs."""
        depth = 1 + max((env_depth(v) for _, v in bindings), default=0)
        if depth > MAX_DEPTH:
            bindings = tuple((name, self.merged(value)) for name, value in bindings)
            depth = 1
        return self._make(Context, symbol, bindings, env, max(depth, 1 + env.depth if env is not None else 0))  # type: ignore[no-any-return]

    def merged(self, value: Value) -> Value:
        """A callable as the merged evaluation of the function around it makes it."""
        if type(value) is FunctionValue and value.env is not None:
            return self.function(value.symbol, value.inner, value.flavor)
        if type(value) is BoundMethod:
            inner = value.function
            return self.bound(value.receiver, self.function(inner.symbol, inner.inner, inner.flavor))
        if type(value) is Partial:
            return self.partial(self.merged(value.function), value.args, value.keywords)
        return value

    def bound(self, receiver: Value, function: FunctionValue) -> BoundMethod:
        """A bound method; one that is bound to a bound method is bound to its function, so that nesting ends."""
        if type(receiver) is BoundMethod:
            receiver = receiver.function
        return self._make(BoundMethod, receiver, function)  # type: ignore[no-any-return]

    def super_object(self, cls: str, receiver: Value) -> SuperObject:
        return self._make(SuperObject, cls, receiver)  # type: ignore[no-any-return]

    def module(self, module: str) -> ModuleValue:
        return self._make(ModuleValue, module)  # type: ignore[no-any-return]

    def literal(self, kind: str, value: str | int) -> Literal:
        return self._make(Literal, kind, value)  # type: ignore[no-any-return]

    def text(self, parts: Iterable[str | None]) -> Value:
        """Joins neighbouring literal parts and holes; a text without holes is a Literal."""
        merged: list[str | None] = []
        for part in parts:
            if part == "":
                continue
            if merged and part is None and merged[-1] is None:
                continue
            if merged and part is not None and merged[-1] is not None:
                merged[-1] += part
            else:
                merged.append(part)
        if not merged:
            return self.literal("str", "")
        if len(merged) == 1 and merged[0] is not None:
            return self.literal("str", merged[0])
        if len(merged) > 8:
            merged = [merged[0], None, merged[-1]]
        return self._make(Text, tuple(merged))  # type: ignore[no-any-return]

    def property(
        self,
        getter: FunctionValue | None,
        setter: FunctionValue | None = None,
        deleter: FunctionValue | None = None,
        cached: bool = False,
    ) -> PropertyObject:
        return self._make(PropertyObject, getter, setter, deleter, cached)  # type: ignore[no-any-return]

    def wrapper(self, kind: str, function: Value) -> Wrapper:
        if type(function) is Wrapper:
            function = function.function
        return self._make(Wrapper, kind, function)  # type: ignore[no-any-return]

    def partial(
        self, function: Value, args: tuple[ValueSet, ...], keywords: tuple[tuple[str, ValueSet], ...]
    ) -> Value:
        """A partial; a partial of a partial keeps only the inner function's bound arguments, and a partial among the
        arguments loses its own, so that nesting ends."""
        if type(function) is Partial:
            return function
        args = tuple(frozenset(self._without_arguments(v) for v in values) for values in args)
        keywords = tuple((name, frozenset(self._without_arguments(v) for v in values)) for name, values in keywords)
        return self._make(Partial, function, args, keywords)  # type: ignore[no-any-return]

    def _without_arguments(self, value: Value) -> Value:
        return self.partial(value.function, (), ()) if type(value) is Partial else value

    def callable_type(self, params: tuple[ValueSet, ...] | None, returns: ValueSet) -> CallableType:
        """A declared callable; parts nested deeper than MAX_DEPTH lose their type arguments."""
        bare = params is None and not returns
        depth = 1 if bare else parts_depth((*(params or ()), returns))
        if depth > MAX_DEPTH:
            params = tuple(self._cut_all(p, MAX_DEPTH - 1) for p in params) if params is not None else None
            returns = self._cut_all(returns, MAX_DEPTH - 1)
            depth = parts_depth((*(params or ()), returns))
        return self._make(CallableType, params, returns, depth)  # type: ignore[no-any-return]

    def type_variable(self, key: str, bound: ValueSet = NOTHING, kind: str = "typevar") -> TypeVariable:
        return self._make(TypeVariable, key, bound, kind)  # type: ignore[no-any-return]

    def special(self, name: str) -> SpecialForm:
        return self._make(SpecialForm, name)  # type: ignore[no-any-return]

    def external(self, name: str) -> External:
        """An external value; a name of more than MAX_EXTERNAL parts is cut, so that loops end."""
        parts = name.split(".")
        if len(parts) > MAX_EXTERNAL:
            name = ".".join(parts[:MAX_EXTERNAL])
        return self._make(External, name)  # type: ignore[no-any-return]

    def external_names(self) -> list[str]:
        """The names of all external values made so far, sorted."""
        return sorted(key[1] for key in self._made if key[0] is External)

    def possible(self, value: Value, rule: str) -> Value:
        if type(value) in (Possible, Open):
            return value
        return self._make(Possible, value, rule)  # type: ignore[no-any-return]

    def intrinsic(self, name: str, owner: Value | None = None) -> Intrinsic:
        return self._make(Intrinsic, name, owner)  # type: ignore[no-any-return]

    def given(self, symbol: str, parameter: str, kept: ValueSet | None = None) -> Given:
        return self._make(Given, symbol, parameter, kept)  # type: ignore[no-any-return]

    def key(self, value: str | int) -> Key:
        return self._make(Key, value)  # type: ignore[no-any-return]

    def open(self, reason: Reason) -> Open:
        return self._make(Open, reason)  # type: ignore[no-any-return]


def is_placed(value: Value) -> bool:
    """Whether a value is an object that is told apart by where it was made."""
    return type(value) is Instance and value.site is not None and value.site.startswith(PLACE)


def parts_depth(parts: tuple[ValueSet, ...]) -> int:
    """The depth of a value with such type arguments; those of which nothing is known yet are a level as well."""
    return 1 + max([1, *map(set_depth, parts)])


def set_depth(values: ValueSet) -> int:
    """The deepest nesting of type arguments in a set."""
    return max((v.depth for v in values if type(v) in (Instance, CallableType)), default=0)  # type: ignore[union-attr]


def env_depth(value: Value) -> int:
    """How deep specialisations are nested in a callable."""
    while type(value) is Partial:
        value = value.function
    function = value.function if type(value) is BoundMethod else value
    return function.env.depth if type(function) is FunctionValue and function.env is not None else 0
