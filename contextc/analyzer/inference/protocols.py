"""What library code calls on the objects it is handed, by what its parameters are declared to take.

In: the declared parameters of a library function and what they got. Out: outcomes at the call's node. A protocol (PEP
544) names what its taker calls: `sorted(items)`, declared to take an iterable of what supports `<`, runs
`Item.__lt__`; `closing(pool)` runs `Pool.close`. A library's class names what may be called of it: an object of a
repository's class below `logging.Handler` may have its `emit` run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contextc.analyzer.inference.annotations import substitute
from contextc.analyzer.inference.attributes import implicit_outcome, read_attribute
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.callbacks import IMMEDIATE, overridden
from contextc.analyzer.inference.calls import CallContext, call_value
from contextc.analyzer.inference.conversions import contents, make_likely
from contextc.analyzer.inference.generics import GENERATOR_SITE
from contextc.analyzer.inference.implicit_calls import call_method, has_own_method, iterate, note_other, note_resumed
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.overloads import Bound
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Target
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    NOTHING,
    CallableType,
    ClassObject,
    Instance,
    Possible,
    SpecialForm,
    TypeVariable,
    Value,
    ValueSet,
)

_ITERABLE, _ITERATOR = "~typing:Iterable", "~typing:Iterator"
_VAGUE = frozenset({"~typing:Collection", "~typing:Hashable", "~typing:Container", "~typing:Awaitable"})
_ALTERNATIVES = ("__complex__", "__int__", "__float__", "__bytes__", "__index__", "__trunc__", "__lt__", "__gt__")
_GREATER_FIRST = frozenset({"max", "nlargest"})
_MAX_METHODS = 3  # of a protocol; one with more is an interface, of which nobody calls everything
_COUNTED = frozenset({"list", "tuple", "sorted", "join", "extend", "bytes", "bytearray"})  # ask for a length first
_LATER = frozenset({"__exit__", "__aexit__"})


def run_protocols(
    frame: Frame, definition: Definition, bound: Bound, solution: dict[str, ValueSet], context: CallContext
) -> None:
    """Runs what the protocols name that the parameters are declared to be, and those that their type variables are
    bound by. While solving, only what hands something on."""
    if context.at < 0 or len(frame.running) > 1:  # what runs inside of another call is not looked into
        return
    taken = _Taker(frame, definition, solution, context)
    for parameter, declared, given in bound:
        operation = f"argument {parameter.name}"
        local = [v for v in given if _is_local(frame, v)]
        if local:
            _note_plain(frame, given, context.at)
            taken.run(declared, local, operation)
            taken.note_classes(declared, local)
        if frame.recorder is not None and not taken.is_lazy:
            _resume(frame, declared, given, context.at)
        for variable in _iter_variables(declared):
            values = solution.get(variable.key, NOTHING) if variable.bound else NOTHING
            inside = [v for v in values if _is_local(frame, v)]
            inside.extend(v for value in values for v in contents(frame, value) if _is_local(frame, v))
            if inside:
                taken.run(variable.bound, inside, f"{operation} inside", is_sure=False)


def run_own_protocols(
    frame: Frame, definition: Definition, receiver: Value | None, solution: dict[str, ValueSet], context: CallContext
) -> None:
    """The same for a receiver whose parameter is declared: `list.sort` takes a list of what supports `<`."""
    parameters = definition.facts.parameters
    if not isinstance(receiver, Instance) or not parameters or parameters[0].annotation is None:
        return
    from contextc.analyzer.inference.generics import solve

    scope = definition.parent or definition
    declared = frame.kernel.annotations.read(parameters[0].annotation, scope, definition)
    own: dict[str, ValueSet] = {}
    solve(frame, declared, frozenset({receiver}), own)
    run_protocols(frame, definition, [(parameters[0], declared, NOTHING)], {**solution, **own}, context)


def _is_local(frame: Frame, value: Value) -> bool:
    if isinstance(value, Possible):
        return False
    return isinstance(value, (Instance, ClassObject)) and frame.kernel.classes.in_repository(value.cls)


def _iter_variables(values: ValueSet, limit: int = 3) -> Iterator[TypeVariable]:
    """The type variables in a declared type, those of callables aside."""
    for value in values:
        if isinstance(value, TypeVariable):
            yield value
        elif isinstance(value, Instance) and limit:
            for argument in value.args:
                yield from _iter_variables(argument, limit - 1)


def _note_plain(frame: Frame, given: ValueSet, at: int) -> None:
    """Beside a value that runs no code of the repository, no code that another one runs is certain."""
    if frame.recorder is not None and any(v not in frame.kernel.none and not _is_local(frame, v) for v in given):
        frame.recorder.plain.add((frame.unit.id, at))


def _resume(frame: Frame, declared: ValueSet, given: ValueSet, at: int) -> None:
    """A generator handed to what iterates over it runs there."""
    if not any(isinstance(v, Instance) and v.cls in (_ITERABLE, _ITERATOR) for v in declared):
        return
    generators = [v for v in given if isinstance(v, Instance) and (v.site or "").startswith(GENERATOR_SITE)]
    for value in generators:
        note_resumed(frame, value, at)
    if generators and len(given) > len(generators):
        _note_plain(frame, given.difference(generators), at)


class _Taker:
    """A library function while its arguments are looked at."""

    def __init__(
        self, frame: Frame, definition: Definition, solution: dict[str, ValueSet], context: CallContext
    ) -> None:
        self._frame = frame
        self._definition = definition
        self._solution = solution
        self._at = context.at
        self._outcome = context.outcome
        owner = definition.enclosing_class()
        made = owner is not None and definition.name in ("__new__", "__init__")
        self._name = owner.name if made and owner is not None else definition.name
        self.is_lazy = owner is not None and frame.kernel.classes.owner(owner.id, "__next__") is not None

    def run(self, declared: ValueSet, values: list[Value], operation: str, *, is_sure: bool = True) -> None:
        """Calls what the protocols among `declared` name on those of `values` that have it."""
        names = self._methods(declared)
        if not names:
            return
        for value in values:
            chosen = self._choose(names, value)
            if not chosen:
                note_other(self._frame, value, self._at, operation)
            for name in chosen:
                self._call(value, name, names[name], values, operation, is_sure)

    def _methods(self, declared: ValueSet) -> dict[str, tuple[Instance, Definition]]:
        """The methods that protocols name, each with the protocol as declared."""
        classes = self._frame.kernel.classes
        found: dict[str, tuple[Instance, Definition]] = {}
        parts = [v for v in declared if isinstance(v, Instance) and classes.is_known(v.cls)]
        for part in sorted(parts, key=lambda v: v.cls):
            if part.cls in _VAGUE or not classes.info(part.cls).is_protocol:
                continue
            for cls in filter(classes.is_known, classes.mro(part.cls)):
                own = [c for c in classes.info(cls).definition.children if c.is_function]
                if len(own) <= _MAX_METHODS and classes.info(cls).is_protocol:
                    for child in own:
                        found.setdefault(child.name, (part, child))
                if own and cls == part.cls:
                    break
        return found

    def _choose(self, names: Iterable[str], value: Value) -> list[str]:
        """Those that run: of alternatives the first that the value has."""
        own = sorted(n for n in names if self._has(value, n))
        order = [n for n in _ALTERNATIVES if n in own]
        if self._name in _GREATER_FIRST and "__gt__" in own:
            order = ["__gt__"]
        return [n for n in own if n not in _ALTERNATIVES] + order[:1]

    def _has(self, value: Value, name: str) -> bool:
        classes = self._frame.kernel.classes
        if name.startswith("__"):
            return has_own_method(self._frame, value, name)
        if not isinstance(value, Instance) or not classes.is_known(value.cls):
            return False
        owner = classes.owner(value.cls, name)
        return owner is not None and classes.in_repository(owner)

    def _call(
        self,
        value: Value,
        name: str,
        named: tuple[Instance, Definition],
        values: list[Value],
        operation: str,
        is_sure: bool,
    ) -> None:
        frame = self._frame
        operation = f"{operation} {name}"
        if name == "__iter__":
            iterate(frame, frozenset({value}), self._at)
            if self.is_lazy:
                make_likely(frame, self._at, "__next__")
            if self._name in _COUNTED and frame.recorder is not None:
                hint = next((n for n in ("__len__", "__length_hint__") if self._has(value, n)), None)
                if hint is not None:
                    call_method(frame, value, hint, (), self._at, Rule.CONVERSION, "length hint")
            return
        part, member = named
        arguments = self._arguments(part, member, values)
        if not arguments and frame.recorder is None:
            return
        if name.startswith("__"):
            call_method(frame, value, name, arguments, self._at, Rule.CONVERSION, operation)
        else:
            outcome = implicit_outcome(frame, self._at, operation)
            handed = Arguments(tuple(("", a) for a in arguments), ())
            for method in read_attribute(frame, value, name, -1):
                how = (EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK)
                call_value(frame, method, handed, self._at, outcome, how)
            is_sure = False
        if not is_sure or name in _LATER:
            make_likely(frame, self._at, operation)

    def _arguments(self, part: Instance, member: Definition, values: list[Value]) -> tuple[ValueSet, ...]:
        """What the protocol's method is declared to get; where that may be anything, the other objects."""
        annotations = self._frame.kernel.annotations
        owner = member.enclosing_class()
        assert owner is not None
        mapping = {}
        if owner.id == part.cls:
            mapping = dict(zip(annotations.type_parameters(part.cls), part.args, strict=False))
        found = []
        for parameter in member.facts.parameters[1:]:
            if parameter.kind not in ("positional", "normal"):
                continue
            declared = NOTHING
            if parameter.annotation is not None:
                declared = annotations.read(parameter.annotation, owner, member)
            for known in (mapping, self._solution):
                declared = substitute(annotations, declared, known, keep=True)
            told = frozenset(v for v in declared if not isinstance(v, (TypeVariable, SpecialForm, CallableType)))
            found.append(told or frozenset[Value](values))
        return tuple(found)

    def note_classes(self, declared: ValueSet, values: list[Value]) -> None:
        """What a class of the repository overrides of the library class that it is taken as: possible."""
        if self._outcome is None:
            return
        classes = self._frame.kernel.classes
        kind = EdgeKind.CALLBACK if self._definition.module.name in IMMEDIATE else EdgeKind.REGISTRATION
        for part in declared:
            if not isinstance(part, (Instance, ClassObject)) or not classes.is_known(part.cls):
                continue
            if part.cls.startswith("~builtins:") or classes.info(part.cls).is_protocol:
                continue
            for value in values:
                if not isinstance(value, type(part)) or not isinstance(value, (Instance, ClassObject)):
                    continue
                if part.cls in classes.mro(value.cls):
                    for symbol in overridden(self._frame, value.cls, part.cls):
                        target = Target(symbol, kind, Rule.LIBRARY_CALLBACK, symbol, True)
                        into = self._outcome.targets if kind is EdgeKind.CALLBACK else self._outcome.registered
                        into.add(target)
