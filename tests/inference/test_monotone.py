"""Each transfer of the language on its own: of more values it never says less.

A program is solved; the functions below are then evaluated with parameters of any values, twice: over few values and
poor cells, and over more values and the final cells. What the first evaluation binds, returns and writes must be
covered by the second, and code that the first reaches by the second too. `test_transfers` asks the same of whole
programs, over the values that their parameters can really have.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.heap import CellKey, join_values
from contextc.analyzer.inference.kernel import Frame, Kernel
from contextc.analyzer.inference.program import Definition
from contextc.analyzer.inference.statements import run_block
from contextc.model.edge import Reason
from contextc.model.value import (
    NOTHING,
    BoundMethod,
    Grip,
    Instance,
    Open,
    Partial,
    Possible,
    Text,
    Value,
    ValueSet,
    Wrapper,
)
from tests.inference.fuzzing import many
from tests.inference.programs import allow_deep_programs, build_program
from tests.inference.test_transfers import FixedCells
from tests.inference.values import make_poorer, show_key, show_values

CLASSES = """
import collections, enum, functools, typing, m
from typing import Any, Callable, Generic, Iterable, Optional, TypeVar

T = TypeVar("T")

class Base:
    kind = "base"
    def run(self): return self
    def __eq__(self, other): return other
    def __lt__(self, other): return self
    def __add__(self, other): return other
    def __radd__(self, other): return other
    def __iter__(self): return iter([self])
    def __contains__(self, item): return item

class Derived(Base):
    def __init__(self): self.own = Base()
    def run(self): return self.own
    @property
    def size(self): return self.own
    @size.setter
    def size(self, value): self.own = value
    @classmethod
    def make(cls): return cls()
    def __iadd__(self, other): return 1
    def __getitem__(self, key): return key
    def __call__(self, argument): return argument

class Loose:
    def __getattr__(self, name): return name
    def __enter__(self): return self
    def __exit__(self, *error): return self
    def visit_a(self): return 1
    def visit_b(self): return "b"

class Field:
    def __get__(self, instance, owner): return owner
    def __set__(self, instance, value): instance.given = value

class Model:
    title = Field()
    many: list[Derived] = []

class Meta(type):
    def __getitem__(cls, key): return key
    def __iter__(cls): return iter([cls])

class Made(metaclass=Meta): pass

class Colour(enum.Enum):
    RED = 1
    BLUE = 2

class Box(Generic[T]):
    def __init__(self, item: T): self.item = item
    def get(self) -> T: return self.item

class Pair:
    __match_args__ = ("left", "right")
    def __init__(self, left, right):
        self.left = left
        self.right = right

KEYED = {"factory": Derived, "other": Base, "b": 1}
BOTH = (Derived, Base)
LONG = (1, Base(), *BOTH)
def plain(a, b=1): return a
def typed(a: Base, *, k: Optional[int] = None) -> Base: return a
def generate():
    yield Base()
    return 1
def use(items: Iterable[T]) -> T: ...
plain.mark = Derived()
plain.mark.size = 3

def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **named): return 1, function(*args, **named)
    return wrapper
@wrapping
def decorated(a): return a
def choose(factory=Base): return factory()
def choose_named(*, other=Derived): return other()
def three(a, b=None, c=None, *rest, k=None, **more): return a, b, c
def keep(a):
    if isinstance(a, Base): return a
    return a if a else None
def gather(*args): return three(*args, 1)
choose(), choose(Derived), choose_named(), choose_named(**KEYED)
gather(), gather(Base()), gather(1, plain), three(*LONG)
keep(Base()), keep([Base()]), keep([1]), keep("a"), keep(plain)
m.sorted, m.free = plain, Derived()

