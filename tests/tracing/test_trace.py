"""`contextc trace` as a command: what the program sees, exit statuses, signals, files, what is recorded."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.command import REPOSITORY
from tests.tracing.recording import interpreters, record

HELPER = "def helper():\n    return 1\n\ndef call():\n    return helper()\n"


def trace(folder: Path, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`contextc trace . --out trace.jsonl WORDS` in the folder."""
    command = [sys.executable, "-m", "contextc", "trace", ".", "--out", "trace.jsonl", *map(str, words)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment,
    )  # fmt: skip


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()) if "kind" in row]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "lib.py").write_text(HELPER)
    (tmp_path / "run.py").write_text("import sys\nfrom lib import call\ncall()\nsys.exit(int(sys.argv[1]))\n")
    return tmp_path


def test_output_and_status_are_the_commands(shop: Path) -> None:
    (shop / "run.py").write_text(
        "import sys\nfrom lib import call\ncall()\nprint('out', sys.stdin.read())\nprint('err', file=sys.stderr)\n"
    )
    command = [sys.executable, "-m", "contextc", "trace", ".", "--out", "trace.jsonl", "--", sys.executable, "run.py"]
    done = subprocess.run(
        command, cwd=shop, capture_output=True, text=True, input="in", env=os.environ | {"PYTHONPATH": str(REPOSITORY)}
    )
    assert (done.returncode, done.stdout) == (0, "out in\n")
    said = done.stderr.splitlines()
    assert said[0] == "err"
    assert said[1].startswith("contextc: recorded 2 call edges, 2 functions, ")
    assert said[2:] == ["contextc: the command ended with status 0"]


@pytest.mark.parametrize("status", [0, 1, 5])
def test_the_exit_status_is_the_commands(shop: Path, status: int) -> None:
    done = trace(shop, "--", sys.executable, "run.py", str(status))
    assert done.returncode == status
    assert f"contextc: the command ended with status {status}" in done.stderr
    header = json.loads((shop / "trace.jsonl").read_text().splitlines()[0])
    assert header["status"] == status
    assert [row["callee"]["raw"] for row in rows_of(shop / "trace.jsonl")] == ["helper", "call"]


def test_quiet_says_nothing_of_its_own(shop: Path) -> None:
    assert trace(shop, "--quiet", "--", sys.executable, "run.py", "0").stderr == ""


def test_the_program_sees_what_it_would_without_us(shop: Path) -> None:
    (shop / "pkg").mkdir()
    (shop / "pkg" / "__init__.py").write_text("")
    look = (
        "import sys, __main__\n"
        "print(__name__, sys.argv, __file__, __spec__ and __spec__.name, __package__, sys.path)\n"
        "print(__main__.__dict__ is globals())\n"
        "print(sorted(n for n in sys.modules if 'contextc' in n and not n.startswith('_contextc_recorder')))\n"
    )
    (shop / "look.py").write_text(look)
    (shop / "pkg" / "__main__.py").write_text(look)
    (shop / "pkg" / "other.py").write_text(look)
    for words in (
        ["look.py", "a"],
        ["pkg"],
        ["-m", "pkg", "b"],
        ["-m", "pkg.other"],
        ["-m", "look"],
        ["-I", "look.py"],
    ):
        plain = subprocess.run(
            [sys.executable, *words],
            cwd=shop,
            capture_output=True,
            text=True,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        )
        assert plain.returncode == 0, plain.stderr
        traced = trace(shop, "--", sys.executable, *words)
        assert (traced.returncode, traced.stdout) == (0, plain.stdout), words
    code = "import sys; print(__name__, sys.argv, sys.path)"
    plain = subprocess.run(
        [sys.executable, "-c", code, "x"],
        cwd=shop,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )
    assert trace(shop, "--", sys.executable, "-c", code, "x").stdout == plain.stdout


def test_an_uncaught_exception_looks_as_always(shop: Path) -> None:
    (shop / "run.py").write_text("from lib import call\ncall()\nraise ValueError('é')\n")
    plain = subprocess.run([sys.executable, "run.py"], cwd=shop, capture_output=True, text=True)
    done = trace(shop, "--quiet", "--", sys.executable, "run.py")
    assert (done.returncode, done.stderr) == (1, plain.stderr)
    assert len(rows_of(shop / "trace.jsonl")) == 2
    (shop / "run.py").write_text("def broken(:\n")
    plain = subprocess.run([sys.executable, "run.py"], cwd=shop, capture_output=True, text=True)
    done = trace(shop, "--quiet", "--", sys.executable, "run.py")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]


