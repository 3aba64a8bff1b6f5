"""Calls into stubs: overloads chosen by arguments, type variables solved, containers filled.

In: a stub's function or class and arguments. Out: the declared result for these arguments. `xs.append(user)` adds
`user` to the element cell of the list's allocation site, because the stub says the parameter is the list's own `_T`.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotations import substitute
from contextc.analyzer.inference.binding import Arguments, bind_arguments
from contextc.analyzer.inference.callbacks import note_overrides, register_callbacks
from contextc.analyzer.inference.calls import CallContext
from contextc.analyzer.inference.generics import dict_item, mapping_for, solve
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.model import ir
from contextc.model.edge import Reason
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    CallableType,
    ClassObject,
    FunctionValue,
    Grip,
    Instance,
    Literal,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
)

_READING = frozenset(
    {
        "get", "pop", "popitem", "index", "count", "remove", "discard", "__contains__", "__getitem__", "__eq__",
        "__delitem__", "copy", "keys", "values", "items", "difference", "intersection", "isdisjoint",
    }
)  # methods whose arguments a container compares or looks up, but doesn't keep
Bound = list[tuple[ir.Parameter, ValueSet, ValueSet]]  # parameter, declared, given


def overloads(frame: Frame, definition: Definition) -> list[Definition]:
    """All definitions of a stub function's name in its scope, in order."""
    if definition.parent is None:
        return [definition]
    from contextc.analyzer.inference.bindings import DefinitionBinding

    bindings = frame.kernel.statics.table(definition.parent).names.get(definition.name, [])
    found = [b.definition for b in bindings if isinstance(b, DefinitionBinding) and b.definition.is_function]
    return found or [definition]


