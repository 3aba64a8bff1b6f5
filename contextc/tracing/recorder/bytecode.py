"""What stands at an offset of a code object: instruction names, positions, where a generator starts.

In: a code object and an offset in bytes. Out: `opcode_name(code, 24)` is "CALL"; `position(code, 24)` is (line, column,
end line, end column), columns in UTF-8 bytes; before 3.11 only the line is known.

Everything is remembered by the id of the code object: `Observed` keeps those alive.
"""

from __future__ import annotations

import opcode
import sys
from types import CodeType
from typing import Any

Position = tuple["int | None", "int | None", "int | None", "int | None"]
HAS_COLUMNS = sys.version_info >= (3, 11)

_NOWHERE: Position = (None, None, None, None)
_names: dict[int, list[str]] = {}
_positions: dict[int, list[Position]] = {}
_first_calls: dict[int, dict[Position, int]] = {}


def opcode_name(code: CodeType, offset: int) -> str:
    """The instruction's name, without specialisation and instrumentation; "?" where there is none."""
    names = _list_names(code)
    index = offset // 2
    return names[index] if 0 <= index < len(names) else "?"


def _list_names(code: CodeType) -> list[str]:
    names = _names.get(id(code))
    if names is None:
        raw = code.co_code
        names = _names[id(code)] = [opcode.opname[raw[at]] for at in range(0, len(raw), 2)]
    return names


def instruction_offset(code: CodeType, last: int) -> int:
    """The offset of the instruction that a frame's `f_lasti` lies in: it may point into its inline caches."""
    while last > 0 and opcode_name(code, last) == "CACHE":
        last -= 2
    return last


def is_call(name: str) -> bool:
    """Whether the instruction calls what the program names: CALL_INTRINSIC_1 does not."""
    return name.startswith("CALL") and not name.startswith("CALL_INTRINSIC")


def position(code: CodeType, offset: int) -> Position:
    """Where the instruction's expression stands."""
    table = _positions.get(id(code))
    if table is None:
        table = _positions[id(code)] = _list_positions(code)
    index = offset // 2
    return table[index] if 0 <= index < len(table) else _NOWHERE


def _list_positions(code: CodeType) -> list[Position]:
    columns: Any = getattr(code, "co_positions", None)
    if columns is not None:
        return [(line, column, end, end_column) for line, end, column, end_column in columns()]
    table: list[Position] = [_NOWHERE] * (len(code.co_code) // 2)
    for start, end, line in code.co_lines():
        table[start // 2 : end // 2] = [(line, None, None, None)] * ((end - start) // 2)
    return table


def is_later_call(code: CodeType, offset: int) -> bool:
    """Whether another call instruction of the same position comes before: in `@deco(1)` the application of what
    `deco(1)` gave has the call's own position. Where only lines are known: whether the instruction calls what stands
    below a function or class just made, as applying a decorator does."""
    if not HAS_COLUMNS:
        before = opcode_name(code, offset - 2)
        return before == "MAKE_FUNCTION" or (is_call(before) and position(code, offset - 2) == position(code, offset))
    firsts = _first_calls.get(id(code))
    if firsts is None:
        firsts = _first_calls[id(code)] = {}
        for index, name in enumerate(_list_names(code)):
            if is_call(name):
                firsts.setdefault(position(code, 2 * index), 2 * index)
    return firsts.get(position(code, offset), offset) != offset


def first_resume(code: CodeType) -> int:
    """The `f_lasti` of a generator's frame when it is run for the first time, as a profile function sees it."""
    if not HAS_COLUMNS:
        return -1
    raw = code.co_code
    wanted = opcode.opmap["RESUME"]
    return next((at for at in range(0, len(raw), 2) if raw[at] == wanted and not raw[at + 1] & 3), -1)
