"""Which units of a definition define what another one uses. In: its statements. Out: `needs`, by unit.

    a = read()           0
    b = a.strip()        1: needs {0}
    if b:                2: needs {1}
        send(b)          3: needs {1}, and the head 2 it stands under

Reaching definitions over the statement tree, forward, in one walk (Aho, Lam, Sethi, Ullman, "Compilers", 2nd ed., 9.2);
the closure of `needs` and of the heads around a unit is Weiser's slice ("Program slicing", IEEE TSE 10(4), 1984) as
Ottenstein and Ottenstein compute it over dependences (1984). Where the walk is less exact it takes more definitions,
never fewer: a loop begins with all that is defined in it, an `except` with all that its `try` may have defined. What it
does not follow, so that a slice stays small: what a call does to its arguments, except the changing methods of
containers (`x.append(…)`); jumps that keep a later statement from running (Ball and Horwitz, 1993, would keep them).

Names are dotted up to three dots, so `self.x = 1` is a definition of `self.x` alone. The body of a closure or lambda
reads whatever the function around it gives a name anywhere; that of a closure counts only where one of its own
statements is asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contextc.passes.statements import Clause, Statement, parameters_of

_MUTATORS = frozenset(
    {
        "append", "appendleft", "add", "extend", "extendleft", "update", "insert", "setdefault", "remove", "discard",
        "pop", "popitem", "popleft", "clear", "sort", "reverse",
    }
)  # fmt: skip
_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_DOTS = 3
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

State = dict[str, frozenset[int]]  # the units that may have defined each name


class NamesOf(NamedTuple):
    """What a unit does to names: reads them, gives them anew, or changes what they stand for; `later`: reads them when
    what it defines is called."""

    uses: set[str]
    gives: set[str]
    changes: set[str]
    later: set[str]


def collect_names(nodes: Iterable[ast.AST]) -> NamesOf:
    """The names of expressions and simple statements, without those that belong to a comprehension or lambda."""
    found = NamesOf(set(), set(), set(), set())
    stack: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset()) for node in nodes]
    while stack:
        node, bound = stack.pop()
        inner = bound
        if isinstance(node, _COMPREHENSIONS):
            inner = bound | _stored(generator.target for generator in node.generators)
        elif isinstance(node, ast.Lambda):
            inner = bound | {argument.arg for argument in parameters_of(node.args)}
            found.later.update({n.id for n in ast.walk(node.body) if isinstance(n, ast.Name)} - inner)
        else:
            _note(node, bound, found)
        stack += [(child, inner) for child in ast.iter_child_nodes(node)]
    return found


def _note(node: ast.AST, bound: frozenset[str], found: NamesOf) -> None:
    if isinstance(node, ast.Name):
        if node.id not in bound and not isinstance(node.ctx, ast.Store):  # what is deleted has to be there
            found.uses.add(node.id)
        if node.id not in bound and not isinstance(node.ctx, ast.Load):
            found.gives.add(node.id)
    elif isinstance(node, ast.NamedExpr):
        found.gives.add(node.target.id)
    elif isinstance(node, ast.Attribute | ast.Subscript):
        is_read = isinstance(node.ctx, ast.Load)
        path = _path(node if isinstance(node, ast.Attribute) else node.value, bound)
        if path and not (is_read and isinstance(node, ast.Subscript)):
            (found.uses if is_read else found.changes).add(path)
    elif isinstance(node, ast.AugAssign):
        path = _path(node.target, bound)
        if path:
            found.uses.add(path)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
        path = _path(node.func.value, bound)
        if path:
            found.changes.add(path)
    elif isinstance(node, ast.alias):
        found.gives.add(node.asname or node.name.partition(".")[0])
    elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
        found.gives.add(node.name)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        found.gives.add(node.rest)


def _stored(targets: Iterable[ast.expr]) -> set[str]:
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _path(node: ast.expr, bound: frozenset[str]) -> str:
    """`a.b.c` of a chain of attributes on a name; empty for others."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _DOTS:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in bound:
        return ""
    return ".".join([node.id, *reversed(parts)])