def call_stub(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet:
    """Calls a library function known from a stub (or from its source, by its annotations)."""
    from contextc.analyzer.inference.intrinsics import LIBRARY

    if context.outcome is not None:
        context.outcome.others += 1
    model = LIBRARY.get(definition.id.partition("#")[0])
    if model is not None:
        result = model(frame, receiver, args, context)
        if result is not None:
            return result
    special = _dict_access(frame, definition, receiver, args)
    if definition.name == "update" and isinstance(receiver, Instance) and receiver.site is not None:
        _store_keywords(frame, receiver, args)
    candidates = overloads(frame, definition)
    chosen, bound = choose_overload(frame, candidates, receiver, args)
    solution = _receiver_mapping(frame, chosen, receiver)
    own = dict(solution)
    fresh: dict[str, ValueSet] = {}
    for _, declared, given in bound:
        solve(frame, declared, given, fresh)
    register_callbacks(frame, args, context, _callables(frame, bound, {**fresh, **own}), chosen.module.name)
    note_overrides(frame, chosen, receiver, context)
    _fill_receiver(frame, chosen, receiver, fresh)
    if special is not None:
        return special
    for key, values in fresh.items():
        own.setdefault(key, values)
    return stub_result(frame, chosen, receiver, own)


def _store_keywords(frame: Frame, receiver: Instance, args: Arguments) -> None:
    """`d.update(k=v)` and `dict(k=v)` store under literal keys."""
    assert receiver.site is not None
    if not frame.kernel.classes.is_subclass(receiver.cls, "~builtins:dict"):
        return
    for keyword, values in args.keywords:
        if keyword is not None:
            frame.write(("key", receiver.site, keyword), values)
            frame.write(("arg", receiver.site, 1), values)


def _receiver_mapping(frame: Frame, definition: Definition, receiver: Value | None) -> dict[str, ValueSet]:
    owner = definition.enclosing_class()
    if owner is None:
        return {}
    if isinstance(receiver, Instance):
        return mapping_for(frame, receiver, owner.id)
    if isinstance(receiver, (Literal, Text)):
        kind = receiver.type if isinstance(receiver, Literal) else "str"
        return mapping_for(frame, frame.kernel.make.instance(f"~builtins:{kind}"), owner.id)
    return {}


def _callables(frame: Frame, bound: Bound, solution: dict[str, ValueSet]) -> list[tuple[ValueSet, CallableType]]:
    """Function arguments beside the callable types declared for them."""
    found: list[tuple[ValueSet, CallableType]] = []
    for _, declared, given in bound:
        for value in declared:
            if isinstance(value, CallableType):
                solved = substitute(frame.kernel.annotations, frozenset({value}), solution, keep=False)
                found.extend((given, v) for v in solved if isinstance(v, CallableType))
    return found


def stub_result(
    frame: Frame, definition: Definition, receiver: Value | None, solution: dict[str, ValueSet]
) -> ValueSet:
    """The declared result under a solution; a result without declaration is an unknown external value."""
    kernel = frame.kernel
    facts = definition.facts
    if facts.returns is None:
        return kernel.open(Reason.EXTERNAL_VALUE) if facts.name != "__init__" else kernel.none
    scope = definition.parent or definition
    declared = kernel.annotations.read(facts.returns, scope, definition)
    result = substitute(kernel.annotations, declared, solution, keep=False)
    if receiver is not None:
        result = kernel.receive(result, receiver)
    if any(isinstance(v, SpecialForm) for v in result):
        kept = {v for v in result if not isinstance(v, SpecialForm)}
        result = frozenset(kept) | kernel.open(Reason.EXTERNAL_VALUE)
    if facts.is_async and not facts.is_generator:
        cls = kernel.library_class("typing", "Coroutine")
        return frozenset({kernel.make.instance(cls, Grip.EXACT, (kernel.any, kernel.any, result))}) if cls else NOTHING
    return result


def _dict_access(frame: Frame, definition: Definition, receiver: Value | None, args: Arguments) -> ValueSet | None:
    """`d.get("k")` on a dict made in the repository, whose literal keys are known."""
    owner = definition.enclosing_class()
    if definition.name not in ("get", "pop", "setdefault", "__getitem__") or owner is None or not args.positional:
        return None
    if not isinstance(receiver, Instance) or receiver.site is None:
        return None
    if not frame.kernel.classes.is_subclass(receiver.cls, "~builtins:dict"):
        return None
    default = args.positional[1][1] if len(args.positional) > 1 else NOTHING
    if definition.name == "setdefault":
        frame.write(("anykey", receiver.site), default)
    return dict_item(frame, receiver, args.positional[0][1]) | default


def _fill_receiver(
    frame: Frame, definition: Definition, receiver: Value | None, solution: dict[str, ValueSet]
) -> None:
    """Arguments whose declared type is the receiver's own type variable go into its cells."""
    owner = definition.enclosing_class()
    if owner is None or not isinstance(receiver, Instance) or receiver.site is None or "@" not in receiver.site:
        return
    if definition.name in _READING:
        return
    fill_site(frame, receiver, owner.id, solution)


def fill_site(frame: Frame, instance: Instance, owner: str, solution: dict[str, ValueSet]) -> None:
    """Writes solved type variables of `owner`, a class above the instance's, into the instance's cells."""
    annotations = frame.kernel.annotations
    site = instance.site
    assert site is not None
    keys = annotations.type_parameters(instance.cls)
    solved: dict[str, ValueSet] = solution
    if owner != instance.cls:
        solved = {}
        view = annotations.view(instance.cls, owner)
        for key, pattern in zip(annotations.type_parameters(owner), view or (), strict=False):
            if key in solution:
                solve(frame, pattern, solution[key], solved)
    for index, key in enumerate(keys):
        values = frozenset(v for v in solved.get(key, NOTHING) if not isinstance(v, (TypeVariable, SpecialForm)))
        if values:
            frame.write(("arg", site, index), values)
            if index == 1:
                frame.write(("anykey", site), values)


def construct_stub(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet:
    """Makes an object of a library class; a generic one gets an allocation site whose cells hold its elements."""
    from contextc.analyzer.inference.intrinsics import CONSTRUCTORS

    kernel = frame.kernel
    if context.outcome is not None:
        context.outcome.others += 1
    model = CONSTRUCTORS.get(callee.cls)
    if model is not None:
        result = model(frame, None, args, context)
        if result is not None:
            return result
    generic = bool(kernel.annotations.type_parameters(callee.cls))
    site = frame.site_key(context.at) if generic and context.at >= 0 and not callee.args else None
    made = kernel.make.instance(callee.cls, Grip.EXACT, callee.args, site)
    module = kernel.definition(callee.cls).module.name
    pairs: list[tuple[ValueSet, CallableType]] = []
    declared: ValueSet = NOTHING
    for name in ("__init__", "__new__"):
        owner = kernel.classes.owner(callee.cls, name)
        if owner in (None, "~builtins:object") or owner is None:
            continue
        first = kernel.statics.table(kernel.definition(owner)).names[name][0]
        definition = getattr(first, "definition", None)
        if not isinstance(definition, Definition):
            continue
        chosen, bound = choose_overload(frame, overloads(frame, definition), made, args)
        solution: dict[str, ValueSet] = {}
        for _, wanted, given in bound:
            solve(frame, wanted, given, solution)
        pairs.extend(_callables(frame, bound, solution))
        if site is not None:
            fill_site(frame, made, owner, solution)
            _store_keywords(frame, made, args)
        if name == "__new__":
            declared = _made_by_new(frame, chosen, solution, callee.cls)
    register_callbacks(frame, args, context, pairs, module)
    return declared or frozenset({made})


def _made_by_new(frame: Frame, definition: Definition, solution: dict[str, ValueSet], cls: str) -> ValueSet:
    """What `__new__` declares to make, where that says more than the class: `zip` makes a zip of tuples."""
    facts = definition.facts
    if facts.returns is None:
        return NOTHING
    annotations = frame.kernel.annotations
    declared = annotations.read(facts.returns, definition.parent or definition, definition)
    told = frozenset(v for v in declared if isinstance(v, Instance) and v.cls == cls and v.args)
    return substitute(annotations, told, solution, keep=False)


# ------------------------------------------------------------------------------------------------------ overloads


def choose_overload(
    frame: Frame, candidates: list[Definition], receiver: Value | None, args: Arguments
) -> tuple[Definition, Bound]:
    """The first overload that these arguments fit (PEP 484 order); the last one where none does."""
    bound: Bound = []
    definition = candidates[0]
    for definition in candidates:
        bound = declared_arguments(frame, definition, receiver, args)
        if len(candidates) == 1 or _fits_overload(frame, definition, receiver, args, bound):
            return definition, bound
    return definition, bound


def declared_arguments(frame: Frame, definition: Definition, receiver: Value | None, args: Arguments) -> Bound:
    """Parameters with their declared and given values; `*args` parameters take every extra argument."""
    kernel = frame.kernel
    scope = definition.parent or definition
    skip = 1 if receiver is not None and kernel.method_kind(definition) in ("instance", "class") else 0
    found: Bound = []
    for parameter, given in bind_arguments(frame, definition, args, skip):
        if parameter.annotation is not None:
            found.append((parameter, kernel.annotations.read(parameter.annotation, scope, definition), given))
    star = next((p for p in definition.facts.parameters if p.kind == "star" and p.annotation is not None), None)
    if star is not None and star.annotation is not None:
        taken = sum(1 for p in definition.facts.parameters if p.kind in ("positional", "normal")) - skip
        declared = kernel.annotations.read(star.annotation, scope, definition)
        for mark, given in args.positional[taken:]:
            if not mark:
                found.append((star, declared, given))
    return found


def _fits_overload(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments, bound: Bound
) -> bool:
    parameters = definition.facts.parameters
    skip = 1 if receiver is not None and frame.kernel.method_kind(definition) in ("instance", "class") else 0
    positional = [p for p in parameters if p.kind in ("positional", "normal")][skip:]
    plain = [v for mark, v in args.positional if not mark]
    starred = len(plain) != len(args.positional) or any(k is None for k, _ in args.keywords)
    has_star = any(p.kind == "star" for p in parameters)
    if len(plain) > len(positional) and not has_star:
        return False
    names = {p.name for p in parameters}
    open_keywords = any(p.kind == "doublestar" for p in parameters)
    if any(k is not None and k not in names and not open_keywords for k, _ in args.keywords):
        return False
    if not starred:
        given = {k for k, _ in args.keywords}
        missing = [p for p in positional[len(plain) :] if p.default is None and p.name not in given]
        keyword_only = [p for p in parameters if p.kind == "keyword" and p.default is None and p.name not in given]
        if missing or keyword_only:
            return False
    return all(fits(frame, given, declared) for _, declared, given in bound)


def fits(frame: Frame, given: ValueSet, declared: ValueSet) -> bool:
    """Whether some given value can be one of the declared ones; unknown values fit everything."""
    if not given or not declared:
        return True
    return any(_fits_one(frame, g, d) for g in given for d in declared)


def _fits_one(frame: Frame, given: Value, declared: Value) -> bool:
    kernel = frame.kernel
    if isinstance(declared, (SpecialForm, TypeVariable)):
        return True
    if isinstance(given, (Literal, Text)):
        if isinstance(declared, Literal):
            return given is declared
        given = kernel.builtin(given.type if isinstance(given, Literal) else "str")
    if isinstance(declared, CallableType):
        return isinstance(given, (FunctionValue, BoundMethod, ClassObject, CallableType))
    if isinstance(given, Instance) and isinstance(declared, Instance):
        if not kernel.classes.is_known(given.cls) or kernel.classes.is_subclass(given.cls, declared.cls):
            return True
        info = kernel.classes.info(declared.cls)
        if info.is_protocol:
            wanted = [c.name for c in info.definition.children if c.is_function]
            owners = [kernel.classes.owner(given.cls, name) for name in wanted]
            return bool(wanted) and all(owner not in (None, "~builtins:object") for owner in owners)
        return given.cls == "~builtins:int" and declared.cls == "~builtins:float"
    if isinstance(given, ClassObject):
        admitted = ("~builtins:type", "~builtins:object", given.cls)
        return isinstance(declared, (ClassObject, Instance)) and declared.cls in admitted
    return isinstance(given, type(declared)) or not isinstance(given, (FunctionValue, BoundMethod, Instance))
