"""Functions that are left with the interpreter: handlers of signals, exit functions, hooks of a library's module.

In: calls that leave a function there or make the interpreter run what was left, and stores on a library's objects. Out:
`signal.raise_signal(SIGINT)` calls what `signal.signal(SIGINT, f)` was given; `sys.excepthook = f` registers f.
"""

from __future__ import annotations

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext, call_value
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.recorder import Outcome, Target
from contextc.model.edge import EdgeKind, Rule
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    External,
    FunctionValue,
    Instance,
    Literal,
    ModuleValue,
    Partial,
    Value,
    ValueSet,
)

_RUN = (FunctionValue, BoundMethod, Partial, Instance)
_ANY = "?"  # stands for each event of a kind


def keep_handler(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`signal.signal(number, f)`."""
    numbers, functions = _given(args, 0, "signalnum"), _given(args, 1, "handler")
    for key in _keys(numbers):
        _keep(frame, "signal", key, functions)
    return None


def keep_exit_function(
    frame: Frame, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`atexit.register(f, *args)`."""
    kept = frozenset(
        frame.kernel.make.partial(f, tuple(values for mark, values in args.positional[1:] if not mark), ())
        for f in _given(args, 0, "func")
        if isinstance(f, _RUN)
    )
    _keep(frame, "exit", _ANY, kept)
    return None


def run_handlers(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`signal.raise_signal(number)` runs its handler before it returns."""
    _run(frame, "signal", _keys(_given(args, 0, "signalnum")), context)
    return None


def perhaps_run_handlers(
    frame: Frame, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`os.kill(pid, number)`, which may be for another process."""
    _run(frame, "signal", _keys(_given(args, 1, "signal")), context._replace(possible=True))
    return None


def await_handlers(frame: Frame, receiver: Value | None, args: Arguments, context: CallContext) -> ValueSet | None:
    """`signal.pause()` returns when some handler has run."""
    _run(frame, "signal", [_ANY], context._replace(possible=True))
    return None


def run_exit_functions(
    frame: Frame, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """`atexit._run_exitfuncs()`."""
    _run(frame, "exit", [_ANY], context)
    return None


def note_stored(frame: Frame, owner: Value, values: ValueSet, outcome: Outcome | None) -> None:
    """A function that is stored on a library's object is left there to be called."""
    if outcome is None or not is_foreign(frame, owner):
        return
    for value in frame.expand(values):
        function = value.function if isinstance(value, (BoundMethod, Partial)) else value
        if isinstance(function, FunctionValue) and frame.kernel.definition(function.symbol).module.in_repository:
            symbol = function.symbol
            target = Target(symbol, EdgeKind.REGISTRATION, Rule.LIBRARY_CALLBACK, symbol, False)
            outcome.registered.add(target)


def is_foreign(frame: Frame, owner: Value) -> bool:
    """Whether an object is of a library: its module, an object of its class, a name of a library that isn't known."""
    kernel = frame.kernel
    if isinstance(owner, ModuleValue):
        return not kernel.program.modules[owner.module].in_repository
    if isinstance(owner, Instance):
        return kernel.classes.is_known(owner.cls) and not kernel.classes.in_repository(owner.cls)
    return isinstance(owner, External) and "()" not in owner.name


def _given(args: Arguments, index: int, keyword: str) -> ValueSet:
    named = NOTHING.union(*(values for name, values in args.keywords if name == keyword))
    return named | (args.positional[index][1] if index < len(args.positional) else NOTHING)


def _keys(numbers: ValueSet) -> list[str]:
    """The events that a number can stand for, sorted."""
    return sorted({str(n.value) if isinstance(n, Literal) else _ANY for n in numbers})


def _keep(frame: Frame, kind: str, key: str, functions: ValueSet) -> None:
    frame.write(("hooks", kind), frozenset({frame.kernel.make.literal("str", key)}))
    frame.write(("hook", kind, key), frozenset(f for f in functions if isinstance(f, _RUN)))


def _run(frame: Frame, kind: str, keys: list[str], context: CallContext) -> None:
    """Calls what was left for one of these events, or for one that isn't known."""
    known = sorted(str(v.value) for v in frame.read(("hooks", kind)) if isinstance(v, Literal))
    wanted = known if _ANY in keys else [key for key in known if key in keys or key == _ANY]
    how = (EdgeKind.CALLBACK, Rule.LIBRARY_CALLBACK)
    for key in wanted:
        for value in frame.read(("hook", kind, key)):
            uncertain = context.possible or (key == _ANY and kind == "signal")
            run = frame.kernel.make.possible(value, Rule.LIBRARY_CALLBACK.value) if uncertain else value
            call_value(frame, run, _arguments(frame, kind), -1, context.outcome, how)


def _arguments(frame: Frame, kind: str) -> Arguments:
    """What the interpreter calls them with: a handler with the number and the frame that was interrupted."""
    if kind != "signal":
        return Arguments((), ())
    number: ValueSet = frozenset({frame.kernel.builtin("int")})
    return Arguments((("", number), ("", frame.kernel.none)), ())