NAMES = {"a": Base(), "b": Derived(), **{"c": plain}}
LISTS = [Base(), plain]
TUPLES = (Base(), "a", 1)
BOXES = [Box(Base()), Box("a"), Pair(Base(), 1), Loose(), Model(), Made, Made(), Colour, Colour.RED, Derived]
MORE = [generate(), {1, 2}, (x for x in LISTS), functools.partial(plain, 1), collections, Base.run, Derived.make]
TYPES = (Base, Derived)
OTHER_TYPES = [Base, Loose]
"""

TRANSFERS = """
def attribute(x, y, z): return x.run
def unknown_attribute(x, y, z): return x.own
def property_read(x, y, z): return x.size
def descriptor_read(x, y, z): return x.title
def mark(x, y, z): return x.mark
def dunder(x, y, z): return (x.__name__, x.__class__, x.__call__)
def store(x, y, z): x.own = y
def property_store(x, y, z): x.size = y; return x.size
def descriptor_store(x, y, z): x.title = y
def free_store(x, y, z): x.free = y; return x.free
def each(x, y, z): return [item for item in x]
def each_awaited(x, y, z): return [item for item in x if item]
def looped(x, y, z):
    for item in x:
        z = item
        if item is None: continue
        if item == y: break
        y = item.run
    else:
        x = y
    return x
def while_loop(x, y, z):
    while x:
        x, y, z = y, z, x.own
        if y: break
    return y
def at(x, y, z): return x[y]
def at_name(x, y, z): return x["a"]
def at_number(x, y, z): return x[0], x[-1]
def part(x, y, z): return x[y:z]
def store_at(x, y, z): x[y] = z; return x[y]
def delete(x, y, z): del x[y]; del x.size
def plus(x, y, z): return x + y
def times(x, y, z): return x * y
def remainder(x, y, z): return x % y
def union(x, y, z): return x | y
def minus(x, y, z): return -x, not y
def in_place(x, y, z): x += y; return x
def text_after(x, y, z): return "visit_" + x
def text_before(x, y, z): return x + "_done"
def text_of_two(x, y, z): return x + "_" + y
def formatted(x, y, z): return "%s-%s" % x
def field(x, y, z): return f"visit_{x}"
def fields(x, y, z): return f"visit_{x}_{y}"
def shown(x, y, z): return f"{x!r}", f"{x:>3}"
def equal(x, y, z): return x == y
def unequal(x, y, z): return x != y
def less(x, y, z): return x < y
def contained(x, y, z): return x in y
def call(x, y, z): return x(y)
def call_named(x, y, z): return x(a=y, b=z)
def call_spread(x, y, z): return x(*y, **z)
def call_after(x, y, z): return three(*x, y, z), gather(*x, y), three(y, *x, k=z)
def call_all_spread(x, y, z): return three(*x, *y, **z), plain(*x), typed(*x, **z)
def call_library_spread(x, y, z): return max(*x), dict(*x, **y), open(*x, **z), zip(*x, y), round(y, *x), pow(*x, z)
def call_chosen(x, y, z): return choose(x), choose(*y), choose(**z), choose(y, **z), choose_named(**x)
def call_decorated(x, y, z): return decorated(x)
def call_unbound(x, y, z): return Base.run(x), Derived.run(y)
def call_keeping(x, y, z): return keep(x), keep(y)
def patched(x, y, z): return sorted, free, len
def call_method(x, y, z): return x.run(), x.get(), x.make()
def call_plain(x, y, z): return plain(x), typed(x, k=y)
def boxed(x, y, z): return Box(x).get(), Pair(x, y).left
def solved(x, y, z): return use(x)
def named_attribute(x, y, z): return getattr(x, y)
def defaulted(x, y, z): return getattr(x, y, z)
def visited(x, y, z): return getattr(x, f"visit_{y}")
def set_attribute(x, y, z): setattr(x, y, z)
def is_instance(x, y, z):
    if isinstance(x, Derived): y = x
    else: z = x
    return x
def is_one_of(x, y, z):
    if isinstance(x, TYPES): return x
    y = x
def is_other(x, y, z):
    if isinstance(x, y): z = x
    else: y = x
def is_listed(x, y, z):
    if isinstance(x, (Base, z)): return x
    if not isinstance(x, (str, int)): y = x
def of_type(x, y, z):
    if type(x) is Base: return x
    if type(x) == y: z = x
def is_subclass(x, y, z):
    if issubclass(x, Base): return x
    if issubclass(x, y): z = x
def is_none(x, y, z):
    if x is None: x = y
    if y is not None and y.own: z = y.own
    return x
def true(x, y, z):
    if x and not y: z = x
    elif x or y: z = y
    return z or x, x and y
def can_call(x, y, z):
    if callable(x): return x
    y = x
def path(x, y, z):
    if isinstance(x.own, Base): y = x.own
    elif x.own is None: x.own = z
    return x.own
