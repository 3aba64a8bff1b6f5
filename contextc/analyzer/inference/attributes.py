"""Attribute access: what `value.name` is, and what it stores.

In: a value and a name. Out: a value set; a function found on a class arrives bound. Reads join over the MRO; a declared
receiver also admits what subclasses define. Properties and descriptors run here, and are recorded as implicit calls.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotations import substitute
from contextc.analyzer.inference.classes import OBJECT, TYPE, UNCLEAR
from contextc.analyzer.inference.construction import (
    read_any,
    read_field,
    running_method,
)
from contextc.analyzer.inference.generics import mapping_for
from contextc.analyzer.inference.implicit_names import note_unknown
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.lazy_names import ask_module
from contextc.analyzer.inference.lookup_hooks import fall_back, is_dunder, note_family, property_targets, run_hook
from contextc.analyzer.inference.namespaces import ATTRIBUTES, note_possible_read
from contextc.analyzer.inference.recorder import Outcome
from contextc.analyzer.inference.stub_members import stub_member
from contextc.model.edge import EdgeKind, Reason, Rule
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

_ACCESSORS = {
    "fget": "getter", "fset": "setter", "fdel": "deleter", "func": "getter", "__get__": "getter", "__set__": "setter",
    "__delete__": "deleter",
}  # fmt: skip
MAX_CLASS_NAMES = 160  # the classes of `ast` are 120


def read_attributes(frame: Frame, values: ValueSet, name: str, at: int) -> ValueSet:
    """The attribute on each value of a set. `at` numbers the access, -1 for one that is not in the source."""
    found: set[Value] = set()
    for value in values:
        met = frame.recorder.met if frame.recorder is not None else 0
        note_unknown(frame, value, name, at)
        result = read_attribute(frame, value, name, at)
        found |= result
        if result:
            note_plain(frame, value, at, met)
    return frozenset(found)


def note_plain(frame: Frame, value: Value, at: int, met: int) -> None:
    """A value for which an operation met no repository code since the recorder counted `met`: what other values run at
    `at` is not all that can happen there."""
    recorder = frame.recorder
    if recorder is not None and recorder.met == met and at >= 0 and value not in frame.kernel.none:
        recorder.plain.add((frame.unit.id, at))


def read_attribute(frame: Frame, value: Value, name: str, at: int) -> ValueSet:
    """The attribute on one value; nothing where the value is known not to have it."""
    kernel = frame.kernel
    if isinstance(value, Instance):
        return _read_instance(frame, value, name, at)
    if isinstance(value, ClassObject):
        return _read_class(frame, value, name, at)
    if isinstance(value, ModuleValue):
        module = kernel.program.modules[value.module]
        if name == "__name__":
            return frozenset({kernel.make.literal("str", module.name)})
        return kernel.module_member(module, name, frame.order) | ask_module(frame, module, name, at)
    if isinstance(value, SuperObject):
        return _read_super(frame, value, name, at)
    if isinstance(value, (Literal, Text)):
        kind = value.type if isinstance(value, Literal) else "str"
        return _bind_all(frame, _class_level(frame, f"~builtins:{kind}", name), value, f"~builtins:{kind}", at)
    if isinstance(value, External):
        return frozenset({kernel.make.external(f"{value.name}.{name}")})
    if isinstance(value, Possible):
        inner = read_attribute(frame, value.value, name, at)
        for item in inner if isinstance(value.value, ModuleValue) else ():
            note_possible_read(frame, item, at)
        return frozenset(kernel.make.possible(v, value.rule) for v in inner)
    if isinstance(value, Open):
        return frozenset({value})
    if isinstance(value, SpecialForm):
        return kernel.open(Reason.EXTERNAL_VALUE) if value.name == "Any" else NOTHING
    if isinstance(value, TypeVariable):
        found = read_attributes(frame, value.bound, name, at)
        return found | kernel.open(Reason.UNTYPED_RECEIVER) if not value.bound else _told(frame, found)
    if isinstance(value, Intrinsic) and value.name == ATTRIBUTES:
        return frozenset({kernel.make.intrinsic(f"{ATTRIBUTES}.{name}", value)})
    if isinstance(value, Intrinsic) and value.name.startswith("namespace.") and name == "get":
        return frozenset({kernel.make.intrinsic("namespace.get", value)})
    if isinstance(value, PropertyObject):
        if name in _ACCESSORS:
            accessor = getattr(value, _ACCESSORS[name])
            return frozenset({accessor}) if accessor is not None else kernel.none
        return frozenset({kernel.make.intrinsic(f"property.{name}", value)})
    return _read_callable(frame, value, name)


def _read_callable(frame: Frame, value: Value, name: str) -> ValueSet:
    """Attributes of functions and the like: what code stored there, else what the stub of their type has."""
    if isinstance(value, FunctionValue):
        if name == "__wrapped__" and value.inner is not None:
            return frame.read(("fattr", value.symbol, name)) | {value.inner}
        return _function_attribute(frame, value, value.symbol, name)
    if isinstance(value, BoundMethod):
        if name == "__self__":
            return frozenset({value.receiver})
        if name == "__func__":
            return frozenset({value.function})
        return _function_attribute(frame, value, value.function.symbol, name)
    if isinstance(value, Partial) and name == "func":
        return frozenset({value.function})
    if isinstance(value, Wrapper) and name in ("__func__", "__wrapped__"):
        return frozenset({value.function})
    return NOTHING


def _function_attribute(frame: Frame, value: FunctionValue | BoundMethod, symbol: str, name: str) -> ValueSet:
    """What code stores on a function under this name; where no text stores such an attribute on anything, what a
    function has."""
    stored = frame.read(("fattr", symbol, name))
    if name == "__name__":
        return stored | _function_names(frame, value)
    if name in frame.kernel.classes.foreign_stores and name not in _OF_FUNCTIONS:
        return stored
    return stored | {frame.kernel.make.intrinsic(f"function.{name}", value)}


def _function_names(frame: Frame, value: FunctionValue | BoundMethod) -> ValueSet:
    """A function's name as written; that of what a decorator's closure stands for too, which `wraps` gives it."""
    function = value.function if isinstance(value, BoundMethod) else value
    symbols = [function.symbol, *([function.inner.symbol] if function.inner is not None else [])]
    kernel = frame.kernel
    return frozenset(kernel.make.literal("str", kernel.definition(symbol).name) for symbol in symbols)


def _told(frame: Frame, found: ValueSet) -> ValueSet:
    """An answer on frozen cells that is empty says so; while cells grow it only means: nothing yet."""
    if found or frame.recorder is None:
        return found
    return frame.kernel.open(Reason.UNTYPED_RECEIVER)


# ------------------------------------------------------------------------------------------------------ instances


def _read_instance(frame: Frame, value: Instance, name: str, at: int) -> ValueSet:
    from contextc.analyzer.inference.made_objects import read_member

    kernel = frame.kernel
    classes = kernel.classes
    if name == "__class__":
        if at >= 0:
            run_hook(frame, value, name, at, True)
        return frozenset({kernel.make.class_object(value.cls, value.grip)})
    owner = classes.owner(value.cls, name)
    met = frame.recorder.met if frame.recorder is not None else 0
    before = property_targets(frame, at)
    found: set[Value] = set(read_member(frame, value, name, at))
    if name == "__dict__" and classes.in_repository(value.cls):
        found.add(kernel.make.intrinsic(ATTRIBUTES, value))
    if owner is not None:
        found |= _bind_all(frame, _class_level(frame, owner, name), value, owner, at)
        found |= _perhaps_above(frame, value.cls, name, at)
    for cls in classes.mro(value.cls):
        if cls.startswith("?"):
            if owner is None:
                found.add(_from_unknown_base(frame, cls, name))
            break
        if classes.in_repository(cls):
            found |= _typed(frame, read_field(frame, frame.read(("iattr", cls, name)), value), value, cls)
    if value.grip is not Grip.EXACT:
        for below, other in classes.owners_below(value.cls, name, running_method(frame, value)):
            grip = Grip.GUESSED if value.grip is Grip.GUESSED else Grip.DECLARED
            receiver = kernel.make.instance(below, grip)
            more = _bind_all(frame, _class_level(frame, other, name), receiver, other, at)
            found |= more if classes.in_repository(value.cls) else _unlikely(frame, more)
            for item in more if owner is None and value.grip is Grip.DECLARED else ():
                note_possible_read(frame, item, at, Rule.RECEIVER_DECLARED)  # the declared class has none
        everywhere = owner is None or name in classes.foreign_stores or (frame.recorder is not None and not found)
        running = running_method(frame, value)
        for below in classes.descendants(value.cls) if everywhere else classes.storers_below(value.cls, name, running):
            lower = kernel.make.instance(below, Grip.DECLARED)
            found |= read_field(frame, frame.read(("iattr", below, name)), lower)
    note_family(frame, value, name, at, met, before)
    if owner is None and not is_dunder(name):
        found |= fall_back(frame, value, name, at, not found)
    if at >= 0:
        found |= run_hook(frame, value, name, at, owner is not None)
    return frozenset(found)


def _unlikely(frame: Frame, values: ValueSet) -> ValueSet:
    """What classes of the repository define below a class of a library, for an object declared to be of that: `Mapping`
    as a type stands for dictionaries first, and only possibly for each mapping that is written here."""
    return frozenset(frame.kernel.make.possible(v, Rule.RECEIVER_DECLARED.value) for v in values)


def _from_unknown_base(frame: Frame, base: str, name: str) -> Value:
    """A member that a base which was not found may have: a library's, or nobody can say whose."""
    if base.startswith(UNCLEAR):
        return frame.kernel.make.open(Reason.UNTYPED_RECEIVER)
    return frame.kernel.make.external(f"{base[1:]}.{name}")


