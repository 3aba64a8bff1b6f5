"""Runs the program of a job under the recorder, as the interpreter itself would run it.

In: a job folder. Out: the program's own output and exit status; in the folder `edges.jsonl` and `exec.json`, written
when the interpreter ends, after threads and the program's own exit functions.

The program sees its own `sys.argv`, `sys.path` and `__main__`; a traceback begins with its first frame. A child made by
`fork` writes nothing. A process that is killed, or ends by `os._exit`, leaves no recording.
"""

from __future__ import annotations

import atexit
import builtins
import importlib.util
import json
import os
import signal
import sys
import threading
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, NamedTuple, NoReturn

from .bytecode import HAS_COLUMNS
from .job import Job, note_start, read_job, write_fault
from .monitoring import Monitoring
from .observed import Observed
from .profiling import Profiling
from .rows import describe_execution, list_edge_rows

_REFUSED, _FAILED, _INTERRUPTED = 2, 1, 130


def record_program(folder: str) -> None:
    """Does the job that lies in a folder. Raises SystemExit with the program's status."""
    job = read_job(folder)
    note_start(job)
    if sys.implementation.name != "cpython":
        _refuse(job, f"calls can be recorded with CPython only, not with {sys.implementation.name}")
    observed = Observed(job.root, job.files)
    backend = _choose_backend(job, observed)
    finish = _Finish(job, observed, backend)
    atexit.register(finish)  # the first registered runs last
    try:
        backend.start()
    except RuntimeError as fault:
        _refuse(job, str(fault))
    _run_program(job, finish)


class _Finish:
    """Ends the recording and writes it; once, and only in the process that was started."""

    def __init__(self, job: Job, observed: Observed, backend: Monitoring | Profiling) -> None:
        self.job, self.observed, self.backend = job, observed, backend
        self.process = os.getpid()
        self.is_complete = False  # whether the program ran to its own end

    def name_main(self, main: ModuleType) -> None:
        """Classes of the program's own module are named as an import of it would name them."""
        path = self.observed.paths.get(self.observed.full_path(main.__dict__.get("__file__") or ""))
        if path is not None:
            self.observed.main_module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def __call__(self) -> None:
        """Called by the interpreter when it ends."""
        if os.getpid() != self.process or os.path.exists(os.path.join(self.job.folder, "fault.txt")):
            return
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C would cost the recording
        self.backend.stop()
        self.observed.add_up_calls()
        is_exact = isinstance(self.backend, Monitoring)
        rows = list_edge_rows(self.observed, is_exact)
        execution = {
            "backend": self.backend.name,
            "python": ".".join(map(str, sys.version_info[:3])),
            "spans": "exact" if HAS_COLUMNS else "lines",
            "finished": self.is_complete,
            **describe_execution(self.observed),
        }
        with open(os.path.join(self.job.folder, "edges.jsonl"), "w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(json.dumps(row, sort_keys=True) + "\n")
        part = os.path.join(self.job.folder, "exec.json.part")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(execution, file, sort_keys=True)
        os.replace(part, part.removesuffix(".part"))  # its presence says that all of it was written


def _choose_backend(job: Job, observed: Observed) -> Monitoring | Profiling:
    wanted = job.backend
    if wanted == "auto":
        wanted = Monitoring.name if hasattr(sys, "monitoring") else Profiling.name
    if wanted == Monitoring.name and not hasattr(sys, "monitoring"):
        _refuse(job, "sys.monitoring needs Python 3.12 or later")
    return Monitoring(observed) if wanted == Monitoring.name else Profiling(observed)


def _refuse(job: Job, message: str) -> NoReturn:
    write_fault(job, message)
    sys.exit(_REFUSED)


class _Program(NamedTuple):
    """What is to be run, and the module it is run as."""

    code: CodeType
    main: ModuleType


def _load_program(job: Job) -> _Program:
    """Sets `sys.argv` and `sys.path` as for the program, and finds its code. What importing its package raises is
    raised as the program's own fault."""
    if job.form == "module":
        _prepend_path(os.getcwd())
        sys.argv = ["-m", *job.arguments]
        program = _load_spec(job, _find_module(job))
        sys.argv = [program.main.__file__ or job.name, *job.arguments]
        return program
    if job.form == "code":
        sys.argv = ["-c", *job.arguments]
        _prepend_path("")
        return _Program(compile(job.name, "<string>", "exec", dont_inherit=True), _make_main())
    sys.argv = [job.name, *job.arguments]
    path = os.path.abspath(job.name)
    if os.path.isdir(path) or path.endswith((".zip", ".pyz", ".whl")):
        sys.path.insert(0, path)
        return _load_spec(job, PathFinder.find_spec("__main__", [path]))
    _prepend_path(os.path.dirname(os.path.realpath(path)))
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as fault:
        _refuse(job, f"can't open '{job.name}': {fault.strerror}")
    main = _make_main()
    main.__file__, main.__loader__, main.__spec__ = path, SourceFileLoader("__main__", path), None
    return _Program(compile(source, path, "exec", dont_inherit=True), main)


def _find_module(job: Job) -> ModuleSpec | None:
    name = job.name
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as fault:
        _refuse(job, f"can't run -m {name}: {fault}")
    return spec


def _load_spec(job: Job, spec: ModuleSpec | None) -> _Program:
    loader: Any = spec.loader if spec is not None else None
    if spec is None or loader is None or not hasattr(loader, "get_code"):
        _refuse(job, f"no module named '{job.name}' that {sys.executable} can run")
    code = loader.get_code(spec.name)
    if code is None:
        _refuse(job, f"'{job.name}' has no code to run")
    main = _make_main()
    main.__file__, main.__loader__, main.__spec__, main.__package__ = spec.origin, loader, spec, spec.parent
    return _Program(code, main)


def _make_main() -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _prepend_path(folder: str) -> None:
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        sys.path.insert(0, folder)


def _run_program(job: Job, finish: _Finish) -> None:
    try:
        program = _load_program(job)
        finish.name_main(program.main)
        exec(program.code, program.main.__dict__)
        finish.is_complete = True
    except SystemExit:
        finish.is_complete = True
        raise
    except KeyboardInterrupt:
        _show_fault()
        sys.exit(_INTERRUPTED)
    except BaseException:
        finish.is_complete = True
        _show_fault()
        sys.exit(_FAILED)


def _show_fault() -> None:
    """What the interpreter prints of an exception that nobody caught, without our own frame."""
    kind, fault, trace = sys.exc_info()
    if kind is not None and fault is not None and trace is not None:
        fault.__traceback__ = trace.tb_next
        sys.excepthook(kind, fault, trace.tb_next)
