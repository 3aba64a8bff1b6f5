"""jedi's word on the values of external names, asked in a child process that can neither run nor see the repository.

In: dotted names such as `requests.get`. Out: what each is. `JediOracle(None, cache).answer(["requests.get"])` is
`{"requests.get": ExternalAnswer("function", "requests.api.get", "requests.models.Response", (), None)}`.

How: the worker writes a few lines (`import requests`, `value = requests.get`, `result = requests.get()`) and asks
jedi to infer them; only validated identifiers enter that text. Each name gets a script of its own, since jedi counts
its inferences per script and gives up past a limit: in a shared one, an answer would depend on the names before it.

What holds for the worker:
- `python -I -S`, an empty environment, a temporary folder as working directory; the folders of `contextc`, `jedi` and
  `parso` are appended to its path explicitly.
- jedi imports nothing: where a module lies is `lookup.find_in`'s answer over the declared environment and jedi's
  bundled stubs; the one compiled module it may look at is the worker's own `builtins`.
- jedi parses nothing that lies outside these folders by its real path, whatever link led there.
- No pickle: parso keeps its trees in memory alone. What is kept on disk is the answers, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import IO, Any, NamedTuple

from contextc.analyzer.externals.environment import Environment, Version
from contextc.analyzer.externals.lookup import READ_LIMIT, Found, find_in, real_inside, split_name
from contextc.analyzer.search_path import find_library

KINDS = ("module", "class", "function", "instance")

_FORMAT = 2  # of the answers on disk
_NAME_SECONDS = 60.0  # a crash guard: the slowest package measured (networkx, installed) needs 5 s to parse
_BATCH_SECONDS = 600.0
_GRAMMAR = "3.13"  # the one jedi reads stubs by; older syntax parses too, and a target of any version has no other
_NAME_LENGTH = 512  # characters; no library has longer ones, and jedi recurses over the parts
_SHELVES = 32  # files of answers kept, the newest written
_MEMORY_LIMIT = 4 << 30  # bytes of address space of the worker, where the system can limit it
_NO_CLASSES = frozenset({"typing.Any", "typing.Callable", "typing.Literal", "typing.Optional", "typing.Union"})
_BOOT = (
    "import sys; sys.path.extend(sys.argv[1:]); from contextc.analyzer.externals.jedi_oracle import serve; "
    "serve(sys.stdin, sys.stdout)"
)


class ExternalAnswer(NamedTuple):
    """What an external name is.

    A function's `returns` is the class of which it returns an instance, where jedi finds exactly one (None aside); in
    a body without annotations jedi may have missed others, so an edge that rests on it is `likely` at most. A class
    returns itself. A property is answered as the value it has on an instance, and so is what `__init__` assigns.
    """

    kind: str  # one of KINDS
    full_name: str  # where it is defined, as far as jedi can say: requests.get is requests.api.get
    returns: str | None
    bases: tuple[str, ...]  # of a class: the full names of its MRO, itself first
    instance_of: str | None  # of an instance: the full name of its class, where jedi finds exactly one
    declared: bool = True  # whether a stub or an annotation says `returns` or `instance_of`, not what jedi read


# ------------------------------------------------------------------------------------------------------ the parent


class JediOracle:
    """Asks a worker, started at the first question that isn't answered on disk. Close it, or use it in a `with`.

    `failures` names what the worker died of or ran over its time with; such a name is answered None and not kept.
    `cache_dir` is a folder of the user's, made with mode 0700.
    """

    def __init__(self, environment: Environment | None, cache_dir: Path, python: Version | None = None,
                 name_seconds: float = _NAME_SECONDS, batch_seconds: float = _BATCH_SECONDS) -> None:  # fmt: skip
        self.failures: set[str] = set()
        self._environment = environment
        self._python = python or (environment.python if environment else (3, 12))
        self._name_seconds = name_seconds
        self._batch_seconds = batch_seconds
        self._cache_dir = cache_dir
        self._worker: _Worker | None = None
        self._places: list[Path] | None = None

    @cached_property
    def _shelf(self) -> _Shelf:
        return _Shelf(self._cache_dir, self._describe())

    def __enter__(self) -> JediOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the worker. The oracle may be asked again."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def answer(self, names: Sequence[str]) -> dict[str, ExternalAnswer | None]:
        """What each name is, sorted by name; None for what jedi doesn't know, a failure, or no dotted identifier."""
        wanted = sorted(set(names))
        known = self._shelf.read()
        open_names = [name for name in wanted if name not in known and _is_askable(name)]
        if open_names:
            known.update(self._ask(open_names))
            self._shelf.write(known)
        return {name: known.get(name) for name in wanted}

    def can_know(self, package: str) -> bool:
        """Whether a top-level package lies where jedi may look: then it is worth asking. Starts nothing."""
        if self._places is None:
            library = find_library("jedi")
            bundled = Path(library, "jedi", "third_party") if library else None
            self._places = [*(self._environment.search_path if self._environment else ())]
            self._places += _list_bundled_stubs(bundled) if bundled is not None else []
        return split_name(package) is not None and any(
            (place / f"{package}{ending}").exists() for place in self._places for ending in ("", ".py", ".pyi")
        )

    def _ask(self, names: list[str]) -> Iterator[tuple[str, ExternalAnswer | None]]:
        deadline = time.monotonic() + self._batch_seconds
        for name in names:
            seconds = min(self._name_seconds, deadline - time.monotonic())
            if seconds <= 0:
                self.failures.add(name)
                continue
            reply = self._ask_one(name, seconds)
            if reply is None:
                self.failures.add(name)
            else:
                self.failures.discard(name)
                yield name, _decode(reply["answer"])

    def _ask_one(self, name: str, seconds: float) -> dict[str, Any] | None:
        """The worker's reply. One that dies in use may have run full with earlier names: a fresh one is asked again."""
        used = self._worker is not None
        if self._worker is None:
            self._worker = _Worker(self._configure())
        reply = self._worker.ask(name, seconds)
        if reply is not None:
            return reply
        late = self._worker.is_late
        self.close()
        return self._ask_one(name, seconds) if used and not late else None

    def _configure(self) -> dict[str, Any]:
        environment = self._environment
        return {
            "python": list(self._python),
            "search_path": [str(folder) for folder in environment.search_path] if environment else [],
            "root": str(environment.root) if environment else None,
        }

    def _describe(self) -> str:
        fingerprint = self._environment.fingerprint if self._environment else ""
        versions = [metadata.version("jedi"), metadata.version("parso")]
        return json.dumps([_FORMAT, *versions, self._python, sys.version_info[:2], fingerprint])


