"""The name-only call graph: imports first, else every definition of the bare name."""

from __future__ import annotations

from contextc.graph.name_only_calls import NameOnlyCalls, find_name_only_calls
from contextc.model.edge import Certainty, Edge, EdgeKind, Reason, Rule
from tests.graph.sources import Sources, read_sources


def resolve(sources: Sources) -> NameOnlyCalls:
    return find_name_only_calls(sources.files, sources.facts, sources.symbols, sources.lines.__getitem__)


def callees(texts: dict[str, str], caller: str = "main:run") -> list[tuple[str, str]]:
    """Callee and rule of every edge that leaves `caller`."""
    return [(e.callee, e.rule.value) for e in resolve(read_sources(texts)).edges if e.caller == caller]


def test_a_bare_name_means_everything_so_called() -> None:
    found = resolve(
        read_sources(
            {
                "main.py": "def run(user):\n    user.save()\n",
                "models.py": "class User:\n    def save(self): ...\n",
                "orders.py": "def save(): ...\n",
            }
        )
    )
    site = (2, 4, 2, 15)
    likely = (EdgeKind.CALL, Certainty.LIKELY, Rule.BARE_NAME)
    assert found.edges == (
        Edge("main:run", "models:User.save", "main.py", 2, site, *likely),
        Edge("main:run", "orders:save", "main.py", 2, site, *likely),
    )
    assert found.unresolved == ()


def test_an_import_explains_the_name() -> None:
    other = {"lib.py": "def save(): ...\n", "noise.py": "def save(): ...\n"}
    explained = [("lib:save", "import")]
    assert callees({"main.py": "from lib import save\ndef run():\n    save()\n", **other}) == explained
    assert callees({"main.py": "from lib import save as s\ndef run():\n    s()\n", **other}) == explained
    assert callees({"main.py": "import lib\ndef run():\n    lib.save()\n", **other}) == explained
    assert callees({"main.py": "import lib as l\ndef run():\n    l.save()\n", **other}) == explained
    assert callees({"main.py": "def run():\n    from lib import save\n    save()\n", **other}) == explained


def test_relative_imports_reexports_and_stars_are_followed() -> None:
    texts = {
        "pkg/__init__.py": "from .impl import *\nfrom .impl import make as build\n",
        "pkg/impl.py": "def make(): ...\nclass Thing:\n    def __init__(self): ...\n",
        "pkg/user.py": "from . import impl, build\nfrom .. import pkg\n"
        "def run():\n    impl.make()\n    build()\n    pkg.Thing()\n",
        "noise.py": "def make(): ...\nclass Thing: ...\n",
    }
    found = [e for e in resolve(read_sources(texts)).edges if e.caller == "pkg.user:run"]
    assert [(e.line, e.callee, e.kind.value, e.certainty.value) for e in sorted(found, key=lambda e: e.line)] == [
        (4, "pkg.impl:make", "CALL", "certain"),
        (5, "pkg.impl:make", "CALL", "certain"),
        (6, "pkg.impl:Thing.__init__", "CONSTRUCT", "certain"),
    ]


def test_a_namespace_package_is_the_repositorys_own() -> None:
    texts = {
        "main.py": "import space.deep.mod\nfrom space import deep\n"
        "def run():\n    space.deep.mod.go()\n    deep.mod.go()\n",
        "space/deep/mod.py": "def go(): ...\n",
        "noise.py": "def go(): ...\n",
    }
    assert callees(texts) == [("space.deep.mod:go", "import")] * 2


def test_a_class_runs_its_own_init_or_stands_for_itself() -> None:
    texts = {
        "main.py": "from lib import A, B\ndef run(x):\n    A()\n    B()\n    x.A()\n    A.make()\n",
        "lib.py": "class A:\n    def __init__(self): ...\n    def make(): ...\nclass B(A): ...\n",
    }
    assert sorted(callees(texts)) == [
        ("lib:A.__init__", "bare-name"),
        ("lib:A.__init__", "import"),
        ("lib:A.make", "import"),
        ("lib:B", "import"),
    ]


def test_what_comes_from_outside_is_no_edge() -> None:
    texts = {
        "main.py": "import os\nfrom json import dumps\ndef run():\n    os.path.join()\n    dumps()\n    os.save()\n",
        "lib.py": "def join(): ...\ndef dumps(): ...\ndef save(): ...\n",
    }
    found = resolve(read_sources(texts))
    assert (found.edges, found.unresolved) == ((), ())


def test_a_star_import_from_outside_explains_nothing() -> None:
    texts = {"main.py": "from os import *\nimport lib\ndef run():\n    save()\n    lib.save()\n"}
    texts["lib.py"] = "from os import *\n"
    texts["models.py"] = "def save(): ...\n"
    assert callees(texts) == [("models:save", "bare-name")] * 2


def test_import_rings_end() -> None:
    texts = {
        "main.py": "from a import ghost\ndef run():\n    ghost()\n",
        "a.py": "from b import ghost\nfrom b import *\n",
        "b.py": "from a import ghost\nfrom a import *\n",
    }
    assert callees(texts) == []


def test_unknown_names_are_unresolved_and_builtins_are_not() -> None:
    source = "def run(x, y):\n    x.fly()\n    nothing()\n    print(len(x))\n    y[0]()\n    x.print()\n"
    found = resolve(read_sources({"main.py": source}))
    assert [(u.line, u.reason, u.detail) for u in found.unresolved] == [
        (2, Reason.UNTYPED_RECEIVER, "x.fly"),
        (3, Reason.UNKNOWN_CALLABLE, "nothing"),
        (5, Reason.UNKNOWN_CALLABLE, "…"),
        (6, Reason.UNTYPED_RECEIVER, "x.print"),
    ]


def test_callers_are_the_scopes_that_evaluate_the_call() -> None:
    source = (
        "def f(*a): return f\n"
        "@f()\n"
        "class C(f()):\n"
        "    x = f()\n"
        "    def m(self, y=f()):\n"
        "        return [f(i) for i in y], lambda: f()\n"
    )
    edges = resolve(read_sources({"main.py": source})).edges
    assert sorted((e.line, e.caller) for e in edges) == [
        (2, "main:<module>"), (3, "main:<module>"), (4, "main:C"), (5, "main:C"),
        (6, "main:C.m"), (6, "main:C.m.<locals>.<lambda>"),
    ]  # fmt: skip


def test_a_scope_without_a_symbol_counts_for_the_one_around_it() -> None:
    sources = read_sources({"main.py": "def f(): ...\ndef run():\n    return lambda: f()\n"})
    fewer = sources._replace(symbols=tuple(s for s in sources.symbols if "<lambda>" not in s.id))
    assert [e.caller for e in resolve(fewer).edges] == ["main:run"]


def test_columns_are_bytes_and_lines_end_where_python_ends_them() -> None:
    sources = read_sources({"main.py": "def f(): ...\r\nx = 'é'; f()\r\ndef run(): 'é'; f()\r\n"})
    assert [e.site for e in resolve(sources).edges] == [(2, 10, 2, 13), (3, 17, 3, 20)]


def test_stubs_define_nothing() -> None:
    sources = read_sources({"main.py": "def run(x):\n    x.go()\n", "lib.py": "def go(): ...\n"})
    stubbed = sources._replace(files=tuple(f._replace(is_stub=f.path == "lib.py") for f in sources.files))
    assert resolve(stubbed).edges == ()
