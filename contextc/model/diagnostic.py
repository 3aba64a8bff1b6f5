"""What was left out or read with reserve, and why. Nothing is skipped without one of these."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class SkipReason(str, Enum):
    """Why a file or folder was not (or not fully) analysed. Those read in part are among `Analysis.files`."""

    IGNORED = "ignored"  # by a .gitignore
    EXCLUDED = "excluded"  # by --exclude or [tool.contextc]
    NOT_INCLUDED = "not-included"
    ENVIRONMENT = "environment"  # holds pyvenv.cfg or conda-meta
    DEPENDENCIES = "dependencies"  # node_modules, __pycache__, version-control folders
    TOO_LARGE = "too-large"
    TOO_DEEP = "too-deep"  # some expression is; the rest was read
    UNDECODABLE = "undecodable"  # no Python; read in part all the same where it is text
    UNREADABLE = "unreadable"
    NOT_REGULAR = "not-regular"  # a socket, pipe or device
    SYMLINK_LOOP = "symlink-loop"
    OUTSIDE_ROOT = "outside-root"  # a symlink out of the analysed root
    DUPLICATE = "duplicate"  # a second way to a file already read
    READER_FAILED = "reader-failed"  # the reader process died or ran over its limits
    PARTIAL = "partial"  # does not parse; definitions and imports were read
    IGNORE_FILE = "ignore-file"  # an unreadable .gitignore: its rules don't apply

    def __str__(self) -> str:
        return self.value


class Skip(NamedTuple):
    """`path` is POSIX, relative to the root, a folder ending in `/`. `detail` is one sentence, may be empty."""

    path: str
    reason: SkipReason
    detail: str


class Note(NamedTuple):
    """Something worth knowing about a file that was read in full: encoding by cookie, BOM, line ends."""

    path: str
    message: str


class Warning(NamedTuple):
    """A line of the report: where, and what the reader of the context should know."""

    path: str
    line: int
    message: str
