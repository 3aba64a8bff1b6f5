"""The tables of a run as rows: what the recorder writes in the end.

In: `Observed`. Out: edge rows and the table of what was executed, both plain data, sorted, with paths relative to the
root. One edge row:

    {"caller": {"path": "shop/cart.py", "raw": "Cart.add", "qualname": "Cart.add", "firstlineno": 3, "defline": 3},
     "line": 4, "site": [4, 8, 4, 20], "callee": {…}, "kind": "explicit", "sub": "", "op": "CALL", "count": 7}

Kinds are those the backends concluded, corrected by what is written at the site: an applied decorator and the calls a
`with` makes are no call expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from .bytecode import HAS_COLUMNS, opcode_name, position
from .observed import RECORDED, Edge, Observed
from .settle import CALL_KINDS, COMPREHENSIONS, settle_site, written_call
from .starts import FUNCTION
from .syntax import span_of

FOLDED = (*COMPREHENSIONS, "<lambda>")  # as callers they count for the function around them
_CLASSES_KEPT, _EXTERNALS_KEPT = 40, 12  # a call site


class Code(NamedTuple):
    """A function, class body or module. `definition`: the line of its `def`, None if it has none; `raw` has
    `.<locals>.` as Python's `__qualname__` does."""

    path: str
    first: int
    raw: str
    definition: int
    scope: str

    def as_row(self, folded: tuple[str, ...]) -> dict[str, Any]:
        """As it stands in an edge row; `folded`: scopes that count for the one around them."""
        row: dict[str, Any] = {
            "path": self.path, "raw": self.raw, "qualname": fold_qualname(self.raw, folded), "firstlineno": self.first,
        }  # fmt: skip
        if self.definition:
            row["defline"] = self.definition
        if self.scope:
            row["scope"] = self.scope
        return row


def describe_code(observed: Observed, code: CodeType) -> Code:
    """What a recorded code object is."""
    raw = qualname_of(observed, code)
    syntax = observed.syntax_of(code)
    definition = syntax.find_def_line(code.co_name, raw, code.co_firstlineno) or 0
    scope = "" if code.co_flags & FUNCTION else "module" if code.co_name == "<module>" else "class"
    return Code(observed.path_of(code), code.co_firstlineno, raw, definition, scope)


def qualname_of(observed: Observed, code: CodeType) -> str:
    """Python's `__qualname__`; before 3.11 code objects don't have it, so it is read off the source."""
    given = getattr(code, "co_qualname", None)
    if isinstance(given, str):
        return given
    return observed.syntax_of(code).find_qualname(code.co_name, code.co_firstlineno) or code.co_name


def fold_qualname(raw: str, folded: tuple[str, ...]) -> str:
    """The qualified name without the scopes of comprehensions (and lambdas) at its end."""
    while True:
        head, dot, last = raw.rpartition(".")
        if last not in folded:
            return raw
        if not dot:
            return "<module>"
        raw = head.removesuffix(".<locals>")


def list_edge_rows(observed: Observed, is_exact: bool) -> list[dict[str, Any]]:
    """The edge rows. `is_exact`: the backend was told what each call instruction called."""
    counts: dict[tuple[Code, int, tuple[int, ...], Code, str, str, str], int] = {}
    described: dict[int, Code] = {}
    for caller, offset, callee, edge in _iterate_edges(observed):
        where = position(caller, offset)
        site = settle_site(observed, caller, offset, callee, edge, is_exact)
        if site is None or where[0] is None:
            continue
        for code in (caller, callee):
            if id(code) not in described:
                described[id(code)] = describe_code(observed, code)
        span = tuple(span_of(site.call)) if HAS_COLUMNS and site.call is not None else ()
        key = (
            described[id(caller)], where[0], span, described[id(callee)], site.kind, site.sub,
            opcode_name(caller, offset),
        )  # fmt: skip
        counts[key] = counts.get(key, 0) + edge.count
    return [
        {
            "caller": caller.as_row(FOLDED), "line": line, "site": list(span) or None,
            "callee": callee.as_row(COMPREHENSIONS), "kind": kind, "sub": sub, "op": opcode, "count": count,
        }
        for (caller, line, span, callee, kind, sub, opcode), count in sorted(counts.items(), key=_row_order)
    ]  # fmt: skip


