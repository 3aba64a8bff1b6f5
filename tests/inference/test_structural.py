"""Structural inference: what counts as a use, and which classes have all of them."""

from __future__ import annotations

import textwrap

import pytest

from contextc.analyzer.inference.attribute_uses import attributes_used
from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.program import Program
from contextc.analyzer.inference.structural import Structure
from tests.inference.programs import build_program

# Bodies of `def f(x, y)` and the attributes that they use on `x`.
USES = {
    "reads and calls": ("x.a; x.b(); y.c; x.d.e", "a b d"),
    "a store is not a use": ("x.a = x.b; x.c += 1", "b c"),
    "an alias": ("z = x; z.a; w = z; w.b", "a b"),
    "an alias from a choice": ("z = x if y else None; z.a; w = y or x; w.b", "a b"),
    "after a rebinding": ("x.a; x = y; x.b", "a"),
    "a rebinding on one path": ("if y:\n    x = y\nx.a", "a"),
    "a rebinding on all paths": ("if y:\n    x = y\nelse:\n    x = 1\nx.a", ""),
    "a path that ends": ("if y:\n    x = y\n    return x.a\nx.b", "b"),
    "deleted": ("x.a; del x; x.b", "a"),
    "unpacked over": ("(x, z) = y; x.a", ""),
    "a loop's target": ("for x in x.items():\n    x.a", "items"),
    "after a loop that may not run": ("for x in y: pass\nx.a", "a"),
    "a walrus rebinds": ("y((x := 1)); x.a", ""),
    "a walrus aliases": ("if (z := x): z.a", "a"),
    "an import rebinds": ("import x.y\nx.a", ""),
    "with": ("with x as z: z.a", "__enter__"),
    "with rebinds": ("with y as x: x.a", ""),
    "operators": ("x[0]; x[1] = 2; x()\nfor z in x: pass", "__call__ __getitem__ __iter__ __setitem__"),
    "under isinstance": ("if isinstance(x, y): x.a\nelse: x.b\nx.c", "b c"),
    "after a test that leaves": ("if not isinstance(x, y): return x.b\nx.a", "b"),
    "isinstance in a condition": ("isinstance(x, y) and x.a; x.b if isinstance(x, y) else x.c", "c"),
    "not isinstance in a condition": ("not isinstance(x, y) or x.a; not isinstance(x, y) and x.b", "b"),
    "asserted": ("assert isinstance(x, y)\nx.a", ""),
    "under hasattr": ("if hasattr(x, 'a'): x.a(x.b)\nx.c", "c"),
    "under callable": ("if callable(x): x()", ""),
    "under a test of its type": ("if type(x) is y: x.a\nif x.__class__ is not y: x.b", "__class__ b"),
    "is None says nothing of it": ("if x is None: return\nx.a", "a"),
    "getattr is none": ("getattr(x, 'a', None); x.b", "b"),
    "under a handler of AttributeError": ("try: x.a\nexcept (KeyError, AttributeError): x.b\nx.c", "b c"),
    "under another handler": ("try: x.a\nexcept KeyError: pass", "a"),
    "suppressed": ("with suppress(AttributeError): x.a\nx.b", "b"),
    "finally": ("try: return x.a\nfinally: x.b", "a b"),
    "a comprehension": ("[x.a for z in x.b if x.c]; {x: x.d for x in y}", "a b c"),
    "a comprehension's test": ("[x.a for z in y if isinstance(x, z)]", ""),
    "a lambda": ("y(lambda: x.a); y(lambda x: x.b)", "a"),
    "a function inside": ("def g(): return x.a\ndef h(x): return x.b\ndef i():\n    x = 1\n    x.c", "a"),
    "a class inside": ("class C:\n    a = x.a\n    def m(self): return x.b", "a b"),
    "a function inside, the name bound again": ("def g(): return x.a\nx = y", ""),
    "a default of a function inside": ("def g(z=x.a): pass", "a"),
    "match": ("match x:\n    case int(): x.a\n    case _: x.b", "b"),
    "a match that captures": ("match y:\n    case [x]: x.a\nx.b", "b"),
    "elif": ("if y: pass\nelif isinstance(x, y): x.a\nelif x.b: x.c", "b c"),
    "while": ("while not isinstance(x, y): x = x.parent\nx.a", "parent"),
}  # fmt: skip


@pytest.mark.parametrize("title", USES)
def test_attributes_used(title: str) -> None:
    body, expected = USES[title]
    program = build_program({"m.py": "def f(x, y):\n" + textwrap.indent(body, "    ")})
    assert sorted(attributes_used(program.definitions["m:f"], "x").attributes) == expected.split()


