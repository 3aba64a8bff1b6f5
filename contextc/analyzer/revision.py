"""The files of a git revision. In: a folder and a revision. Out: `Revision`: Python files' texts, other files' names.

    read_revision(Path("proj"), "HEAD~1")  ->  Revision({"a.py": b"x = 1\\n"}, …, others=("b.txt",), …)

Git is asked for objects alone (`rev-parse`, `ls-tree`, `ls-files`, `cat-file`), never for a diff or a status: those run
what a repository's configuration names (filters, textconv, external diffs, the file-system monitor). What is left of
that is switched off: no pager, no hook, no lazy fetch by any protocol, no other configuration than the repository's.
Paths are POSIX, relative to the folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.source import MAX_FILE_BYTES, normalise_source, read_regular
from contextc.errors import UserError
from contextc.model.diagnostic import Skip

_SECONDS = 120
_SWITCHED_OFF = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.sshCommand=false",
    "core.attributesFile=/dev/null", "credential.helper=", "protocol.allow=never", "safe.bareRepository=explicit",
    "safe.directory=*",  # whoever owns it: nothing that it configures is run
)  # fmt: skip
_KEPT = ("SYSTEMROOT", "TEMP", "TMP")  # of the environment, for git on Windows
_REGULAR = frozenset({b"100644", b"100755", b"100664"})
_PYTHON = (".py", ".pyi")
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"


class Revision(NamedTuple):
    """`texts`: normalised, of the Python files that differ from the present ones, or that are gone. `same`: paths of
    any kind that don't differ. `present`: those of `texts` that still exist. `others`: paths outside of Python that
    were changed, added or deleted since. `notes`: what could not be looked at."""

    texts: Mapping[str, bytes]
    same: Set[str]
    present: frozenset[str]
    others: tuple[str, ...]
    notes: tuple[str, ...]


class _Entry(NamedTuple):
    mode: bytes
    oid: bytes


def read_revision(root: Path, revision: str) -> Revision:
    """The state of `root` at `revision`, as far as it differs. Raises UserError: no git, no repository, no such
    revision."""
    if not revision or revision.startswith("-") or "\0" in revision:
        raise UserError(f"--diff: '{revision}' is no revision; give one such as main or HEAD~1, or a patch file")
    if ".." in revision:
        raise UserError(f"--diff: '{revision}' names two revisions; give one, the working tree is compared with it")
    git = _Git(root)
    commit = git.commit_of(revision)
    entries, odd = git.entries_of(commit)
    python = {path: entry for path, entry in entries.items() if path.endswith(_PYTHON)}
    changed = [path for path, entry in python.items() if not _is_same(root, path, entry)]
    texts: dict[str, bytes] = {}
    notes = [f"not looked into: {path}" for path in odd]
    for path, blob in git.blobs_of({path: python[path].oid for path in changed}).items():
        text = normalise_source(blob) if len(blob) <= MAX_FILE_BYTES else None
        texts[path] = text if text is not None else b""
        if text is None:
            notes.append(f"{path} of {revision} is too large or no Python text; all of the file counts as changed")
    others = _changed_others(root, git, {p: e for p, e in entries.items() if p not in python}, git.tracked_paths())
    present = frozenset(path for path in changed if (root / path).is_file())
    return Revision(texts, entries.keys() - {*changed, *others}, present, others, tuple(notes))


def _changed_others(root: Path, git: _Git, entries: Mapping[str, _Entry], tracked: frozenset[str]) -> tuple[str, ...]:
    """Files outside of Python that differ. Line ends don't count, nor does a large file that its pointer names."""
    differing = {path: entry.oid for path, entry in entries.items() if not _is_same(root, path, entry)}
    changed = {path for path in tracked if path not in entries and not path.endswith(_PYTHON)}
    for path, blob in git.blobs_of(differing).items():
        present = read_regular(root, path, 64 * MAX_FILE_BYTES)
        if isinstance(present, Skip) or not _means(blob, present):
            changed.add(path)
    return tuple(sorted(changed))


def _means(blob: bytes, present: bytes) -> bool:
    if blob.startswith(_POINTER):
        return f"oid sha256:{hashlib.sha256(present).hexdigest()}\n".encode() in blob
    return blob.replace(b"\r\n", b"\n") == present.replace(b"\r\n", b"\n")