def test_threads_and_exit_functions_are_recorded_to_the_end(shop: Path) -> None:
    (shop / "run.py").write_text(
        "import atexit, threading, time\nfrom lib import call\n"
        "def late():\n    time.sleep(0.3)\n    call()\n"
        "def last():\n    call()\n"
        "atexit.register(last)\nthreading.Thread(target=late).start()\n"
    )
    assert trace(shop, "--", sys.executable, "run.py").returncode == 0
    callers = {row["caller"]["raw"] for row in rows_of(shop / "trace.jsonl")}
    assert callers == {"late", "last", "call"}


def test_a_forked_child_does_not_overwrite_the_recording(shop: Path) -> None:
    (shop / "run.py").write_text(
        "import os, sys\nfrom lib import call\n"
        "pid = os.fork()\nif not pid:\n    sys.exit(0)\nos.waitpid(pid, 0)\ncall()\n"
    )
    assert trace(shop, "--", sys.executable, "-W", "ignore", "run.py").returncode == 0
    assert len(rows_of(shop / "trace.jsonl")) == 2


@pytest.mark.parametrize(("end", "status"), [("os._exit(0)", 2), ("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", 137)])
def test_a_command_that_leaves_no_recording(shop: Path, end: str, status: int) -> None:
    (shop / "run.py").write_text(f"import os\nfrom lib import call\ncall()\n{end}\n")
    done = trace(shop, "--", sys.executable, "run.py")
    assert done.returncode == status
    assert done.stderr.startswith("contextc: trace: nothing was recorded: run.py was killed or ended by os._exit")
    assert not (shop / "trace.jsonl").exists()


