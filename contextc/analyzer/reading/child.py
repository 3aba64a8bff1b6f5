"""The reader process: texts come in on stdin, facts go out on stdout, until stdin ends.

Both ways a message is its length (8 bytes, big-endian) and that many bytes. In: the text of a file. Out: `F` and the
facts as JSON (`model.codec`), or `X` and `["reason", "detail"]`. A message of length 0 goes out first, when libcst is
loaded. A crash here costs the parent one file.
"""

from __future__ import annotations

import gc
import io
import json
import os
import struct
import sys
import threading
from typing import IO

from contextc.model.codec import encode_facts
from contextc.model.diagnostic import SkipReason

LENGTH = struct.Struct(">Q")
FACTS = b"F"
FAILURE = b"X"

STACK_BYTES = 512 << 20  # address space, not memory: what `limits` lets through takes up to 128 MB (80,000 `elif`s)
RECURSION = 200_000  # the readers' own recursion is bounded by `limits`; a chain of 8,000 takes up to 4 calls a link
MEMORY_BYTES = 4 << 30
_COLLECT_EVERY = 64  # files; syntax trees hold no cycles, so the collector only costs time


def main() -> None:
    """Serves until stdin ends, on a thread with a stack that bears what `limits` lets through."""
    _limit_resources()
    sys.setrecursionlimit(RECURSION)
    # The pipe is ours alone: whatever else would be printed goes nowhere.
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    thread = threading.Thread(target=serve, args=(sys.stdin.buffer, sink))
    try:
        threading.stack_size(STACK_BYTES)
        thread.start()
    except (ValueError, RuntimeError):  # the platform allows no such stack
        threading.stack_size(0)
        thread = threading.Thread(target=serve, args=(sys.stdin.buffer, sink))
        thread.start()
    thread.join()


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answers each message of `source` with one on `sink`."""
    from contextc.analyzer.reading import libcst_reader  # noqa: F401  (loaded before the parent's clock starts)

    gc.collect()
    gc.freeze()
    gc.disable()
    send(sink, b"")
    count = 0
    while (text := receive(source)) is not None:
        send(sink, answer(text))
        count += 1
        if count % _COLLECT_EVERY == 0:
            gc.collect()


def answer(text: bytes) -> bytes:
    """The message for one file. A fault of ours on one file is that file's failure."""
    from contextc.analyzer.reading.read import Failure, read_facts

    try:
        result = read_facts(text)
        if not isinstance(result, Failure):
            return FACTS + encode_facts(result).encode("utf-8")
    except MemoryError:
        result = Failure(SkipReason.READER_FAILED, "it took more memory than a reader may have")
    except Exception as error:
        result = Failure(SkipReason.READER_FAILED, f"{type(error).__name__}: {error}"[:300])
    return FAILURE + json.dumps([result.reason.value, result.detail]).encode("ascii")


def send(sink: IO[bytes], message: bytes) -> None:
    """Writes one message and flushes. Raises OSError when the other side is gone."""
    sink.write(LENGTH.pack(len(message)))
    sink.write(message)
    sink.flush()


def receive(source: IO[bytes]) -> bytes | None:
    """Reads one message; None where the other side ended."""
    head = _read_exactly(source, LENGTH.size)
    return None if head is None else _read_exactly(source, LENGTH.unpack(head)[0])


def _read_exactly(source: IO[bytes], count: int) -> bytes | None:
    buffer = io.BytesIO()
    while count > 0:
        piece = source.read(count)
        if not piece:
            return None
        buffer.write(piece)
        count -= len(piece)
    return buffer.getvalue()


def _limit_resources() -> None:
    try:
        import resource
    except ImportError:  # not a POSIX system
        return
    for name, wanted in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(name)[1]
        if hard == resource.RLIM_INFINITY or wanted <= hard:
            try:
                resource.setrlimit(name, (wanted, hard))
            except (ValueError, OSError):  # macOS refuses some; the parent's clock still guards
                continue
