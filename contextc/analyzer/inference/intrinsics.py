"""Library functions whose meaning no stub can say: decorators of the standard library, getattr, partial, super.

In: a call's arguments. Out: its result, or None to go by the stub. Two closed tables: `LIBRARY` by a function's id,
`CONSTRUCTORS` by a class's.
"""

from __future__ import annotations

from collections.abc import Callable

from contextc.analyzer.inference import dynamic
from contextc.analyzer.inference.attribute_stores import store_attribute
from contextc.analyzer.inference.attributes import note_plain
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext, call_value
from contextc.analyzer.inference.contained import register_contained
from contextc.analyzer.inference.data_fields import replace_fields
from contextc.analyzer.inference.enumerations import member_value
from contextc.analyzer.inference.generics import element_values
from contextc.analyzer.inference.hooks import (
    await_handlers,
    keep_exit_function,
    keep_handler,
    perhaps_run_handlers,
    run_exit_functions,
    run_handlers,
)
from contextc.analyzer.inference.implicit_calls import call_method, has_own_method, iterate, note_resumed
from contextc.analyzer.inference.implicit_names import note_unknown
from contextc.analyzer.inference.instantiation import make_by_metaclass
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.made_objects import MADE_CLASS, make_classes, make_namespace, make_options
from contextc.analyzer.inference.namespaces import GLOBALS, lookup_namespace
from contextc.analyzer.inference.object_namespaces import METHODS, call_namespace, object_namespace, set_on_object
from contextc.analyzer.inference.operators import (
    CALLED,
    add_up,
    call_method_by_name,
    get_attributes,
    get_items,
    run_getter,
)
from contextc.analyzer.inference.patches import (
    patch_by_path,
    patch_items,
    patch_object,
    patch_several,
    set_attribute,
)
from contextc.model.edge import Reason, Rule
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    ClassObject,
    External,
    FunctionValue,
    Grip,
    Instance,
    Intrinsic,
    Literal,
    Open,
    Partial,
    PropertyObject,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
)

Model = Callable[[Frame, "Value | None", Arguments, CallContext], "ValueSet | None"]


def _argument(args: Arguments, index: int, keyword: str = "") -> ValueSet:
    for name, values in args.keywords:
        if keyword and name == keyword:
            return values
    return args.positional[index][1] if index < len(args.positional) else NOTHING


def _functions(values: ValueSet) -> list[FunctionValue]:
    found = []
    for value in values:
        inner = value.function if isinstance(value, Wrapper) else value
        if isinstance(inner, FunctionValue):
            found.append(inner)
    return found


# ------------------------------------------------------------------------------------------------------ decorators


