"""The import contracts in pyproject.toml: layers run one way, each foreign library stays behind its fence."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from tests.command import REPOSITORY

# Where each foreign library may be imported: one file, or for a reader the files of that reader.
FENCES = {
    "libcst": "contextc/analyzer/reading/libcst_*.py",
    "tree_sitter": "contextc/analyzer/reading/tree_*.py",
    "tree_sitter_python": "contextc/analyzer/reading/tree_*.py",
    "jedi": "contextc/analyzer/externals/jedi_oracle.py",
    "parso": "contextc/analyzer/externals/jedi_oracle.py",
    "typeshed_client": "contextc/analyzer/externals/stubs.py",
    "platformdirs": "contextc/analyzer/settings.py",
    "pathspec": "contextc/analyzer/ignore_rules.py",
    "sqlite3": "contextc/analyzer/store.py",
    "networkx": "contextc/graph/algorithms.py",
    "rich": "contextc/progress.py",
    "splintr": "contextc/passes/tokens.py",
    "unidiff": "contextc/passes/seeds/patch.py",
}


def test_contracts_are_kept() -> None:
    code = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Contracts: [1-9]\d* kept, 0 broken", done.stdout)


@pytest.mark.parametrize("library", FENCES)
def test_each_library_is_imported_behind_its_fence(library: str) -> None:
    statement = re.compile(rf"^\s*(?:import|from)\s+{library}\b", re.MULTILINE)
    files = (REPOSITORY / "contextc").rglob("*.py")
    importers = {p.relative_to(REPOSITORY) for p in files if statement.search(p.read_text(encoding="utf-8"))}
    assert importers, f"{library} is not used"
    assert {p for p in importers if not p.match(FENCES[library])} == set()


def test_no_other_library_is_imported() -> None:
    """Every import is of ours, of the standard library, or of a fenced library."""
    known = {"contextc", "tomli", "tomllib", *FENCES, *sys.stdlib_module_names}
    for path in (REPOSITORY / "contextc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or "contextc"] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            assert {name.partition(".")[0] for name in names} <= known, path


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
