"""Each form of a symbol, by example; then over the standard library: what is cut parses and says what was written."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from pathlib import Path

import pytest

from contextc.model.facts import SymbolKind
from contextc.model.plan import Form
from contextc.passes.forms import Source, docstring_text, full_text, header_text, import_statement, statement_text
from contextc.passes.profile import DEFAULT_PROFILE, Profile
from contextc.passes.skeleton import Skeleton, own_text
from tests.passes.repository import Repository

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
CHOSEN = """
    abc argparse ast base64 collections/__init__ contextlib dataclasses email/message enum fractions functools
    http/client inspect logging/__init__ pathlib random socket statistics tarfile typing unittest/mock uuid zipfile
"""


def show(text: str, forms: dict[str, Form], profile: Profile = DEFAULT_PROFILE) -> str:
    """The skeleton of m.py with those symbols."""
    made = Repository({"m.py": text})
    chosen = {f"m:{name}": form for name, form in forms.items()}
    source = Source(made.texts["m.py"])
    shown = Skeleton(made.graph, source, profile, chosen).render(made.graph.symbol("m:<module>")).text
    ast.parse(shown)
    return shown


MODELS = '''
import dataclasses


@dataclasses.dataclass(
    frozen=True,
)
@register("users")
class User(Model):
    """An account."""

    name: str = ""
    LIMIT = 3  # characters

    @property
    @traced
    def label(self) -> str:
        """The name to show."""
        return self.name.title()

    def save(self, *, force: bool = False, table="users") -> None:
        """Store it.

        Twice is fine.
        """
        if force:
            print(table)

    def drop(self): pass

    def touch(self): pass
'''


def test_interface_of_a_class_has_decorators_docstring_and_declared_attributes() -> None:
    assert show(MODELS, {"User": Form.INTERFACE}) == (
        "@dataclasses.dataclass(\n    frozen=True,\n)\n"
        '@register("users")\nclass User(Model):\n    """An account."""\n'
        '    name: str = ""\n    LIMIT = 3  # characters\n'
        "    # 4 more members: label, save, drop, touch"
    )


def test_signature_of_a_class_is_its_header_with_the_decorators_that_matter() -> None:
    assert show(MODELS, {"User": Form.SIGNATURE}) == (
        "@dataclasses.dataclass(\n    frozen=True,\n)\nclass User(Model): ..."
        "  # 6 more members: name, LIMIT, label, save, drop, touch"
    )


def test_a_member_stands_in_its_class() -> None:
    assert show(MODELS, {"User.save": Form.SIGNATURE, "User.label": Form.INTERFACE}) == (
        "@dataclasses.dataclass(\n    frozen=True,\n)\nclass User(Model):\n"
        '    @property\n    @traced\n    def label(self) -> str:\n        """The name to show."""\n        ...\n'
        '    def save(self, *, force: bool = False, table="users") -> None: ...'
    )


def test_signature_keeps_property_and_drops_the_rest() -> None:
    shown = show(MODELS, {"User.label": Form.SIGNATURE})
    assert "    @property\n    def label(self) -> str: ..." in shown
    assert "traced" not in shown


def test_a_definition_inside_a_block_says_so_and_parses() -> None:
    text = """
        try:
            import fast
        except ImportError:
            def load(path):
                return slow(path)

            LIMIT = 3
        else:
            class Fast:
                if True:
                    def load(self): return 1
    """
    assert show(text, {"load": Form.SIGNATURE, "LIMIT": Form.SIGNATURE, "Fast.load": Form.FULL}) == (
        "if ...:  # line 3: except ImportError:\n    def load(path): ...\n    LIMIT = 3\n"
        "if ...:  # line 8: else:\n    class Fast:\n"
        "        if ...:  # line 10: if True:\n            def load(self): return 1"
    )


def test_a_function_is_opened_for_what_is_inside() -> None:
    text = "def outer(a):\n    x = 1\n    def inner(b):\n        return b\n    return inner\n"
    assert show(text, {"outer.<locals>.inner": Form.SIGNATURE}) == ("def outer(a):\n    def inner(b): ...\n    ...")


def test_tabs_and_one_line_bodies() -> None:
    text = 'class A:\n\t"""Doc."""\n\tdef f(self):\n\t\t"""Doc."""\n\t\treturn 1\n\nclass B: x = 1; y: int = 2\n'
    assert show(text, {"A": Form.INTERFACE, "A.f": Form.INTERFACE, "B": Form.INTERFACE}) == (
        'class A:\n\t"""Doc."""\n\tdef f(self):\n\t\t"""Doc."""\n\t\t...\n\nclass B:\n    x = 1\n    y: int = 2'
    )


def test_full_is_verbatim_from_the_first_decorator_to_the_end_of_the_last_line() -> None:
    text = "x = 1\n\n@a\n# why\n@b(\n  1)\ndef f(): return 1  # done\n\ny = 2\n"
    assert show(text, {"f": Form.FULL}) == "@a\n# why\n@b(\n  1)\ndef f(): return 1  # done"


def test_a_long_value_is_elided_with_a_note() -> None:
    table = "{" + ", ".join(f'"key{i}": {i}' for i in range(60)) + "}"
    text = f'TABLE: dict[str, int] = {table}\nSHORT = {{"a": 1}}\nWORDS = (\n    "{"a" * 300}"\n)\n'
    shown = show(text, {"TABLE": Form.INTERFACE, "SHORT": Form.INTERFACE, "WORDS": Form.INTERFACE})
    assert shown == (
        f'TABLE: dict[str, int] = ...  # {len(table)} characters\nSHORT = {{"a": 1}}\n\n'
        "WORDS = (\n    ...\n)  # 302 characters"
    )


def test_a_long_value_that_was_asked_for_is_whole() -> None:
    text = f"A = 1\nTABLE = (  # why\n    {'1, ' * 200}\n)\n"
    assert show(text, {"TABLE": Form.FULL}) == text[6:-1]


def test_taking_code_apart_warns_of_nothing() -> None:
    made = Repository({"m.py": 'PATTERN = "+d"\n'})
    source = Source(made.texts["m.py"].replace(b"+", b"\\"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert statement_text(made.graph.symbol("m:PATTERN"), source, 200) == 'PATTERN = "\\d"'


@pytest.mark.parametrize("quotes", ['"""', "'''"])
@pytest.mark.parametrize("prefix", ["", "r", "R", "u"])
@pytest.mark.parametrize(
    "first", ["One.", '\\"quoted\\"', "ends with a backslash \\\\", "\n    Below.", "\\\n    Joined.", "é 日本"]
)
def test_a_cut_docstring_begins_as_the_whole_one(quotes: str, prefix: str, first: str) -> None:
    lines = "\n".join(f"    line {number}" for number in range(30))
    text = f"def f():\n    {prefix}{quotes}{first}\n\n{lines}\n    {quotes}\n    return 1\n"
    whole = ast.get_docstring(ast.parse(text).body[0])  # type: ignore[arg-type]
    cut = ast.get_docstring(ast.parse(show_cut(text)).body[0])  # type: ignore[arg-type]
    assert whole is not None and cut is not None
    paragraph = cut.rpartition("\n")[0].rstrip()
    assert whole.startswith(paragraph.rstrip("\\")) and cut.endswith("more lines)")


