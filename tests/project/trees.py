"""Small trees for tests: `make_tree(folder, {"a/b.py": "x = 1", "empty/": ""})`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from contextc.analyzer.project import Project, discover_project
from contextc.analyzer.settings import load_settings


def make_tree(folder: Path, files: Mapping[str, str] | Iterable[str]) -> Path:
    """Writes `files` below `folder`, which is returned; a path ending in "/" is an empty folder."""
    contents = files if isinstance(files, Mapping) else dict.fromkeys(files, "")
    for path, text in contents.items():
        place = folder / path
        if path.endswith("/"):
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    return folder


def discover(root: Path, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> Project:
    """The project at `root` with these patterns on the command line and no configuration of the user's."""
    settings = load_settings(root, include=tuple(include), exclude=tuple(exclude), user_config=root / "none.toml")
    return discover_project(root, settings)


def paths_of(project: Project) -> list[str]:
    """The paths of the files to analyse."""
    return [file.path for file in project.files]


def skips_of(project: Project) -> dict[str, str]:
    """Path → reason of all that was left out."""
    return {skip.path: str(skip.reason) for skip in project.skipped}
