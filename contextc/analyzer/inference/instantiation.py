"""Classes called: what runs when an object is made, and what its fields receive.

In: a class and arguments. Out: the object; `__new__`, `__init__` and what stands for them are recorded as targets.
`cls()` in a class method makes an object of the class or of any one below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextc.analyzer.inference.annotations import TUPLE
from contextc.analyzer.inference.binding import Arguments, is_whole
from contextc.analyzer.inference.calls import (
    CallContext,
    call_function,
    call_open,
    expand_arguments,
    hand_over,
)
from contextc.analyzer.inference.classes import OBJECT, declared_fields
from contextc.analyzer.inference.construction import find_place, note_construction, running_method
from contextc.analyzer.inference.fitness import takes
from contextc.analyzer.inference.kernel import Frame, Kernel
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Target
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import (
    ClassObject,
    External,
    FunctionValue,
    Grip,
    Instance,
    Open,
    Value,
    ValueSet,
    Wrapper,
)

MAX_MADE = 8  # constructors that a metaclass's own call is likely to run


def construct(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet:
    """Calls a class: metaclass `__call__`, `__new__`, `__init__`, whichever the repository defines."""
    kernel = frame.kernel
    classes = kernel.classes
    if not classes.is_known(callee.cls):
        return call_open(frame, kernel.make.external(callee.cls[1:]), args, context)
    info = classes.info(callee.cls)
    if frame.recorder is not None and callee.grip is Grip.EXACT:
        frame.recorder.made.add(callee.cls)
    args = expand_arguments(frame, args)
    if not classes.in_repository(callee.cls):
        from contextc.analyzer.inference.library import construct_stub

        return construct_stub(frame, callee, args, context)
    if info.metaclass is not None:
        hook = classes.owner(info.metaclass, "__call__")
        if hook is not None and classes.in_repository(hook):
            run_constructor(frame, callee, hook, "__call__", args, context)
            context = context._replace(unlikely=True)  # by the hook, if at all
    if classes.is_subclass(callee.cls, "~enum:Enum"):
        from contextc.analyzer.inference.enumerations import find_member

        return find_member(frame, callee, args, context)
    exact = callee.grip is Grip.EXACT and not callee.args
    place = find_place(frame, callee.cls, context.at) if exact else None
    result: ValueSet = frozenset({kernel.make.instance(callee.cls, callee.grip, callee.args, place)})
    ran = run_new(frame, callee, args, context)
    if ran is not None:
        result = ran
    initialiser = classes.owner(callee.cls, "__init__")
    keys: tuple[tuple[str, str], ...] = (("made" if callee.grip is Grip.EXACT else "below", callee.cls),)
    if place is not None:
        keys = (*keys, ("made", place))
    if initialiser is not None and classes.in_repository(initialiser):
        if callee.grip is Grip.EXACT:
            frame.write(("constructed", callee.cls), frozenset({kernel.make.class_object(callee.cls)}))
        run_constructor(frame, callee, initialiser, "__init__", args, context, keys)
    else:
        _construct_without_init(frame, callee, args, context, initialiser, ran is not None)
    if callee.grip is not Grip.EXACT:
        _construct_below(frame, callee, args, context, keys)
    return result


def make_by_metaclass(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`super().__call__(…)`, `type.__call__(cls, …)` in a metaclass: makes an object of a class that has it. What the
    object gets is said where the class is called."""
    classes = frame.kernel.classes
    owner = receiver
    if owner is None:
        owner = next((v for v in args.positional[0][1] if isinstance(v, Instance)), None) if args.positional else None
    if context.outcome is None or not isinstance(owner, Instance) or not classes.in_repository(owner.cls):
        return None
    found: dict[str, None] = {}
    for cls in classes.made_by(owner.cls):
        methods = [(name, classes.owner(cls, name)) for name in ("__new__", "__init__")]
        local = [(name, c) for name, c in methods if c is not None and classes.in_repository(c)]
        own = [f for name, c in local for f in classes.functions(c, name)]
        found.update(dict.fromkeys(own or [cls]))
    for symbol in found:
        rare = context.possible or len(found) > MAX_MADE
        context.outcome.targets.add(Target(symbol, EdgeKind.CONSTRUCT, Rule.CONSTRUCTOR, symbol, rare, by_class=True))
    return None


def _construct_below(
    frame: Frame, callee: ClassObject, args: Arguments, context: CallContext, keys: tuple[tuple[str, str], ...]
) -> None:
    """`cls()`: what making an object of each class below runs, where it is not what runs for the class itself."""
    classes = frame.kernel.classes
    running = running_method(frame, callee)
    own = {name: classes.owner(callee.cls, name) for name in ("__new__", "__init__")}
    met = set(own.values())
    for below in classes.descendants(callee.cls) if running is None else classes.heirs(callee.cls, running):
        receiver = frame.kernel.make.class_object(below, Grip.DECLARED)
        maker, initialiser = (classes.owner(below, name) for name in own)
        made = maker is not None and classes.in_repository(maker)
        if made and maker not in met:
            run_new(frame, receiver, args, context)
        if initialiser is None or not classes.in_repository(initialiser):
            _construct_without_init(frame, receiver, args, context, initialiser, made, True)
        elif initialiser not in met:
            run_constructor(frame, receiver, initialiser, "__init__", args, context, keys)
        met.update((maker, initialiser))


