"""What an evaluation asked the tables of stratum 1, and whether an edit gives another answer.

In: the rooms a kernel asks (program, statics, classes, annotations). Out: stand-ins that note, for the unit being
evaluated, each question and its answer, absence included: "no such module", "the subclasses of C". After an edit
`find_changed` asks everything again in the new program; who got another answer is evaluated anew.

Answers are compared by what an evaluation can see of them: a definition by its id and header, never by its body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from contextc.analyzer.inference.bindings import Table
from contextc.analyzer.inference.classes import ClassInfo
from contextc.analyzer.inference.kernel import Kernel, only_refuses
from contextc.analyzer.inference.program import Definition, ModuleInfo, Program
from contextc.analyzer.inference.statics import Assigned
from contextc.model.facts import SymbolKind

ROOMS = ("program", "statics", "classes", "annotations")
_LOOKUPS = ("stored_attributes", "foreign_stores")


class Reference(NamedTuple):
    """An argument that names something of a program: kind is definition, module or assigned."""

    kind: str
    id: str
    rest: tuple[object, ...]


Question = tuple[str, str, tuple[object, ...]]


class Tracer:
    """Questions by unit. `unit` is the one being evaluated; below zero nothing is noted."""

    def __init__(self) -> None:
        self.unit = -1
        self._answers: dict[Question, object] = {}
        self._askers: dict[Question, set[int]] = {}
        self._asked: dict[int, set[Question]] = {}

    def note(self, room: str, method: str, args: tuple[object, ...], answer: object) -> None:
        """Keeps a question of the current unit, and what it was told."""
        question = (room, method, tuple(_refer(a) for a in args))
        if question not in self._answers:
            self._answers[question] = describe(answer, args)
            self._askers[question] = set()
        self._askers[question].add(self.unit)
        self._asked.setdefault(self.unit, set()).add(question)

    def forget(self, units: Iterable[int]) -> None:
        """These units are evaluated afresh, or are gone: what they asked no longer counts."""
        for unit in units:
            for question in self._asked.pop(unit, ()):
                askers = self._askers[question]
                askers.discard(unit)
                if not askers:
                    del self._askers[question], self._answers[question]

    def find_changed(self, kernel: Kernel) -> set[int]:
        """The units that would be told something else by an untraced kernel of the new program."""
        changed: set[int] = set()
        for question, old in self._answers.items():
            if _ask_again(kernel, question) != old:
                changed |= self._askers[question]
        return changed


class Traced:
    """Stands in for a room: the same answers, each noted."""

    def __init__(self, tracer: Tracer, name: str, room: object) -> None:
        self._tracer = tracer
        self._name = name
        self._room = room

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._room, attribute)
        if attribute in _LOOKUPS:
            return _TracedLookup(self._tracer, attribute, found)
        if not callable(found):
            return found
        tracer, name = self._tracer, self._name

        def ask(*args: object, **options: object) -> object:
            answer = found(*args, **options)
            if tracer.unit >= 0:
                tracer.note(name, attribute, (*args, *sorted(options.items())), answer)
            return answer

        self.__dict__[attribute] = ask
        return ask


class _TracedLookup:
    """A table by class id or by attribute name."""

    def __init__(self, tracer: Tracer, name: str, table: Any) -> None:
        self._tracer = tracer
        self._name = name
        self._table = table

    def get(self, key: str, default: object) -> object:
        """The entry of a key."""
        found = self._table.get(key)
        if self._tracer.unit >= 0:
            self._tracer.note("lookup", self._name, (key,), found)
        return default if found is None else found

    def __contains__(self, key: str) -> bool:
        if self._tracer.unit >= 0:
            self._tracer.note("lookup", self._name, (key,), key in self._table)
        return key in self._table


class TracedKernel(Kernel):
    """A kernel that asks through stand-ins. Made from one that asks directly, whose tables it shares."""

    def __init__(self, plain: Kernel, tracer: Tracer) -> None:
        self.__dict__.update(plain.__dict__)
        self.tracer = tracer
        for name in ROOMS:
            setattr(self, name, Traced(tracer, name, getattr(plain, name)))

    def definition(self, symbol: str) -> Definition:
        """The definition of that id: its header is noted, its body is no answer."""
        found = super().definition(symbol)
        if self.tracer.unit >= 0:
            self.tracer.note("kernel", "definition", (symbol,), found)
        return found

    def gives_result(self, definition: Definition) -> bool:
        """Whether a function says what a call of it gives, noted."""
        found = super().gives_result(definition)
        if self.tracer.unit >= 0:
            self.tracer.note("kernel", "gives_result", (definition,), found)
        return found

    def interesting_parameters(self, definition: Definition) -> tuple[str, ...]:
        """The parameters that a function's result hangs on, noted."""
        found = super().interesting_parameters(definition)
        if self.tracer.unit >= 0:
            self.tracer.note("kernel", "interesting_parameters", (definition,), found)
        return found

    def method_kind(self, definition: Definition) -> str:
        """How a function in a class body binds, which that body tells, noted."""
        found = super().method_kind(definition)
        if self.tracer.unit >= 0 and definition.kind is SymbolKind.METHOD:
            self.tracer.note("kernel", "method_kind", (definition,), found)
        return found

    def declines(self, definition: Definition) -> tuple[bool, bool]:
        """Whether an operator's method may leave it to the other side, noted."""
        found = super().declines(definition)
        if self.tracer.unit >= 0:
            self.tracer.note("kernel", "declines", (definition,), found)
        return found

    def guarded_parameters(self, definition: Definition) -> frozenset[str]:
        """The parameters that a test for None guards, noted."""
        found = super().guarded_parameters(definition)
        if self.tracer.unit >= 0:
            self.tracer.note("kernel", "guarded_parameters", (definition,), found)
        return found