def outer(x, y, z):
    if LISTS and isinstance(NAMES, dict): x = NAMES
    return LISTS
def unpacked(x, y, z):
    a, b = x
    c, *d = y
    return a, b, c, d
def swapped(x, y, z):
    x, y = y, x
    (x, z), y = y
    return x, y, z
def chosen(x, y, z): return x if isinstance(x, Base) else y
def walrus(x, y, z):
    if (n := x) and (m := n.run): return m
    return n
def lists(x, y, z): return [x, *y], {x: y, **z}, {x}, (x, y)
def keyed(x, y, z):
    table = {x: y, "a": z}
    table[y] = x
    return table["a"], table[x], table.get(y), table.get("b", z), table.pop(x)
def filled(x, y, z):
    items = []
    items.append(x)
    items += y
    items.extend(z)
    return items[0], sorted(items), list(y)
def library(x, y, z):
    return len(x), max(x, y), sum(x), zip(x, y), map(x, y), filter(x, y), enumerate(x), reversed(x), iter(x), next(x)
def overloaded(x, y, z):
    return open(x, y), round(x, y), pow(x, y), "".join(x), dict(x, k=y), max(x, default=y), min(x, key=y), range(x, y)
def more_overloaded(x, y, z): return x.get(y), x.get(y, z), x.pop(y), x.split(y), x.join(y), x.setdefault(y, z)
def types(x, y, z): return type(x), super(y, x), functools.partial(x, y), property(x, y), staticmethod(x)
def declared(x, y, z):
    a: Base = x
    b: list[Base] = []
    c: Optional[Base] = None
    d: Derived = Derived()
    e: dict = y
    return a, b, c, d, e
def cast(x, y, z): return typing.cast(Base, x), x.cast(Base, y)
def entered(x, y, z):
    with x as a:
        raise y
    return a
def caught(x, y, z):
    try: a = x()
    except y as b: a = b
    except (ValueError, z) as c: a = c
    finally: x = z
    return a
def matched(x, y, z):
    match x:
        case Derived(): a = x
        case Pair(b, right=c): a = b, c
        case [d, e]: a = d, e
        case [f, *g]: a = f, g
        case {"a": h, **i}: a = h, i
        case "a" | 1: a = x
        case Colour.RED: a = x
        case None: a = x
        case str(): a = x
        case j: a = j
    return a, x
def wrapped(x, y, z):
    def inner(): return x
    return inner, lambda: y
def delegated(x, y, z):
    a = yield x
    b = yield from y
    return a, b
def spaces(x, y, z): return globals()[x], globals()[f"p{y}"], globals().get(z)
def imported(x, y, z):
    import importlib
    return importlib.import_module(x), importlib.import_module(f"m{y}"), importlib.import_module(x, y)