class _Shelf:
    """The answers on disk: one JSON file per environment, target version and jedi version. Damage reads as empty."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._path = folder / f"external-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
        self._known: dict[str, ExternalAnswer | None] | None = None

    def read(self) -> dict[str, ExternalAnswer | None]:
        """What is kept, by name; None is an answer too."""
        if self._known is None:
            try:
                raw = json.loads(self._path.read_bytes())
                self._known = {name: _decode(answer) for name, answer in raw.items()}
            except (OSError, ValueError, TypeError, AttributeError):
                self._known = {}
        return self._known

    def write(self, known: dict[str, ExternalAnswer | None]) -> None:
        """Replace the file as a whole; a folder that can't be written costs the next run time, no more."""
        self._known = known
        text = json.dumps(dict(sorted(known.items())), separators=(",", ":"))
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=self._folder, prefix="external-", suffix=".tmp")  # mode 0600
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(draft).replace(self._path)
            shelves = sorted(self._folder.glob("external-*.json"), key=lambda path: path.stat().st_mtime_ns)
            for old in shelves[:-_SHELVES]:
                old.unlink(missing_ok=True)
        except OSError:
            return


class _Worker:
    """The child process. One line of JSON goes in, one comes out; a thread reads, so that waiting has an end."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="contextc-jedi-")
        keep = ("SYSTEMROOT", "WINDIR")  # without which no process starts on Windows
        scrubbed = {key: os.environ[key] for key in keep if key in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, *_list_package_folders()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=self._folder.name, env={**scrubbed, "HOME": self._folder.name}, encoding="utf-8",
        )  # fmt: skip
        self._replies: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.is_late = False
        self._send({**configuration, "folder": self._folder.name})

    def ask(self, name: str, seconds: float) -> dict[str, Any] | None:
        """The reply, or None if the worker died or took longer; then it is of no more use."""
        self._send({"name": name})
        try:
            line = self._replies.get(timeout=seconds)
        except queue.Empty:
            self.is_late = True
            return None
        reply = json.loads(line) if line.endswith("\n") else None
        return reply if isinstance(reply, dict) else None

    def stop(self) -> None:
        """End the process, wherever it is, and remove its folder."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue  # what was still to be sent to a dead worker
        self._folder.cleanup()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:
            return  # the worker is dead: its end of output says so to `ask`

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put("")


