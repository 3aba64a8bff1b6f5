"""What an observed edge is, seen from what is written where it was observed.

In: an edge with the kind its backend concluded. Out: its final kind, and the call expression that makes the call, if
one does: applying a decorator, leaving a `with` and running a comprehension are call instructions too.

    settle_site(observed, caller, 24, callee, edge, True)    # Site("decorator", "explicit", None) for `@register`
"""

from __future__ import annotations

import ast
from types import CodeType
from typing import NamedTuple

from .bytecode import HAS_COLUMNS, Position, is_call, is_later_call, opcode_name, position
from .observed import Edge, Observed
from .starts import FUNCTION
from .syntax import Syntax, called_name, has_star

COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
CALL_KINDS = ("explicit", "constructor", "instance_call")
_AT_CALLS = (*CALL_KINDS, "via_wrapper", "via_c", "gen_resume", "gen_first_resume")
_INDIRECT = ("via_external", "via_generated")
_WITH = {"__enter__": "with_enter", "__aenter__": "with_enter", "__exit__": "with_exit", "__aexit__": "with_exit"}
_STAR_HOOKS = (
    "__iter__", "__next__", "__len__", "__length_hint__", "__getitem__", "__getattr__", "__getattribute__", "keys",
)  # fmt: skip


class Site(NamedTuple):
    """An edge as it is written: `call` None where no call expression makes the call."""

    kind: str
    sub: str
    call: ast.Call | None


def written_call(observed: Observed, code: CodeType, offset: int) -> ast.Call | None:
    """The call expression an instruction evaluates. None for the application of a decorator, which has the position of
    the decorator, be that a call itself or not, and for the calls that a `with` makes at its item."""
    syntax, where = observed.syntax_of(code), position(code, offset)
    if syntax.is_decorator(where) and is_later_call(code, offset):
        return None
    if syntax.is_with_item(where) and HAS_COLUMNS and is_later_call(code, offset):
        return None
    return syntax.find_call(where, "")


def settle_site(
    observed: Observed, caller: CodeType, offset: int, callee: CodeType, edge: Edge, is_exact: bool
) -> Site | None:
    """The edge as written; None for a class body or a module, which nobody calls."""
    if edge.kind == "class_body" or callee.co_name == "<module>":
        return None
    syntax, where, name = observed.syntax_of(caller), position(caller, offset), callee.co_name
    at_call = is_call(opcode_name(caller, offset))
    site = Site(edge.kind, edge.sub, syntax.find_call(where, name) if at_call else None)
    if at_call and site.kind in _AT_CALLS:
        site = _settle_call(site, syntax, caller, offset, callee)
    if site.kind == "gen_resume":
        site = _settle_resumption(site, syntax, where, name, is_exact)
    elif site.kind == "gen_first_resume":
        site = _settle_first_resumption(site, syntax, where, name)
    if site.kind in _INDIRECT or (site.call is not None and called_name(site.call) == name):
        return site
    if name == "__del__":
        return Site("finalizer", "", None)
    if (site.kind, site.sub) == ("explicit", "star") and name in _STAR_HOOKS:
        return Site("dunder", "star_unpack", None)
    return site


def _settle_call(site: Site, syntax: Syntax, caller: CodeType, offset: int, callee: CodeType) -> Site:
    where, name, node = position(caller, offset), callee.co_name, site.call
    if syntax.is_decorator(where) and (node is None or is_later_call(caller, offset)):
        return Site("decorator", f"{site.kind}:{site.sub}".removesuffix(":alias").strip(":"), None)
    is_with_call = name in _WITH and (node is None or called_name(node) != name)
    if is_with_call and (syntax.is_with_item(where) or (node is None and site.kind == "explicit")):
        return Site("dunder", _WITH[name], None)
    if name in COMPREHENSIONS:
        return site._replace(kind="comprehension")
    if node is None and site.kind == "explicit":
        if name == "<lambda>" or not callee.co_flags & FUNCTION:
            return site._replace(kind="comprehension")
        return Site("other_implicit", opcode_name(caller, offset), None)
    if site.kind == "explicit" and not site.sub and opcode_name(caller, offset) == "CALL_FUNCTION_EX":
        return site._replace(sub="star")
    return site


def _settle_resumption(site: Site, syntax: Syntax, where: Position, name: str, is_exact: bool) -> Site:
    """A generator first run here, made elsewhere; but `f(*a)` on a generator function has no call event in 3.12."""
    if name in COMPREHENSIONS:
        return site._replace(kind="comprehension")
    starred = [call for call in syntax.find_calls_by_name(where, name) if has_star(call)] if is_exact else []
    return Site("explicit", "star_gen", starred[0]) if len(starred) == 1 else site


def _settle_first_resumption(site: Site, syntax: Syntax, where: Position, name: str) -> Site:
    """Who made the generator is not known: a call of that name on the line it is first resumed from."""
    if name in COMPREHENSIONS:
        return site._replace(kind="comprehension")
    written = syntax.find_calls_by_name(where, name)
    return Site("explicit", "gen_first_resume", written[0]) if written else site