def _perhaps_above(frame: Frame, cls: str, name: str, at: int) -> ValueSet:
    """What may stand before a member that was found: a base that was not found comes first."""
    base = frame.kernel.classes.unknown_before(cls, name)
    if base is None:
        return NOTHING
    if frame.recorder is not None and at >= 0:
        frame.recorder.plain.add((frame.unit.id, at))
    return frame.kernel.open(Reason.UNTYPED_RECEIVER if base.startswith(UNCLEAR) else Reason.EXTERNAL_VALUE)


_OF_FUNCTIONS = frozenset({"__call__", "__get__", "register"})


def _typed(frame: Frame, values: ValueSet, receiver: Instance, owner: str) -> ValueSet:
    """Stored values with the type variables of a generic repository class filled in."""
    if not receiver.args or not any(isinstance(v, TypeVariable) for v in values):
        return values
    return substitute(frame.kernel.annotations, values, mapping_for(frame, receiver, owner), keep=False)


def _class_level(frame: Frame, owner: str, name: str) -> ValueSet:
    """What the class body of `owner` binds to `name`, unbound."""
    kernel = frame.kernel
    if kernel.classes.in_repository(owner):
        return frame.read(("cattr", owner, name))
    return stub_member(frame, owner, name)


# ------------------------------------------------------------------------------------------------------ binding


