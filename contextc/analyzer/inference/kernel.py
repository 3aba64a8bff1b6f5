"""The services every evaluation step shares, and the frame in which one body is evaluated.

`Kernel` holds the program, its static tables and the heap; `Frame` one unit's local variables and, in the resolution
pass, the recorder. Functions of this room take the frame first.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotations import Annotations, variable_keys
from contextc.analyzer.inference.classes import Classes, has_decorator
from contextc.analyzer.inference.external_names import ExternalNames
from contextc.analyzer.inference.heap import CellKey, Heap
from contextc.analyzer.inference.interest import find_interesting, find_none_guards, hangs_on_receiver
from contextc.analyzer.inference.memory import Memory
from contextc.analyzer.inference.program import Definition, ModuleInfo, Program
from contextc.analyzer.inference.recorder import Recorder
from contextc.analyzer.inference.statics import (
    Assigned,
    ExternalName,
    Resolved,
    Special,
    Statics,
)
from contextc.analyzer.inference.units import Units
from contextc.analyzer.inference.worklist import Worklist
from contextc.model import ir
from contextc.model.edge import Reason, Rule
from contextc.model.facts import SymbolKind
from contextc.model.traverse import iter_nodes
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    CallableType,
    ClassObject,
    Context,
    External,
    FunctionValue,
    Given,
    Grip,
    Instance,
    Open,
    Possible,
    SpecialForm,
    TypeVariable,
    Value,
    ValueSet,
)

REQUESTS = ("contexts", "shapes", "places")  # cells of the specialisations that were asked for
IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def _is_called_bare(definition: Definition) -> bool:
    """Whether the class body in which a function stands calls it by its name, or decorates with it."""
    owner = definition.enclosing_class()
    if owner is None:
        return False
    called = (n.func for n in iter_nodes(*owner.facts.body) if isinstance(n, ir.Call))
    decorating = (d.func if isinstance(d, ir.Call) else d for c in owner.children for d in c.facts.decorators)
    return any(isinstance(e, ir.Name) and e.id == definition.name for e in (*called, *decorating))


ABSTRACT_DECORATORS = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})


def only_refuses(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether a body is `raise NotImplementedError(…)`, a docstring before it or not."""
    statements = [
        s for s in body if not (isinstance(s, ir.Evaluate) and isinstance(s.value, (ir.Constant, ir.FString)))
    ]
    if len(statements) != 1 or not isinstance(statements[0], ir.Raise):
        return False
    error = statements[0].error
    error = error.func if isinstance(error, ir.Call) else error
    return isinstance(error, ir.Name) and error.id == "NotImplementedError"


