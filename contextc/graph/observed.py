"""What a recording says about a repository, in the terms a graph is judged by.

In: a `Trace`, the analysed symbols, the calls as written. Out: `Observed`: the calls a graph should have, and what was
seen at each place that ran. A recorded `explicit` call of `Store.save` from line 7 of app.py, made in a comprehension
of `main`, is `Expected("explicit", "app.py", "main", …)`, and `("app.py", "Store.save")` is among what was seen there.

The definitions are those of benchmarks/oracle (README.md there): a function is its file and its qualified name without
`<locals>`; code of a comprehension, lambda or class body counts for the function around it; a call that ran a
decorator's closure is satisfied by the function it wraps; a constructor's call also by the class that was made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contextc.graph.trace_file import Code, RanSite, RecordedCall, Trace
from contextc.graph.written_calls import WrittenCalls
from contextc.model.analysis import ModuleFile
from contextc.model.edge import Site
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol

CALLS = ("explicit", "constructor", "instance_call")  # the call expressions that headline figures are over
IMPLICIT = ("property", "dunder", "decorator", "class_creation")
KINDS = (*CALLS, *IMPLICIT, "via_c", "via_wrapper")  # what a graph is asked for, as the recorder names it
_UNNAMED = frozenset({"<lambda>", "<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"})

Function = tuple[str, str]  # path, plain name
Line = tuple[str, int]  # path, line
Place = tuple[str, Site]


def plain_name(qualname: str) -> str:
    """A qualified name without `<locals>`."""
    return qualname.replace(".<locals>", "")


class Definitions:
    """Which plain names of a file are classes."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._classes: set[Function] = set()
        self._functions: set[Function] = set()
        for symbol in symbols:
            if symbol.kind is SymbolKind.CLASS:
                self._classes.add((symbol.path, plain_name(symbol.qualname)))
            elif symbol.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD):
                self._functions.add((symbol.path, plain_name(symbol.qualname)))

    def is_class(self, function: Function) -> bool:
        """Whether some definition of that name is a class."""
        return function in self._classes

    def enclosing_function(self, path: str, qualname: str) -> str:
        """The plain name of the function whose code that is; `<module>` for code outside functions."""
        name = unfold(qualname)
        while (path, name) in self._classes and (path, name) not in self._functions:
            name = name.rpartition(".")[0] or "<module>"
        return name


def unfold(qualname: str) -> str:
    """A plain name without lambdas and comprehensions: the code's nearest named owner."""
    return ".".join(part for part in plain_name(qualname).split(".") if part not in _UNNAMED) or "<module>"


@dataclass(frozen=True)
class Expected:
    """A call that ran and that a graph should have. `accepted`: the callees that are right, `callee` among them."""

    kind: str
    path: str
    caller: str  # plain name of the function whose code it is
    call: RecordedCall
    callee: Function
    accepted: frozenset[Function]

    @property
    def lines(self) -> frozenset[int]:
        """The line it ran on, and that of the call expression's start."""
        return frozenset({self.call.line, self.call.site[0]} if self.call.site else {self.call.line})

    @property
    def extent(self) -> tuple[int, int]:
        """First and last line of the call expression."""
        site, line = self.call.site, self.call.line
        return (min(site[0], line), max(site[2], line)) if site else (line, line)

    @property
    def at(self) -> tuple[int, ...]:
        """Where it stands in the file: its span, or the line where there is none."""
        return self.call.site or (self.call.line,)


@dataclass
class Observed:
    """What ran, and what was seen there. Filled by `observe`, then only read."""

    spans: bool
    expected: tuple[Expected, ...] = ()
    ran_lines: set[Line] = field(default_factory=set)
    call_lines: set[Line] = field(default_factory=set)  # with a call that ran
    call_places: set[Place] = field(default_factory=set)
    seen_on: defaultdict[Line, set[Function]] = field(default_factory=lambda: defaultdict(set))
    seen_at: defaultdict[Place, set[Function]] = field(default_factory=lambda: defaultdict(set))
    made_on: defaultdict[Line, set[Function]] = field(default_factory=lambda: defaultdict(set))  # classes
    double_lines: set[Line] = field(default_factory=set)  # that ran a mock or a callable of the tests
    double_places: set[Place] = field(default_factory=set)


