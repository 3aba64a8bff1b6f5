"""A repository that is broken in every way at once, and that tries to run code.

`build_hostile_repository(folder, marker)` fills `folder` and returns what must be listed as left out or partial: path →
reason. Each trap appends its name to `marker` when it springs; `spring_traps` does so on purpose, to prove that they
can. Works for root and for other users: what a mode can't keep from root lies beyond the longest path the system takes.
"""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

GOOD = """\
class Greeter:
    def greet(self, name: str) -> str:
        return shout("Hello, " + name)


def shout(text: str) -> str:
    return text.upper()


def main() -> None:
    Greeter().greet("you")
"""
UNLISTED = {
    "app.py": GOOD.encode(),
    "latin.py": b"# -*- coding: latin-1 -*-\nNAME = 'Andr\xe9'\n\ndef name():\n    return NAME\n",
    "bom.py": b"\xef\xbb\xbfdef with_mark():\n    return 1\n",
    "crlf.py": b"def with_crlf():\r\n    return 1\r\n",
    "replacement.py": "def with_replacement():\n    return '\ufffd'\n".encode(),
}  # sound files: read in full, some with a note


def build_hostile_repository(folder: Path, marker: Path) -> dict[str, str]:
    """Fills `folder` (made if missing). Out: each path that must be listed, with its reason."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in UNLISTED.items():
        (folder / path).write_bytes(content)
    expected = _write_broken(folder)
    expected |= _write_links(folder)
    expected |= _write_special(folder)
    expected |= _write_ignored(folder)
    expected |= _write_traps(folder, marker)
    expected |= _write_beyond_reach(folder)
    return expected


def _write_broken(folder: Path) -> dict[str, str]:
    (folder / "broken.py").write_text("def sound():\n    return 1\n\n\ndef half(typed,\n\n\ndef after():\n    pass\n")
    (folder / "deep.py").write_text("x = " + "(" * 3000 + "1" + ")" * 3000 + "\n")
    (folder / "generated.py").write_bytes(b"TABLE = [\n" + b"    0x00000000,\n" * 310_000 + b"]\n")
    (folder / "undecodable.py").write_bytes(b"name = '\xff\xfe'\n")
    (folder / "utf16.py").write_bytes("x = 1\n".encode("utf-16"))
    (folder / "nul.py").write_bytes(b"x = 1\n\0\n")
    (folder / "cookie.py").write_bytes(b"# coding: no-such-encoding\nx = 1\n")
    assert (folder / "generated.py").stat().st_size > 4_500_000
    undecodable = dict.fromkeys(["undecodable.py", "utf16.py", "nul.py", "cookie.py"], "undecodable")
    return {"broken.py": "partial", "deep.py": "too-deep", "generated.py": "too-large", **undecodable}


def _write_links(folder: Path) -> dict[str, str]:
    (folder / "circle.py").symlink_to("circle.py")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "again").symlink_to("..", target_is_directory=True)
    (folder / "everything").symlink_to("/", target_is_directory=True)
    (folder / "outside.py").symlink_to(sys.executable)
    (folder / "second.py").symlink_to("app.py")
    (folder / "dangling.py").symlink_to("nowhere.py")
    return {
        "circle.py": "symlink-loop",
        "package/again/": "symlink-loop",
        "everything/": "outside-root",
        "outside.py": "outside-root",
        "second.py": "duplicate",
        "dangling.py": "unreadable",
    }


def _write_special(folder: Path) -> dict[str, str]:
    os.mkfifo(folder / "pipe.py")
    expected = {"pipe.py": "not-regular"}
    here = os.open(".", os.O_RDONLY)
    try:  # a socket's path may have some hundred bytes only: bind to the name alone
        os.chdir(folder)
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind("socket.py")
        expected["socket.py"] = "not-regular"
    finally:
        os.chdir(here)
        os.close(here)
    if os.geteuid() != 0:
        (folder / "secret.py").write_text("x = 1\n")
        (folder / "secret.py").chmod(0)
        expected["secret.py"] = "unreadable"
    return expected


def _write_ignored(folder: Path) -> dict[str, str]:
    (folder / ".gitignore").write_text("ignored/\n")
    for path in ("ignored/module.py", "node_modules/gyp/gyp.py", "odd/module.py"):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("def left_out():\n    pass\n")
    (folder / "odd" / ".gitignore").write_bytes("*.py\n".encode("utf-16"))
    return {"ignored/": "ignored", "node_modules/": "dependencies", "odd/.gitignore": "ignore-file"}


def _write_traps(folder: Path, marker: Path) -> dict[str, str]:
    """Everything that a careless tool runs: interpreters, start-up hooks, build scripts, git's configured programs."""
    environment = folder / ".venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text(f"home = {environment / 'bin'}\nversion = 3.11.0\n")
    for name in ("python", "python3"):
        _write_program(environment / "bin" / name, marker, f"interpreter {name}")
    packages = environment / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "evil.pth").write_text(f"import os; open({str(marker)!r}, 'a').write('pth\\n')\n")
    (packages / "evil.py").write_text(_marking_code(marker, "installed package"))
    for name in ("sitecustomize", "usercustomize", "conftest", "setup", "libcst", "tokenize_rt"):
        (folder / f"{name}.py").write_text(_marking_code(marker, name) + "\n\ndef innocent():\n    return 1\n")
    (folder / ".jedi").mkdir()
    program = str(environment / "bin" / "python").replace("\\", "\\\\")
    (folder / ".jedi" / "project.json").write_text(
        f'[1, {{"path": "{folder}", "environment_path": "{program}", "load_unsafe_extensions": true, "sys_path": null, '
        '"smart_sys_path": true, "added_sys_path": [], "django": false}]'
    )
    git = folder / ".git"
    for name in ("hooks", "info", "objects", "refs/heads"):
        (git / name).mkdir(parents=True)
    _write_program(git / "hooks" / "watch", marker, "fsmonitor")
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f'\tfsmonitor = "{git}/hooks/watch"\n\tpager = "{git}/hooks/watch"\n'
    )
    return {".venv/": "environment", ".git/": "dependencies"}


def _write_program(path: Path, marker: Path, trap: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{trap}' >> '{marker}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def _marking_code(marker: Path, trap: str) -> str:
    return f"with open({str(marker)!r}, 'a') as stream:\n    stream.write({trap + chr(10)!r})\n"


def _write_beyond_reach(folder: Path) -> dict[str, str]:
    """A file whose path is longer than the system takes, in a folder that can still be listed."""
    limit = os.pathconf(folder, "PC_PATH_MAX") - 1
    room = limit - 20 - len(os.fsencode(os.path.realpath(folder)))
    names: list[str] = []
    while room > 0:
        names.append("f" * min(room, 200))
        room -= 201
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        for name in names:
            Path(name).mkdir()
            os.chdir(name)
        Path("beyond_reach_of_any_open_call.py").write_text("x = 1\n")
    finally:
        os.chdir(here)
        os.close(here)
    return {"/".join([*names, "beyond_reach_of_any_open_call.py"]): "unreadable"}


def spring_traps(folder: Path) -> None:
    """Does what a careless tool would: starts the interpreter, imports the modules, asks git for the status."""
    subprocess.run([folder / ".venv" / "bin" / "python", "-c", ""], check=True)
    subprocess.run([sys.executable, "-c", "import conftest"], cwd=folder, check=True)
    environment = os.environ | {"PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", ""], cwd=folder, env=environment, check=True)
    settings = ("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
    subprocess.run(["env", *settings, "git", "status"], cwd=folder, capture_output=True, check=False)