def _bind_all(frame: Frame, values: ValueSet, receiver: Value, owner: str, at: int) -> ValueSet:
    found: set[Value] = set()
    for value in values:
        found |= bind(frame, value, receiver, owner, at)
    return frozenset(found)


def bind(frame: Frame, value: Value, receiver: Value, owner: str, at: int) -> ValueSet:
    """A class-level value as seen through an instance: the descriptor protocol."""
    kernel = frame.kernel
    make = kernel.make
    if isinstance(value, FunctionValue):
        return frozenset({make.bound(receiver, value)})
    if isinstance(value, Wrapper):
        return _bind_wrapper(frame, value, receiver)
    if isinstance(value, PropertyObject):
        return _get_property(frame, value, receiver, owner, at)
    if isinstance(value, Possible):
        return frozenset(make.possible(v, value.rule) for v in bind(frame, value.value, receiver, owner, at))
    if isinstance(value, Instance):
        getter = kernel.classes.owner(value.cls, "__get__")
        if getter is not None and kernel.classes.in_repository(getter):
            return _call_descriptor(frame, value, receiver, at)
        is_bare = isinstance(receiver, Instance) and value.args and kernel.annotations.bare_base(receiver.cls, owner)
        if isinstance(receiver, Instance) and (receiver.args or receiver.site or is_bare):
            return substitute(kernel.annotations, frozenset({value}), mapping_for(frame, receiver, owner), keep=False)
    if isinstance(value, TypeVariable) and isinstance(receiver, Instance):
        return substitute(kernel.annotations, frozenset({value}), mapping_for(frame, receiver, owner), keep=False)
    return frozenset({value})


