"""From a program that fails to a small one that fails alike.

In: the states of a program, one after the other (a single one where nothing is edited), and whether they fail. Out:
states of which no file, statement, part or nesting can be taken away any more. What is cut is cut from every state that
has it, else from one of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from tests.inference.edits import Change, cut_parts, cut_statements, find_expressions, normalise, parse_whole

Files = dict[str, str]
States = list[Files]
Fails = Callable[[States], bool]
Cut = tuple[str, str, str]  # a path, what is done, to which node

MOST_TRIES = 1500


def shrink(states: States, fails: Fails) -> States:
    """The smallest states found that still fail; those given, if they do not fail once they are written anew."""
    written = [{path: normalise(text) for path, text in files.items()} for files in states]
    if not fails(written):
        return states
    states, tries, at = written, 0, 0
    changed = True
    while changed:
        changed, at = False, 0
        while tries < MOST_TRIES:
            candidate = next(_candidates(states, at), None)
            if candidate is None:
                break
            at, smaller = candidate
            tries += 1
            if fails(smaller):
                states, changed = smaller, True
            else:
                at += 1
    return states


def _candidates(states: States, start: int) -> Iterator[tuple[int, States]]:
    """Smaller states, numbered; those before `start` are left out."""
    for number, make in enumerate(_makers(states)):
        if number >= start:
            smaller = make()
            if _size(smaller) < _size(states):
                yield number, smaller


def _size(states: States) -> int:
    return sum(len(path) + len(text) for files in states for path, text in files.items()) + 10 * len(states)


def _makers(states: States) -> Iterator[Callable[[], States]]:
    for at in range(1, len(states) - 1):
        yield lambda at=at: [*states[:at], *states[at + 1 :]]  # type: ignore[misc]
    if len(states) > 2:
        yield lambda: states[1:]
        yield lambda: states[:-1]
    paths = sorted({path for files in states for path in files})
    for path in paths:
        yield lambda path=path: [_without(files, path) for files in states]  # type: ignore[misc]
    for path in paths:
        for cut in dict.fromkeys(cut for files in states for cut in _list_cuts(files, path)):
            yield lambda cut=cut: [_apply(files, cut) for files in states]  # type: ignore[misc]
            if len(states) > 1:
                for at in range(len(states)):
                    yield lambda cut=cut, at=at: _replace(states, at, _apply(states[at], cut))  # type: ignore[misc]


def _without(files: Files, path: str) -> Files:
    return {name: text for name, text in files.items() if name != path}


def _replace(states: States, at: int, files: Files) -> States:
    return [*states[:at], files, *states[at + 1 :]]


def _changes(tree: ast.Module) -> Iterator[Change]:
    yield from cut_statements(tree)
    yield from cut_parts(tree)
    for value, put in find_expressions(tree):
        for inner in ast.iter_child_nodes(value):
            if isinstance(inner, ast.expr) and not isinstance(inner, ast.Starred | ast.FormattedValue):
                yield f"a part of {ast.unparse(value)}", inner, lambda put=put, inner=inner: put(inner)  # type: ignore[misc]
        if not isinstance(value, ast.Name | ast.Constant):
            yield "nothing for", value, lambda put=put: put(ast.Constant(0))  # type: ignore[misc]


def _list_cuts(files: Files, path: str) -> Iterator[Cut]:
    tree = parse_whole(files.get(path, "("))
    if tree is not None:
        for what, node, _ in _changes(tree):
            yield path, what, ast.unparse(node)


def _apply(files: Files, cut: Cut) -> Files:
    """The files after a cut; the same where they have no such place, or would be no Python."""
    path, what, shown = cut
    tree = parse_whole(files.get(path, "("))
    if tree is None:
        return files
    for found, node, change in _changes(tree):
        if found == what and ast.unparse(node) == shown:
            change()
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            return {**files, path: text} if parse_whole(text) is not None else files
    return files
