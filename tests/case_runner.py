"""Runs cases: analyses the program of each and compares what its lines claim with what the graph says.

In: a `Case`. Out: a `Verdict`: what disagrees, and the claims that would agree. One runner reads the standard library's
stubs once for all its cases, so that a case takes some milliseconds.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.resolution import Resolved, resolve_program
from contextc.analyzer.loading import StubReader, load_project
from contextc.analyzer.reading.pool import ReaderPool
from contextc.analyzer.settings import load_settings
from contextc.analyzer.store import FactsStore
from contextc.engine import link_program, run_deep
from contextc.model.edge import Edge, EdgeKind, Site, Unresolved
from tests.case_files import ENVIRONMENT, Case
from tests.case_notation import NOTHING, Claim, Fact, Names, NotationError, agrees, fact_of, sort_union, state

Place = tuple[str, int]  # path, line


class Verdict(NamedTuple):
    """`problems` for people; `changes`: by row of the Markdown file the claims that are true."""

    problems: list[str]
    changes: dict[int, list[Claim]]


class CaseRunner:
    """Analyses programs one after the other. Use it in a `with`."""

    def __enter__(self) -> CaseRunner:
        self._closing = ExitStack()
        self._store = FactsStore.open(None)
        self._closing.callback(self._store.close)
        self._pool = self._closing.enter_context(ReaderPool(1))
        self._stubs = StubReader(None, None, "linux", self._store, self._pool)
        self._stubs.prefetch(())
        self._resolved: dict[tuple[Path, str], Resolved] = {}
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def resolve(self, case: Case) -> Resolved:
        """What inference says of the case's program; asked for once a case."""
        key = (case.file, case.name)
        if key not in self._resolved:
            self._resolved[key] = self._analyze(case)
        return self._resolved[key]

    def _analyze(self, case: Case) -> Resolved:
        with TemporaryDirectory(prefix="contextc-case-") as name:
            root = Path(name)
            case.write_to(root)
            environment = root / ENVIRONMENT if case.has_environment else None
            settings = load_settings(root, user_config=root / "none.toml", environment=environment)
            loaded = load_project(root, settings, self._store, self._pool)
            stubs = StubReader(environment, None, "linux", self._store, self._pool) if environment else self._stubs
            return run_deep(lambda: resolve_program(Solver(link_program(loaded, stubs))))

    def run(self, case: Case, mark_bugs: bool = False) -> Verdict:
        """Compares the case's claims with the graph. `mark_bugs`: what is stated is right, so in the changes it becomes
        the right answer of a bug."""
        resolved = self.resolve(case)
        names = Names([symbol.id for symbol in resolved.symbols])
        facts, revealed = _Facts(case, resolved), _revealed_by_line(resolved)
        problems: list[str] = []
        changes: dict[int, list[Claim]] = {}
        for place in sorted({*case.claims, *facts.found, *revealed}):
            row = case.rows[place]
            stated = case.claims.get(place, [])
            said = list(_judge_line(stated, row, facts.at(place, stated), revealed.get(place), names))
            problems += [f"{case.file.name}:{at + 1}: {problem}" for at, _, problem in said if problem]
            problems += [f"{case.file.name}:{row + 1}: {fault}" for fault in facts.misplaced(place, stated)]
            if any(problem for _, _, problem in said):
                for at, claim, problem in said:
                    if mark_bugs and problem:
                        claim = _as_bug(stated, at, claim)
                    changes.setdefault(at, []).extend([claim] if claim is not None else [])
        return Verdict(problems, changes)


Said = tuple[int, "Claim | None", str]  # row, the claim that is true (None: nothing need be said), what is wrong


def _judge_line(
    stated: list[tuple[int, Claim]],
    row: int,
    facts: dict[int | None, list[Fact]],
    revealed: list[str] | None,
    names: Names,
) -> Iterator[Said]:
    """All claims about one line, and what goes without one. A claim without a caret is for what no caret marks."""
    for at, claim in stated:
        if claim.subject == "revealed":
            yield _judge_revealed(at, claim, " & ".join(revealed or []))
        else:
            yield _judge_calls(at, claim, facts.get(claim.caret, []), names)
    subjects = {(claim.subject, claim.caret) for _, claim in stated}
    text = state(facts.get(None, ()), names)
    if ("calls", None) not in subjects and text != NOTHING:
        yield row, Claim("calls", text), f"not stated: `# calls: {text}`"
    if ("revealed", None) not in subjects and revealed:
        yield row, Claim("revealed", " & ".join(revealed)), f"not stated: `# revealed: {' & '.join(revealed)}`"


