"""Type variables solved per call, and what containers hold.

In: declared values with type variables, and actual values. Out: a mapping that makes the declaration true:
`solve({list[T]}, {list of User})` puts `User` under T. Elements of a container made in the repository live in cells of
its allocation site; those of a declared one in its type arguments.
"""

from __future__ import annotations

from contextc.analyzer.inference.annotations import HOMOGENEOUS, TUPLE, substitute, variable_keys
from contextc.analyzer.inference.bare_containers import held_mapping, is_bare
from contextc.analyzer.inference.classes import TYPE
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.records import named_items
from contextc.model import ir
from contextc.model.edge import Reason
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    CallableType,
    ClassObject,
    External,
    FunctionValue,
    Instance,
    Literal,
    Open,
    Partial,
    Possible,
    SpecialForm,
    Text,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
)

_ITERATION = frozenset(
    {
        "~typing:Iterable", "~typing:Iterator", "~typing:Collection", "~typing:Sequence", "~typing:Container",
        "~typing:AsyncIterable", "~typing:AsyncIterator", "~typing:Reversible", "~_typeshed:SupportsIter",
        "~_typeshed:SupportsNext",
    }
)  # fmt: skip
GENERATOR_SITE = "gen:"  # marks a generator object by the function that made it


def own_arguments(frame: Frame, value: Instance) -> tuple[ValueSet, ...]:
    """An instance's type arguments for its own class's variables, from its annotation or its cells."""
    kernel = frame.kernel
    if frame.recorder is not None and is_bare(value):
        return tuple(kernel.open(Reason.EXTERNAL_VALUE) for _ in value.args)
    if value.cls == TUPLE:
        if value.site == HOMOGENEOUS:
            return value.args
        if value.site is None:
            return (frozenset().union(*value.args),) if value.args else ()
        items = tuple_items(frame, value)
        return (frame.read(("arg", value.site, 0)) if items is None else NOTHING.union(*items),)
    if value.site is None or value.args:
        return value.args
    count = len(kernel.annotations.type_parameters(value.cls))
    return tuple(frame.read(("arg", value.site, i)) for i in range(count))


def mapping_for(frame: Frame, value: Instance, base: str) -> dict[str, ValueSet]:
    """Values of the type variables of `base`, a class above the instance's own."""
    kernel = frame.kernel
    annotations = kernel.annotations
    if not kernel.classes.is_known(value.cls):
        return {}
    own = own_arguments(frame, value)
    mine = dict(zip(annotations.type_parameters(value.cls), own, strict=False))
    if base == value.cls:
        return mine
    held = held_mapping(frame, value, base) if kernel.classes.in_repository(value.cls) else None
    if held is not None:
        return held
    view = annotations.view(value.cls, base)
    if view is None:
        return {}
    filled = [substitute(annotations, v, mine, keep=False) for v in view]
    return dict(zip(annotations.type_parameters(base), filled, strict=False))


def receiver_types(frame: Frame, definition: Definition, receiver: Value | None) -> dict[str, ValueSet]:
    """What the type variables of a method's class stand for on a receiver, as far as declarations say: `Box[User]`, or
    an object of a class below it."""
    owner = definition.enclosing_class()
    if owner is None or not isinstance(receiver, Instance) or not frame.kernel.annotations.type_parameters(owner.id):
        return {}
    unknown = (SpecialForm, TypeVariable, Open)
    mapping = mapping_for(frame, receiver, owner.id)
    return {k: values for k, values in mapping.items() if values and not any(isinstance(v, unknown) for v in values)}


def fill_declared(
    frame: Frame, inferred: ValueSet, declared: ValueSet, types: dict[str, ValueSet]
) -> ValueSet:
    """A method's result on a receiver of which the class's type variables are known. What is declared to be iterated
    over yields what is declared; an iterator of the repository's own class beside it runs its own code."""
    if declared and all(isinstance(v, Instance) and v.cls in _ITERATION and v.args for v in declared):
        classes = frame.kernel.classes
        return frozenset(v for v in inferred if isinstance(v, Instance) and classes.in_repository(v.cls))
    return substitute(frame.kernel.annotations, inferred, types, keep=True)


def tuple_items(frame: Frame, value: Instance, symbolic: bool = False) -> list[ValueSet] | None:
    """Values per index of a tuple of known length. `symbolic` leaves those of the unit's own `*args` as what the caller
    passed."""
    if value.cls != TUPLE:
        return named_items(frame, value)
    if value.site is None:
        return list(value.args) if value.args else None
    length = known_length(value)
    if length is None:
        return None
    owner, _, place = value.site.rpartition("@")
    if owner == frame.unit.id and not place[:1].isdigit():
        make = frame.kernel.make
        given = [frozenset[Value]({make.given(owner, f"{place}.{i}")}) for i in range(length)]
        return given if symbolic else [frame.expand(item) for item in given]
    return [frame.read(("index", value.site, i)) for i in range(length)]


