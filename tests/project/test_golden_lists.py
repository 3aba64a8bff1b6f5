"""What is analysed and what is left out, file by file: a fixture, and a repository that has everything at once."""

from __future__ import annotations

from pathlib import Path

from contextc.analyzer.modules import MISSING
from contextc.analyzer.project import Project
from tests.command import FIXTURES
from tests.project.trees import discover, make_tree

NINE_FILES = """\
app.handlers                  app/handlers/__init__.py
app.handlers.handler_email    app/handlers/handler_email.py
app.handlers.handler_sms      app/handlers/handler_sms.py
app                           app/__init__.py
app.models                    app/models.py
app.models_order              app/models_order.py
app.services                  app/services.py
app.signals                   app/signals.py
app.views                     app/views.py
"""

EVERYTHING = """\
conftest                      conftest.py
shop                          shop/__init__.py
shop.generated.kept           shop/generated/kept.py
shop.typed@.                  shop/typed.py
shop.typed@.@stub             shop/typed.pyi
sdk.client                    packages/sdk/python/sdk/client.py
setup                         packages/sdk/setup.py
shop.typed@services/shop/src  services/shop/src/shop/typed.py
tests.test_shop@services/shop services/shop/tests/test_shop.py
tests.test_shop@.             tests/test_shop.py
- .git/                       dependencies
- .hidden/env/                environment
- .env.py                     ignored
- docs/                       excluded
- shop/generated/local.py     ignored
- shop/schema_pb2.py          ignored
- web/node_modules/           dependencies
"""


def render(project: Project) -> list[str]:
    lines = [f"{file.module_id:29} {file.path}" for file in project.files]
    lines += [f"- {skip.path:27} {skip.reason}" for skip in project.skipped]
    return sorted(lines)


def test_nine_files() -> None:
    assert render(discover(FIXTURES / "nine_files")) == sorted(NINE_FILES.splitlines())


def build_everything(folder: Path) -> Path:
    files = {
        "pyproject.toml": '[tool.contextc]\nexclude = ["/docs/"]\n',
        ".gitignore": "*_pb2.py\n.env*\n__pycache__/\n",
        "shop/generated/.gitignore": "*\n!kept.py\n",
        "packages/sdk/setup.py": 'from setuptools import setup\nsetup(package_dir={"": "python"})\n',
        ".env": "KEY = 'sk-secret'\n",
    }
    empty = [
        ".git/HEAD", ".env.py", ".hidden/env/pyvenv.cfg", ".hidden/env/lib/x.py", "conftest.py", "docs/conf.py",
        "packages/sdk/python/sdk/client.py", "services/shop/pyproject.toml", "services/shop/src/shop/typed.py",
        "services/shop/tests/test_shop.py", "shop/__init__.py", "shop/__pycache__/a.pyc", "shop/generated/kept.py",
        "shop/generated/local.py", "shop/schema_pb2.py", "shop/typed.py", "shop/typed.pyi", "tests/test_shop.py",
        "web/node_modules/gyp/gyp.py",
    ]  # fmt: skip
    return make_tree(make_tree(folder, files), empty)


def test_everything_at_once(tmp_path: Path) -> None:
    assert render(discover(build_everything(tmp_path))) == sorted(EVERYTHING.splitlines())


def test_what_is_ignored_stays_out_also_for_imports(tmp_path: Path) -> None:
    """Neither an import, nor a link, nor a folder above leads to a file that an ignore rule keeps out."""
    root = build_everything(tmp_path)
    (root / "settings.py").symlink_to(".env")
    (root / "schema.py").symlink_to("shop/schema_pb2.py")
    project = discover(root)
    assert not {"settings.py", "schema.py", ".env.py", "shop/schema_pb2.py"} & {file.path for file in project.files}
    index = project.index_modules()
    importer = next(file for file in project.files if file.path == "shop/typed.py")
    for name in ("shop.schema_pb2", "settings", "schema", "shop.generated.local"):
        assert index.find(importer, name) in (None, MISSING)
        assert index.find_elsewhere(importer, name) is None


def test_the_order_of_creation_does_not_matter(tmp_path: Path) -> None:
    first = discover(build_everything(tmp_path / "first"))
    names = [path.relative_to(tmp_path / "first") for path in (tmp_path / "first").rglob("*") if path.is_file()]
    contents = {name.as_posix(): (tmp_path / "first" / name).read_text() for name in sorted(names, reverse=True)}
    second = discover(make_tree(tmp_path / "second", contents))
    assert second._replace(root=first.root) == first
