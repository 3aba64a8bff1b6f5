"""A recorded function started: who called it, and how.

In: the started code and the frame below it. Out: an edge from the nearest recorded caller, with a kind concluded from
the caller's instruction and from the C function or class it was calling.

    first_start(observed, pending, code, frame, key)    # `for x in shop:` → kind dunder, sub GET_ITER, to __iter__
"""

from __future__ import annotations

from types import CodeType, FrameType

from .bytecode import instruction_offset, is_call, opcode_name
from .observed import GENERATED, OWN, RECORDED, EdgeKey, Observed

GENERATOR = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators: they start when first resumed
FUNCTION = 0x2  # its code has fast locals: not a class body, not a module
_FRAMES_BETWEEN = 40  # library frames between a recorded caller and what was called back
_CREATION = ("__init_subclass__", "__set_name__", "__prepare__")
_ATTRIBUTE_OPCODES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR")
_ATTRIBUTE_HOOKS = (
    "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__get__", "__set__", "__delete__",
)  # fmt: skip

# What a frame's call instruction was calling when it was no Python function: id of the frame's code, offset, name,
# whether it is a class. A plain tuple: one is made for each call of C code.
Pending = tuple[int, int, str, bool]


def find_recorded_caller(observed: Observed, frame: FrameType) -> tuple[FrameType, bool] | None:
    """The nearest recorded frame below a library's, and whether only generated code lies between. None where the
    user's own unrecorded code (a test) comes first, or nothing."""
    only_generated = observed.origin_of(frame.f_code) == GENERATED
    below = frame.f_back
    for _ in range(_FRAMES_BETWEEN):
        if below is None:
            return None
        origin = observed.origin_of(below.f_code)
        if origin == OWN:
            return None
        if origin == RECORDED:
            if below.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith("<frozen"):
                return None  # the import system
            return below, only_generated
        only_generated = only_generated and origin == GENERATED
        below = below.f_back
    return None


def first_start(
    observed: Observed, pending: dict[int, Pending], code: CodeType, frame: FrameType, key: EdgeKey
) -> None:
    """An edge to `code`, started from `frame`, that no call event explained. `key`: from `frame` itself."""
    if code.co_name == "<module>":
        return
    origin = observed.origin_of(frame.f_code)
    if origin == RECORDED:
        kind, sub = conclude_kind(code, frame, key[1], pending.get(id(frame)))
        observed.add_edge(key, kind, sub).count += 1
    elif origin != OWN:
        found = find_recorded_caller(observed, frame)
        if found is not None:
            caller, only_generated = found
            edge = observed.add_edge(site_of(caller, code), "via_generated" if only_generated else "via_external")
            if not edge.by_call:
                edge.count += 1


def site_of(frame: FrameType, code: CodeType) -> EdgeKey:
    """The key of an edge from where a frame stands to `code`."""
    caller = frame.f_code
    return id(caller), instruction_offset(caller, frame.f_lasti), id(code)


def conclude_kind(code: CodeType, frame: FrameType, offset: int, pending: Pending | None) -> tuple[str, str]:
    """Kind and sub of a start from a recorded frame's instruction."""
    name = code.co_name
    opcode = opcode_name(frame.f_code, offset)
    if is_call(opcode):
        if pending is not None and pending[:2] == (id(frame.f_code), offset):
            return _conclude_call(code, pending[2], pending[3])
        if opcode == "CALL_FUNCTION_EX":  # 3.12 has no event for `f(*a)` on a Python function
            return ("gen_resume", "?") if code.co_flags & GENERATOR else ("explicit", "star")
        return ("gen_resume", "?") if code.co_flags & GENERATOR else ("via_c", "?")
    if code.co_flags & GENERATOR:
        return "gen_resume", opcode
    if opcode in _ATTRIBUTE_OPCODES:
        return ("dunder" if name in _ATTRIBUTE_HOOKS else "property"), opcode
    if name.startswith("__") and name.endswith("__"):
        return "dunder", opcode
    return "via_c", opcode


def _conclude_call(code: CodeType, called: str, is_class: bool) -> tuple[str, str]:
    name = code.co_name
    if code.co_flags & GENERATOR:
        return "gen_resume", called
    if is_class:
        if name in ("__init__", "__new__"):
            return "constructor", ""
        if name == "__call__":
            return "constructor", "metaclass_call"
        return ("class_creation", "") if name in _CREATION else ("via_c", called)
    if called == "__build_class__":
        return ("class_creation", "") if code.co_flags & FUNCTION else ("class_body", "")
    return "via_c", called