# ------------------------------------------------------------------------------------------------------ asking again


def _ask_again(kernel: Kernel, question: Question) -> object:
    room, method, references = question
    try:
        args = tuple(_resolve(kernel.program, r) for r in references)
        if room == "lookup":
            table = getattr(kernel.classes, method)
            return table.get(args[0]) if isinstance(table, dict) else args[0] in table
        options = {a[0]: a[1] for a in args if isinstance(a, tuple) and len(a) == 2 and a[0] in ("patched", "keep")}
        plain = tuple(a for a in args if not (isinstance(a, tuple) and len(a) == 2 and a[0] in options))
        ask: Callable[..., object] = getattr(kernel if room == "kernel" else getattr(kernel, room), method)
        return describe(ask(*plain, **options), plain)
    except KeyError:  # what the question was about is gone
        return KeyError


def _refer(value: object) -> object:
    if isinstance(value, Definition):
        return Reference("definition", value.id, ())
    if isinstance(value, ModuleInfo):
        return Reference("module", value.module_id, (value.name,))
    if isinstance(value, Assigned):
        return Reference("assigned", value.scope.id, (value.name, value.binding))
    return value


def _resolve(program: Program, value: object) -> object:
    if not isinstance(value, Reference):
        return value
    if value.kind == "definition":
        return program.definition(value.id)
    if value.kind == "module":
        return program.module(value.id, str(value.rest[0]))
    name, binding = value.rest
    return Assigned(program.definition(value.id), name, binding)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------ comparing


def describe(answer: object, args: tuple[object, ...] = ()) -> object:
    """An answer as a plain value that equals another one where no evaluation could tell them apart."""
    if isinstance(answer, Definition):
        return describe_header(answer)
    if isinstance(answer, ModuleInfo):
        return _describe_module(answer)
    if isinstance(answer, Table):
        scope = next((_describe_module(a.module) for a in args if isinstance(a, Definition)), None)
        names = tuple((name, tuple(describe(b) for b in found)) for name, found in answer.names.items())
        return ("table", scope, names, answer.stars, answer.public)
    if isinstance(answer, ClassInfo):
        return (
            answer.id, tuple(answer.bases), tuple(answer.special_bases), answer.metaclass, answer.is_protocol,
            tuple(answer.keywords.items()), answer.mro,
        )  # fmt: skip
    if isinstance(answer, (list, tuple)) and not type(answer).__module__.endswith("model.ir"):
        return (type(answer).__name__, *(describe(part) for part in answer))
    return answer


def _describe_module(module: ModuleInfo) -> object:
    return (module.module_id, module.name, module.is_package, module.origin, module.facts.partial)


def describe_header(definition: Definition) -> object:
    """All that code elsewhere can see of a definition."""
    facts = definition.facts
    return (
        definition.id, definition.kind, definition.name, definition.parent.id if definition.parent else None,
        facts.parameters, facts.returns, facts.decorators, facts.bases, facts.type_parameters, facts.is_async,
        facts.is_generator, tuple((c.id, c.kind) for c in definition.children), only_refuses(facts.body),
        _describe_module(definition.module),
    )  # fmt: skip


def describe_unit(definition: Definition) -> object:
    """All that the evaluation of a body sees without asking: the body, what is defined in it, the scopes around it."""
    facts = definition.facts
    scopes = []
    at = definition.parent
    while at is not None:
        scopes.append((at.id, at.kind, at.facts.bindings, at.facts.globals, at.facts.parameters))
        at = at.parent
    own = (facts.body, facts.bindings, facts.globals, facts.nonlocals)
    return (describe_header(definition), own, tuple(describe_header(c) for c in definition.children), tuple(scopes))
