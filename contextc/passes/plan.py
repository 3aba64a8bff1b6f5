"""Pass 2: how much of each candidate is shown. In: candidates by hop. Out: an `Item` with a form and why; omissions.

`Candidate("app:User.save", 1, edge)` becomes `Item(…, Form.INTERFACE, …, "hop 1")`; where the whole method takes no
more tokens than that, `Form.FULL` with "no longer than its interface".

In order: the profile's form for the hop; of what is unlikely to be real no more than a signature, of what is most
unlikely nothing; names only for modules and for test code; of the targets of one site, of callers and of test code,
the likeliest up to the profile's bounds, the others left out; full where that costs nothing. That is a `Draft`: the
steps by which forms grow, by worth per token. A `Plan` takes the first so many of them; then what lies inside something
shown in full is full, and overloads of a shown function come with it. How likely a candidate is was measured by rule
and certainty, and multiplied along its chain (`evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.model.edge import Certainty, Edge, EdgeKind
from contextc.model.facts import SymbolKind
from contextc.model.plan import Candidate, Direction, Form, Item, Omission
from contextc.model.symbol import Symbol
from contextc.passes.document import PLACE
from contextc.passes.evidence import SURE
from contextc.passes.forms import Source, full_text
from contextc.passes.profile import Profile
from contextc.passes.skeleton import own_text
from contextc.passes.slice import source_order
from contextc.passes.tokens import Tokenizer
from contextc.passes.worth import Terms, multiply, rate, share_of

_FUNCTIONS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD})
_DEFINITIONS = _FUNCTIONS | {SymbolKind.CLASS}
_STATEMENTS = frozenset({SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE, SymbolKind.LAMBDA})
PAST_BUDGET = "past the budget"


class Plan(NamedTuple):
    """`items` and `omitted` by (hop, path, source order). `lowered`: those of the items that have a lesser form than
    the profile gives them, because of the budget."""

    items: tuple[Item, ...]
    omitted: tuple[Omission, ...]
    lowered: tuple[str, ...] = ()


class Step(NamedTuple):
    """One more form of one symbol. `rate`: worth per token, the larger the earlier; `tokens`: what the form costs."""

    item: Item
    rate: int
    tokens: int


class Draft(NamedTuple):
    """What is always there, and by which steps the rest grows, the best first. `whole` is the cost of each symbol's
    last form."""

    fixed: tuple[Item, ...]
    steps: tuple[Step, ...]
    omitted: tuple[Omission, ...]
    whole: Mapping[str, int]


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
        self._lines: Mapping[str, tuple[int, ...]] = {}
        self._callers: set[str] = set()
        self._of_tests: set[str] = set()
        self._by_name: set[str] = set()
        self._around: set[str] = set()  # what a seed is defined in

    def plan(self, candidates: Sequence[Candidate]) -> Plan:
        """A form for each candidate up to the last hop; those past it are omitted."""
        return self.take(self.draft(candidates))

    # ---------------------------------------------------------------------------------------------------- draft

    def draft(self, candidates: Sequence[Candidate], lines: Mapping[str, tuple[int, ...]] | None = None) -> Draft:
        """The steps for these candidates. `lines`: by caller, where it calls; by symbol that may be trimmed, where it
        uses other candidates."""
        self._lines = lines or {}
        self._callers = {c.symbol for c in candidates if c.direction is Direction.USED_BY}
        fixed: list[Item] = []
        steps: list[Step] = []
        omitted: list[Omission] = []
        whole: dict[str, int] = {}
        self._around = set(self._iterate_around(c.symbol for c in candidates if c.hop == 0))
        refused = self._refuse(candidates)
        for candidate in candidates:
            why = refused.get(candidate.symbol)
            if why is not None:
                omitted.append(Omission(candidate.symbol, candidate.hop, why))
            elif candidate.hop == 0:
                fixed.append(self._seed_item(candidate))
            else:
                ladder = self._climb(candidate)
                steps += ladder
                whole[candidate.symbol] = ladder[-1].tokens
        place = {candidate.symbol: number for number, candidate in enumerate(candidates)}
        steps.sort(key=lambda s: (-s.rate, place[s.item.symbol]))  # of one symbol the rates fall, so its order stays
        return Draft(tuple(fixed), tuple(steps), tuple(omitted), whole)

    def _seed_item(self, candidate: Candidate) -> Item:
        """A seed as the profile has it; where lines are given for it, no more than those and what they depend on."""
        lines = self._lines.get(candidate.symbol, ())
        if lines:
            return Item(candidate.symbol, 0, Form.TRIMMED, None, "leads to the target", Direction.USES, lines)
        return Item(candidate.symbol, 0, self._profile.form_at(0), None, "target")

    def _iterate_around(self, seeds: Iterable[str]) -> Iterator[str]:
        for seed in seeds:
            parent = self._graph.symbol(seed).parent
            while parent is not None:
                yield parent
                parent = self._graph.symbol(parent).parent

    def _refuse(self, candidates: Sequence[Candidate]) -> dict[str, str]:
        """What is not shown at all, and why."""
        profile = self._profile
        from_tests = any(c.hop == 0 and self._graph.symbol(c.symbol).is_test for c in candidates)
        reached = [c for c in candidates if not self._is_past(c)]
        uses = _of(reached, Direction.USES)
        doubles = [] if from_tests else [c for c in uses if self._is_double(c)]
        bounded = [
            (doubles, profile.tests, "test code"),
            (_of(reached, Direction.TESTS), profile.tests, "one of many tests"),
            (_of(reached, Direction.OVERRIDDEN), profile.most_overrides, "one of many overrides"),
        ]
        for hop in range(1, len(profile.callers) + 1):
            callers = [c for c in _of(reached, Direction.USED_BY) if c.hop == hop]
            bounded.append((callers, profile.most_callers, "one of many callers"))
            shown = {c.symbol for c in take_likeliest(callers, profile.calling_lines)}
            self._by_name.update(c.symbol for c in callers if c.symbol not in shown)
        refused: dict[str, str] = {}
        for group, most, why in bounded:
            shown = {c.symbol for c in take_likeliest(group, most)}
            refused.update((c.symbol, why) for c in group if c.symbol not in shown)
        self._of_tests = of_tests = {c.symbol for c in doubles}
        for candidate in candidates:
            if self._is_past(candidate):
                refused[candidate.symbol] = f"hop {candidate.hop}, past the last hop shown"
            elif candidate.hop and candidate.chance < profile.least_chance:
                rare = f"real in less than one of {SURE // profile.least_chance} such cases"
                refused.setdefault(candidate.symbol, rare)
        for surplus in self._find_surplus(c for c in uses if c.symbol not in of_tests):
            assert surplus.via is not None
            refused[surplus.symbol] = f"one of many targets at {surplus.via.path}:{surplus.via.line}"
        return refused

    def _is_past(self, candidate: Candidate) -> bool:
        return candidate.direction is Direction.USES and candidate.hop > self._max_hops

    def _is_double(self, candidate: Candidate) -> bool:
        """Whether it is test code that came in as one of several values (a fake given by a test, an override in one),
        or through other test code. What the target itself certainly uses is no double."""
        edge = candidate.via
        if edge is None or not self._graph.symbol(candidate.symbol).is_test:
            return False
        return (
            is_alternative(edge) or edge.certainty is not Certainty.CERTAIN or self._graph.symbol(edge.caller).is_test
        )

    def _find_surplus(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """What one site brings past as many of its targets, of one kind, as the profile allows."""
        at_site: dict[tuple[object, ...], list[Candidate]] = {}
        for candidate in candidates:
            edge = candidate.via
            if edge is not None and is_alternative(edge):
                key = (edge.caller, edge.path, edge.line, edge.site, edge.kind)
                at_site.setdefault(key, []).append(candidate)
        most = self._profile.alternatives
        shown = {c.symbol for targets in at_site.values() for c in take_likeliest(targets, most)}
        return [c for targets in at_site.values() for c in targets if c.symbol not in shown]

    def _climb(self, candidate: Candidate) -> list[Step]:
        """The forms of one candidate as steps, each at a lower rate than the one before: a form that would come at a
        higher one takes the place of those before it."""
        symbol = self._graph.symbol(candidate.symbol)
        terms = rate(candidate, symbol)
        worth = multiply(terms)
        steps: list[Step] = []
        for form, why in self._ladder(candidate, symbol):
            tokens = self._count(symbol, form, candidate.symbol)
            gained = worth * share_of(form, candidate.direction)
            rated = gained // (tokens + PLACE)
            while steps:
                before = steps[-1]
                gain = gained - worth * share_of(before.item.form, candidate.direction)
                rated = max(0, gain // max(1, tokens - before.tokens))
                if rated <= before.rate:
                    break
                steps.pop()
                rated = gained // (tokens + PLACE)
            steps.append(Step(self._item(candidate, form, why, terms), rated, tokens))
        return steps

    def _item(self, candidate: Candidate, form: Form, why: str, terms: Terms) -> Item:
        lines = self._lines.get(candidate.symbol, ())
        return Item(candidate.symbol, candidate.hop, form, candidate.via, why, candidate.direction, lines, terms)

    def _ladder(self, candidate: Candidate, symbol: Symbol) -> list[tuple[Form, str]]:
        """The forms a candidate can have, from the least to that of the profile."""
        last, why = self._form_of(candidate, symbol)
        if last is Form.NAME or symbol.kind in _STATEMENTS:
            return [(last, why)]
        is_caller = candidate.direction is Direction.USED_BY
        below = [Form.NAME] if is_caller else [Form.SIGNATURE, Form.INTERFACE]
        if last is Form.TRIMMED and not is_caller:
            below = [Form.SIGNATURE]
        tokens = self._count(symbol, last, candidate.symbol)
        forms = []
        for form in below:
            if form is last:
                break
            if self._count(symbol, form, candidate.symbol) < tokens:
                forms.append((form, f"{why}; as {form} within the budget"))
        return [*forms, (last, why)]

    def _form_of(self, candidate: Candidate, symbol: Symbol) -> tuple[Form, str]:
        """The last form of a candidate, and why."""
        profile, hop, is_used = self._profile, candidate.hop, candidate.direction is Direction.USES
        if candidate.direction is Direction.TESTS:
            return Form.NAME, "a test that reaches the target"
        if symbol.kind is SymbolKind.MODULE:
            return Form.NAME, "a module used as such" if is_used else "code that runs it"
        if candidate.direction is Direction.USED_BY:
            form, why = profile.caller_form_at(hop), "calls the target" if hop == 1 else f"calls it over {hop} calls"
            if candidate.symbol in self._by_name:
                form = Form.NAME
            elif candidate.symbol in self._around and form is not Form.NAME:
                form, why = Form.SIGNATURE, "around the target, and calls it"
            elif not self._lines.get(candidate.symbol) and form is not Form.NAME:
                form, why = Form.SIGNATURE, "runs in front of the target"
        elif is_used and candidate.via is not None and candidate.via.kind is EdgeKind.OVERRIDES:
            form, why = Form.SIGNATURE, "overrides what is called at or beside an unresolved site"
        elif candidate.direction is Direction.OVERRIDDEN and candidate.via is not None and profile.overrides:
            is_below = candidate.via.caller == candidate.symbol
            form, why = profile.overrides, "overrides the target" if is_below else "what the target overrides"
        elif candidate.symbol in self._of_tests:
            return Form.NAME, "test code"
        else:
            form, why = profile.form_at(hop), f"hop {hop}"
        if form is Form.INTERFACE and candidate.chance < profile.interface_chance:
            form, why = Form.SIGNATURE, f"{why}, real in one of {SURE // candidate.chance} such cases"
        may_be_full = form in (Form.INTERFACE, Form.SIGNATURE, Form.TRIMMED) and symbol.kind in _FUNCTIONS
        if may_be_full and self._count(symbol, Form.FULL, "") <= self._count(symbol, form, candidate.symbol):
            return Form.FULL, f"{why}; no longer than its {form}"
        return form, why

    def _count(self, symbol: Symbol, form: Form, caller: str) -> int:
        lines = self._lines.get(caller, ())
        is_dependent = caller not in self._callers
        source = self._sources[symbol.path]
        return self._tokenizer.count(own_text(symbol, form, source, self._profile, lines, is_dependent))

    # ----------------------------------------------------------------------------------------------------- plan

    def take(self, draft: Draft, count: int | None = None) -> Plan:
        """The first `count` steps (None: all). More steps never show less of a symbol."""
        items = {item.symbol: item for item in draft.fixed}
        for step in draft.steps[:count]:
            items[step.item.symbol] = step.item
        late = {}
        for step in draft.steps[count:] if count is not None else ():
            late[step.item.symbol] = step.item
        self._settle_what_is_inside(items)
        self._show_whole_classes(items)
        self._settle_what_is_inside(items)
        lowered = tuple(n for n, i in late.items() if n in items and items[n].form not in (i.form, Form.FULL))
        for name, item in late.items():
            if name not in items and (holder := find_holder(self._graph, items, name, self._profile)) is not None:
                items[name] = item._replace(why=f"inside {holder.symbol}")
        self._add_overloads(items)
        self._keep_what_is_inside(items)
        omitted = [o for o in draft.omitted if find_holder(self._graph, items, o.symbol, self._profile) is None]
        omitted += [Omission(n, i.hop, PAST_BUDGET, draft.whole[n]) for n, i in late.items() if n not in items]
        return Plan(tuple(sorted(items.values(), key=self._order)), tuple(omitted), lowered)

    def _order(self, item: Item) -> tuple[object, ...]:
        return (item.hop, *source_order(self._graph.symbol(item.symbol)))

    def _settle_what_is_inside(self, items: dict[str, Item]) -> None:
        """A candidate inside a definition shown in full is shown in full."""
        for name, item in items.items():
            if item.form is Form.FULL:
                continue
            holder = _find_whole_around(self._graph, items, name)
            if holder is not None:
                items[name] = item._replace(form=Form.FULL, why=f"inside {holder.symbol}")

    def _show_whole_classes(self, items: dict[str, Item]) -> None:
        """A class is shown in full where that costs no more than its own form and the members shown."""
        for name, item in items.items():
            symbol = self._graph.symbol(name)
            if symbol.kind is not SymbolKind.CLASS or item.form not in (Form.INTERFACE, Form.SIGNATURE):
                continue
            inside = [s for s in self._graph.descendants(name) if s.id in items and s.kind in _DEFINITIONS]
            cost = self._count(symbol, item.form, "") + sum(self._count(s, items[s.id].form, s.id) for s in inside)
            if self._tokenizer.count(full_text(symbol, self._sources[symbol.path])) <= cost:
                why = f"{item.why}; no longer than its {item.form}"
                items[name] = item._replace(form=Form.FULL, why=why)

    def _keep_what_is_inside(self, items: dict[str, Item]) -> None:
        """Of what is shown inside a trimmed body its first line is kept, of what is shown in full each."""
        for name, item in items.items():
            if item.form is not Form.TRIMMED:
                continue
            lines = set(item.lines)
            for inner in self._graph.descendants(name):
                held = items.get(inner.id)
                if held is not None and held.form is not Form.NAME and inner.kind in _DEFINITIONS:
                    lines.update(range(inner.line, inner.end_line + 1) if held.form is Form.FULL else [inner.line])
            items[name] = item._replace(lines=tuple(sorted(lines)))

    def _add_overloads(self, items: dict[str, Item]) -> None:
        """The overloads of a function shown with its signature are shown with theirs."""
        for item in list(items.values()):
            symbol = self._graph.symbol(item.symbol)
            if symbol.kind not in _FUNCTIONS or item.form is Form.NAME or symbol.parent is None:
                continue
            for sibling in self._graph.children(symbol.parent):
                is_overload = sibling.is_overload and sibling.qualname == symbol.qualname
                if is_overload and sibling.id not in items:
                    why = f"an overload of {symbol.id}"
                    items[sibling.id] = Item(sibling.id, item.hop, Form.SIGNATURE, item.via, why, item.direction)


def _of(candidates: Sequence[Candidate], direction: Direction) -> list[Candidate]:
    return [c for c in candidates if c.direction is direction]


def find_holder(graph: CallGraph, items: Mapping[str, Item], name: str, profile: Profile) -> Item | None:
    """The item whose text shows a symbol that is none itself: something around it in full, or, of an attribute, its
    class as an interface, which declares as many attributes as the profile says."""
    symbol = graph.symbol(name)
    cls = items.get(symbol.parent or "")
    if symbol.kind is SymbolKind.ATTRIBUTE and cls is not None and cls.form is Form.INTERFACE:
        others = [s.id for s in graph.children(cls.symbol) if s.kind is SymbolKind.ATTRIBUTE and s.id not in items]
        return cls if name in others[: profile.attributes] else None
    return _find_whole_around(graph, items, name)


def _find_whole_around(graph: CallGraph, items: Mapping[str, Item], name: str) -> Item | None:
    """The innermost item around a symbol that is shown in full."""
    parent = graph.symbol(name).parent
    while parent is not None:
        holder = items.get(parent)
        if holder is not None and holder.form is Form.FULL:
            return holder
        parent = graph.symbol(parent).parent
    return None


def take_likeliest(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """At most so many of them: the likeliest, and of equals the first."""
    return sorted(candidates, key=lambda c: -c.chance)[:most]


def is_alternative(edge: Edge) -> bool:
    """Whether an edge is one of several that a site may take: an override, or an enumerated target."""
    return edge.kind is EdgeKind.DISPATCH or edge.certainty is Certainty.POSSIBLE