def _list_package_folders() -> list[str]:
    """The folders that hold `contextc`, `jedi` and `parso`, found without importing the latter two."""
    found = [find_library(package) for package in ("jedi", "parso")]
    return list(dict.fromkeys([str(Path(__file__).resolve().parents[3]), *(folder for folder in found if folder)]))


def _is_askable(name: str) -> bool:
    return len(name) <= _NAME_LENGTH and split_name(name) is not None


def _decode(raw: Any) -> ExternalAnswer | None:
    """An answer from its JSON form. Raises ValueError or TypeError on any other shape."""
    if raw is None:
        return None
    kind, full_name, returns, bases, instance_of, declared = raw
    optional = (returns, instance_of)
    texts = [full_name, *bases, *(text for text in optional if text is not None)]
    well_typed = type(bases) is list and type(declared) is bool and all(isinstance(text, str) for text in texts)
    if kind not in KINDS or not well_typed:
        raise ValueError("not an answer")
    return ExternalAnswer(kind, full_name, returns, tuple(bases), instance_of, declared)


# ------------------------------------------------------------------------------------------------------- the child


def serve(requests: IO[str], replies: IO[str]) -> None:
    """The worker's loop: a line of configuration, then a name per line. Ends with its input."""
    _limit_memory()
    sys.stdout = sys.stderr  # nothing but replies goes out
    session = _Session(json.loads(requests.readline()))
    for line in requests:
        answer = session.answer(json.loads(line)["name"])
        replies.write(json.dumps({"answer": answer}) + "\n")
        replies.flush()


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    except (ImportError, ValueError, OSError):
        return


