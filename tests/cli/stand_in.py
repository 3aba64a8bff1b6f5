"""An engine over a repository in memory, in place of the real one: the command line alone is under test."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from contextc.engine import Given, Request
from contextc.errors import ConfigurationError
from contextc.graph.call_graph import CallGraph
from contextc.graph.measure import Measurement, measure_graphs
from contextc.graph.trace_file import Trace
from contextc.model.diagnostic import Note
from contextc.passes.compilation import Compilation, Inputs
from contextc.passes.pipeline import compile_slice
from contextc.passes.profile import DEFAULT_PROFILE, Profile
from contextc.passes.seeds.failure import find_failed
from contextc.passes.seeds.named import find_named
from contextc.passes.seeds.values import Seeds
from contextc.passes.tokens import load_tokenizer
from tests.passes.repository import EdgeRow, Repository

TEXTS = {
    "app/views.py": "from app.models import User\n\ndef show(user: User):\n    user.save()\n    user.gone()\n",
    "app/models.py": """
class User:
    def save(self):
        '''Keep.'''
        a = 1
        b = 2
        return a + b
""",
    "app/odd\x1b[31m.py": "def f(): ...\n",
}
EDGES: list[EdgeRow] = [("app.views:show", "app.models:User.save", "CALL", "certain", "receiver-declared", "4")]


class Options(NamedTuple):
    root: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    environment: Path | None = None
    resolver: str = "typed"
    workers: int | None = None
    cache: bool = True
    jedi: bool = True
    mask: bool = True
    progress: Any = None


class Analysed(NamedTuple):
    graph: CallGraph
    texts: dict[str, bytes]
    facts: dict[str, Any]
    seconds: float
    notes: tuple[Note, ...] = ()


class StandIn:
    """Keeps the options of the last analysis."""

    def __init__(self) -> None:
        self.options: Options | None = None
        self.fault: BaseException | None = None
        self.notes: tuple[Note, ...] = ()
        self.given: Given | None = None

    def analyze_repository(self, options: Options) -> Analysed:
        self.options = options
        if self.fault is not None:
            raise self.fault
        if options.progress is not None:
            options.progress(3, 3)
        made = Repository(TEXTS, EDGES, [("app.views:show", 5, "user.gone")])
        return Analysed(made.graph, made.texts, {}, 0.25, self.notes)

    def prepare_profile(
        self, root: Path, word: str | None, switches: dict[str, bool]
    ) -> tuple[Profile, int | None]:
        return DEFAULT_PROFILE, None

    def find_seeds(self, repository: Analysed, given: Given) -> Seeds:
        self.given = given
        if given.failure is not None:
            return find_failed(repository.graph, repository.texts, given.failure)
        return find_named(repository.graph, given.targets)

    def compile_context(self, repository: Analysed, target: Seeds, request: Request) -> Compilation:
        inputs = Inputs(
            repository.graph, repository.texts, request.profile, load_tokenizer(request.tokenizer), None,
            request.explain, request.budget, request.markup, request.mask, request.line_numbers,
        )  # fmt: skip
        return compile_slice(inputs, target, request.max_hops)

    def measure_resolvers(self, repository: Analysed, trace: Trace, target: str | None) -> Measurement:
        by_name = repository.graph.analysis._replace(edges=(), unresolved=(), resolver="name-only")
        return measure_graphs(repository.graph, by_name, trace, repository.texts, repository.facts, target)


def install(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Put a stand-in where the command line imports the engine from."""
    engine = StandIn()
    module = types.ModuleType("contextc.engine")
    module.Options = Options  # type: ignore[attr-defined]
    module.Request = Request  # type: ignore[attr-defined]
    module.Given = Given  # type: ignore[attr-defined]
    module.prepare_profile = engine.prepare_profile  # type: ignore[attr-defined]
    module.find_seeds = engine.find_seeds  # type: ignore[attr-defined]
    module.analyze_repository = engine.analyze_repository  # type: ignore[attr-defined]
    module.compile_context = engine.compile_context  # type: ignore[attr-defined]
    module.measure_resolvers = engine.measure_resolvers  # type: ignore[attr-defined]
    import contextc

    monkeypatch.setitem(sys.modules, "contextc.engine", module)
    monkeypatch.setattr(contextc, "engine", module, raising=False)
    return engine


def wrong_setting() -> ConfigurationError:
    return ConfigurationError("bad\x1b[31m value in [tool.contextc]")
