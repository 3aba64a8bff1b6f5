"""Child processes: one that dies, hangs or is led astray costs one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from contextc.analyzer.reading import pool
from contextc.analyzer.reading.pool import Reading, read_all
from contextc.analyzer.reading.read import Failure, read_facts
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import ModuleFacts
from tests.command import FIXTURES

FOLDER = Path(pool.__file__).parent
PARENTHESES = b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000
# As if the limits were not there, on a thread with a small stack: libcst then ends its process.
UNGUARDED = (
    "import sys; sys.path += sys.argv[1:]; from contextc.analyzer.reading import child, libcst_reader; "
    "child.STACK_BYTES = 1 << 20; libcst_reader.check_nesting = lambda text: None; child.main()"
)


def sources() -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in sorted(FOLDER.glob("*.py"))]


def test_results_are_those_of_the_reader_whatever_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "BYTES_PER_WORKER", 1_000)
    jobs = [*sources(), ("broken", b"def f(:\n"), ("deep", PARENTHESES), ("large", b"#" * 3_000_000), ("empty", b"")]
    done: list[str] = []
    one = read_all(jobs, 1, done.append)
    three = read_all(list(reversed(jobs)), 3)
    assert one == three
    assert list(one) == [key for key, _ in jobs]
    assert sorted(done) == sorted(one)
    for key, text in jobs[:4]:
        result = one[key]
        assert isinstance(result, Reading)
        assert result.decode() == read_facts(text)
    broken, empty = one["broken"], one["empty"]
    assert isinstance(broken, Reading)
    assert broken.decode().partial
    assert isinstance(empty, Reading)
    deep, large = one["deep"], one["large"]
    assert isinstance(deep, Reading)
    assert deep.decode().damage[0].deep
    assert isinstance(large, Failure)
    assert large.reason is SkipReason.TOO_LARGE


def test_no_jobs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_Worker", None)
    assert read_all([], 4) == {}


def test_one_key_is_read_once() -> None:
    done: list[str] = []
    assert len(read_all([("a", b"x"), ("a", b"x")], 2, done.append)) == 1
    assert done == ["a"]


def test_a_child_that_dies_fails_its_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_BOOT", UNGUARDED)
    results = read_all([("first", b"x = 1"), ("killer", PARENTHESES), ("last", b"y = 2")], 1)
    assert results["killer"] == Failure(SkipReason.READER_FAILED, "the reader process ended (signal 11)")
    for key in ("first", "last"):
        result = results[key]
        assert isinstance(result, Reading)
        assert isinstance(result.decode(), ModuleFacts)


def test_a_child_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = pool._BOOT.replace("; main()", "; import contextc.analyzer.reading.read as r, time; ")
    hanging += "f = r.read_facts; r.read_facts = lambda t: time.sleep(60) if t == b'hang' else f(t); main()"
    monkeypatch.setattr(pool, "_BOOT", hanging)
    results = read_all([("a", b"hang"), ("b", b"x")], 1, seconds_per_file=1.0)
    assert results["a"] == Failure(SkipReason.READER_FAILED, "it took longer than 1 s")
    assert isinstance(results["b"], Reading)


def test_a_fault_of_ours_fails_its_file_only(monkeypatch: pytest.MonkeyPatch) -> None:
    faulty = pool._BOOT.replace("; main()", "; import contextc.analyzer.reading.read as r; ")
    faulty += "f = r.read_facts; r.read_facts = lambda t: 1 / 0 if t == b'bug' else f(t); main()"
    monkeypatch.setattr(pool, "_BOOT", faulty)
    results = read_all([("a", b"bug"), ("b", b"x")], 1)
    assert results["a"] == Failure(SkipReason.READER_FAILED, "ZeroDivisionError: division by zero")
    assert isinstance(results["b"], Reading)


def test_a_child_that_does_not_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_BOOT", "raise SystemExit(3)")
    results = read_all([("a", b"x"), ("b", b"y")], 1)
    assert results["a"] == Failure(SkipReason.READER_FAILED, "OSError: the reader process does not start (exit code 3)")
    assert isinstance(results["b"], Failure)


def test_children_see_neither_the_folder_nor_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "marker"
    trap = f"open({str(marker)!r}, 'w').close()\n"
    for name in ("sitecustomize", "usercustomize", "libcst", "contextc", "json"):
        (tmp_path / f"{name}.py").write_text(trap)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "json.py"))
    assert isinstance(read_all([("a", b"import sitecustomize")], 1)["a"], Reading)
    assert not marker.exists()


def test_an_exception_of_the_caller_ends_the_children() -> None:
    before = threading.active_count()

    def fail(key: str) -> None:
        raise KeyError(key)

    with pytest.raises(KeyError):
        read_all(sources(), 2, fail)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(timeout=10)
    assert threading.active_count() <= before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_pool_keeps_its_processes_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    worker = pool._Worker

    def start(folders: list[str], seconds: float) -> object:
        started.append(folders)
        return worker(folders, seconds)

    monkeypatch.setattr(pool, "_Worker", start)
    monkeypatch.setattr(pool, "BYTES_PER_WORKER", 1_000)
    with pool.ReaderPool(2) as readers:
        for number in range(5):
            assert isinstance(readers.read_all([("a", b"x = %d" % number)])["a"], Reading)
        assert len(started) == 1
        assert len(readers.read_all(sources())) == len(sources())
        assert len(started) == 2
        process = readers._workers[0].process
        assert process is not None and process.poll() is None
    assert process.poll() is not None
    assert isinstance(readers.read_all([("a", b"x")])["a"], Reading), "a closed pool starts again"
    readers.close()


def test_what_a_child_prints_reaches_no_one(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    noisy = pool._BOOT.replace("; main()", "; import contextc.analyzer.reading.read as r, os, warnings; ")
    noisy += "f = r.read_facts; r.read_facts = lambda t: "
    noisy += "(print('a'), os.write(1, b'b'), os.write(2, b'c'), warnings.warn('d'), f(t))[4]"
    noisy += "; main()"
    monkeypatch.setattr(pool, "_BOOT", noisy)
    assert isinstance(read_all([("a", b"x"), ("b", b"'\\d'")], 1)["b"], Reading)
    assert capfd.readouterr() == ("", "")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("to_all", [False, True])
def test_ctrl_c_leaves_no_child(tmp_path: Path, to_all: bool) -> None:
    """A terminal sends the signal to the children too; another program sends it to the parent alone. A parent that is
    killed can't end them: they see their input end."""
    program = (
        "import signal, sys, time; sys.path += sys.argv[1:]; from contextc.analyzer.reading.pool import ReaderPool\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "with ReaderPool(1) as pool:\n"
        "    pool.read_all([('a', b'x')]); print(pool._workers[0].process.pid, flush=True)\n"
        "    pool.read_all([(str(n), b'x = a' + b'.b(c)' * 600) for n in range(500)])\n"
    )
    folders = [str(Path(pool.__file__).parents[3]), *pool.library_folders()]
    for number in (signal.SIGINT, signal.SIGKILL):
        parent = subprocess.Popen(
            [sys.executable, "-c", program, *folders],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True,
        )  # fmt: skip
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.1)
        if to_all and number == signal.SIGINT:
            os.killpg(parent.pid, number)
        else:
            parent.send_signal(number)
        _, noise = parent.communicate(timeout=30)
        assert noise.count("Traceback") <= 1
        assert parent.returncode in (-number, 1)
        for _ in range(100):
            if not is_alive(child):
                break
            time.sleep(0.1)
        assert not is_alive(child)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_small_cold_tree_takes_one_child(tmp_path: Path) -> None:
    program = (
        "import sys; started = []\n"
        "sys.addaudithook(lambda event, args: started.append(args[1]) if event == 'subprocess.Popen' else None)\n"
        "from contextc.cli import main; main(sys.argv[1:])\n"
        "print(sum(any('reading.child' in part for part in words) for words in started), len(started))\n"
    )
    words = ["compile", str(FIXTURES / "nine_files"), "app/views.py", "--out", os.devnull]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True, text=True, check=True,
        env={**os.environ, "CONTEXTC_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(FIXTURES.parent)},
    )  # fmt: skip
    assert done.stdout.split() == ["1", "1"]