class _Session:
    """jedi, set up for one environment. Lives in the worker only."""

    def __init__(self, configuration: dict[str, Any]) -> None:
        import jedi

        bundled = Path(jedi.__file__).resolve().parent / "third_party"
        self._roots = [bundled, *([Path(configuration["root"])] if configuration["root"] else [])]
        folders = [Path(folder) for folder in configuration["search_path"]] + _list_bundled_stubs(bundled)
        self._allowed: dict[str, bool] = {}  # a worker sees the folders as they were when it first looked
        self._found: dict[tuple[str, ...], Found | None] = {}
        self._silence(jedi.settings, configuration["folder"])
        self._jedi = jedi
        self._project = jedi.Project(
            configuration["folder"], sys_path=folders, load_unsafe_extensions=False, smart_sys_path=False
        )
        self._environment = _make_environment(self._find, tuple(configuration["python"]))

    def answer(self, name: str) -> ExternalAnswer | None:
        """What the name is. A failure inside jedi is jedi not knowing; running out of memory ends the process, since
        it says more of the names before than of this one."""
        parts = split_name(name)
        if parts is None:
            return None
        try:
            return self._answer(parts)
        except MemoryError:
            os._exit(1)
        except Exception:  # jedi raises whatever its heuristics run into
            return None

    def _answer(self, parts: tuple[str, ...]) -> ExternalAnswer | None:
        dotted = ".".join(parts)
        lines = [f"import {parts[0]}", f"value = {dotted}", f"result = {dotted}()", "value", "result"]
        if len(parts) > 1:
            lines += [f"member = {'.'.join(parts[:-1])}().{parts[-1]}", "member"]
        script = self._open_script("\n".join(lines) + "\n")
        values = self._infer(script, 4)
        kinds = {value.type for value in values}
        if len(parts) > 1 and (not kinds or kinds == {"property"}):
            values = [value for value in self._infer(script, 7) if value.type == "instance"]
            kinds = {value.type for value in values}
        if kinds == {"instance"}:
            return ExternalAnswer("instance", dotted, None, (), _find_class(values), self._is_declared(script, dotted))
        if kinds and kinds <= {"module", "namespace"}:
            return ExternalAnswer("module", values[0].full_name or dotted, None, (), None)
        definition = self._find_definition(script, values, dotted)
        if kinds == {"class"} and definition is not None:
            return ExternalAnswer("class", definition, definition, _list_mro(values), None)
        if kinds == {"function"} and definition is not None:
            returns = _find_class(self._infer(script, 5))
            return ExternalAnswer("function", definition, returns, (), None, self._is_declared(script, dotted))
        return None

    def _find_definition(self, script: Any, values: list[Any], dotted: str) -> str | None:
        """The full name of the one `def` or `class` meant, None if they are several.

        `goto` finds the definition of a decorated function where `infer` leads into the decorator; for an alias
        `infer` leads on where `goto` stops. An alias of a decorated function keeps the name it was asked by.
        """
        column = len(f"value = {dotted}") - 1
        places = [place for place in script.goto(2, column, follow_imports=True) if self._admits(place)]
        names = {place.full_name for place in places if place.type in ("function", "class")}
        if not names:
            names = {value.full_name for value in values}
            if any(value.type == "function" and value.module_name in ("builtins", "typing") for value in values):
                names = {dotted}
        return names.pop() if len(names) == 1 else None

    def _is_declared(self, script: Any, dotted: str) -> bool:
        """Whether each place that defines the name is in a stub or annotated."""
        column = len(f"value = {dotted}") - 1
        places = script.goto(2, column, follow_imports=True, prefer_stubs=True)
        return bool(places) and all(place.is_stub() or _is_annotated(place) for place in places)

    def _infer(self, script: Any, line: int) -> list[Any]:
        """The values of the name on a line, each defined inside the allowed folders, in a fixed order; None only
        where it is the one value."""
        values = [value for value in script.infer(line, 0) if self._admits(value)]
        values = [value for value in values if value.name != "NoneType"] or values
        return sorted(values, key=lambda value: (value.full_name or "", value.type))

    def _admits(self, value: Any) -> bool:
        if value.type == "namespace":
            return True  # it has no file; its folders are those `_find` gave
        return value.module_path is not None and real_inside(value.module_path, self._roots) is not None

    def _open_script(self, text: str) -> Any:
        """A script whose inference reads allowed files only, and without parso's pickles."""
        script = self._jedi.Script(text, project=self._project, environment=self._environment)
        state = script._inference_state
        parse = state.parse_and_get_code

        def parse_allowed(code: Any = None, path: Any = None, file_io: Any = None, **options: Any) -> Any:
            source = path if file_io is None else file_io.path
            if code is None and not (source and self._allows(str(source))):
                raise FileNotFoundError(source)
            return parse(code=code, path=path, file_io=file_io, **{**options, "cache": False})

        state.parse_and_get_code = parse_allowed
        return script

    def _allows(self, source: str) -> bool:
        if source not in self._allowed:
            self._allowed[source] = real_inside(Path(source), self._roots) is not None
        return self._allowed[source]

    def _find(self, name: str, folders: Iterable[str]) -> Found | None:
        key = (name, *folders)
        if key not in self._found:
            self._found[key] = find_in([Path(folder) for folder in key[1:]], name, (".py",), self._roots)
        return self._found[key]

    @staticmethod
    def _silence(settings: Any, folder: str) -> None:
        """Off: what searches other modules for callers, imports on its own, or writes to the user's folders."""
        settings.dynamic_array_additions = False
        settings.dynamic_params = False
        settings.dynamic_params_for_other_modules = False
        settings.auto_import_modules = []
        settings.cache_directory = folder


