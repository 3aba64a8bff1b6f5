"""The benchmarks' own reading of imports, which judges contexts, must itself be right."""

from __future__ import annotations

from pathlib import Path

from benchmarks.imported_names import ImportedName, find_imported_names, is_shown
from tests.command import FIXTURES


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_reexports_stars_and_relative_imports_are_followed(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/pkg/__init__.py": "from .inner import *\nfrom .other import thing as renamed\n",
            "src/pkg/inner.py": "__all__ = ['seen']\ndef seen(): ...\ndef hidden(): ...\n",
            "src/pkg/other.py": "if True:\n    thing = 1\n",
            "src/pkg/use.py": (
                "import os\nfrom json import loads\nfrom pkg import seen, renamed\nfrom . import other\n"
                "def f():\n    from .inner import hidden\n"
            ),
        },
    )
    assert find_imported_names(tmp_path, "src/pkg/use.py") == [
        ImportedName("hidden", "src/pkg/inner.py"),
        ImportedName("seen", "src/pkg/inner.py"),
        ImportedName("thing", "src/pkg/other.py"),
    ]


def test_the_nine_files() -> None:
    assert find_imported_names(FIXTURES / "nine_files", "app/views.py") == [
        ImportedName("User", "app/models.py"),
        ImportedName("greeting_for", "app/services.py"),
    ]


def test_a_ring_of_reexports_ends(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "from b import x\n", "b.py": "from a import x\n"})
    assert find_imported_names(tmp_path, "a.py") == []


def test_a_definition_shows_a_name_and_a_use_does_not() -> None:
    name = ImportedName("save", "m.py")
    assert is_shown(name, "class A:\n    async def save(self): ...")
    assert is_shown(name, "save: int = 3")
    assert not is_shown(name, "user.save()\nfrom m import save\ndef save_all(): ...\nsave == 3 or save()")
