"""From a folder to facts: every file of the project read once, from the store where its text was read before.

In: a root and settings. Out: `Loaded`: files with their texts and facts, what was left out and why. `StubReader` does
the same for one outside module at a time, when inference first asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.externals.environment import open_environment
from contextc.analyzer.externals.stubs import StubLibrary
from contextc.analyzer.inference.program import StubSource
from contextc.analyzer.project import Project, discover_project
from contextc.analyzer.reading.pool import Reading, read_all
from contextc.analyzer.reading.read import Failure
from contextc.analyzer.settings import Settings
from contextc.analyzer.source import Source, read_source
from contextc.analyzer.store import FactsStore
from contextc.model.analysis import ModuleFile
from contextc.model.codec import decode_facts
from contextc.model.diagnostic import Note, Skip, SkipReason
from contextc.model.facts import ModuleFacts

STUB_PYTHON = (3, 12)  # the version stubs are read for, unless the project starts later
NEWEST_PYTHON = (3, 14)
_ALWAYS = (
    "builtins", "types", "typing", "typing_extensions", "_typeshed", "collections.abc", "_collections_abc", "abc",
    "functools", "contextlib", "enum", "dataclasses", "importlib", "collections",
)  # fmt: skip

Progress = Callable[[int, int], None]


class Loaded(NamedTuple):
    """A project with its sources and facts. `facts` has None for a file that could not be read."""

    project: Project
    files: tuple[tuple[ModuleFile, ModuleFacts, bytes], ...]
    texts: Mapping[str, bytes]
    facts: Mapping[str, ModuleFacts | None]
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]


def load_project(
    root: Path, settings: Settings, store: FactsStore, workers: int, progress: Progress | None = None
) -> Loaded:
    """Discovers, reads and parses. A file that can't be read in full is listed; nothing raises on bad source."""
    project = discover_project(root, settings)
    sources: list[tuple[ModuleFile, Source]] = []
    skipped: list[Skip] = list(project.skipped)
    facts: dict[str, ModuleFacts | None] = {}
    for file in project.files:
        source = read_source(root, file.path, settings.max_file_bytes)
        if isinstance(source, Skip):
            skipped.append(source)
            facts[file.path] = None
        else:
            sources.append((file, source))
    readings = read_texts({s.digest: s.text for _, s in sources}, store, workers, progress)
    files: list[tuple[ModuleFile, ModuleFacts, bytes]] = []
    notes: list[Note] = list(project.notes)
    for file, source in sources:
        reading = readings[source.digest]
        notes.extend(source.notes)
        if isinstance(reading, Failure):
            skipped.append(Skip(file.path, reason_of(reading), reading.detail))
            facts[file.path] = None
            continue
        facts[file.path] = reading
        files.append((file, reading, source.text))
        if reading.partial:
            detail = "; ".join(f"line {d.line}: {d.message}" for d in reading.damage[:3])
            skipped.append(Skip(file.path, SkipReason.PARTIAL, detail))
    return Loaded(
        project,
        tuple(files),
        {file.path: text for file, _, text in files},
        facts,
        tuple(sorted(set(skipped))),
        tuple(sorted(set(notes))),
    )


def reason_of(failure: Failure) -> SkipReason:
    """Why a file has no facts."""
    return failure.reason


def read_texts(
    texts: Mapping[str, bytes], store: FactsStore, workers: int, progress: Progress | None = None
) -> dict[str, ModuleFacts | Failure]:
    """Facts by digest: from the store, the rest from worker processes, whose facts the store then keeps."""
    known = store.get_many(texts)
    found: dict[str, ModuleFacts | Failure] = {}
    for digest, text in known.items():
        try:
            found[digest] = decode_facts(text)
        except (ValueError, TypeError, IndexError):
            continue
    missing = [(digest, text) for digest, text in texts.items() if digest not in found]
    done = 0

    def count(_: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(missing))

    if missing:
        results = read_all(missing, workers, count)
        store.put_many([(k, r.text) for k, r in results.items() if isinstance(r, Reading)])
        for digest, result in results.items():
            found[digest] = result.decode() if isinstance(result, Reading) else result
    return found


class StubReader:
    """Loads outside modules for inference. The first call fetches in one go what nearly every program needs."""

    def __init__(
        self, environment: Path | None, oldest: tuple[int, int] | None, platform: str, store: FactsStore, workers: int
    ) -> None:
        self.python = max(oldest or STUB_PYTHON, STUB_PYTHON)
        self.platform = platform
        opened = open_environment(environment) if environment is not None else None
        self.library = StubLibrary(self.python, platform, opened)
        self._store = store
        self._workers = workers
        self._loaded: dict[str, StubSource | None] = {}

    def prefetch(self, modules: Sequence[str]) -> None:
        """Reads several modules in one batch."""
        located = []
        for name in (n for n in dict.fromkeys((*_ALWAYS, *modules)) if n not in self._loaded):
            stub = self.library.locate(name)
            text = self.library.read_text(stub) if stub is not None else None
            if stub is None or text is None:
                self._loaded[name] = None
            else:
                located.append((name, stub, text))
        import hashlib

        digests = {name: hashlib.sha256(text).hexdigest() for name, _, text in located}
        readings = read_texts({digests[n]: t for n, _, t in located}, self._store, self._workers)
        for name, stub, _ in located:
            reading = readings[digests[name]]
            origin = "typeshed" if stub.origin == "typeshed" else "environment"
            self._loaded[name] = (
                None if isinstance(reading, Failure) else StubSource(reading, stub.is_package, origin)
            )

    def load(self, module: str) -> StubSource | None:
        """A module outside the repository, or None where there is no text for it."""
        if module not in self._loaded:
            self.prefetch((module,))
        return self._loaded[module]
