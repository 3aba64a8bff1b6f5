"""Calls: what runs when a value is called, what its parameters receive, what comes back.

In: a callee value and arguments. Out: the result's values; in the resolution pass the targets go to an `Outcome`.
`User("ada")` puts `"ada"` into the parameter cell of `User.__init__` and gives an exact `User`.
"""

from __future__ import annotations

from typing import NamedTuple

from contextc.analyzer.inference.annotations import substitute
from contextc.analyzer.inference.bare_containers import fit_containers, is_bare
from contextc.analyzer.inference.binding import Arguments, bind_arguments, is_whole, parameter_cell
from contextc.analyzer.inference.classes import OBJECT
from contextc.analyzer.inference.construction import (
    is_initialiser,
    let_through,
    note_call,
)
from contextc.analyzer.inference.fitness import takes
from contextc.analyzer.inference.generics import (
    GENERATOR_SITE,
    element_values,
    fill_declared,
    move_items,
    receiver_types,
    solve,
)
from contextc.analyzer.inference.kernel import Frame, passed_cell
from contextc.analyzer.inference.namespaces import PATCHED
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome, Target
from contextc.analyzer.inference.specialisation import choose_contexts, read_results
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    CallableType,
    ClassObject,
    External,
    FunctionValue,
    Given,
    Grip,
    Instance,
    Intrinsic,
    Literal,
    Open,
    Partial,
    Possible,
    SpecialForm,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
)

How = tuple[EdgeKind, Rule]
_READING = frozenset({"__get__", "__getattr__"})
PLAIN: How = (EdgeKind.CALL, Rule.CALLABLE_VALUE)
MAX_NESTING = 12  # calls evaluated inside one another while solving; deeper ones give what cells already hold


class CallContext(NamedTuple):
    """What stays the same while one call is resolved: where it is, where targets go, how the callee was found.
    `possible`: by a name made at run time; `unlikely`: by a class of the repository below a library's declared one."""

    at: int
    outcome: Outcome | None
    how: How
    possible: bool
    unlikely: bool = False


def call_values(
    frame: Frame, callees: ValueSet, args: Arguments, at: int, outcome: Outcome | None, how: How
) -> ValueSet:
    """Calls each value of a set; the union of their results."""
    found: set[Value] = set()
    memory = frame.memory if len(callees) > 1 and at >= 0 and not frame.running else None
    for callee in callees:
        if memory is None:
            found |= call_value(frame, callee, args, at, outcome, how)
        else:
            given = (args, how, frame.depth)
            found |= memory.recall((at, callee), given, call_value, frame, callee, args, at, outcome, how)
    return frozenset(found)


def call_value(
    frame: Frame, callee: Value, args: Arguments, at: int, outcome: Outcome | None, how: How = PLAIN
) -> ValueSet:
    """Calls one value. `at` is the call's ordinal in the frame's unit (-1: not in the source)."""
    if frame.depth > MAX_NESTING:
        return NOTHING
    frame.depth += 1
    try:
        return _call(frame, callee, args, CallContext(at, outcome, how, False))
    finally:
        frame.depth -= 1


def _call(frame: Frame, callee: Value, args: Arguments, context: CallContext) -> ValueSet:
    if isinstance(callee, FunctionValue):
        return call_function(frame, callee, None, args, context)
    if isinstance(callee, BoundMethod):
        return call_function(frame, callee.function, callee.receiver, args, context)
    if isinstance(callee, ClassObject):
        from contextc.analyzer.inference.instantiation import construct

        return construct(frame, callee, args, context)
    if isinstance(callee, Instance):
        return _call_instance(frame, callee, args, context)
    if isinstance(callee, Possible):
        if callee.rule == Rule.RECEIVER_DECLARED.value:
            return _call(frame, callee.value, args, context._replace(unlikely=True))
        if callee.rule == PATCHED:
            result = _call(frame, callee.value, args, context._replace(possible=True))
            return frozenset(frame.kernel.make.possible(v, PATCHED) for v in result)
        return _call(frame, callee.value, args, context._replace(possible=True))
    if isinstance(callee, Partial):
        merged = Arguments(
            (*(("", a) for a in callee.args), *args.positional),
            (*callee.keywords, *args.keywords),
        )
        return _call(frame, callee.function, merged, context)
    if isinstance(callee, Intrinsic):
        from contextc.analyzer.inference.intrinsics import call_intrinsic

        args = args if callee.name == "identity" else expand_arguments(frame, args)
        return call_intrinsic(frame, callee, args, context)
    if isinstance(callee, Wrapper):
        return _call(frame, callee.function, args, context)
    return call_open(frame, callee, args, context)


