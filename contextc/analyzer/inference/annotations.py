"""Annotations to values: what an object declared so can be.

In: an annotation expression and its scope. Out: a value set. `Optional["User"]` gives a declared instance of User and
one of NoneType; `type[User]` the class; `list[T]` a list whose argument is the type variable. `Any` stays a special
form, so that whoever uses the set can fall back to what callers pass.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotation_text import read_annotation_text
from contextc.analyzer.inference.classes import TYPE, Classes
from contextc.analyzer.inference.program import Definition, Program
from contextc.analyzer.inference.statics import Assigned, ExternalName, Resolved, Special, Statics
from contextc.model import ir
from contextc.model.value import NOTHING, CallableType, ClassObject, Grip, Instance, TypeVariable, Value, ValueSet

NONE = "~types:NoneType"
TUPLE = "~builtins:tuple"
ITERABLE = "~typing:Iterable"
HOMOGENEOUS = "*"  # `site` of tuple[X, ...]
_TRANSPARENT = frozenset(
    {"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "TypeGuard", "TypeIs", "Unpack"}
)
_PLAIN = {
    "Tuple": TUPLE, "LiteralString": "~builtins:str", "NamedTuple": TUPLE, "TypedDict": "~builtins:dict",
    "TypeGuard": "~builtins:bool", "TypeIs": "~builtins:bool",
}  # fmt: skip
_CONTAINERS = ("~builtins:", "~collections:", "~collections.__init__:")  # that hold what was put into them
_LIMIT = 12  # nesting of aliases and subscripts


class Annotations:
    """Reads annotations; answers are cached per scope and node."""

    def __init__(self, program: Program, statics: Statics, classes: Classes) -> None:
        self.program = program
        self.statics = statics
        self.classes = classes
        self._make = program.interner
        self._cache: dict[tuple[str, int, str], ValueSet] = {}
        self._parameters: dict[str, tuple[str, ...]] = {}
        self._views: dict[tuple[str, str], tuple[ValueSet, ...] | None] = {}
        self._bare: dict[tuple[str, str], tuple[str, str] | None] = {}
        program.find_stub("types")
        self.any = frozenset({self._make.special("Any")})
        self.none = frozenset({self._make.instance(NONE, Grip.EXACT)})

    def read(self, expr: ir.Expr, scope: Definition, owner: Definition | None = None) -> ValueSet:
        """The values that `expr`, standing as an annotation in `scope`, admits. `owner` is the definition it belongs
        to, whose own type parameters (PEP 695) it may use."""
        at = getattr(expr, "at", -1)
        if at < 0:
            return self._read(expr, scope, owner, _LIMIT)
        key = (scope.id, at, owner.id if owner is not None else "")
        found = self._cache.get(key)
        if found is None:
            found = self._read(expr, scope, owner, _LIMIT)
            if scope.module.in_repository:
                found = frozenset(self._leave_elements(value) for value in found)
            self._cache[key] = found
        return found

    def _leave_elements(self, value: Value) -> Value:
        """A container of a library without type arguments says nothing of what it holds: each of them is nothing, which
        tells it from a container of anything."""
        if not isinstance(value, Instance) or value.args or not value.cls.startswith((*_CONTAINERS, "~typing:")):
            return value
        if value.cls == TUPLE:
            return self._make.instance(TUPLE, value.grip, (NOTHING,), HOMOGENEOUS)
        count = len(self.type_parameters(value.cls)) if self.classes.is_subclass(value.cls, ITERABLE) else 0
        return self._make.instance(value.cls, value.grip, (NOTHING,) * count)

    # ---------------------------------------------------------------------------------------------- expressions

    def _read(self, expr: ir.Expr, scope: Definition, owner: Definition | None, limit: int) -> ValueSet:
        if limit <= 0:
            return self.any
        if isinstance(expr, ir.Constant):
            if expr.type == "None":
                return self.none
            if expr.type == "str" and isinstance(expr.value, str):
                inner = read_annotation_text(expr.value)
                return self._read(inner, scope, owner, limit - 1) if inner is not None else self.any
            return self.any
        if isinstance(expr, ir.Name):
            variable = self._type_parameter(expr.id, scope, owner)
            if variable is not None:
                return variable
        if isinstance(expr, (ir.Name, ir.Attribute)):
            found = [
                self._read_resolved(item, (), scope, limit) for item in self.statics.resolve_expression(scope, expr)
            ]
            return frozenset().union(*found) if found else self.any
        if isinstance(expr, ir.Subscript):
            return self._read_subscript(expr, scope, owner, limit - 1)
        if isinstance(expr, ir.BinaryOp) and expr.op == "|":
            return self._read(expr.left, scope, owner, limit) | self._read(expr.right, scope, owner, limit)
        if isinstance(expr, ir.Starred):
            return self._read(expr.value, scope, owner, limit - 1)
        return self.any

    def _type_parameter(self, name: str, scope: Definition, owner: Definition | None) -> ValueSet | None:
        at: Definition | None = owner if owner is not None else scope
        while at is not None:
            for parameter in at.facts.type_parameters:
                if parameter.name == name:
                    bound = NOTHING
                    if parameter.bound is not None and at.parent is not None:
                        bound = self._bound(parameter.bound, at.parent)
                    return frozenset({self._make.type_variable(f"{at.id}.{name}", bound, parameter.kind)})
            at = at.parent
        return None

    def _bound(self, expr: ir.Expr, scope: Definition) -> ValueSet:
        if isinstance(expr, ir.TupleExpr):
            return frozenset().union(*(self._read(e, scope, None, 3) for e in expr.items))
        return self._read(expr, scope, None, 3)

    def _read_resolved(
        self, item: Resolved, args: tuple[ValueSet, ...], scope: Definition, limit: int
    ) -> ValueSet:
        make = self._make
        if isinstance(item, Definition):
            if not item.is_class:
                return self.any
            return frozenset({make.instance(item.id, Grip.DECLARED, args)})
        if isinstance(item, Special):
            return self._read_special(item.name, scope)
        if isinstance(item, ExternalName):
            return frozenset({make.external(f"{item.name}()")})
        if isinstance(item, Assigned):
            return self._read_assigned(item, args, limit - 1)
        return self.any

    def _read_special(self, name: str, scope: Definition) -> ValueSet:
        make = self._make
        if name == "Self":
            at: Definition | None = scope
            while at is not None and not at.is_class:
                at = at.parent
            return frozenset({make.instance(at.id, Grip.SELF)}) if at is not None else self.any
        if name == "Callable":
            return frozenset({make.callable_type(None, self.any)})
        if name == "Type":
            return frozenset({make.class_object("~builtins:object", Grip.DECLARED)})
        if name in ("NoReturn", "Never"):
            return NOTHING
        plain = _PLAIN.get(name)
        return frozenset({make.instance(plain, Grip.DECLARED)}) if plain is not None else self.any

    def _read_assigned(self, item: Assigned, args: tuple[ValueSet, ...], limit: int) -> ValueSet:
        """A variable used as a type: an alias, a TypeVar, a NewType."""
        value = item.binding.value
        if value is None:
            return self.any  # `X: _SpecialForm` in a stub, or a declaration without a value
        if isinstance(value, ir.Call):
            return self._read_type_call(item, value, limit)
        if isinstance(value, (ir.Name, ir.Attribute)) and args:
            found = [self._read_resolved(r, args, item.scope, limit) for r in self._targets(item, value)]
            return frozenset().union(*found) if found else self.any
        return self._read(value, item.scope, None, limit)

    def _targets(self, item: Assigned, value: ir.Expr) -> tuple[Resolved, ...]:
        return tuple(r for r in self.statics.resolve_expression(item.scope, value) if r != item)

    def _read_type_call(self, item: Assigned, call: ir.Call, limit: int) -> ValueSet:
        for target in self.statics.resolve_expression(item.scope, call.func):
            name = target.name if isinstance(target, (Special, Definition)) else ""
            if name in ("TypeVar", "ParamSpec", "TypeVarTuple"):
                bounds = [self._bound(a.value, item.scope) for a in call.args[1:] if a.keyword in (None, "bound")]
                bound = frozenset().union(*bounds) if name == "TypeVar" and bounds else NOTHING
                return frozenset({self._make.type_variable(f"{item.scope.id}.{item.name}", bound, name.lower())})
            if name == "NewType" and len(call.args) == 2:
                return self._read(call.args[1].value, item.scope, None, limit)
            if name in ("namedtuple", "NamedTuple"):
                return frozenset({self._make.instance(TUPLE, Grip.DECLARED)})
        return self.any

    # ---------------------------------------------------------------------------------------------- subscripts

    def _read_subscript(self, expr: ir.Subscript, scope: Definition, owner: Definition | None, limit: int) -> ValueSet:
        items = expr.key.items if isinstance(expr.key, ir.TupleExpr) else (expr.key,)
        found: list[ValueSet] = []
        for target in self.statics.resolve_expression(scope, expr.value):
            if isinstance(target, Assigned):
                target = next(iter(self.statics.follow_alias(target)), target)
            if isinstance(target, Special):
                found.append(self._read_form(target.name, items, scope, owner, limit))
            elif isinstance(target, Definition) and target.id == TUPLE:
                found.append(self._read_tuple(items, scope, owner, limit))
            elif isinstance(target, Definition) and target.id == "~builtins:type" and items:
                found.append(self._read_type(items[0], scope, owner, limit))
            else:
                args = tuple(self._read_argument(i, scope, owner, limit) for i in items)
                found.append(self._read_resolved(target, args, scope, limit))
        return frozenset().union(*found) if found else self.any

    def _read_argument(self, expr: ir.Expr, scope: Definition, owner: Definition | None, limit: int) -> ValueSet:
        if isinstance(expr, (ir.ListExpr, ir.TupleExpr)):
            return self.any
        return self._read(expr, scope, owner, limit)

    def _read_form(
        self, name: str, items: tuple[ir.Expr, ...], scope: Definition, owner: Definition | None, limit: int
    ) -> ValueSet:
        if name == "Tuple":
            return self._read_tuple(items, scope, owner, limit)
        if not items:  # `Optional[()]`: an error where it runs
            return self.any
        if name == "Optional":
            return self._read(items[0], scope, owner, limit) | self.none
        if name == "Union":
            return frozenset().union(*(self._read(i, scope, owner, limit) for i in items))
        if name in ("TypeGuard", "TypeIs"):
            return frozenset({self._make.instance("~builtins:bool", Grip.DECLARED)})
        if name in _TRANSPARENT:
            return self._read(items[0], scope, owner, limit)
        if name == "Type":
            return self._read_type(items[0], scope, owner, limit)
        if name == "Literal":
            return self._read_literal(items)
        if name == "Callable":
            return self._read_callable(items, scope, owner, limit)
        return self.any

    def _read_tuple(
        self, items: tuple[ir.Expr, ...], scope: Definition, owner: Definition | None, limit: int
    ) -> ValueSet:
        make = self._make
        if len(items) == 2 and isinstance(items[1], ir.Constant) and items[1].type == "ellipsis":
            element = self._read(items[0], scope, owner, limit)
            return frozenset({make.instance(TUPLE, Grip.DECLARED, (element,), HOMOGENEOUS)})
        args = tuple(self._read(i, scope, owner, limit) for i in items if not isinstance(i, ir.TupleExpr))
        return frozenset({make.instance(TUPLE, Grip.DECLARED, args)})

    def _read_type(self, item: ir.Expr, scope: Definition, owner: Definition | None, limit: int) -> ValueSet:
        return self.classes_of(self._read(item, scope, owner, limit))

    def classes_of(self, instances: ValueSet) -> ValueSet:
        """`type[X]` for each X: the class objects of declared instances; type variables and Any stay."""
        found: set[Value] = set()
        for value in instances:
            if isinstance(value, Instance):
                found.add(self._make.class_object(value.cls, value.grip, value.args if any(value.args) else ()))
            elif isinstance(value, TypeVariable):
                found.add(self._make.instance(TYPE, Grip.DECLARED, (frozenset({value}),)))
            else:
                found.add(value)
        return frozenset(found)

    def _read_literal(self, items: tuple[ir.Expr, ...]) -> ValueSet:
        found: set[Value] = set()
        for item in items:
            if isinstance(item, ir.Constant) and item.value is not None:
                found.add(self._make.literal(item.type, item.value))
            elif isinstance(item, ir.Constant) and item.type == "None":
                found |= self.none
        return frozenset(found) if found else self.any

    def _read_callable(
        self, items: tuple[ir.Expr, ...], scope: Definition, owner: Definition | None, limit: int
    ) -> ValueSet:
        params: tuple[ValueSet, ...] | None = None
        if isinstance(items[0], ir.ListExpr):
            params = tuple(self._read(i, scope, owner, limit) for i in items[0].items)
        returns = self._read(items[1], scope, owner, limit) if len(items) > 1 else self.any
        return frozenset({self._make.callable_type(params, returns)})

    # ---------------------------------------------------------------------------------------------- generic classes

    def type_parameters(self, class_id: str) -> tuple[str, ...]:
        """Keys of a class's type variables, in the order in which they are subscripted."""
        done = self._parameters.get(class_id)
        if done is not None:
            return done
        if not self.classes.is_known(class_id):
            return ()
        info = self.classes.info(class_id)
        definition = info.definition
        if definition.facts.type_parameters:
            keys = [f"{definition.id}.{p.name}" for p in definition.facts.type_parameters]
        else:
            explicit = [args for form, args in info.special_bases if form in ("Generic", "Protocol") and args]
            expressions = explicit[0] if explicit else tuple(e for _, args in info.bases for e in args)
            keys = []
            for expr in expressions:
                scope = definition.parent or definition
                keys.extend(k for k in variable_keys(self.read(expr, scope)) if k not in keys)
        self._parameters[class_id] = tuple(keys)
        return self._parameters[class_id]

    def view(self, class_id: str, base: str) -> tuple[ValueSet, ...] | None:
        """Type arguments of `base` as `class_id` fills them, in terms of its own type variables; None where `base` is
        not above it."""
        key = (class_id, base)
        if key in self._views:
            return self._views[key]
        self._views[key] = None
        found: tuple[ValueSet, ...] | None = None
        if class_id == base:
            found = tuple(
                frozenset({self._make.type_variable(k)}) for k in self.type_parameters(class_id)
            )
        elif self.classes.is_subclass(class_id, base):
            info = self.classes.info(class_id)
            scope = info.definition.parent or info.definition
            for parent, args in info.bases:
                inner = self.view(parent, base) if self.classes.is_known(parent) else None
                if inner is not None:
                    given = tuple(self.read(a, scope, info.definition) for a in args)
                    mapping = dict(zip(self.type_parameters(parent), given, strict=False))
                    found = tuple(substitute(self, i, mapping, keep=False) for i in inner)
                    break
        self._views[key] = found
        return found

    def bare_base(self, class_id: str, base: str) -> tuple[str, str] | None:
        """The class of the repository by which `class_id` gets to the library's `base`, and its own base on that way,
        where this is a container that is written without type arguments; else None."""
        key = (class_id, base)
        if key not in self._bare:
            self._bare[key] = self._find_bare(class_id, base)
        return self._bare[key]

    def _find_bare(self, class_id: str, base: str) -> tuple[str, str] | None:
        for cls in self.classes.mro(class_id):
            for parent, args in self.classes.info(cls).bases if self.classes.in_repository(cls) else ():
                if self.classes.in_repository(parent) or not self.classes.is_known(parent):
                    continue
                if not self.classes.is_subclass(parent, base):
                    continue
                is_bare = parent.startswith(_CONTAINERS) and not args and self.type_parameters(parent)
                return (cls, parent) if is_bare and not self.classes.info(cls).special_bases else None
        return None


