"""Making values, and joining sets of them: the lattice that inference climbs (strata 1 and 2).

In: fields of a value, or two sets of values. Out: the one object that stands for equal values; the least set above
both. `join_values(make, {list[A]}, {list[B]})` is `{list[A | B]}`. The type arguments of a value are in the join's
normal form from the start, so that a set which another covers adds nothing to it, however either came about.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from contextc.model.edge import Reason
from contextc.model.value import (
    MAX_CALLABLES,
    MAX_DEPTH,
    MAX_EXTERNAL,
    MAX_EXTERNALS,
    MAX_KEYS,
    MAX_LITERALS,
    MAX_METHODS,
    MAX_PLACES,
    MAX_WIDTH,
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
    Intrinsic,
    Key,
    Literal,
    ModuleValue,
    Open,
    Partial,
    Possible,
    PropertyObject,
    SpecialForm,
    SuperObject,
    Text,
    TypeVariable,
    Value,
    ValueSet,
    Wrapper,
    env_depth,
    is_placed,
    parts_depth,
    set_depth,
)

MAX_LENGTHS = 2  # of the tuples that one place makes, in a cell
_CAPS: dict[str, tuple[tuple[type[Value], ...], int]] = {
    "instances": ((Instance,), MAX_WIDTH),
    "callables": ((FunctionValue, ClassObject, Partial), MAX_CALLABLES),
    "methods": ((BoundMethod,), MAX_METHODS),
    "possible": ((Possible,), MAX_WIDTH),
    "externals": ((External,), MAX_EXTERNALS),
    "operations": ((Intrinsic,), MAX_WIDTH),
    "keys": ((Key,), MAX_KEYS),
}




class Interner:
    """Makes values; equal ones are the same object."""

    __slots__ = ("_columns", "_made")

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Any] = {}
        self._columns: dict[ValueSet, ValueSet] = {}

    def _make(self, kind: type[Any], *fields: Any) -> Any:
        key = (kind, *fields)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = kind(*fields)
        return made

    def instance(
        self, cls: str, grip: Grip = Grip.EXACT, args: tuple[ValueSet, ...] = (), site: str | None = None
    ) -> Instance:
        """An instance; type arguments nested deeper than MAX_DEPTH are dropped."""
        args = tuple(self.column(a) for a in args)
        depth = parts_depth(args) if args else 1
        if depth > MAX_DEPTH:
            args = tuple(self.column(self._cut_all(a, MAX_DEPTH - 1)) for a in args)
            depth = parts_depth(args)
        return self._make(Instance, cls, grip, args, site, depth)  # type: ignore[no-any-return]

    def column(self, values: ValueSet) -> ValueSet:
        """The normal form of what stands for one type argument: what is below it adds nothing when joined."""
        if len(values) < 2:
            return values
        done = self._columns.get(values)
        if done is None:
            done = self._columns[values] = _normalise_column(self, values)
        return done

    def cut(self, value: Value, levels: int) -> Value:
        """The value without what is nested below so many levels. It goes by level alone, not by what else is there, so
        that of more values it never leaves less."""
        if type(value) not in (Instance, CallableType) or value.depth <= levels:  # type: ignore[union-attr]
            return value
        if levels <= 1:
            return self.flatten(value)
        if type(value) is Instance:
            args = tuple(self._cut_all(a, levels - 1) for a in value.args)
            return self.instance(value.cls, value.grip, args, value.site)
        assert type(value) is CallableType
        params = tuple(self._cut_all(p, levels - 1) for p in value.params) if value.params is not None else None
        return self.callable_type(params, self._cut_all(value.returns, levels - 1))

    def _cut_all(self, values: ValueSet, levels: int) -> ValueSet:
        return frozenset(self.cut(v, levels) for v in values) if set_depth(values) > levels else values

    def unplaced(self, value: Value) -> Value:
        """The value as any object of its class; a bound method as any object's."""
        if type(value) is BoundMethod and is_placed(value.receiver):
            return self.bound(self.unplaced(value.receiver), value.function)
        if type(value) is Instance and is_placed(value):
            return self.instance(value.cls, value.grip, value.args)
        return value

    def flatten(self, value: Value) -> Value:
        """The value without type arguments."""
        if type(value) is Instance and value.args:
            return self.instance(value.cls, value.grip, (), value.site)
        if type(value) is CallableType:
            return self.callable_type(None, NOTHING)
        return value

    def class_object(self, cls: str, grip: Grip = Grip.EXACT, args: tuple[ValueSet, ...] = ()) -> ClassObject:
        return self._make(ClassObject, cls, grip, args)  # type: ignore[no-any-return]

    def function(
        self, symbol: str, inner: FunctionValue | None = None, flavor: str = "", env: Context | None = None
    ) -> FunctionValue:
        """A function; a chain of decorator closures keeps its outermost and innermost function."""
        while inner is not None and inner.inner is not None:
            inner = inner.inner
        if inner is not None and inner.symbol == symbol:
            inner = None
        return self._make(FunctionValue, symbol, inner, flavor, env)  # type: ignore[no-any-return]

    def context(self, symbol: str, bindings: tuple[tuple[str, Value], ...], env: Context | None) -> Context:
        """A specialisation; values that were themselves made in one nested deeper than MAX_DEPTH lose theirs."""
        depth = 1 + max((env_depth(v) for _, v in bindings), default=0)
        if depth > MAX_DEPTH:
            bindings = tuple((name, self.merged(value)) for name, value in bindings)
            depth = 1
        return self._make(Context, symbol, bindings, env, max(depth, 1 + env.depth if env is not None else 0))  # type: ignore[no-any-return]

    def merged(self, value: Value) -> Value:
        """A callable as the merged evaluation of the function around it makes it."""
        if type(value) is FunctionValue and value.env is not None:
            return self.function(value.symbol, value.inner, value.flavor)
        if type(value) is BoundMethod:
            inner = value.function
            return self.bound(value.receiver, self.function(inner.symbol, inner.inner, inner.flavor))
        if type(value) is Partial:
            return self.partial(self.merged(value.function), value.args, value.keywords)
        return value

    def bound(self, receiver: Value, function: FunctionValue) -> BoundMethod:
        """A bound method; one that is bound to a bound method is bound to its function, so that nesting ends."""
        if type(receiver) is BoundMethod:
            receiver = receiver.function
        return self._make(BoundMethod, receiver, function)  # type: ignore[no-any-return]

    def super_object(self, cls: str, receiver: Value) -> SuperObject:
        return self._make(SuperObject, cls, receiver)  # type: ignore[no-any-return]

    def module(self, module: str) -> ModuleValue:
        return self._make(ModuleValue, module)  # type: ignore[no-any-return]

    def literal(self, kind: str, value: str | int) -> Literal:
        return self._make(Literal, kind, value)  # type: ignore[no-any-return]

    def text(self, parts: Iterable[str | None]) -> Value:
        """Joins neighbouring literal parts and holes; a text without holes is a Literal."""
        merged: list[str | None] = []
        for part in parts:
            if part == "":
                continue
            if merged and part is None and merged[-1] is None:
                continue
            if merged and part is not None and merged[-1] is not None:
                merged[-1] += part
            else:
                merged.append(part)
        if not merged:
            return self.literal("str", "")
        if len(merged) == 1 and merged[0] is not None and not _is_unsettled(merged[0]):
            return self.literal("str", merged[0])
        if len(merged) > 8:
            merged = [merged[0], None, merged[-1]]
        return self._make(Text, tuple(merged))  # type: ignore[no-any-return]

    def property(
        self,
        getter: FunctionValue | None,
        setter: FunctionValue | None = None,
        deleter: FunctionValue | None = None,
        cached: bool = False,
    ) -> PropertyObject:
        return self._make(PropertyObject, getter, setter, deleter, cached)  # type: ignore[no-any-return]

    def wrapper(self, kind: str, function: Value) -> Wrapper:
        if type(function) is Wrapper:
            function = function.function
        return self._make(Wrapper, kind, function)  # type: ignore[no-any-return]

    def partial(
        self, function: Value, args: tuple[ValueSet, ...], keywords: tuple[tuple[str, ValueSet], ...]
    ) -> Value:
        """A partial; a partial of a partial keeps only the inner function's bound arguments, and a partial among the
        arguments loses its own, so that nesting ends. An object that is called loses its type arguments: they grow."""
        if type(function) is Partial:
            return function
        if type(function) is Instance:
            function = self.flatten(function)
        args = tuple(self.column(frozenset(self._without_arguments(v) for v in values)) for values in args)
        keywords = tuple(
            (name, self.column(frozenset(self._without_arguments(v) for v in values))) for name, values in keywords
        )
        return self._make(Partial, function, args, keywords)  # type: ignore[no-any-return]

    def _without_arguments(self, value: Value) -> Value:
        return self.partial(value.function, (), ()) if type(value) is Partial else value

    def callable_type(self, params: tuple[ValueSet, ...] | None, returns: ValueSet) -> CallableType:
        """A declared callable; parts nested deeper than MAX_DEPTH lose their type arguments."""
        bare = params is None and not returns
        depth = 1 if bare else parts_depth((*(params or ()), returns))
        if depth > MAX_DEPTH:
            params = tuple(self._cut_all(p, MAX_DEPTH - 1) for p in params) if params is not None else None
            returns = self._cut_all(returns, MAX_DEPTH - 1)
            depth = parts_depth((*(params or ()), returns))
        return self._make(CallableType, params, returns, depth)  # type: ignore[no-any-return]

    def type_variable(self, key: str, bound: ValueSet = NOTHING, kind: str = "typevar") -> TypeVariable:
        return self._make(TypeVariable, key, bound, kind)  # type: ignore[no-any-return]

    def special(self, name: str) -> SpecialForm:
        return self._make(SpecialForm, name)  # type: ignore[no-any-return]

    def external(self, name: str) -> External:
        """An external value; a name of more than MAX_EXTERNAL parts is cut, so that loops end."""
        parts = name.split(".")
        if len(parts) > MAX_EXTERNAL:
            name = ".".join(parts[:MAX_EXTERNAL])
        return self._make(External, name)  # type: ignore[no-any-return]

    def external_names(self) -> list[str]:
        """The names of all external values made so far, sorted."""
        return sorted(key[1] for key in self._made if key[0] is External)

    def possible(self, value: Value, rule: str) -> Value:
        if type(value) in (Possible, Open):
            return value
        return self._make(Possible, value, rule)  # type: ignore[no-any-return]

    def intrinsic(self, name: str, owner: Value | None = None) -> Intrinsic:
        return self._make(Intrinsic, name, owner)  # type: ignore[no-any-return]

    def given(self, symbol: str, parameter: str, kept: ValueSet | None = None) -> Given:
        return self._make(Given, symbol, parameter, kept)  # type: ignore[no-any-return]

    def key(self, value: str | int) -> Key:
        return self._make(Key, value)  # type: ignore[no-any-return]

    def open(self, reason: Reason) -> Open:
        return self._make(Open, reason)  # type: ignore[no-any-return]


