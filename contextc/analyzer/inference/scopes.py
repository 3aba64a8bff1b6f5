"""Names: reading them by the lexical rules, binding them in the frame and in the cells that outlive it.

A local of a function with inner scopes also lives in a closure cell; module and class names reach their cells when
their body's evaluation ends.
"""

from __future__ import annotations

from contextc.analyzer.inference.attribute_stores import delete_attribute, store_attribute
from contextc.analyzer.inference.attributes import read_attribute
from contextc.analyzer.inference.construction import resolve_copied
from contextc.analyzer.inference.generics import list_items, tuple_items
from contextc.analyzer.inference.implicit_calls import iterate, store_subscript
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.model import ir
from contextc.model.edge import Reason
from contextc.model.facts import SymbolKind
from contextc.model.value import NOTHING, Instance, Value, ValueSet

CHECKER_NAMES = frozenset({"reveal_type", "reveal_locals"})  # known to type checkers, bound nowhere
_MODULE_NAMES = {"__name__": "str", "__file__": "str", "__doc__": "str", "__path__": "list"}


def read_name(frame: Frame, name: str) -> ValueSet:
    """The values of a name at this point of the body."""
    found = frame.env.get(name)
    if found is not None:
        return found
    unit = frame.unit
    if name in unit.facts.globals or unit.kind is SymbolKind.MODULE:
        return _read_global(frame, name)
    if unit.is_function and name in unit.facts.bindings:
        return NOTHING
    at: Definition | None = unit.parent
    while at is not None and at.kind is not SymbolKind.MODULE:
        if at.is_function and name in at.facts.bindings:
            return frame.read(("closure", at.id, name))
        if at.is_function and name in at.facts.globals:
            break
        at = at.parent
    if name == "__class__":
        owner = _owner_class(unit)
        if owner is not None:
            return frozenset({frame.kernel.make.class_object(owner.id)})
    return _read_global(frame, name)


def _owner_class(unit: Definition) -> Definition | None:
    at: Definition | None = unit
    while at is not None and not at.is_class:
        at = at.parent
    return at


def _read_global(frame: Frame, name: str) -> ValueSet:
    """What the module binds, and what other code stores in it; a name that its text does not bind is a builtin too."""
    kernel = frame.kernel
    module = frame.unit.module
    found = frame.read(("global", module.module_id, name)) | frame.read(("patched", module.module_id, name))
    table = kernel.statics.table(module.body)
    if name in table.names or (table.stars and kernel.statics.resolve_member(module, name)):
        return found
    if name == "__name__":
        return found | {kernel.make.literal("str", module.name)}
    if name == "__package__":
        package = module.name if module.is_package else module.name.rpartition(".")[0]
        return found | {kernel.make.literal("str", package)}
    if name in _MODULE_NAMES:
        return found | {kernel.builtin(_MODULE_NAMES[name])}
    builtins = kernel.program.find_stub("builtins")
    if builtins is None:
        return found
    if not kernel.statics.resolve_member(builtins, name):
        stored = kernel.statics.declares_global(module, name) or name in kernel.classes.foreign_stores
        if stored and (found or frame.recorder is None):
            return found
        if name not in CHECKER_NAMES and not name.startswith("__") and not _has_type_parameter(frame.unit, name):
            return found if name in module.body.facts.bindings else found | _read_unbound(frame, module, name)
    return found | kernel.module_member(builtins, name, -1)


def _has_type_parameter(unit: Definition, name: str) -> bool:
    at: Definition | None = unit
    while at is not None:
        if any(p.name == name for p in at.facts.type_parameters):
            return True
        at = at.parent
    return False


def _read_unbound(frame: Frame, module: ModuleInfo, name: str) -> ValueSet:
    """A name of which no text shows a binding: open, unless a library's star import may bring it."""
    kernel = frame.kernel
    source = kernel.statics.find_unlisted_star(module)
    if source is not None:
        return frozenset({kernel.make.external(f"{source}.{name}")})
    return kernel.open(Reason.SYNTAX if module.facts.partial else Reason.UNBOUND_NAME)


def bind_name(frame: Frame, name: str, values: ValueSet) -> None:
    """Binds a name in the current scope."""
    unit = frame.unit
    if name in unit.facts.globals:
        frame.write(("global", unit.module.module_id, name), values)
    elif name in unit.facts.nonlocals:
        at = unit.parent
        while at is not None and at.kind is not SymbolKind.MODULE:
            if at.is_function and name in at.facts.bindings:
                frame.write(("closure", at.id, name), values)
                break
            at = at.parent
    elif unit.is_function and unit.children:
        frame.write(("closure", unit.id, name), values)
    frame.env[name] = values
    _forget_paths(frame, name)


