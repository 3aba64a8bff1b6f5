"""Classes: bases, C3 linearisation, members by text, subclasses (stratum 1).

In: class definitions and `Statics`. Out: for each class its MRO as a tuple of class ids, in which a base that was not
found stands as `?name`. Source of the order: Barrett et al., "A Monotonic Superclass Linearization for Dylan" (C3),
as in CPython.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextc.analyzer.inference.bindings import DefinitionBinding, ValueBinding
from contextc.analyzer.inference.program import Definition, Program
from contextc.analyzer.inference.statics import Assigned, ExternalName, Special, Statics, Unclear
from contextc.model import ir
from contextc.model.traverse import iter_nodes

OBJECT = "~builtins:object"
TYPE = "~builtins:type"
UNCLEAR = "??"  # begins the name of a base that only evaluation could tell, a parameter for example
_SPECIAL_BASES = {"NamedTuple": "~builtins:tuple", "TypedDict": "~builtins:dict"}


class ClassInfo:
    """One class. `bases` pairs each base's id (or `?name`) with its type-argument expressions."""

    __slots__ = ("bases", "definition", "id", "is_protocol", "keywords", "metaclass", "mro", "special_bases")

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.id = definition.id
        self.bases: list[tuple[str, tuple[ir.Expr, ...]]] = []
        self.special_bases: list[tuple[str, tuple[ir.Expr, ...]]] = []  # Generic[T], Protocol[T], NamedTuple
        self.metaclass: str | None = None
        self.is_protocol = False
        self.keywords: dict[str, ir.Expr] = {}
        self.mro: tuple[str, ...] = ()