def _is_unsettled(part: str) -> bool:
    """Whether a part of a text has a character that stands for some name, which no name in a source has."""
    return "\0" in part or "\1" in part


# ------------------------------------------------------------------------------------------------------ the join


def join_values(make: Interner, left: ValueSet, right: ValueSet) -> ValueSet:
    """The least content above both: commutative, associative, idempotent.

    The union, with instances of one generic class joined by type argument. Past a cap a group of values gives way to
    a mark of its own (literals of a kind to a plain instance of their type), and what joins the group later is covered
    by the mark: no result depends on which values came first. `show_widened` turns marks into what a reader sees.
    """
    merged = _merge_places(make, _merge_generic(make, left | right))
    if len(merged) <= MAX_EXTERNALS and not any(type(v) is Intrinsic for v in merged):
        return merged
    merged = _cap_literals(make, merged)
    for name, (kinds, most) in _CAPS.items():
        merged = _cap(make, merged, kinds, most, f"widened.{name}")
    return merged


def _is_too_many(make: Interner, group: list[Value], most: int) -> bool:
    """Whether values are more than a cell holds. Of methods it holds as many as of functions where they are those of
    few objects: what a name put together at run time can mean of one visitor; possible values count as what they stand
    for. Whatever is added to too many is too many."""
    if len(group) <= most or len({make.unplaced(v) for v in group}) <= most:
        return False
    inner = [v.value if type(v) is Possible else v for v in group]
    methods = [v for v in inner if type(v) is BoundMethod]
    others = sum(type(v) is not FunctionValue for v in inner) - len(methods)
    receivers = {v.receiver for v in methods}
    return len(group) > _CAPS["callables"][1] or others > most or len(receivers) > _CAPS["instances"][1]


