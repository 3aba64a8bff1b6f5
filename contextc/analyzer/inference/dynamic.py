"""Code that names things at run time: getattr, import_module, super, cast.

In: a call whose meaning lies in its arguments' text. Out: what it can give. A name of which parts are known, such as
`f"handle_{kind}"`, enumerates the attributes that match, each marked possible; a name of which nothing is known is
open, with its reason.
"""

from __future__ import annotations

import re

from contextc.analyzer.inference.attributes import read_attribute, read_attributes
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.namespaces import (
    CLASS_NAME,
    MAX_ENUMERATED,
    MAX_NAMED,
    MAX_UNKNOWN,
    has_class_name,
    name_pattern,
    note_possible_read,
)
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.analyzer.inference.scopes import read_name
from contextc.model import ir
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import (
    NOTHING,
    ClassObject,
    External,
    Instance,
    Literal,
    ModuleValue,
    Open,
    Possible,
    SpecialForm,
    Text,
    Value,
    ValueSet,
)


def evaluate_special_call(frame: Frame, expr: ir.Call, callees: ValueSet) -> ValueSet:
    """Forms of `typing` that are called: `cast(T, x)` is a T."""
    annotations = frame.kernel.annotations
    found: set[Value] = set()
    for callee in callees:
        if isinstance(callee, SpecialForm) and callee.name == "cast" and len(expr.args) == 2:
            found |= annotations.read(expr.args[0].value, frame.unit)
        if isinstance(callee, SpecialForm) and callee.name == "NewType" and len(expr.args) == 2:
            found |= annotations.classes_of(annotations.read(expr.args[1].value, frame.unit))
    return frozenset(found)


_REVEALING = ("builtins.reveal_type", "typing_extensions.reveal_type")


def reveals(callees: ValueSet) -> bool:
    """Whether it is `reveal_type` that is called, imported or as a checker knows it."""
    return any(
        (isinstance(c, SpecialForm) and c.name == "reveal_type") or (isinstance(c, External) and c.name in _REVEALING)
        for c in callees
    )


def reveal_argument(frame: Frame, args: Arguments, at: int) -> ValueSet:
    """`reveal_type(x)` gives x back; what that was is in the record."""
    values = frame.expand(args.positional[0][1]) if args.positional else NOTHING
    if frame.recorder is not None:
        key = (frame.unit.id, at)
        frame.recorder.revealed[key] = frame.recorder.revealed.get(key, NOTHING) | values
    return values


def module_name(frame: Frame, field: ir.Expr) -> str | None:
    """What a replacement field shows that by its text is a module's name: `__name__`, `package.__name__`."""
    expr = field.value if isinstance(field, ir.Formatted) and field.spec is None else field
    if isinstance(expr, ir.Name) and expr.id in ("__name__", "__package__"):
        values = read_name(frame, expr.id)
        value = next(iter(values)) if len(values) == 1 else None
        return str(value.value) if isinstance(value, Literal) else None
    if isinstance(expr, ir.Attribute) and expr.attr == "__name__":
        owners = frame.kernel.statics.resolve_expression(frame.unit, expr.value)
        return owners[0].name if len(owners) == 1 and isinstance(owners[0], ModuleInfo) else None
    return None


def name_classes(frame: Frame, expr: ir.Attribute, values: ValueSet) -> ValueSet:
    """`type(x).__name__`, `x.__class__.__name__` of what is not known: the name of some class."""
    of = expr.value
    is_type = isinstance(of, ir.Call) and isinstance(of.func, ir.Name) and of.func.id == "type" and len(of.args) == 1
    if not is_type and not (isinstance(of, ir.Attribute) and of.attr == "__class__"):
        return values
    named = frame.kernel.make.text((CLASS_NAME,))
    return frozenset(named if isinstance(v, (Open, External, SpecialForm)) else v for v in values)


