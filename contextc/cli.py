"""The `contextc` command. In: arguments. Out: context, graph or comparison on standard output, the report on standard
error, an exit status: 0; 2 for a fault of the user's, in one line; 130 after Ctrl-C; 141 when the reader has gone;
after `trace` that of the command it ran.

Loads only what the command needs: asking for help loads nothing but the grammar.
"""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from contextc import __version__
from contextc.arguments import SWITCHES, parse_arguments
from contextc.errors import UserError
from contextc.model.escape import escape_unprintable

if TYPE_CHECKING:
    from contextc.engine import Given, Repository

_OK, _WRONG, _INTERRUPTED, _PIPE_CLOSED = 0, 2, 130, 141
_WARNINGS_ON_A_TERMINAL = 40
_MOST_INPUT = 64_000_000  # bytes of a diff or a failure
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. SystemExit(0) after `--help` and `--version`."""
    try:
        arguments = parse_arguments(sys.argv[1:] if words is None else words)
        status = _COMMANDS[arguments.command](arguments)
    except UserError as fault:
        print(f"contextc: {escape_unprintable(str(fault))}", file=sys.stderr)
        return _WRONG
    except KeyboardInterrupt:
        print("contextc: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:
        _give_up_output()
        return _PIPE_CLOSED
    return _OK if status is None else status


def _compile(arguments: Namespace) -> None:
    from contextc import engine, report
    from contextc.passes.json_form import render_json

    given = _given(arguments)
    switches = {name: getattr(arguments, name) for name in SWITCHES if getattr(arguments, name) is not None}
    profile, budget = engine.prepare_profile(Path(arguments.root), arguments.profile, switches)
    repository = _analyse(arguments, arguments.resolver)
    seeds = engine.find_seeds(repository, given)
    request = engine.Request(
        profile=profile,
        tokenizer=arguments.tokenizer,
        max_hops=arguments.max_hops,
        budget=budget if arguments.budget is None else arguments.budget,
        explain=arguments.explain,
        mask=arguments.mask,
        markup="xml" if arguments.format == "xml" else "markdown",
        line_numbers=arguments.line_numbers,
    )
    compilation = engine.compile_context(repository, seeds, request)
    if arguments.why_not is not None:
        lines = list(engine.explain_why_not(compilation, arguments.why_not, request))
        _write(arguments, (f"{line}\n" for line in lines))
        _report(arguments, [f"{repository.seconds:.2f} s"])
        return
    if arguments.format == "json":
        text = render_json(compilation, arguments.explain)
    elif arguments.format == "html":
        from contextc.passes.picture import render_page

        text = render_page(compilation)
    else:
        text = compilation.context.text
    _write(arguments, [text])
    most = _WARNINGS_ON_A_TERMINAL if sys.stderr.isatty() else None
    _report(arguments, report.iter_report(compilation, repository.seconds, most))


def _graph(arguments: Namespace) -> None:
    from contextc.graph.export.dot_export import iter_graph_dot
    from contextc.graph.export.json_export import graph_statistics, iter_graph_json

    repository = _analyse(arguments, arguments.resolver)
    graph = repository.graph
    pieces = iter_graph_dot(graph) if arguments.format == "dot" else iter_graph_json(graph, __version__)
    _write(arguments, pieces)
    figures = graph_statistics(graph)
    counts = ", ".join(f"{figures[name]:,} {name.replace('_', ' ')}" for name in _GRAPH_FIGURES)
    _report(arguments, [f"{counts}; {repository.seconds:.2f} s"])


_GRAPH_FIGURES = ("files", "symbols", "call_sites", "edges", "unresolved")


def _compare(arguments: Namespace) -> None:
    from contextc import engine, report

    if arguments.trace is not None:
        _measure(arguments)
        return
    repository = _analyse(arguments, "typed")
    target = _target_in_root(Path(arguments.root), arguments.target)
    contrast = engine.compare_resolvers(repository, target, arguments.max_hops, arguments.tokenizer)
    _write(arguments, (f"{line}\n" for line in report.iter_contrast(contrast)))
    _report(arguments, [f"{repository.seconds:.2f} s"])


def _measure(arguments: Namespace) -> None:
    """Both graphs against a recording. What is wrong with the recording is told before the analysis."""
    from contextc import engine, report
    from contextc.graph.export.comparison_export import iter_measurement_json
    from contextc.graph.trace_file import check_root, read_trace

    root = Path(arguments.root)
    _check_root(root, arguments)
    trace = read_trace(Path(arguments.trace))
    check_root(trace, root)
    repository = _analyse(arguments, "typed")
    target = _target_in_root(root, arguments.target) if arguments.target is not None else None
    measurement = engine.measure_resolvers(repository, trace, target)
    if arguments.format == "json":
        _write(arguments, iter_measurement_json(measurement, __version__))
    else:
        _write(arguments, (f"{line}\n" for line in report.iter_measurement(measurement)))
    _report(arguments, [f"{repository.seconds:.2f} s"])


def _trace(arguments: Namespace) -> int:
    """Runs the user's command; the exit status is the command's."""
    _check_root(Path(arguments.root), arguments)
    _check_out(arguments)
    from contextc import engine
    from contextc.tracing.launch import NothingRecorded
    from contextc.tracing.record import TraceRequest, iterate_report

    request = TraceRequest(
        root=Path(arguments.root),
        command=tuple(arguments.program),
        out=Path(arguments.out),
        python=arguments.python,
        form=arguments.format,
        backend=arguments.backend,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
    )
    try:
        summary = engine.record_trace(request)
    except NothingRecorded as fault:
        print(f"contextc: {escape_unprintable(str(fault))}", file=sys.stderr)
        return fault.status or _WRONG
    _report(arguments, (f"contextc: {escape_unprintable(line)}" for line in iterate_report(summary)))
    return summary.status


_COMMANDS: dict[str, Callable[[Namespace], int | None]] = {
    "compile": _compile, "graph": _graph, "compare": _compare, "trace": _trace,
}  # fmt: skip


def _analyse(arguments: Namespace, resolver: str) -> Repository:
    """Analyse ROOT, with progress on a terminal. Raises UserError where ROOT is no folder."""
    root = Path(arguments.root)
    _check_root(root, arguments)
    _check_out(arguments)
    from contextc import engine
    from contextc.progress import show_progress

    with show_progress(sys.stderr) as progress:
        options = engine.Options(
            root=root,
            include=tuple(arguments.include),
            exclude=tuple(arguments.exclude),
            environment=Path(arguments.environment) if arguments.environment else None,
            resolver=resolver,
            workers=arguments.workers,
            cache=arguments.cache,
            jedi=arguments.jedi,
            mask=arguments.mask,
            progress=None if arguments.quiet else progress,
        )
        repository = engine.analyze_repository(options)
    _report(arguments, (escape_unprintable(note.message) for note in repository.notes))
    if arguments.stats:
        print(", ".join(f"{name} {count:,}" for name, count in repository.work._asdict().items()), file=sys.stderr)
    return repository


def _check_root(root: Path, arguments: Namespace) -> None:
    try:
        if root.is_dir():
            return
        is_file = root.exists()
    except (OSError, ValueError):
        is_file = False
    if not is_file:
        raise UserError(f"no folder '{arguments.root}': give the repository's folder as ROOT")
    wanted = f"contextc {arguments.command} FOLDER" + (" TARGET" if arguments.command in ("compile", "compare") else "")
    raise UserError(f"'{arguments.root}' is a file: give the repository's folder as ROOT, `{wanted}`")


def _check_out(arguments: Namespace) -> None:
    """Told before the work, not after it."""
    if arguments.out is not None:
        path = Path(arguments.out)
        if path.is_dir():
            raise UserError(f"--out: '{arguments.out}' is a folder, give a file")
        if not path.parent.is_dir():
            raise UserError(f"--out: no folder '{path.parent}' to write to")


def _given(arguments: Namespace) -> Given:
    """What to start from, files and standard input read. Told before the analysis where they can't be."""
    from contextc import engine

    root = Path(arguments.root)
    _check_root(root, arguments)
    targets = tuple(_target_in_root(root, word) for word in arguments.targets if word != "-")
    failure = _read_input("-").decode("utf-8", "replace") if "-" in arguments.targets else None
    diff: str | None = arguments.diff
    is_patch = diff is not None and (diff == "-" or _is_file(diff))
    patch = _read_input(diff) if diff is not None and is_patch else None
    return engine.Given(root, targets, failure, patch, None if is_patch else diff, arguments.about)


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def _read_input(path: str) -> bytes:
    """A file's bytes, for `-` those of standard input."""
    if path == "-" and (sys.stdin is None or sys.stdin.isatty()):
        raise UserError("`-` reads standard input: pipe a traceback, pytest output or a diff into it")
    try:
        with nullcontext(sys.stdin.buffer) if path == "-" else Path(path).open("rb") as stream:
            data = stream.read(_MOST_INPUT + 1)
    except OSError as fault:
        raise UserError(f"can't read '{path}': {fault.strerror}") from fault
    if len(data) > _MOST_INPUT:
        raise UserError(f"'{path}': more than {_MOST_INPUT:,} bytes")
    return data


