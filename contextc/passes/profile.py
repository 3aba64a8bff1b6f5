"""The profile: what is followed from a target, how much of a symbol is shown at which hop, and the bounds of what is
listed. Data, no code paths.

`PROFILES["edit"].form_at(1)` is `Form.INTERFACE`. `read_profile({"forms": ["full", "signature"]}, "my.toml")` is the
edit profile with those forms. Which profile is the default was measured (docs/profiles.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from contextc.errors import ConfigurationError
from contextc.model.edge import CALL_KINDS, Certainty, EdgeKind
from contextc.model.plan import Form

FOLLOWED = CALL_KINDS | {
    EdgeKind.INHERITS, EdgeKind.USES_TYPE, EdgeKind.READS_GLOBAL, EdgeKind.READS_ATTRIBUTE, EdgeKind.REGISTRATION,
    EdgeKind.IMPORTS, EdgeKind.OVERRIDES,
}  # fmt: skip


class Profile(NamedTuple):
    """`forms[h]` is the form at hop h of what the target uses, `callers[h - 1]` that of what uses the target; a hop
    past the end has the last one. Chances are millionths."""

    name: str = "edit"
    forms: tuple[Form, ...] = (Form.FULL, Form.INTERFACE, Form.SIGNATURE, Form.NAME)
    max_hops: int = 2
    followed: frozenset[EdgeKind] = FOLLOWED
    exceptions: bool = True  # what the target raises
    certainty: tuple[Certainty, ...] = (Certainty.POSSIBLE,)  # the least that an edge needs, by hop from 1
    callers: tuple[Form, ...] = (Form.TRIMMED,)  # empty: none
    calling_lines: int = 6  # callers of each hop with the lines of their calls, the likeliest; the others by name
    most_callers: int = 20  # of each hop, the likeliest
    overrides: Form | None = Form.SIGNATURE  # what overrides the target; None: not shown
    most_overrides: int = 12
    reaching_tests: bool = True  # tests that reach the target, by name
    tests: int = 10  # symbols of test files shown, by name, for a target that is no test
    docstring_lines: int = 5  # a longer docstring of an interface ends after its first paragraph; 0: none is shown
    value_chars: int = 200  # a longer right-hand side of a variable is elided
    attributes: int = 40  # declared attributes shown in a class's interface
    alternatives: int = 24  # targets of one site shown when it has many (overrides, enumerated names)
    namesakes: int = 1  # an unresolved call brings in the methods of its name, if they are no more; 0: never
    interface_chance: int = 125_000  # what is less likely to be real has its signature shown at most
    least_chance: int = 3_000  # what is less likely to be real is left out

    def form_at(self, hop: int) -> Form:
        """The form a symbol of that hop gets unless something else decides."""
        return self.forms[min(hop, len(self.forms) - 1)]

    def caller_form_at(self, hop: int) -> Form:
        """The form of what uses the target over so many calls."""
        return self.callers[min(hop, len(self.callers)) - 1]

    def certainty_at(self, hop: int) -> Certainty:
        """The least certainty that an edge to that hop needs."""
        return self.certainty[min(hop, len(self.certainty)) - 1]


PROFILES: Mapping[str, Profile] = {
    "edit": Profile(),
    "explore": Profile(
        "explore", (Form.FULL, Form.SIGNATURE, Form.SIGNATURE, Form.NAME), max_hops=3, callers=(Form.NAME, Form.NAME),
        namesakes=6,
    ),
    "review": Profile("review", callers=(Form.TRIMMED, Form.NAME), overrides=Form.INTERFACE, tests=20),
    "fix": Profile("fix", (Form.FULL, Form.FULL, Form.INTERFACE, Form.SIGNATURE), callers=(Form.TRIMMED, Form.NAME)),
}
DEFAULT_PROFILE = PROFILES["edit"]

# What each switch stands for, beside what `switch_profile` does with it
SWITCHES: Mapping[str, frozenset[EdgeKind]] = {
    "callees": CALL_KINDS,
    "callers": frozenset(),
    "overrides": frozenset({EdgeKind.OVERRIDES}),
    "types": frozenset({EdgeKind.USES_TYPE, EdgeKind.INHERITS}),
    "attributes": frozenset({EdgeKind.READS_ATTRIBUTE}),
    "globals": frozenset({EdgeKind.READS_GLOBAL}),
    "exceptions": frozenset(),
    "tests": frozenset(),
}


def read_profile(table: Mapping[str, Any], where: str) -> Profile:
    """A profile from the keys of a table: those of `Profile`, over the profile that `base` names, or else "edit".
    Raises ConfigurationError, which says `where`."""
    values = dict(table)
    base = values.pop("base", DEFAULT_PROFILE.name)
    if not isinstance(base, str) or base not in PROFILES:
        raise ConfigurationError(f"{where}: no profile {base!r} for `base`: one of {', '.join(PROFILES)}")
    read: dict[str, Any] = {}
    for key, value in values.items():
        if key not in _READERS:
            raise ConfigurationError(f"{where}: a profile has no key '{key}': one of base, {', '.join(_READERS)}")
        try:
            read[key] = _READERS[key](value)
        except (ValueError, TypeError) as fault:
            raise ConfigurationError(f"{where}: {key}: {fault}") from fault
    return PROFILES[base]._replace(**{"name": where, **read})


def choose_profile(given: str | Mapping[str, Any] | None, where: str) -> Profile:
    """A profile by name, or from a table. Raises ConfigurationError."""
    if isinstance(given, Mapping):
        return read_profile(given, where)
    if given is not None and given not in PROFILES:
        raise ConfigurationError(f"{where}: no profile '{given}': one of {', '.join(PROFILES)}")
    return PROFILES[given or DEFAULT_PROFILE.name]


def switch_profile(profile: Profile, switches: Mapping[str, bool]) -> Profile:
    """The profile with some directions on or off, by the names of SWITCHES."""
    for name, is_on in switches.items():
        kinds = SWITCHES[name]
        followed = profile.followed | kinds if is_on else profile.followed - kinds
        profile = profile._replace(followed=followed)
        if name == "callers":
            profile = profile._replace(callers=(profile.callers or (Form.TRIMMED,)) if is_on else ())
        elif name == "overrides":
            profile = profile._replace(overrides=(profile.overrides or Form.SIGNATURE) if is_on else None)
        elif name == "tests":
            profile = profile._replace(reaching_tests=is_on)
        elif name == "exceptions":
            profile = profile._replace(exceptions=is_on)
    return profile


def _forms(value: object) -> tuple[Form, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("give a list of forms by hop")
    return tuple(_form(word) for word in value)


def _forms_or_none(value: object) -> tuple[Form, ...]:
    return () if value == [] else _forms(value)


def _form(word: object) -> Form:
    names = [form.value for form in Form]
    if word not in names:
        raise ValueError(f"no form {word!r}: one of {', '.join(names)}")
    return Form(word)


def _form_or_none(word: object) -> Form | None:
    return None if word == "none" else _form(word)


def _kinds(value: object) -> frozenset[EdgeKind]:
    names = [kind.value for kind in EdgeKind]
    if not isinstance(value, list) or not all(word in names for word in value):
        raise ValueError(f"give a list of edge kinds: {', '.join(names)}")
    return frozenset(EdgeKind(word) for word in value)


def _certainties(value: object) -> tuple[Certainty, ...]:
    names = [certainty.value for certainty in Certainty]
    if not isinstance(value, list) or not value or not all(word in names for word in value):
        raise ValueError(f"give a list of certainties by hop: {', '.join(names)}")
    return tuple(Certainty(word) for word in value)


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 10**9:
        raise ValueError("give a number from 0 on")
    return value


def _chance(value: object) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise ValueError("give a chance from 0 to 1")
    return round(value * 1_000_000)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("give true or false")
    return value


_READERS: Mapping[str, Callable[[object], Any]] = {
    "forms": _forms, "max_hops": _count, "followed": _kinds, "exceptions": _flag, "certainty": _certainties,
    "callers": _forms_or_none, "calling_lines": _count, "most_callers": _count, "overrides": _form_or_none,
    "most_overrides": _count, "reaching_tests": _flag, "tests": _count, "docstring_lines": _count,
    "value_chars": _count, "attributes": _count, "alternatives": _count, "namesakes": _count,
    "interface_chance": _chance, "least_chance": _chance,
}  # fmt: skip