def _as_bug(stated: list[tuple[int, Claim]], row: int, true: Claim | None) -> Claim | None:
    """The true claim with what was stated as its right answer; one that had an answer already, or is true of something
    that nothing was stated of, comes as it is."""
    if true is None:
        true = next((Claim(c.subject, NOTHING) for at, c in stated if at == row and c.subject == "calls"), None)
    if true is None or true.should is not None:
        return true
    was = [c for at, c in stated if at == row and (c.subject, c.caret) == (true.subject, true.caret)]
    if was and was[0].should is not None:
        return true
    right = was[0].stated if was else NOTHING
    return true if true.subject == "revealed" and not was else replace(true, should=right)


def _judge_calls(row: int, claim: Claim, facts: list[Fact], names: Names) -> Said:
    try:
        is_stated = agrees(claim.stated, facts, names)
        is_right = claim.should is not None and agrees(claim.should, facts, names)
    except NotationError as error:
        return row, claim, str(error)
    now = state(facts, names, claim.stated)
    if is_right:
        should = str(claim.should)
        true = None if should == NOTHING and claim.caret is None else Claim("calls", should, None, claim.caret)
        return row, true, f"now right, `{should}`: remove the bug note"
    if is_stated:
        return row, claim, ""
    keep = claim.should is not None or now != NOTHING or claim.caret is not None
    true = Claim("calls", now, claim.should, claim.caret) if keep else None
    return row, true, f"stated `{claim.stated}`, the graph says `{now}`"


def _judge_revealed(row: int, claim: Claim, now: str) -> Said:
    if claim.should is not None and sort_union(claim.should) == sort_union(now):
        return row, Claim("revealed", claim.should), f"now right, `{claim.should}`: remove the bug note"
    if sort_union(claim.stated) == sort_union(now):
        return row, claim, ""
    if not now:
        return row, None, "nothing is revealed here: `# revealed:` stands behind a `reveal_type(…)`"
    return row, Claim("revealed", now, claim.should), f"stated `{claim.stated}`, it is `{now}`"


def _revealed_by_line(resolved: Resolved) -> dict[Place, list[str]]:
    found: dict[Place, list[str]] = {}
    for item in resolved.revealed:
        found.setdefault((item.path, item.line), []).append(item.text)
    return found


class _Facts:
    """What the graph says by line. A call stands on the line where its callee's name ends: `a(…\\n).b()` are two."""

    def __init__(self, case: Case, resolved: Resolved) -> None:
        self._names = {path: _callee_names(lines) for path, lines in case.texts.items()}
        self._lines = case.texts
        self.found: dict[Place, list[Edge | Unresolved]] = {}
        edges = [e for e in resolved.edges if e.kind.is_call or e.kind is EdgeKind.REGISTRATION]
        items: list[Edge | Unresolved] = [*edges, *resolved.unresolved]
        for item in items:
            self.found.setdefault((item.path, self._name_of(item)[0]), []).append(item)

    def at(self, place: Place, stated: list[tuple[int, Claim]]) -> dict[int | None, list[Fact]]:
        """The facts on a line by the caret that marks their call, None for the others."""
        carets = {claim.caret for _, claim in stated if claim.caret is not None}
        facts: dict[int | None, list[Fact]] = {}
        for item in self.found.get(place, []):
            _, start, end = self._name_of(item)
            marked = [caret for caret in sorted(carets) if start <= self._byte_column(place, caret) < end]
            facts.setdefault(marked[0] if marked else None, []).append(fact_of(item))
        return facts

    def misplaced(self, place: Place, stated: list[tuple[int, Claim]]) -> Iterator[str]:
        """Carets that mark no call."""
        names = [name for name in self._names[place[0]].values() if name[0] == place[1]]
        for _, claim in stated:
            column = self._byte_column(place, claim.caret) if claim.caret is not None else 0
            if claim.caret is not None and not any(start <= column < end for _, start, end in names):
                yield f"the `^` before `{claim}` marks no callee's name"

    def _name_of(self, item: Edge | Unresolved) -> tuple[int, int, int]:
        return self._names[item.path].get(item.site, (item.line, -1, -1)) if item.site else (item.line, -1, -1)

    def _byte_column(self, place: Place, column: int) -> int:
        return len(self._lines[place[0]][place[1] - 1][:column].encode())


def _callee_names(lines: list[str]) -> dict[Site, tuple[int, int, int]]:
    """By call: line, first and last column (in bytes) of its callee's last name. Nothing for a text with errors."""
    try:
        tree = ast.parse("\n".join(lines) + "\n")
    except SyntaxError:
        return {}
    found: dict[Site, tuple[int, int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            func = node.func
            line, end = func.end_lineno or 0, func.end_col_offset or 0
            width = len(func.attr.encode()) if isinstance(func, ast.Attribute) else 1
            start = func.col_offset if isinstance(func, ast.Name) else end - width
            found[node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0] = (line, start, end)
    return found
