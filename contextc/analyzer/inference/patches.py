"""What tests put in the place of something else: `mock.patch`, `patch.object`, pytest's `monkeypatch.setattr`.

In: a call that replaces an attribute, named by a dotted string or by its owner and name. Out: the attribute may also
hold the new value, only possibly so, and so may what comes of it; what was there stays. The definition that is replaced
is read at the call, a string that names it is a reference to it.
"""

from __future__ import annotations

from contextc.analyzer.inference.attribute_stores import store_attribute
from contextc.analyzer.inference.attributes import read_attributes
from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import PLAIN, CallContext, call_value, expand_arguments
from contextc.analyzer.inference.dictionaries import copy_items
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.namespaces import PATCHED, note_possible_read
from contextc.model import ir
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    ClassObject,
    External,
    FunctionValue,
    Instance,
    Literal,
    ModuleValue,
    Open,
    Partial,
    SpecialForm,
    Value,
    ValueSet,
)

FIXTURES = frozenset({"monkeypatch", "mocker"})  # of pytest and pytest-mock: parameters of these names are given them
_PATCHERS = ("pytest_mock.MockerFixture()", "pytest_mock.MockFixture()", "pytest_mock.plugin.MockerFixture()")
_MONKEY = ("pytest.MonkeyPatch()", "_pytest.monkeypatch.MonkeyPatch()")


def patch_by_path(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`mock.patch("pkg.mod.name", new)`."""
    for owner, name in _named_by(frame, _given(args, 0, "target")):
        _replace(frame, owner, name, _new_values(frame, args, 1), context.at)
    return None


def patch_object(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`mock.patch.object(owner, "name", new)`."""
    for name in _texts(_given(args, 1, "attribute")):
        _replace(frame, _given(args, 0, "target"), name, _new_values(frame, args, 2), context.at)
    return None


def patch_several(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`mock.patch.multiple(owner, name=new)`; the owner may be named by a string."""
    target = _given(args, 0, "target")
    owner = target.union(*(read_path(frame, text) for text in _texts(target)))
    for name, values in args.keywords:
        if name is not None and name not in ("target", "spec", "create", "spec_set", "autospec", "new_callable"):
            _replace(frame, owner, name, values, context.at)
    return None


def patch_items(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`mock.patch.dict(table, {"key": new})`."""
    target = _given(args, 0, "in_dict")
    for table in target.union(*(read_path(frame, text) for text in _texts(target))):
        if isinstance(table, Instance) and table.site is not None:
            for values in _given(args, 1, "values"):
                copy_items(frame, values, table.site)
    return None


def set_attribute(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`monkeypatch.setattr("pkg.mod.name", new)` and `monkeypatch.setattr(owner, "name", new)`."""
    if len(args.positional) == 2 and not any(keyword == "value" for keyword, _ in args.keywords):
        for owner, text in _named_by(frame, _given(args, 0, "target")):
            _replace(frame, owner, text, _given(args, 1, "name"), context.at)
        return None
    for name in _texts(_given(args, 1, "name")):
        _replace(frame, _given(args, 0, "target"), name, _given(args, 2, "value"), context.at)
    return None


def patch_by_fixture(frame: Frame, expr: ir.Call, args: Arguments) -> None:
    """The same through what nothing but its name tells: the parameter `monkeypatch` or `mocker` of a test."""
    names: list[str] = []
    part: ir.Expr = expr.func
    while isinstance(part, ir.Attribute):
        names.insert(0, part.attr)
        part = part.value
    if not isinstance(part, ir.Name) or part.id not in FIXTURES or not names:
        return
    parameter = next((p for p in frame.unit.facts.parameters if p.name == part.id), None)
    if parameter is not None and parameter.annotation is None:
        _apply(frame, ".".join(names), args, CallContext(expr.at, None, PLAIN, False))


def patch_by_name(frame: Frame, callee: External, args: Arguments, context: CallContext) -> None:
    """The same through a library that was not found: `mock.patch`, `pytest.MonkeyPatch`."""
    name = callee.name
    for lead in (*_PATCHERS, *_MONKEY, "mock", "mock.mock"):
        if name.startswith(f"{lead}."):
            _apply(frame, name[len(lead) + 1 :], args, context)


def _apply(frame: Frame, name: str, args: Arguments, context: CallContext) -> None:
    model = _MODELS.get(name)
    if model is not None:
        model(frame, None, expand_arguments(frame, args), context)


_MODELS = {
    "patch": patch_by_path, "patch.object": patch_object, "patch.multiple": patch_several, "patch.dict": patch_items,
    "setattr": set_attribute,
}  # fmt: skip


def read_path(frame: Frame, path: str) -> ValueSet:
    """The object that a dotted path names: the longest module of it, and attributes from there on."""
    parts = path.split(".")
    program = frame.kernel.program
    for length in range(len(parts), 0, -1):
        module = program.find_module(".".join(parts[:length]), frame.unit.module)
        if module is not None:
            found: ValueSet = frozenset({frame.kernel.make.module(module.module_id)})
            for name in parts[length:]:
                found = read_attributes(frame, found, name, -1)
            return found
    return NOTHING


def _named_by(frame: Frame, targets: ValueSet) -> list[tuple[ValueSet, str]]:
    """Owners and names of attributes that dotted strings name."""
    found = []
    for text in _texts(targets):
        owner, _, name = text.rpartition(".")
        if owner:
            found.append((read_path(frame, owner), name))
    return found


def _texts(values: ValueSet) -> list[str]:
    return sorted(v.value for v in values if isinstance(v, Literal) and isinstance(v.value, str))


def _given(args: Arguments, index: int, keyword: str) -> ValueSet:
    named = NOTHING.union(*(values for name, values in args.keywords if name == keyword))
    return named | (args.positional[index][1] if index < len(args.positional) else NOTHING)


_CALLED = (FunctionValue, BoundMethod, Partial)


def _new_values(frame: Frame, args: Arguments, index: int) -> ValueSet:
    """What a patch puts there: a value, what a factory makes, or a mock that calls one function or gives one result."""
    found: set[Value] = set(_given(args, index, "new"))
    for keyword in ("side_effect", "wraps"):
        found.update(v for v in _given(args, 99, keyword) if isinstance(v, _CALLED))
    result = _given(args, 99, "return_value")
    if result:
        found.add(frame.kernel.make.callable_type(None, result))
    for factory in _given(args, 99, "new_callable"):
        if isinstance(factory, (*_CALLED, ClassObject)):
            found |= call_value(frame, factory, Arguments((), ()), -1, None)
    return frozenset(found)


def _replace(frame: Frame, owner: ValueSet, name: str, values: ValueSet, at: int) -> None:
    make = frame.kernel.make
    plain = frozenset(v for v in owner if isinstance(v, (ModuleValue, ClassObject, Instance)))
    for item in read_attributes(frame, plain, name, -1) if frame.recorder is not None else ():
        note_possible_read(frame, item, at)
    kept = frozenset(make.possible(v, PATCHED) for v in values if not isinstance(v, (Open, SpecialForm, External)))
    store_attribute(frame, plain, name, kept, -1)
