"""Files of a git revision: read as objects; nothing that the repository configures is run."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from contextc.analyzer.revision import read_revision
from contextc.errors import UserError

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
}  # fmt: skip


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Committed: app.py, gone.py, same.py, data.txt, win.txt; then edited, deleted, kept, edited, kept."""
    root = tmp_path / "repository"
    (root / "sub").mkdir(parents=True)
    for name, text in {
        "app.py": "x = 1\n", "gone.py": "y = 1\n", "same.py": "z = 1\n", "data.txt": "one\n", "win.txt": "a\nb\n",
        "sub/in.py": "s = 1\n", "odd name é.py": "o = 1\n",
    }.items():  # fmt: skip
        (root / name).write_bytes(text.encode())
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    (root / "app.py").write_bytes(b"x = 2\n")
    (root / "odd name é.py").write_bytes(b"o = 2\n")
    (root / "gone.py").unlink()
    (root / "data.txt").write_bytes(b"two\n")
    (root / "win.txt").write_bytes(b"a\r\nb\r\n")
    return root


def test_what_differs(tree: Path) -> None:
    found = read_revision(tree, "HEAD")
    assert found.texts == {"app.py": b"x = 1\n", "gone.py": b"y = 1\n", "odd name é.py": b"o = 1\n"}
    assert found.same == {"same.py", "sub/in.py", "win.txt"}
    assert found.present == {"app.py", "odd name é.py"}
    assert found.others == ("data.txt",)
    assert found.notes == ()


def test_a_subfolder_has_its_own_paths(tree: Path) -> None:
    (tree / "sub" / "in.py").write_bytes(b"s = 2\n")
    assert read_revision(tree / "sub", "main").texts == {"in.py": b"s = 1\n"}


def test_tracked_new_files_outside_of_python(tree: Path) -> None:
    (tree / "more.cfg").write_text("x")
    git(tree, "add", "more.cfg")
    assert read_revision(tree, "HEAD").others == ("data.txt", "more.cfg")


def trap(folder: Path, name: str, end: str = "cat") -> str:
    """A program that leaves a file behind, to be named in a configuration."""
    script = folder / f"trap-{name}"
    script.write_text(f"#!/bin/sh\ntouch '{folder}/sprung-{name}'\n{end}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


@pytest.mark.skipif(os.name == "nt", reason="the traps are shell scripts")
def test_nothing_that_the_repository_configures_is_run(tree: Path, tmp_path: Path) -> None:
    traps = tmp_path / "traps"
    traps.mkdir()
    settings = {
        "core.fsmonitor": "monitor", "diff.external": "external", "filter.x.clean": "clean",
        "filter.x.smudge": "smudge", "filter.x.process": "process", "diff.y.textconv": "textconv",
        "diff.y.command": "command", "core.sshCommand": "ssh", "core.pager": "pager", "core.editor": "editor",
        "credential.helper": "credential", "core.askPass": "askpass", "gpg.program": "gpg", "pager.ls-tree": "pager2",
        "core.gitProxy": "proxy", "uploadpack.packObjectsHook": "pack", "core.alternateRefsCommand": "refs",
    }  # fmt: skip
    for name, what in settings.items():
        git(tree, "config", name, trap(traps, what))
    for command in ("ls-tree", "cat-file", "rev-parse", "ls-files", "diff"):
        git(tree, "config", f"alias.{command}", f"!{trap(traps, 'alias')}")
    hooks = tree / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch '{traps}/sprung-hook'\n")
        (hooks / hook).chmod(0o755)
    (tree / ".gitattributes").write_text("*.py filter=x diff=y\n*.txt filter=x diff=y\n")
    assert "app.py" in read_revision(tree, "HEAD").texts
    assert sorted(path.name for path in traps.glob("sprung-*")) == []
    # the traps are real ones: plain git springs at least these
    subprocess.run(["git", "--no-pager", "diff", "HEAD"], cwd=tree, env=ENVIRONMENT, capture_output=True, timeout=60)
    assert {"sprung-clean", "sprung-monitor"} & {path.name for path in traps.glob("sprung-*")}


@pytest.mark.skipif(os.name == "nt", reason="the traps are shell scripts")
def test_a_missing_object_is_not_fetched(tree: Path, tmp_path: Path) -> None:
    """A clone without blobs would ask its remote; here by a protocol that runs a program."""
    oid = git(tree, "rev-parse", "HEAD:app.py")
    (tree / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    for name, value in {
        "extensions.partialClone": "origin", "remote.origin.promisor": "true", "protocol.allow": "always",
        "protocol.ext.allow": "always", "remote.origin.url": f"ext::{trap(tmp_path, 'fetch', 'exit 1')}",
        "core.repositoryFormatVersion": "1",
    }.items():  # fmt: skip
        git(tree, "config", name, value)
    with pytest.raises(UserError, match="--diff: "):
        read_revision(tree, "HEAD")
    assert not (tmp_path / "sprung-fetch").exists()
    plain = ["git", "cat-file", "-p", oid]
    subprocess.run(plain, cwd=tree, env=ENVIRONMENT, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    assert (tmp_path / "sprung-fetch").exists()  # plain git does ask


@pytest.mark.skipif(os.name == "nt", reason="a shell script")
def test_a_git_inside_the_repository_is_not_run(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "bin").mkdir()
    fake = tree / "bin" / "git"
    fake.write_text(f"#!/bin/sh\ntouch '{tree}/sprung'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tree / 'bin'}{os.pathsep}.{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tree / "bin")
    assert "app.py" in read_revision(tree, "HEAD").texts
    monkeypatch.setenv("PATH", str(tree / "bin"))
    with pytest.raises(UserError, match="no git outside of the repository"):
        read_revision(tree, "HEAD")
    assert not (tree / "sprung").exists()


def test_environment_variables_of_git_mean_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "maybe")
    assert "app.py" in read_revision(tree, "HEAD").texts


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("--output=x", "is no revision"), ("", "is no revision"), ("main..HEAD", "names two revisions"),
        ("nosuch", "no revision 'nosuch'"), ("HEAD:app.py", "no revision 'HEAD:app.py'"),
    ],
)  # fmt: skip
def test_wrong_revisions(tree: Path, revision: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_revision(tree, revision)
    assert not (tree / "x").exists()


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no git repository at or above ROOT"):
        read_revision(tmp_path, "HEAD")
