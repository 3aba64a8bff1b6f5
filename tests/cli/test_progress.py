"""Progress is drawn on a terminal only, and only where there is something to wait for."""

from __future__ import annotations

import io
import sys

import pytest

from contextc.progress import show_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_without_a_terminal() -> None:
    with show_progress(io.StringIO()) as report:
        assert report is None


def test_a_few_files_are_not_worth_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # importing it would fail
    stream = Terminal()
    with show_progress(stream) as report:
        assert report is not None
        report(1, 9)
    assert stream.getvalue() == ""


def test_a_bar_counts_files_and_goes_away() -> None:
    stream = Terminal()
    with show_progress(stream) as report:
        assert report is not None
        for done in range(0, 301, 50):
            report(done, 300)
    assert "300/300" in stream.getvalue() and "files" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")  # the line is cleared
