"""What `reveal_type(x)` in the analysed code would print: the values inference has for its argument, as text.

In: the resolution pass's record. Out: one `Revealed` a call. After `user = User()`, `reveal_type(user)` is `User`; of
a parameter annotated so it is `User+`: that class or a subclass. The whole notation is in `describe_values`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from contextc.analyzer.inference.annotations import TUPLE
from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.generics import own_arguments, tuple_items
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.recorder import Recorder
from contextc.model.value import (
    MAX_DEPTH,
    BoundMethod,
    CallableType,
    ClassObject,
    Context,
    External,
    FunctionValue,
    Given,
    Grip,
    Instance,
    Intrinsic,
    Key,
    Literal,
    ModuleValue,
    Open,
    Partial,
    Possible,
    PropertyObject,
    SpecialForm,
    SuperObject,
    Text,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
)

Arguments = tuple[ValueSet | None, ...]  # None is the `...` of `tuple[int, ...]`
ArgumentReader = Callable[[Instance], Arguments]
_NONE = "~types:NoneType"


class Revealed(NamedTuple):
    """One `reveal_type(…)` of the repository."""

    path: str
    line: int
    col: int
    text: str


def iter_revealed(solver: Solver, recorder: Recorder) -> Iterator[Revealed]:
    """Everything revealed, in no particular order."""
    for (unit, at), values in recorder.revealed.items():
        definition = solver.kernel.definition(unit)
        frame = Frame(solver.kernel, definition, recorder)
        start = definition.module.position(definition.span(at).start)
        text = describe_values(values, lambda value, frame=frame: _arguments(frame, value))  # type: ignore[misc]
        yield Revealed(definition.module.path, start.line, start.col, text)


def _arguments(frame: Frame, value: Instance) -> Arguments:
    items = tuple_items(frame, value)
    if items is not None:
        return tuple(items)
    own = own_arguments(frame, value)
    return (*own, None) if value.cls == TUPLE and own else own


def _declared_arguments(value: Instance) -> Arguments:
    return value.args


def describe_values(values: ValueSet, arguments: ArgumentReader = _declared_arguments) -> str:
    """The values as text, sorted, joined by ` | `. `arguments` gives an instance's type arguments.

    `User` an instance made by a constructor; `User+` declared, so a subclass too; `Self@User` the receiver of the
    method; `type[User]` the class; `def f` a function, `def wrapper of f` the closure that stands for a decorated `f`;
    `bound User.save` a method with its receiver, `bound Base.save on User` where that is of another class; literals,
    `None`, `list[User]` as Python writes them; `possible X` what dynamic code can mean; `?[reason]` an open set,
    `Never` an empty one. Names stand without their module, unless two of the set would read alike.
    """
    short = _Describer(arguments, qualified=False)
    text = short.union(values, 0)
    return text if short.is_unambiguous() else _Describer(arguments, qualified=True).union(values, 0)


class _Describer:
    """Writes values, and notes which symbols it has named how."""

    def __init__(self, arguments: ArgumentReader, *, qualified: bool) -> None:
        self._read_arguments = arguments
        self._qualified = qualified
        self._named: dict[str, set[str]] = {}

    def is_unambiguous(self) -> bool:
        """Whether no two symbols were written alike."""
        return all(len(symbols) == 1 for symbols in self._named.values())

    def union(self, values: Iterable[Value], depth: int) -> str:
        """A set, sorted; `depth` counts the brackets around it."""
        return " | ".join(sorted({WRITERS[type(v)](self, v, depth) for v in values})) or "Never"

    def name(self, symbol: str) -> str:
        """A symbol as it is written here."""
        local = symbol.partition(":")[2]
        self._named.setdefault(local, set()).add(symbol)
        return symbol.removeprefix("~") if self._qualified else local

    def _grip(self, symbol: str, grip: Grip) -> str:
        name = self.name(symbol)
        return {Grip.EXACT: name, Grip.DECLARED: f"{name}+", Grip.GUESSED: f"{name}~", Grip.SELF: f"Self@{name}"}[grip]

    def instance(self, value: Instance, depth: int) -> str:
        """`User`, `User+`, `list[User]`, `None`."""
        if value.cls == _NONE:
            return "None"
        name = self._grip(value.cls, value.grip)
        given = self._read_arguments(value) if depth < MAX_DEPTH else ()
        if not any(given):
            return name
        parts = ["..." if part is None else self.union(part, depth + 1) for part in given]
        return f"{name}[{', '.join(parts)}]"

    def class_object(self, value: ClassObject, _: int) -> str:
        """`type[User]`."""
        return f"type[{self._grip(value.cls, value.grip)}]"

    def function(self, value: FunctionValue, depth: int) -> str:
        """`def f`, `def wrapper of f`."""
        flavor = f"{value.flavor} " if value.flavor else ""
        inner = f" of {self.name(value.inner.symbol)}" if value.inner is not None else ""
        return f"{flavor}def {self.name(value.symbol)}{inner}"

    def bound(self, value: BoundMethod, depth: int) -> str:
        """`bound User.save`, `bound Base.save on User`."""
        name = self.name(value.function.symbol)
        receiver = value.receiver
        owner = value.function.symbol.rpartition(".")[0]
        if isinstance(receiver, (Instance, ClassObject)) and receiver.cls == owner:
            return f"bound {name}"
        return f"bound {name} on {self.union((receiver,), depth + 1)}"

    def partial(self, value: Partial, depth: int) -> str:
        """`partial(def f, 1, key=2)`."""
        given = [self.union(part, depth + 1) for part in value.args]
        given += [f"{name}={self.union(part, depth + 1)}" for name, part in value.keywords]
        return f"partial({', '.join([self.union((value.function,), depth), *given])})"

    def callable_type(self, value: CallableType, depth: int) -> str:
        """`Callable[[int], str]`."""
        params = "..."
        if value.params is not None:
            params = f"[{', '.join(self.union(part, depth + 1) for part in value.params)}]"
        return f"Callable[{params}, {self.union(value.returns, depth + 1)}]"

    def property(self, value: PropertyObject, _: int) -> str:
        """`property User.name`."""
        parts = [self.name(f.symbol) for f in (value.getter, value.setter, value.deleter) if f is not None]
        return f"property {parts[0]}" if parts else "property"


def _write_literal(value: Literal) -> str:
    if value.type == "bool":
        return str(bool(value.value))
    if isinstance(value.value, int):
        return str(value.value)
    return ("b" if value.type == "bytes" else "") + json.dumps(value.value, ensure_ascii=False)


def _write_text(value: Text) -> str:
    return "f" + json.dumps("".join("{}" if part is None else part for part in value.parts), ensure_ascii=False)


WRITERS: dict[type[Any], Callable[[_Describer, Any, int], str]] = {
    Instance: _Describer.instance,
    ClassObject: _Describer.class_object,
    FunctionValue: _Describer.function,
    BoundMethod: _Describer.bound,
    Partial: _Describer.partial,
    CallableType: _Describer.callable_type,
    PropertyObject: _Describer.property,
    SuperObject: lambda to, value, depth: f"super({to.name(value.cls)}, {to.union((value.receiver,), depth + 1)})",
    ModuleValue: lambda to, value, depth: f"module {value.module.removeprefix('~')}",
    Literal: lambda to, value, depth: _write_literal(value),
    Key: lambda to, value, depth: f"key {value.value!r}",
    Text: lambda to, value, depth: _write_text(value),
    Wrapper: lambda to, value, depth: f"{value.kind} {to.union((value.function,), depth)}",
    TypeVariable: lambda to, value, depth: f"variable {value.key.rpartition(':')[2].removeprefix('<module>.')}",
    SpecialForm: lambda to, value, depth: f"typing.{value.name}",
    External: lambda to, value, depth: f"external {value.name}",
    Possible: lambda to, value, depth: f"possible {to.union((value.value,), depth)}",
    Intrinsic: lambda to, value, depth: f"intrinsic {value.name}",
    Given: lambda to, value, depth: f"given {value.parameter}",
    Context: lambda to, value, depth: f"specialisation of {to.name(value.symbol)}",
    Open: lambda to, value, depth: f"?[{value.reason.value}]",
}
