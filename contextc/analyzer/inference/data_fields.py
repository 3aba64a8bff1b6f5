"""Data classes: what their fields receive, and what the generated `__init__` runs.

In: a class without an `__init__` of its own and the arguments of a call of it. Out: fields filled, default factories
and `__post_init__` run. `field(default_factory=f)` calls `f` for each object that is not given the field.
"""

from __future__ import annotations

from collections.abc import Iterable

from contextc.analyzer.inference.binding import Arguments, is_whole
from contextc.analyzer.inference.bindings import ValueBinding
from contextc.analyzer.inference.callbacks import subscripted_name
from contextc.analyzer.inference.calls import CallContext, call_value
from contextc.analyzer.inference.classes import declared_fields, has_decorator
from contextc.analyzer.inference.instantiation import run_constructor
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import NOTHING, ClassObject, FunctionValue, Grip, Instance, Value, ValueSet

_POST = {
    "__post_init__": frozenset({"dataclass"}),
    "__attrs_post_init__": frozenset({"define", "frozen", "mutable", "s", "attrs"}),
}  # by the decorators that make the generated `__init__` run them
_FACTORIES = frozenset({"default_factory", "factory"})
Field = tuple[str, Definition, ValueBinding]


def fill_fields(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> None:
    """The generated `__init__`: arguments into fields, factories for the fields that get none, then `__post_init__`."""
    fields = declared_fields(frame.kernel.statics, frame.kernel.classes, callee.cls)
    given = _given([name for name, _, _ in fields], args)
    for name, values in given.items():
        frame.write(("iattr", callee.cls, name), values)
    for name, definition, binding in fields:
        if name not in given:
            for factory in _factories(frame, definition, binding.value):
                _run_factory(frame, callee, name, factory, context, sure=is_whole(args))
    run_post_init(frame, callee, _handed_on(fields, given), context)


def _given(fields: list[str], args: Arguments) -> dict[str, ValueSet]:
    """Fields and their arguments."""
    found: dict[str, ValueSet] = {}
    for (star, values), name in zip(args.positional, fields, strict=False):
        if star:
            break
        found[name] = values
    found.update({name: values for name, values in args.keywords if name in fields})
    return found


def _handed_on(fields: Iterable[Field], given: dict[str, ValueSet]) -> Arguments:
    """What `__post_init__` gets: the arguments of the fields that are no attributes."""
    kept = (name for name, _, binding in fields if subscripted_name(binding.annotation) == "InitVar")
    return Arguments(tuple(("", given.get(name, NOTHING)) for name in kept), ())


def run_post_init(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> None:
    """What the generated `__init__` runs last."""
    kernel = frame.kernel
    for name, decorators in _POST.items():
        owner = kernel.classes.owner(callee.cls, name)
        if owner is None or not kernel.classes.in_repository(owner):
            continue
        line = [kernel.definition(c) for c in kernel.classes.mro(callee.cls) if kernel.classes.in_repository(c)]
        if any(has_decorator(kernel.statics, c, decorators) for c in line):
            run_constructor(frame, callee, owner, name, args, context)


def _factories(frame: Frame, definition: Definition, default: ir.Expr | None) -> list[Value]:
    """What makes a field's default: the factory that `field` or `ib` is given, what `Factory` wraps."""
    found: list[Value] = []
    if not isinstance(default, ir.Call):
        return found
    wraps = _last_part(default.func) == "Factory"
    for argument in default.args:
        if argument.keyword in _FACTORIES or (wraps and argument.keyword is None):
            found.extend(_callables(frame, definition, argument.value))
        elif argument.keyword == "default":
            found.extend(_factories(frame, definition, argument.value))
    return found


def _callables(frame: Frame, definition: Definition, expr: ir.Expr) -> list[Value]:
    """The functions and classes of the repository that an expression in a class body names."""
    kernel = frame.kernel
    if isinstance(expr, ir.Lambda):
        return [kernel.make.function(definition.module.definitions[expr.symbol].id)]
    values = [v for i in kernel.statics.resolve_expression(definition, expr) for v in kernel.static_value(i)]
    return [
        v for v in values if isinstance(v, FunctionValue) or (isinstance(v, ClassObject) and _is_own(frame, v))
    ]


def _is_own(frame: Frame, value: ClassObject) -> bool:
    return frame.kernel.classes.in_repository(value.cls)


def _run_factory(
    frame: Frame, callee: ClassObject, name: str, factory: Value, context: CallContext, sure: bool
) -> None:
    """Calls a field's factory. `sure`: the field is not among the arguments, so that what makes the object runs it."""
    outcome = Outcome() if context.outcome is not None else None
    how = (EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK)
    frame.write(("iattr", callee.cls, name), call_value(frame, factory, Arguments((), ()), -1, outcome, how))
    if outcome is not None and context.outcome is not None:
        possible = context.possible or context.unlikely
        by_class = callee.grip is not Grip.EXACT
        context.outcome.targets.update(
            t._replace(group=callee.cls if sure else t.group, possible=t.possible or possible, by_class=by_class)
            for t in outcome.targets
        )


def replace_fields(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`dataclasses.replace(x, field=y)`: the object's class is called for the changed fields and the kept ones."""
    classes = frame.kernel.classes
    changes = Arguments((), args.keywords)
    for value in args.positional[0][1] if args.positional else ():
        if not isinstance(value, Instance) or not classes.in_repository(value.cls):
            continue
        below = classes.owners_below(value.cls, "__post_init__") if value.grip is not Grip.EXACT else ()
        for cls, grip in ((value.cls, value.grip), *((cls, Grip.DECLARED) for cls, _ in below)):
            callee = frame.kernel.make.class_object(cls, grip)
            fields = declared_fields(frame.kernel.statics, classes, cls)
            given = _given([name for name, _, _ in fields], changes)
            for name, values in given.items():
                frame.write(("iattr", cls, name), values)
            run_post_init(frame, callee, _handed_on(fields, given), context)
    return None


def _last_part(expr: ir.Expr) -> str:
    return expr.id if isinstance(expr, ir.Name) else expr.attr if isinstance(expr, ir.Attribute) else ""
