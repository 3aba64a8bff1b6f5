"""A small shop for the checks: two classes with methods of one name, an untyped call, a decorated method, doubles.

`compile_shop(folder, "shop/models.py::User.save")` writes it below `folder` and gives the compilation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from contextc import engine
from contextc.passes.compilation import Compilation
from contextc.passes.json_form import render_json
from tests.project.trees import make_tree

MODELS = '''"""What is stored."""

import functools


def audited(kind):
    def wrap(function):
        @functools.wraps(function)
        def inner(*arguments, **options):
            return function(*arguments, **options)

        return inner

    return wrap


class User:
    """An account."""

    def __init__(self, name: str) -> None:
        self.name = name

    @audited("save")
    @functools.lru_cache(
        maxsize=None,
    )
    def save(self) -> str:
        """Store it."""
        value = self.validate()
        return value

    def validate(self) -> str:
        return check_name(self.name)


class Order:
    """No user."""

    def save(self) -> int:
        return self.validate()

    def validate(self) -> int:
        return 7


def check_name(name: str) -> str:
    """Refuses none."""
    if not name:
        raise ValueError(name)
    letters = [letter for letter in name if letter.isalpha()]
    return "".join(letters) or refuse(name)


def refuse(name: str) -> str:
    """Says so."""
    raise LookupError(name)
'''
VIEWS = """from shop.models import Order, User


def show(name: str) -> str:
    user = User(name)
    return user.save()


def page(name: str) -> str:
    return "<p>" + show(name)


def buy() -> int:
    return Order().save()


def anything(thing):
    return thing.save()


def dynamic(user: User, what: str, table: dict):
    method = getattr(user, what)
    method()
    return table[what]()
"""
TESTS = """from shop.models import User
from shop.views import show


class FakeUser(User):
    def validate(self) -> str:
        return "fake"


def test_save():
    assert FakeUser("a").save() == "fake"


def test_show():
    assert show("a")
"""
SHOP = {"shop/__init__.py": "", "shop/models.py": MODELS, "shop/views.py": VIEWS, "tests/test_shop.py": TESTS}


def analyze(root: Path, **options: Any) -> engine.Repository:
    """The repository at `root`, in this process; what libraries are is read once for all tests."""
    return engine.analyze_repository(engine.Options(root=root, jedi=False, workers=1, **options))


def compile_one(repository: engine.Repository, target: str, **request: Any) -> Compilation:
    """One target's context."""
    return engine.run_deep(lambda: engine.compile_context(repository, target, engine.Request(**request)))


def compile_tree(root: Path, files: Mapping[str, str], target: str, **request: Any) -> Compilation:
    """The context for `target` in these files, written below `root`."""
    return compile_one(analyze(make_tree(root, files)), target, **request)


def compile_shop(root: Path, target: str, **request: Any) -> Compilation:
    """The context for `target` in the shop."""
    return compile_tree(root, SHOP, target, **request)


def as_json(compilation: Compilation) -> dict[str, Any]:
    """What `--format json` gives."""
    reply: dict[str, Any] = json.loads(render_json(compilation))
    return reply


def shown(compilation: Compilation) -> set[str]:
    """The ids in the context."""
    return {item.symbol for item in compilation.context.items}
