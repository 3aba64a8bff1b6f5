"""Tracebacks and pytest output as text to exceptions with their frames.

    Traceback (most recent call last):
      File "app.py", line 7, in main
        load("x")
      File "app.py", line 3, in load
        raise ValueError("no key")
    ValueError: no key

gives one `Failure`: `ValueError: no key`, frames (app.py, 7, main) and (app.py, 3, load), the innermost last. Read are:
plain and chained tracebacks, groups of exceptions with their gutter, a SyntaxError's own place, pytest's long, short,
native and line styles, a notebook's (IPython 8 and later: `File app.py:7, in main()`, `Cell In[2], line 1`), any number
of them, with colours, log prefixes, indentation. Places are told by the shape of a line alone, wherever it begins, so
that prefixes of any kind are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

_COLOURS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_FRAME = re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>[0-9]{1,9})(?:, in (?P<name>.+?))?\s*$')
_NOTEBOOK_FRAME = re.compile(
    r"(?:^|\s)(?:File (?P<path>\S[^\"\n]*?\.pyi?):|(?P<cell>Cell In ?\[[0-9]{1,9}\]), line )(?P<line>[0-9]{1,9})"
    r"(?:, in (?P<name>[^(]+)(?:\(.*)?)?\s*$"
)
_ARROW = re.compile(r"(?:^|\s)-+> ?(?P<line>[0-9]{1,9}) (?P<text>.*?)\s*$")
_HEADER = re.compile(r"Traceback \(most recent call last\):\s*$")
_REPEATED = re.compile(r"\[Previous line repeated (?P<times>[0-9]+) more times?\]")
_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"
_MEMBER = re.compile(r"\+(?:-\+)?-{3,} (?P<number>[0-9]+) -{3,}\s*$")
_GROUP_END = re.compile(r"\+-{20,}\s*$")
_TYPE = r"(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*"
_EXCEPTION = re.compile(rf"(?P<text>(?P<type>{_TYPE})(?:: .*|:)?)\s*$")
_NAMED_LIKE_ONE = re.compile(r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:: .*|:)?\s*$")
_PATH = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:\"'|<>][^:\"'|<>]*?\.pyi?)"
_WHAT = rf"(?: in (?P<name>\S.*?)| ?(?P<text>{_TYPE}(?:: .*)?)?)"
_PLACE = re.compile(rf"(?:^|[\s|]){_PATH}:(?P<line>[0-9]{{1,9}}):{_WHAT}\s*$")
_PYTEST_ERROR = re.compile(r"(?:^|\s)E {2,}(?P<text>\S.*?)\s*$")
_PYTEST_FAILING = re.compile(r"(?:^|[\s|])> {2,}(?P<text>\S.*?)\s*$")
_PYTEST_HEAD = re.compile(r"(?:^|\s)(?:_{3,}|={3,}) (?P<title>.+?) (?:_{3,}|={3,})\s*$")
_PYTEST_SUMMARY = re.compile(r"(?:^|\s)(?:FAILED|ERROR) (?P<node>\S+?\.py(?:::.+?)?)(?: - (?P<text>.+?))?\s*$")
_LONGEST = 2_000  # characters of a line looked at
_LONGEST_MESSAGE = 500


class Frame(NamedTuple):
    """A place in a traceback. `name`: the function's own, empty where the text has none. `text`: the line of source as
    it was, empty where the text has none. `repeated`: how often more it came in a row."""

    path: str
    line: int
    name: str
    text: str = ""
    repeated: int = 0


class Failure(NamedTuple):
    """An exception. `message`: its type and text, one line. `link`: "", or how it came from the one before: "cause"
    or "context". `member`: "" or its number in a group, "2.1" for the first of the second's."""

    message: str
    frames: tuple[Frame, ...]  # the innermost last
    link: str = ""
    member: str = ""


class FailureText(NamedTuple):
    """What a text says. `failed`: pytest's node ids of its summary, with the message, for output without frames."""

    failures: tuple[Failure, ...]
    failed: tuple[tuple[str, str], ...]