def super_values(frame: Frame, args: Arguments) -> ValueSet:
    """`super()` in a method, also inside a nested function; `super(cls, obj)`."""
    make = frame.kernel.make
    if len(args.positional) == 2:
        return frozenset(
            make.super_object(cls.cls, receiver)
            for cls in args.positional[0][1]
            if isinstance(cls, ClassObject)
            for receiver in args.positional[1][1]
            if isinstance(receiver, (Instance, ClassObject))
        )
    at: Definition | None = frame.unit
    while at is not None and at.enclosing_class() is None:
        at = at.parent
    if at is None or not at.is_function:
        return NOTHING
    owner = at.enclosing_class()
    assert owner is not None
    return frozenset(make.super_object(owner.id, receiver) for receiver in frame.kernel.self_values(at))


# ------------------------------------------------------------------------------------------------------ names


def get_attribute(frame: Frame, owner: ValueSet, names: ValueSet, default: ValueSet, at: int) -> ValueSet:
    """`getattr(owner, name, default)`."""
    found: set[Value] = set(default)
    for name in names:
        if isinstance(name, Literal) and isinstance(name.value, str):
            read = read_attributes(frame, owner, name.value, at)
            found |= read
            for item in read if len(names) > 1 else ():  # the name is put together, though all it can be is known
                note_possible_read(frame, item, at)
            continue
        pattern = name_pattern(name)
        if pattern is None:
            found |= frame.kernel.open(Reason.DYNAMIC_ATTRIBUTE)
        for value in owner:
            named = _named_by_class(frame, value, pattern, at) if pattern and has_class_name(name) else None
            found |= _matching_attributes(frame, value, pattern, at) if named is None else named
    return frozenset(found)