class Classes:
    """The class hierarchy of a program; stub classes are added when first asked for."""

    def __init__(self, program: Program, statics: Statics) -> None:
        self.program = program
        self.statics = statics
        self._infos: dict[str, ClassInfo] = {}
        self._open: set[str] = set()
        self.direct_subclasses: dict[str, list[str]] = {}
        self._descendants: dict[str, tuple[str, ...]] = {}
        self._local = frozenset(d.id for m in program.repository for d in m.definitions if d.is_class)
        self.stored_attributes: dict[str, frozenset[str]] = {}
        self.foreign_stores: frozenset[str] = frozenset()
        self.computed_stores: frozenset[str] = frozenset()  # classes with a method that stores under a computed name
        self.implicit_names: frozenset[str] = frozenset()  # of the repository's properties and special methods
        self.borrowed_attributes: dict[str, frozenset[str]] = {}
        self._owners: dict[tuple[str, str], str | None] = {}
        self._made_by: dict[str, tuple[str, ...]] = {}
        self._heirs: dict[tuple[str, str], tuple[str, ...]] = {}
        self._storers: dict[tuple[str, str, str | None], tuple[str, ...]] = {}
        self._stores: dict[tuple[str, str], bool] = {}
        self._forms: dict[tuple[str, str], bool] = {}
        program.find_stub("builtins")
        for module in program.repository:
            for definition in module.definitions:
                if definition.is_class:
                    self.info(definition.id)
        for info in list(self._infos.values()):
            if info.definition.module.in_repository:
                for base in info.mro[1:]:
                    self.direct_subclasses.setdefault(base, []).append(info.id)

    def info(self, class_id: str) -> ClassInfo:
        """The class of that id. Unknown ids (`?name`) give a class without members."""
        info = self._infos.get(class_id)
        if info is None:
            definition = self.program.definition(class_id)
            info = self._infos[class_id] = ClassInfo(definition)
            self._open.add(class_id)
            self._read_bases(info)
            info.mro = self._linearise(info)
            self._open.discard(class_id)
            info.metaclass = info.metaclass or self._inherited_metaclass(info)
        return info

    def is_known(self, class_id: str) -> bool:
        """False for `?name`, a base that was not found."""
        return not class_id.startswith("?")

    def mro(self, class_id: str) -> tuple[str, ...]:
        """The linearisation of a class, itself first."""
        return self.info(class_id).mro if self.is_known(class_id) else (class_id,)

    def descendants(self, class_id: str) -> tuple[str, ...]:
        """The repository's classes below this one, in program order."""
        found = self._descendants.get(class_id)
        if found is None:
            below = set(self.direct_subclasses.get(class_id, ()))
            definitions = self.program.definitions
            found = tuple(sorted(below, key=lambda c: definitions[c].order))
            self._descendants[class_id] = found
        return found

    def is_subclass(self, class_id: str, base: str) -> bool:
        """Whether `base` is in the MRO of `class_id`."""
        return class_id == base or base in self.mro(class_id)

    def has_form(self, class_id: str, form: str) -> bool:
        """Whether the class, or one of the repository above it, has that special base of `typing`."""
        key = (class_id, form)
        if key not in self._forms:
            local = (self.info(c) for c in self.mro(class_id) if self.in_repository(c))
            self._forms[key] = any(form == name for info in local for name, _ in info.special_bases)
        return self._forms[key]

    def has_unknown_base(self, class_id: str) -> bool:
        """Whether a base could not be found, so that members may come from it."""
        return any(c.startswith("?") for c in self.mro(class_id))

    def in_repository(self, class_id: str) -> bool:
        """Whether the class is defined in the analysed repository."""
        return class_id in self._local

    def declares(self, class_id: str, name: str) -> bool:
        """Whether the class body itself binds `name`."""
        if not self.is_known(class_id):
            return False
        return name in self.statics.table(self.program.definition(class_id)).names

    def functions(self, class_id: str, name: str) -> tuple[str, ...]:
        """The functions that the class body itself binds to `name`, by id."""
        bindings = self.statics.table(self.program.definition(class_id)).names.get(name, ())
        return tuple(b.definition.id for b in bindings if isinstance(b, DefinitionBinding))

    def owner(self, class_id: str, name: str) -> str | None:
        """The first class of the MRO whose body binds `name`."""
        key = (class_id, name)
        if key not in self._owners:
            self._owners[key] = next((c for c in self.mro(class_id) if self.declares(c, name)), None)
        return self._owners[key]

    def unknown_before(self, class_id: str, name: str) -> str | None:
        """A base that was not found and comes before the class of the repository that binds `name`, so that it may
        bind it itself; None without one."""
        owner = self.owner(class_id, name)
        if owner is None or not self.in_repository(owner):
            return None
        line = self.mro(class_id)
        return next((c for c in line[: line.index(owner)] if not self.is_known(c)), None)

    def stores(self, class_id: str, name: str) -> bool:
        """Whether a method of the class or of one above it stores `name` on its receiver."""
        key = (class_id, name)
        found = self._stores.get(key)
        if found is None:
            found = any(name in self.stored_attributes.get(c, ()) for c in self.mro(class_id))
            self._stores[key] = found
        return found

    def made_by(self, metaclass: str) -> tuple[str, ...]:
        """The repository's classes of which that metaclass, or one below it, is the class, in program order."""
        found = self._made_by.get(metaclass)
        if found is None:
            metas = ((c, self.info(c).metaclass) for c in self._local)
            made = [c for c, meta in metas if meta is not None and self.is_subclass(meta, metaclass)]
            found = self._made_by[metaclass] = tuple(sorted(made, key=lambda c: self.program.definitions[c].order))
        return found

    def stores_by_name(self, class_id: str) -> bool:
        """Whether a method of the class or of one above it stores attributes under names that it computes."""
        return any(c in self.computed_stores for c in self.mro(class_id))

    def owners_below(self, class_id: str, name: str, method: str | None = None) -> list[tuple[str, str]]:
        """(subclass, owner) pairs: for each repository subclass, the class that gives it `name`, where that is not the
        one that gives it to `class_id`. Each owner once, with the first such subclass. With `method`, the name of a
        method of the class: only for the subclasses on whose objects its code can run."""
        own = self.owner(class_id, name)
        found: dict[str, str] = {}
        for below in self.descendants(class_id) if method is None else self.heirs(class_id, method):
            owner = self.owner(below, name)
            if owner is not None and owner != own and owner not in found:
                found[owner] = below
        return [(below, owner) for owner, below in found.items()]

    def storers_below(self, class_id: str, name: str, method: str | None = None) -> tuple[str, ...]:
        """The repository's classes below this one with a method that stores `name` on its receiver. With `method`: only
        those on whose objects that method of the class can run."""
        key = (class_id, name, method)
        found = self._storers.get(key)
        if found is None:
            below = self.descendants(class_id) if method is None else self.heirs(class_id, method)
            found = tuple(c for c in below if name in self.stored_attributes.get(c, ()))
            self._storers[key] = found
        return found

    def heirs(self, class_id: str, method: str) -> tuple[str, ...]:
        """The repository's classes below this one on whose objects its method of that name can run: where they do not
        replace it, or what replaces it may hand on to the class above (`super().method`, `Base.method`)."""
        key = (class_id, method)
        found = self._heirs.get(key)
        if found is None:
            found = tuple(c for c in self.descendants(class_id) if self._inherits(c, class_id, method))
            self._heirs[key] = found
        return found

    def _inherits(self, below: str, class_id: str, method: str) -> bool:
        for owner in self.mro(below):
            if owner == class_id:
                return True
            if self.declares(owner, method) and method not in self.borrowed_attributes.get(owner, frozenset({method})):
                return False
        return True

    # ---------------------------------------------------------------------------------------------- building

    def _read_bases(self, info: ClassInfo) -> None:
        definition = info.definition
        scope = definition.parent
        assert scope is not None
        for argument in definition.facts.bases:
            if argument.keyword == "metaclass":
                for item in self.statics.resolve_expression(scope, argument.value):
                    if isinstance(item, Definition) and item.is_class:
                        info.metaclass = item.id
            elif argument.keyword is not None:
                info.keywords[argument.keyword] = argument.value
            elif argument.star:
                info.bases.append(("?*", ()))
            else:
                self._read_base(info, scope, argument.value)

    def _read_base(self, info: ClassInfo, scope: Definition, expr: ir.Expr) -> None:
        args: tuple[ir.Expr, ...] = ()
        if isinstance(expr, ir.Subscript):
            args = expr.key.items if isinstance(expr.key, ir.TupleExpr) else (expr.key,)
            expr = expr.value
        resolved = self.statics.resolve_expression(scope, expr)
        names = [f for f in (self._base_id(item, 6) for item in resolved) if f is not None]
        calls = [(scope, expr)] if isinstance(expr, ir.Call) else []
        calls += [
            (i.scope, i.binding.value)
            for i in resolved
            if isinstance(i, Assigned) and isinstance(i.binding.value, ir.Call)
        ]
        made = [base for where, call in calls for base in self._made_bases(where, call)]
        info.bases.extend((base, ()) for base in made if base != info.id)
        if not names:
            info.bases.append((f"?{_written(expr)}", ()))
            return
        for name in names:
            if name.startswith("special:"):
                form = name.partition(":")[2]
                info.special_bases.append((form, args))
                info.is_protocol = info.is_protocol or form == "Protocol"
                if form in _SPECIAL_BASES:
                    info.bases.append((_SPECIAL_BASES[form], ()))
            elif name != info.id and name not in (b for b, _ in info.bases):
                info.bases.append((name, args))

    def _made_bases(self, scope: Definition, call: ir.Call) -> list[str]:
        """What is above a class that a call makes, by the text of the repository function called: a class defined in it
        that it returns, or the bases that it hands to `type(name, bases, members)`."""
        found: dict[str, None] = {}
        for function in self.statics.resolve_expression(scope, call.func):
            if not isinstance(function, Definition) or not function.is_function or not function.module.in_repository:
                continue
            for node in iter_nodes(*function.facts.body):
                if isinstance(node, ir.Return) and isinstance(node.value, ir.Name):
                    made = [c.id for c in function.children if c.is_class and c.name == node.value.id]
                    found.update(dict.fromkeys(made))
                elif isinstance(node, ir.Return) and isinstance(node.value, ir.Call):
                    found.update(dict.fromkeys(self._type_bases(scope, call, function, node.value)))
        return list(found)

    def _type_bases(self, scope: Definition, call: ir.Call, function: Definition, made: ir.Call) -> Iterator[str]:
        if not isinstance(made.func, ir.Name) or made.func.id != "type" or len(made.args) != 3:
            return
        bases = made.args[1].value
        for base in bases.items if isinstance(bases, ir.TupleExpr) else ():
            where, expr = self._passed_for(scope, call, function, base)
            for item in self.statics.resolve_expression(where, expr):
                if isinstance(item, Definition) and item.is_class:
                    yield item.id

    def _passed_for(
        self, scope: Definition, call: ir.Call, function: Definition, expr: ir.Expr
    ) -> tuple[Definition, ir.Expr]:
        """What a name in a function's body stands for in one call of it, where it is a parameter."""
        names = [p.name for p in function.facts.parameters if p.kind in ("positional", "normal")]
        if not isinstance(expr, ir.Name) or expr.id not in names:
            return function, expr
        if function.enclosing_class() is not None and isinstance(call.func, ir.Attribute):
            if expr.id == names[0]:
                return scope, call.func.value
            names = names[1:]
        for index, argument in enumerate(call.args):
            if not argument.star and (argument.keyword or (names[index] if index < len(names) else "")) == expr.id:
                return scope, argument.value
        return function, expr

    def _base_id(self, item: object, limit: int) -> str | None:
        if isinstance(item, Definition):
            return item.id if item.is_class else f"?{item.name}"
        if isinstance(item, Special):
            return f"special:{item.name}"
        if isinstance(item, ExternalName):
            return f"?{item.name}"
        if isinstance(item, Assigned) and limit:
            value = item.binding.value
            if isinstance(value, ir.Subscript):
                value = value.value
            if value is None:
                return None
            for target in self.statics.resolve_expression(item.scope, value):
                if target != item:
                    return self._base_id(target, limit - 1)
            return f"?{item.name}"
        if isinstance(item, Unclear):
            return f"{UNCLEAR}{item.name}"
        return None

    def _linearise(self, info: ClassInfo) -> tuple[str, ...]:
        bases = [b for b, _ in info.bases if b not in self._open]
        sequences = [list(self.mro(b)) for b in bases]
        merged = merge_c3([*sequences, list(bases)])
        if merged is None:
            merged = list(dict.fromkeys(c for s in sequences for c in s))
        if OBJECT in merged:
            merged.remove(OBJECT)
        tail = [OBJECT] if info.id != OBJECT and OBJECT in self.program.definitions else []
        return (info.id, *(c for c in merged if c != info.id), *tail)

    def _inherited_metaclass(self, info: ClassInfo) -> str | None:
        for base in info.mro[1:]:
            if self.is_known(base) and base not in self._open and self.info(base).metaclass is not None:
                return self.info(base).metaclass
        return None


