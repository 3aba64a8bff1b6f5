"""The walk: ignore files, environments, dependency folders, include and exclude, links, and how much is looked at."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextc.analyzer.project import discover_project
from contextc.analyzer.settings import Settings
from contextc.errors import ConfigurationError
from tests.project.trees import discover, make_tree, paths_of, skips_of


def test_nothing_is_left_out_by_a_generic_name(tmp_path: Path) -> None:
    names = [
        "build",
        "dist",
        "lib",
        "env",
        "venv",
        ".venv",
        "site-packages",
        "vendor",
        "packages",
        "target",
        "tmp",
        "src",
    ]
    root = make_tree(tmp_path, [f"{name}/module.py" for name in names])
    assert paths_of(discover(root)) == sorted(f"{name}/module.py" for name in names)
    assert skips_of(discover(root)) == {}


def test_environments_and_dependency_folders_need_no_ignore_file(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path,
        [
            "app.py", ".venv-onnx/pyvenv.cfg", ".venv-onnx/lib/python3.11/site-packages/six.py", "deep/x/conda-meta/",
            "deep/x/lib/a.py", "web/node_modules/gyp/gyp.py", "__pypackages__/3.11/lib/b.py", ".git/hooks/c.py",
            ".hg/d.py", "__pycache__/app.cpython-311.pyc", "deep/__pycache__/source.py", "conda-meta.py",
        ],
    )  # fmt: skip
    assert paths_of(discover(root)) == ["app.py", "conda-meta.py"]
    assert skips_of(discover(root)) == {
        ".venv-onnx/": "environment",
        "deep/x/": "environment",
        "web/node_modules/": "dependencies",
        "__pypackages__/": "dependencies",
        ".git/": "dependencies",
        ".hg/": "dependencies",
        "deep/__pycache__/": "dependencies",  # the other one holds no source: nothing is left out
    }


def test_a_root_that_is_an_environment_itself(tmp_path: Path) -> None:
    root = make_tree(tmp_path, ["pyvenv.cfg", "app.py", "lib/python3.11/site-packages/six.py", "lib/own.py"])
    assert paths_of(discover(root)) == ["app.py", "lib/own.py"]
    assert skips_of(discover(root)) == {"lib/python3.11/": "environment"}


def test_a_root_inside_an_environment_is_analysed(tmp_path: Path) -> None:
    make_tree(tmp_path, ["pyvenv.cfg", "lib/python3.11/site-packages/six/__init__.py"])
    assert paths_of(discover(tmp_path / "lib/python3.11/site-packages/six")) == ["__init__.py"]


def test_nested_ignore_files_add_to_the_outer_rules(tmp_path: Path) -> None:
    files = {".gitignore": "*.gen.py\nsecret/\n", "a/.gitignore": "!keep.gen.py\nlocal.py\n"}
    root = make_tree(tmp_path, files)
    make_tree(
        root, ["a/keep.gen.py", "a/x.gen.py", "a/local.py", "local.py", "keep.gen.py", "a/secret/b.py", "a/ok.py"]
    )
    assert paths_of(discover(root)) == ["a/keep.gen.py", "a/ok.py", "local.py"]
    assert skips_of(discover(root)) == {
        "a/x.gen.py": "ignored",
        "a/local.py": "ignored",
        "keep.gen.py": "ignored",
        "a/secret/": "ignored",
    }


def test_rules_of_the_folders_above_up_to_the_repository_apply(tmp_path: Path) -> None:
    make_tree(
        tmp_path,
        {
            ".gitignore": "never.py\n", "repo/.git/info/exclude": "private.py\n",
            "repo/.gitignore": "/sub/pkg/one.py\nroot_only.py\n/two.py\n",
            "repo/sub/.gitignore": "three.py\n!five.py\n",
            "repo/sub/pkg/.gitignore": "!three.py\n", "repo/.git/HEAD": "",
        },
    )  # fmt: skip
    names = ["never", "private", "one", "root_only", "two", "three", "four", "five"]
    make_tree(tmp_path / "repo/sub/pkg", [f"{name}.py" for name in names])
    project = discover(tmp_path / "repo/sub/pkg")
    assert paths_of(project) == ["five.py", "four.py", "never.py", "three.py", "two.py"]
    assert [skip.detail for skip in project.skipped] == [
        "By ../../.gitignore.", "By ../../.git/info/exclude.", "By ../../.gitignore.",
    ]  # fmt: skip


def test_ignore_files_above_a_root_in_no_repository_do_not_apply(tmp_path: Path) -> None:
    make_tree(tmp_path, {".gitignore": "*.py\n", "project/a.py": ""})
    assert paths_of(discover(tmp_path / "project")) == ["a.py"]


@pytest.mark.parametrize("content", ["*.py\n".encode("utf-16"), b"*.py\n\0\x01\x02", b"\xff\xfe*.py"])
def test_an_unreadable_ignore_file_is_a_warning(tmp_path: Path, content: bytes) -> None:
    make_tree(tmp_path, ["a.py", "sub/b.py"])
    (tmp_path / "sub/.gitignore").write_bytes(content)
    project = discover(tmp_path)
    assert paths_of(project) == ["a.py", "sub/b.py"]
    assert skips_of(project) == {"sub/.gitignore": "ignore-file"}


def test_an_ignore_file_that_is_no_file(tmp_path: Path) -> None:
    make_tree(tmp_path, {"a/x.py": "", "b/.gitignore/": "", "c/x.py": "", "d/x.py": "", "rules": "*.py\n"})
    os.mkfifo(tmp_path / "a/.gitignore")
    (tmp_path / "c/.gitignore").symlink_to("../rules")  # git doesn't read it either
    (tmp_path / "d/.gitignore").write_bytes(b"#" * 1_000_001)
    project = discover(tmp_path)
    assert paths_of(project) == ["a/x.py", "c/x.py", "d/x.py"]
    assert skips_of(project) == {f"{name}/.gitignore": "ignore-file" for name in "abcd"}


def test_ignore_files_with_other_encodings_and_line_ends(tmp_path: Path) -> None:
    make_tree(tmp_path, ["a.py", "b.py", "sub/é.py", "sub/c.py"])
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.py\r\nb.py\r\n# caf\xe9\r\n")
    (tmp_path / "sub/.gitignore").write_text("é.py", encoding="utf-8")
    assert paths_of(discover(tmp_path)) == ["sub/c.py"]
    assert [skip.reason.value for skip in discover(tmp_path).skipped] == ["ignored"] * 3


def test_include_restricts_and_folders_are_listed_once(tmp_path: Path) -> None:
    root = make_tree(
        tmp_path, ["pkg/a.py", "pkg/tests/b.py", "pkg/conftest.py", "doc/conf.py", "doc/x/y.py", "setup.py"]
    )
    project = discover(root, include=["pkg/"], exclude=["tests/", "conftest.py"])
    assert paths_of(project) == ["pkg/a.py"]
    assert skips_of(project) == {
        "doc/": "not-included",
        "setup.py": "not-included",
        "pkg/tests/": "excluded",
        "pkg/conftest.py": "excluded",
    }


@pytest.mark.parametrize(
    ("include", "expected"),
    [
        (["a/"], ["a/x.py", "b/a/z.py"]),  # gitignore form: at any depth
        (["/a/"], ["a/x.py"]),
        (["./a"], ["a/x.py"]),
        (["b/a"], ["b/a/z.py"]),
        (["*.py", "!x.py"], ["b/a/z.py", "b/y.py", "top.py"]),
        (["b/", "!b/a/"], ["b/y.py"]),
        (["b/**/z.py"], ["b/a/z.py"]),
        (["/*.py"], ["top.py"]),
        (["b/y.py", "/top.py"], ["b/y.py", "top.py"]),
    ],
)
def test_include_patterns(tmp_path: Path, include: list[str], expected: list[str]) -> None:
    root = make_tree(tmp_path, ["a/x.py", "b/a/z.py", "b/y.py", "top.py"])
    assert paths_of(discover(root, include=include)) == expected


def test_an_anchored_include_does_not_enter_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_tree(tmp_path, ["a/b/x.py", "a/c/y.py", "d/z.py"])
    listed = count_listings(monkeypatch)
    project = discover(root, include=["/a/b/"])
    assert [os.path.relpath(path, root) for path in listed] == [".", "a", "a/b"]
    assert skips_of(project) == {"a/c/": "not-included", "d/": "not-included"}


def test_include_that_matches_nothing_is_noted(tmp_path: Path) -> None:
    project = discover(make_tree(tmp_path, ["a.py"]), include=["nothing/"])
    assert not project.files
    assert [note.message for note in project.notes] == ["No Python file matches --include."]


def test_an_exactly_named_path_is_lifted_alone(tmp_path: Path) -> None:
    ignore = "build/\n*_pb2.py\n"
    root = make_tree(tmp_path, {".gitignore": ignore})
    make_tree(root, ["app.py", "build/gen/a.py", "build/gen/b_pb2.py", "build/other/c.py", "build/d.py", "x_pb2.py"])
    assert paths_of(discover(root, include=["*.py"])) == ["app.py"]
    assert paths_of(discover(root, include=["app.py", "build/gen/"])) == ["app.py", "build/gen/a.py"]
    assert paths_of(discover(root, include=["/build/d.py"])) == ["build/d.py"]
    assert paths_of(discover(root, include=["x_pb2.py"])) == ["x_pb2.py"]
    assert paths_of(discover(root, include=["build/gen/*"])) == []  # a wildcard lifts nothing
    assert paths_of(discover(root, include=["build/gen/"], exclude=["gen/"])) == []
    project = discover(root, include=["build/gen/"])
    assert skips_of(project) == {
        "app.py": "not-included",
        "build/other/": "ignored",
        "build/d.py": "ignored",
        "build/gen/b_pb2.py": "ignored",
        "x_pb2.py": "ignored",
    }


def test_a_single_file_of_an_environment_is_that_file_alone(tmp_path: Path) -> None:
    packages = ".venv/lib/python3.11/site-packages"
    root = make_tree(tmp_path, ["app.py", ".venv/pyvenv.cfg", f"{packages}/six.py", f"{packages}/big/__init__.py"])
    project = discover(root, include=["/app.py", f"{packages}/six.py"])
    assert paths_of(project) == [f"{packages}/six.py", "app.py"]
    assert skips_of(project) == {f"{packages}/big/": "ignored"}


def test_exclude_uses_gitignore_form(tmp_path: Path) -> None:
    root = make_tree(tmp_path, ["a/x.py", "a/keep.py", "b/x.py", "c/d/e.py"])
    assert paths_of(discover(root, exclude=["x.py", "/c/d"])) == ["a/keep.py"]
    assert paths_of(discover(root, exclude=["a/*", "!a/keep.py"])) == ["a/keep.py", "b/x.py", "c/d/e.py"]
    assert skips_of(discover(root, exclude=["c/"])) == {"c/": "excluded"}


@pytest.mark.parametrize("pattern", ["[z-a]", "\\", "*a*a*a*a*a*b"])
def test_a_pattern_of_no_use_is_an_error(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ConfigurationError, match=r"include: .* can't be used"):
        discover(tmp_path, include=[pattern])


def test_a_root_that_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    for root in (tmp_path / "a.py", tmp_path / "missing"):
        with pytest.raises(ConfigurationError, match="give the root folder"):
            discover_project(root, Settings())


def test_links(tmp_path: Path) -> None:
    root = make_tree(tmp_path / "root", ["real/a.py", "tool", "b.py", "ignored/c.py", ".gitignore"])
    make_tree(tmp_path, ["other/d.py"])
    (root / ".gitignore").write_text("ignored/\n")
    for link, target in {
        "shared": "real", "second.py": "b.py", "tool.py": "tool", "ztool.py": "tool", "hidden.py": "ignored/c.py",
        "out": "../other", "out.py": "../other/d.py", "up": ".", "real/up": "../..", "loop.py": "loop.py",
        "ring": "ring2", "ring2": "ring", "gone": "nowhere", "notes.txt": "b.py",
    }.items():  # fmt: skip
        (root / link).symlink_to(target)
    project = discover(root)
    assert paths_of(project) == ["b.py", "real/a.py"]
    assert skips_of(project) == {
        "shared/": "duplicate",
        "second.py": "duplicate",
        "tool.py": "not-regular",  # the target may hold secrets
        "ztool.py": "not-regular",
        "hidden.py": "duplicate",
        "out/": "outside-root",
        "out.py": "outside-root",
        "up/": "symlink-loop",
        "real/up/": "outside-root",
        "loop.py": "symlink-loop",
        "ring": "symlink-loop",
        "ring2": "symlink-loop",
        "gone": "unreadable",
        "ignored/": "ignored",
    }
    assert project.links == (
        ("hidden.py", "ignored/c.py"), ("second.py", "b.py"), ("shared", "real"),
    )  # fmt: skip


def test_a_root_behind_a_link(tmp_path: Path) -> None:
    make_tree(tmp_path / "real", ["a.py"])
    (tmp_path / "link").symlink_to("real")
    assert paths_of(discover(tmp_path / "link")) == ["a.py"]


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_tree(tmp_path, ["a.py", "closed/b.py"])
    real = os.scandir

    def refuse(path: str) -> Any:
        if path.rstrip("/").endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    project = discover(root)
    assert paths_of(project) == ["a.py"]
    assert skips_of(project) == {"closed/": "unreadable"}
    assert project.skipped[0].detail == "Permission denied."


@pytest.mark.skipif(os.name != "posix", reason="names are bytes there only")
def test_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py"))).write_text("x = 1")
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    assert skips_of(discover(tmp_path)) == {"caf\\xe9.py": "undecodable"}


def test_ignored_folders_are_not_descended_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty big ignored folders, an environment and node_modules: nothing in them is listed or looked at."""
    root = make_tree(
        tmp_path, {".gitignore": "data/\n", "venv/pyvenv.cfg": "", "venv/lib/deep/x.py": "", "pkg/a.py": ""}
    )
    make_tree(root, [f"data/{number}/{name}.py" for number in range(50) for name in "abc"])
    make_tree(root, ["node_modules/m/x.py"])
    listed, looked_at = count_listings(monkeypatch), []
    for name in ("stat", "lstat"):
        real = getattr(os, name)

        def look(path: Any, *rest: Any, real: Any = real, **options: Any) -> Any:
            looked_at.append(os.fspath(path) if not isinstance(path, int) else "")
            return real(path, *rest, **options)

        monkeypatch.setattr(os, name, look)
    assert paths_of(discover(root)) == ["pkg/a.py"]
    assert [os.path.relpath(path, root) for path in listed] == [".", "venv", "pkg"]
    inside = [path for path in looked_at if any(part in str(path) for part in ("/data/", "/venv/", "/node_modules/"))]
    assert inside == []
    assert len(looked_at) < 60


