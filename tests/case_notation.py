"""What a case states in its comments, and whether the graph says the same.

In: the comments of one line, `x.run()  # calls: A.run, ? [widened]  # bug: should be A.run`, and the facts of the
graph there. Out: claims, their comparison, and the facts written in the same notation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from contextc.model.edge import CALL_KINDS, Certainty, Edge, EdgeKind, Reason, Unresolved

_CLAIM = re.compile(r"#\s*(?:(\^)\s*)?(calls|revealed|bug):\s*")
_ITEM = re.compile(
    r"(?P<name>\?|[^\s,?]+)(?:\s+\[(?P<reason>[a-z-]+)\])?(?:\s+via\s+(?P<kind>[A-Z]+))?(?:\s+(?P<certainty>[a-z]+))?"
)
_SHOULD = "should be "
NOTHING = "nothing"
OPEN = "?"
REGISTERS = EdgeKind.REGISTRATION.value  # no call: it may be stated and need not be


class NotationError(ValueError):
    """A comment that can't be read. The text says what and how to write it."""


class Item(NamedTuple):
    """One target, or with the name `?` and a reason the admission that there may be more. None: not stated, so anything
    goes, but that a possible target has to be called possible."""

    name: str
    reason: str | None
    kind: str | None
    certainty: str | None

    def __str__(self) -> str:
        parts = [self.name]
        parts += [f"[{self.reason}]"] * bool(self.reason)
        parts += [f"via {self.kind}"] * bool(self.kind)
        parts += [self.certainty] if self.certainty else []
        return " ".join(parts)


@dataclass(frozen=True)
class Claim:
    """What one comment states. `caret`: the column of the `^` that says which call is meant; None: all that no caret
    claims. `should`: the right answer, where the stated one is known to be wrong."""

    subject: str  # calls or revealed
    stated: str
    should: str | None = None
    caret: int | None = None

    def __str__(self) -> str:
        note = f"  # bug: {_SHOULD}{self.should}" if self.should is not None else ""
        return f"{self.subject}: {self.stated}{note}"


class Fact(NamedTuple):
    """What the graph says at a line: an edge, or (without a callee) that a site is open."""

    callee: str
    kind: str
    certainty: str
    reason: str


def fact_of(item: Edge | Unresolved) -> Fact:
    if isinstance(item, Edge):
        return Fact(item.callee, item.kind.value, item.certainty.value, "")
    return Fact("", "", "", item.reason.value)


def split_line(line: str) -> tuple[str, list[Claim]]:
    """A line of code without its claims, and the claims. Raises NotationError."""
    found = list(_CLAIM.finditer(line))
    if not found:
        return line, []
    code = line[: found[0].start()]
    claims: list[Claim] = []
    for match, following in zip(found, [*found[1:], None], strict=True):
        text = line[match.end() : following.start() if following else None].strip()
        mark, subject = match.groups()
        if subject != "bug":
            claims.append(Claim(subject, text, None, match.start(1) if mark else None))
            continue
        if not claims or claims[-1].should is not None or not text.startswith(_SHOULD):
            raise NotationError("write `# calls: … # bug: should be …`, a bug after what it corrects")
        claims[-1] = Claim(claims[-1].subject, claims[-1].stated, text.removeprefix(_SHOULD), claims[-1].caret)
    if any(claim.caret is not None for claim in claims) and (code.strip() or len(claims) > 1):
        raise NotationError("a `^` stands in a comment line of its own, one call a line")
    if not code.strip() and claims[0].caret is None:
        raise NotationError("a claim stands behind the line it speaks of, or below it with a `^`")
    return code.rstrip(), claims


def parse_items(text: str) -> list[Item]:
    """The targets that a claim names; none for `nothing`. Raises NotationError."""
    if text == NOTHING:
        return []
    items: list[Item] = []
    for part in text.split(","):
        match = _ITEM.fullmatch(part.strip())
        if match is None:
            raise NotationError(f"can't read `{part.strip()}`: write `A.run`, `A.run via SUPER likely`, `? [reason]`")
        item = Item(match["name"], match["reason"], match["kind"], match["certainty"])
        _check_words(item)
        items.append(item)
    return items