def _bind_wrapper(frame: Frame, value: Wrapper, receiver: Value) -> ValueSet:
    make = frame.kernel.make
    if value.kind == "staticmethod" or not isinstance(value.function, FunctionValue):
        return frozenset({value.function})
    if isinstance(receiver, Instance):
        return frozenset({make.bound(make.class_object(receiver.cls, receiver.grip), value.function)})
    return frozenset({make.bound(receiver, value.function)})


def _get_property(frame: Frame, value: PropertyObject, receiver: Value, owner: str, at: int) -> ValueSet:
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value

    if value.getter is None:
        return NOTHING
    outcome = implicit_outcome(frame, at, "get")
    method = frame.kernel.make.bound(receiver, value.getter)
    found = call_value(frame, method, Arguments((), ()), at, outcome, (EdgeKind.PROPERTY, Rule.PROPERTY_GET))
    return _told(frame, found)


def _call_descriptor(frame: Frame, value: Instance, receiver: Value, at: int) -> ValueSet:
    from contextc.analyzer.inference.implicit_calls import call_method

    make = frame.kernel.make
    owner = frozenset({make.class_object(receiver.cls, receiver.grip)}) if isinstance(receiver, Instance) else NOTHING
    return call_method(frame, value, "__get__", (frozenset({receiver}), owner), at, Rule.DESCRIPTOR)


def implicit_outcome(frame: Frame, at: int, operation: str) -> Outcome | None:
    """Where an implicit call at `at` is recorded; None outside the resolution pass, or without a place. One access can
    run several receivers' code: they share the outcome."""
    if frame.recorder is None or at < 0 or frame.quiet:
        return None
    key = (frame.unit.id, at, operation)
    outcome = frame.recorder.implicit.get(key)
    return outcome if outcome is not None else frame.recorder.open_implicit(*key)


# ------------------------------------------------------------------------------------------------------ classes


def _read_class(frame: Frame, value: ClassObject, name: str, at: int) -> ValueSet:
    kernel = frame.kernel
    classes = kernel.classes
    if not classes.is_known(value.cls):
        return frozenset({kernel.make.external(f"{value.cls[1:]}.{name}")})
    if name == "__name__":
        return _class_names(frame, value)
    found: set[Value] = set()
    owner = classes.owner(value.cls, name)
    if owner is not None and not (owner == "~builtins:object" and name in ("__class__",)):
        for item in _class_level(frame, owner, name):
            found |= _bind_to_class(frame, item, value, at)
        found |= _perhaps_above(frame, value.cls, name, at)
    if owner is None or (owner == "~builtins:object" and name not in ("__new__", "__init__")):
        found |= read_metaclass(frame, value, name, at)
    if value.grip is not Grip.EXACT:
        for below, other in classes.owners_below(value.cls, name, running_method(frame, value)):
            receiver = kernel.make.class_object(below, Grip.DECLARED)
            for item in _class_level(frame, other, name):
                found |= _bind_to_class(frame, item, receiver, at)
    for cls in classes.mro(value.cls):
        if cls.startswith("?"):
            if owner is None or owner == "~builtins:object":
                found.add(_from_unknown_base(frame, cls, name))
            break
        if classes.in_repository(cls) and name in classes.stored_attributes.get(cls, ()):
            found |= read_any(frame, frame.read(("iattr", cls, name)))
    return frozenset(found)