def merge_c3(sequences: list[list[str]]) -> list[str] | None:
    """The C3 merge; None where no consistent order exists."""
    sequences = [s for s in sequences if s]
    merged: list[str] = []
    while sequences:
        head = next((s[0] for s in sequences if not any(s[0] in other[1:] for other in sequences)), None)
        if head is None:
            return None
        merged.append(head)
        sequences = [rest for s in sequences if (rest := s[1:] if s[0] == head else s)]
    return merged


def _written(expr: ir.Expr) -> str:
    if isinstance(expr, ir.Name):
        return expr.id
    if isinstance(expr, ir.Attribute):
        return f"{_written(expr.value)}.{expr.attr}"
    if isinstance(expr, ir.Call):
        return f"{_written(expr.func)}()"
    return "expression"


def has_decorator(statics: Statics, definition: Definition, names: frozenset[str]) -> bool:
    """Whether a definition carries a decorator whose last dotted part is in `names` (a call's function counts)."""
    for decorator in definition.facts.decorators:
        expr = decorator.func if isinstance(decorator, ir.Call) else decorator
        written = expr.attr if isinstance(expr, ir.Attribute) else expr.id if isinstance(expr, ir.Name) else ""
        if written in names:
            return True
    return False


_FIELD_MAKERS = frozenset({"field", "Field", "ib", "attrib", "Factory"})
_ATTRS = ("attr", "attrs")  # whose fields need no annotation


