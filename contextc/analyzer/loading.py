"""From a folder to facts: every file of the project read once, from the store where its text was read before.

In: a root and settings. Out: `Loaded`: files with their texts and facts, what was left out and why. `StubReader` does
the same for one outside module at a time, when inference first asks for it; `LibraryOracle` answers for external names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from contextc.analyzer.externals.environment import open_environment
from contextc.analyzer.externals.stubs import StubFile, StubLibrary
from contextc.analyzer.inference.program import StubSource
from contextc.analyzer.project import Project, discover_project
from contextc.analyzer.reading.pool import ReaderPool, Reading
from contextc.analyzer.reading.read import Failure
from contextc.analyzer.settings import Settings
from contextc.analyzer.source import Source, read_source, salvage_source
from contextc.analyzer.store import FactsStore
from contextc.model.analysis import ModuleFile
from contextc.model.codec import decode_facts
from contextc.model.diagnostic import Note, Skip, SkipReason
from contextc.model.facts import ModuleFacts
from contextc.model.ir import Import, ImportFrom
from contextc.model.traverse import iter_module

if TYPE_CHECKING:
    from contextc.analyzer.externals.jedi_oracle import ExternalAnswer, JediOracle

MAX_QUESTIONS = 500  # external names put to jedi in one analysis; one takes 6 to 40 ms
STUB_PYTHON = (3, 12)  # the version stubs are read for, unless the project starts later
NEWEST_PYTHON = (3, 14)
EARLIEST_PYTHON = (3, 0)  # that a program supports which says nothing
_ALWAYS = (
    "builtins", "types", "typing", "typing_extensions", "_typeshed", "collections.abc", "_collections_abc", "abc",
    "functools", "contextlib", "enum", "dataclasses", "importlib", "collections",
)  # fmt: skip

Progress = Callable[[int, int], None]


class Loaded(NamedTuple):
    """A project with its sources and facts. `facts` has None for a file that could not be read. What was read in part
    is in `files` and in `skipped`."""

    project: Project
    files: tuple[tuple[ModuleFile, ModuleFacts, bytes], ...]
    texts: Mapping[str, bytes]
    facts: Mapping[str, ModuleFacts | None]
    skipped: tuple[Skip, ...]
    notes: tuple[Note, ...]


def load_project(
    root: Path, settings: Settings, store: FactsStore, pool: ReaderPool, progress: Progress | None = None
) -> Loaded:
    """Discovers, reads and parses. A file that can't be read in full is listed; nothing raises on bad source."""
    project = discover_project(root, settings)
    sources: list[tuple[ModuleFile, Source]] = []
    skipped: list[Skip] = list(project.skipped)
    facts: dict[str, ModuleFacts | None] = {}
    for file in project.files:
        source: Source | Skip | None = read_source(root, file.path, settings.max_file_bytes)
        if isinstance(source, Skip):
            skipped.append(source)
            facts[file.path] = None
            source = salvage_source(root, source, settings.max_file_bytes)
        if source is not None:
            sources.append((file, source))
    readings = read_texts({s.digest: s.text for _, s in sources}, store, pool, progress)
    files: list[tuple[ModuleFile, ModuleFacts, bytes]] = []
    notes: list[Note] = list(project.notes)
    for file, source in sources:
        reading = readings[source.digest]
        notes.extend(source.notes)
        if isinstance(reading, Failure):
            skipped.append(Skip(file.path, reading.reason, reading.detail))
            facts[file.path] = None
            continue
        if source.fault is not None:  # listed as undecodable already
            damage = {item.line: item for item in (*reading.damage, source.fault)}
            reading = reading._replace(partial=True, damage=tuple(sorted(damage.values())))
        elif reading.partial:
            detail = "; ".join(f"line {d.line}: {d.message}" for d in reading.damage[:3])
            reason = SkipReason.TOO_DEEP if all(d.deep for d in reading.damage) else SkipReason.PARTIAL
            skipped.append(Skip(file.path, reason, detail))
        facts[file.path] = reading
        files.append((file._replace(cells=source.cells), reading, source.text))
    return Loaded(
        project,
        tuple(files),
        {file.path: text for file, _, text in files},
        facts,
        tuple(sorted(set(skipped))),
        tuple(sorted(set(notes))),
    )