def _check_words(item: Item) -> None:
    known: list[tuple[str | None, Iterable[str]]] = [
        (item.reason, [word.value for word in Reason]),
        (item.kind, [REGISTERS, *(word.value for word in CALL_KINDS)]),
        (item.certainty, [word.value for word in Certainty]),
    ]
    for word, words in known:
        if word is not None and word not in words:
            raise NotationError(f"`{word}` is none of {', '.join(sorted(words))}")
    if (item.reason is not None) != (item.name == OPEN) or (item.name == OPEN and (item.kind or item.certainty)):
        raise NotationError(f"`{item}`: `?` has its reason in brackets, and nothing else has one")


@dataclass(frozen=True)
class Names:
    """The symbols of one case by what a claim can call them: `A.run` where one module has it, else `mod:A.run`."""

    symbols: Sequence[str]
    _by_name: Mapping[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        by_name: dict[str, list[str]] = {}
        for symbol in self.symbols:
            by_name.setdefault(symbol.partition(":")[2], []).append(symbol)
            by_name.setdefault(symbol, []).append(symbol)
        object.__setattr__(self, "_by_name", by_name)

    def find(self, name: str) -> str:
        """The symbol's id. Raises NotationError."""
        found = self._by_name.get(name, [])
        if len(found) != 1:
            problem = f"is any of {', '.join(sorted(found))}" if found else "names nothing in this case"
            raise NotationError(f"`{name}` {problem}")
        return found[0]

    def shorten(self, symbol: str) -> str:
        """What the symbol is called."""
        local = symbol.partition(":")[2]
        return local if len(self._by_name.get(local, [])) == 1 else symbol


def _fits(item: Item, fact: Fact, names: Names) -> bool:
    if item.name == OPEN:
        return not fact.callee and item.reason == fact.reason
    if not fact.callee or names.find(item.name) != fact.callee or item.kind not in (None, fact.kind):
        return False
    if fact.kind == REGISTERS and item.kind is None:
        return False
    if item.certainty is None:
        return fact.certainty != Certainty.POSSIBLE.value
    return item.certainty == fact.certainty


def agrees(stated: str, facts: Iterable[Fact], names: Names) -> bool:
    """Whether the facts are exactly what is stated; registrations may be left out. Raises NotationError."""
    items, facts = parse_items(stated), list(facts)
    for item in items:
        if item.name != OPEN:
            names.find(item.name)
    missing = [item for item in items if not any(_fits(item, fact, names) for fact in facts)]
    told = [fact for fact in facts if fact.kind != REGISTERS]
    return not missing and all(any(_fits(item, fact, names) for item in items) for fact in told)


def state(facts: Iterable[Fact], names: Names, known: str = NOTHING) -> str:
    """The facts in the notation; what the `known` statement says of them already stays as it is."""
    facts = sorted(set(facts), key=lambda fact: (not fact.callee, fact))
    kept = [item for item in parse_items(known) if _is_known(item, names)]
    kept = [item for item in kept if any(_fits(item, fact, names) for fact in facts)]
    rest = [fact for fact in facts if fact.kind != REGISTERS and not any(_fits(item, fact, names) for item in kept)]
    new: list[Item] = []
    for fact in rest:
        possible = fact.certainty if fact.certainty == Certainty.POSSIBLE.value else None
        new.append(Item(names.shorten(fact.callee) if fact.callee else OPEN, fact.reason or None, None, possible))
    written = [str(item) for item in kept] + [str(item) for item in new]
    return ", ".join(dict.fromkeys(written)) or NOTHING


def _is_known(item: Item, names: Names) -> bool:
    try:
        return item.name == OPEN or bool(names.find(item.name))
    except NotationError:
        return False


def sort_union(text: str) -> str:
    """A revealed union with its outermost parts sorted."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += (char in "[(") - (char in "])")
        if char == "|" and not depth:
            parts.append(text[start:place].strip())
            start = place + 1
    return " | ".join(sorted([*parts, text[start:].strip()]))