def variable_keys(values: ValueSet) -> list[str]:
    """Keys of the type variables in a set, sorted within one level, outer before inner."""
    keys = sorted(v.key for v in values if isinstance(v, TypeVariable))
    instances = sorted((v for v in values if isinstance(v, Instance)), key=lambda v: v.cls)
    inner = [arg for instance in instances for arg in instance.args]
    for declared in values:
        if isinstance(declared, CallableType):
            inner.extend((*(declared.params or ()), declared.returns))
    for arg in inner:
        keys.extend(variable_keys(arg))
    return list(dict.fromkeys(keys))


def substitute(annotations: Annotations, values: ValueSet, mapping: dict[str, ValueSet], *, keep: bool) -> ValueSet:
    """Values with type variables replaced. An unsolved one stays if `keep`, else becomes its bound, or Any."""
    make = annotations.program.interner
    found: set[Value] = set()
    changed = False
    for value in values:
        if isinstance(value, TypeVariable):
            solved = mapping.get(value.key)
            if solved is not None:
                found |= solved
            elif keep:
                found.add(value)
                continue
            else:
                found |= value.bound or annotations.any
            changed = True
        elif isinstance(value, (Instance, ClassObject)) and value.args:
            args = tuple(substitute(annotations, a, mapping, keep=keep) for a in value.args)
            if args != value.args:
                changed = True
                if isinstance(value, Instance) and value.cls == TYPE:
                    found |= annotations.classes_of(args[0])
                elif isinstance(value, Instance):
                    found.add(make.instance(value.cls, value.grip, args, value.site))
                else:
                    found.add(make.class_object(value.cls, value.grip, args))
            else:
                found.add(value)
        elif isinstance(value, CallableType):
            params = value.params
            if params is not None:
                params = tuple(substitute(annotations, p, mapping, keep=keep) for p in params)
            returns = substitute(annotations, value.returns, mapping, keep=keep)
            changed = changed or params != value.params or returns != value.returns
            found.add(make.callable_type(params, returns))
        else:
            found.add(value)
    return frozenset(found) if changed else values

