"""Run-time truth against what cases state: nothing may be called that a line doesn't name, and where a line ran that
names functions, one of them was called.

In: a case, its symbols, and what was seen when it ran. Out: what disagrees, in words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from contextc.model.edge import Certainty
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol
from tests.case_files import DEFAULT_FILE, Case
from tests.case_notation import OPEN, REGISTERS, Item, Names, parse_items
from tests.case_truth import Call, Run

_MAIN = re.compile(r"def main\(\)")
_CALLABLE = (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.LAMBDA)


def can_run(case: Case) -> bool:
    """Whether the program has a `main()` to call, and needs no environment."""
    return not case.has_environment and any(_MAIN.match(line) for line in case.texts.get(DEFAULT_FILE, []))


def contradictions(case: Case, symbols: Sequence[Symbol], run: Run) -> list[str]:
    """What the run shows that the case's right answers don't say, or deny."""
    if run.fault:
        return [f"it does not run: {run.fault}"]
    names = Names([symbol.id for symbol in symbols])
    stated = _right_answers(case)
    lazy = {(path, line) for path, lines in case.texts.items() for line in _lazy_functions(lines)}
    called: dict[tuple[str, int], set[str]] = {}
    for call in run.calls:
        if call.by_library and (call.callee_path, call.first) in lazy:
            continue  # an event loop, which runs coroutines long after they were called
        called.setdefault((call.path, call.line), set()).update(_find_symbols(call, symbols))
    prompt = {s.id for s in symbols if s.kind in _CALLABLE and (s.path, s.line) not in lazy}
    return [*_unnamed(case, stated, names, called), *_uncalled(case, stated, names, prompt, called, run)]


def _right_answers(case: Case) -> dict[tuple[str, int], list[Item]]:
    found: dict[tuple[str, int], list[Item]] = {}
    for place, claims in case.claims.items():
        for _, claim in claims:
            if claim.subject == "calls":
                items = parse_items(claim.should or claim.stated)
                found.setdefault(place, []).extend(item for item in items if item.kind != REGISTERS)
    return found


def _find_symbols(call: Call, symbols: Sequence[Symbol]) -> Iterator[str]:
    """Several lambdas of one line can't be told apart."""
    for symbol in symbols:
        is_there = (symbol.path, symbol.line) == (call.callee_path, call.first)
        if is_there and symbol.kind in _CALLABLE and symbol.qualname.rpartition(".")[2] == call.name:
            yield symbol.id


def _unnamed(
    case: Case, stated: dict[tuple[str, int], list[Item]], names: Names, called: dict[tuple[str, int], set[str]]
) -> Iterator[str]:
    for (path, line), callees in sorted(called.items()):
        items = stated.get((path, line), [])
        allowed = {names.find(item.name) for item in items if item.name != OPEN}
        for callee in sorted(callees - allowed):
            if not any(item.name == OPEN for item in items) and not _is_lambda_of(callee, allowed):
                yield f"{case.file.name}:{case.rows[path, line] + 1}: it really calls {names.shorten(callee)}"


def _is_lambda_of(callee: str, allowed: set[str]) -> bool:
    plain = callee.partition("#")[0]
    return plain.endswith("<lambda>") and any(symbol.partition("#")[0] == plain for symbol in allowed)


def _uncalled(
    case: Case,
    stated: dict[tuple[str, int], list[Item]],
    names: Names,
    prompt: set[str],
    called: dict[tuple[str, int], set[str]],
    run: Run,
) -> Iterator[str]:
    """`prompt`: the functions whose body runs as they are called."""
    for place, items in sorted(stated.items()):
        sure = [item for item in items if item.name != OPEN and item.certainty != Certainty.POSSIBLE.value]
        targets = {names.find(item.name) for item in sure}
        if not targets or place not in run.lines or targets & called.get(place, set()):
            continue
        if targets <= prompt:
            written = ", ".join(names.shorten(target) for target in sorted(targets))
            yield f"{case.file.name}:{case.rows[place] + 1}: it really calls none of {written}"


def _lazy_functions(lines: list[str]) -> Iterator[int]:
    """First lines of functions whose body does not run when they are called: generators and coroutines."""
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            is_lazy = isinstance(node, ast.AsyncFunctionDef)
            if is_lazy or any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)):
                yield min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