def count_listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that are listed from now on."""
    listed: list[str] = []
    real = os.scandir

    def scan(path: str) -> Iterator[Any]:
        listed.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scan)
    return listed


def test_ten_thousand_files(tmp_path: Path) -> None:
    for number in range(100):
        folder = tmp_path / f"pkg{number}" / "sub"
        folder.mkdir(parents=True)
        for name in range(100):
            (folder / f"m{name}.py").touch()
    (tmp_path / ".gitignore").write_text("\n".join(f"*.gen{number}.py\n/out{number}/*.py" for number in range(30)))
    start = time.process_time()
    project = discover(tmp_path)
    assert len(project.files) == 10_000
    assert time.process_time() - start < 5  # measured: about 0.5


def test_a_very_deep_tree(tmp_path: Path) -> None:
    """Thousands of folders deep: no recursion per folder; past the system's longest path the folder is listed."""
    here, depth = os.open(".", os.O_RDONLY), 2500
    (tmp_path / "a.py").touch()
    try:
        os.chdir(tmp_path)
        for _ in range(depth):
            Path("d").mkdir()
            os.chdir("d")
        project = discover(tmp_path)
        for _ in range(depth):  # by hand: shutil.rmtree recurses
            os.chdir("..")
            Path("d").rmdir()
    finally:
        os.chdir(here)
        os.close(here)
    assert paths_of(project) == ["a.py"]
    assert [skip.reason.value for skip in project.skipped] == ["unreadable"]