def _make_environment(find: Callable[[str, Iterable[str]], Found | None], python: Version) -> Any:
    """jedi's view of an interpreter: the target's version, no path of its own, and imports resolved by `find`."""
    from jedi.api.environment import InterpreterEnvironment
    from jedi.file_io import KnownContentFileIO
    from jedi.inference.compiled.subprocess import InferenceStateSameProcess
    from jedi.inference.compiled.subprocess.functions import ImplicitNSInfo
    from parso.grammar import load_grammar

    class ByPath(InferenceStateSameProcess):  # type: ignore[misc]
        """Replaces jedi's two ways to a module: its finders (which ask `sys.modules` too) and `__import__`."""

        def get_module_info(self, string: str, sys_path: Any = None, path: Any = None, full_name: Any = None,
                            is_global_search: bool = True) -> tuple[Any, bool | None]:  # fmt: skip
            if string == full_name == "builtins":
                return None, False
            found = find(string, path if path is not None else sys_path or ())
            if found is None:
                return None, None
            if found.file is None:
                return ImplicitNSInfo(full_name, [str(folder) for folder in found.folders]), True
            with found.file.open("rb") as stream:
                code = stream.read(READ_LIMIT)
            return KnownContentFileIO(str(found.file), code), found.is_package

        def load_module(self, dotted_name: str, sys_path: Any) -> Any:
            if dotted_name != "builtins":
                return None
            return super().__getattr__("load_module")(dotted_name=dotted_name, sys_path=[])

    class Target(InterpreterEnvironment):  # type: ignore[misc]
        version_info: Any

        def __init__(self) -> None:
            super().__init__()
            self.version_info = self.version_info._replace(major=python[0], minor=python[1], micro=0)

        def get_inference_state_subprocess(self, inference_state: Any) -> ByPath:
            return ByPath(inference_state)

        def get_sys_path(self) -> list[str]:
            return []

        def get_grammar(self) -> Any:
            return load_grammar(version=_GRAMMAR)

    return Target()


def _list_bundled_stubs(bundled: Path) -> list[Path]:
    """Folders of the third-party stubs that jedi ships. Its own search expects them a level higher and finds none."""
    folders = [folder for folder in sorted((bundled / "typeshed" / "stubs").iterdir()) if folder.is_dir()]
    return [*folders, bundled / "django-stubs"]


def _is_annotated(place: Any) -> bool:
    """Whether a function says what it returns, or a variable what it holds. jedi's public interface doesn't tell."""
    name = place._name.tree_name
    node = name.get_definition() if name is not None else None
    if node is None:
        return False
    if node.type == "funcdef":
        return node.annotation is not None
    return node.type == "expr_stmt" and any(child.type == "annassign" for child in node.children)


def _find_class(values: list[Any]) -> str | None:
    """The one class of which the values are instances; None if they are several, or something else."""
    names = {value.full_name if value.type == "instance" else None for value in values}
    name = names.pop() if len(names) == 1 else None
    return None if name in _NO_CLASSES else name


def _list_mro(values: list[Any]) -> tuple[str, ...]:
    """The MRO's full names. jedi's public interface has none (and its inner one is depth first, not C3), so this
    reads the bases of the value behind the name."""
    if len(values) != 1:
        return ()
    (value,) = values[0]._name.infer()
    return tuple(_linearise(value, ()))


def _linearise(cls: Any, below: tuple[Any, ...]) -> list[str]:
    """C3 (Barrett et al., 1996; Python's since 2.3) over full names. `below` are the subclasses on the way here; a
    class among its own bases counts no second time."""
    bases = [base for lazy in cls.py__bases__() for base in sorted(lazy.infer(), key=_full_name) if base.is_class()]
    bases = [base for base in bases if base not in (cls, *below)]
    orders = [_linearise(base, (cls, *below)) for base in bases]
    orders.append([order[0] for order in orders if order])
    name = _full_name(cls)
    return [*([name] if name else []), *_merge(orders)]


def _full_name(value: Any) -> str:
    """A value's dotted name, "" for one without."""
    from jedi.api.classes import Name

    return str(Name(value.inference_state, value.name).full_name or "")


def _merge(orders: list[list[str]]) -> list[str]:
    """C3's merge; where the hierarchy has no consistent order, the first open name goes next."""
    merged: list[str] = []
    while orders := [order for order in orders if order]:
        heads = [order[0] for order in orders]
        free = [head for head in heads if not any(head in order[1:] for order in orders)]
        merged.append((free or heads)[0])
        orders = [[name for name in order if name != merged[-1]] for order in orders]
    return merged
