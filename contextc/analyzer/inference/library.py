"""Calls into stubs: overloads chosen by arguments, type variables solved, containers filled.

In: a stub's function or class and arguments. Out: the declared result for these arguments. `xs.append(user)` adds
`user` to the element cell of the list's allocation site, because the stub says the parameter is the list's own `_T`.
"""

from __future__ import annotations

from collections.abc import Callable

from contextc.analyzer.inference.annotations import substitute, variable_keys
from contextc.analyzer.inference.bare_containers import hold, hold_item, hold_keywords
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.callbacks import (
    KEEPING,
    Handed,
    callback_arguments,
    is_variadic,
    note_overrides,
    register_callbacks,
)
from contextc.analyzer.inference.calls import CallContext, receive_first
from contextc.analyzer.inference.dictionaries import (
    copy_dicts,
    copy_items,
    dict_item,
    is_dict,
    store_item,
    store_name,
    store_unknown,
)
from contextc.analyzer.inference.generics import mapping_for, move_items, solve
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.overloads import Bound, choose_overloads, overloads
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.records import record_item
from contextc.analyzer.inference.texts import call_text_method
from contextc.model.edge import Reason
from contextc.model.value import (
    NOTHING,
    CallableType,
    ClassObject,
    Grip,
    Instance,
    Literal,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
)

MAX_INSIDE = 2  # library calls that one another run, as `sorted` its key function; none inside of itself
_GROWING = ("~builtins:list", "~typing:MutableSequence")
_TEXT_METHOD = "~builtins:str."
_READING = frozenset(
    {
        "get", "pop", "popitem", "index", "count", "remove", "discard", "__contains__", "__getitem__", "__eq__",
        "__delitem__", "copy", "keys", "values", "items", "difference", "intersection", "isdisjoint",
    }
)  # methods whose arguments a container compares or looks up, but doesn't keep

_STAYING = frozenset(
    {"index", "count", "copy", "__contains__", "__getitem__", "__eq__", "__len__", "__iter__"}
)  # methods that leave each item of a list in its place


