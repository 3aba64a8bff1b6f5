"""Wide sites (stratum 4): one receiver's hierarchy gives a call more methods than a client of it will ever run.

In: a site's outcome and the body it stands in. Out: the callees that are only possible there. With eight formats below
`Format`, `fmt.read()` in another module than theirs admits eight methods, of which a run meets one or two; inside the
hierarchy and in the module that declares it, such a call is there to serve all of them, and does.
"""

from __future__ import annotations

from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome
from contextc.model import ir
from contextc.model.edge import Certainty, Rule
from contextc.model.traverse import iter_nodes

MAX_OVERRIDES = 6  # methods that a site outside of the hierarchy keeps; measured in docs/decisions/0006-wide-sites.md
_BY_RECEIVER = frozenset({Rule.RECEIVER_DECLARED, Rule.RECEIVER_SELF, Rule.RECEIVER_EXACT})
_MOSTLY_PLAIN = frozenset({Rule.CONVERSION, Rule.ITERATION})
_CONTAINERS = frozenset(
    [f"~builtins:{name}" for name in ("list", "dict", "set", "frozenset", "tuple", "str")]
    + [f"~collections:{name}" for name in ("UserList", "UserDict", "UserString", "OrderedDict", "deque", "defaultdict")]
)
# measured in docs/decisions/0013-mixed-values.md
_MAX_MIXED = {Rule.OPERATOR: 1, Rule.ITERATION: 1, Rule.PROPERTY_GET: 2, Rule.DESCRIPTOR: 1}


class Width:
    """Which sites of a program admit more methods than they run. `annotated`: the classes that annotations name."""

    def __init__(self, kernel: Kernel, annotated: frozenset[str]) -> None:
        self._kernel = kernel
        self._annotated = annotated
        self._on_others: dict[str, frozenset[int]] = {}

    def find_wide(self, unit: Definition, at: int, outcome: Outcome) -> frozenset[str]:
        """The methods that a site admits only because of how many classes are below its receiver's, or have the
        attributes used on it. None for a narrow site. Where the code belongs to the receiver's classes, a call on
        `self` keeps all; so does one on another object where an annotation says that any of them may come, else that
        one keeps those of objects that were seen."""
        if len(outcome.targets) <= MAX_OVERRIDES:
            return frozenset()
        guessed = frozenset(t.callee for t in outcome.targets if t.rule is Rule.RECEIVER_INFERRED)
        guessed = guessed if len(guessed) > MAX_OVERRIDES else frozenset()
        owners: dict[str, str] = {}
        for target in outcome.targets:
            if target.rule in _BY_RECEIVER and outcome.certainty(target) is not Certainty.POSSIBLE:
                owner = self._kernel.definition(target.callee).enclosing_class()
                if owner is not None:
                    owners[target.callee] = owner.id
        if len(owners) <= MAX_OVERRIDES:
            return guessed
        lines = [self._own_line(owner) for owner in sorted(set(owners.values()))]
        shared = set.intersection(*lines) or set.union(*lines)
        if not self._belongs(unit, lines, shared):
            return guessed.union(owners)
        if not shared.isdisjoint(self._annotated) or at not in self._calls_on_others(unit):
            return guessed
        unseen = owners.keys() - {t.callee for t in outcome.targets if not t.by_class}
        return guessed | unseen if len(unseen) > MAX_OVERRIDES else guessed

    def _own_line(self, cls: str) -> set[str]:
        """A class and the repository's classes above it."""
        classes = self._kernel.classes
        return {c for c in classes.mro(cls) if classes.in_repository(c)}

    def _belongs(self, unit: Definition, lines: list[set[str]], shared: set[str]) -> bool:
        """Whether a body is part of a hierarchy: in one of its classes, or in the module of a class that all share."""
        classes = self._kernel.classes
        if any(self._kernel.definition(c).module is unit.module for c in shared):
            return True
        everything = set.union(*lines)
        at: Definition | None = unit
        while at is not None:
            own = at.enclosing_class()
            if own is not None and (own.id in everything or not shared.isdisjoint(classes.mro(own.id))):
                return True
            at = at.parent
        return False

    def _calls_on_others(self, unit: Definition) -> frozenset[int]:
        """The ordinals of a body's method calls on anything but the object whose method it is in."""
        known = self._on_others.get(unit.id)
        if known is None:
            method = unit.enclosing_method()
            parameters = method.facts.parameters if method is not None else ()
            own = parameters[0].name if parameters else ""
            known = self._on_others[unit.id] = frozenset(
                node.at
                for node in iter_nodes(*unit.facts.body)
                if isinstance(node, ir.Call)
                and isinstance(node.func, ir.Attribute)
                and not (isinstance(node.func.value, ir.Name) and node.func.value.id == own)
            )
        return known


def find_mixed(kernel: Kernel, outcome: Outcome) -> frozenset[str]:
    """The methods that an operator, a loop or an attribute access admits because values of several classes were mixed
    on their way here; none where few enough are left that one of them is more likely run than not."""
    by_name: dict[tuple[Rule, str], set[str]] = {}
    beside: set[str] = set()  # of values that run no code of the repository
    for target in outcome.targets:
        if target.rule in _MAX_MIXED and outcome.certainty(target) is not Certainty.POSSIBLE:
            by_name.setdefault((target.rule, kernel.definition(target.callee).name), set()).add(target.callee)
        if outcome.others and (
            target.rule in _MOSTLY_PLAIN or (target.rule is Rule.OPERATOR and _is_container(kernel, target.callee))
        ):
            beside.add(target.callee)
    mixed = (c for (rule, _), callees in by_name.items() if len(callees) > _MAX_MIXED[rule] for c in callees)
    return frozenset(beside).union(mixed)


def _is_container(kernel: Kernel, method: str) -> bool:
    """Whether a method belongs to a class below a container of the library."""
    owner = kernel.definition(method).enclosing_class()
    return owner is not None and not _CONTAINERS.isdisjoint(kernel.classes.mro(owner.id))
