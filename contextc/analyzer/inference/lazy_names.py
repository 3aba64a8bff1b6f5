"""Names that a module gives without binding them: by the stub beside it, by `lazy_loader`, by its `__getattr__`.

In: a module and a name. Out: where the text says that the name comes from. After `__getattr__, __dir__, __all__ =
lazy.attach(__name__, submod_attrs={"filters": ["blur"]})` the name `blur` is that of the submodule `filters`. What only
the module's own `__getattr__` knows (PEP 562) is asked of it, with the name as its argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from contextc.analyzer.inference.bindings import DefinitionBinding, ValueBinding
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.model import ir
from contextc.model.edge import EdgeKind, Rule
from contextc.model.facts import SymbolKind
from contextc.model.value import NOTHING, FunctionValue, Instance, ValueSet

if TYPE_CHECKING:
    from contextc.analyzer.inference.kernel import Frame
    from contextc.analyzer.inference.statics import Statics

HOOK = "__getattr__"
Sources = tuple[tuple[str, str], ...]  # modules by id, and the name in each; "" for the module itself
_ATTACHING = ("attach", "attach_stub")  # of `lazy_loader`, which many packages carry a copy of


def is_module_hook(definition: Definition) -> bool:
    """Whether a function is the `__getattr__` of its module."""
    return definition.name == HOOK and definition.parent is not None and definition.parent.kind is SymbolKind.MODULE


def find_sources(statics: Statics, module: ModuleInfo, name: str) -> Sources:
    """Where a name comes from that the module's own text does not bind; empty where no text says so."""
    if not module.in_repository or (name.startswith("__") and name.endswith("__")):
        return ()
    stub = statics.program.modules.get(f"{module.module_id}@stub")
    if stub is not None and HOOK in statics.table(module.body).names and name in statics.table(stub.body).names:
        return ((stub.module_id, name),)
    found: list[tuple[str, str]] = []
    for call in _attaching_calls(module) if HOOK in statics.table(module.body).names else ():
        for submodule, attribute in _attached_names(statics, module, call):
            if name == (attribute or submodule):
                target = statics.program.find_module(f"{module.name}.{submodule}", module)
                if target is not None:
                    found.append((target.module_id, attribute))
    return tuple(dict.fromkeys(found))


def _attaching_calls(module: ModuleInfo) -> Iterator[ir.Call]:
    """The calls whose results a module binds to its `__getattr__` and other names."""
    for statement in module.body.facts.body:
        if not isinstance(statement, ir.Assign) or not isinstance(statement.value, ir.Call):
            continue
        func = statement.value.func
        called = func.attr if isinstance(func, ir.Attribute) else func.id if isinstance(func, ir.Name) else ""
        for target in statement.targets:
            items = target.items if isinstance(target, (ir.TupleExpr, ir.ListExpr)) else (target,)
            if called in _ATTACHING and any(isinstance(i, ir.Name) and i.id == HOOK for i in items):
                yield statement.value


def _attached_names(statics: Statics, module: ModuleInfo, call: ir.Call) -> Iterator[tuple[str, str]]:
    """Submodules with the names taken from each; "" for the submodule itself."""
    given = {name: a.value for a, name in zip(call.args, ("", "submodules", "submod_attrs"), strict=False)}
    given.update({a.keyword: a.value for a in call.args if a.keyword is not None})
    for name in _written_names(statics, module, given.get("submodules")):
        yield name, ""
    table = _written(statics, module, given.get("submod_attrs"))
    for item in table.items if isinstance(table, ir.DictExpr) else ():
        if isinstance(item.key, ir.Constant) and isinstance(item.key.value, str):
            for name in _written_names(statics, module, item.value):
                yield item.key.value, name


def _written_names(statics: Statics, module: ModuleInfo, expr: ir.Expr | None) -> Iterator[str]:
    value = _written(statics, module, expr)
    for item in value.items if isinstance(value, (ir.ListExpr, ir.TupleExpr, ir.SetExpr)) else ():
        if isinstance(item, ir.Constant) and isinstance(item.value, str):
            yield item.value


def _written(statics: Statics, module: ModuleInfo, expr: ir.Expr | None) -> ir.Expr | None:
    """An expression, or for the name of a variable what the module's text gives it."""
    if isinstance(expr, ir.Name):
        bindings = statics.table(module.body).names.get(expr.id, [])
        return bindings[-1].value if bindings and isinstance(bindings[-1], ValueBinding) else None
    return expr


def ask_module(frame: Frame, module: ModuleInfo, name: str, at: int) -> ValueSet:
    """What a module's own `__getattr__` gives for a name that its text does not bind; the call is recorded at `at`."""
    statics = frame.kernel.statics
    if not module.in_repository or (name.startswith("__") and name.endswith("__")):
        return NOTHING
    names = statics.table(module.body).names
    if name in names or not any(isinstance(b, DefinitionBinding) for b in names.get(HOOK, ())):
        return NOTHING
    if statics.resolve_member(module, name) or frame.unit.id.startswith(f"{module.module_id}:{HOOK}"):
        return NOTHING
    from contextc.analyzer.inference.attributes import implicit_outcome
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value

    outcome = implicit_outcome(frame, at, HOOK)
    argument = frozenset({frame.kernel.make.literal("str", name)})
    found = NOTHING
    for hook in frame.read(("global", module.module_id, HOOK)):
        if isinstance(hook, FunctionValue):
            how = (EdgeKind.DUNDER, Rule.DESCRIPTOR)
            found |= call_value(frame, hook, Arguments((("", argument),), ()), -1, outcome, how)
    return frozenset(v for v in found if not (isinstance(v, Instance) and v.cls == "~builtins:object"))