def show_cut(text: str) -> str:
    """The interface of f, with warnings about the author's escapes left to the author."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return show(text, {"f": Form.INTERFACE})


def test_names_of_one_statement_are_shown_once() -> None:
    assert show("A = B = 1\nC, D = 2, 3\n", dict.fromkeys(["A", "B", "C", "D"], Form.INTERFACE)) == (
        "A = B = 1\nC, D = 2, 3"
    )


def test_what_is_no_assignment_is_a_comment() -> None:
    made = Repository({"m.py": "ITEM = 1\n"})
    symbol = made.graph.symbol("m:ITEM")
    source = Source(b"for ITEM in range(3):\n    print(ITEM)\n")
    loop = symbol._replace(span=symbol.span._replace(end=len(source.text)))
    assert statement_text(loop, source, 200) == "# line 1: for ITEM in range(3):"


LONG = '''
def f(a):
    r"""First line
    of two.

    LINES
    """
    return 1
'''.replace("LINES", "\n    ".join(f"line {number}" for number in range(20)))


def test_a_long_docstring_ends_after_its_first_paragraph() -> None:
    assert show(LONG, {"f": Form.INTERFACE}) == (
        'def f(a):\n    r"""First line\n    of two.\n    ... (22 more lines)"""\n    ...'
    )


def test_a_docstring_within_the_bound_is_kept() -> None:
    assert show(LONG, {"f": Form.INTERFACE}, Profile(docstring_lines=30)).count("line ") == 20


def test_line_ends_come_out_as_newlines() -> None:
    made = Repository({"m.py": b'def f(a,\r\n      b):\r\n    """Doc\r\n    more."""\r\n    return 1\r\n'})
    symbol, source = made.graph.symbol("m:f"), Source(made.texts["m.py"])
    assert full_text(symbol, source) == 'def f(a,\n      b):\n    """Doc\n    more."""\n    return 1'
    assert docstring_text(symbol, source, 15) == '    """Doc\n    more."""'


@pytest.mark.parametrize("line", [2, 3, 4])
def test_an_import_is_found_from_any_of_its_lines(line: int) -> None:
    source = Source(b"x = 1\nfrom a import (  # (why\n    b,\n    c)\ny = 2\n")
    assert import_statement(source, line) == ("from a import (  # (why\n    b,\n    c)", 2, 4)


def test_no_import_where_none_stands() -> None:
    assert import_statement(Source(b"import a\nx = 1\n"), 2)[0] == ""


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("if TYPE_CHECKING: from a import b  # why", "if TYPE_CHECKING: from a import b  # why"),
        ("try: import a", "import a"),
        ("    except ImportError: from b import a as c", "from b import a as c"),
        ("else: x = 1", ""),
    ],
)
def test_an_import_on_the_line_of_its_statement(line: str, shown: str) -> None:
    assert import_statement(Source(line.encode()), 1) == (shown, 1, 1)


MODULE = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from a import (
        A,
    )
    import b
try:
    import fast
except ImportError:
    import slow as fast


class K:
    from c import mixin
    LIMIT = 3

    def f(self) -> A: ...


def g(): ...
"""