def get_plain_attribute(
    frame: Frame, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`object.__getattribute__(x, name)`, `super().__getattribute__(name)`: what `getattr` finds, by no hook."""
    given = [values for _, values in args.positional]
    if isinstance(receiver, ClassObject) and len(given) == 2:
        return NOTHING  # the same found on the class of classes
    if receiver is not None:
        given.insert(0, frozenset({receiver}))
    return get_attribute(frame, given[0], given[1], NOTHING, -1) if len(given) == 2 else None


def _matching_attributes(frame: Frame, value: Value, pattern: re.Pattern[str] | None, at: int) -> ValueSet:
    """Attributes that a name can mean; without a pattern every one that is no dunder, where they are few."""
    kernel = frame.kernel
    inner = value.value if isinstance(value, Possible) else value
    if pattern is None:
        names = [n for n in attribute_names(frame, inner) if not n.startswith("__")]
    else:
        names = [n for n in attribute_names(frame, inner) if pattern.fullmatch(n)]
    if not names or (pattern is None and len(names) > MAX_UNKNOWN):
        return kernel.open(Reason.DYNAMIC_ATTRIBUTE)
    if len(names) > MAX_ENUMERATED:
        return kernel.open(Reason.WIDENED)
    found: set[Value] = set()
    for name in names:
        for item in read_attribute(frame, inner, name, -1):
            found.add(kernel.make.possible(item, Rule.GETATTR_PATTERN.value))
            note_possible_read(frame, item, at)
    return frozenset(found)


def _named_by_class(frame: Frame, value: Value, pattern: re.Pattern[str], at: int) -> ValueSet | None:
    """Attributes whose names have the name of a class of the repository where the text has some class's: as likely as
    what any value can be; those that match otherwise stay possible. None where no class's name fits."""
    classes = frame.kernel.class_names
    inner = value.value if isinstance(value, Possible) else value
    matches = ((n, pattern.fullmatch(n)) for n in attribute_names(frame, inner))
    names = {n: all(group in classes for group in m.groups()) for n, m in matches if m is not None}
    if not any(names.values()) or len(names) > MAX_NAMED:
        return None
    found: set[Value] = set()
    for name, is_class in names.items():
        for item in read_attribute(frame, inner, name, -1):
            found.add(item if is_class else frame.kernel.make.possible(item, Rule.GETATTR_PATTERN.value))
            note_possible_read(frame, item, at)
    return frozenset(found)


def attribute_names(frame: Frame, value: Value) -> list[str]:
    """Names of attributes the repository gives a value, sorted."""
    kernel = frame.kernel
    if isinstance(value, ModuleValue):
        module = kernel.program.modules[value.module]
        names = set(kernel.statics.table(module.body).names) if module.in_repository else set()
        if module.is_package:
            names.update(kernel.program.has_submodules(module))
        return sorted(names)
    if isinstance(value, (Instance, ClassObject)):
        lines = [value.cls]
        lines.extend(kernel.classes.descendants(value.cls))
        found: set[str] = set()
        for line in lines:
            for cls in kernel.classes.mro(line):
                if kernel.classes.in_repository(cls):
                    found.update(kernel.statics.table(kernel.definition(cls)).names)
                    found.update(kernel.classes.stored_attributes.get(cls, ()))
        return sorted(found)
    return []


def import_modules(frame: Frame, names: ValueSet, package: ValueSet | None, at: int) -> tuple[ValueSet, bool]:
    """`importlib.import_module(name, package)`: the modules, and whether a name is not known at all."""
    kernel = frame.kernel
    found: set[Value] = set()
    unknown = False
    for name in names:
        if isinstance(name, Literal) and isinstance(name.value, str):
            for target in _absolute(frame, name.value, package):
                module = kernel.program.find_module(target, frame.unit.module)
                found.add(kernel.make.module(module.module_id) if module else kernel.make.external(name.value))
                if module is not None:
                    _note_import(frame, module, at)
            continue
        modules = _matching_modules(frame, name, package)
        unknown |= not modules
        for item in modules:
            found.add(kernel.make.possible(kernel.make.module(item.module_id), Rule.IMPORT_PATTERN.value))
            _note_import(frame, item, at)
    return frozenset(found), unknown


def _note_import(frame: Frame, module: ModuleInfo, at: int) -> None:
    if frame.recorder is not None and module.in_repository and at >= 0:
        frame.recorder.relations.add(
            (frame.unit.id, at, module.body.id, EdgeKind.IMPORTS, Rule.IMPORT_PATTERN)
        )


def _absolute(frame: Frame, name: str, package: ValueSet | None) -> list[str]:
    """The modules that a name means, one for each package it can be relative to."""
    if not name.startswith("."):
        return [name]
    level = len(name) - len(name.lstrip("."))
    own = frame.unit.module.name.split(".")
    own = own if frame.unit.module.is_package else own[:-1]
    bases = [own] if package is None or (not package and frame.recorder is not None) else []
    bases.extend(str(v.value).split(".") if isinstance(v, Literal) else own for v in package or ())
    return [".".join([*base[: len(base) - (level - 1)], name.lstrip(".")]) for base in bases]


def _matching_modules(frame: Frame, name: Value, package: ValueSet | None) -> list[ModuleInfo]:
    """The repository's modules that a name of known parts can mean. Where they are too many, those in which what isn't
    known is one name; none where these are too many as well."""
    if not isinstance(name, Text):
        return []
    lead = name.parts[0] or ""
    heads = _absolute(frame, lead, package) if lead.startswith(".") else [lead]
    texts = [frame.kernel.make.text((head, *name.parts[1:])) if lead else name for head in heads]
    for unknown in (".*", "[^.]*"):
        patterns = [p for p in (name_pattern(text, unknown) for text in texts) if p is not None]
        found = _find_all(frame, patterns)
        if len(found) <= MAX_ENUMERATED:
            return found
    return []


def _find_all(frame: Frame, patterns: list[re.Pattern[str]]) -> list[ModuleInfo]:
    program = frame.kernel.program
    found = []
    for name in program.module_names():
        if any(pattern.fullmatch(name) for pattern in patterns):
            module = program.find_module(name, frame.unit.module)
            if module is not None and module.in_repository:
                found.append(module)
    return found
