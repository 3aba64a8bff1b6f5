"""Forms without what they need, `Optional[()]` or `isinstance()`: they fail where they run, not in the analysis."""

from __future__ import annotations

from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.resolution import resolve_program
from tests.inference.programs import build_program

SOURCE = """
from typing import *
import collections, dataclasses, enum, functools, operator, typing

def f(
    a: Callable[()], b: Optional[()], c: Type[()], d: Tuple[()], e: Union[()], g: type[()], h: list[()],
    i: Annotated[()], j: Literal[()], k: dict[()], l: ClassVar[()], m: Final[()], n: Concatenate[()],
    o: Unpack[()], p: TypeGuard[()], q: Generic[()],
):
    a(); b.x(); c(); d[0](); g(); h[0](); k["a"]()
    for x in d: x()
    isinstance(); issubclass(); callable(); type(); getattr(); hasattr(); setattr(); cast(); super()
    super(a, b, c).f(); len(); iter(); next(); map(); filter(); sorted(); zip(); enumerate()
    if isinstance(): a()
    if callable(): a()
    if type() is int: a()
    if type() == int: a()
    if issubclass(): a()
    if hasattr(): a()
    if len() == 2: a()
    assert isinstance(a)
    assert isinstance(a, ())
    assert isinstance(a, (int, ()))
    assert_never(); reveal_type(); vars(); vars().x(); globals(); globals()["x"](); locals()["x"]()
    functools.partial()(); functools.partial(f)(); functools.reduce(); functools.wraps()()
    functools.lru_cache()(); functools.cached_property(); functools.singledispatch()
    functools.partialmethod(); functools.total_ordering(); functools.update_wrapper(); operator.attrgetter()()
    operator.methodcaller()(); operator.itemgetter()()
    property(); staticmethod(); classmethod(); property().setter(); TypeVar(); NewType(); NamedTuple()
    namedtuple(); collections.namedtuple(); TypedDict(); enum.Enum(); dataclasses.field()
    dataclasses.dataclass()(); dataclasses.replace(); dict(); list(); tuple(); set(); defaultdict()
    collections.defaultdict()["x"](); ParamSpec(); type("x"); type("x", ()); type("x", (), {})
    __import__(); eval(); exec(); import_module()
    print(*[], **{}); [].append(); {}.setdefault(); {}.get(); {}.pop(); {}.update(); [].pop(); [].extend()
    "".join(); "".format(); f""
    match a:
        case []: a()
        case {}: a()
        case int(): a()
        case (): a()
    del a[()]
    a[()] = b; a[:], = b; [] = a; () = b; [*c] = d
class A(NamedTuple()): pass
class B(Generic[()]): pass
class C(Protocol[()], metaclass=()): pass
class D(type()): pass
class E(enum.Enum()): pass
class F(typing.NamedTuple, **{}): pass
@functools.wraps()
def g(): pass
@property()
def h(): pass
@dataclasses.dataclass(*())
class G: x: Callable[()] = dataclasses.field(default_factory=())
X: TypeAlias = Callable[()]
Y = Callable[()]
Z = Optional[()]
def z(x: X, y: Y, z: Z): x(); y(); z()
T = TypeVar(); U = TypeVar("U", bound=()); V = TypeVar("V", ()); N = NewType(); N2 = NewType("N2", ())
P = NamedTuple("P"); P2 = NamedTuple("P2", []); P3 = collections.namedtuple("P3", ())
P4 = collections.namedtuple("P4"); TD = TypedDict("TD"); En = enum.Enum("En"); En2 = enum.Enum("En2", ())
P()(); P2(); P3(); P4(); TD(); En(); En2(); T(); U(); V(); N(); N2()
"""


def test_forms_without_what_they_need_are_analysed() -> None:
    resolved = resolve_program(Solver(build_program({"m.py": SOURCE})))
    assert {"m:f", "m:G", "m:z"} <= {s.id for s in resolved.symbols}
    assert any(u.path == "m.py" for u in resolved.unresolved)
