"""What a called object is: a function, a wrapper of one, a class, an instance with `__call__`, or C code.

In: the object a call instruction is about to call, at first sight of it at that site. Out: its edges in the tables.

    register_call(observed, code, 24, functools.partial(save, 1), key)    # edge to `save`, kind via_c, sub partial

No attribute is read through the object's own class where that could run the program's code.
"""

from __future__ import annotations

import functools
import types
from types import CodeType, FunctionType, MethodType
from typing import Any

from .observed import RECORDED, Call, CallKey, Observed

BUILTINS = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)
_WRAPPERS_DEEP = 8  # of functools.wraps around functools.wraps
_PARTIALS_DEEP = 20
CACHED = type(functools.lru_cache(lambda: None))


def register_call(observed: Observed, code: CodeType, offset: int, called: Any, key: CallKey, call: Call) -> None:
    """Puts the edges of one (site, callable) into the tables; sets `call.edge` where a call proves one."""
    kind = type(called)
    function = called.__func__ if kind is MethodType else called
    if type(function) is FunctionType:
        _register_function(observed, code, offset, function, key, call)
    elif issubclass(kind, type):
        names = observed.classes_at.setdefault((id(code), offset), set())
        names.add(_name_class(called))
    elif issubclass(kind, functools.partial):
        started = recorded_code(observed, unwrap_partial(called))
        if started is not None:
            call.edge = observed.add_edge((id(code), offset, id(started)), "via_c", "partial", by_call=True)
    elif kind in BUILTINS:
        observed.external[key] = _name_builtin(called)
    elif kind is not MethodType:
        _register_instance(observed, code, offset, called, key, call)


def recorded_code(observed: Observed, function: Any) -> CodeType | None:
    """The code of a function or bound method that lies in a recorded file."""
    if type(function) is MethodType:
        function = function.__func__
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    return code if observed.origin_of(code) == RECORDED else None


def list_started_codes(called: Any) -> list[CodeType]:
    """The code that calling an object (not a class) can start: its own, and that of functions it wraps."""
    found: list[CodeType] = []
    if issubclass(type(called), functools.partial):
        called = unwrap_partial(called)
    for _ in range(_WRAPPERS_DEEP):
        function = called.__func__ if type(called) is MethodType else called
        if type(function) is not FunctionType and type(function) is not CACHED:
            function = _find_call_method(type(function))
        if type(function) is FunctionType:
            found.append(function.__code__)
        called = _read_wrapped(function)
        if called is None:
            break
    return found


def _find_call_method(kind: Any) -> Any:
    """`__call__` as the first class in the MRO that has it defines it."""
    mro = type.__dict__["__mro__"].__get__(kind)
    return next((base.__dict__["__call__"] for base in mro if "__call__" in base.__dict__), None)


def _register_function(
    observed: Observed, code: CodeType, offset: int, function: FunctionType, key: CallKey, call: Call
) -> None:
    started = function.__code__
    if observed.origin_of(started) == RECORDED:
        call.edge = observed.add_edge((id(code), offset, id(started)), "explicit", by_call=True)
    else:
        observed.external[key] = observed.name_foreign(started, getattr(started, "co_qualname", started.co_name))
    wrapped: Any = function
    for _ in range(_WRAPPERS_DEEP):
        wrapped = _read_wrapped(wrapped)
        if wrapped is None:
            return
        call.others = call.others or set()
        inner = recorded_code(observed, wrapped)
        if inner is not None:
            observed.add_edge((id(code), offset, id(inner)), "via_wrapper")


def _register_instance(observed: Observed, code: CodeType, offset: int, called: Any, key: CallKey, call: Call) -> None:
    kind = type(called)
    name = _name_class(kind).replace(":", ".")
    if kind is CACHED or kind in (staticmethod, classmethod):
        observed.external[key] = name
        inner = recorded_code(observed, _read_wrapped(called))
        if inner is not None:
            observed.add_edge((id(code), offset, id(inner)), "via_wrapper")
        return
    observed.external[key] = f"instance:{name}"
    method = _find_call_method(kind)
    started = recorded_code(observed, method)
    if started is not None:
        del observed.external[key]
        call.edge = observed.add_edge((id(code), offset, id(started)), "instance_call", by_call=True)
        return
    inner = recorded_code(observed, _read_wrapped(method))
    if inner is not None:
        observed.add_edge((id(code), offset, id(inner)), "via_wrapper")


def _read_wrapped(function: Any) -> Any:
    """What functools.wraps noted: `__wrapped__`, only where it stands in the object's own dictionary."""
    if type(function) in (staticmethod, classmethod):
        return function.__func__
    try:
        return object.__getattribute__(function, "__dict__").get("__wrapped__")
    except AttributeError:
        return None


def unwrap_partial(called: Any) -> Any:
    """What a partial of a partial of … calls in the end."""
    function = called
    for _ in range(_PARTIALS_DEEP):
        if not issubclass(type(function), functools.partial):
            break
        function = functools.partial.__dict__["func"].__get__(function)
    return function


def _name_class(kind: Any) -> str:
    module = type.__dict__["__module__"].__get__(kind)
    return f"{module if type(module) is str else '?'}:{type.__dict__['__qualname__'].__get__(kind)}"


def _name_builtin(called: Any) -> str:
    """`builtins.str.join` → `builtins.str.join`; the module of a method is its class's."""
    name = getattr(called, "__qualname__", None) or getattr(called, "__name__", "?")
    owner = getattr(called, "__objclass__", None)
    bound = getattr(called, "__self__", None)
    if owner is None and bound is not None and type(bound) is not types.ModuleType:
        owner = bound if issubclass(type(bound), type) else type(bound)
    if owner is not None:
        return f"{_name_class(owner).partition(':')[0]}.{name}"
    return f"{getattr(called, '__module__', None) or getattr(bound, '__name__', '?')}.{name}"