def read_texts(
    texts: Mapping[str, bytes], store: FactsStore, pool: ReaderPool, progress: Progress | None = None
) -> dict[str, ModuleFacts | Failure]:
    """Facts by digest: from the store, the rest from reader processes, whose facts the store then keeps."""
    found: dict[str, ModuleFacts | Failure] = {}
    for digest, text in store.get_many(texts).items():
        facts = _decode(text)
        if facts is not None:
            found[digest] = facts
    missing = {digest: text for digest, text in texts.items() if digest not in found}
    for digest, result in _read_missing(missing, store, pool, progress).items():
        found[digest] = result.decode() if isinstance(result, Reading) else result
    return found


def _read_missing(
    texts: Mapping[str, bytes], store: FactsStore, pool: ReaderPool, progress: Progress | None = None
) -> dict[str, Reading | Failure]:
    done = 0

    def count(_: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, len(texts))

    results = pool.read_all(tuple(texts.items()), count)
    store.put_many([(digest, r.text) for digest, r in results.items() if isinstance(r, Reading)])
    return results


def _decode(text: str) -> ModuleFacts | None:
    """None for text of another format."""
    try:
        return decode_facts(text)
    except (ValueError, TypeError, IndexError):
        return None


def imported_modules(facts: ModuleFacts, package: str | None = None) -> Iterator[str]:
    """Absolute names of the modules that a file imports. `package`: what its relative imports start from; None leaves
    them out. `from a import b` gives `a` alone, since `b` need not be a module."""
    for _, node in iter_module(facts):
        if isinstance(node, Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ImportFrom) and package is not None:
            parts = package.split(".")
            kept = len(parts) - (node.level - 1)
            if kept > 0:
                yield ".".join([*parts[:kept], *[node.module] * bool(node.module)])


def extended_packages(files: Iterable[tuple[ModuleFile, ModuleFacts, bytes]]) -> list[str]:
    """Paths of `__init__` files that set their `__path__`: their package has submodules in other folders too."""
    return [file.path for file, facts, _ in files if file.is_package and "__path__" in facts.symbols[0].bindings]