def observe(trace: Trace, files: Iterable[ModuleFile], symbols: Iterable[Symbol], written: WrittenCalls) -> Observed:
    """What the recording says of these files. Calls of unnamed functions are seen, but not expected of a graph."""
    observed = Observed(trace.spans)
    observed.ran_lines = {(path, line) for path in trace.lines for line in trace.lines[path]}
    modules = _module_paths(files)
    for site in trace.sites:
        _add_site(observed, site, modules)
    wrapped = _find_wrapped(trace, written)
    definitions = Definitions(symbols)
    expected: list[Expected] = []
    for call in trace.calls:
        behind = wrapped.get(_place(call), frozenset()) if _is_closure_call(call) else frozenset()
        _add_seen(observed, call, behind)
        if call.kind in KINDS and call.callee.raw.rpartition(".")[2] not in _UNNAMED:
            expected.append(_expect(observed, call, behind, definitions))
    observed.expected = tuple(expected)
    return observed


def _function(code: Code) -> Function:
    return (code.path, plain_name(code.raw))


def _place(call: RecordedCall) -> Place | None:
    return (call.caller.path, call.site) if call.site else None


def _call_lines(path: str, line: int, site: Site | None) -> set[Line]:
    return {(path, line), (path, site[0])} if site else {(path, line)}


def _module_paths(files: Iterable[ModuleFile]) -> dict[str, str]:
    """Paths by dotted name: that of the path itself first, then the module's under its source root."""
    by_path, by_module = {}, {}
    for file in files:
        by_path[file.path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")] = file.path
        by_module[file.module] = file.path
    return {**by_module, **by_path}


def _add_site(observed: Observed, site: RanSite, modules: Mapping[str, str]) -> None:
    if site.times == 0:
        return
    lines = _call_lines(site.path, site.line, site.site)
    observed.call_lines |= lines
    if site.site:
        observed.call_places.add((site.path, site.site))
    if any("mock" in name.lower() or "tests:/" in name for name in site.outside):
        observed.double_lines |= lines
        if site.site:
            observed.double_places.add((site.path, site.site))
    for name in site.made:
        module, _, qualname = name.partition(":")
        if module in modules:
            for line in lines:
                observed.made_on[line].add((modules[module], plain_name(qualname)))


def _add_seen(observed: Observed, call: RecordedCall, behind: frozenset[Function]) -> None:
    place = _place(call)
    lines = _call_lines(call.caller.path, call.line, call.site)
    for line in lines:
        observed.seen_on[line] |= {_function(call.callee), *behind}
    if place is not None:
        observed.seen_at[place] |= {_function(call.callee), *behind}
    if call.kind in CALLS:
        observed.call_lines |= lines


def _expect(observed: Observed, call: RecordedCall, behind: frozenset[Function], definitions: Definitions) -> Expected:
    callee, path = _function(call.callee), call.caller.path
    accepted = {callee, *behind}
    if call.kind == "constructor":
        accepted.add((callee[0], callee[1].rpartition(".")[0]))
        for line in _call_lines(path, call.line, call.site):
            accepted |= observed.made_on.get(line, set())
    caller = definitions.enclosing_function(path, call.caller.raw)
    return Expected(call.kind, path, caller, call, callee, frozenset(accepted))


# -------------------------------------------------------------------------------------------------- wrappers


def _is_closure(code: Code) -> bool:
    return "<locals>" in code.raw


def _is_closure_call(call: RecordedCall) -> bool:
    return call.kind == "explicit" and call.site is not None and _is_closure(call.callee)


def _find_wrapped(trace: Trace, written: WrittenCalls) -> dict[Place | None, frozenset[Function]]:
    """By place, the functions whose wrapper was called there: what the recorder knows from `__wrapped__`, and, for a
    closure without it, what the closure itself called that has the name written at the place."""
    wrapped: defaultdict[Place | None, set[Function]] = defaultdict(set)
    inner: defaultdict[Code, set[Function]] = defaultdict(set)
    for call in trace.calls:
        if call.kind == "via_wrapper" and call.site:
            wrapped[_place(call)].add(_function(call.callee))
        elif call.kind == "explicit" and _is_closure(call.caller):
            inner[call.caller].add(_function(call.callee))
    for call in trace.calls:
        if call.site is None or call.kind not in ("explicit", "instance_call") or not _is_closure(call.callee):
            continue
        name = written.name(call.caller.path, call.site)
        if name and name != call.callee.raw.rpartition(".")[2]:
            found = inner.get(call.callee, set())
            wrapped[_place(call)] |= {function for function in found if function[1].rpartition(".")[2] == name}
    return {place: frozenset(functions) for place, functions in wrapped.items()}