def _forget_paths(frame: Frame, name: str) -> None:
    """A rebound name makes what flow knew of its attributes stale."""
    if name.partition(".")[0] not in frame.dotted:
        return
    lead = f"{name}."
    for path in [p for p in frame.env if p.startswith(lead)]:
        del frame.env[path]


def bind_target(frame: Frame, target: ir.Expr, values: ValueSet, local: set[str] | None = None) -> None:
    """Binds an assignment target; what goes into an attribute may be symbolic. `local` collects plain names
    instead of treating them as the scope's own (the targets of a comprehension)."""
    from contextc.analyzer.inference.expressions import evaluate
    from contextc.analyzer.inference.memory import path_of

    if isinstance(target, ir.Name):
        if local is not None:
            local.add(target.id)
            frame.env[target.id] = values
            if frame.unit.is_function and frame.unit.children:
                frame.write(("closure", frame.unit.id, target.id), values)
        else:
            bind_name(frame, target.id, values)
    elif isinstance(target, ir.Attribute):
        owner = evaluate(frame, target.value)
        store_attribute(frame, owner, target.attr, values, target.at)
        values = frame.expand(frozenset().union(*(resolve_copied(frame, values, v) for v in owner)))
        path = path_of(target)
        if path is not None:
            _forget_paths(frame, path)
            frame.dotted.add(path.partition(".")[0])
            frame.env[path] = values | _read_managed(frame, owner, target.attr)
    elif isinstance(target, ir.Subscript):
        key = evaluate(frame, target.key)
        store_subscript(frame, evaluate(frame, target.value), key, values, target.at)
    elif isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        _unpack(frame, target.items, values, target.at, local)
    elif isinstance(target, ir.Starred):
        bind_target(frame, target.value, values, local)


def _read_managed(frame: Frame, owner: ValueSet, name: str) -> ValueSet:
    """What the next read gives where something in the class stands between it and the store: a property, a default."""
    classes = frame.kernel.classes
    found: set[Value] = set()
    for value in owner:
        if isinstance(value, Instance) and classes.is_known(value.cls) and classes.owner(value.cls, name) is not None:
            found |= read_attribute(frame, value, name, -1)
    return frozenset(found)


def _unpack(
    frame: Frame, targets: tuple[ir.Expr, ...], values: ValueSet, at: int, local: set[str] | None
) -> None:
    """`a, *b = values`: by position where the length is known."""
    star = next((i for i, t in enumerate(targets) if isinstance(t, ir.Starred)), None)
    parts: list[set[Value]] = [set() for _ in targets]
    for value in values:
        items = tuple_items(frame, value) if isinstance(value, Instance) else None
        if items is None and isinstance(value, Instance):
            items = list_items(frame, value)
        if items is not None:
            if len(items) == len(targets) if star is None else len(items) >= len(targets) - 1:
                _unpack_known(parts, items, star)
        else:
            element = iterate(frame, frozenset({value}), at)
            for part in parts:
                part |= element
    for index, target in enumerate(targets):
        if isinstance(target, ir.Starred):
            site = frame.site_key(target.at)
            frame.write(("arg", site, 0), frozenset(parts[index]))
            bind_target(frame, target.value, frozenset({frame.kernel.builtin("list", (), site)}), local)
        else:
            bind_target(frame, target, frozenset(parts[index]), local)


def _unpack_known(parts: list[set[Value]], items: list[ValueSet], star: int | None) -> None:
    if star is None:
        for part, item in zip(parts, items, strict=False):
            part |= item
        return
    tail = len(parts) - star - 1
    for index in range(star):
        parts[index] |= items[index]
    for item in items[star : len(items) - tail]:
        parts[star] |= item
    for index in range(tail):
        parts[star + 1 + index] |= items[len(items) - tail + index]


def unbind_target(frame: Frame, target: ir.Expr) -> None:
    """`del target`."""
    from contextc.analyzer.inference.conversions import is_keyed, look_up
    from contextc.analyzer.inference.expressions import evaluate
    from contextc.analyzer.inference.implicit_calls import call_method
    from contextc.model.edge import Rule

    if isinstance(target, ir.Name):
        frame.env.pop(target.id, None)
        _forget_paths(frame, target.id)
    elif isinstance(target, ir.Attribute):
        delete_attribute(frame, evaluate(frame, target.value), target.attr, target.at)
    elif isinstance(target, ir.Subscript):
        key = evaluate(frame, target.key)
        for value in evaluate(frame, target.value):
            call_method(frame, value, "__delitem__", (key,), target.at, Rule.OPERATOR)
            if is_keyed(frame, value):
                look_up(frame, key, target.at)
    elif isinstance(target, (ir.TupleExpr, ir.ListExpr)):
        for item in target.items:
            unbind_target(frame, item)



