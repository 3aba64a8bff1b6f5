"""Values: what an expression can be at run time, as inference sees it. A closed union.

`User()` is `Instance("app:User", EXACT, (), None)`; a parameter annotated `User` is the same with DECLARED, whose
member lookup also admits overrides in subclasses. Values are made only by an `Interner`, one per analysis: equal
values are one object, so sets of them compare by identity. No order may depend on that identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Union

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
