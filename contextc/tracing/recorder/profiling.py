"""The backend for every version: `sys.setprofile`, which is told what started but not what was called.

In: events call, c_call, c_return, c_exception. Out: the tables of `Observed`; the kind of an edge is concluded from the
instruction and the expression there, and from what its names stand for in the caller's frame.

    backend = Profiling(observed); backend.start(); ...; backend.stop()

Less exact than events of `sys.monitoring`: who made a generator is only known where it is first resumed, a class of C
code leaves no trace, executed lines are not seen. Threads are recorded that `threading` starts.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any

from .bytecode import first_resume, instruction_offset, is_call, opcode_name, position
from .callables import list_started_codes, register_call
from .lookup import MISSING, look_up
from .observed import RECORDED, Call, CallKey, EdgeKey, Observed
from .starts import FUNCTION, GENERATOR, Pending, conclude_kind, find_recorded_caller, first_start, site_of
from .syntax import called_name


class Profiling:
    """One recording."""

    name = "setprofile"

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.pending: dict[int, Pending] = {}  # by id of a frame: the C function it is calling
        self._offsets: dict[tuple[int, int], int] = {}
        self._first: dict[int, int] = {}  # by generator code: f_lasti of its first resumption

    def start(self) -> None:
        """Begin to record, in this thread and those that `threading` will start."""
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)

    def stop(self) -> None:
        """End recording in this thread; the others go on into tables nobody reads."""
        sys.setprofile(None)
        threading.setprofile(None)

    def _on_event(self, frame: FrameType, event: str, argument: Any) -> None:
        """What the interpreter calls. Must never raise: the program would see it."""
        if event == "call":
            self._on_call(frame)
        elif self.observed.origin_of(frame.f_code) != RECORDED:
            return
        elif event == "c_call":
            code = frame.f_code
            offset = self._offset(code, frame.f_lasti)
            name = argument.__name__
            self.pending[id(frame)] = (id(code), offset, name, False)
            key: CallKey = (id(code), offset, name)
            call = self.observed.calls.get(key)
            if call is None:
                call = self.observed.calls[key] = Call()
                self._register(code, offset, argument, key, call)
            call.count += 1
        elif event != "return":
            self.pending.pop(id(frame), None)

    def _on_call(self, frame: FrameType) -> None:
        code, below = frame.f_code, frame.f_back
        observed = self.observed
        if observed.origin_of(code) != RECORDED:
            if below is not None and observed.origin_of(below.f_code) == RECORDED and not code.co_flags & GENERATOR:
                self._count_foreign(code, below)
            return
        if code.co_flags & GENERATOR and not self._is_first_resumption(code, frame.f_lasti):
            return
        observed.started[id(code)] = observed.started.get(id(code), 0) + 1
        if below is None:
            return
        key = (id(below.f_code), self._offset(below.f_code, below.f_lasti), id(code))
        edge = observed.edges.get(key)
        if edge is not None:
            edge.count += 1
            return
        try:
            self._first_start(code, below, key)
        except Exception as fault:
            observed.note_fault(code, fault)

    def _is_first_resumption(self, code: CodeType, last: int) -> bool:
        first = self._first.get(id(code))
        if first is None:
            first = self._first[id(code)] = first_resume(code)
        return last == first

    def _offset(self, code: CodeType, last: int) -> int:
        offset = self._offsets.get((id(code), last))
        if offset is None:
            self.observed.origin_of(code)  # keeps the code
            offset = self._offsets[id(code), last] = instruction_offset(code, last)
        return offset

    def _count_foreign(self, code: CodeType, below: FrameType) -> None:
        """A call site of recorded code that called a Python function which is not."""
        caller = below.f_code
        offset = self._offset(caller, below.f_lasti)
        key: CallKey = (id(caller), offset, id(code))
        call = self.observed.calls.get(key)
        if call is None:
            if not is_call(opcode_name(caller, offset)):
                return
            call = self.observed.calls[key] = Call()
            name = getattr(code, "co_qualname", code.co_name)
            self.observed.external[key] = self.observed.name_foreign(code, name)
        call.count += 1

    def _register(self, code: CodeType, offset: int, called: Any, key: CallKey, call: Call) -> None:
        try:
            register_call(self.observed, code, offset, called, key, call)
        except Exception as fault:
            self.observed.note_fault(code, fault)

    def _first_start(self, code: CodeType, below: FrameType, key: EdgeKey) -> None:
        observed, offset = self.observed, key[1]
        opcode = opcode_name(below.f_code, offset)
        pending = self.pending.get(id(below))
        calls_c = pending is not None and pending[:2] == key[:2]
        if observed.origin_of(below.f_code) != RECORDED:
            found = find_recorded_caller(observed, below)
            if found is not None:
                self._register_expression(found[0], site_of(found[0], code))
            first_start(observed, self.pending, code, below, key)
        elif code.co_name == "<module>":
            return
        elif is_call(opcode) and not calls_c:
            self._register_expression(below, key)
            kind, sub = self._guess(code, below, offset)
            observed.add_edge(key, kind, sub).count += 1
        else:
            kind, sub = conclude_kind(code, below, offset, pending)
            if kind == "gen_resume" and not is_call(opcode):
                kind = "gen_first_resume"
            observed.add_edge(key, kind, sub).count += 1

    def _register_expression(self, frame: FrameType, key: EdgeKey) -> None:
        """Puts into the tables what the call expression at `key` names, if that can be found and explains the start."""
        called = self._look_up(frame, key[1], self.observed.codes[key[2]].co_name)
        if called is MISSING:
            return
        is_class = issubclass(type(called), type)
        if is_class or self.observed.codes[key[2]] in list_started_codes(called):
            register_call(self.observed, frame.f_code, key[1], called, (*key[:2], 0, "looked up"), Call())

    def _look_up(self, frame: FrameType, offset: int, started: str) -> Any:
        syntax = self.observed.syntax_of(frame.f_code)
        node = syntax.find_call(position(frame.f_code, offset), started)
        return MISSING if node is None else look_up(frame, node.func)

    def _guess(self, code: CodeType, below: FrameType, offset: int) -> tuple[str, str]:
        """The kind of an edge from a call instruction that calls no C function, where its names don't tell."""
        name = code.co_name
        if not code.co_flags & FUNCTION:
            return "class_body", ""
        node = self.observed.syntax_of(below.f_code).find_call(position(below.f_code, offset), name)
        called = self._look_up(below, offset, name)
        is_class = called is not MISSING and issubclass(type(called), type)
        if code.co_flags & GENERATOR:
            return "gen_first_resume", "CALL"
        if node is not None and called_name(node) == name:
            return "explicit", ""
        if name in ("__init__", "__new__"):
            return "constructor", ""
        if name == "__call__":
            return ("constructor", "metaclass_call") if is_class else ("instance_call", "")
        if is_class:
            return "via_c", getattr(called, "__name__", "?")
        return ("class_creation", "") if name in ("__init_subclass__", "__set_name__") else ("explicit", "")