class Dependences:
    """The dependences of one definition. `needs[unit]`: the units that may have defined what it uses."""

    def __init__(self, units: Sequence[Statement | Clause], definition: Statement) -> None:
        self._units = units
        self._names = [self._names_of(unit) for unit in units]
        self.needs: list[set[int]] = [set() for _ in units]
        self._declared: dict[str, int] = {}
        self._anywhere: State = {}
        self._function(definition, {})

    def close(self, kept: Iterable[int]) -> set[int]:
        """The units with all they depend on: definitions, and the heads that decide whether they run."""
        found: set[int] = set()
        waiting = list(kept)
        while waiting:
            unit = waiting.pop()
            if unit not in found:
                found.add(unit)
                waiting += [*self.needs[unit], *self._deciding(unit), *self._beside(unit)]
        return found

    def _beside(self, unit: int) -> list[int]:
        """The units before and after that share a line with it, and so are shown with it."""
        near = [other for other in (unit - 1, unit + 1) if 0 <= other < len(self._units)]
        first, last = _lines_of(self._units[unit])
        return [other for other in near if _lines_of(self._units[other])[1] >= first
                and _lines_of(self._units[other])[0] <= last]  # fmt: skip

    def _deciding(self, unit: int) -> list[int]:
        """The head of the clause around a unit; for a head the line of its `match`, the heads before it, those of the
        handlers of its `try`."""
        part = self._units[unit]
        if isinstance(part, Statement):
            return [part.within.unit] if part.within is not None else []
        owner = part.owner
        assert owner is not None
        around = [owner.within.unit] if owner.within is not None else []
        around += [clause.unit for clause in owner.clauses if clause.unit < unit or clause.word == "except"]
        return [*around, owner.unit] if isinstance(owner.node, ast.Match) else around

    def _names_of(self, unit: Statement | Clause) -> NamesOf:
        if isinstance(unit, Clause):
            names = collect_names(unit.reads)
            if unit.binds:
                names.gives.add(unit.binds)
            return names
        node = unit.node
        return collect_names([node.subject] if isinstance(node, ast.Match) else [node])

    # ------------------------------------------------------------------------------------------------- the walk

    def _function(self, definition: Statement, around: Mapping[str, frozenset[int]]) -> None:
        """A function's or class's body from its beginning. `around`: what the functions around it give."""
        clause = definition.clauses[0]
        state: State = dict(around)
        node = definition.node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for parameter in parameters_of(node.args):
                state.pop(parameter.arg, None)
        before = self._declared
        self._declared = dict(before)
        for unit in _units_in(clause.body):
            part = self._units[unit]
            if isinstance(part, Statement) and isinstance(part.node, ast.Global | ast.Nonlocal):
                self._declared.update(dict.fromkeys(part.node.names, unit))
        self._anywhere = anywhere = _join(dict(state), self._given_in(clause.body)) or {}
        self._block(clause.body, state)
        for inner in _scopes_in(clause.body):
            if not isinstance(inner.node, ast.ClassDef):
                self._function(inner, anywhere)
        self._declared = before

    def _block(self, statements: Iterable[Statement], state: State | None) -> State | None:
        """The state after a block; None where its end is never reached."""
        for statement in statements:
            state = self._statement(statement, {} if state is None else state)
        return state

    def _statement(self, statement: Statement, state: State) -> State | None:
        node = statement.node
        if not statement.clauses:
            self._step(statement.unit, state)
            return None if isinstance(node, _JUMPS) else state
        if isinstance(node, ast.Match):
            self._step(statement.unit, state)
            return self._branches(statement, state)
        if isinstance(node, ast.If):
            return self._branches(statement, state)
        if statement.is_loop:
            return self._loop(statement, state)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._attempt(statement, state)
        clause = statement.clauses[0]
        if statement.is_scope:
            self._step(clause.unit, state)
            if isinstance(node, ast.ClassDef):
                self._block(clause.body, dict(state))
            return state
        self._step(clause.unit, state)
        return self._block(clause.body, state)

    def _branches(self, statement: Statement, state: State) -> State | None:
        """The ways of an `if` or `match`, each from the state after the heads before it."""
        after: State | None = None
        for clause in statement.clauses:
            before = dict(state)
            self._step(clause.unit, state)
            after = _join(after, self._block(clause.body, dict(state)))
            if clause.word == "case":  # a pattern that fails may have given its names or not
                state = _join(before, state) or {}
        is_total = statement.clauses[-1].word == "else"
        return after if is_total else _join(after, state)

    def _loop(self, statement: Statement, state: State) -> State | None:
        body = statement.clauses[0]
        before = _join(state, self._given_in([statement])) or {}
        state = dict(before)
        self._step(body.unit, state)
        self._block(body.body, dict(state))
        state = _join(state, before) or {}  # a `for` over nothing gives its target no value
        for clause in statement.clauses[1:]:
            state = _join(state, self._block(clause.body, dict(state))) or state
        return state

    def _attempt(self, statement: Statement, state: State) -> State | None:
        """An exception may come after any of the body's statements."""
        body = statement.clauses[0].body
        anywhere = _join(state, self._given_in(body)) or {}
        after = self._block(body, dict(state))
        ways: list[State | None] = []
        for clause in statement.clauses[1:]:
            if clause.word == "except":
                start = dict(anywhere)
                self._step(clause.unit, start)
                ways.append(self._block(clause.body, start))
            elif clause.word == "else":
                after = self._block(clause.body, after)
            else:
                for way in [after, *ways]:
                    anywhere = _join(anywhere, way) or anywhere
                return self._block(clause.body, anywhere)
        for way in ways:
            after = _join(after, way)
        return after

    def _step(self, unit: int, state: State) -> None:
        """One unit reads, then writes. `state` changes."""
        names = self._names[unit]
        needed = self.needs[unit]
        for name in names.uses:
            needed |= state.get(name, frozenset())
        for name in names.later:
            needed |= self._anywhere.get(name, frozenset())
        for name in names.uses | names.gives:
            declaration = self._declared.get(name)
            if declaration is not None and declaration != unit:
                needed.add(declaration)
        for name in names.changes:
            state[name] = state.get(name, frozenset()) | {unit}
        for name in names.gives:
            state[name] = frozenset({unit})
        needed.discard(unit)

    def _given_in(self, statements: Iterable[Statement]) -> State:
        """All that is defined anywhere in these statements, without closures' bodies."""
        found: dict[str, set[int]] = {}
        for unit in _units_in(statements):
            names = self._names[unit]
            for name in names.gives | names.changes:
                found.setdefault(name, set()).add(unit)
        return {name: frozenset(units) for name, units in found.items()}


