"""Near misses for a name that was not found.

In: the wrong name and the right ones, in two groups. Out: up to three, the likeliest first.
`suggest("app/view.py", ["app/views.py", "app/models.py"], [])` gives `("app/views.py",)`.

A repository has tens of thousands of definitions, too many for `difflib` one by one; so the last part of the name, of
which there are far fewer, is compared first, and whole names only where that part is near.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from contextc.model.escape import escape_unprintable

_SHOWN = 3
_RANKED = 2_000  # whole names compared at most
_LONGEST = 200  # characters of the wrong name looked at and shown
_CUTOFF = 0.6
_BETWEEN = re.compile(r"::|/|:|\.(?!pyi?\b)")
_LAST = re.compile(r"[^./:#]+(?:\.pyi?)?(?::[0-9]+)?$")


def printable(text: str) -> str:
    """Text from the user or the repository made safe for one line of a terminal: control characters escaped, cut if
    very long."""
    return escape_unprintable(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _last_part(name: str) -> str:
    match = _LAST.search(name)
    return match.group() if match else name


def _tail_like(wrong: str, name: str) -> str | None:
    """The end of a name that has as many parts as the wrong one, written as that is: of `app/models.py::User.save`
    `User::save` for `Usr::save`. None where it has fewer."""
    between = _BETWEEN.findall(wrong)
    parts = _BETWEEN.split(name)[-len(between) - 1 :]
    if len(parts) <= len(between):
        return None
    return "".join(part + sign for part, sign in zip(parts, [*between, ""], strict=True))


def suggest(wrong: str, *groups: Iterable[str]) -> tuple[str, ...]:
    """Up to three known names near the wrong one, each group's before the next group's when equally near."""
    wrong = wrong[:_LONGEST]
    known = list(dict.fromkeys(name for group in groups for name in sorted(group)))
    by_last: dict[str, list[str]] = {}
    for name in known:
        by_last.setdefault(_last_part(name), []).append(name)
    last = _last_part(wrong)
    near_last = difflib.get_close_matches(last, by_last, n=20, cutoff=_CUTOFF)
    candidates = [name for part in near_last for name in by_last[part]][:_RANKED]
    matcher = difflib.SequenceMatcher(b=wrong)
    scored: list[tuple[float, str]] = []
    for name in candidates:
        matcher.set_seq1(name)
        same_last = 0.5 if _last_part(name) == last else 0.0
        score = matcher.ratio()
        if (tail := _tail_like(wrong, name)) is not None:
            matcher.set_seq1(tail)
            score = max(score, 0.99 * matcher.ratio())
        scored.append((score + same_last, name))
    best = sorted(scored, key=lambda item: -item[0])
    return tuple(printable(name) for score, name in best[:_SHOWN] if score >= _CUTOFF)
