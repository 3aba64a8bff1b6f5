"""Reads many files in child processes, so that no source, however odd, takes this process down.

In: (key, text) pairs; a key names a text, as its digest does. Out: for each key a `Reading` or a `Failure`.
`read_all([("a", b"x = 1")], 2)["a"].decode()` gives the ModuleFacts.

A child runs isolated (`-I`), in a scrubbed environment, in the temporary folder, and never sees the analysed
repository, only texts. One that dies or runs past the clock fails the file it had, and is replaced. Results do not
depend on the number of workers.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from contextc.analyzer.reading.child import FACTS, receive, send
from contextc.analyzer.reading.limits import TooLarge, check_size
from contextc.analyzer.reading.read import Failure
from contextc.analyzer.search_path import find_library
from contextc.model.codec import decode_facts
from contextc.model.diagnostic import SkipReason
from contextc.model.facts import ModuleFacts

SECONDS_PER_FILE = 60.0  # a crash guard; a Failure by the clock must not be cached
BYTES_PER_WORKER = 300_000  # below this, one more process costs more (about 0.4 s) than it saves

_BOOT = "import sys; sys.path += sys.argv[1:]; from contextc.analyzer.reading.child import main; main()"
_LIBRARIES = ("libcst", "tree_sitter", "tree_sitter_python")
_KEPT_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")  # without these some Pythons don't start

Job = tuple[str, bytes]


class Reading(NamedTuple):
    """Facts as the child sent them: `text` is JSON of `model.codec`, fit for the store as it is."""

    text: str

    def decode(self) -> ModuleFacts:
        """The facts themselves."""
        return decode_facts(self.text)


def read_all(
    jobs: Sequence[Job],
    workers: int,
    on_done: Callable[[str], None] | None = None,
    seconds_per_file: float = SECONDS_PER_FILE,
) -> dict[str, Reading | Failure]:
    """One batch with processes of its own: `ReaderPool.read_all`."""
    with ReaderPool(workers, seconds_per_file) as pool:
        return pool.read_all(jobs, on_done)


class ReaderPool:
    """Reader processes that stay up between batches, since starting one costs as much as reading many a file. None is
    started before there is something to read. Close it, or use it in a `with`."""

    def __init__(self, workers: int, seconds_per_file: float = SECONDS_PER_FILE) -> None:
        self._most = workers
        self._seconds = seconds_per_file
        self._workers: list[_Worker] = []

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the processes. The pool may be used again."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()

    def read_all(
        self, jobs: Sequence[Job], on_done: Callable[[str], None] | None = None
    ) -> dict[str, Reading | Failure]:
        """Reads each text once, in at most `workers` processes (fewer for little work). Keys come out in the order of
        the jobs. `on_done` is called with each key, on this thread, as soon as it is read. A `Failure` with the reason
        `reader-failed` may depend on the machine and must not be cached."""
        texts = dict(jobs)
        results: dict[str, Reading | Failure] = dict.fromkeys(texts, Failure(SkipReason.READER_FAILED, "not read"))
        waiting: list[Job] = []
        for key, text in texts.items():
            try:
                check_size(text)
                waiting.append((key, text))
            except TooLarge as error:
                results[key] = Failure(SkipReason.TOO_LARGE, error.message)
                if on_done is not None:
                    on_done(key)
        for key, result in self._run(waiting):
            results[key] = result
            if on_done is not None:
                on_done(key)
        return results

    def _run(self, jobs: list[Job]) -> Iterator[tuple[str, Reading | Failure]]:
        """Yields results as they come. Ends the processes when it is left before the last one."""
        if not jobs:
            return
        total = sum(len(text) for _, text in jobs)
        count = max(1, min(self._most, len(jobs), -(-total // BYTES_PER_WORKER)))
        pending: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        for job in sorted(jobs, key=lambda job: -len(job[1])):  # the largest first, so that no worker ends on one
            pending.put(job)
        for _ in range(count):
            pending.put(None)
        done: queue.SimpleQueue[tuple[str, Reading | Failure]] = queue.SimpleQueue()
        if len(self._workers) < count:
            folders = library_folders()
            self._workers += [_Worker(folders, self._seconds) for _ in range(count - len(self._workers))]
        for worker in self._workers[:count]:
            threading.Thread(target=worker.work, args=(pending, done), daemon=True).start()
        received = 0
        try:
            for _ in jobs:
                result = done.get()
                received += 1
                yield result
        finally:
            if received < len(jobs):
                self.close()


def library_folders() -> list[str]:
    """The folders that hold this package and the readers' libraries: an isolated child does not look where
    PYTHONPATH or a user's site point. They go to the end of its path."""
    found = [find_library(name) for name in _LIBRARIES]
    return list(dict.fromkeys([str(Path(__file__).resolve().parents[3]), *(folder for folder in found if folder)]))