def read_failures(text: str) -> FailureText:
    """The exceptions in the order of the text, and what the summary lists. Nothing found: both are empty."""
    reader = _Reader()
    failed: dict[str, str] = {}
    lines = _COLOURS.sub("", text.replace("\r\n", "\n")).replace("\r", "\n").expandtabs(8).split("\n")
    for line in lines:
        line = line[:_LONGEST].rstrip()
        match = _PYTEST_SUMMARY.search(line)
        if match:
            failed.setdefault(match["node"], (match["text"] or "")[:_LONGEST_MESSAGE])
        else:
            reader.read(line)
    reader.close()
    return FailureText(tuple(_distinct(reader.found)), tuple(failed.items()))


def _distinct(failures: Iterable[Failure]) -> Iterator[Failure]:
    """Without the exceptions that neither say nor show anything, each once."""
    for failure in dict.fromkeys(failures):
        if failure.frames or failure.member:
            yield failure


def _own_name(name: str) -> str:
    """Of a qualified name, as doctest and notebooks write it, the function's own."""
    return name.rpartition(".")[2]


@dataclass
class _Reader:
    """Line by line. `frames` and what follows belong to the exception being read."""

    found: list[Failure] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    message: str = ""
    link: str = ""
    style: str = ""  # "python", "pytest", "" before the first frame
    base: int = 0  # the column at which a Python traceback's last line begins
    is_flat: bool = False  # the text has lost its indentation
    is_numbered: bool = False  # a notebook's frame: lines of source have their numbers, an arrow points at its own
    skipped: int = 0  # lines since the last frame
    failing: str = ""  # pytest's line of source behind `>`
    members: list[tuple[int, int]] = field(default_factory=list)  # of the groups around: column, number
    is_fresh_member: bool = False
    is_warnings: bool = False

    def read(self, line: str) -> None:
        """Takes the next line."""
        readers = (
            self._frame, self._notebook_line, self._joint, self._place, self._pytest_line, self._member,
            self._last_line,
        )  # fmt: skip
        if any(take(line) for take in readers):
            return
        if line.strip():
            self.skipped += 1
            self._source(line)

    def close(self) -> None:
        """The exception being read is complete."""
        if self.frames or (self.message and self.is_fresh_member):
            member = ".".join(str(number) for _, number in self.members)
            message = self.message[:_LONGEST_MESSAGE]
            self.found.append(Failure(message, tuple(self.frames), self.link, member))
            self.link = ""
        self.frames, self.message, self.style, self.failing, self.skipped = [], "", "", "", 0
        self.is_fresh_member = False

    # ---------------------------------------------------------------------------------------------- Python's own

    def _frame(self, line: str) -> bool:
        match = _FRAME.search(line)
        if match is None:
            return False
        if self.style == "pytest" and not line.lstrip().startswith("E "):  # where a SyntaxError is goes on below `E`
            self.close()
        self.style, self.base, self.skipped = "python", max(0, match.start() - 2), 0
        self.is_flat, self.is_numbered = match.start() < 2, False
        self.frames.append(Frame(match["path"], int(match["line"]), _own_name(match["name"] or "")))
        return True

    def _notebook_line(self, line: str) -> bool:
        """A frame as notebooks show it, and the line of source that its arrow points at."""
        match = _NOTEBOOK_FRAME.search(line)
        if match is not None:
            if self.style == "pytest":
                self.close()
            place = match["path"] or match["cell"]
            self.style, self.base, self.is_flat, self.is_numbered = "python", 0, False, True
            self.frames.append(Frame(place, int(match["line"]), _own_name((match["name"] or "").strip())))
            return True
        arrow = _ARROW.search(line) if self.is_numbered and self.frames else None
        if arrow is not None and int(arrow["line"]) == self.frames[-1].line:
            self.frames[-1] = self.frames[-1]._replace(text=arrow["text"].strip())
        return arrow is not None

    def _joint(self, line: str) -> bool:
        header = _HEADER.search(line)
        for text, link in ((_CAUSE, "cause"), (_CONTEXT, "context")):
            if text in line:
                self.close()
                self.link = link
                return True
        if header is not None:
            self.close()
            return True
        match = _REPEATED.search(line)
        if match is not None and self.frames:
            self.frames[-1] = self.frames[-1]._replace(repeated=int(match["times"]))
            return True
        return False

    def _source(self, line: str) -> None:
        """The line of source below a frame. What stands before the frame too is a log's prefix."""
        text = line[self.base if self.style == "python" else 0 :].strip().removeprefix("|").strip()
        is_next = bool(self.frames) and self.skipped == 1 and not self.is_numbered
        if not is_next or text.startswith(("^", "~", "E  ", "Failed example:")):
            return
        last = self.frames[-1]
        if not last.text and (last.name or self.style == "python"):
            self.frames[-1] = last._replace(text=text)

    def _last_line(self, line: str) -> bool:
        """`ValueError: no key`, where the traceback began, or of a group's member that has no traceback."""
        if self.is_fresh_member and not self.frames:
            match = _EXCEPTION.match(line.strip().removeprefix("|").strip())
            if match is not None:
                self.message = match["text"]
                self.close()
            return match is not None
        if self.style != "python" or len(line) <= self.base:
            return False
        rest = line[self.base :]
        match = _EXCEPTION.match(rest)
        is_source = self.is_flat and self.skipped == 0 and _NAMED_LIKE_ONE.match(rest) is None
        if match is None or is_source or line[: self.base][-1:].isalnum():
            return False
        self.message = match["text"]
        self.close()
        return True

    def _member(self, line: str) -> bool:
        """`+-+---------------- 1 ----------------` begins a group's member, a line of dashes ends the group."""
        match = _MEMBER.search(line)
        if match is None:
            if _GROUP_END.search(line) and self.members and "-+" not in line:
                self.close()
                column = line.index("+")
                self.members = [(at, number) for at, number in self.members if at < column]
                return True
            return False
        self.close()
        column = match.start() + (2 if match.group().startswith("+-+") else 0)
        self.members = [(at, number) for at, number in self.members if at < column]
        self.members.append((column, int(match["number"])))
        self.is_fresh_member = True
        self.link = ""
        return True

    # -------------------------------------------------------------------------------------------------- pytest's

    def _place(self, line: str) -> bool:
        """`app.py:3: in load`, `app.py:3: ValueError`, `app.py:3: ` and `app.py:3: ValueError: no key`."""
        match = _PLACE.search(line) if ".py" in line and not self.is_warnings else None
        if match is None:
            return False
        name, text = match["name"] or "", match["text"] or ""
        is_said = ":" in text
        if is_said and (_NAMED_LIKE_ONE.match(text) is None or "Warning" in text.partition(":")[0]):
            return False  # another tool's message of the same shape
        if self.style == "python" or (self.message and name):
            self.close()
        self.style, self.skipped = "pytest", 0
        self.frames.append(Frame(match["path"].strip(), int(match["line"]), name, self.failing))
        self.failing = ""
        if text:
            self._finish_pytest(text)
        return True

    def _finish_pytest(self, text: str) -> None:
        """The last place of an exception says its type; what `E` said before is its message."""
        kind = text.partition(":")[0]
        if not self.message:
            self.message = text
        elif not self.message.startswith((kind, *(f"{kind}{end}" for end in (":", " ")))):
            plain = self.message.partition(":")[0].rpartition(".")[2]
            self.message = self.message if plain == kind else f"{kind}: {self.message}"
        self.close()

    def _pytest_line(self, line: str) -> bool:
        match = _PYTEST_HEAD.search(line)
        if match is not None:
            self.close()
            self.link, self.members = "", []
            self.is_warnings = match["title"].startswith("warnings summary")
            return True
        if self.style == "python":
            return False
        match = _PYTEST_ERROR.search(line)
        if match is not None:
            self.message = self.message or match["text"]
            return True
        match = _PYTEST_FAILING.search(line)
        if match is not None:
            self.failing = match["text"]
            return True
        return False
