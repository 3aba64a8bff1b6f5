"""The composition root: wires the rooms. Read this first.

    files ─ load_project ─▶ facts ─ Program, Solver ─▶ Resolved ─ build_graph ─▶ CallGraph ─ compile_slice ─▶ context

In: `Options`. Out: a `Repository`, from which contexts and comparisons are compiled. `analyze_repository(Options(
root=Path("shop")))` reads, infers and builds; `compile_context(repository, "app/views.py")`
gives the context for that file.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from contextc.analyzer.inference.fixpoint import NO_WORK, Solver, Work
from contextc.analyzer.inference.program import Program
from contextc.analyzer.inference.resolution import Resolved, describe_program, resolve_program
from contextc.analyzer.loading import (
    EARLIEST_PYTHON,
    NEWEST_PYTHON,
    LibraryOracle,
    Loaded,
    StubReader,
    extended_packages,
    imported_modules,
    load_project,
)
from contextc.analyzer.reading.pool import ReaderPool
from contextc.analyzer.revision import read_revision
from contextc.analyzer.settings import Settings, load_settings, read_toml_file
from contextc.analyzer.store import FactsStore
from contextc.analyzer.tree import walk_tree
from contextc.errors import UserError
from contextc.graph.builder import build_graph
from contextc.graph.call_graph import CallGraph
from contextc.graph.measure import Measurement, measure_graphs
from contextc.graph.name_only_calls import find_name_only_calls
from contextc.graph.queries import Target
from contextc.graph.trace_file import Trace
from contextc.model.analysis import Analysis
from contextc.model.diagnostic import Note
from contextc.model.facts import ModuleFacts
from contextc.model.span import LineIndex
from contextc.passes.absence import explain_absence
from contextc.passes.by_name import Contrast, compare_target, compile_by_name
from contextc.passes.compilation import NO_BOUND, Compilation, Inputs
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import (
    DEFAULT_PROFILE,
    PROFILES,
    Profile,
    choose_profile,
    read_profile,
    switch_profile,
)
from contextc.passes.secrets import hide_details
from contextc.passes.seeds.about import find_about
from contextc.passes.seeds.changes import Change, find_changed, is_notebook
from contextc.passes.seeds.difference import compare_trees
from contextc.passes.seeds.failure import find_failed
from contextc.passes.seeds.named import find_named
from contextc.passes.seeds.patch import read_patch
from contextc.passes.seeds.values import Seeds, join_seeds
from contextc.passes.tokens import DEFAULT_TOKENIZER, load_tokenizer
from contextc.tracing.record import TraceRequest, TraceSummary, record_calls

Result = TypeVar("Result")
_STACK_BYTES = 512 * 1024 * 1024  # of the thread that walks deep programs; memory is only taken as it is used
_RECURSION = 40_000


@dataclass(frozen=True)
class Options:
    """What to analyse and how. `workers`: reader processes, None for one per processor. `mask`: secrets in what sites
    of the graph say is written there."""

    root: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    environment: Path | None = None
    resolver: str = "typed"
    workers: int | None = None
    cache: bool = True
    jedi: bool = True
    mask: bool = True
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class Repository:
    """An analysed repository. `seconds` is the wall time the analysis took. `notes` speak of this run and machine (the
    cache): they may hold absolute paths and differ from run to run, so they are no part of the analysis. `work` counts
    what inference did: nothing for the name-only resolver."""

    analysis: Analysis
    graph: CallGraph
    texts: Mapping[str, bytes]
    facts: Mapping[str, ModuleFacts | None]
    seconds: float
    notes: tuple[Note, ...] = ()
    work: Work = NO_WORK


def analyze_repository(options: Options) -> Repository:
    """Reads and resolves a repository. Raises UserError for a wrong root, pattern or environment; never on source."""
    start = time.perf_counter()
    settings = load_settings(
        options.root, include=options.include, exclude=options.exclude, environment=options.environment
    )
    store = FactsStore.open(None, repository=options.root) if options.cache else FactsStore(None, None)
    try:
        with ReaderPool(options.workers or max(1, os.cpu_count() or 1)) as pool:
            loaded = load_project(options.root, settings, store, pool, options.progress)
            resolved, notes = run_deep(lambda: _resolve(loaded, settings, store, pool, options))
    finally:
        store.close()
    analysis = Analysis(
        options.root.resolve().name,
        tuple(file for file, _, _ in loaded.files),
        resolved.symbols,
        resolved.edges,
        resolved.unresolved,
        resolved.imports,
        loaded.skipped,
        tuple(sorted({*loaded.notes, *resolved.notes})),
        resolved.call_sites,
        options.resolver,
    )
    if options.resolver == "name-only":
        analysis = _by_name(analysis, {file.path: read for file, read, _ in loaded.files}, loaded.texts)
    if options.mask:
        analysis = analysis._replace(unresolved=tuple(hide_details(analysis.unresolved, loaded.texts)))
    seconds = time.perf_counter() - start
    notes = (*store.notes, *notes)
    return Repository(analysis, build_graph(analysis), loaded.texts, loaded.facts, seconds, notes, resolved.work)


def _resolve(
    loaded: Loaded, settings: Settings, store: FactsStore, pool: ReaderPool, options: Options
) -> tuple[Resolved, tuple[Note, ...]]:
    """The resolutions, and what is to be said of this run."""
    stubs = StubReader(settings.environment, loaded.project.python, settings.platform or "linux", store, pool)
    imported = {name for _, facts, _ in loaded.files for name in imported_modules(facts)}
    stubs.prefetch(sorted(imported))
    program = link_program(loaded, stubs)
    own = set(program.module_names())
    outside = {top for name in imported if (top := name.partition(".")[0]) not in own}
    folder = store.folder / "external" if store.folder is not None else None
    if options.resolver == "name-only":
        return describe_program(Solver(program)), ()
    with LibraryOracle(stubs, outside, folder) as oracle:
        return resolve_program(Solver(program, oracle if options.jedi else None)), oracle.notes


def link_program(loaded: Loaded, stubs: StubReader) -> Program:
    """The program to solve. Its library modules come from `stubs`, which programs of one Python version can share."""
    oldest = loaded.project.python
    newest = max(NEWEST_PYTHON, oldest or NEWEST_PYTHON)
    index = loaded.project.index_modules(extended_packages(loaded.files))
    return Program(loaded.files, index, stubs.load, stubs.python, stubs.platform, oldest or EARLIEST_PYTHON, newest)


def _by_name(analysis: Analysis, facts: Mapping[str, ModuleFacts], texts: Mapping[str, bytes]) -> Analysis:
    """The same files and symbols, with the edges a resolver by bare name draws."""
    lines: dict[str, LineIndex] = {}

    def lines_of(path: str) -> LineIndex:
        if path not in lines:
            lines[path] = LineIndex(texts[path])
        return lines[path]

    calls = find_name_only_calls(analysis.files, facts, analysis.symbols, lines_of)
    return analysis._replace(edges=calls.edges, unresolved=calls.unresolved, resolver="name-only")


def run_deep(work: Callable[[], Result]) -> Result:
    """Runs `work` on a thread whose stack holds the recursion of deep sources; what it raises is raised here."""
    outcome: list[Result] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as fault:
            faults.append(fault)

    limit = sys.getrecursionlimit()
    previous = threading.stack_size(_STACK_BYTES)
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        thread = threading.Thread(target=run, name="contextc-analysis", daemon=True)  # Ctrl-C does not wait for it
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(previous)
    if faults:
        raise faults[0]
    return outcome[0]


@dataclass(frozen=True)
class Request:
    """How a context is to be compiled. `budget`, in tokens: None for the default, 0 for no bound. `max_hops`: None for
    the profile's. `markup` is that of the text: "markdown" or "xml". `mask`: secrets. `line_numbers`:
    before each line of code, its own in the file."""

    tokenizer: str = DEFAULT_TOKENIZER
    max_hops: int | None = None
    budget: int | None = None
    profile: Profile = DEFAULT_PROFILE
    explain: bool = False
    markup: str = "markdown"
    mask: bool = True
    line_numbers: bool = False


def prepare_profile(root: Path, word: str | None, switches: Mapping[str, bool]) -> tuple[Profile, int | None]:
    """The profile and the budget in force: those of `[tool.contextc]`, unless `word` names a profile or a TOML file
    with the keys of one; then the switches. Raises ConfigurationError, before anything is analysed."""
    settings = load_settings(root)
    if word is None:
        profile = choose_profile(settings.profile, "[tool.contextc] profile")
    elif word in PROFILES:
        profile = PROFILES[word]
    else:
        profile = read_profile(read_toml_file(Path(word), "--profile", PROFILES), word)
    return switch_profile(profile, switches), settings.budget


def compile_context(
    repository: Repository, target: str | Target | Seeds, request: Request = Request()
) -> Compilation:
    """The context for a target. Raises TargetNotFound, with near misses, for one that names nothing; BudgetTooSmall.
    By bare names there is no budget, and one file to start from."""
    inputs = _inputs(repository, request)
    if repository.analysis.resolver == "name-only":
        target = target.target if isinstance(target, Seeds) else target
        return compile_by_name(inputs, repository.facts, target, request.max_hops)
    return compile_slice(inputs, target, request.max_hops)


@dataclass(frozen=True)
class Given:
    """What the user gave to start from, in any combination. `root` is the analysed folder. `failure`: a traceback or
    pytest output; `patch`: a unified diff, `revision`: of git, either called `diff`; `about`: a task in words."""

    root: Path
    targets: tuple[str, ...] = ()
    failure: str | None = None
    patch: bytes | None = None
    revision: str | None = None
    about: str | None = None


def find_seeds(repository: Repository, given: Given) -> Seeds:
    """The seeds of all that was given. Raises UserError for nothing, TargetNotFound for what names nothing."""
    graph, texts = repository.graph, repository.texts
    parts = [find_named(graph, given.targets)] if given.targets else []
    if given.failure is not None:
        parts.append(find_failed(graph, texts, given.failure, given.root.resolve().as_posix()))
    if given.patch is not None:
        patch = read_patch(given.patch, texts, "--diff")
        parts.append(find_changed(graph, texts, patch.changes, "--diff", patch.notes))
    if given.revision is not None:
        parts.append(_changed_since(repository, given.root, given.revision))
    if given.about is not None:
        parts.append(find_about(graph, texts, given.about))
    if not parts:
        raise UserError("nothing to start from: give a target, a diff or words")
    return join_seeds(parts)


def _changed_since(repository: Repository, root: Path, revision: str) -> Seeds:
    """The seeds of what differs from a revision. A file that exists and was not analysed is no deleted one; a notebook
    is told to be changed, by name alone."""
    texts = repository.texts
    then = read_revision(root, revision)
    old = {path: text for path, text in then.texts.items() if path in texts or path not in then.present}
    differing = {file.path: texts[file.path] for file in repository.graph.files if file.path not in then.same}
    new = {path: text for path, text in differing.items() if not is_notebook(path)}
    unread = sorted(then.present - texts.keys())
    others = [Change(path, "changed") for path in (*then.others, *unread, *sorted(differing.keys() - new.keys()))]
    changes = (*compare_trees(old, new), *others)
    return find_changed(repository.graph, texts, changes, f"--diff {revision}", then.notes)


def explain_why_not(compilation: Compilation, name: str, request: Request) -> Iterator[str]:
    """Lines that say why a symbol is not in a context, or what brought it. Raises TargetNotFound, with near misses."""
    last = request.profile.max_hops if request.max_hops is None else request.max_hops
    return explain_absence(compilation, name, last)


def compare_resolvers(repository: Repository, target: str, max_hops: int | None, tokenizer: str) -> Contrast:
    """One target compiled with the typed graph and by bare names, both without a budget. Raises TargetNotFound."""
    inputs = _inputs(repository, Request(tokenizer, budget=NO_BOUND))
    return compare_target(inputs, repository.facts, target, max_hops)


def _inputs(repository: Repository, request: Request) -> Inputs:
    return Inputs(
        repository.graph, repository.texts, request.profile, load_tokenizer(request.tokenizer), None, request.explain,
        request.budget, request.markup, request.mask, request.line_numbers,
    )  # fmt: skip


def measure_resolvers(repository: Repository, trace: Trace, target: str | None) -> Measurement:
    """The typed and the name-only graph judged by recorded calls: all of them, or those that a target's code made.
    Raises TargetNotFound, and UserError where nothing that was recorded was analysed."""
    facts = {path: read for path, read in repository.facts.items() if read is not None}
    by_name = _by_name(repository.analysis, facts, repository.texts)
    return measure_graphs(repository.graph, by_name, trace, repository.texts, facts, target)


def record_trace(request: TraceRequest) -> TraceSummary:
    """Runs the user's own command and records the calls between functions of the files that would be analysed. The one
    thing here that runs code of the user's. Raises UserError where it can't."""
    settings = load_settings(request.root, include=request.include, exclude=request.exclude)
    return record_calls(request, walk_tree(request.root, settings).files)


__all__ = [
    "Given", "Options", "Repository", "Request", "analyze_repository", "compare_resolvers", "compile_context",
    "explain_why_not", "find_seeds", "measure_resolvers", "record_trace", "run_deep",
]  # fmt: skip