def expand_arguments(frame: Frame, args: Arguments) -> Arguments:
    """The same arguments, each parameter that they pass on replaced by what it can hold."""
    return Arguments(
        tuple((mark, frame.expand(values)) for mark, values in args.positional),
        tuple((name, frame.expand(values)) for name, values in args.keywords),
    )


def call_open(frame: Frame, callee: Value, args: Arguments, context: CallContext) -> ValueSet:
    """Values of which little or nothing is known."""
    outcome = context.outcome
    kernel = frame.kernel
    args = expand_arguments(frame, args)
    for _, values in args.positional:
        move_items(frame, values)
    if isinstance(callee, External):
        from contextc.analyzer.inference.callbacks import register_callbacks
        from contextc.analyzer.inference.patches import patch_by_name

        patch_by_name(frame, callee, args, context)
        if outcome is not None:
            outcome.others += 1
            if "()" in callee.name and not kernel.externals.is_known_callee(callee.name):
                outcome.reasons.add(Reason.EXTERNAL_VALUE)
        register_callbacks(frame, args, context)
        method = f"{callee.name}.__call__" if callee.name.endswith("()") else callee.name
        return frozenset({kernel.make.external(f"{method}()")})
    if isinstance(callee, Open):
        if outcome is not None:
            outcome.reasons.add(callee.reason)
        return frozenset({callee})
    if isinstance(callee, CallableType):
        if outcome is not None:
            outcome.soft.add(Reason.UNKNOWN_CALLABLE)
        return substitute(kernel.annotations, callee.returns, {}, keep=False)
    if isinstance(callee, SpecialForm):
        if outcome is not None and callee.name == "Any":
            outcome.reasons.add(Reason.EXTERNAL_VALUE)
        return kernel.open(Reason.EXTERNAL_VALUE) if callee.name == "Any" else NOTHING
    if isinstance(callee, TypeVariable):
        if outcome is not None and not callee.bound:
            outcome.soft.add(Reason.UNKNOWN_CALLABLE)
        return call_values(frame, callee.bound, args, context.at, outcome, context.how)
    return NOTHING


# ------------------------------------------------------------------------------------------------------ functions