def test_imports_stand_where_they_mean_the_same() -> None:
    made = Repository({"m.py": MODULE})
    source, module = Source(made.texts["m.py"]), made.graph.symbol("m:<module>")
    skeleton = Skeleton(made.graph, source, DEFAULT_PROFILE, {"m:K.f": Form.FULL, "m:g": Form.SIGNATURE})
    shown = skeleton.render(module, [1, 4, 8, 10, 14])
    assert shown.text == """from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from a import (
        A,
    )
import fast
import slow as fast

class K:
    from c import mixin
    def f(self) -> A: ...

def g(): ..."""
    assert shown.numbers == (1, 2, 3, 4, 5, 8, 10, 0, 13, 14, 17, 0, 20)
    assert shown.lines == ((1, 5), (8, 8), (10, 10), (13, 14), (17, 17), (20, 20))


# ---------------------------------------------------------------------------------------------- the standard library


@pytest.mark.parametrize("name", CHOSEN.split())
def test_forms_of_the_standard_library(name: str) -> None:
    """Signature, defaults and decorators equal the original's; every form parses; so do all together."""
    path = LIBRARY / f"{name}.py"
    text = (path if path.exists() else LIBRARY / name / "__init__.py").read_bytes()  # some became packages
    made = Repository({"m.py": text})
    source = Source(made.texts["m.py"])
    for symbol in made.graph.symbols:
        if symbol.kind not in (SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CLASS):
            continue
        original = one_definition(full_text(symbol, source))
        header = one_definition(header_text(symbol, source, True) + " ...")
        assert (decorators_of(header), header_of_node(header)) == (decorators_of(original), header_of_node(original))
        for form in (Form.INTERFACE, Form.SIGNATURE):
            shown = one_definition(own_text(symbol, form, source, DEFAULT_PROFILE))
            assert header_of_node(shown) == header_of_node(original), symbol.id
            kept, written = (decorators_of(node) for node in (shown, original))
            assert kept == written if form is Form.INTERFACE else set(kept) <= set(written)
    module = made.graph.symbols[0]
    for form in (Form.FULL, Form.INTERFACE, Form.SIGNATURE):
        chosen = dict.fromkeys((s.id for s in made.graph.symbols[1:]), form)
        tree = ast.parse(Skeleton(made.graph, source, DEFAULT_PROFILE, chosen).render(module).text)
        found = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))
        wanted = sum(s.kind in (SymbolKind.FUNCTION, SymbolKind.METHOD) for s in made.graph.symbols)
        assert found == wanted


def one_definition(text: str) -> ast.stmt:
    """The definition, whatever its indentation."""
    if text[:1] in (" ", "\t"):
        block = ast.parse(f"if 1:\n{text}\n").body[0]
        assert isinstance(block, ast.If)
        return block.body[0]
    return ast.parse(text).body[0]


def decorators_of(node: ast.stmt) -> list[str]:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return [ast.dump(decorator) for decorator in node.decorator_list]


def header_of_node(node: ast.stmt) -> tuple[object, ...]:
    """All that a header says but for the decorators."""
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    if isinstance(node, ast.ClassDef):
        return (node.name, [ast.dump(b) for b in [*node.bases, *node.keywords]])
    returns = ast.dump(node.returns) if node.returns else None
    return (type(node).__name__, node.name, ast.dump(node.args), returns)
