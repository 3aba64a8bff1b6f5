"""The name-only reach, on facts written by hand: its rules one by one, and what it says about causes."""

from __future__ import annotations

from typing import Any

import pytest

from contextc.graph.compare import Found, PulledIn, compare_resolvers
from contextc.graph.name_only import Cause, NameIndex
from contextc.model import ir
from contextc.model.facts import ModuleFacts, SymbolFacts, SymbolKind
from contextc.model.span import Span


def scope(kind: SymbolKind, name: str, parent: int, body: tuple[Any, ...]) -> SymbolFacts:
    return SymbolFacts(
        kind, name, name, name, parent, Span(0, 0), Span(0, 0), None, 0, False, False,
        (), (), (), None, (), (), (), (), body, (), 0,
    )  # fmt: skip


def module(*body: Any, defines: str = "", methods: str = "", partial: bool = False) -> ModuleFacts:
    """Facts of a file with those statements, functions `defines` and a class `Holder` with `methods`, if any."""
    symbols = [scope(SymbolKind.MODULE, "<module>", -1, body)]
    symbols += [scope(SymbolKind.FUNCTION, name, 0, ()) for name in defines.split()]
    if methods:
        symbols.append(scope(SymbolKind.CLASS, "Holder", 0, ()))
        parent = len(symbols) - 1
        symbols += [scope(SymbolKind.METHOD, name, parent, ()) for name in methods.split()]
    return ModuleFacts(tuple(symbols), partial, (), "libcst")


def call(dotted: str) -> ir.Evaluate:
    """The statement `dotted()`."""
    first, *rest = dotted.split(".")
    callee: ir.Expr = ir.Name(0, first)
    for attribute in rest:
        callee = ir.Attribute(0, callee, attribute)
    return ir.Evaluate(0, ir.Call(0, callee, ()))


def imports(dotted: str, asname: str | None = None) -> ir.Import:
    return ir.Import(0, (ir.ImportedName(0, dotted, asname),))


def from_import(source: str, name: str, asname: str | None = None) -> ir.ImportFrom:
    stripped = source.lstrip(".")
    return ir.ImportFrom(0, len(source) - len(stripped), stripped, (ir.ImportedName(0, name, asname),))


def test_the_user_and_the_order_cannot_be_told_apart() -> None:
    index = NameIndex(
        {
            "views.py": module(call("user.save")),
            "models.py": module(methods="save"),
            "orders.py": module(methods="save"),
        }
    )
    reach = index.reach("views.py", 2)
    assert reach.hops == {"views.py": 0, "models.py": 1, "orders.py": 1}
    assert reach.collisions == {"save": ("models.py", "orders.py")}
    assert reach.why == {path: (Cause("name", "save", "views.py"),) for path in ("models.py", "orders.py")}


@pytest.mark.parametrize(
    ("statement", "reached"),
    [
        (imports("app.models"), ["app/models.py"]),
        (imports("app.models.User"), ["app/models.py"]),
        (imports("app"), ["app/__init__.py"]),
        (imports("app.missing.deep"), ["app/__init__.py"]),
        (imports("elsewhere"), []),
        (from_import("app.models", "User"), ["app/models.py"]),
        (from_import("app", "models"), ["app/models.py"]),
        (from_import("app", "*"), ["app/__init__.py"]),
        (from_import("..app", "models"), ["app/models.py"]),  # dots in front are ignored
        (from_import(".models", "User"), []),  # so this is `models.User`
        (from_import(".", "models"), []),  # and this says nothing
        (imports("src.lib.tool"), ["src/lib/tool.py"]),  # a source root is part of the name
        (imports("lib.tool"), []),
    ],
)
def test_imports(statement: Any, reached: list[str]) -> None:
    index = NameIndex(
        {
            "main.py": module(statement),
            "app/__init__.py": module(),
            "app/models.py": module(),
            "src/lib/tool.py": module(),
            "app/types.pyi": module(),
        }
    )
    assert sorted(index.reach("main.py", 1).hops) == sorted(["main.py", *reached])