def call_function(
    frame: Frame, function: FunctionValue, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet:
    """Calls a function or bound method: records it, hands the arguments over, takes its result."""
    definition = frame.kernel.definition(function.symbol)
    if not definition.module.in_repository:
        from contextc.analyzer.inference.library import call_stub

        return call_stub(frame, definition, receiver, expand_arguments(frame, args), context)
    if function.flavor == "singledispatch":
        return _dispatch(frame, function, receiver, args, context)
    record(frame, context, definition, receiver)
    if context.outcome is not None:
        _note_fit(frame, context.outcome, definition, receiver, args)
    solution, passed = hand_over(frame, definition, receiver, args)
    if is_initialiser(definition):
        first = args.positional[0][1] if args.positional else NOTHING
        filled = frozenset({receiver}) if receiver is not None else first
        note_call(frame, definition, filled, passed, is_whole(args))
    result = function_result(frame, function, definition, solution, passed, receiver)
    if receiver is not None:
        result = frame.kernel.receive(result, receiver)
    elif args.positional and frame.kernel.method_kind(definition) in ("instance", "class"):
        result = receive_first(frame, result, frame.expand(args.positional[0][1]))
    if function.inner is not None:
        inner = frame.kernel.definition(function.inner.symbol)
        if inner.module.in_repository:
            record(frame, context, inner, receiver, definition.id)
        told = function_result(frame, function.inner, inner, {}, None)
        if told or (frame.recorder is None and frame.kernel.gives_result(inner)):
            result = told
        if receiver is not None:
            result = frame.kernel.receive(result, receiver)
    if function.flavor == "contextmanager":
        return _manager(frame, result)
    return result


def _note_fit(
    frame: Frame, outcome: Outcome, definition: Definition, receiver: Value | None, args: Arguments
) -> None:
    """Whether the function takes these arguments. One that was put on a class from outside may arrive unbound."""
    fits = takes(frame.kernel, definition, args, receiver is not None)
    if not fits and receiver is None and "." in outcome.detail and definition.enclosing_class() is None:
        fits = takes(frame.kernel, definition, args, True)
    (outcome.taking if fits else outcome.refusing).add(definition.id)


def receive_first(frame: Frame, result: ValueSet, actuals: ValueSet) -> ValueSet:
    """The result of `C.method(x)`: what stands for the receiver is x; as long as nothing is known of x, nothing."""
    if not actuals and frame.recorder is not None:
        return result
    found = {v for v in result if not (isinstance(v, (Instance, ClassObject)) and v.grip is Grip.SELF)}
    return frozenset(found).union(*(frame.kernel.receive(result, actual) for actual in actuals))


def _dispatch(
    frame: Frame, function: FunctionValue, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet:
    """functools.singledispatch: the implementation registered for the first class in the argument's MRO (PEP 443)."""
    plain = frame.kernel.make.function(function.symbol, None, "", function.env)
    registered = frame.read(("dispatch", function.symbol))
    keys = {v.cls for v in registered if isinstance(v, ClassObject)}
    given = frame.expand(args.positional[0][1]) if args.positional else NOTHING
    chosen: set[Value] = set()
    for value in given:
        cls = value.cls if isinstance(value, Instance) else f"~builtins:{getattr(value, 'type', '')}"
        if isinstance(value, (Instance, Literal)):
            fitting = [c for c in frame.kernel.classes.mro(cls) if c in keys]
            if frame.recorder is not None:  # a nearer class may yet be registered while cells grow
                fitting = fitting[:1]
            if not fitting or frame.recorder is None:
                chosen.add(plain)
        else:
            fitting = sorted(keys)
            chosen.add(plain)
        chosen = chosen.union(*(frame.read(("dispatch", function.symbol, key)) for key in fitting))
    found: set[Value] = set()
    for item in chosen:
        if isinstance(item, FunctionValue) and item.flavor != "singledispatch":
            found |= call_function(frame, item, receiver, args, context)
    return frozenset(found)


def _manager(frame: Frame, result: ValueSet) -> ValueSet:
    """contextlib's decorators turn a generator's first yield into what `with` binds."""
    cls = frame.kernel.library_class("contextlib", "_GeneratorContextManager")
    if cls is None:
        return NOTHING
    return frozenset({frame.kernel.make.instance(cls, Grip.EXACT, (element_values(frame, result),))})


def record(
    frame: Frame, context: CallContext, callee: Definition, receiver: Value | None, group: str | None = None
) -> None:
    """Notes a target in the outcome, with its kind and rule."""
    if context.outcome is None:
        return
    kind, rule = context.how
    if kind in (EdgeKind.CALL, EdgeKind.DUNDER, EdgeKind.PROPERTY) and isinstance(receiver, (Instance, ClassObject)):
        kind, rule = _by_receiver(frame, callee, receiver, kind, rule)
    if context.possible:
        kind = EdgeKind.DYNAMIC
        if rule in (Rule.CALLABLE_VALUE, Rule.RECEIVER_EXACT, Rule.MODULE_ATTRIBUTE, Rule.CLASS_ATTRIBUTE):
            rule = Rule.GETATTR_PATTERN
    abstract = frame.kernel.is_abstract(callee)
    hollow = rule is Rule.RECEIVER_DECLARED and frame.kernel.is_hollow(callee)
    guessed = isinstance(receiver, (Instance, ClassObject)) and receiver.grip is Grip.GUESSED
    if frame.recorder is not None:
        frame.recorder.met += 1
    possible = context.possible or context.unlikely or (group is not None and kind is EdgeKind.PROPERTY)
    stores = rule is Rule.DESCRIPTOR and frame.kernel.stores_by_name(callee)
    possible |= stores and callee.name in _READING  # of all accesses the first runs it
    indirect = group is not None or guessed or stores  # never certain
    context.outcome.targets.add(
        Target(callee.id, kind, rule, group or callee.id, possible, abstract, indirect, hollow, _by_class(receiver))
    )


def _by_class(receiver: Value | None) -> bool:
    return isinstance(receiver, (Instance, ClassObject)) and receiver.grip in (Grip.SELF, Grip.DECLARED)


def _by_receiver(
    frame: Frame, callee: Definition, receiver: Instance | ClassObject, kind: EdgeKind, rule: Rule
) -> How:
    if kind is EdgeKind.CALL:
        if isinstance(receiver, ClassObject):
            rule = Rule.CLASS_ATTRIBUTE if receiver.grip is Grip.EXACT else Rule.RECEIVER_SELF
        elif receiver.grip is Grip.EXACT:
            rule = Rule.RECEIVER_EXACT
        elif receiver.grip is Grip.GUESSED:
            rule = Rule.RECEIVER_INFERRED
        else:
            rule = Rule.RECEIVER_SELF if receiver.grip is Grip.SELF else Rule.RECEIVER_DECLARED
    return kind, rule


def hand_over(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments
) -> tuple[dict[str, ValueSet], dict[str, ValueSet]]:
    """Writes argument values into parameter cells; solves the type variables of the declared parameters. Also gives
    what each parameter got, as it came."""
    kernel = frame.kernel
    kind = kernel.method_kind(definition)
    skip = 0
    if receiver is not None:
        if kind in ("instance", "class") and _is_symbolic(frame, definition, receiver):
            skip = 1
        elif kind != "static":
            args = Arguments((("", frozenset({receiver})), *args.positional), args.keywords)
    solution: dict[str, ValueSet] = {}
    passed: dict[str, ValueSet] = {}
    for parameter, values in bind_arguments(frame, definition, args, skip, passed):
        frame.write(parameter_cell(definition, parameter), values)
        passed[parameter.name] = passed.get(parameter.name, NOTHING) | values
        if parameter.annotation is not None and parameter.kind not in ("star", "doublestar"):
            scope = definition.parent or definition
            declared = kernel.annotations.read(parameter.annotation, scope, definition)
            solve(frame, declared, frame.expand(values), solution)
    return solution, passed


def _is_symbolic(frame: Frame, definition: Definition, receiver: Value) -> bool:
    """Whether the receiver is one that the method's symbolic `self` stands for."""
    owner = definition.enclosing_class()
    if owner is None:
        return False
    if isinstance(receiver, (Instance, ClassObject)):
        return frame.kernel.classes.is_subclass(receiver.cls, owner.id) or isinstance(receiver, ClassObject)
    return False


def function_result(
    frame: Frame,
    function: FunctionValue,
    definition: Definition,
    solution: dict[str, ValueSet],
    passed: dict[str, ValueSet] | None,
    receiver: Value | None = None,
) -> ValueSet:
    """What a call of a repository function gives: its declared result where that says enough, else the inferred.
    `passed`: this call's own arguments, for parameters that come back as they are; None where they are not known."""
    kernel = frame.kernel
    facts = definition.facts
    declared = NOTHING
    says_enough = False
    types = receiver_types(frame, definition, receiver)
    if facts.returns is not None:
        scope = definition.parent or definition
        written = kernel.annotations.read(facts.returns, scope, definition)
        variables = kernel.solved_variables(definition)
        filled = {**dict.fromkeys(variables, NOTHING), **solution, **types}
        solved = substitute(kernel.annotations, written, filled, keep=True)
        says_enough = not kernel.is_weak(written, solved=variables.union(types))
        if says_enough and not any(is_bare(v) for v in written):
            return _coroutine(frame, solved) if facts.is_async and not facts.is_generator else solved
        declared = frozenset(v for v in solved if not isinstance(v, (TypeVariable, SpecialForm)))
    contexts = choose_contexts(frame, function, definition, passed, receiver)
    inferred = _give_back(frame, definition, read_results(frame, "return", definition, contexts), passed)
    if types:
        inferred = fill_declared(frame, inferred, declared, types)
    if facts.is_generator:
        yielded = read_results(frame, "yield", definition, contexts)
        if types:
            yielded = element_values(frame, declared) or substitute(kernel.annotations, yielded, types, keep=True)
        return _generator(frame, definition, inferred, yielded)
    found = (fit_containers(frame, declared, inferred) if says_enough else inferred) | declared
    return _coroutine(frame, found) if facts.is_async else found


def _give_back(
    frame: Frame, definition: Definition, values: ValueSet, passed: dict[str, ValueSet] | None
) -> ValueSet:
    """A result in which each parameter that is returned unchanged is this caller's own argument."""
    if not any(isinstance(v, Given) for v in values):
        return values
    found: set[Value] = set()
    for value in values:
        if not isinstance(value, Given):
            found.add(value)
        elif passed is None or value.symbol != definition.id:
            found |= value.kept if value.kept is not None else frame.read(passed_cell(value.symbol, value.parameter))
        else:
            own = passed.get(value.parameter)
            if own is None:
                own = frame.read(("default", definition.id, value.parameter))
            found |= own if value.kept is None else let_through(frame, own, value.kept)
    return frozenset(found)


def _coroutine(frame: Frame, result: ValueSet) -> ValueSet:
    cls = frame.kernel.library_class("typing", "Coroutine")
    if cls is None:
        return NOTHING
    return frozenset({frame.kernel.make.instance(cls, Grip.EXACT, (frame.kernel.any, frame.kernel.any, result))})


def _generator(frame: Frame, definition: Definition, returned: ValueSet, yielded: ValueSet) -> ValueSet:
    kernel = frame.kernel
    name = "AsyncGenerator" if definition.facts.is_async else "Generator"
    cls = kernel.library_class("typing", name)
    if cls is None:
        return NOTHING
    args = (yielded, kernel.any) if definition.facts.is_async else (yielded, kernel.any, returned)
    return frozenset({kernel.make.instance(cls, Grip.EXACT, args, f"{GENERATOR_SITE}{definition.id}")})


# ------------------------------------------------------------------------------------------------------ objects


def _call_instance(frame: Frame, callee: Instance, args: Arguments, context: CallContext) -> ValueSet:
    """An object is called: `__call__` of its class."""
    from contextc.analyzer.inference.attributes import read_attribute

    kernel = frame.kernel
    if not kernel.classes.is_known(callee.cls):
        return call_open(frame, kernel.make.external(f"{callee.cls[1:]}()"), args, context)
    if callee.cls == "~types:NoneType":
        return NOTHING
    if callee.cls in ("~builtins:type", OBJECT):
        if context.outcome is not None:
            context.outcome.soft.add(Reason.UNKNOWN_CALLABLE)
        return kernel.open(Reason.UNKNOWN_CALLABLE)
    methods = read_attribute(frame, callee, "__call__", -1)
    if not methods and context.outcome is not None:
        context.outcome.soft.add(Reason.MISSING_ATTRIBUTE)
    inner = context._replace(how=(EdgeKind.CALL, Rule.CALLABLE_INSTANCE))
    found: set[Value] = set()
    for method in methods:
        if isinstance(method, BoundMethod):
            found |= call_function(frame, method.function, method.receiver, args, inner)
        elif not isinstance(method, Instance):
            found |= _call(frame, method, args, inner)
    return frozenset(found)