class _Worker:
    """One child process at a time, and the thread that talks to it."""

    def __init__(self, folders: list[str], seconds: float) -> None:
        self.folders = folders
        self.seconds = seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.stopped = False
        self.lock = threading.Lock()

    def work(
        self,
        pending: queue.SimpleQueue[Job | None],
        done: queue.SimpleQueue[tuple[str, Reading | Failure]],
    ) -> None:
        """Takes jobs until there is a None, and always puts one result for each. The process stays up."""
        while (job := pending.get()) is not None and not self.stopped:
            key, text = job
            try:
                result = self._read(text)
            except Exception as error:  # such as no process to be had; the caller waits for a result
                result = Failure(SkipReason.READER_FAILED, f"{type(error).__name__}: {error}"[:300])
            done.put((key, result))

    def stop(self) -> None:
        """Ends the child, if there is one, and starts no other."""
        with self.lock:
            self.stopped = True
            self._end()

    def _read(self, text: bytes) -> Reading | Failure:
        process = self._start()
        if process is None:
            return Failure(SkipReason.READER_FAILED, "stopped")
        assert process.stdin is not None and process.stdout is not None
        overdue = threading.Event()

        def kill() -> None:
            overdue.set()
            process.kill()

        clock = threading.Timer(self.seconds, kill)
        clock.daemon = True
        clock.start()
        try:
            send(process.stdin, text)
            message = receive(process.stdout)
        except OSError:  # a broken pipe: it died
            message = None
        finally:
            clock.cancel()
        if message:
            return _result(message)
        with self.lock:
            code = self._end()
        if overdue.is_set():
            return Failure(SkipReason.READER_FAILED, f"it took longer than {self.seconds:g} s")
        return Failure(SkipReason.READER_FAILED, f"the reader process ended ({_describe(code)})")

    def _start(self) -> subprocess.Popen[bytes] | None:
        """The running child, started if there is none. Raises OSError where it can't be or doesn't come up."""
        with self.lock:
            if self.stopped or self.process is not None:
                return self.process
            process = self.process = subprocess.Popen(
                [sys.executable, "-I", "-c", _BOOT, *self.folders],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=tempfile.gettempdir(),
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            )
        assert process.stdout is not None
        if receive(process.stdout) is None:
            with self.lock:
                code = self._end()
            raise OSError(f"the reader process does not start ({_describe(code)})")
        return process

    def _end(self) -> int | None:
        """Ends the child; its exit code, if it had ended by itself. The lock is held."""
        process, self.process = self.process, None
        if process is None:
            return None
        try:
            if process.stdin is not None:
                process.stdin.close()
        except OSError:  # what was still to be written has no reader
            pass
        try:
            return process.wait(timeout=1 if not self.stopped else 0.05)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            if process.stdout is not None:
                process.stdout.close()


def _result(message: bytes) -> Reading | Failure:
    body = message[1:].decode("utf-8")
    if message[:1] == FACTS:
        return Reading(body)
    reason, detail = json.loads(body)
    return Failure(SkipReason(reason), detail)


def _describe(code: int | None) -> str:
    if code is None:
        return "no exit code"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