def show_widened(make: Interner, content: ValueSet) -> ValueSet:
    """What a reader sees: a plain string for too many, `Open(widened)` for each other mark."""
    marks = [v for v in content if _is_mark(v)]
    if not marks:
        return content
    shown: set[Value] = set(content).difference(marks)
    for mark in marks:
        assert isinstance(mark, Intrinsic)
        kind = mark.name.partition(".")[2]
        if kind in _CAPS:
            shown.add(make.open(Reason.WIDENED))
        else:
            shown.add(make.instance(f"~builtins:{kind}", Grip.EXACT))
    return frozenset(shown)


def _is_mark(value: Value) -> bool:
    return type(value) is Intrinsic and value.name.startswith("widened.")


def _cap(
    make: Interner, values: ValueSet, kinds: tuple[type[Value], ...], most: int, mark_name: str
) -> ValueSet:
    mark = make.intrinsic(mark_name)
    group = [v for v in values if isinstance(v, kinds) and not _is_mark(v)]
    if mark not in values and not _is_too_many(make, group, most):
        return values
    return values.difference(group) | {mark}


def _merge_places(make: Interner, values: ValueSet) -> ValueSet:
    """Past MAX_PLACES objects of a class that are told apart, or beside one that is not, any object of the class; the
    same for one method bound to them. Counted by class, so that nothing hangs on what else is there."""
    groups: dict[Value, list[Value]] = {}
    for value in values:
        placed = value.receiver if type(value) is BoundMethod else value
        if type(placed) is Instance and placed.site is not None and is_placed(placed):
            groups.setdefault(make.unplaced(value), []).append(value)
    if not groups:
        return values
    found = set(values)
    for whole, group in groups.items():
        if whole in found or len(group) > MAX_PLACES:
            found.difference_update(group)
            found.add(whole)
    return frozenset(found)