def _lines_of(unit: Statement | Clause) -> tuple[int, int]:
    """The first and last line of a simple statement or head."""
    return unit.first, unit.head_last or unit.last


def _join(left: State | None, right: State | None) -> State | None:
    """What either way may have defined."""
    if left is None or right is None:
        return right if left is None else left
    small, large = sorted((left, right), key=len)
    joined = dict(large)
    for name, units in small.items():
        joined[name] = units | joined.get(name, frozenset())
    return joined


def _units_in(statements: Iterable[Statement]) -> list[int]:
    """The units of statements, without those inside functions and classes in them."""
    found: list[int] = []
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        if statement.is_scope or not statement.clauses:
            found.append(statement.unit)
            continue
        found += [statement.unit, *(clause.unit for clause in statement.clauses)]
        waiting += [inner for clause in statement.clauses for inner in clause.body]
    return sorted(set(found))


def _scopes_in(statements: Iterable[Statement]) -> list[Statement]:
    """The functions and classes that stand in a block, those of a class's body too, but not one in another function."""
    found: list[Statement] = []
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        if statement.is_scope:
            found.append(statement)
        if not statement.is_scope or isinstance(statement.node, ast.ClassDef):
            waiting += [inner for clause in statement.clauses for inner in clause.body]
    return found
