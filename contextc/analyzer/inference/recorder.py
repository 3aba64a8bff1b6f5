"""What the resolution pass writes down: for each site the targets its values admit, and why it may be incomplete.

In: calls as the evaluator meets them, over frozen cells. Out: one `Outcome` a site. Certainty is decided here, from the
whole outcome, and nowhere else: one group of targets, nothing open, nothing external beside it is `certain`.
"""

from __future__ import annotations

from typing import NamedTuple

from contextc.model import ir
from contextc.model.edge import Certainty, EdgeKind, Reason, Rule
from contextc.model.value import ValueSet

_DESCRIBED = 12  # dots, calls and subscripts that the description of a callee names


class Target(NamedTuple):
    """A definition that a site can run. `group` ties together what one callee value runs (`__new__`, `__init__`).
    `abstract`: its body only declares; where something that implements it can run too, it is hardly what runs.
    `indirect`: what a decorator's closure stands for, whose own code decides whether it runs; what puts its result
    where the next access finds it first. `hollow`: its
    body is empty; for an object that was seen being made it still runs, elsewhere it stands for what overrides it.
    `by_class`: admitted because of a class that the receiver is declared to have, not of an object that was seen."""

    callee: str
    kind: EdgeKind
    rule: Rule
    group: str
    possible: bool
    abstract: bool = False
    indirect: bool = False
    hollow: bool = False
    by_class: bool = False


class Outcome:
    """One site. `others` counts callee values outside the repository; `soft` reasons only matter without a target.
    `wide`: callees that a hierarchy's width or distance leaves only possible. `unfit`: those whose result can't be used
    as it is used here. `refusing`, `taking`: those that can't take, or can, what is passed here. `may_skip`: the
    operation can do without them, for what it runs over may be empty."""

    __slots__ = (
        "detail", "may_skip", "others", "reasons", "refusing", "registered", "soft", "taking", "targets", "unfit",
        "wide",
    )  # fmt: skip

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        self.targets: set[Target] = set()
        self.registered: set[Target] = set()
        self.reasons: set[Reason] = set()
        self.soft: set[Reason] = set()
        self.others = 0
        self.may_skip = False
        self.refusing: set[str] = set()
        self.taking: set[str] = set()
        self.wide: frozenset[str] = frozenset()
        self.unfit: frozenset[str] = frozenset()

    def distinct_targets(self) -> list[Target]:
        """Each target once: what one value is seen to run is not only possible because of another one."""
        return [t for t in self.targets if not t.possible or t._replace(possible=False) not in self.targets]

    def make_possible(self) -> None:
        """Says of all targets so far that nothing proves them."""
        self.targets = {t._replace(possible=True) for t in self.targets}

    def certainty(self, target: Target) -> Certainty:
        """How sure it is that this site runs `target`."""
        if target.possible or target.callee in self.wide or target.callee in self.unfit:
            return Certainty.POSSIBLE
        implemented = {t.group for t in self.targets if not t.possible and not t.abstract}
        if target.abstract and implemented:
            return Certainty.POSSIBLE
        if target.hollow and any(not t.possible and not t.abstract and not t.hollow for t in self.targets):
            return Certainty.POSSIBLE
        groups = implemented or {t.group for t in self.targets if not t.possible}
        alone = len(groups) == 1 and not self.reasons and not self.others and not target.indirect and not self.may_skip
        return Certainty.CERTAIN if alone else Certainty.LIKELY

    def open_reasons(self) -> list[Reason]:
        """Why the targets may be incomplete, sorted; empty for a closed site."""
        reasons = set(self.reasons)
        if self.wide:
            reasons.add(Reason.WIDENED)
        if self.unfit and all(t.possible or t.callee in self.unfit for t in self.targets):
            reasons.add(Reason.UNKNOWN_CALLABLE)
        if not self.others and not any(not t.possible for t in self.targets):
            reasons |= self.soft
        return sorted(reasons, key=lambda r: r.value)


_ACCESS = ("get", "__get__", "__getattr__")


class Recorder:
    """Outcomes of explicit call sites by (symbol id, ordinal), of implicit ones by (symbol id, ordinal, operation)."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, int], Outcome] = {}
        self.implicit: dict[tuple[str, int, str], Outcome] = {}
        self.relations: set[tuple[str, int, str, EdgeKind, Rule]] = set()
        self.met = 0  # implicit calls met so far
        self.made: set[str] = set()  # ids of the classes that some site calls by themselves, not by a class above
        self.plain: set[tuple[str, int]] = set()  # nodes where some value runs no code of the repository
        self.unknown: set[tuple[str, int, str, Reason]] = set()  # nodes that ask a value of which nothing is known
        self.revealed: dict[tuple[str, int], ValueSet] = {}  # what a `reveal_type` was given, by its site

    def open_call(self, unit: str, at: int, detail: str) -> Outcome:
        """A fresh outcome for a call site; a later evaluation of the same site (a loop's next round) replaces it."""
        outcome = self.calls[unit, at] = Outcome(detail)
        return outcome

    def open_implicit(self, unit: str, at: int, operation: str) -> Outcome:
        """The same for an operator, protocol or attribute access."""
        outcome = self.implicit[unit, at, operation] = Outcome(operation)
        return outcome

    def has_alternative(self, unit: str, at: int, operation: str) -> bool:
        """Whether an access that runs one kind of code for one value runs another kind for another value."""
        others = [self.implicit.get((unit, at, o)) for o in _ACCESS if operation in _ACCESS and o != operation]
        return any(other is not None and other.targets for other in others)


def describe_callee(expr: ir.Expr, links: int = _DESCRIBED) -> str:
    """A callee as people read it: `obj.save`, `handlers[…]`; of a long chain its end, `….where().order_by`."""
    if isinstance(expr, ir.Name):
        return expr.id
    if links:
        if isinstance(expr, ir.Attribute):
            return f"{describe_callee(expr.value, links - 1)}.{expr.attr}"
        if isinstance(expr, ir.Call):
            return f"{describe_callee(expr.func, links - 1)}()"
        if isinstance(expr, ir.Subscript):
            return f"{describe_callee(expr.value, links - 1)}[…]"
    return "…"
