"""What a name means by the text alone (stratum 1): through scopes, imports, re-exports and stars.

In: an expression made of names and dots, and the scope it stands in. Out: what it can be bound to. In
`from app.models import User as U`, `U` resolves to the definition of `User`. No flow, no values: base classes,
annotations and stubs need only this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Union

from contextc.analyzer.inference.bindings import (
    Binding,
    DefinitionBinding,
    FromBinding,
    ModuleBinding,
    OtherBinding,
    Public,
    Table,
    ValueBinding,
    build_table,
    public_parts,
)
from contextc.analyzer.inference.lazy_names import Sources, find_sources
from contextc.analyzer.inference.program import Definition, ModuleInfo, Program
from contextc.model import ir

TYPING_MODULES = frozenset({"typing", "typing_extensions"})
SPECIAL_FORMS = frozenset(
    {
        "Any", "Union", "Optional", "Callable", "Type", "Tuple", "Literal", "ClassVar", "Final", "Annotated", "Self",
        "NoReturn", "Never", "LiteralString", "TypeAlias", "Generic", "Protocol", "TypeVar", "ParamSpec", "Required",
        "NotRequired", "ReadOnly", "Concatenate", "TypeGuard", "TypeIs", "Unpack", "TypeVarTuple", "TYPE_CHECKING",
        "NewType", "cast", "overload", "TypedDict", "NamedTuple", "final", "runtime_checkable", "no_type_check",
        "assert_type", "reveal_type", "assert_never", "get_type_hints",
    }
)  # fmt: skip

ALIASES = {  # names in `typing` for classes elsewhere, which its stub only declares
    "List": "builtins.list", "Dict": "builtins.dict", "Set": "builtins.set", "FrozenSet": "builtins.frozenset",
    "DefaultDict": "collections.defaultdict", "OrderedDict": "collections.OrderedDict", "Deque": "collections.deque",
    "Counter": "collections.Counter", "ChainMap": "collections.ChainMap",
}  # fmt: skip


class Assigned(NamedTuple):
    """A variable, by the statement that binds it, and the scope that statement stands in."""

    scope: Definition
    name: str
    binding: ValueBinding


class Special(NamedTuple):
    """A form of `typing` that no class stands for."""

    name: str


class ExternalName(NamedTuple):
    """A name of a library that was not found."""

    name: str


class Unclear(NamedTuple):
    """Bound, but only evaluation can tell to what."""

    scope: Definition
    name: str


Resolved = Union[Definition, ModuleInfo, Assigned, Special, ExternalName, Unclear]


class Statics:
    """Answers by-text questions about a program; every answer is cached."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._tables: dict[str, Table] = {}
        self._members: dict[tuple[str, str], tuple[Resolved, ...]] = {}
        self._open: set[tuple[str, str]] = set()
        self._globals: dict[str, frozenset[str]] = {}
        self._lazy: dict[tuple[str, str], Sources] = {}
        self._public: dict[str, tuple[frozenset[str], bool]] = {}
        self._listing: set[tuple[str, str]] = set()
        self._followed: set[tuple[str, str, int]] = set()

    def table(self, scope: Definition) -> Table:
        """The binding table of a module, class or function."""
        table = self._tables.get(scope.id)
        if table is None:
            table = self._tables[scope.id] = build_table(self.program, scope)
        return table

    def declares_global(self, module: ModuleInfo, name: str) -> bool:
        """Whether some scope of the module has a `global` statement for the name."""
        names = self._globals.get(module.module_id)
        if names is None:
            names = frozenset(n for d in module.definitions for n in d.facts.globals)
            self._globals[module.module_id] = names
        return name in names

    # ---------------------------------------------------------------------------------------------- names

    def resolve_name(self, scope: Definition, name: str) -> tuple[Resolved, ...]:
        """What `name` means in `scope`, by the lexical rules (class scopes seen only from themselves)."""
        at: Definition | None = scope
        first = True
        while at is not None:
            if at.parent is None:
                break
            if first or not at.is_class:
                bindings = self.table(at).names.get(name)
                if bindings:
                    return self._resolve_bindings(at, name, bindings)
                if any(p.name == name for p in at.facts.parameters):
                    return (Unclear(at, name),)
            first = False
            at = at.parent
        found = self.resolve_member(scope.module, name)
        if found:
            return found
        builtins = self.program.find_stub("builtins")
        return self.resolve_member(builtins, name) if builtins is not None and builtins is not scope.module else ()

    def resolve_member(self, module: ModuleInfo, name: str) -> tuple[Resolved, ...]:
        """What `module.name` means: a binding of the module, one from a star import, or a submodule."""
        key = (module.module_id, name)
        done = self._members.get(key)
        if done is not None:
            return done
        if key in self._open:
            return ()
        self._open.add(key)
        try:
            found = self._find_member(module, name)
        finally:
            self._open.discard(key)
        if not self._open or found:
            self._members[key] = found
        return found

    def _find_member(self, module: ModuleInfo, name: str) -> tuple[Resolved, ...]:
        if module.name in TYPING_MODULES and not module.in_repository and name in SPECIAL_FORMS:
            return (Special(name),)
        if module.name in TYPING_MODULES and not module.in_repository and name in ALIASES:
            source, _, real = ALIASES[name].rpartition(".")
            stub = self.program.find_stub(source)
            return self.resolve_member(stub, real) if stub is not None else ()
        table = self.table(module.body)
        bindings = table.names.get(name)
        if bindings:
            return self._resolve_bindings(module.body, name, bindings)
        if not name.startswith("_") or table.stars:
            for source in table.stars:
                star = self.program.find_module(source, module)
                if star is not None and self.exports_name(star, name):
                    found = self.resolve_member(star, name)
                    if found:
                        return found
        submodule = self.program.find_module(f"{module.name}.{name}", module) if module.is_package else None
        if submodule is not None:
            return (submodule,)
        lazy: list[Resolved] = []
        for source, attribute in self.lazy_sources(module, name):
            target = self.program.modules[source]
            lazy.extend(self.resolve_member(target, attribute) if attribute else (target,))
        return tuple(lazy)

    def lazy_sources(self, module: ModuleInfo, name: str) -> Sources:
        """Where a name comes from that the module does not bind but gives, by its text (see lazy_names)."""
        key = (module.module_id, name)
        if key not in self._lazy:
            self._lazy[key] = find_sources(self, module, name)
        return self._lazy[key]

    def exports_name(self, module: ModuleInfo, name: str) -> bool:
        """Whether `from module import *` brings `name`."""
        names, whole = self._public_names(module)
        return name in names or not (whole or name.startswith("_"))

    def exported_names(self, module: ModuleInfo, seen: frozenset[str] = frozenset()) -> list[str]:
        """The names that `from module import *` brings, sorted."""
        if module.module_id in seen:
            return []
        table = self.table(module.body)
        listed, whole = self._public_names(module)
        if whole:
            return sorted(listed)
        names = {n for n in table.names if not n.startswith("_")} | listed
        for source in table.stars:
            star = self.program.find_module(source, module)
            if star is not None:
                names.update(self.exported_names(star, seen | {module.module_id}))
        return sorted(names)

    def find_unlisted_star(self, module: ModuleInfo, seen: frozenset[str] = frozenset()) -> str | None:
        """A module whose names are not all known and which reaches `module` by star imports; None without one."""
        for source in self.table(module.body).stars:
            star = self.program.find_module(source, module)
            if star is None or star.origin in ("environment", "unread"):
                return source
            if star.in_repository and star.module_id not in seen:
                found = self.find_unlisted_star(star, seen | {star.module_id})
                if found is not None:
                    return found
        return None

    def _public_names(self, module: ModuleInfo) -> tuple[frozenset[str], bool]:
        """The names that `__all__` surely has, and whether those are all: without an `__all__`, or where part of it is
        computed, every public name may be exported."""
        done = self._public.get(module.module_id)
        if done is not None:
            return done
        public = self.table(module.body).public
        names: set[str] = set()
        whole = self._gather_names(module, public, names) if public is not None else False
        found = frozenset(names), whole
        if not self._listing:
            self._public[module.module_id] = found
        return found

    def _gather_names(self, module: ModuleInfo, parts: Iterable[Public], names: set[str]) -> bool:
        """Adds the names that the parts of an `__all__` give. False where there may be others."""
        whole = True
        for part in parts:
            if isinstance(part, str):
                names.add(part)
                continue
            key = (module.module_id, str(part))
            if key in self._listing:  # modules that take in each other's names, `__all__ = __all__ + […]`
                continue
            self._listing.add(key)
            whole &= self._gather_part(module, part, names)
            self._listing.discard(key)
        return whole

    def _gather_part(self, module: ModuleInfo, part: ir.Expr | FromBinding, names: set[str]) -> bool:
        sources: tuple[Resolved | None, ...] = ()
        if isinstance(part, FromBinding):
            if part.name == "__all__" and part.module is not None:
                sources = (self.program.find_module(part.module, module),)
        elif isinstance(part, ir.Attribute) and part.attr == "__all__":
            sources = self.resolve_expression(module.body, part.value)
        elif isinstance(part, ir.Name):
            inner: list[Public] = []
            for binding in self.table(module.body).names.get(part.id, ()):
                if isinstance(binding, ValueBinding) and binding.value is not None:
                    inner.extend(public_parts(binding.value))
                else:
                    inner.append(binding if isinstance(binding, FromBinding) else part)
            return bool(inner) and (part.id == "__all__" or self._gather_names(module, inner, names))
        whole = bool(sources)
        for source in sources:
            listed, all_listed = self._public_names(source) if isinstance(source, ModuleInfo) else (frozenset(), False)
            names |= listed
            whole &= all_listed
        return whole

    def _resolve_bindings(self, scope: Definition, name: str, bindings: list[Binding]) -> tuple[Resolved, ...]:
        last = bindings[-1]
        if not last.conditional and not isinstance(last, OtherBinding) and not scope.is_function:
            bindings = [last]
            if isinstance(last, ValueBinding) and last.value is None and last.annotation is None:
                return ()
        found: list[Resolved] = []
        for binding in bindings:
            for item in self._resolve_binding(scope, name, binding):
                if item not in found:
                    found.append(item)
        return tuple(found)

    def _resolve_binding(self, scope: Definition, name: str, binding: Binding) -> tuple[Resolved, ...]:
        if isinstance(binding, DefinitionBinding):
            return (binding.definition,)
        if isinstance(binding, ModuleBinding):
            module = self.program.find_module(binding.module, scope.module)
            return (module,) if module is not None else (ExternalName(binding.module),)
        if isinstance(binding, FromBinding):
            return self.resolve_import(scope.module, binding.module, binding.name)
        if isinstance(binding, ValueBinding):
            return (Assigned(scope, name, binding),)
        return (Unclear(scope, name),)

    def resolve_import(self, importer: ModuleInfo, source: str | None, name: str) -> tuple[Resolved, ...]:
        """What `from source import name` binds in `importer`."""
        if source is None:
            return (ExternalName(f"?.{name}"),)
        module = self.program.find_module(source, importer)
        if module is None:
            return (ExternalName(f"{source}.{name}"),)
        if module is importer and module.is_package:
            submodule = self.program.find_module(f"{source}.{name}", importer)
            if submodule is not None:
                return (submodule,)
        found = self.resolve_member(module, name)
        if found:
            return found
        submodule = self.program.find_module(f"{source}.{name}", importer)
        if submodule is not None:
            return (submodule,)
        return () if module.in_repository or module.origin == "namespace" else (ExternalName(f"{source}.{name}"),)

    # ---------------------------------------------------------------------------------------------- expressions

    def resolve_expression(self, scope: Definition, expr: ir.Expr) -> tuple[Resolved, ...]:
        """What a name or dotted name means; () for any other expression."""
        if isinstance(expr, ir.Name):
            return self.resolve_name(scope, expr.id)
        if isinstance(expr, ir.Attribute):
            found: list[Resolved] = []
            for owner in self.resolve_expression(scope, expr.value):
                found.extend(self.resolve_attribute(owner, expr.attr))
            return tuple(found)
        return ()

    def resolve_attribute(self, owner: Resolved, name: str) -> tuple[Resolved, ...]:
        """What `owner.name` means for a module, class or external name."""
        if isinstance(owner, ModuleInfo):
            found = self.resolve_member(owner, name)
            if found or owner.in_repository or owner.origin == "namespace":
                return found
            submodule = self.program.find_module(f"{owner.name}.{name}", owner)
            return (submodule,) if submodule is not None else (ExternalName(f"{owner.name}.{name}"),)
        if isinstance(owner, Definition) and owner.is_class:
            bindings = self.table(owner).names.get(name)
            return self._resolve_bindings(owner, name, bindings) if bindings else ()
        if isinstance(owner, ExternalName):
            return (ExternalName(f"{owner.name}.{name}"),)
        if isinstance(owner, Assigned):
            return tuple(
                item
                for target in self.follow_alias(owner)
                if not isinstance(target, Assigned)
                for item in self.resolve_attribute(target, name)
            )
        return ()

    def follow_alias(self, assigned: Assigned, limit: int = 8) -> tuple[Resolved, ...]:
        """The definitions behind `X = Y` chains; the assignment itself where the value is no plain name."""
        value = assigned.binding.value
        if not limit or not isinstance(value, (ir.Name, ir.Attribute)):
            return (assigned,)
        key = (assigned.scope.id, assigned.name, value.at)
        if key in self._followed:  # `node = node.next`: the way comes back here through an attribute
            return (assigned,)
        self._followed.add(key)
        found: list[Resolved] = []
        try:
            for item in self.resolve_expression(assigned.scope, value):
                if isinstance(item, Assigned) and item != assigned:
                    found.extend(self.follow_alias(item, limit - 1))
                elif not isinstance(item, Assigned):
                    found.append(item)
        finally:
            self._followed.discard(key)
        return tuple(found) or (assigned,)
