"""The profile: how much of a symbol is shown at which hop, and the bounds of what is listed. Data, no code paths.

`DEFAULT_PROFILE.form_at(1)` is `Form.INTERFACE`.
"""

from __future__ import annotations

from typing import NamedTuple

from contextc.model.plan import Form


class Profile(NamedTuple):
    """`forms[h]` is the form at hop h; a hop past the end has the last one."""

    forms: tuple[Form, ...] = (Form.FULL, Form.INTERFACE, Form.SIGNATURE, Form.NAME)
    max_hops: int = 2
    docstring_lines: int = 15  # a longer docstring of an interface is cut after its first paragraph
    value_chars: int = 200  # a longer right-hand side of a variable is elided
    attributes: int = 40  # declared attributes shown in a class's interface
    alternatives: int = 12  # targets of one site shown when it has many (overrides, enumerated names)
    interface_chance: int = 125_000  # millionths; what is less likely to be real has its signature shown at most
    least_chance: int = 10_000  # millionths; what is less likely to be real is left out
    tests: int = 10  # symbols of test files shown, by name, for a target that is no test

    def form_at(self, hop: int) -> Form:
        """The form a symbol of that hop gets unless something else decides."""
        return self.forms[min(hop, len(self.forms) - 1)]


DEFAULT_PROFILE = Profile()
