"""The import contracts in pyproject.toml: layers run one way, each foreign library is imported in one file."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict

import pytest

from tests.command import REPOSITORY

FENCED = ("libcst", "tree_sitter", "jedi", "typeshed_client", "pathspec", "sqlite3", "networkx", "rich", "splintr")


def test_contracts_are_kept() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout)


@pytest.mark.parametrize("library", FENCED)
def test_each_library_is_imported_in_one_file(library: str) -> None:
    statement = re.compile(rf"^\s*(?:import|from)\s+{library}\b", re.MULTILINE)
    importers = defaultdict(list)
    for path in (REPOSITORY / "contextc").rglob("*.py"):
        if statement.search(path.read_text(encoding="utf-8")):
            importers[library].append(path.relative_to(REPOSITORY).as_posix())
    assert len(importers[library]) == 1, importers[library]


def test_help_is_fast() -> None:
    """Asking for help, and importing the package, loads none of the heavy libraries."""
    code = (
        "import contextlib, io, sys\n"
        "from contextc.cli import main\n"
        "out = io.StringIO()\n"
        "with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):\n"
        "    main(['--help'])\n"
        "assert 'compile' in out.getvalue(), out.getvalue()\n"
        "heavy = {'libcst', 'jedi', 'networkx', 'rich', 'tree_sitter', 'typeshed_client', 'splintr'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stdout + done.stderr
