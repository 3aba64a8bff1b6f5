"""What external names stand for, as far as an oracle says: which calls on them surely stay in their library.

In: names of `External` values, such as `requests.get().json`, and an oracle that knows `requests.get` and
`requests.models.Response.json`. Out: whether what is called there is a known function or class. Without an oracle
nothing is known of a value that a library gave.

An external value never becomes one of the repository's: answers only tell a known library method from an unknown
value, in the resolution pass. So they enter after the fixed point, and no order can depend on them. Since a site that
is called known is no longer flagged, only what a library declares counts. What an oracle reads from a body may have
missed a value (`symbol_by_name(path)` can give anything), and so may what a value is that is called itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from contextc.model.value import MAX_EXTERNAL

_NEVER_KNOWN = frozenset({"__call__", "__call__()", "__iter__()"})  # `x.__iter__()` stands for an element of x
_STEPS = 8  # of one round: each asks for what the answers before led to, and a name has fewer parts


class Answer(Protocol):
    """What an oracle says of a dotted name. Classes are full dotted names."""

    @property
    def kind(self) -> str:
        """One of module, class, function, instance."""

    @property
    def full_name(self) -> str: ...

    @property
    def returns(self) -> str | None:
        """Of which class a call gives an instance; None where that isn't known."""

    @property
    def instance_of(self) -> str | None: ...

    @property
    def declared(self) -> bool:
        """Whether a stub or an annotation says `returns` and `instance_of`."""


class Oracle(Protocol):
    """Knows libraries."""

    def can_know(self, package: str) -> bool:
        """False if it knows nothing of a top-level package or module: it is not asked then."""

    def answer(self, names: Sequence[str]) -> Mapping[str, Answer | None]:
        """What each dotted name is; None for what it doesn't know."""


class ExternalNames:
    """The answers of one analysis."""

    def __init__(self) -> None:
        self._answers: dict[str, Answer | None] = {}

    def learn(self, names: Iterable[str], oracle: Oracle) -> None:
        """Asks for all that it takes to say what is called by these names, in sorted batches."""
        callees = {name for name in names if "()." in name and not name.endswith("()")}
        packages = {name: name.split(".")[0].removesuffix("()") for name in callees}
        known = {package for package in sorted(set(packages.values())) if oracle.can_know(package)}
        open_names = sorted(name for name in callees if packages[name] in known)
        for _ in range(_STEPS):
            wanted = {missing for name in open_names if (missing := self._follow(name)[1]) is not None}
            if not wanted:
                return
            answers = oracle.answer(sorted(wanted))
            self._answers.update({name: answers.get(name) for name in wanted})

    def is_known_callee(self, name: str) -> bool:
        """Whether calling the external value `name` surely runs a function or class of its library."""
        return self._follow(name)[0] is not None

    def _follow(self, name: str) -> tuple[Answer | None, str | None]:
        """What the function or class `name` is, and the dotted name that has to be asked for before that is known."""
        parts = name.split(".")
        if len(parts) >= MAX_EXTERNAL or not _NEVER_KNOWN.isdisjoint(parts) or name.endswith("()"):
            return None, None
        dotted = ""  # a name so far, or the class of which there is an instance
        on_value = False
        for number, part in enumerate(parts, 1):
            plain = part.removesuffix("()")
            dotted = f"{dotted}.{plain}" if dotted else plain
            is_last = number == len(parts)
            if not (on_value or is_last or part != plain):
                continue
            if dotted not in self._answers:
                return None, dotted
            answer = self._answers[dotted]
            if answer is None:
                return None, None
            if is_last:
                return (answer if answer.kind in ("function", "class") else None), None
            cls = _class_of(answer, part != plain)
            if cls is None and (part != plain or answer.kind == "instance"):
                return None, None
            on_value = cls is not None
            dotted = cls or answer.full_name
        return None, None


def _class_of(answer: Answer, called: bool) -> str | None:
    """The class of which the name's value, or what calling it gives, is an instance."""
    if called and answer.kind == "class":
        return answer.full_name
    if not answer.declared:
        return None
    if called:
        return answer.returns if answer.kind == "function" else None
    return answer.instance_of if answer.kind == "instance" else None