def _identity(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    return _argument(args, 0) if args.positional else None


def _decorator_or_factory(
    frame: Frame, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`@lru_cache` and `@lru_cache(maxsize=1)`: what is decorated stays itself."""
    factory = frame.kernel.make.intrinsic("identity")
    if not args.positional:
        return frozenset({factory})
    decorated = (FunctionValue, ClassObject, BoundMethod)
    return frozenset(v if isinstance(v, decorated) else factory for v in _argument(args, 0))


def _wraps(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    return frozenset({frame.kernel.make.intrinsic("identity")})


def _context_manager(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    return frozenset(make.function(f.symbol, f.inner, "contextmanager") for f in _functions(_argument(args, 0)))


def _single_dispatch(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    return frozenset(make.function(f.symbol, f.inner, "singledispatch") for f in _functions(_argument(args, 0)))


def _property(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    getters, setters, deleters = (_accessors(args, i, name) for i, name in enumerate(("fget", "fset", "fdel")))
    return frozenset(make.property(g, s, d) for g in getters for s in setters for d in deleters if g or s)


def _accessors(args: Arguments, index: int, keyword: str) -> list[FunctionValue | None]:
    """The functions that `property` was given at one place; None where it was given none, or something else."""
    if index >= len(args.positional) and all(name != keyword for name, _ in args.keywords):
        return [None]
    found: dict[FunctionValue | None, None] = {}
    for value in _argument(args, index, keyword):
        functions = _functions(frozenset({value}))
        found.update(dict.fromkeys(functions) if functions else {None: None})
    return list(found)


def _cached_property(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    return frozenset(make.property(f, None, None, True) for f in _functions(_argument(args, 0)))


def _static_method(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    return frozenset(frame.kernel.make.wrapper("staticmethod", v) for v in _argument(args, 0))


def _class_method(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    return frozenset(frame.kernel.make.wrapper("classmethod", v) for v in _argument(args, 0))


# ------------------------------------------------------------------------------------------------------ objects


def _super(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    return dynamic.super_values(frame, args)


def _type(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`type(x)` is x's class; `type(name, bases, dict)` makes one that no text shows, of which its bases are known."""
    make = frame.kernel.make
    if len(args.positional) != 1:
        if context.outcome is not None:
            register_contained(frame, args, context.outcome)
        bases = element_values(frame, _argument(args, 1))
        known = frozenset(b for b in bases if isinstance(b, ClassObject) and frame.kernel.classes.in_repository(b.cls))
        made = make_classes(frame, _argument(args, 1), _argument(args, 2))
        return known | made | frame.kernel.open(Reason.DYNAMIC_CODE)
    found: set[Value] = set()
    for value in args.positional[0][1]:
        if isinstance(value, Instance):
            found.add(make.class_object(value.cls, value.grip))
        elif isinstance(value, (Literal, Text)):
            found.add(make.class_object(f"~builtins:{value.type if isinstance(value, Literal) else 'str'}"))
        elif isinstance(value, (Open, External, SpecialForm, TypeVariable)):
            found |= frame.kernel.open(Reason.UNTYPED_RECEIVER)
    if not found and frame.recorder is not None:
        return frame.kernel.open(Reason.UNTYPED_RECEIVER)
    return frozenset(found)


def _partial(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    bound = tuple(values for mark, values in args.positional[1:] if not mark)
    keywords = tuple((name, values) for name, values in args.keywords if name is not None)
    return frozenset(make.partial(f, bound, keywords) for f in _argument(args, 0))


def _method_type(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    return frozenset(
        make.bound(instance, function)
        for function in _functions(_argument(args, 0))
        for instance in _argument(args, 1)
    )


# ------------------------------------------------------------------------------------------------------ dynamic


def _getattr(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    return dynamic.get_attribute(
        frame, _argument(args, 0), _argument(args, 1), _argument(args, 2), context.at
    )


def _setattr(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    for name in _argument(args, 1):
        if isinstance(name, Literal) and isinstance(name.value, str):
            store_attribute(frame, _argument(args, 0), name.value, _argument(args, 2), context.at)
    return frame.kernel.none


def _import_module(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    has_package = len(args.positional) > 1 or any(name == "package" for name, _ in args.keywords)
    package = _argument(args, 1, "package") if has_package else None
    found, unknown = dynamic.import_modules(frame, _argument(args, 0, "name"), package, context.at)
    if unknown:
        if context.outcome is not None:
            context.outcome.reasons.add(Reason.DYNAMIC_IMPORT)
        return found | frame.kernel.open(Reason.DYNAMIC_IMPORT)
    return found


def _run_code(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    if context.outcome is not None:
        context.outcome.reasons.add(Reason.DYNAMIC_CODE)
    return frame.kernel.open(Reason.DYNAMIC_CODE)


def _namespace(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`locals()`, `vars()`: whatever is looked up there is named at run time."""
    return frame.kernel.open(Reason.DYNAMIC_CODE)


def _globals(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    make = frame.kernel.make
    return frozenset({make.intrinsic(GLOBALS, make.module(frame.unit.module.module_id))})


def _iter(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    values = _argument(args, 0)
    if len(args.positional) != 1:
        return None
    own = frozenset(v for v in values if has_own_method(frame, v, "__iter__"))
    found: set[Value] = set()
    for value in own:
        found |= call_method(frame, value, "__iter__", (), context.at, Rule.ITERATION)
    cls = frame.kernel.library_class("typing", "Iterator")
    rest = iterate(frame, values - own, -1)
    if rest and cls is not None:
        found.add(frame.kernel.make.instance(cls, Grip.EXACT, (rest,)))
    return frozenset(found)


def _next(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    found: set[Value] = set(_argument(args, 1))
    for value in _argument(args, 0):
        met = frame.recorder.met if frame.recorder is not None else 0
        note_unknown(frame, value, "__next__", context.at)
        if has_own_method(frame, value, "__next__"):
            found |= call_method(frame, value, "__next__", (), context.at, Rule.ITERATION)
        else:
            note_resumed(frame, value, context.at)
            found |= element_values(frame, frozenset({value}))
        if not isinstance(value, Instance) or value.grip is Grip.EXACT:  # one declared so may be what is beside it
            note_plain(frame, value, context.at, met)
    return frozenset(found)


LIBRARY: dict[str, Model] = {
    "~builtins:getattr": _getattr, "~builtins:setattr": _setattr, "~importlib:import_module": _import_module,
    "~builtins:__import__": _import_module, "~builtins:eval": _run_code, "~builtins:exec": _run_code,
    "~builtins:globals": _globals, "~builtins:locals": _namespace, "~builtins:vars": object_namespace,
    "~builtins:iter": _iter, "~builtins:next": _next, "~functools:wraps": _wraps,
    "~functools:update_wrapper": _identity, "~functools:lru_cache": _decorator_or_factory,
    "~functools:cache": _identity, "~functools:singledispatch": _single_dispatch,
    "~functools:total_ordering": _identity, "~contextlib:contextmanager": _context_manager,
    "~contextlib:asynccontextmanager": _context_manager, "~dataclasses:dataclass": _decorator_or_factory,
    "~abc:abstractmethod": _identity, "~enum:unique": _identity,
    "~enum:Enum.value": member_value, "~dataclasses:replace": replace_fields, "~copy:replace": replace_fields,
    "~importlib.__init__:import_module": _import_module, "~builtins:sum": add_up,
    "~signal:signal": keep_handler, "~signal:raise_signal": run_handlers, "~signal:pause": await_handlers,
    "~os:kill": perhaps_run_handlers, "~signal:pthread_kill": perhaps_run_handlers,
    "~unittest.mock:_patcher.__call__": patch_by_path, "~unittest.mock:_patcher.object": patch_object,
    "~unittest.mock:_patcher.multiple": patch_several,
    "~_pytest.monkeypatch:MonkeyPatch.setattr": set_attribute,
    "~builtins:type.__call__": make_by_metaclass, "~builtins:object.__setattr__": set_on_object,
    "~builtins:object.__getattribute__": dynamic.get_plain_attribute,
    "~atexit:register": keep_exit_function, "~atexit:_run_exitfuncs": run_exit_functions,
}  # fmt: skip
CONSTRUCTORS: dict[str, Model] = {
    "~unittest.mock:_patch_dict": patch_items, "~types:SimpleNamespace": make_namespace,
    "~argparse:Namespace": make_options,
    "~builtins:super": _super, "~builtins:property": _property, "~builtins:staticmethod": _static_method,
    "~builtins:classmethod": _class_method, "~builtins:type": _type, "~functools:partial": _partial,
    "~functools:partialmethod": _partial, "~functools:singledispatchmethod": _single_dispatch,
    "~functools:cached_property": _cached_property,
    "~operator:attrgetter": get_attributes, "~operator:itemgetter": get_items,
    "~operator:methodcaller": call_method_by_name,
    "~types:MethodType": _method_type, "~abc:abstractproperty": _property,
}  # fmt: skip


def call_intrinsic(frame: Frame, callee: Intrinsic, args: Arguments, context: CallContext) -> ValueSet:
    """Calls an operation that inference made itself."""
    make = frame.kernel.make
    owner = callee.owner
    if context.outcome is not None:
        context.outcome.others += 1
    if callee.name == MADE_CLASS:
        return frozenset({owner}) if owner is not None else NOTHING
    if callee.name == "identity":
        return _argument(args, 0)
    if callee.name in CALLED:
        return run_getter(frame, callee.name, args, context)
    if callee.name == "register" and isinstance(owner, Partial):
        if isinstance(owner.function, FunctionValue):
            return _register(frame, owner.function, Arguments((("", owner.args[0]), *args.positional), ()))
        return _argument(args, 0)
    if callee.name in METHODS:
        return call_namespace(frame, callee, args)
    if callee.name == "namespace.get":
        assert isinstance(owner, Intrinsic)
        return lookup_namespace(frame, owner, _argument(args, 0)) | _argument(args, 1)
    if isinstance(owner, PropertyObject):
        found: set[Value] = set()
        for function in _functions(_argument(args, 0)):
            if callee.name == "property.setter":
                found.add(make.property(owner.getter, function, owner.deleter, owner.cached))
            elif callee.name == "property.deleter":
                found.add(make.property(owner.getter, owner.setter, function, owner.cached))
            elif callee.name == "property.getter":
                found.add(make.property(function, owner.setter, owner.deleter, owner.cached))
        return frozenset(found)
    if isinstance(owner, (FunctionValue, BoundMethod)):
        return _function_attribute(frame, callee, owner, args, context)
    return NOTHING


def _register(frame: Frame, owner: FunctionValue | BoundMethod, args: Arguments) -> ValueSet:
    """`@f.register`, `@f.register(cls)`, `f.register(cls, g)` of a single-dispatch function."""
    make = frame.kernel.make
    function = owner if isinstance(owner, FunctionValue) else owner.function
    first = _argument(args, 0)
    found: set[Value] = set(_functions(first))
    for item in _functions(first):
        for cls in _first_annotation(frame, item):
            _implement(frame, function, cls, item)
    for cls in first:
        if not isinstance(cls, (ClassObject, Intrinsic)):
            continue
        if len(args.positional) == 1:
            found.add(make.intrinsic("register", make.partial(function, (frozenset({cls}),), ())))
        for item in _functions(_argument(args, 1)):
            _implement(frame, function, cls, item)
            found.add(item)
    return frozenset(found)


def _implement(frame: Frame, function: FunctionValue, cls: Value, implementation: FunctionValue) -> None:
    if isinstance(cls, ClassObject):
        frame.write(("dispatch", function.symbol), frozenset({cls}))
        frame.write(("dispatch", function.symbol, cls.cls), frozenset({implementation}))


def _first_annotation(frame: Frame, function: FunctionValue) -> ValueSet:
    """The classes that a function's first annotated parameter names."""
    definition = frame.kernel.definition(function.symbol)
    for parameter in definition.facts.parameters:
        if parameter.annotation is not None:
            scope = definition.parent or definition
            declared = frame.kernel.annotations.read(parameter.annotation, scope, definition)
            return frame.kernel.annotations.classes_of(declared)
    return NOTHING


def _function_attribute(
    frame: Frame, callee: Intrinsic, owner: FunctionValue | BoundMethod, args: Arguments, context: CallContext
) -> ValueSet:
    """A method of a function object: `f.register(cls)(g)`, `f.__get__(obj)`, `f.__call__()`."""
    name = callee.name.partition(".")[2]
    if name == "__call__":
        return call_value(frame, owner, args, context.at, context.outcome, context.how)
    if name == "__get__" and isinstance(owner, FunctionValue):
        return frozenset(frame.kernel.make.bound(v, owner) for v in _argument(args, 0))
    if name == "register":
        return _register(frame, owner, args)
    if context.outcome is not None:
        context.outcome.soft.add(Reason.MISSING_ATTRIBUTE)
        context.outcome.others -= 1
    return frame.kernel.open(Reason.EXTERNAL_VALUE)