"""

REQUESTS = ("contexts", "shapes")  # cells that ask for evaluations; past a cap one for all is asked instead


class Solved(NamedTuple):
    """The program, what its cells hold, the transfers by name, and values to try them on."""

    kernel: Kernel
    cells: Mapping[CellKey, ValueSet]
    transfers: dict[str, Definition]
    pool: tuple[Value, ...]


@cache
def solve_transfers() -> Solved:
    solver = Solver(build_program({"m.py": CLASSES + TRANSFERS}))
    solver.solve()
    kernel = solver.kernel
    cells = dict(kernel.heap._cells)
    functions = {d.name: d for d in solver.units if d.is_function and d.parent is not None and d.parent.parent is None}
    names = [part.partition("(")[0] for part in TRANSFERS.split("\ndef ")[1:]]
    return Solved(kernel, cells, {name: functions[name] for name in names}, collect_values(kernel, cells))


def collect_values(kernel: Kernel, cells: Mapping[CellKey, ValueSet]) -> tuple[Value, ...]:
    """What names of the program hold, their instances, and values of every other kind; sorted."""
    make = kernel.make
    found: set[Value] = {make.open(Reason.UNTYPED_RECEIVER), make.external("lib.f"), make.special("Any")}
    for key, values in cells.items():
        if key[0] in ("global", "arg", "index", "key"):
            found |= {v for v in values if not getattr(v, "name", "").startswith("widened.")}
    for cls in ("Base", "Derived", "Loose", "Model", "Pair"):
        found |= {make.instance(f"m:{cls}", grip) for grip in (Grip.EXACT, Grip.DECLARED)}
        found.add(make.class_object(f"m:{cls}", Grip.DECLARED))
    found |= {make.literal("str", s) for s in ("a", "run", "own", "visit_a", ".m")} | {make.text(("visit_", None))}
    found |= {make.literal("int", n) for n in (0, 2, -1)} | {kernel.builtin(n) for n in ("str", "int", "float", "dict")}
    found |= {make.literal("bool", 0), *kernel.none}
    exact = make.instance("m:Derived")
    found.add(make.bound(exact, make.function("m:Derived.run")))
    found.add(make.possible(exact, "getattr-pattern"))
    found.add(make.super_object("m:Derived", exact))
    for args in ((make.instance("m:Base"),), (make.literal("str", "a"), exact)):
        found.add(make.instance("~builtins:list", Grip.DECLARED, (frozenset(args),)))
        found.add(make.instance("m:Box", Grip.EXACT, (frozenset(args),)))
    parts = (frozenset[Value]({exact}), frozenset[Value]({make.literal("int", 1)}))
    found.add(make.instance("~builtins:tuple", Grip.DECLARED, parts))
    return tuple(sorted(found, key=show_key))


def group_by_kind(values: Iterable[Value]) -> dict[tuple[str, str], list[Value]]:
    """Values by what they are, and of which class: a tuple is as likely as anything else."""
    groups: dict[tuple[str, str], list[Value]] = {}
    for value in values:
        cls = value.cls if isinstance(value, Instance) and value.cls.startswith("~") else ""
        groups.setdefault((type(value).__name__, cls), []).append(value)
    return groups


class Said(NamedTuple):
    """What one evaluation says: by local name, by cell, and whether control comes out."""

    names: dict[str, ValueSet]
    cells: dict[CellKey, ValueSet]
    alive: bool


def evaluate_with(solved: Solved, unit: Definition, given: Mapping[str, ValueSet], cells: Any) -> tuple[Said, Any]:
    """Evaluates a body over these values of its parameters, and the cells it wanted."""
    kernel = solved.kernel
    heap, fixed = kernel.heap, FixedCells(kernel.make, cells)
    kernel.heap = fixed  # type: ignore[assignment]
    frame = Frame(kernel, unit, None)
    frame.env.update(given)
    try:
        run_block(frame, unit.facts.body)
    finally:
        kernel.heap = heap
    written: dict[CellKey, ValueSet] = {}
    for key, values in fixed.written:
        if key[0] in REQUESTS:
            continue
        written[key] = join_values(kernel.make, written.get(key, NOTHING), values)
    return Said(frame.env, written, frame.alive), fixed.wanted


def find_less(solved: Solved, poor: Said, rich: Said) -> str | None:
    """What the first evaluation says that the second doesn't."""
    if poor.alive and not rich.alive:
        return "control no longer comes out"
    pairs = [(name, values, rich.names.get(name, NOTHING)) for name, values in poor.names.items()]
    pairs += [(show_key(key), values, rich.cells.get(key, NOTHING)) for key, values in poor.cells.items()]
    for name, values, held in pairs:
        make = solved.kernel.make
        more = join_values(make, held, NOTHING)
        left = {v for v in values if join_values(make, more, frozenset({v})) != more}  # what no mark of a cap covers
        if not is_covered(frozenset(left), more):
            return f"{name} = {show_values(values)}\nbecomes {show_values(more)}"
    return None


def is_covered(less: ValueSet, more: ValueSet) -> bool:
    """Whether each value of `less` is below one of `more`: the order in which the join goes up."""
    return all(value in more or any(is_below(value, other) for other in more) for value in less)


def is_below(less: Value, more: Value) -> bool:
    """Whether a value says no more than another one. Of two alike the one whose parts hold more is above; without
    type arguments, which stands for any, is above all."""
    if isinstance(less, Instance) and isinstance(more, Instance):
        same = (less.cls, less.grip, less.site) == (more.cls, more.grip, more.site)
        return same and (not more.args or all(map(are_arguments_covered, less.args, more.args)))
    if isinstance(less, Partial) and isinstance(more, Partial):
        ones, others = ([*p.args, *(values for _, values in p.keywords)] for p in (less, more))
        same = less.function is more.function and [n for n, _ in less.keywords] == [n for n, _ in more.keywords]
        return same and len(ones) == len(others) and all(map(is_covered, ones, others))
    if isinstance(less, Possible) and isinstance(more, Possible):
        return less.rule == more.rule and is_below(less.value, more.value)
    if isinstance(less, Wrapper) and isinstance(more, Wrapper):
        return less.kind == more.kind and is_below(less.function, more.function)
    if isinstance(less, BoundMethod) and isinstance(more, BoundMethod):
        return less.function is more.function and is_below(less.receiver, more.receiver)
    return less is more


