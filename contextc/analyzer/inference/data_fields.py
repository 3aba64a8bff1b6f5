"""Data classes: what their fields receive, and what the generated `__init__` runs.

In: a class without an `__init__` of its own and the arguments of a call of it. Out: fields filled, default factories
and `__post_init__` run. `field(default_factory=f)` calls `f` for each object that is not given the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contextc.analyzer.inference.bare_containers import is_bare
from contextc.analyzer.inference.binding import Arguments, is_whole
from contextc.analyzer.inference.bindings import ValueBinding
from contextc.analyzer.inference.callbacks import subscripted_name
from contextc.analyzer.inference.calls import CallContext, call_value
from contextc.analyzer.inference.classes import declared_fields, field_maker, has_decorator, is_field
from contextc.analyzer.inference.instantiation import run_constructor
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    NOTHING,
    ClassObject,
    External,
    FunctionValue,
    Grip,
    Instance,
    SpecialForm,
    Value,
    ValueSet,
)

_POST = {
    "__post_init__": frozenset({"dataclass"}),
    "__attrs_post_init__": frozenset({"define", "frozen", "mutable", "s", "attrs"}),
}  # by the decorators that make the generated `__init__` run them
_FACTORIES = frozenset({"default_factory", "factory"})
Field = tuple[str, Definition, ValueBinding]


def fill_fields(frame: Frame, callee: ClassObject, args: Arguments, context: CallContext) -> None:
    """The generated `__init__`: arguments into fields, factories for the fields that get none, then `__post_init__`."""
    fields = declared_fields(frame.kernel.statics, frame.kernel.classes, callee.cls)
    given = _given(fields, args)
    for name, definition, binding in fields:
        if name in given:
            values = _convert(frame, definition, binding.value, given[name], context, callee)
            frame.write(("iattr", callee.cls, name), values)
            continue
        for factory in _factories(frame, definition, binding.value):
            values = _run(frame, callee, factory, Arguments((), ()), context, sure=is_whole(args))
            frame.write(("iattr", callee.cls, name), values)
    run_post_init(frame, callee, _handed_on(fields, given), context)


def _given(fields: Iterable[Field], args: Arguments) -> dict[str, ValueSet]:
    """Fields and their arguments. The argument of a private field of attrs has no underscore."""
    names = [name for name, _, binding in fields if _is_given(binding)]
    found: dict[str, ValueSet] = {}
    for (star, values), name in zip(args.positional, names, strict=False):
        if star:
            break
        found[name] = values
    known = {**{name.lstrip("_"): name for name in names}, **{name: name for name in names}}
    found.update({known[name]: values for name, values in args.keywords if name in known})
    return found


def _is_given(binding: ValueBinding) -> bool:
    """Whether a field has a parameter: no class variable, nor one that its `field` call keeps out."""
    if subscripted_name(binding.annotation) == "ClassVar" or _last_part(binding.annotation) == "ClassVar":
        return False
    options = binding.value.args if isinstance(binding.value, ir.Call) else ()
    return not any(
        o.keyword == "init" and isinstance(o.value, ir.Constant) and o.value.type == "bool" and not o.value.value
        for o in options
    )


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


def field_values(frame: Frame, name: str, values: ValueSet) -> ValueSet:
    """What a class attribute holds whose value a library's `field()` describes: where its annotation says too little,
    the default; a container that a factory makes stands for those of all objects. Else the values as they are."""
    kernel = frame.kernel
    binding = kernel.statics.table(frame.unit).names.get(name, [None])[-1]
    if not isinstance(binding, ValueBinding) or not isinstance(binding.value, ir.Call):
        return values
    if not is_field(kernel.statics, frame.unit, binding) or not field_maker(kernel.statics, frame.unit, binding.value):
        return values
    told = [a.value for a in binding.value.args if a.keyword == "type"]
    written = told[0] if binding.annotation is None and told else binding.annotation
    declared = kernel.annotations.read(written, frame.unit) if written is not None else NOTHING
    if not kernel.is_weak(declared) and not any(is_bare(v) for v in declared):
        return declared
    kept = frozenset(v for v in declared if not isinstance(v, SpecialForm))
    return kept | _defaults(frame, binding.value)


def _defaults(frame: Frame, call: ir.Call) -> ValueSet:
    """What a field holds that got no argument, but for what factories of the repository make."""
    from contextc.analyzer.inference.expressions import evaluate

    wraps = _last_part(call.func) == "Factory"
    found: set[Value] = set()
    for argument in call.args:
        if argument.keyword in _FACTORIES or (wraps and argument.keyword is None):
            found.update(_made_by_library(frame, evaluate(frame, argument.value), call.at))
        elif argument.keyword in ("default", None) and field_maker(frame.kernel.statics, frame.unit, argument.value):
            assert isinstance(argument.value, ir.Call)
            found |= _defaults(frame, argument.value)
        elif argument.keyword in ("default", None):
            found.update(v for v in evaluate(frame, argument.value) if not isinstance(v, External))
    return frozenset(found)


def _made_by_library(frame: Frame, factories: ValueSet, at: int) -> Iterator[Value]:
    """Objects of the library's classes among the factories; a container by the place of the field."""
    for value in factories:
        if isinstance(value, ClassObject) and frame.kernel.classes.is_known(value.cls) and not _is_own(frame, value):
            holds = bool(frame.kernel.annotations.type_parameters(value.cls)) and not value.args
            site = frame.site_key(at) if holds else None
            yield frame.kernel.make.instance(value.cls, Grip.EXACT, value.args, site)


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


def _convert(
    frame: Frame,
    definition: Definition,
    default: ir.Expr | None,
    values: ValueSet,
    context: CallContext,
    callee: ClassObject,
) -> ValueSet:
    """What attrs makes of an argument: what the repository's converter gives for it, where the field has one."""
    options = default.args if isinstance(default, ir.Call) else ()
    converters = [c for o in options if o.keyword == "converter" for c in _callables(frame, definition, o.value)]
    if not converters:
        return values
    args = Arguments((("", values),), ())
    return NOTHING.union(*(_run(frame, callee, one, args, context, sure=True) for one in converters))


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


def _run(
    frame: Frame, callee: ClassObject, function: Value, args: Arguments, context: CallContext, sure: bool
) -> ValueSet:
    """Calls a field's factory or converter; what that gives. `sure`: making the object surely runs it."""
    outcome = Outcome() if context.outcome is not None else None
    how = (EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK)
    result = call_value(frame, function, args, -1, outcome, how)
    if outcome is not None and context.outcome is not None:
        possible = context.possible or context.unlikely
        by_class = callee.grip is not Grip.EXACT
        context.outcome.targets.update(
            t._replace(group=callee.cls if sure else t.group, possible=t.possible or possible, by_class=by_class)
            for t in outcome.targets
        )
    return result


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
            given = _given(fields, changes)
            for name, values in given.items():
                frame.write(("iattr", cls, name), values)
            run_post_init(frame, callee, _handed_on(fields, given), context)
    return None


def _last_part(expr: ir.Expr | None) -> str:
    return expr.id if isinstance(expr, ir.Name) else expr.attr if isinstance(expr, ir.Attribute) else ""