def _target_in_root(root: Path, given: str) -> str:
    """The target as given, or, where its path was written from the current folder, the same relative to ROOT."""
    path, separator, rest = _split_path(given)
    try:
        if ((root / path).exists() and not Path(path).is_absolute()) or not Path(path).is_file():
            return given
        inside = Path(path).resolve().relative_to(root.resolve())
    except (OSError, ValueError):
        return given
    return f"{inside.as_posix()}{separator}{rest}"


def _split_path(target: str) -> tuple[str, str, str]:
    match = re.match(r"(.*?\.(?:pyi?|ipynb))(::?)(.*)", target, re.DOTALL)
    return (match.group(1), match.group(2), match.group(3)) if match else (target, "", "")


def _write(arguments: Namespace, pieces: Iterable[str]) -> None:
    """Text as UTF-8 with `\\n` line ends, whatever the platform's. What could steer a terminal is shown, not sent."""
    if arguments.out is not None:
        try:
            with Path(arguments.out).open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(pieces)
        except OSError as fault:
            raise UserError(f"--out: can't write '{arguments.out}': {fault.strerror}") from fault
        return
    if sys.stdout is None:  # the caller closed it
        raise UserError("standard output is closed: name a file with --out FILE")
    if sys.stdout.isatty():
        pieces = (_UNSAFE.sub(lambda sign: ascii(sign.group())[1:-1], piece) for piece in pieces)
    stream = getattr(sys.stdout, "buffer", None)
    try:
        for piece in pieces:
            if stream is None:
                sys.stdout.write(piece)
            else:
                stream.write(piece.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()  # the report comes after the text where both go to one place
    except BrokenPipeError:
        raise
    except OSError as fault:
        _give_up_output()
        raise UserError(f"can't write to standard output: {fault.strerror}") from fault


def _give_up_output() -> None:
    """The interpreter flushes standard output once more at its end, where a fault can't be handled any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(arguments: Namespace, lines: Iterable[str]) -> None:
    if not arguments.quiet:
        encoding = sys.stderr.encoding or "utf-8"
        for line in lines:
            print(line.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)
