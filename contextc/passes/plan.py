"""Pass 2: how much of each candidate is shown. In: candidates by hop. Out: an `Item` with a form and why; omissions.

`Candidate("app:User.save", 1, edge)` becomes `Item(…, Form.INTERFACE, …, "hop 1")`; where the whole method takes no
more tokens than that, `Form.FULL` with "no longer than its interface".

In order: the profile's form for the hop; of what is unlikely to be real no more than a signature, of what is most
unlikely nothing; names only for modules and for test code; of the targets of one site, and of test code, the likeliest
up to the profile's bounds, the others left out; what lies inside something shown in full is full; full where that
costs nothing; overloads of a shown function come with it. How likely a candidate is was measured by rule and
certainty, and multiplied along its chain (`evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Certainty, Edge, EdgeKind
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate, Form, Item, Omission
from contextc.model.symbol import Symbol
from contextc.passes.evidence import SURE
from contextc.passes.forms import Source, full_text
from contextc.passes.profile import Profile
from contextc.passes.skeleton import own_text
from contextc.passes.tokens import Tokenizer

_FUNCTIONS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_DEFINITIONS = _FUNCTIONS | {SymbolKind.CLASS}


class Plan(NamedTuple):
    """Both by (hop, path, source order)."""

    items: tuple[Item, ...]
    omitted: tuple[Omission, ...]


class Planner:
    """Decides forms for one slice. `sources` has the text of every file a candidate lies in."""

    def __init__(
        self, graph: CallGraph, sources: Mapping[str, Source], profile: Profile, tokenizer: Tokenizer, max_hops: int
    ) -> None:
        self._graph = graph
        self._sources = sources
        self._profile = profile
        self._tokenizer = tokenizer
        self._max_hops = max_hops
        self._items: dict[str, Item] = {}
        self._omitted: list[Omission] = []

    def plan(self, candidates: Sequence[Candidate]) -> Plan:
        """A form for each candidate up to the last hop; those past it are omitted."""
        from_tests = any(c.hop == 0 and self._graph.symbol(c.symbol).is_test for c in candidates)
        reached = [c for c in candidates if c.hop <= self._max_hops]
        doubles = [] if from_tests else [c for c in reached if self._is_double(c)]
        named = {c.symbol for c in take_likeliest(doubles, self._profile.tests)}
        of_tests = {c.symbol for c in doubles}
        surplus = self._find_surplus(c for c in reached if c.symbol not in of_tests)
        for candidate in candidates:
            if candidate.hop > self._max_hops:
                self._omit(candidate, f"hop {candidate.hop}, past the last hop shown")
            elif candidate.symbol in named:
                self._take(candidate, Form.NAME, "test code")
            elif candidate.symbol in of_tests:
                self._omit(candidate, "test code")
            elif candidate.symbol in surplus:
                assert candidate.via is not None
                self._omit(candidate, f"one of many targets at {candidate.via.path}:{candidate.via.line}")
            elif candidate.hop and candidate.chance < self._profile.least_chance:
                self._omit(candidate, f"real in less than one of {SURE // self._profile.least_chance} such cases")
            else:
                self._take(candidate, *self._form_of(candidate, self._graph.symbol(candidate.symbol)))
        self._settle_what_is_inside()
        self._show_whole_classes()
        self._settle_what_is_inside()
        self._add_overloads()
        return Plan(tuple(sorted(self._items.values(), key=self._order)), tuple(self._omitted))

    def _order(self, item: Item) -> tuple[object, ...]:
        symbol = self._graph.symbol(item.symbol)
        return (item.hop, symbol.path, symbol.span.start, symbol.parent is not None, symbol.id)

    def _take(self, candidate: Candidate, form: Form, why: str) -> None:
        self._items[candidate.symbol] = Item(candidate.symbol, candidate.hop, form, candidate.via, why)

    def _omit(self, candidate: Candidate, why: str) -> None:
        self._omitted.append(Omission(candidate.symbol, candidate.hop, why))

    def _is_double(self, candidate: Candidate) -> bool:
        """Whether it is test code that came in as one of several values (a fake given by a test, an override in one),
        or through other test code. What the target itself certainly uses is no double."""
        edge = candidate.via
        if edge is None or not self._graph.symbol(candidate.symbol).is_test:
            return False
        return (
            is_alternative(edge) or edge.certainty is not Certainty.CERTAIN or self._graph.symbol(edge.caller).is_test
        )

    def _find_surplus(self, candidates: Iterable[Candidate]) -> set[str]:
        """What one site brings past as many of its targets, of one kind, as the profile allows."""
        at_site: dict[tuple[object, ...], list[Candidate]] = {}
        for candidate in candidates:
            edge = candidate.via
            if edge is not None and is_alternative(edge):
                key = (edge.caller, edge.path, edge.line, edge.site, edge.kind)
                at_site.setdefault(key, []).append(candidate)
        most = self._profile.alternatives
        shown = {c.symbol for targets in at_site.values() for c in take_likeliest(targets, most)}
        return {c.symbol for targets in at_site.values() for c in targets} - shown

    def _form_of(self, candidate: Candidate, symbol: Symbol) -> tuple[Form, str]:
        form = self._profile.form_at(candidate.hop)
        if candidate.hop == 0:
            return form, "target"
        if symbol.kind is SymbolKind.MODULE:
            return Form.NAME, "a module used as such"
        why = f"hop {candidate.hop}"
        if form is Form.INTERFACE and candidate.chance < self._profile.interface_chance:
            form, why = Form.SIGNATURE, f"{why}, real in one of {SURE // candidate.chance} such cases"
        may_be_full = form in (Form.INTERFACE, Form.SIGNATURE) and symbol.kind in _FUNCTIONS
        if may_be_full and self._count(symbol, Form.FULL) <= self._count(symbol, form):
            return Form.FULL, f"{why}; no longer than its {form}"
        return form, why

    def _count(self, symbol: Symbol, form: Form) -> int:
        return self._tokenizer.count(own_text(symbol, form, self._sources[symbol.path], self._profile))

    def _settle_what_is_inside(self) -> None:
        """A candidate inside a definition shown in full is shown in full."""
        for name, item in self._items.items():
            if item.form is Form.FULL:
                continue
            parent = self._graph.symbol(name).parent
            while parent is not None:
                holder = self._items.get(parent)
                if holder is not None and holder.form is Form.FULL:
                    self._items[name] = item._replace(form=Form.FULL, why=f"inside {parent}")
                    break
                parent = self._graph.symbol(parent).parent

    def _show_whole_classes(self) -> None:
        """A class is shown in full where that costs no more than its own form and the members shown."""
        for name, item in self._items.items():
            symbol = self._graph.symbol(name)
            if symbol.kind is not SymbolKind.CLASS or item.form not in (Form.INTERFACE, Form.SIGNATURE):
                continue
            inside = [s for s in self._graph.descendants(name) if s.id in self._items and s.kind in _DEFINITIONS]
            cost = self._count(symbol, item.form) + sum(self._count(s, self._items[s.id].form) for s in inside)
            if self._tokenizer.count(full_text(symbol, self._sources[symbol.path])) <= cost:
                why = f"{item.why}; no longer than its {item.form}"
                self._items[name] = item._replace(form=Form.FULL, why=why)

    def _add_overloads(self) -> None:
        """The overloads of a function shown with its signature are shown with theirs."""
        for item in list(self._items.values()):
            symbol = self._graph.symbol(item.symbol)
            if symbol.kind not in _FUNCTIONS or item.form is Form.NAME or symbol.parent is None:
                continue
            for sibling in self._graph.children(symbol.parent):
                is_overload = sibling.is_overload and sibling.qualname == symbol.qualname
                if is_overload and sibling.id not in self._items:
                    why = f"an overload of {symbol.id}"
                    self._items[sibling.id] = Item(sibling.id, item.hop, Form.SIGNATURE, item.via, why)


def take_likeliest(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """At most so many of them: the likeliest, and of equals the first."""
    return sorted(candidates, key=lambda c: -c.chance)[:most]


def is_alternative(edge: Edge) -> bool:
    """Whether an edge is one of several that a site may take: an override, or an enumerated target."""
    return edge.kind is EdgeKind.DISPATCH or edge.certainty is Certainty.POSSIBLE
