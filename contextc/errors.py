"""Faults a user meets. Each is one line: what is wrong, where, and how to mend it; the command exits with 2."""

from __future__ import annotations


class UserError(Exception):
    """A wrong argument or configuration. `str(error)` is the line shown to the user."""


class TargetNotFound(UserError):
    """The edit target names nothing in the analysed files. The message suggests near misses."""


class ConfigurationError(UserError):
    """A value in `[tool.contextc]` or on the command line can't be used."""


class BudgetTooSmall(UserError):
    """The target alone takes more tokens than the budget has. The message names the smallest that works."""