def _class_names(frame: Frame, value: ClassObject) -> ValueSet:
    """`C.__name__`; where a subclass can stand there, its name too: the repository's, and those of C's own stub. Too
    many are a plain string."""
    kernel = frame.kernel
    found = [value.cls]
    if value.grip is not Grip.EXACT:
        found += kernel.classes.descendants(value.cls)
        if value.cls != OBJECT and not kernel.classes.in_repository(value.cls):
            near = [d.id for d in kernel.definition(value.cls).module.definitions if d.is_class]
            found += [cls for cls in near if kernel.classes.is_subclass(cls, value.cls)]
    if len(found) > MAX_CLASS_NAMES:
        return frozenset({kernel.builtin("str")})
    return frozenset(kernel.make.literal("str", kernel.definition(cls).name) for cls in found)


def _bind_to_class(frame: Frame, item: Value, value: ClassObject, at: int) -> ValueSet:
    make = frame.kernel.make
    if isinstance(item, Wrapper):
        if item.kind == "classmethod" and isinstance(item.function, FunctionValue):
            return frozenset({make.bound(value, item.function)})
        return frozenset({item.function})
    if isinstance(item, FunctionValue):
        definition = frame.kernel.definition(item.symbol)
        if frame.kernel.method_kind(definition) == "class" and definition.name != "__new__":
            return frozenset({make.bound(value, item)})
        return frozenset({item})
    if isinstance(item, Instance):
        getter = frame.kernel.classes.owner(item.cls, "__get__")
        if getter is not None and frame.kernel.classes.in_repository(getter):
            from contextc.analyzer.inference.implicit_calls import call_method

            arguments = (frame.kernel.none, frozenset({value}))
            return call_method(frame, item, "__get__", arguments, at, Rule.DESCRIPTOR) | {item}
    return frozenset({item})


def read_metaclass(frame: Frame, value: ClassObject, name: str, at: int) -> ValueSet:
    """What the metaclass gives a class under this name, past the class itself."""
    kernel = frame.kernel
    meta = kernel.classes.info(value.cls).metaclass or TYPE
    owner = kernel.classes.owner(meta, name)
    if owner is None:
        return NOTHING
    receiver = kernel.make.instance(meta, Grip.EXACT)
    found: set[Value] = set()
    for item in _class_level(frame, owner, name):
        if isinstance(item, FunctionValue):
            found.add(kernel.make.bound(value, item))
        else:
            found |= bind(frame, item, receiver, owner, at)
    return frozenset(found)


def _read_super(frame: Frame, value: SuperObject, name: str, at: int) -> ValueSet:
    """`super().name`: the next owner after `cls` in the MRO of each class the receiver can have."""
    kernel = frame.kernel
    classes = kernel.classes
    receiver = value.receiver
    if not isinstance(receiver, (Instance, ClassObject)):
        return NOTHING
    lines = [classes.mro(receiver.cls)]
    if receiver.grip is not Grip.EXACT:
        running = running_method(frame, receiver)
        heirs = classes.descendants(receiver.cls) if running is None else classes.heirs(receiver.cls, running)
        lines.extend(classes.mro(below) for below in heirs)
    found: set[Value] = set()
    for line in lines:
        if value.cls not in line:
            continue
        for cls in line[line.index(value.cls) + 1 :]:
            if cls.startswith("?"):
                found.add(_from_unknown_base(frame, cls, name))
                break
            if classes.declares(cls, name):
                items = _class_level(frame, cls, name)
                if isinstance(receiver, Instance):
                    found |= _bind_all(frame, items, receiver, cls, at)
                else:
                    for item in items:
                        found |= _bind_to_class(frame, item, receiver, at)
                break
    return frozenset(found)
