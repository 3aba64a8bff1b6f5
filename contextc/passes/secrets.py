"""Secrets in source text, masked. In: a file's text. Out: the same number of bytes and lines, secrets as asterisks.

`mask_secrets(b'KEY = "ghp_…36 letters and digits…"').text` is `b'KEY = "ghp_************************************"'`,
its `secrets` say at which line and of which kind. Spans of the original text fit the masked one, and what parsed
parses: only the inside of strings and comments changes (where a key stands as a name, its letters become `_`).

Three ways to find one:
- known forms: rules kept by Betterleaks as data (`secret_rules.json`), tried near what their keywords are found in;
- what is a secret by its place: the body of a private key, the password of a URL;
- what looks random: a literal given to a name such as `password` or `api_key`, or a long one that mixes everything.

Rather a hash shown than a text spoilt: hexadecimal literals, tables of data, paths, words and placeholders stay, unless
a name says what they are. docs/secrets.md gives what real packages lose by it.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from contextc.model.edge import Unresolved
from contextc.model.literals import Literal, iterate_literals
from contextc.model.span import LineIndex

_RUN = re.compile(r"[A-Za-z0-9_+/=~.:$\-]{16,}")
_TELLING = re.compile(r"\d|[a-z][A-Z]|[A-Z]{16}")  # of a run that can be a key; names in snake case aren't
_PRIVATE_KEY = re.compile(r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----([\s\S]{16,9000}?)(?:-----END|\Z)")
_KEY_LINE = re.compile(r"(?<!\\)[A-Za-z0-9+/=]{8,}")
_URL = re.compile(r"\b[a-z][a-z0-9+.\-]{1,30}://([^\s/:@\"'<>{}]{0,100}):([^\s/@\"'<>{}]{3,200})@", re.IGNORECASE)
_NAMED = re.compile(
    r"(?i)([\w\-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_\-]?key|access[_\-]?key|private[_\-]?key"
    r"|auth[_\-]?key|account[_\-]?key|signing[_\-]?key|encryption[_\-]?key|credential)[\w\-]*)"
    r"[\"']?\]?\s*(?::\s*[\w.\[\]| ]{1,40})?\s*(?:=|:|,|==|!=)\s*\(?\s*$"
)
_OTHER_NAME = re.compile(
    r"(?i)(?:name|url|uri|path|file|field|id|type|class|header|prefix|suffix|length|len|size|re|regex|pattern|help|label"
    r"|text|message|msg|format|chars|alphabet|expire[sd]?|expiry|age|timeout|hash|hasher|salt|view|form|template|html"
    r"|endpoint|backend|generator|validators?|count|scope|hint|title|description)s?$"
)
_PLACEHOLDER = re.compile(
    r"(?i)[{}<>\s]|%\(|^\$|\.\.\.|x{4}|\*{3}|example|change.?me|your|placeholder|dummy|fake|^(?:test|my|some|the|a|new"
    r"|old|super|top)?[_.\-]?(?:password|passwd|pass|pwd|secret|token|key|user|username|guest|root|admin)\d{0,4}$"
)
_WORDS = re.compile(r"[A-Za-z\x80-\xff]*(?:[_.\-/ :][A-Za-z0-9\x80-\xff]*)*[A-Za-z\x80-\xff]*\d{0,2}")
_LONG = re.compile(r"(?<![A-Za-z0-9+/=_\-.])[A-Za-z0-9+/_\-]{32,128}={0,2}(?![A-Za-z0-9+/=_\-.])")
_WORD = re.compile(r"[a-z]{1,7}")  # a password of documentation and tests
_ESCAPE = re.compile(r"\\[\s\S]")
_ESCAPED_BLANK = re.compile(r"\\[nrt]")  # its letter would count to what follows
_PRIVATE = "private-key"
_KEPT = 4  # characters of a known form that stay, so that a reader sees what it was
_TABLE = 3  # random literals one after the other are data


class Secret(NamedTuple):
    """A masked place: byte offsets, its line (from 1), and what it is."""

    start: int
    end: int
    line: int
    kind: str


class Masked(NamedTuple):
    """A text of the same length, and what was masked in it, by place."""

    text: bytes
    secrets: tuple[Secret, ...]


class _Rule(NamedTuple):
    kind: str
    pattern: str
    keywords: tuple[str, ...]
    entropy: float
    group: int


def mask_secrets(text: bytes) -> Masked:
    """The text with its secrets masked; the very same object where there are none. Never fails, whatever the text."""
    found = find_secrets(text)
    if not found:
        return Masked(text, ())
    masked = bytearray(text)
    signs = text.decode("latin-1")
    literals = list(iterate_literals(signs))
    starts = [literal.opening for literal in literals]
    for secret in found:
        at = bisect_right(starts, secret.start) - 1
        literal = literals[at] if at >= 0 else None
        if secret.kind == _PRIVATE:  # perhaps of several literals side by side: their quotes stay
            _cover(masked, (line.span() for line in _KEY_LINE.finditer(signs, secret.start, secret.end)), signs)
        elif literal is not None and literal.start <= secret.start and secret.end <= literal.end:
            _cover(masked, ((max(secret.start, a), min(secret.end, b)) for a, b in literal.texts), signs)
        else:
            _rename(masked, secret.start, secret.end)
    return Masked(bytes(masked), found)


def _cover(masked: bytearray, parts: Iterable[tuple[int, int]], signs: str) -> None:
    """Asterisks, but for line ends. A backslash at the end stays: it keeps the quote after it from ending the text."""
    for start, end in parts:
        while end > start and signs[end - 1] == "\\":
            end -= 1
        for at in range(start, end):
            if masked[at] not in b"\r\n":
                masked[at] = 0x2A


def _rename(masked: bytearray, start: int, end: int) -> None:
    """A key that stands as a name remains one."""
    for at in range(start, end):
        if chr(masked[at]).isalnum() and masked[at] < 128:
            masked[at] = 0x5F


def hide_details(sites: Iterable[Unresolved], texts: Mapping[str, bytes]) -> Iterator[Unresolved]:
    """Sites of which nothing is known, what is written there without the secrets of its file."""
    known: dict[str, list[str]] = {}
    for site in sites:
        if _RUN.search(site.detail) is None and _QUOTED.search(site.detail) is None:
            yield site
            continue
        if site.path not in known:
            text = texts.get(site.path, b"")
            known[site.path] = [text[s.start : s.end].decode("utf-8", "replace") for s in find_secrets(text)]
        detail = site.detail
        for secret in known[site.path]:
            detail = detail.replace(secret, "*" * len(secret))
            cut = next((n for n in range(len(secret) - 1, 3, -1) if detail.rstrip("….").endswith(secret[:n])), 0)
            if cut:  # of a secret that didn't fit
                at = len(detail.rstrip("….")) - cut
                detail = detail[:at] + "*" * cut + detail[at + cut :]
        yield site._replace(detail=detail)


def find_secrets(text: bytes) -> tuple[Secret, ...]:
    """What is to be masked, by place; no two overlap."""
    signs = text.decode("latin-1")  # a character is a byte
    blocks = list(_blocks(signs))
    if not blocks and "://" not in signs and "-----BEGIN" not in signs and _NAMED_AT_ALL.search(signs) is None:
        return ()
    places: list[_Place] = []
    for found in (_known_forms(signs, blocks), _by_place(signs), _random(signs)):  # the surest first
        ordered = sorted(found, key=lambda p: (p[0], -p[1], p[2]))
        places = [*places, *_without_overlaps(ordered, places)]
    if not places:
        return ()
    lines = LineIndex(text)
    return tuple(Secret(start, end, lines.position(start).line, kind) for start, end, kind in sorted(places))


def _without_overlaps(places: Iterable[_Place], others: Iterable[_Place]) -> Iterator[_Place]:
    """Those that begin after the last one ended and overlap no other."""
    taken = sorted(others)
    starts = [place[0] for place in taken]
    last = 0
    for place in places:
        at = bisect_right(starts, place[1] - 1) - 1
        if last <= place[0] < place[1] and (at < 0 or taken[at][1] <= place[0]):
            last = place[1]
            yield place


_QUOTED = re.compile(r"[\"'].{8}")
_NAMED_AT_ALL = re.compile(r"(?i)passw|passphrase|pwd|secret|token|[_\-]?key|credential")
_Place = tuple[int, int, str]


# ----------------------------------------------------------------------------------------------------- known forms


@cache
def _rules() -> tuple[_Rule, ...]:
    data = json.loads(files("contextc.passes").joinpath("secret_rules.json").read_text(encoding="utf-8"))
    return tuple(_Rule(kind, pattern, tuple(words), *rest) for kind, pattern, words, *rest in data["rules"])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _blocks(signs: str) -> Iterator[tuple[int, int]]:
    """Lines with something that can be a key, each with the line above and below, adjacent ones as one."""
    pending: tuple[int, int] | None = None
    for run in _RUN.finditer(signs):
        if (pending is not None and run.end() <= pending[1]) or _TELLING.search(run.group()) is None:
            continue
        first = signs.rfind("\n", 0, signs.rfind("\n", 0, run.start()) + 1 or 0) + 1
        last = signs.find("\n", run.end())
        last = signs.find("\n", last + 1) if last >= 0 else -1
        end = last if last >= 0 else len(signs)
        start = max(0, min(first, run.start()))
        if pending is not None and start <= pending[1]:
            pending = pending[0], max(end, pending[1])
            continue
        if pending is not None:
            yield pending
        pending = start, end
    if pending is not None:
        yield pending


def _known_forms(signs: str, blocks: Iterable[tuple[int, int]]) -> Iterator[_Place]:
    for start, end in blocks:
        block = _ESCAPED_BLANK.sub("  ", signs[start:end])
        low = block.lower()
        for rule in _rules():
            if any(word in low for word in rule.keywords):
                for match in _compiled(rule.pattern).finditer(block):
                    first, last = _secret_of(match, rule.group)
                    if _entropy(block[first:last]) > rule.entropy:
                        yield (*_shorten(signs, start + first, start + last), rule.kind)


def _secret_of(match: re.Match[str], group: int) -> tuple[int, int]:
    """The group that the rule names, else the first one that took part, else all of the match."""
    if group:
        return match.span(group)
    return next((match.span(i) for i in range(1, (match.re.groups or 0) + 1) if match.group(i)), match.span())


def _shorten(signs: str, start: int, end: int) -> tuple[int, int]:
    """Without the first characters, which say what it is."""
    kept = start + _KEPT
    if end - start < 3 * _KEPT or "\\" in signs[start - 1 : kept + 1]:
        return start, end
    return kept, end


# --------------------------------------------------------------------------------------------------------- by place


def _by_place(signs: str) -> Iterator[_Place]:
    for key in _PRIVATE_KEY.finditer(signs) if "-----BEGIN" in signs else ():
        lines = [line.span() for line in _KEY_LINE.finditer(signs, key.start(1), key.end(1))]
        if lines:
            yield lines[0][0], lines[-1][1], _PRIVATE
    for url in _URL.finditer(signs) if "://" in signs else ():
        user, password = url.groups()
        is_known = password.lower() == user.lower() or _WORD.fullmatch(password) or _PLACEHOLDER.search(password)
        if not is_known and not set(password) <= {"*", "x", "."} and password[0] not in "%$":
            yield url.start(2), url.end(2), "url-password"


# ----------------------------------------------------------------------------------------------------- what is random


def _random(signs: str) -> Iterator[_Place]:
    long: list[_Place] = []
    for literal in iterate_literals(signs):
        if not literal.is_comment and 8 <= literal.end - literal.start <= 300:
            named = _is_named(signs, literal)
            if named and _looks_secret(signs[literal.start : literal.end]):
                yield literal.start, literal.end, "named-secret"
                continue
        if literal.end - literal.start >= 32:
            runs = [m for a, b in literal.texts for m in _LONG.finditer(signs, a, b) if _is_random(m.group())]
            if len(runs) <= _TABLE:
                long += [(m.start(), m.end(), "high-entropy") for m in runs]
    yield from (place for place in long if not _is_in_table(place, long))


def _is_in_table(place: _Place, others: Iterable[_Place]) -> bool:
    """Whether several of its kind stand close by: data, not a key."""
    return sum(abs(other[0] - place[0]) < 600 for other in others) > _TABLE


def _is_named(signs: str, literal: Literal) -> bool:
    """Whether it is given to, or compared with, a name that says it is secret."""
    line = signs.rfind("\n", 0, literal.opening) + 1
    before = signs[max(line, literal.opening - 120) : literal.opening]
    match = _NAMED.search(before)
    return match is not None and _OTHER_NAME.search(match.group(1)) is None


def _looks_secret(value: str) -> bool:
    """Of what a telling name is given: whether it is a value, not a word, a path, a format or a placeholder."""
    value = _ESCAPE.sub(lambda sign: " " if sign.group()[1] in "nrt" else sign.group()[1], value)
    if _PLACEHOLDER.search(value) or "://" in value or value.startswith(("/", ".", "\\")):
        return False
    classes = sum(re.search(sort, value) is not None for sort in (r"[a-z]", r"[A-Z]", r"\d", r"[!-/:-@\[-`{-~]"))
    if _WORDS.fullmatch(value):
        return len(value) >= 24 and classes >= 3 and _entropy(value) >= 4.2
    if len(value) >= 16:
        return classes >= 2 and _entropy(value) >= 3.0
    return classes >= 3 and _entropy(value) >= 2.75


def _is_random(run: str) -> bool:
    """Of a literal that nothing names: everything mixed, no words, no alphabet."""
    digits = sum(c.isdigit() for c in run)
    if digits < 3 or not re.search(r"[a-z]", run) or not re.search(r"[A-Z]", run) or _entropy(run) < 4.4:
        return False
    steps = sum(ord(b) - ord(a) == 1 for a, b in pairwise(run))
    words = sum(len(word) for word in re.findall(r"[a-z]{4,}|[A-Z]{5,}", run))
    return steps * 4 < len(run) and words * 3 < len(run)


def _entropy(text: str) -> float:
    """Shannon's, bits a character."""
    size = len(text)
    return -sum(n / size * math.log2(n / size) for n in Counter(text).values()) if size else 0.0
