"""The backend for every version: `sys.setprofile`, which is told what started but not what was called.

In: events call, c_call, c_return, c_exception. Out: the tables of `Observed`; the kind of an edge is concluded from the
instruction and the expression there, and from what its names stand for in the caller's frame.

    backend = Profiling(observed); backend.start(); ...; backend.stop()

Less exact than events of `sys.monitoring`: who made a generator is only known where it is first resumed, a class of C
code leaves no trace, executed lines are not seen. Threads are recorded that `threading` starts.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from .bytecode import HAS_COLUMNS, first_resume, instruction_offset, is_call, opcode_name, position
from .callables import list_started_codes, register_call
from .lookup import MISSING, look_up
from .observed import RECORDED, Call, CallKey, EdgeKey, Observed
from .starts import FUNCTION, GENERATOR, Pending, conclude_kind, find_recorded_caller, first_start, site_of
from .syntax import called_name

_LOST = "calls were missed after a RecursionError, or while the program used sys.setprofile itself"


class Profiling:
    """One recording."""

    name = "setprofile"

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.pending: dict[int, Pending] = {}  # by id of a frame: the C function it is calling
        self._offsets: dict[tuple[int, int], int] = {}
        self._on_event: Callable[[FrameType, str, Any], None] | None = None
        self._first: dict[int, int] = {}  # by generator code: f_lasti of its first resumption

    def start(self) -> None:
        """Begin to record, in this thread and those that `threading` will start."""
        self._on_event = self._make_on_event()
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)
        gc.callbacks.append(self._take_up_again)

    def stop(self) -> None:
        """End recording in this thread; the others go on into tables nobody reads."""
        if sys.getprofile() is not self._on_event:
            self.observed.note_loss(_LOST)
        gc.callbacks.remove(self._take_up_again)
        sys.setprofile(None)
        threading.setprofile(None)

    def _take_up_again(self, phase: str, _: dict[str, int]) -> None:
        """Called by the garbage collector, so often and in any thread. The interpreter takes a profile function away
        that could not be called, at the recursion limit; a program that uses one of its own leaves none behind."""
        if phase == "start" and sys.getprofile() is None:
            self.observed.note_loss(_LOST)
            sys.setprofile(self._on_event)

    def _make_on_event(self) -> Callable[[FrameType, str, Any], None]:
        """What the interpreter calls. Must never raise: the program would see it."""
        origin, classify, pending = self.observed.origin, self.observed.classify, self.pending

        def on_event(frame: FrameType, event: str, argument: Any) -> None:
            code = frame.f_code
            known = origin.get(id(code))
            if known is None:
                known = classify(code)
            if known != RECORDED:
                if event == "call":
                    below = frame.f_back
                    if below is not None and origin.get(id(below.f_code)) == RECORDED:
                        self._on_foreign(code, below)
            elif event == "call":
                self._on_start(code, frame)
            elif event == "c_call":
                pending[id(frame)] = self._on_c_call(code, frame.f_lasti, argument)
            elif event != "return":
                pending.pop(id(frame), None)

        return on_event

    def _on_c_call(self, code: CodeType, last: int, called: Any) -> Pending:
        offset = self._offset(code, last)
        name = called.__name__
        key: CallKey = (id(code), offset, name)
        call = self.observed.calls.get(key)
        if call is None:
            call = self.observed.calls[key] = Call()
            self._register(code, offset, called, key, call)
        call.count += 1
        return id(code), offset, name, False

    def _on_start(self, code: CodeType, frame: FrameType) -> None:
        if code.co_flags & GENERATOR and not self._is_first_resumption(code, frame.f_lasti):
            return
        observed, below = self.observed, frame.f_back
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

    def _on_foreign(self, code: CodeType, below: FrameType) -> None:
        """A call site of recorded code that called a Python function which is not: a library's, maybe a wrapper."""
        if code.co_flags & GENERATOR:
            return
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
            try:
                self._register_expression(below, (id(caller), offset, id(code)))
            except Exception as fault:
                self.observed.note_fault(code, fault)
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
                self._prepare_indirect(found[0], code)
            first_start(observed, self.pending, code, below, key)
        elif code.co_name == "<module>":
            return
        elif is_call(opcode) and not calls_c:
            self._register_expression(below, key)
            kind, sub = self._guess(code, below, key)
            observed.add_edge(key, kind, sub).count += 1
        else:
            kind, sub = conclude_kind(code, below, offset, pending)
            if kind == "gen_resume" and not is_call(opcode):
                kind = "gen_first_resume"
            observed.add_edge(key, kind, sub).count += 1

    def _prepare_indirect(self, frame: FrameType, code: CodeType) -> None:
        """A recorded caller's call led to `code` through a library: through a wrapper of it, or, for a generator or
        coroutine, because the caller made it there, as in `asyncio.run(serve())`."""
        key = site_of(frame, code)
        if not is_call(opcode_name(frame.f_code, key[1])):
            return
        if not code.co_flags & GENERATOR:
            self._register_expression(frame, key)
            return
        where = position(frame.f_code, key[1])
        for node in self.observed.syntax_of(frame.f_code).find_calls_by_name(where, code.co_name):
            if list_started_codes(look_up(frame, node.func))[:1] == [code]:
                self.observed.add_edge(key, "gen_first_resume", "via_external")

    def _register_expression(self, frame: FrameType, key: EdgeKey) -> None:
        """Puts into the tables what the call expression at `key` names, if that can be found and explains the start."""
        called = self._look_up(frame, key)
        if called is not MISSING:
            register_call(self.observed, frame.f_code, key[1], called, (*key[:2], 0, "looked up"), Call())

    def _look_up(self, frame: FrameType, key: EdgeKey) -> Any:
        """What is called at `key`: an object that starts the code that started, or a class."""
        code = self.observed.codes[key[2]]
        syntax = self.observed.syntax_of(frame.f_code)
        nodes = syntax.find_candidates(position(frame.f_code, key[1]))
        by_class = HAS_COLUMNS or all(called_name(node) != code.co_name for node in nodes)
        for node in nodes:
            called = look_up(frame, node.func)
            if called is MISSING:
                continue
            if (by_class and issubclass(type(called), type)) or code in list_started_codes(called):
                return called
        return MISSING

    def _guess(self, code: CodeType, below: FrameType, key: EdgeKey) -> tuple[str, str]:
        """The kind of an edge from a call instruction that calls no C function, where its names don't tell."""
        name = code.co_name
        if not code.co_flags & FUNCTION:
            return "class_body", ""
        if code.co_flags & GENERATOR:
            return "gen_first_resume", "CALL"
        node = self.observed.syntax_of(below.f_code).find_call(position(below.f_code, key[1]), name)
        if node is not None and called_name(node) == name:
            return "explicit", ""
        called = self._look_up(below, key)
        written = called_name(node) if node is not None else None
        if written and written.startswith("__") and written.endswith("__"):
            return "via_c", written  # `super().__init__(…)` of a C class: it is called without an event
        if name in ("__init__", "__new__"):
            return "constructor", ""
        if name == "__call__":
            is_metaclass = called is not MISSING and code in list_started_codes(called)
            return ("constructor", "metaclass_call") if is_metaclass else ("instance_call", "")
        if called is not MISSING:
            return "via_c", getattr(called, "__name__", "?")
        if name in ("__init_subclass__", "__set_name__"):
            return "class_creation", ""
        return "explicit", "alias" if node is not None and not name.startswith("<") else ""