def stores_by_name(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether a body stores something under a name that it computes: into a `__dict__`, or by `setattr`."""
    nodes = list(iter_nodes(*body))
    if any(isinstance(n, ir.Name) and n.id == "setattr" for n in nodes):
        return True
    names = {n.attr for n in nodes if isinstance(n, ir.Attribute)}
    stored = not names.isdisjoint(("setdefault", "update")) or any(
        isinstance(target, ir.Subscript) for n in nodes if isinstance(n, ir.Assign) for target in n.targets
    )
    return "__setattr__" in names or ("__dict__" in names and stored)


def does_nothing(body: tuple[ir.Stmt, ...]) -> bool:
    """Whether a body is empty: a docstring, `pass`, `...`."""
    return all(isinstance(s, ir.Evaluate) and isinstance(s.value, (ir.Constant, ir.FString)) for s in body)


class Kernel:
    """Everything that is the same for all units of one analysis."""

    def __init__(self, program: Program, units: Units, worklist: Worklist, heap: Heap | None = None) -> None:
        self.program = program
        self.statics = Statics(program)
        self.classes = Classes(program, self.statics)
        self.annotations = Annotations(program, self.statics, self.classes)
        self.make = program.interner
        self.units = units
        self.worklist = worklist
        self.heap = heap if heap is not None else Heap(self.make, worklist)
        self.requested: set[int] = set()  # specialisations that some call asked for
        self.cut: set[str] = set()  # bodies that needed too many evaluations
        self.externals = ExternalNames()
        self.any = self.annotations.any
        self.none = self.annotations.none
        names = {d.name for m in program.repository for d in m.definitions if d.is_class}
        self.class_names = names.union(name.lower() for name in names)  # of the repository, in lower case as well
        self._stub_values: dict[tuple[str, str], ValueSet] = {}
        self._decorated: dict[str, str] = {}
        self._abstract: dict[str, bool] = {}
        self._keeping: dict[str, bool] = {}
        self._declining: dict[str, tuple[bool, bool]] = {}
        self._guarded: dict[str, frozenset[str]] = {}
        self._giving: dict[str, bool] = {}
        self._interesting: dict[str, tuple[str, ...]] = {}
        self._receiving: dict[str, bool] = {}

    def open(self, reason: Reason) -> ValueSet:
        """A set that only says that something unknown can stand here."""
        return frozenset({self.make.open(reason)})

    def request(self, definition: Definition, context: Context) -> None:
        """Has a specialisation evaluated, once; after that the cells it reads have it evaluated again."""
        number = self.units.number(definition, context)
        if number not in self.requested:
            self.requested.add(number)
            self.worklist.add(number)

    def definition(self, symbol: str) -> Definition:
        """The definition of that id."""
        return self.program.definition(symbol)

    def gives_result(self, definition: Definition) -> bool:
        """By text, whether a function says what a call of it gives: it declares, yields or returns something."""
        known = self._giving.get(definition.id)
        if known is None:
            facts = definition.facts
            known = facts.returns is not None or facts.is_generator
            known = known or any(isinstance(n, ir.Return) and n.value is not None for n in iter_nodes(*facts.body))
            self._giving[definition.id] = known
        return known

    def interesting_parameters(self, definition: Definition) -> tuple[str, ...]:
        """By text, the parameters that a function's result hangs on."""
        known = self._interesting.get(definition.id)
        if known is None:
            known = self._interesting[definition.id] = find_interesting(self, definition)
        return known

    def guarded_parameters(self, definition: Definition) -> frozenset[str]:
        """By text, the parameters of which a test for None decides whether the rest of the body runs."""
        known = self._guarded.get(definition.id)
        if known is None:
            known = self._guarded[definition.id] = find_none_guards(definition)
        return known

    def hangs_on_receiver(self, definition: Definition) -> bool:
        """By text, whether a method's result hangs on attributes of its receiver."""
        known = self._receiving.get(definition.id)
        if known is None:
            known = self._receiving[definition.id] = hangs_on_receiver(self, definition)
        return known

    # ---------------------------------------------------------------------------------------------- modules

    def module_member(self, module: ModuleInfo, name: str, unit: int, *, patched: bool = True) -> ValueSet:
        """Values of `module.name`. `patched` adds what other code stores there; an import that ran before does not
        see it. A name that is missing where a file could not be read (in full) may be in what was not."""
        if module.origin == "unread":
            return self.open(Reason.UNRESOLVED_IMPORT)
        if module.in_repository:
            found = self.heap.read(("global", module.module_id, name), unit)
            if patched:
                found |= self.heap.read(("patched", module.module_id, name), unit)
            if name not in self.statics.table(module.body).names:
                submodule = self.program.find_module(f"{module.name}.{name}", module) if module.is_package else None
                if submodule is not None:
                    found |= {self.make.module(submodule.module_id)}
                found |= self._lazy_member(module, name, unit) if submodule is None else NOTHING
                if submodule is None and module.facts.partial:
                    found |= self.open(Reason.SYNTAX)
            return found
        key = (module.module_id, name)
        done = self._stub_values.get(key)
        if done is None:
            resolved = self.statics.resolve_attribute(module, name)
            done = frozenset().union(*(self.static_value(item) for item in resolved)) if resolved else NOTHING
            self._stub_values[key] = done
        if patched and name in self.classes.foreign_stores:
            return done | self._hooked(self.heap.read(("patched", module.module_id, name), unit))
        return done

    def _lazy_member(self, module: ModuleInfo, name: str, unit: int) -> ValueSet:
        found = NOTHING
        for source, attribute in self.statics.lazy_sources(module, name):
            target = self.program.module(source, "")
            found |= self.module_member(target, attribute, unit) if attribute else {self.make.module(source)}
        return found

    def _hooked(self, stored: ValueSet) -> ValueSet:
        """Functions that the repository puts in the place of a library's, which may be there or not."""
        hooks = (v for v in stored if isinstance(v, (FunctionValue, BoundMethod, Possible)))
        return frozenset(self.make.possible(v, Rule.LIBRARY_CALLBACK.value) for v in hooks)

    def static_value(self, item: Resolved) -> ValueSet:
        """The value of something resolved by text alone, as an expression would see it."""
        make = self.make
        if isinstance(item, Definition):
            if item.is_class:
                return frozenset({make.class_object(item.id)})
            return frozenset({make.function(item.id)})
        if isinstance(item, ModuleInfo):
            return frozenset({make.module(item.module_id)})
        if isinstance(item, Special):
            return frozenset({make.special(item.name)})
        if isinstance(item, ExternalName):
            return frozenset({make.external(item.name)})
        if isinstance(item, Assigned):
            return self._assigned_value(item)
        return self.any

    def _assigned_value(self, item: Assigned) -> ValueSet:
        binding = item.binding
        if item.name == "modules" and item.scope.module.module_id == "~sys":
            return frozenset({self.make.intrinsic("namespace.modules")})
        if binding.annotation is not None:
            declared = self.annotations.read(binding.annotation, item.scope)
            if not (declared <= self.any and binding.value is not None):
                return declared
        targets = self.statics.follow_alias(item)
        if targets != (item,):
            return frozenset().union(*(self.static_value(t) for t in targets if t != item))
        if isinstance(binding.value, ir.Constant):
            return self.constant(binding.value)
        if isinstance(binding.value, ir.Subscript):
            instances = self.annotations.read(binding.value, item.scope)
            return self.annotations.classes_of(instances)
        if isinstance(binding.value, ir.Attribute) and isinstance(binding.value.value, ir.Name):
            return self._method_of(item.scope, binding.value.value.id, binding.value.attr) or self.any
        return self.any

    def _method_of(self, scope: Definition, name: str, attribute: str) -> ValueSet:
        """A method of an object that a stub declares beside it, as `random.choice` is one of a hidden generator."""
        found: set[Value] = set()
        for owner in self.statics.resolve_name(scope, name):
            declared = self.static_value(owner) if isinstance(owner, Assigned) else NOTHING
            for value in declared:
                cls = self.classes.owner(value.cls, attribute) if isinstance(value, Instance) else None
                for function in self.classes.functions(cls, attribute)[:1] if cls is not None else ():
                    found.add(self.make.bound(value, self.make.function(function)))
        return frozenset(found)

    def constant(self, expr: ir.Constant) -> ValueSet:
        """The value of a literal constant."""
        make = self.make
        if expr.type == "None":
            return self.none
        if expr.type == "bool":
            return frozenset({make.literal("bool", int(expr.value or 0))})
        if expr.type in ("str", "int") and expr.value is not None and len(str(expr.value)) <= 80:
            return frozenset({make.literal(expr.type, expr.value)})
        if expr.type == "ellipsis":
            return frozenset({make.instance("~types:EllipsisType")}) if self._has("~types:EllipsisType") else NOTHING
        return frozenset({make.instance(f"~builtins:{expr.type}")})

    def _has(self, symbol: str) -> bool:
        return symbol in self.program.definitions

    def builtin(self, name: str, args: tuple[ValueSet, ...] = (), site: str | None = None) -> Value:
        """An exact instance of a builtin class."""
        return self.make.instance(f"~builtins:{name}", Grip.EXACT, args, site)

    def library_class(self, module: str, name: str) -> str | None:
        """Id of a class of the standard library, its stub loaded; None where the target version lacks it."""
        stub = self.program.find_stub(module)
        if stub is None:
            return None
        for item in self.statics.resolve_member(stub, name):
            if isinstance(item, Definition) and item.is_class:
                return item.id
        return None

    # ---------------------------------------------------------------------------------------------- classification

    def is_weak(self, values: ValueSet, depth: int = 2, solved: frozenset[str] = frozenset()) -> bool:
        """Whether a declaration says too little to stand alone: Any, object, callables, type variables but those that a
        call solves, protocols of the repository; in its type arguments too."""
        if not values:
            return True
        for value in values:
            if isinstance(value, TypeVariable) and value.key in solved:
                continue
            if isinstance(value, Instance) and value.args and depth and any(
                self.is_weak(a, depth - 1, solved) for a in value.args if a
            ):
                return True
            if isinstance(value, (SpecialForm, CallableType, TypeVariable, Open, External)):
                return True
            if isinstance(value, (Instance, ClassObject)):
                if value.cls in ("~builtins:object", "~builtins:type"):
                    return True
                if self.classes.is_known(value.cls) and self.classes.info(value.cls).is_protocol:
                    return True
        return False

    def solved_variables(self, definition: Definition) -> frozenset[str]:
        """Keys of the type variables that a call's arguments solve: those that a parameter's declaration names."""
        scope = definition.parent or definition
        found: set[str] = set()
        for parameter in definition.facts.parameters:
            if parameter.annotation is not None and parameter.kind not in ("star", "doublestar"):
                found.update(variable_keys(self.annotations.read(parameter.annotation, scope, definition)))
        return frozenset(found)

    def method_kind(self, definition: Definition) -> str:
        """How a function in a class body binds: "instance", "class", "static"; "" for a plain function, also one that
        the class body itself calls: it takes no receiver there."""
        if definition.kind is not SymbolKind.METHOD:
            return ""
        kind = self._decorated.get(definition.id)
        if kind is None:
            kind = "class" if definition.name in IMPLICIT_CLASS_METHODS else "instance"
            for decorator in definition.facts.decorators:
                written = decorator.id if isinstance(decorator, ir.Name) else getattr(decorator, "attr", "")
                if written == "staticmethod":
                    kind = "static"
                elif written in ("classmethod", "abstractclassmethod"):
                    kind = "class"
            if kind == "instance" and _is_called_bare(definition):
                kind = ""
            self._decorated[definition.id] = kind
        return kind

    def is_abstract(self, definition: Definition) -> bool:
        """Whether a method only declares: `@abstractmethod`, or nothing but a docstring and NotImplementedError."""
        if definition.kind is not SymbolKind.METHOD:
            return False
        known = self._abstract.get(definition.id)
        if known is None:
            known = has_decorator(self.statics, definition, ABSTRACT_DECORATORS) or only_refuses(definition.facts.body)
            self._abstract[definition.id] = known
        return known

    def is_hollow(self, definition: Definition) -> bool:
        """Whether a method's body is empty and each class at the bottom of its hierarchy has one that is not."""
        owner = definition.enclosing_class()
        if owner is None or not does_nothing(definition.facts.body):
            return False
        bottom = [c for c in self.classes.descendants(owner.id) if not self.classes.descendants(c)]
        return bool(bottom) and all(self._fills(c, definition.name) for c in bottom)

    def stores_by_name(self, definition: Definition) -> bool:
        """Whether a function stores under a name that it computes: a `__get__` where the next access finds it."""
        known = self._keeping.get(definition.id)
        if known is None:
            known = self._keeping[definition.id] = stores_by_name(definition.facts.body)
        return known

    def declines(self, definition: Definition) -> tuple[bool, bool]:
        """Whether an operator's method names NotImplemented, and whether it reads another method of its own name."""
        known = self._declining.get(definition.id)
        if known is None:
            nodes = list(iter_nodes(*definition.facts.body))
            known = self._declining[definition.id] = (
                any(isinstance(n, ir.Name) and n.id == "NotImplemented" for n in nodes),
                any(isinstance(n, ir.Attribute) and n.attr == definition.name for n in nodes),
            )
        return known

    def _fills(self, cls: str, name: str) -> bool:
        """Whether a class has a method with something in its body, its own or inherited."""
        owner = self.classes.owner(cls, name)
        own = self.definition(owner).children if owner is not None else ()
        return not any(d.name == name and d.is_function and does_nothing(d.facts.body) for d in own)

    def first_parameter(self, definition: Definition) -> str | None:
        """Name of a method's receiver parameter; None for plain functions and static methods."""
        if self.method_kind(definition) not in ("instance", "class"):
            return None
        for parameter in definition.facts.parameters:
            if parameter.kind in ("positional", "normal"):
                return parameter.name
        return None

    def self_values(self, definition: Definition) -> ValueSet:
        """What a method's first parameter stands for: the symbolic receiver of its class."""
        owner = definition.enclosing_class()
        assert owner is not None
        if self.method_kind(definition) == "class":
            return frozenset({self.make.class_object(owner.id, Grip.SELF)})
        return frozenset({self.make.instance(owner.id, Grip.SELF)})

    def settle(self, values: ValueSet) -> ValueSet:
        """Values on their way into a cell that outlives the method: the symbolic receiver becomes a declared one."""
        if not any(isinstance(v, (Instance, ClassObject)) and v.grip is Grip.SELF for v in values):
            return values
        found: set[Value] = set()
        for value in values:
            if isinstance(value, Instance) and value.grip is Grip.SELF:
                found.add(self.make.instance(value.cls, Grip.DECLARED, value.args, value.site))
            elif isinstance(value, ClassObject) and value.grip is Grip.SELF:
                found.add(self.make.class_object(value.cls, Grip.DECLARED, value.args))
            else:
                found.add(value)
        return frozenset(found)

    def receive(self, values: ValueSet, receiver: Value) -> ValueSet:
        """A method's result as its caller sees it: the symbolic receiver replaced by the actual one."""
        if not any(isinstance(v, (Instance, ClassObject)) and v.grip is Grip.SELF for v in values):
            return values
        found: set[Value] = set()
        for value in values:
            if isinstance(value, (Instance, ClassObject)) and value.grip is Grip.SELF:
                found.add(self._receive_one(value, receiver))
            else:
                found.add(value)
        return frozenset(found)

    def _receive_one(self, value: Instance | ClassObject, receiver: Value) -> Value:
        fits = isinstance(receiver, (Instance, ClassObject)) and self.classes.is_subclass(receiver.cls, value.cls)
        if fits and isinstance(receiver, (Instance, ClassObject)):
            if isinstance(value, ClassObject):
                return self.make.class_object(receiver.cls, receiver.grip)
            if isinstance(receiver, ClassObject):
                return self.make.instance(receiver.cls, receiver.grip, receiver.args)
            return receiver
        if isinstance(value, Instance):
            return self.make.instance(value.cls, Grip.DECLARED, value.args, value.site)
        return self.make.class_object(value.cls, Grip.DECLARED)


def passed_cell(symbol: str, parameter: str) -> CellKey:
    """The cell of what all callers have passed for a parameter, or, as `args#2.0`, at one place of a `*args`."""
    place, _, index = parameter.rpartition(".")
    return ("index", f"{symbol}@{place}", int(index)) if place else ("param", symbol, parameter)


class Frame:
    """One evaluation of one unit: a body, merged or in a specialisation.

    `env` maps local names, and dotted paths known by flow, to values; `dotted` has the names of which a path was ever
    known. `concrete` is what callers have passed for each parameter that `env` has as `Given`. `alive` is False on a
    path that has ended (return, raise, break); `jumps` holds the variables at each break and continue of the open
    loops; `quiet` keeps implicit calls from being recorded; `settled` has the parameters that the context decides.
    `copies` while one attribute of `self` is copied into another: what initialisers got stays symbolic then.
    """

    __slots__ = (
        "alive", "concrete", "context", "copies", "depth", "dotted", "env", "jumps", "kernel", "memory", "order",
        "quiet", "recorder", "running", "settled", "unit",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Kernel,
        unit: Definition,
        recorder: Recorder | None,
        context: Context | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.kernel = kernel
        self.unit = unit
        self.recorder = recorder
        self.context = context
        self.memory = memory
        self.order = kernel.units.number(unit, context)  # the reader and writer that cells know
        self.env: dict[str, ValueSet] = {}
        self.alive = True
        self.jumps: list[tuple[list[dict[str, ValueSet]], list[dict[str, ValueSet]]]] = []
        self.depth = 0
        self.running: set[tuple[str, Value | None]] = set()  # library calls that are being evaluated
        self.quiet = False
        self.copies = False
        self.dotted: set[str] = set()
        self.concrete: dict[str, ValueSet] = {}
        self.settled: dict[str, tuple[ValueSet, bool]] = {}

    def read(self, key: CellKey) -> ValueSet:
        """A cell's values, with the dependency noted."""
        if self.context is not None and key[0] == "closure":
            key = self._in_context(key) or key
        return self.kernel.heap.read(key, self.order)

    def write(self, key: CellKey, values: ValueSet) -> None:
        """Joins values into a cell; nothing happens in the resolution pass, whose cells are frozen.

        A specialised evaluation only writes what is its own: its result and its variables for the functions made in
        it. All else the merged evaluation of the same body writes, which sees every argument.
        """
        if self.recorder is not None or not values:
            return
        if self.context is not None:
            own = self._in_context(key)
            if own is None and key[0] not in REQUESTS:
                return
            key = own or key
        self.kernel.heap.write(key, self.kernel.settle(self.expand(values)), self.order)

    def write_symbolic(self, key: CellKey, values: ValueSet) -> None:
        """The same, parameters that come through unchanged left symbolic: for cells whose readers resolve them."""
        if self.recorder is None and self.context is None and values:
            self.kernel.heap.write(key, self.kernel.settle(values), self.order)

    def write_result(self, values: ValueSet) -> None:
        """Joins values into the unit's result, parameters that come back unchanged left symbolic."""
        if self.recorder is None and values:
            key: CellKey = ("return", self.unit.id)
            self.kernel.heap.write(self._in_context(key) or key, values, self.order)

    def _in_context(self, key: CellKey) -> CellKey | None:
        """The cell of this specialisation, or of the one around it, that stands for a merged one."""
        at = self.context
        if key[0] in ("return", "yield"):
            return (*key, at) if at is not None and key[1] == at.symbol else None
        if key[0] == "closure":
            while at is not None:
                if key[1] == at.symbol:
                    return (*key, at)
                at = at.env
        return None

    def expand(self, values: ValueSet) -> ValueSet:
        """Values with each `Given` replaced by what callers have passed."""
        for value in values:
            if isinstance(value, Given):
                break
        else:
            return values
        found: set[Value] = set()
        for value in values:
            if isinstance(value, Given):
                passed = value.kept if value.kept is not None else self._passed(value)
                found |= passed if value.symbol == self.unit.id else NOTHING
            else:
                found.add(value)
        return frozenset(found)

    def _passed(self, value: Given) -> ValueSet:
        """What callers have passed for a parameter of this unit, or at one place of its `*args`."""
        if value.symbol != self.unit.id:
            return NOTHING
        known = self.concrete.get(value.parameter)
        if known is None:
            return self.read(passed_cell(value.symbol, value.parameter))
        if self.memory is not None and self.memory.trace is not None:
            self.read(passed_cell(value.symbol, value.parameter))  # what `concrete` was made from
        return known

    def site_key(self, at: int) -> str:
        """The allocation site of a node of this unit."""
        return f"{self.unit.id}@{at}"

    def function_value(self, definition: Definition) -> FunctionValue:
        """The function that a definition in this body makes."""
        return self.kernel.make.function(definition.id, None, "", self.context)