def _is_same(root: Path, path: str, entry: _Entry) -> bool:
    """Whether the present file has that object's bytes."""
    present = read_regular(root, path, 64 * MAX_FILE_BYTES)
    if isinstance(present, Skip):
        return False
    digest = hashlib.sha1(usedforsecurity=False) if len(entry.oid) == 40 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(present))
    digest.update(present)
    return digest.hexdigest().encode() == entry.oid


class _Git:
    """Git, asked for objects of the repository around a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        top = next((folder for folder in (self._root, *self._root.parents) if (folder / ".git").exists()), None)
        if top is None:
            raise UserError("--diff: no git repository at or above ROOT; a patch works without one: --diff FILE.patch")
        self._program = _find_git(top)

    def commit_of(self, revision: str) -> str:
        """The commit's object name."""
        done = self._run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = f" (git: {said[-1][:200]})" if said else ""
            raise UserError(
                f"--diff: no revision '{revision}' in this repository, nor a file of that name{reason}; "
                "`git log --oneline` lists commits"
            )
        return done.stdout.decode("ascii", "replace").strip()

    def entries_of(self, commit: str) -> tuple[dict[str, _Entry], list[str]]:
        """The commit's regular files below the folder, and what else lies there."""
        entries: dict[str, _Entry] = {}
        odd: list[str] = []
        for record in self._ask("ls-tree", "-r", "-z", commit).split(b"\0"):
            head, tab, name = record.partition(b"\t")
            if tab:
                mode, _, oid = head.split(b" ")[:3]
                path = os.fsdecode(name)
                if mode in _REGULAR:
                    entries[path] = _Entry(mode, oid)
                else:
                    odd.append(f"{path} ({'a submodule' if mode == b'160000' else 'a symbolic link'})")
        return entries, sorted(odd)

    def tracked_paths(self) -> frozenset[str]:
        """What the index holds below the folder."""
        return frozenset(os.fsdecode(name) for name in self._ask("ls-files", "-z", "--cached").split(b"\0") if name)

    def blobs_of(self, oids: Mapping[str, bytes]) -> dict[str, bytes]:
        """The contents by path, as they are stored: no filter has seen them."""
        if not oids:
            return {}
        asked = b"".join(oid + b"\n" for oid in oids.values())
        answer = self._ask("cat-file", "--batch", given=asked)
        return dict(zip(oids, _split_batch(answer, oids.values()), strict=True))

    def _ask(self, *words: str, given: bytes = b"") -> bytes:
        done = self._run(*words, given=given)
        if done.returncode != 0:
            said = (done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"])[-1]
            raise UserError(f"--diff: git can't read this repository: {said[:200]}")
        return done.stdout

    def _run(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        options = [word for option in _SWITCHED_OFF for word in ("-c", option)]
        command = [self._program, "--no-pager", "--no-replace-objects", *options, "-C", str(self._root), *words]
        try:
            return subprocess.run(
                command, input=given, capture_output=True, env=_environment(), timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError) as fault:
            raise UserError(f"--diff: git gave no answer ({type(fault).__name__}); give a patch file") from fault


def _split_batch(answer: bytes, oids: Iterable[bytes]) -> list[bytes]:
    """The contents in an answer of `cat-file --batch`: `<oid> blob <size>`, the bytes, a line end; for each object."""
    blobs: list[bytes] = []
    at = 0
    for oid in oids:
        end = answer.find(b"\n", at)
        head = answer[at:end].split(b" ")
        if end < 0 or len(head) != 3 or head[1] != b"blob":
            raise UserError(f"--diff: the object {oid.decode()} is not in this clone; `git fetch` it first")
        size = int(head[2])
        blobs.append(answer[end + 1 : end + 1 + size])
        at = end + 1 + size + 1
    return blobs


def _find_git(top: Path) -> str:
    """The first git on the search path that does not lie in the repository. Raises UserError for none."""
    for folder in os.get_exec_path():
        if not Path(folder).is_absolute() or _lies_in(Path(folder), top):
            continue
        found = shutil.which("git", path=folder)
        if found is not None and not _lies_in(Path(found), top) and Path(found).parent == Path(folder):
            return found
    raise UserError("--diff: no git outside of the repository on the search path; a patch file works without")


def _lies_in(path: Path, top: Path) -> bool:
    return path.resolve().is_relative_to(top)


def _environment() -> dict[str, str]:
    """Of the user's environment nothing but what git needs to start; `none` is no protocol's name."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {
        "PATH": os.defpath, "HOME": os.devnull, "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat", "GIT_ASKPASS": "false", "GIT_SSH_COMMAND": "false", "GIT_NO_REPLACE_OBJECTS": "1",
    }  # fmt: skip
