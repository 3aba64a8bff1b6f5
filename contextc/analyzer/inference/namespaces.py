"""Names looked up at run time in a module's or object's namespace: `globals()[name]`, `sys.modules[name]`.

In: a namespace and the values of a key. Out: what that key can mean. A key of known text is looked up; one of which a
part is known enumerates what matches; of an unknown one everything there is possible, and the site stays open.
"""

from __future__ import annotations

import re

from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.analyzer.inference.statics import Assigned, Unclear
from contextc.model import ir
from contextc.model.edge import EdgeKind, Reason, Rule
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    ClassObject,
    FunctionValue,
    Instance,
    Intrinsic,
    Literal,
    ModuleValue,
    Text,
    Value,
    ValueSet,
)

MAX_ENUMERATED = 64  # candidates of one name pattern; more say nothing
MAX_NAMED = 200  # attributes whose names have that of a class; more say nothing
MAX_UNKNOWN = 16  # candidates of a name of which nothing is known
GLOBALS = "namespace.globals"
MODULES = "namespace.modules"
ATTRIBUTES = "namespace.attributes"  # of an object, `x.__dict__`
CLASS_NAME = "\0"  # in a text's part: the name of some class; no source's text has such a character
LOWER_CLASS_NAME = "\1"  # the same in lower case
PATCHED = "patched"  # the rule of a possible value that a test puts in the place of another, and of what it gives


def name_pattern(value: Value, unknown: str = ".*") -> re.Pattern[str] | None:
    """The names a text of known parts can be, `unknown` what the others match; None where no part is known."""
    if not isinstance(value, Text) or not any(part for part in value.parts):
        return None
    written = "".join(re.escape(part) if part is not None else unknown for part in value.parts)
    return re.compile(_SOME_NAME.sub(r"(\\w+)", written), re.DOTALL)


_SOME_NAME = re.compile(f"[{CLASS_NAME}{LOWER_CLASS_NAME}]")


def has_class_name(value: Value) -> bool:
    """Whether a part of a text is the name of some class."""
    return isinstance(value, Text) and any(part and _SOME_NAME.search(part) for part in value.parts)


def lookup_namespace(frame: Frame, namespace: Intrinsic, key: ValueSet) -> ValueSet:
    """`namespace[key]` for `globals()` of a module, `sys.modules`, or an object's `__dict__`."""
    if namespace.name == MODULES:
        return _lookup_modules(frame, key)
    if namespace.name == GLOBALS and isinstance(namespace.owner, ModuleValue):
        return _lookup_globals(frame, namespace.owner, key)
    if namespace.name == ATTRIBUTES and isinstance(namespace.owner, Instance):
        return _lookup_attributes(frame, namespace.owner, key)
    return NOTHING


def _lookup_attributes(frame: Frame, owner: Instance, key: ValueSet) -> ValueSet:
    """What stands in an object's `__dict__`; under a key that is no literal, whatever the plain dict says."""
    from contextc.analyzer.inference.construction import read_field

    classes = frame.kernel.classes
    names = [str(name.value) for name in key if isinstance(name, Literal)]
    local = [cls for cls in classes.mro(owner.cls) if classes.in_repository(cls)]
    found = [read_field(frame, frame.read(("iattr", cls, name)), owner) for name in names for cls in local]
    return NOTHING.union(*found)


def _lookup_modules(frame: Frame, key: ValueSet) -> ValueSet:
    kernel = frame.kernel
    found: set[Value] = set()
    for name in key:
        if isinstance(name, Literal):
            module = kernel.program.find_module(str(name.value), frame.unit.module)
            if module is not None:
                found.add(kernel.make.module(module.module_id))
                continue
        found |= kernel.open(Reason.DYNAMIC_IMPORT)
    return frozenset(found)


def _lookup_globals(frame: Frame, owner: ModuleValue, key: ValueSet) -> ValueSet:
    kernel = frame.kernel
    module = kernel.program.modules[owner.module]
    names = sorted(kernel.statics.table(module.body).names) if module.in_repository else []
    found: set[Value] = set()
    for name in key:
        if isinstance(name, Literal):
            found |= kernel.module_member(module, str(name.value), frame.order)
            continue
        pattern = name_pattern(name)
        if pattern is None:
            found |= kernel.open(Reason.DYNAMIC_CODE)
        matching = [n for n in names if (pattern is None or pattern.fullmatch(n)) and _can_run(frame, module, n)]
        if not matching or len(matching) > (MAX_UNKNOWN if pattern is None else MAX_ENUMERATED):
            found |= kernel.open(Reason.DYNAMIC_CODE)
            continue
        for value in (v for n in matching for v in kernel.module_member(module, n, frame.order)):
            if isinstance(value, (FunctionValue, ClassObject)):
                found.add(kernel.make.possible(value, Rule.GETATTR_PATTERN.value))
    return frozenset(found)


def note_possible_read(frame: Frame, value: Value, at: int, rule: Rule = Rule.GETATTR_PATTERN) -> None:
    """What an attribute can mean, by a name of known shape or on a class below, is read here, called or not."""
    function = value.function if isinstance(value, BoundMethod) else value
    symbol = function.symbol if isinstance(function, FunctionValue) else getattr(function, "cls", None)
    if frame.recorder is None or symbol is None or at < 0 or symbol not in frame.kernel.program.definitions:
        return
    if frame.kernel.definition(symbol).module.in_repository and not isinstance(function, Instance):
        frame.recorder.relations.add((frame.unit.id, at, symbol, EdgeKind.READS_ATTRIBUTE, rule))


def _can_run(frame: Frame, module: ModuleInfo, name: str) -> bool:
    """Whether a name of a module is, by the text, a function or a class, or what only evaluation can tell."""
    for item in frame.kernel.statics.resolve_member(module, name):
        if isinstance(item, Definition) and (item.is_function or item.is_class):
            return True
        if isinstance(item, Assigned) and not isinstance(item.binding.value, ir.Constant):
            return True
        if isinstance(item, Unclear):
            return True
    return False