def _cap_literals(make: Interner, values: ValueSet) -> ValueSet:
    for kind, group in _literals(values).items():
        mark = make.intrinsic(f"widened.{kind}")
        if len(group) > MAX_LITERALS or mark in values:
            values = values.difference(group) | {mark}
    return values


def _merge_generic(make: Interner, values: ValueSet) -> ValueSet:
    """One instance for each generic class and site, one partial for each function and shape of arguments, one parameter
    with what any test let through."""
    groups: dict[tuple[object, ...], list[Instance | Partial | Given]] = {}
    tuples: list[Instance] = []
    possible: dict[str, list[Possible]] = {}
    for value in values:
        if type(value) is Possible:
            possible.setdefault(value.rule, []).append(value)
        elif type(value) is Instance and value.args:
            groups.setdefault((value.cls, value.grip, value.site), []).append(value)
        elif type(value) is Instance and value.cls == "~builtins:tuple" and value.grip is Grip.EXACT:
            tuples.append(value)
        elif type(value) is Partial:
            shape = (value.function, len(value.args), tuple(name for name, _ in value.keywords))
            groups.setdefault(shape, []).append(value)
        elif type(value) is Given:
            groups.setdefault((value.symbol, value.parameter), []).append(value)
    if len(tuples) > 1:
        values = _merge_lengths(make, values, tuples)
    for rule, wrapped in possible.items():
        if len(wrapped) > 1:
            merged = _merge_generic(make, frozenset(v.value for v in wrapped))
            values = values.difference(wrapped).union(make.possible(v, rule) for v in merged)
    if not any(len(group) > 1 for group in groups.values()):
        return values
    found = set(values)
    for group in groups.values():
        if len(group) > 1:
            found.difference_update(group)
            found.add(_merge_group(make, group))
    return frozenset(found)