def are_arguments_covered(less: ValueSet, more: ValueSet) -> bool:
    """The same of a type argument, in which the join counts literals as their type, and too many as unknown."""
    if any(isinstance(v, Open) and v.reason is Reason.WIDENED for v in more):
        return True
    kinds = {v.cls.rpartition(":")[2] for v in more if isinstance(v, Instance) and v.grip is Grip.EXACT}
    rest = {v for v in less if getattr(v, "type", "str" if isinstance(v, Text) else None) not in kinds}
    return is_covered(frozenset(rest), more)


def iterate_poor(
    solved: Solved, wanted: Mapping[CellKey, None], choose: random.Random
) -> Iterator[dict[Any, ValueSet]]:
    """The cells themselves, and such of which some hold less."""
    yield {}
    poor: dict[CellKey, ValueSet] = {}
    for key in wanted:
        if key in solved.cells and choose.random() < 0.6:
            values = sorted(solved.cells[key], key=show_key)
            poor[key] = frozenset(make_poorer(solved.kernel.make, v, choose) for v in values if choose.random() < 0.4)
    yield poor


@pytest.fixture(autouse=True, scope="module")
def deep_programs() -> Iterator[None]:
    with allow_deep_programs():
        yield


@st.composite
def arguments(draw: Any) -> tuple[dict[str, ValueSet], dict[str, ValueSet]]:
    """Few and more values for three parameters."""
    kinds = list(group_by_kind(solve_transfers().pool).values())
    less: dict[str, ValueSet] = {}
    more: dict[str, ValueSet] = {}
    most = draw(st.sampled_from((4, 1)))
    for name in ("x", "y", "z"):
        values = draw(st.lists(st.sampled_from(kinds).flatmap(st.sampled_from), max_size=most, unique=True))
        more[name] = frozenset(values)
        less[name] = frozenset(v for v in values if draw(st.booleans()))
    return less, more


@pytest.mark.parametrize("name", list(solve_transfers().transfers))
@given(sets=arguments(), seed=st.integers(0, 1000))
@many(40)
def test_more_values_never_say_less(name: str, sets: tuple[dict[str, ValueSet], ...], seed: int) -> None:
    solved = solve_transfers()
    unit = solved.transfers[name]
    less, more = sets
    rich, wanted = evaluate_with(solved, unit, more, solved.cells)
    for poor in iterate_poor(solved, wanted, random.Random(seed)):
        said, _ = evaluate_with(solved, unit, less, {**solved.cells, **poor})
        fault = find_less(solved, said, rich)
        if fault is not None:
            lacking = {show_key(k): show_values(v) for k, v in poor.items() if v != solved.cells[k]}
            given = [f"{n} = {show_values(less[n])}, then {show_values(more[n])}" for n in less]
            pytest.fail("\n".join([*given, f"cells lack {lacking}" if lacking else "", fault]), pytrace=False)


@pytest.mark.parametrize("name", ["free_store", "property_store", "descriptor_store"])
def test_what_is_known_after_a_store_grows_with_what_is_stored_and_stored_to(name: str) -> None:
    """Flow knows `x.a` after any `x.a = y`; what a property or a default of the class gives comes beside it."""
    solved = solve_transfers()
    make = solved.kernel.make
    base: ValueSet = frozenset({make.instance("m:Base")})
    owner: dict[str, Value] = {"free_store": make.function("m:plain"), "property_store": make.instance("m:Derived")}
    stored_to: ValueSet = frozenset({owner.get(name, make.instance("m:Model"))})
    rich, _ = evaluate_with(solved, solved.transfers[name], {"x": stored_to, "y": base}, solved.cells)
    for less in ({"x": stored_to, "y": NOTHING}, {"x": NOTHING, "y": base}):
        poor, _ = evaluate_with(solved, solved.transfers[name], less, solved.cells)
        assert find_less(solved, poor, rich) is None
