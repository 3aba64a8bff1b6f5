"""Which names of its own repository a file imports, by reading the syntax alone: the independent check of a context.

`from .json.tag import TaggedJSONSerializer` in `src/flask/sessions.py` gives
`ImportedName("TaggedJSONSerializer", "src/flask/json/tag.py")`; the path is where the name is defined, re-exports and
star imports followed. A module that is imported as such (`import networkx as nx`) has no signature and is left out.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

MAX_STEPS = 20  # re-exports followed for one name


class ImportedName(NamedTuple):
    """A name bound by an import statement: what it is called where it is defined, and in which file."""

    name: str
    path: str  # POSIX, relative to the root


def find_imported_names(root: Path, target: str) -> list[ImportedName]:
    """Names that the file `target` imports from files under `root`, at any depth of its code, sorted."""
    found = set()
    for node in ast.walk(_parse(root / target)):
        if isinstance(node, ast.ImportFrom):
            module = _module_file(root, root / target, node)
            for alias in node.names if module else ():
                assert module is not None
                names = _public_names(module) if alias.name == "*" else [alias.name]
                for name in names:
                    place = _definition(root, module, name, MAX_STEPS)
                    if place is not None:
                        found.add(ImportedName(place[1], place[0].relative_to(root).as_posix()))
    return sorted(found)


def is_shown(name: ImportedName, text: str) -> bool:
    """Whether a line of `text` defines the name: its `def`, its `class`, or an assignment that is not indented."""
    word = re.escape(name.name)
    definition = rf"^\s*(?:async\s+def|def|class)\s+{word}\s*[(:\[]"
    assignment = rf"^{word}\s*(?::|=(?!=))"
    return bool(re.search(f"{definition}|{assignment}", text, re.MULTILINE))


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _module_file(root: Path, importer: Path, node: ast.ImportFrom) -> Path | None:
    """The file of the module after `from`, None outside the repository."""
    parts = node.module.split(".") if node.module else []
    if node.level:
        base = importer.parent
        for _ in range(node.level - 1):
            base = base.parent
        return _file_of(base.joinpath(*parts))
    # An absolute name starts at some folder above the importer: the source root is not told, so each is tried.
    for base in importer.relative_to(root).parents:
        found = _file_of((root / base).joinpath(*parts))
        if found is not None and not (root / base / "__init__.py").exists():
            return found
    return None


def _file_of(module: Path) -> Path | None:
    for path in (module / "__init__.py", module.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _definition(root: Path, module: Path, name: str, steps: int) -> tuple[Path, str] | None:
    """File and name of the definition, through re-exports; None for a module or a name that is nowhere."""
    if steps == 0:
        return None
    tree = _parse(module)
    if name in _defined(tree):
        return module, name
    stars = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        source = _module_file(root, module, node)
        for alias in node.names if source else ():
            assert source is not None
            if alias.name == "*":
                stars.append(source)
            elif (alias.asname or alias.name) == name:
                return _definition(root, source, alias.name, steps - 1)
    for source in stars:
        if name in _public_names(source) or not _lists_all(_parse(source)):
            place = _definition(root, source, name, steps - 1)
            if place is not None:
                return place
    return None


def _defined(tree: ast.Module) -> set[str]:
    """Names that module code binds by a def, class or assignment, in `if` and `try` blocks too."""
    names: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            names.update(n.id for n in ast.walk(target) if isinstance(n, ast.Name)) if target else None
        todo.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt | ast.ExceptHandler))
    return names


def _lists_all(tree: ast.Module) -> bool:
    return "__all__" in _defined(tree)


def _public_names(module: Path) -> list[str]:
    """What `from module import *` binds, as far as it is written down: `__all__`, else the public definitions."""
    tree = _parse(module)
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [c.value for c in ast.walk(node.value) if isinstance(c, ast.Constant) and isinstance(c.value, str)]
    return sorted(name for name in _defined(tree) if not name.startswith("_"))