@pytest.mark.parametrize(
    ("body", "is_reached"),
    [
        ([call("helper")], True),
        ([call("a.b.helper")], True),
        ([from_import("outside", "helper"), call("helper")], False),  # an import explains it
        ([call("x.helper"), imports("outside", "helper")], False),  # anywhere in the file, whatever the receiver
        ([from_import("outside", "x", "helper"), call("helper")], False),
        ([from_import(".", "helper"), call("helper")], True),
        ([imports("helper.sub"), call("helper")], False),
        ([call("print")], False),
        ([call("x.print")], False),
        ([call("__private")], False),
        ([call("_helper")], False),
    ],
)
def test_called_names(body: list[Any], is_reached: bool) -> None:
    index = NameIndex({"main.py": module(*body), "lib.py": module(defines="helper print __private")})
    assert ("lib.py" in index.reach("main.py", 1).hops) is is_reached


def test_a_call_of_a_call_has_no_name() -> None:
    twice = ir.Evaluate(0, ir.Call(0, ir.Call(0, ir.Name(0, "make"), ()), ()))
    index = NameIndex({"main.py": module(twice), "lib.py": module(defines="make")})
    assert list(index.reach("main.py", 1).hops) == ["main.py", "lib.py"]


def test_each_file_once_at_its_lowest_hop() -> None:
    index = NameIndex(
        {
            "a.py": module(imports("b"), imports("c")),
            "b.py": module(imports("c"), imports("d"), imports("a")),
            "c.py": module(imports("d")),
            "d.py": module(imports("e")),
            "e.py": module(),
        }
    )
    assert index.reach("a.py", 2).hops == {"a.py": 0, "b.py": 1, "c.py": 1, "d.py": 2}
    assert index.reach("a.py", 0).hops == {"a.py": 0}
    assert index.reach("a.py", 9).hops["e.py"] == 3
    assert index.reach("a.py", 2).why["d.py"] == (Cause("import", "d", "b.py"),)


def test_causes_list_imports_before_names() -> None:
    index = NameIndex({"a.py": module(call("x.zap"), call("run"), imports("lib")), "lib.py": module(defines="run zap")})
    assert index.reach("a.py", 1).why["lib.py"] == (
        Cause("import", "lib", "a.py"), Cause("name", "run", "a.py"), Cause("name", "zap", "a.py"),
    )  # fmt: skip


def test_collisions_come_only_from_files_looked_into() -> None:
    index = NameIndex(
        {
            "a.py": module(imports("b")),
            "b.py": module(call("run")),
            "c.py": module(defines="run"),
            "d.py": module(defines="run"),
        }
    )
    assert index.reach("a.py", 1).collisions == {}
    assert index.reach("a.py", 2).collisions == {"run": ("c.py", "d.py")}


@pytest.mark.parametrize("broken", [module(imports("c"), defines="run", partial=True), None])
def test_what_does_not_parse_can_be_imported_and_no_more(broken: ModuleFacts | None) -> None:
    index = NameIndex({"a.py": module(imports("b"), call("run")), "b.py": broken, "c.py": module()})
    assert index.reach("a.py", 3).hops == {"a.py": 0, "b.py": 1}
    without = NameIndex({"a.py": module(call("run")), "b.py": broken})
    assert without.reach("a.py", 3).hops == {"a.py": 0}


def test_of_two_modules_with_one_name_the_folder_counts() -> None:
    index = NameIndex({"main.py": module(imports("pkg")), "pkg/__init__.py": module(), "pkg.py": module()})
    assert list(index.reach("main.py", 1).hops) == ["main.py", "pkg/__init__.py"]


def test_a_roots_own_init_keeps_its_name() -> None:
    index = NameIndex({"__init__.py": module(), "a/__init__.py": module()})
    assert index.modules == {"__init__": "__init__.py", "a": "a/__init__.py"}


def test_comparison() -> None:
    index = NameIndex(
        {
            "views.py": module(call("user.save"), imports("models")),
            "models.py": module(methods="save"),
            "orders.py": module(methods="save"),
            "handlers.py": module(defines="handle_email"),
        }
    )
    reach = index.reach("views.py", 2)
    compared = compare_resolvers("views.py", {"handlers.py": 2, "views.py": 0, "models.py": 1}, reach)
    assert compared.both == (Found("views.py", 0, 0), Found("models.py", 1, 1))
    assert compared.only_typed == (Found("handlers.py", 2, None),)
    assert compared.typed == (*compared.both, *compared.only_typed)
    assert compared.only_name_only == (PulledIn("orders.py", 1, (Cause("name", "save", "views.py"),)),)
    assert compared.name_only_files == len(reach.hops) == 3
    assert compared.collisions == {"save": ("models.py", "orders.py")}