def run_new(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet | None:
    """Runs the repository's `__new__`; its result, or None where there is none. What it makes in ways not known is an
    instance of the class; as long as nothing is known of its result, there is none: a guess would stay."""
    kernel = frame.kernel
    owner = kernel.classes.owner(callee.cls, "__new__")
    how = (EdgeKind.CONSTRUCT, Rule.CONSTRUCTOR)
    if owner is None or not kernel.classes.in_repository(owner):
        return _run_stored_new(frame, callee, args, context._replace(how=how))
    found: set[Value] = set()
    for item in frame.read(("cattr", owner, "__new__")):
        function = item.function if isinstance(item, Wrapper) else item
        if isinstance(function, FunctionValue):
            inner = context._replace(how=how)
            found |= call_function(frame, function, callee, args, inner)
        else:
            found.update(kernel.open(Reason.UNTYPED_RECEIVER))
    known = frozenset(v for v in found if not isinstance(v, (Open, External)))
    if len(known) < len(found):
        return known | {kernel.make.instance(callee.cls, callee.grip, callee.args)}
    return known


def _run_stored_new(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> ValueSet | None:
    """Runs a `__new__` that other code stores on the class, as a decorator does: what it makes is taken for an instance
    of the class."""
    kernel = frame.kernel
    if "__new__" not in kernel.classes.foreign_stores:
        return None
    ran = False
    for cls in kernel.classes.mro(callee.cls):
        for item in frame.read(("cattr", cls, "__new__")) if kernel.classes.in_repository(cls) else ():
            function = item.function if isinstance(item, Wrapper) else item
            if isinstance(function, FunctionValue):
                ran = True
                call_function(frame, function, callee, args, context)
    return frozenset({kernel.make.instance(callee.cls, callee.grip, callee.args)}) if ran else None


def run_constructor(
    frame: Frame,
    callee: ClassObject,
    owner: str,
    name: str,
    args: Arguments,
    context: CallContext,
    keys: tuple[tuple[str, str], ...] = (),
) -> None:
    """Runs a method of the class that a call of it runs; `keys` say for whom an initialiser's arguments are."""
    kernel = frame.kernel
    receiver: Value = kernel.make.instance(callee.cls, callee.grip, callee.args)
    if name == "__call__":
        receiver = callee
    for item in frame.read(("cattr", owner, name)):
        if isinstance(item, FunctionValue):
            definition = kernel.definition(item.symbol)
            if context.outcome is not None:
                kind, rule = EdgeKind.CONSTRUCT, Rule.CONSTRUCTOR
                if context.possible:
                    kind = EdgeKind.DYNAMIC
                by_class = callee.grip is not Grip.EXACT
                possible = context.possible or context.unlikely
                target = Target(definition.id, kind, rule, callee.cls, possible, by_class=by_class)
                context.outcome.targets.add(target)
                fits = takes(kernel, definition, args, True)
                (context.outcome.taking if fits else context.outcome.refusing).add(definition.id)
                if kernel.classes.unknown_before(callee.cls, name) is not None:
                    context.outcome.reasons.add(Reason.EXTERNAL_VALUE)
            _, passed = hand_over(frame, definition, receiver, args)
            if name == "__init__":
                note_construction(frame, keys, definition, passed, is_whole(args))


def _construct_without_init(
    frame: Frame,
    callee: ClassObject,
    args: Arguments,
    context: CallContext,
    initialiser: str | None,
    made: bool,
    is_below: bool = False,
) -> None:
    """No `__init__` of the repository: the class itself is the target; a data class's fields take the arguments.
    `is_below`: one of several classes, which is never certain."""
    from contextc.analyzer.inference.library import take_in

    kernel = frame.kernel
    outcome = context.outcome
    if outcome is not None and not made:
        kind = EdgeKind.DYNAMIC if context.possible else EdgeKind.CONSTRUCT
        possible = context.possible or context.unlikely
        by_class = callee.grip is not Grip.EXACT
        abstract = by_class and _is_extended(kernel, callee.cls)
        one = Target(callee.cls, kind, Rule.CONSTRUCTOR, callee.cls, possible, abstract, is_below, by_class=by_class)
        outcome.targets.add(one)
    take_in(frame, kernel.make.instance(callee.cls, callee.grip, callee.args), args)
    unknown = kernel.classes.has_unknown_base(callee.cls)
    fields = declared_fields(kernel.statics, kernel.classes, callee.cls)
    if fields and (initialiser in (None, OBJECT) or initialiser == TUPLE or unknown):
        from contextc.analyzer.inference.data_fields import fill_fields

        fill_fields(frame, callee, args, context)


def _is_extended(kernel: Kernel, cls: str) -> bool:
    """Whether a class has a method that only declares, and each class at the bottom of its hierarchy fills it in:
    objects are of those."""
    classes = kernel.classes
    bottom = [c for c in classes.descendants(cls) if not classes.descendants(c)]
    names = {m.name: m for c in classes.mro(cls) if bottom and classes.in_repository(c) for m in _methods(kernel, c)}
    for name, method in names.items():
        if kernel.is_abstract(method) and method.id in classes.functions(classes.owner(cls, name) or cls, name):
            owners = {classes.owner(c, name) for c in bottom}
            functions = [f for o in owners if o is not None for f in classes.functions(o, name)]
            if not any(kernel.is_abstract(kernel.definition(f)) for f in functions):
                return True
    return False


def _methods(kernel: Kernel, cls: str) -> Iterator[Definition]:
    return (child for child in kernel.definition(cls).children if child.is_function)