def field_maker(statics: Statics, scope: Definition, expr: ir.Expr | None) -> str | None:
    """The package whose function makes a data class's field in this expression; None where none does, or one of the
    repository."""
    if not isinstance(expr, ir.Call) or _written(expr.func).rpartition(".")[2] not in _FIELD_MAKERS:
        return None
    for item in statics.resolve_expression(scope, expr.func):
        name = item.name if isinstance(item, ExternalName) else None
        if isinstance(item, Definition) and not item.module.in_repository:
            name = item.module.name
        if name is not None:
            return name.partition(".")[0]
    return None


def is_field(statics: Statics, scope: Definition, binding: ValueBinding) -> bool:
    """Whether a variable of a class body can be a data class's field."""
    return binding.annotation is not None or field_maker(statics, scope, binding.value) in _ATTRS


def declared_fields(statics: Statics, classes: Classes, class_id: str) -> list[tuple[str, Definition, ValueBinding]]:
    """Annotated class variables along the MRO in definition order, base classes first, and those that attrs makes
    without: the fields of a data class."""
    fields: dict[str, tuple[str, Definition, ValueBinding]] = {}
    for owner in reversed(classes.mro(class_id)):
        if not classes.is_known(owner):
            continue
        definition = statics.program.definition(owner)
        if not definition.module.in_repository:
            continue
        for name, bindings in statics.table(definition).names.items():
            binding = bindings[-1]
            if isinstance(binding, ValueBinding) and is_field(statics, definition, binding):
                fields[name] = (name, definition, binding)
            elif isinstance(binding, DefinitionBinding):
                fields.pop(name, None)
    return list(fields.values())
