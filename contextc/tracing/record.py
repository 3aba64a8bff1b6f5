"""One recording from request to file.

In: a `TraceRequest` and the paths of the files to record. Out: the file, and a `TraceSummary` to report.

    record_calls(TraceRequest(Path("shop"), ("pytest", "-q"), Path("t.jsonl.gz")), ("shop/cart.py",))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from contextc.tracing.command import plan_launch
from contextc.tracing.launch import Recording, record_command
from contextc.tracing.trace_file import oracle_paths, write_oracle, write_trace


@dataclass(frozen=True)
class TraceRequest:
    """`command`: the words after `--`. `python`: an interpreter instead of the command's own. `form`: "trace" or
    "oracle". `backend`: "auto", "monitoring" or "setprofile"."""

    root: Path
    command: tuple[str, ...]
    out: Path
    python: str | None = None
    form: str = "trace"
    backend: str = "auto"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class TraceSummary:
    """What was recorded. `status`: the command's. `spans`: "exact" or "lines". `notes`: what the user should know."""

    status: int
    python: str
    backend: str
    spans: str
    rows: int
    functions: int
    call_sites: int
    written: tuple[str, ...]
    notes: tuple[str, ...]


def record_calls(request: TraceRequest, files: Sequence[str]) -> TraceSummary:
    """Runs the command and writes the file. Raises UserError where the command can't be run, nothing was recorded or
    the file can't be written."""
    launch = plan_launch(request.command, request.python)
    python_files = [path for path in files if path.endswith(".py")]
    with record_command(launch, request.root, python_files, request.backend) as recording:
        command = [_without_folder(word, request.root) for word in request.command]
        write = write_oracle if request.form == "oracle" else write_trace
        write(request.out, recording, request.root.resolve().name, command)
        with recording.edges.open("rb") as rows:
            count = sum(1 for _ in rows)
        execution = recording.execution
        return TraceSummary(
            recording.status,
            execution["python"],
            execution["backend"],
            execution["spans"],
            count,
            len(execution["functions"]),
            len(execution["call_sites"]),
            tuple(map(str, oracle_paths(request.out) if request.form == "oracle" else (request.out,))),
            tuple(_iterate_notes(launch.note, recording, count, len(python_files))),
        )


def _iterate_notes(note: str, recording: Recording, rows: int, files: int) -> Iterable[str]:
    if note:
        yield note
    if not recording.execution["functions"]:
        yield f"warning: none of the functions in the {files:,} files under ROOT ran"
    elif not rows:
        yield "warning: no calls between functions under ROOT were seen"
    if faults := recording.execution["n_errors"]:
        yield f"warning: not all was recorded ({faults:,} times), first: {recording.execution['errors'][0]}"


def _without_folder(word: str, root: Path) -> str:
    """A word of the command without what says where this machine keeps things."""
    path = Path(word)
    if not path.is_absolute():
        return word
    try:
        return path.relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.name


def iterate_report(summary: TraceSummary) -> Iterator[str]:
    """Lines for the user: what was recorded, how the command ended, what to know."""
    spans = "" if summary.spans == "exact" else ", lines only"
    yield (
        f"recorded {summary.rows:,} call edges, {summary.functions:,} functions, {summary.call_sites:,} call sites "
        f"(Python {summary.python}, {summary.backend}{spans}) in {', '.join(summary.written)}"
    )
    yield f"the command ended with status {summary.status}"
    yield from summary.notes