def test_a_long_chain_of_branches_needs_no_stack() -> None:
    """`elif` nests as deep as it is long."""
    branches = "".join(f"    elif y == {n}: x.a{n}\n" for n in range(3000))
    program = build_program({"m.py": f"def f(x, y):\n    if y: pass\n{branches}"})
    assert len(attributes_used(program.definitions["m:f"], "x").attributes) == 3000


CLASSES = """
class Folder:
    def list_children(self): ...
    def get_child(self): ...
class Root(Folder):
    def __init__(self): self.mount_point = 1
class Note:
    def get_child(self): ...
class Late(Missing):
    def list_children(self): ...
class First:
    def shared_one(self): ...
    def shared_two(self): ...
class Second(First): ...
class Third:
    def shared_one(self): ...
    def shared_two(self): ...
class Text:
    def split(self): ...
    def append(self): ...
class Call:
    def shared_call(self): ...
    def other_call(self): ...
    def __call__(self): ...
class Silent:
    def shared_call(self): ...
    def other_call(self): ...
"""


def find(code: str, function: str = "m:f", parameter: str = "x", **others: str) -> str:
    """The names of the classes found for a parameter."""
    files = {"m.py": code, **{f"{name}.py": text for name, text in others.items()}}
    program = build_program(files)
    found = structure_of(program).find_classes(program.definitions[function], parameter)
    return " ".join(c.partition(":")[2] for c in found)


def structure_of(program: Program) -> Structure:
    return Structure(Solver(program).kernel)


FOUND = {
    "all attributes, the base for its subclass": ("def f(x): x.list_children(); x.get_child()", "Folder"),
    "an attribute that a method sets": ("def f(x): x.get_child(); x.mount_point", "Root"),
    "no class has all": ("def f(x): x.list_children(); x.get_child(); x.nothing", ""),
    "several classes": ("def f(x): x.shared_one(); x.shared_two()", ""),
    "one telling attribute": ("def f(x): x.list_children()", ""),
    "one telling attribute and a name like the class": ("def f(root_folder): root_folder.list_children()", "Folder"),
    "a name like a class that lacks the attribute": ("def f(note): note.list_children()", ""),
    "names of builtin types tell nothing": ("def f(x): x.split(); x.append()", ""),
    "no use, no class": ("def f(x): return x", ""),
    "a name alone is no reason": ("def f(folder): return folder", ""),
    "what it must be able to do": ("def f(x): x(); x.shared_call(); x.other_call()", "Call"),
    "used where it is passed": ("def g(y): y.get_child()\ndef f(x): x.list_children(); g(x)", "Folder"),
    "used where it is passed by keyword": ("def g(*, y): y.get_child()\ndef f(x): x.list_children(); g(y=x)", "Folder"),
    "passed round in a ring": (
        "def g(y): f(y); y.get_child()\ndef f(x): g(x); x.list_children()", "Folder",
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", FOUND)
def test_classes_found(title: str) -> None:
    code, expected = FOUND[title]
    parameter = code.rpartition("def f(")[2].partition(")")[0]
    assert find(CLASSES + code, parameter=parameter) == expected


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    code = CLASSES + "def g(x): f(x); x.get_child()\ndef f(x): g(x); x.list_children()"
    program = build_program({"m.py": code})
    both = [program.definitions["m:f"], program.definitions["m:g"]]
    one, other = structure_of(program), structure_of(program)
    forwards = [one.uses(d, "x") for d in both]
    backwards = [other.uses(d, "x") for d in reversed(both)]
    assert forwards == list(reversed(backwards)) == [{"list_children", "get_child"}] * 2


def test_uses_of_the_attribute_that_it_is_stored_in() -> None:
    code = """
class User:
    def __init__(self, x): self.x = x; x.list_children()
    def go(self): return self.x.get_child()
    def other(self): return self.y.nothing
"""
    assert find(CLASSES + code, "m:User.__init__") == "Folder"


def test_uses_by_a_base_that_it_is_passed_to() -> None:
    code = """
class Base:
    def __init__(self, y): self.y = y
    def go(self): return self.y.get_child(), self.y.list_children()
class User(Base):
    def __init__(self, x): super().__init__(x)
"""
    assert find(CLASSES + code, "m:User.__init__") == "Folder"


def test_the_name_decides_among_classes_that_fit() -> None:
    code = CLASSES + "def f(third): third.shared_one(); third.shared_two()"
    assert find(code, parameter="third") == "Third"


def test_a_class_of_the_tests_is_no_answer_outside() -> None:
    code = "def f(x): x.double_one(); x.double_two()"
    double = "class Double:\n    def double_one(self): ...\n    def double_two(self): ...\n"
    assert find(code, test_double=double) == ""
    assert find("", "test_f:f", test_double=double, test_f=code) == "Double"
