"""What stands beside an attribute that is found: `__getattribute__` before it, `__getattr__` after it, and in a family
of classes a plain attribute beside a property.

In: a receiver and a name. Out: values, and what was met noted in the recorder. `lazy.name` runs `Lazy.__getattribute__`
whatever it finds; `self.kind` in `Node` is not sure to run the property `kind` of a class below.
"""

from __future__ import annotations

from contextc.analyzer.inference.construction import running_method
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Target
from contextc.model.edge import Reason, Rule
from contextc.model.value import NOTHING, BoundMethod, FunctionValue, Grip, Instance, PropertyObject, ValueSet

GETTER = "__getattr__"
HOOK = "__getattribute__"


def is_dunder(name: str) -> bool:
    """Whether a name is a special one."""
    return name.startswith("__") and name.endswith("__")


def fall_back(frame: Frame, value: Instance, name: str, at: int, is_missing: bool) -> ValueSet:
    """`__getattr__` for an attribute that no class or method is seen to set, by text; on frozen cells for one that is
    missing. Where methods of the class store under names that they compute, it is not certain to run, and for what the
    class reads on itself, or is private to it, only possible."""
    classes = frame.kernel.classes
    if classes.has_unknown_base(value.cls) or classes.stores(value.cls, name):
        return NOTHING
    owner = classes.owner(value.cls, GETTER)
    if owner is None or not classes.in_repository(owner):
        return NOTHING
    is_open = classes.stores_by_name(value.cls)
    if frame.recorder is not None and not is_missing and not is_open:
        return NOTHING
    from contextc.analyzer.inference.attributes import implicit_outcome
    from contextc.analyzer.inference.implicit_calls import call_method

    argument = frozenset({frame.kernel.make.literal("str", name)})
    is_own = value.grip is Grip.SELF or name.startswith("_")
    operation = GETTER if not is_open else f"{GETTER} hardly" if is_own else f"{GETTER} perhaps"
    found = call_method(frame, value, GETTER, (argument,), at, Rule.DESCRIPTOR, operation)
    outcome = implicit_outcome(frame, at, operation) if is_open else None
    if outcome is not None:
        if is_own:
            outcome.make_possible()
        outcome.may_skip = True
    if found or frame.recorder is None:
        return _under_this_name(frame, found, name)
    return frame.kernel.open(Reason.MISSING_ATTRIBUTE)


def _under_this_name(frame: Frame, found: ValueSet, name: str) -> ValueSet:
    """What a hook gives for one name. It answers for all names that are asked for, and what it gives comes together: a
    function that the program has under another name elsewhere answers another question, and an open reason stands for
    it, unless it is the only one; one that the hook makes and calls otherwise only possibly stands under this name.
    Cells that still grow don't get the only one either: another one may come."""
    functions = {v: v.function if isinstance(v, BoundMethod) else v for v in found}
    defined = {v: frame.kernel.definition(f.symbol) for v, f in functions.items() if isinstance(f, FunctionValue)}
    others = {v for v, definition in defined.items() if definition.name != name}
    if not others or (len(defined) < 2 and frame.recorder is not None):
        return found
    named = {v for v in others if not _is_local(defined[v])}
    rule = Rule.GETATTR_PATTERN.value
    kept = frozenset(frame.kernel.make.possible(v, rule) if v in others else v for v in found - named)
    return kept | frame.kernel.open(Reason.DYNAMIC_ATTRIBUTE) if named else kept


def _is_local(definition: Definition) -> bool:
    """Whether it is defined inside of a function, as a hook makes one."""
    return definition.parent is not None and definition.parent.is_function


def run_hook(frame: Frame, value: Instance, name: str, at: int, is_known: bool) -> ValueSet:
    """`__getattribute__` of the repository, which every read in the source runs. What the look-up finds stays what the
    attribute is; only of one that no class is seen to have it is what the method gives."""
    classes = frame.kernel.classes
    owner = classes.owner(value.cls, HOOK)
    if owner is None or not classes.in_repository(owner):
        return NOTHING
    from contextc.analyzer.inference.implicit_calls import call_method

    argument = frozenset({frame.kernel.make.literal("str", name)})
    given = call_method(frame, value, HOOK, (argument,), at, Rule.DESCRIPTOR)
    return NOTHING if is_known or classes.stores(value.cls, name) else _under_this_name(frame, given, name)


def property_targets(frame: Frame, at: int) -> frozenset[Target]:
    """What the properties read at `at` are known to run so far."""
    outcome = frame.recorder.implicit.get((frame.unit.id, at, "get")) if frame.recorder is not None else None
    return frozenset(outcome.targets) if outcome is not None else frozenset()


def note_family(frame: Frame, value: Instance, name: str, at: int, met: int, before: frozenset[Target]) -> None:
    """Where a property ran since the recorder counted `met`, and the access had the targets `before`: another class
    that the receiver can be of may have a plain attribute of that name, and then the property is not all that can
    happen. Where as many have a plain one, it only possibly runs; neither does one that only declares. What other
    receivers of the same access run stays as it is."""
    from contextc.analyzer.inference.attributes import implicit_outcome

    recorder = frame.recorder
    if recorder is None or recorder.met == met or at < 0 or value.grip is Grip.EXACT:
        return
    plain, managed = _count_ways(frame, value, name)
    if not plain:
        return
    recorder.plain.add((frame.unit.id, at))
    outcome = implicit_outcome(frame, at, "get")
    if outcome is not None:
        rare = plain >= managed
        outcome.targets = {
            t._replace(possible=t.possible or (t not in before and t.by_class and (rare or t.abstract)))
            for t in outcome.targets
        }


def _count_ways(frame: Frame, value: Instance, name: str) -> tuple[int, int]:
    """In how many ways the classes that a receiver can be of give it an attribute: as a plain one, and managed by a
    property or descriptor."""
    classes = frame.kernel.classes
    running = running_method(frame, value)
    plain: set[str] = set()
    managed: set[str] = set()
    pairs = [(value.cls, classes.owner(value.cls, name)), *classes.owners_below(value.cls, name, running)]
    pairs += [(cls, classes.owner(cls, name)) for cls in classes.storers_below(value.cls, name, running)]
    for cls, owner in pairs:
        if owner is not None and _manages(frame, owner, name):
            managed.add(owner)
        elif owner is not None or classes.stores(cls, name):
            plain.add(owner or cls)
    return len(plain), len(managed)


def _manages(frame: Frame, owner: str, name: str) -> bool:
    """Whether what a class body binds to a name is a property or another descriptor of the repository."""
    classes = frame.kernel.classes
    if not classes.in_repository(owner):
        return False
    for item in frame.read(("cattr", owner, name)):
        if isinstance(item, PropertyObject):
            return True
        if isinstance(item, Instance) and classes.is_known(item.cls) and classes.owner(item.cls, "__get__") is not None:
            return True
    return False