def _row_order(item: tuple[tuple[Code, int, tuple[int, ...], Code, str, str, str], int]) -> tuple[Any, ...]:
    caller, line, span, callee, *rest = item[0]
    return caller.path, line, span, callee, *rest, caller


def _iterate_edges(observed: Observed) -> Iterator[tuple[CodeType, int, CodeType, Edge]]:
    """Edges between recorded code objects."""
    for (caller, offset, callee), edge in list(observed.edges.items()):
        if observed.origin.get(callee) == RECORDED and observed.origin.get(caller) == RECORDED:
            yield observed.codes[caller], offset, observed.codes[callee], edge


class _CallSite:
    """One executed call expression: how often, and what was called there that is no recorded function."""

    def __init__(self, caller: str, line: int) -> None:
        self.caller, self.line, self.count = caller, line, 0
        self.external: set[str] = set()
        self.classes: set[str] = set()


def describe_execution(observed: Observed) -> dict[str, Any]:
    """Functions executed [path, qualname, first line, count], executed lines by path, executed call expressions with
    the foreign callees (`ext`) and the classes (`cls`) seen there, faults of the recorder."""
    functions: dict[tuple[str, str, int], int] = {}
    for ident, count in list(observed.started.items()):
        code = observed.codes[ident]
        if code.co_flags & FUNCTION:
            key = (observed.path_of(code), qualname_of(observed, code), code.co_firstlineno)
            functions[key] = functions.get(key, 0) + count
    lines: dict[str, set[int]] = {}
    for ident, seen in list(observed.lines.items()):
        lines.setdefault(observed.path_of(observed.codes[ident]), set()).update(seen)
    return {
        "functions": [[*key, count] for key, count in sorted(functions.items())],
        "lines": {path: sorted(seen) for path, seen in sorted(lines.items())},
        "call_sites": _list_call_sites(observed),
        "errors": observed.faults,
        "n_errors": observed.fault_count,
    }


def _list_call_sites(observed: Observed) -> list[dict[str, Any]]:
    sites: dict[tuple[str, tuple[int, ...]], _CallSite] = {}
    for key, call in list(observed.calls.items()):
        ident, offset = key[0], key[1]
        assert isinstance(ident, int) and isinstance(offset, int)
        site = _find_call_site(observed, sites, ident, offset)
        if site is not None:
            site.count += call.count
            site.classes |= observed.classes_at.get((ident, offset), set())
            if key in observed.external:
                site.external.add(observed.external[key])
    if not any(call.edge for call in observed.calls.values()):  # calls of recorded functions are known by their edges
        for (caller, offset, _), edge in list(observed.edges.items()):
            site = _find_call_site(observed, sites, caller, offset) if edge.kind in CALL_KINDS else None
            if site is not None:
                site.count += edge.count
                site.classes |= observed.classes_at.get((caller, offset), set())
    return [
        {
            "path": path, "caller": site.caller, "line": site.line, "site": list(span), "n": site.count,
            "ext": sorted(site.external)[:_EXTERNALS_KEPT],
            "cls": sorted(_name_module(name, observed.main_module) for name in site.classes)[:_CLASSES_KEPT],
        }
        for (path, span), site in sorted(sites.items(), key=lambda item: item[0])
    ]  # fmt: skip


def _name_module(name: str, main: str) -> str:
    """`__main__:Cart` → `shop.run:Cart`."""
    module, _, rest = name.partition(":")
    return f"{main}:{rest}" if module == "__main__" else name


def _find_call_site(
    observed: Observed, sites: dict[tuple[str, tuple[int, ...]], _CallSite], ident: int, offset: int
) -> _CallSite | None:
    """The entry of the call expression an instruction evaluates; None where none does, or only its line is known."""
    code = observed.codes.get(ident)
    if code is None or observed.origin_of(code) != RECORDED or not HAS_COLUMNS:
        return None
    call = written_call(observed, code, offset)
    line = position(code, offset)[0]
    if call is None or line is None:
        return None
    key = (observed.path_of(code), tuple(span_of(call)))
    if key not in sites:
        sites[key] = _CallSite(fold_qualname(qualname_of(observed, code), FOLDED), line)
    return sites[key]
