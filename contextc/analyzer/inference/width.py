"""Wide sites (stratum 4): one receiver's hierarchy gives a call more methods than a client of it will ever run.

In: a site's outcome and the body it stands in. Out: the callees that are only possible there. With eight formats below
`Format`, `fmt.read()` in another module than theirs admits eight methods, of which a run meets one or two; inside the
hierarchy and in the module that declares it, such a call is there to serve all of them, and does.
"""

from __future__ import annotations

from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.recorder import Outcome
from contextc.model.edge import Certainty, Rule

MAX_OVERRIDES = 6  # methods that a site outside of the hierarchy keeps; measured in docs/decisions/0006-wide-sites.md
_BY_RECEIVER = frozenset({Rule.RECEIVER_DECLARED, Rule.RECEIVER_SELF, Rule.RECEIVER_EXACT})
_MAX_MIXED = {Rule.OPERATOR: 1, Rule.ITERATION: 1, Rule.PROPERTY_GET: 2}  # docs/decisions/0013-mixed-values.md


def find_wide(kernel: Kernel, unit: Definition, outcome: Outcome) -> frozenset[str]:
    """The methods that a site admits only because of how many classes are below its receiver's, or have the attributes
    used on it; none for a narrow site, and none where the code belongs to the receiver's classes."""
    if len(outcome.targets) <= MAX_OVERRIDES:
        return frozenset()
    guessed = frozenset(t.callee for t in outcome.targets if t.rule is Rule.RECEIVER_INFERRED)
    guessed = guessed if len(guessed) > MAX_OVERRIDES else frozenset()
    owners: dict[str, str] = {}
    for target in outcome.targets:
        if target.rule in _BY_RECEIVER and outcome.certainty(target) is not Certainty.POSSIBLE:
            owner = kernel.definition(target.callee).enclosing_class()
            if owner is not None:
                owners[target.callee] = owner.id
    if len(owners) <= MAX_OVERRIDES or _belongs(kernel, unit, sorted(set(owners.values()))):
        return guessed
    return guessed.union(owners)


def find_mixed(kernel: Kernel, outcome: Outcome) -> frozenset[str]:
    """The methods that an operator, a loop or an attribute access admits because values of several classes were mixed
    on their way here; none where few enough are left that one of them is more likely run than not."""
    by_name: dict[tuple[Rule, str], set[str]] = {}
    for target in outcome.targets:
        if target.rule in _MAX_MIXED and outcome.certainty(target) is not Certainty.POSSIBLE:
            by_name.setdefault((target.rule, kernel.definition(target.callee).name), set()).add(target.callee)
        elif target.rule is Rule.CONVERSION and outcome.others:
            by_name.setdefault((target.rule, ""), set()).add(target.callee)
    return frozenset(
        c for (rule, _), callees in by_name.items() if len(callees) > _MAX_MIXED.get(rule, 0) for c in callees
    )


def _belongs(kernel: Kernel, unit: Definition, owners: list[str]) -> bool:
    """Whether a body is part of a hierarchy: in one of its classes, or in the module of a class that all share."""
    classes = kernel.classes
    lines = [{c for c in classes.mro(o) if classes.in_repository(c)} for o in owners]
    shared = set.intersection(*lines) or set.union(*lines)
    if any(kernel.definition(c).module is unit.module for c in shared):
        return True
    at: Definition | None = unit
    while at is not None:
        own = at.enclosing_class()
        if own is not None and (own.id in set.union(*lines) or not shared.isdisjoint(classes.mro(own.id))):
            return True
        at = at.parent
    return False