def known_length(value: Value) -> int | None:
    """How many items a tuple has; None where that is not known, or the value is none."""
    if not isinstance(value, Instance) or value.cls != TUPLE or value.site == HOMOGENEOUS:
        return None
    if value.site is None:
        return len(value.args) or None
    return _display_length(value.site)


def list_items(frame: Frame, value: Instance) -> list[ValueSet] | None:
    """Values per index of a list, as long as nothing is seen to move what its display put there."""
    if value.cls != "~builtins:list" or value.site is None:
        return None
    length = _display_length(value.site)
    if not length or frame.read(("moved", value.site)):
        return None
    return [frame.read(("index", value.site, i)) for i in range(length)]


def move_items(frame: Frame, values: ValueSet) -> None:
    """Lists that code which isn't seen may reorder, or a method does: any index can then mean any element."""
    for value in values:
        if isinstance(value, Instance) and value.cls == "~builtins:list" and value.site is not None:
            frame.write(("moved", value.site), frozenset({frame.kernel.make.literal("bool", 1)}))


def _display_length(site: str) -> int | None:
    _, mark, length = site.rpartition("#")
    return int(length) if mark and length.isdigit() else None


def cut_tuple(frame: Frame, items: list[ValueSet], key: ir.Slice, at: int) -> Value:
    """A slice of a tuple: by position where its bounds are written as numbers."""
    bounds = [_written_index(part) for part in (key.lower, key.upper, key.step)]
    numbers = [b for b in bounds if not isinstance(b, str)]
    site = frame.site_key(at)
    if len(numbers) < len(bounds) or numbers[2] == 0:
        frame.write(("arg", site, 0), NOTHING.union(*items))
        return frame.kernel.builtin("tuple", (), site)
    kept = items[slice(numbers[0], numbers[1], numbers[2])]
    frame.write(("arg", site, 0), NOTHING.union(*kept))
    for index, item in enumerate(kept):
        frame.write(("index", f"{site}#{len(kept)}", index), item)
    return frame.kernel.builtin("tuple", (), f"{site}#{len(kept)}")


def _written_index(expr: ir.Expr | None) -> int | str | None:
    """A bound of a slice; a text where it is not a number in the source."""
    if expr is None:
        return None
    sign = 1
    if isinstance(expr, ir.UnaryOp) and expr.op == "-":
        expr, sign = expr.operand, -1
    if isinstance(expr, ir.Constant) and expr.type == "int" and expr.value is not None:
        return sign * int(expr.value)
    return "computed"


def element_values(frame: Frame, values: ValueSet) -> ValueSet:
    """What iterating over each value yields, without recording calls (see implicit_calls for those)."""
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Instance):
            found |= _instance_elements(frame, value)
        elif isinstance(value, (Literal, Text)):
            found.add(frame.kernel.builtin("str"))
    return frozenset(found)


def _instance_elements(frame: Frame, value: Instance) -> ValueSet:
    kernel = frame.kernel
    if not kernel.classes.is_known(value.cls):
        return NOTHING
    if value.cls in ("~builtins:str", "~builtins:bytes"):
        return frozenset({kernel.builtin(value.cls.partition(":")[2])})
    for base in kernel.classes.mro(value.cls):
        if base in ("~typing:Iterable", "~typing:AsyncIterable"):
            arguments = mapping_for(frame, value, base)
            return next(iter(arguments.values()), NOTHING)
    return _structural_elements(frame, value)


def _structural_elements(frame: Frame, value: Instance) -> ValueSet:
    """A library class that iterates without deriving from Iterable, as `enumerate` and `zip` in typeshed."""
    from contextc.analyzer.inference.implicit_calls import call_method
    from contextc.model.edge import Rule

    classes = frame.kernel.classes
    owner = classes.owner(value.cls, "__next__")
    if owner is not None and not classes.in_repository(owner):
        return call_method(frame, value, "__next__", (), -1, Rule.ITERATION)
    return NOTHING


# ------------------------------------------------------------------------------------------------------ solving


def solve(frame: Frame, pattern: ValueSet, actual: ValueSet, solution: dict[str, ValueSet], depth: int = 4) -> None:
    """Adds to `solution` what each type variable in `pattern` must be for `actual` to fit. A value of which too little
    is known makes each of them unknown."""
    if depth <= 0 or not actual:
        return
    named = {v.cls for v in pattern if isinstance(v, Instance)}
    for part in pattern:
        if isinstance(part, TypeVariable):
            rest = frozenset(v for v in actual if not (isinstance(v, Instance) and v.cls in named))
            solution[part.key] = solution.get(part.key, NOTHING) | rest
        elif isinstance(part, Instance) and part.args:
            _solve_instance(frame, part, actual, solution, depth)
        elif isinstance(part, CallableType):
            _solve_callable(frame, part, actual, solution, depth)
        else:
            continue
        if not isinstance(part, TypeVariable):
            for value in actual:
                if isinstance(value, (Open, SpecialForm, External, TypeVariable, Possible)):
                    _leave_open(frame, frozenset({part}), value, solution)