class LibraryOracle:
    """jedi's word on external names, up to a number of them. Nothing is loaded or started before the first question.
    Close it, or use it in a `with`."""

    def __init__(self, stubs: StubReader, packages: Iterable[str], folder: Path | None) -> None:
        """`packages`: top-level names that the program imports and doesn't hold; `folder`: where answers are kept."""
        self._stubs = stubs
        self._packages = frozenset(packages)
        self._folder = folder
        self._jedi: JediOracle | None = None
        self._closing = ExitStack()
        self._left = MAX_QUESTIONS
        self._unasked: list[str] = []

    def __enter__(self) -> LibraryOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def can_know(self, package: str) -> bool:
        """Whether the program gets the package from outside, and jedi has a text for it."""
        outside = package in self._packages or package in self._stubs.environment_packages()
        return outside and self._open().can_know(package)

    def answer(self, names: Sequence[str]) -> Mapping[str, ExternalAnswer | None]:
        """What each name is; None for what jedi doesn't know and for names past the limit."""
        asked = names[: self._left]
        self._left -= len(asked)
        self._unasked += names[len(asked) :]
        return self._open().answer(asked)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was not answered, though it might have been."""
        found = []
        if self._unasked:
            found.append(f"More than {MAX_QUESTIONS} external names: not asked for {_list_some(self._unasked)}.")
        if self._jedi is not None and self._jedi.failures:
            found.append(f"No answer in time from jedi on {_list_some(sorted(self._jedi.failures))}.")
        return tuple(Note("", text) for text in found)

    def _open(self) -> JediOracle:
        if self._jedi is None:
            from contextc.analyzer.externals.jedi_oracle import JediOracle

            folder = self._folder
            if folder is None:
                folder = Path(self._closing.enter_context(TemporaryDirectory(prefix="contextc-")))
            environment = self._stubs.library.environment
            self._jedi = self._closing.enter_context(JediOracle(environment, folder, self._stubs.python))
        return self._jedi


def _list_some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


class _Located(NamedTuple):
    stub: StubFile
    text: bytes
    digest: str


class StubReader:
    """Loads outside modules for inference, each decoded when it is first asked for."""

    def __init__(
        self,
        environment: Path | None,
        oldest: tuple[int, int] | None,
        platform: str,
        store: FactsStore,
        pool: ReaderPool,
    ) -> None:
        self.python = max(oldest or STUB_PYTHON, STUB_PYTHON)
        self.platform = platform
        opened = open_environment(environment) if environment is not None else None
        self.library = StubLibrary(self.python, platform, opened, oldest or EARLIEST_PYTHON)
        self._store = store
        self._pool = pool
        self._located: dict[str, _Located | None] = {}
        self._encoded: dict[str, str] = {}  # facts as JSON by the digest of their text, until they are decoded
        self._facts: dict[str, ModuleFacts | None] = {}  # decoded; None for a text that could not be read
        self._loaded: dict[str, StubSource | None] = {}

    def prefetch(self, modules: Iterable[str]) -> None:
        """Has the facts of several modules at hand, those that nearly every program needs among them. Where the store
        doesn't know one, what it imports in turn is read too, in as few batches as there are steps: several processes
        read at once, while inference asks for one module after the other."""
        wave = list(dict.fromkeys((*_ALWAYS, *modules)))
        seen = set(wave)
        while wave:
            imported = {name for module in self._fetch(wave) for name in self._imports(module)}
            wave = sorted(imported - seen)
            seen |= imported

    def load(self, module: str) -> StubSource | None:
        """A module outside the repository, or None where there is no text for it."""
        if module not in self._loaded:
            self._fetch((module,))
            located = self._located[module]
            facts = self._decode(located) if located is not None else None
            source = None
            if located is not None and facts is not None:
                origin = "typeshed" if located.stub.origin == "typeshed" else "environment"
                source = StubSource(facts, located.stub.is_package, origin)
            self._loaded[module] = source
        return self._loaded[module]

    def environment_packages(self) -> set[str]:
        """Top-level names of the environment's modules that were loaded so far."""
        return {
            name.partition(".")[0] for name, source in self._loaded.items() if source and source.origin == "environment"
        }

    def _fetch(self, modules: Iterable[str]) -> list[str]:
        """Gets the facts of modules, still encoded. Returns those that had to be read."""
        located = [(name, found) for name in modules if (found := self._locate(name)) is not None]
        wanted = {found.digest: found.text for _, found in located}
        wanted = {d: text for d, text in wanted.items() if d not in self._encoded and d not in self._facts}
        self._encoded.update(self._store.get_many(wanted))
        missing = {digest: text for digest, text in wanted.items() if digest not in self._encoded}
        for digest, result in _read_missing(missing, self._store, self._pool).items():
            if isinstance(result, Reading):
                self._encoded[digest] = result.text
            else:
                self._facts[digest] = None
        return [name for name, found in located if found.digest in missing]

    def _locate(self, module: str) -> _Located | None:
        if module not in self._located:
            stub = self.library.locate(module)
            text = self.library.read_text(stub) if stub is not None else None
            found = None
            if stub is not None and text is not None:
                found = _Located(stub, text, hashlib.sha256(text).hexdigest())
            self._located[module] = found
        return self._located[module]

    def _decode(self, located: _Located) -> ModuleFacts | None:
        digest = located.digest
        if digest not in self._facts:
            facts = _decode(self._encoded.pop(digest))
            if facts is None:  # the store held another format after all
                result = _read_missing({digest: located.text}, self._store, self._pool)[digest]
                facts = result.decode() if isinstance(result, Reading) else None
            self._facts[digest] = facts
        return self._facts[digest]

    def _imports(self, module: str) -> Iterator[str]:
        """What a stub imports. Sources import far more than inference asks for: of celery's environment five times."""
        located = self._located[module]
        if located is None or located.stub.origin == "environment-source":
            return
        facts = self._decode(located)
        if facts is not None:
            package = module if located.stub.is_package else module.rpartition(".")[0]
            yield from imported_modules(facts, package)
