"""The backend for CPython 3.12 and later: events of `sys.monitoring`.

In: events CALL (which hands over the callable), PY_START, LINE. Out: the tables of `Observed`, in which direct calls,
generators' creation, constructors and calls of instances are exact.

    backend = Monitoring(observed); backend.start(); ...; backend.stop()

Code that is not recorded switches its events off at first sight of each instruction. A callback must never raise: the
program would see it.
"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FunctionType, MethodType
from typing import Any

from .bytecode import instruction_offset
from .callables import BUILTINS, CACHED, register_call, unwrap_partial
from .observed import RECORDED, Call, CallKey, EdgeKey, Observed
from .starts import Pending, first_start

_TOOL_IDS = (4, 3, 5, 2, 0, 1)  # those that the interpreter sets aside for coverage and debuggers last
_NAME = "contextc"
_SYSTEM: Any = getattr(sys, "monitoring", None)  # from 3.12 on


class Monitoring:
    """One recording. `spans` are exact: columns are known."""

    name = "monitoring"

    def __init__(self, observed: Observed) -> None:
        self.observed = observed
        self.pending: dict[int, Pending] = {}  # by id of a frame
        self._offsets: dict[tuple[int, int], int] = {}  # (id of code, f_lasti): the instruction
        self._tool = -1

    def start(self) -> None:
        """Begin to record, in all threads. Raises RuntimeError when other tools hold every place."""
        monitoring = _SYSTEM
        free = next((tool for tool in _TOOL_IDS if monitoring.get_tool(tool) is None), None)
        if free is None:
            raise RuntimeError("every tool id of sys.monitoring is in use")
        self._tool = free
        monitoring.use_tool_id(free, _NAME)
        events = monitoring.events
        monitoring.register_callback(free, events.CALL, self._make_on_call())
        monitoring.register_callback(free, events.PY_START, self._make_on_start())
        monitoring.register_callback(free, events.LINE, self._make_on_line())
        monitoring.set_events(free, events.CALL | events.PY_START | events.LINE)

    def stop(self) -> None:
        """End recording."""
        _SYSTEM.set_events(self._tool, 0)
        _SYSTEM.free_tool_id(self._tool)

    def _make_on_call(self) -> Any:
        origin, classify = self.observed.origin, self.observed.classify
        calls, pending, disable = self.observed.calls, self.pending, _SYSTEM.DISABLE
        frame_at, builtins, partial = sys._getframe, frozenset(BUILTINS), functools.partial
        register, class_name = self._register, type.__dict__["__name__"].__get__

        def on_call(code: CodeType, offset: int, called: Any, _: Any) -> Any:
            caller = id(code)
            known = origin.get(caller)
            if known is None:
                known = classify(code)
            if known != RECORDED:
                return disable
            kind = type(called)
            key: CallKey
            function = called.__func__ if kind is MethodType else called
            if type(function) is FunctionType:
                key = (caller, offset, id(function.__code__))
            elif kind in builtins:
                name = called.__name__
                key = (caller, offset, name)
                pending[id(frame_at(1))] = (caller, offset, name, False)
            elif issubclass(kind, type):
                key = (caller, offset, id(called), "class")
                pending[id(frame_at(1))] = (caller, offset, class_name(called), True)
            else:
                if kind is partial:
                    ident = _identify_target(called)
                elif kind is CACHED:
                    ident = id(called)
                else:
                    ident = id(type(function))
                key = (caller, offset, ident, "instance")
                pending[id(frame_at(1))] = (caller, offset, class_name(type(function)), False)
            call = calls.get(key)
            if call is None:
                call = calls[key] = Call()
                register(code, offset, called, key, call)
            elif call.others is not None and id(function) not in call.others:
                register(code, offset, called, key, call)
            call.count += 1
            return None

        return on_call

    def _make_on_start(self) -> Any:
        origin, classify = self.observed.origin, self.observed.classify
        edges, started, offsets = self.observed.edges, self.observed.started, self._offsets
        disable, frame_at, first = _SYSTEM.DISABLE, sys._getframe, self._first_start

        def on_start(code: CodeType, _: int) -> Any:
            callee = id(code)
            known = origin.get(callee)
            if known is None:
                known = classify(code)
            if known != RECORDED:
                return disable
            started[callee] = started.get(callee, 0) + 1
            frame = frame_at(1).f_back
            if frame is None:
                return None
            below, last = frame.f_code, frame.f_lasti
            caller = id(below)
            offset = offsets.get((caller, last))
            if offset is None:
                if caller not in origin:
                    classify(below)
                offset = offsets[caller, last] = instruction_offset(below, last)
            key = (caller, offset, callee)
            edge = edges.get(key)
            if edge is None:
                first(code, frame, key)
            elif not edge.by_call:
                edge.count += 1
            return None

        return on_start

    def _make_on_line(self) -> Any:
        origin, classify, lines = self.observed.origin, self.observed.classify, self.observed.lines
        disable = _SYSTEM.DISABLE

        def on_line(code: CodeType, line: int) -> Any:
            known = origin.get(id(code))
            if known is None:
                known = classify(code)
            if known == RECORDED:
                lines.setdefault(id(code), set()).add(line)
            return disable

        return on_line

    def _register(self, code: CodeType, offset: int, called: Any, key: CallKey, call: Call) -> None:
        if call.others is not None:
            call.others.add(id(called.__func__ if type(called) is MethodType else called))
        try:
            register_call(self.observed, code, offset, called, key, call)
        except Exception as fault:
            self.observed.note_fault(code, fault)

    def _first_start(self, code: CodeType, frame: Any, key: EdgeKey) -> None:
        try:
            first_start(self.observed, self.pending, code, frame, key)
        except Exception as fault:
            self.observed.note_fault(code, fault)


def _identify_target(called: Any) -> int:
    target = unwrap_partial(called)
    if type(target) is MethodType:
        target = target.__func__
    return id(target.__code__) if type(target) is FunctionType else id(type(target))
