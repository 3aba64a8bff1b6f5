"""Progress on a terminal while files are read. In: counts. Out: one line on standard error that goes away at the end.

    with show_progress(sys.stderr) as report: report(12, 340)

Nothing is drawn, and the drawing library isn't loaded, until the first report of more than a few files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

_WORTH_SHOWING = 20  # files; fewer are read before anyone looks


@contextmanager
def show_progress(stream: TextIO) -> Iterator[Callable[[int, int], None] | None]:
    """A callback for (done, total); None where `stream` is no terminal."""
    if not stream.isatty():
        yield None
        return
    with ExitStack() as stack:
        update: Callable[[int, int], None] | None = None

        def report(done: int, total: int) -> None:
            nonlocal update
            if update is None and total > _WORTH_SHOWING:
                update = _draw(stream, stack)
            if update is not None:
                update(done, total)

        yield report


def _draw(stream: TextIO, stack: ExitStack) -> Callable[[int, int], None]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("files"))
    bar = stack.enter_context(Progress(*columns, console=Console(file=stream), transient=True))
    task = bar.add_task("reading")

    def update(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total, description="reading" if done < total else "resolving calls of")

    return update