def _leave_open(frame: Frame, pattern: ValueSet, value: Value, solution: dict[str, ValueSet]) -> None:
    """Each type variable in `pattern` can be anything."""
    unknown = frozenset({value}) if isinstance(value, Open) else frame.kernel.any
    for key in variable_keys(pattern):
        solution[key] = solution.get(key, NOTHING) | unknown


def _solve_instance(
    frame: Frame, part: Instance, actual: ValueSet, solution: dict[str, ValueSet], depth: int
) -> None:
    kernel = frame.kernel
    if part.cls == TYPE:
        classes = (v for v in actual if isinstance(v, ClassObject))
        made = frozenset(kernel.make.instance(v.cls, v.grip, v.args) for v in classes)
        solve(frame, part.args[0], made, solution, depth - 1)
        return
    for value in actual:
        if isinstance(value, (Literal, Text)):
            value = kernel.builtin("str" if isinstance(value, Text) else value.type)
        if not isinstance(value, Instance) or not kernel.classes.is_known(value.cls):
            continue
        if kernel.classes.is_subclass(value.cls, part.cls):
            items = tuple_items(frame, value) if part.cls == TUPLE else None
            if items is not None and part.site is None and len(part.args) == len(items):
                for declared, given in zip(part.args, items, strict=False):
                    solve(frame, declared, given, solution, depth - 1)
                continue
            mapping = mapping_for(frame, value, part.cls)
            for declared, given in zip(part.args, mapping.values(), strict=False):
                solve(frame, declared, given, solution, depth - 1)
            if len(mapping) < len(part.args):  # a declaration without type arguments
                _leave_open(frame, frozenset().union(*part.args[len(mapping) :]), value, solution)
        elif part.cls in _ITERATION:
            from contextc.analyzer.inference.implicit_calls import iterate

            solve(frame, part.args[0], iterate(frame, frozenset({value}), -1), solution, depth - 1)
        elif part.cls == "~typing:Mapping" or kernel.classes.info(part.cls).is_protocol:
            _solve_protocol(frame, part, value, solution, depth)


def _solve_protocol(
    frame: Frame, part: Instance, value: Instance, solution: dict[str, ValueSet], depth: int
) -> None:
    """A protocol with one method of the value's own class: its declared result against the actual one."""
    from contextc.analyzer.inference.attributes import read_attribute
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value

    kernel = frame.kernel
    members = [c for c in kernel.definition(part.cls).children if c.is_function and c.facts.returns is not None]
    keys = kernel.annotations.type_parameters(part.cls)
    for member in members[:3]:
        assert member.facts.returns is not None and member.parent is not None
        declared = kernel.annotations.read(member.facts.returns, member.parent, member)
        inner: dict[str, ValueSet] = {}
        for method in read_attribute(frame, value, member.name, -1):
            if isinstance(method, (BoundMethod, FunctionValue)):
                result = call_value(frame, method, Arguments(_declared_arguments(frame, member), ()), -1, None)
                solve(frame, declared, result, inner, depth - 2)
        for key, pattern in zip(keys, part.args, strict=False):
            solve(frame, pattern, inner.get(key, NOTHING), solution, depth - 2)


def _declared_arguments(frame: Frame, member: Definition) -> tuple[tuple[str, ValueSet], ...]:
    """What a protocol's method is declared to get; none where a type variable leaves that open."""
    found: list[tuple[str, ValueSet]] = []
    for parameter in member.facts.parameters[1:]:
        if parameter.annotation is None or parameter.kind not in ("positional", "normal"):
            return ()
        declared = frame.kernel.annotations.read(parameter.annotation, member.parent or member, member)
        if not declared or not all(isinstance(v, (Instance, Literal)) for v in declared):
            return ()
        found.append(("", declared))
    return tuple(found)


def _solve_callable(
    frame: Frame, part: CallableType, actual: ValueSet, solution: dict[str, ValueSet], depth: int
) -> None:
    from contextc.analyzer.inference.binding import Arguments
    from contextc.analyzer.inference.calls import call_value

    for value in actual:
        if _is_called(frame, value):
            given = tuple(("", p) for p in part.params or ())
            filled = tuple((s, _known(frame, p, solution)) for s, p in given)
            result = call_value(frame, value, Arguments(filled, ()), -1, None)
            solve(frame, part.returns, result, solution, depth - 1)


def _is_called(frame: Frame, value: Value) -> bool:
    if isinstance(value, Instance):
        classes = frame.kernel.classes
        return classes.is_known(value.cls) and classes.owner(value.cls, "__call__") is not None
    return isinstance(value, (FunctionValue, BoundMethod, ClassObject, CallableType, Partial, Wrapper))


def _known(frame: Frame, values: ValueSet, solution: dict[str, ValueSet]) -> ValueSet:
    found = substitute(frame.kernel.annotations, values, solution, keep=True)
    return frozenset(v for v in found if not isinstance(v, (TypeVariable, SpecialForm)))