def test_interrupt_reaches_the_command_and_what_was_seen_is_kept(shop: Path) -> None:
    (shop / "run.py").write_text(
        "import time\nfrom pathlib import Path\nfrom lib import call\ncall()\nPath('ready').touch()\ntime.sleep(60)\n"
    )
    command = [sys.executable, "-m", "contextc", "trace", ".", "--out", "trace.jsonl", "--", sys.executable, "run.py"]
    process = subprocess.Popen(
        command, cwd=shop, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (shop / "ready").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "KeyboardInterrupt" in said
    assert "contextc: the command ended with status 130" in said
    assert len(rows_of(shop / "trace.jsonl")) == 2


def test_wrong_use_is_one_line_and_status_2(shop: Path) -> None:
    for words, says in (
        (["--"], "contextc: trace: no command: `contextc trace ROOT --out FILE -- pytest …`"),
        ([], "contextc: trace: no command: `contextc trace ROOT --out FILE -- pytest …`"),
        (["pytest"], "contextc: trace: what is to be run goes after `--`: contextc trace ROOT --out FILE -- pytest …"),
        (["--", "no-such-program"], "contextc: trace: no program 'no-such-program' (the command) on this system"),
        (["--", sys.executable, "-m", "no_such_module"], "contextc: trace: no module named 'no_such_module' that "),
        (["--", sys.executable, "-m", "no_such.module"], "contextc: trace: can't run -m no_such.module: "),
        (["--fromat", "oracle", "--", "x"], "contextc: trace has no option '--fromat'; did you mean '--format'?"),
        (
            ["--format", "xml", "--", "x"],
            "contextc: --format: no 'xml' (trace or oracle) (see `contextc trace --help`)",
        ),
        (["--out", "no/folder/x", "--", "x"], "contextc: --out: no folder 'no/folder' to write to"),
        (["--python", shutil.which("true") or "", "--", "run.py"], "contextc: trace: '"),
        (["--exclude", "*a*b*c*d*e*f", "--", sys.executable, "run.py"], "contextc: exclude: "),
    ):
        done = trace(shop, *words)
        assert done.returncode == 2, words
        assert done.stderr.startswith(says), done.stderr
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
        assert not (shop / "trace.jsonl").exists()


def test_nothing_seen_is_a_warning(shop: Path) -> None:
    (shop / "run.py").write_text("print(1)\n")
    done = trace(shop, "--", sys.executable, "run.py")
    assert done.returncode == 0
    assert "contextc: warning: none of the functions in the 2 files under ROOT ran" in done.stderr
    assert rows_of(shop / "trace.jsonl") == []


def test_what_is_left_out(shop: Path) -> None:
    """Files outside the root, excluded ones, environments: neither callers nor callees; tests outside are foreign."""
    (shop / ".venv").mkdir()
    (shop / ".venv" / "pyvenv.cfg").write_text("home = /usr\n")
    (shop / ".venv" / "vendored.py").write_text(HELPER.replace("call", "vendored_call"))
    (shop / "skipped.py").write_text("from lib import call\ndef skipped():\n    return call()\n")
    (shop / "run.py").write_text(
        "import sys\nsys.path.append('.venv')\nfrom vendored import vendored_call\nfrom skipped import skipped\n"
        "from lib import call\ndef main():\n    vendored_call()\n    skipped()\n    call()\nmain()\n"
    )
    recorded = record(shop, [sys.executable, "run.py"], exclude=("skipped.py",))
    assert recorded.edges() == {
        ("<module>", 10, "main", "explicit"), ("main", 9, "call", "explicit"), ("call", 5, "helper", "explicit"),
    }  # fmt: skip
    if recorded.header["spans"] == "exact":
        external = {name for site in recorded.execution["call_sites"] for name in site["ext"]}
        assert {"py:tests:/.venv/vendored.py:vendored_call", "py:tests:/skipped.py:skipped"} <= external
    only = record(shop, [sys.executable, "run.py"], include=("lib.py",))
    assert only.edges() == {("call", 5, "helper", "explicit")}


def test_no_absolute_path_and_the_same_bytes_each_time(shop: Path) -> None:
    words = [sys.executable, str(shop / "run.py"), "0"]
    first = record(shop, words, name="a.jsonl.gz")
    record(shop, words, name="b.jsonl.gz")
    assert (shop / "a.jsonl.gz").read_bytes() == (shop / "b.jsonl.gz").read_bytes()
    text = gzip.decompress((shop / "a.jsonl.gz").read_bytes()).decode()
    assert str(shop) not in text
    assert sys.prefix not in text
    assert first.header["command"] == [Path(sys.executable).name, "run.py", "0"]
    assert first.header["schema"] == "contextc.trace/1"
    assert first.header["root"] == shop.name
    assert list(first.header) == ["schema", "root", "python", "backend", "spans", "command", "status"]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_oracle_form_is_what_the_scorer_reads(shop: Path, version: str) -> None:
    if version not in interpreters():
        pytest.skip(f"no Python {version} here")
    done = trace(shop, "--format", "oracle", "--out", "shop", "--", interpreters()[version], "run.py", "0")
    assert done.returncode == 0, done.stderr
    assert "in shop.edges.jsonl.gz, shop.exec.json.gz" in done.stderr
    right = {"caller": {"path": "lib.py", "qualname": "call"}, "line": 5, "site": [5, 11, 5, 19],
             "callee": {"path": "lib.py", "qualname": "helper"}, "confidence": "certain"}  # fmt: skip
    wrong = right | {"callee": {"path": "lib.py", "qualname": "call"}, "confidence": "likely"}
    (shop / "graph.json").write_text(json.dumps({"edges": [right, wrong], "unresolved": []}))
    scorer = REPOSITORY / "benchmarks" / "oracle" / "score_edges.py"
    command = [sys.executable, scorer, "--oracle", "shop", "--root", ".", "graph.json", "--json", "score.json"]
    subprocess.run(command, cwd=shop, check=True, capture_output=True)
    score = json.loads((shop / "score.json").read_text())
    assert score["recall"]["ALL_CALLS"]["func_pairs"] == 2
    assert score["recall"]["ALL_CALLS"]["func_hit"] == 1
    assert score["precision"]["certain"] == {"edges": 1, "seen": 1, "precision": 1.0}
    assert score["precision"]["likely"] == {"edges": 1, "seen": 0, "precision": 0.0}


def test_pytest_under_the_recorder(tmp_path: Path) -> None:
    """Tests are callers where they lie under ROOT; a console script is found on the PATH and run by its interpreter."""
    (tmp_path / "lib.py").write_text(HELPER)
    (tmp_path / "test_lib.py").write_text("from lib import call\ndef test_call():\n    assert call() == 1\n")
    script = tmp_path / "bin" / "pytest"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    for words in (["pytest", "-q", "-p", "no:cacheprovider"], [sys.executable, "-m", "pytest", "-q"]):
        done = trace(tmp_path, "--", *words, PATH=path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed" in done.stdout
        edges = {(row["caller"]["raw"], row["callee"]["raw"]) for row in rows_of(tmp_path / "trace.jsonl")}
        assert edges == {("test_call", "call"), ("call", "helper")}


def test_an_interpreter_that_is_too_old_is_refused(shop: Path) -> None:
    old = next(iter(sorted((Path.home() / ".pyenv" / "versions").glob("3.[6-9].*/bin/python"))), None)
    if old is None:
        pytest.skip("no old Python here")
    done = trace(shop, "--python", old, "--", "run.py", "0")
    assert done.returncode == 2
    assert "is too old to record, 3.10 or later is needed" in done.stderr