def _merge_lengths(make: Interner, values: ValueSet, tuples: list[Instance]) -> ValueSet:
    """Tuples that one place makes at more than MAX_LENGTHS lengths are one of any length, as are all beside such a one.
    The elements of that one are those of all."""
    by_place: dict[str, list[Instance]] = {}
    for value in tuples:
        site = value.site or ""
        place, mark, length = site.rpartition("#")
        by_place.setdefault(place if mark and length.isdigit() else site, []).append(value)
    found = set(values)
    for place, group in by_place.items():
        if len(group) > MAX_LENGTHS or (len(group) > 1 and any(v.site == place for v in group)):
            found.difference_update(group)
            found.add(make.instance(group[0].cls, Grip.EXACT, (), place))
    return frozenset(found)


def _merge_group(make: Interner, group: list[Instance | Partial | Given]) -> Value:
    first = group[0]
    if isinstance(first, Given):
        return _merge_given(make, first, [v.kept for v in group if isinstance(v, Given)])
    return _merge_columns(make, [v for v in group if not isinstance(v, Given)])


def _merge_given(make: Interner, first: Given, tests: list[ValueSet | None]) -> Value:
    kept: ValueSet = NOTHING
    for one in tests:
        if one is None:
            return make.given(first.symbol, first.parameter)
        kept |= one
    return make.given(first.symbol, first.parameter, _merge_places(make, _merge_generic(make, kept)))


def _merge_columns(make: Interner, group: list[Instance | Partial]) -> Value:
    width = min(len(v.args) for v in group)
    args = tuple(NOTHING.union(*(v.args[i] for v in group)) for i in range(width))
    first = group[0]
    if isinstance(first, Instance):
        return make.instance(first.cls, first.grip, args, first.site)
    columns = [[v.keywords[i][1] for v in group if isinstance(v, Partial)] for i in range(len(first.keywords))]
    keywords = tuple((name, NOTHING.union(*c)) for (name, _), c in zip(first.keywords, columns, strict=True))
    return make.partial(first.function, args, keywords)


def _normalise_column(make: Interner, values: ValueSet) -> ValueSet:
    """A type argument joined like a cell; no mark of its own says what was too much: all of it is unknown then."""
    merged = _merge_places(make, _merge_generic(make, values))
    merged = _plain_literals(make, merged)
    unknown = make.open(Reason.WIDENED)
    if unknown in merged:
        return frozenset({unknown})
    for kinds, most in _CAPS.values():
        if len(merged) > most and sum(isinstance(v, kinds) for v in merged) > most:
            return frozenset({unknown})
    return merged


def _plain_literals(make: Interner, values: ValueSet) -> ValueSet:
    """Too many literals of a kind count as their type, and so do those beside it."""
    for kind, group in _literals(values).items():
        plain = make.instance(f"~builtins:{kind}", Grip.EXACT)
        if len(group) > MAX_LITERALS or plain in values:
            values = values.difference(group) | {plain}
    return values


def _literals(values: ValueSet) -> dict[str, list[Value]]:
    groups: dict[str, list[Value]] = {}
    for value in values:
        if isinstance(value, Literal):
            groups.setdefault(value.type, []).append(value)
        elif isinstance(value, Text):
            groups.setdefault("str", []).append(value)
    return groups