def call_stub(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet:
    """Calls a library function known from a stub (or from its source, by its annotations)."""
    if context.outcome is not None:
        context.outcome.others += 1
    return _run_inside(frame, (definition.id, receiver), _call_stub, frame, definition, receiver, args, context)


def _run_inside(
    frame: Frame, key: tuple[str, Value | None], function: Callable[..., ValueSet], *args: object
) -> ValueSet:
    """Evaluates a library call unless it runs inside of itself, or too deep inside of others."""
    if key in frame.running or len(frame.running) >= MAX_INSIDE:
        return NOTHING
    frame.running.add(key)
    try:
        return function(*args)
    finally:
        frame.running.discard(key)


def _call_stub(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet:
    from contextc.analyzer.inference.intrinsics import LIBRARY
    from contextc.analyzer.inference.protocols import run_own_protocols, run_protocols

    for _, values in args.positional:
        move_items(frame, values)
    if receiver is not None and definition.name not in _STAYING:
        move_items(frame, frozenset({receiver}))
    symbol = definition.id.partition("#")[0]
    if symbol.startswith(_TEXT_METHOD):
        text = call_text_method(frame, definition.name, receiver, args, context)
        if text is not None:
            return text
    model = LIBRARY.get(symbol)
    if model is not None:
        result = model(frame, receiver, args, context)
        if result is not None:
            return result
    special = _dict_access(frame, definition, receiver, args, context)
    if definition.name == "update" and isinstance(receiver, Instance) and receiver.site is not None:
        _store_keywords(frame, receiver, args)
        args = _take_over(frame, receiver, args)
    if definition.name == "update" and isinstance(receiver, Instance):
        hold_keywords(frame, receiver, args.keywords)
    note_overrides(frame, definition, receiver, context)
    found: set[Value] = set()
    pairs: list[Handed] = []
    for chosen, bound in choose_overloads(frame, overloads(frame, definition), receiver, args):
        own = _receiver_mapping(frame, chosen, receiver)
        fresh = _solve_bound(frame, bound)
        pairs.extend(_callables(frame, chosen, receiver, args, bound, {**fresh, **own}))
        run_protocols(frame, chosen, bound, {**own, **fresh}, context)
        run_own_protocols(frame, chosen, receiver, fresh, context)
        if receiver is None:
            _fill_arguments(frame, bound)
        if special is None:
            _fill_receiver(frame, chosen, receiver, fresh)
            found |= stub_result(frame, chosen, receiver, {**fresh, **own})
    register_callbacks(frame, args, context, pairs, definition.module.name)
    if special is not None:
        return special
    if receiver is None and args.positional and frame.kernel.method_kind(definition) in ("instance", "class"):
        return receive_first(frame, frozenset(found), args.positional[0][1])  # `object.__new__(cls)`, `dict.copy(d)`
    return frozenset(found)


def _solve_bound(frame: Frame, bound: Bound) -> dict[str, ValueSet]:
    """The type variables of the declared parameters, from what they got. One of which nothing is known yet is nothing;
    on frozen cells it is left out, so that it stands for anything."""
    solution: dict[str, ValueSet] = {}
    for _, declared, _ in bound:
        for key in variable_keys(declared):
            solution[key] = NOTHING
    functions = [b for b in bound if any(isinstance(v, CallableType) for v in b[1])]
    for _, declared, given in (*(b for b in bound if b not in functions), *functions):
        solve(frame, declared, given, solution)
    return solution if frame.recorder is None else {key: values for key, values in solution.items() if values}


def _store_keywords(frame: Frame, receiver: Instance, args: Arguments) -> None:
    """`d.update(k=v)` and `dict(k=v)` store under literal keys."""
    assert receiver.site is not None
    if not is_dict(frame, receiver):
        return
    for keyword, values in args.keywords:
        if keyword is not None:
            store_name(frame, receiver.site, keyword, values)
        for value in () if keyword is not None else values:
            copy_items(frame, value, receiver.site)


def _take_over(frame: Frame, receiver: Instance, args: Arguments) -> Arguments:
    """`d.update(e)` and `dict(e)`: what a dict whose keys are known brings stays under them. The arguments that are
    left say nothing of keys."""
    if not is_dict(frame, receiver):
        return args
    positional: list[tuple[str, ValueSet]] = []
    for mark, values in args.positional:
        known = frozenset(v for v in values if not mark and is_dict(frame, v))
        for value in known:
            copy_items(frame, value, receiver.site or "")
        positional.append((mark, values - known))
    return Arguments(tuple(positional), args.keywords)


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


def _callables(
    frame: Frame,
    definition: Definition,
    receiver: Value | None,
    args: Arguments,
    bound: Bound,
    solution: dict[str, ValueSet],
) -> list[Handed]:
    """Function arguments beside what the callable types declared for them are called with."""
    annotations = frame.kernel.annotations
    found: list[Handed] = []
    for _, declared, given in bound:
        for value in declared:
            if isinstance(value, CallableType):
                parameters = [p for p in value.params or () if not is_variadic(p)]
                first = [("", substitute(annotations, p, solution, keep=False)) for p in parameters]
                handed = callback_arguments(frame, definition, receiver, args, bound, value)
                found.append((given, handed._replace(positional=(*first, *handed.positional))))
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


def _dict_access(
    frame: Frame, definition: Definition, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`d.get("k")` on a dict made in the repository, whose literal keys are known, or on a `TypedDict`."""
    if isinstance(receiver, Instance) and definition.name in ("get", "pop") and args.positional:
        declared = record_item(frame, receiver, args.positional[0][1])
        if declared is not None:
            return declared.union(*(values for _, values in args.positional[1:]))
    if not isinstance(receiver, Instance) or receiver.site is None or not is_dict(frame, receiver):
        return None
    if definition.name == "copy" and context.at >= 0:
        return copy_dicts(frame, frozenset({receiver}), context.at)
    if definition.name not in ("get", "pop", "setdefault", "__getitem__") or not args.positional:
        return None
    default = args.positional[1][1] if len(args.positional) > 1 else NOTHING
    if definition.name == "setdefault":
        store_item(frame, receiver.site, args.positional[0][1], default)
    return dict_item(frame, receiver, args.positional[0][1]) | default


def _fill_receiver(
    frame: Frame, definition: Definition, receiver: Value | None, solution: dict[str, ValueSet]
) -> None:
    """Arguments whose declared type is the receiver's own type variable go into its cells."""
    owner = definition.enclosing_class()
    if owner is None or not isinstance(receiver, Instance) or definition.name in _READING:
        return
    if frame.kernel.classes.in_repository(receiver.cls):
        hold(frame, receiver, owner.id, solution)
    if receiver.site is None or "@" not in receiver.site:
        return
    fill_site(frame, receiver, owner.id, solution)


def _fill_arguments(frame: Frame, bound: Bound) -> None:
    """`heappush(heap, item)`: what is declared to be of a list's element type may be put into that list."""
    for _, declared, given in bound:
        lists = [v for v in declared if isinstance(v, Instance) and v.cls in _GROWING and v.args]
        keys = {key for one in lists for key in variable_keys(one.args[0])}
        for _, other, values in bound if keys else ():
            if not any(isinstance(v, TypeVariable) and v.key in keys for v in other):
                continue
            for value in given:
                if isinstance(value, Instance) and frame.kernel.classes.is_known(value.cls):
                    hold_item(frame, value, NOTHING, values)
                    if value.site is not None and "@" in value.site and value.cls == "~builtins:list":
                        frame.write(("arg", value.site, 0), values)


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
                store_unknown(frame, site, values)


def construct_stub(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet:
    """Makes an object of a library class; a generic one gets an allocation site whose cells hold its elements."""
    if context.outcome is not None:
        context.outcome.others += 1
    return _run_inside(frame, (callee.cls, None), _construct_stub, frame, callee, args, context)


def _construct_stub(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet:
    from contextc.analyzer.inference.intrinsics import CONSTRUCTORS
    from contextc.analyzer.inference.protocols import run_protocols

    kernel = frame.kernel
    model = CONSTRUCTORS.get(callee.cls)
    if model is not None:
        result = model(frame, None, args, context)
        if result is not None:
            return result
    generic = bool(kernel.annotations.type_parameters(callee.cls))
    site = frame.site_key(context.at) if generic and context.at >= 0 and not callee.args else None
    made = kernel.make.instance(callee.cls, Grip.EXACT, callee.args, site)
    if site is not None:
        _store_keywords(frame, made, args)
        args = _take_over(frame, made, args)
    module = kernel.definition(callee.cls).module.name if callee.cls not in KEEPING else ""
    pairs: list[Handed] = []
    declared: ValueSet = NOTHING
    says_more = False
    for name in ("__init__", "__new__"):
        owner = kernel.classes.owner(callee.cls, name)
        if owner in (None, "~builtins:object") or owner is None:
            continue
        first = kernel.statics.table(kernel.definition(owner)).names[name][0]
        definition = getattr(first, "definition", None)
        if not isinstance(definition, Definition):
            continue
        candidates = overloads(frame, definition)
        says_more = says_more or (name == "__new__" and any(_made_by_new(frame, c, callee.cls) for c in candidates))
        for chosen, bound in choose_overloads(frame, candidates, made, args):
            solution = _solve_bound(frame, bound)
            pairs.extend(_callables(frame, chosen, made, args, bound, solution))
            run_protocols(frame, chosen, bound, solution, context)
            if site is not None:
                fill_site(frame, made, owner, solution)
            if name == "__new__":
                told = _made_by_new(frame, chosen, callee.cls)
                declared |= substitute(kernel.annotations, told, solution, keep=False) if told else {made}
    register_callbacks(frame, args, context, pairs, module)
    return declared if says_more else frozenset({made})


def take_in(frame: Frame, made: Instance, args: Arguments) -> None:
    """What the library's initialiser takes into an object of a class below a bare container."""
    kernel = frame.kernel
    for name in ("__init__", "__new__"):
        owner = kernel.classes.owner(made.cls, name)
        if owner is None or kernel.annotations.bare_base(made.cls, owner) is None:
            continue
        first = kernel.statics.table(kernel.definition(owner)).names[name][0]
        definition = getattr(first, "definition", None)
        if isinstance(definition, Definition):
            for _, bound in choose_overloads(frame, overloads(frame, definition), made, args):
                hold(frame, made, owner, _solve_bound(frame, bound))
    hold_keywords(frame, made, args.keywords)


def _made_by_new(frame: Frame, definition: Definition, cls: str) -> ValueSet:
    """What `__new__` declares to make, where that says more than the class: `zip` makes a zip of tuples, `reversed`
    what `__reversed__` gives."""
    facts = definition.facts
    if facts.returns is None:
        return NOTHING
    declared = frame.kernel.annotations.read(facts.returns, definition.parent or definition, definition)
    own = frame.kernel.classes.mro(cls)
    return frozenset(
        v
        for v in declared
        if isinstance(v, TypeVariable)
        or (isinstance(v, Instance) and ((v.cls == cls and v.args) or v.cls not in own))
    )
