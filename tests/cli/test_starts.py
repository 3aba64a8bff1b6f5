"""Where a context can start: several targets, standard input, a diff, words."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from contextc.cli import main
from tests.cli.stand_in import StandIn, install

FAILURE = 'Traceback (most recent call last):\n  File "/x/app/views.py", line 5, in show\n    pass\nKeyError: 1\n'


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StandIn:
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def give(monkeypatch: pytest.MonkeyPatch, data: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.encode())))


def test_several_targets_also_behind_options(engine: StandIn) -> None:
    assert main(["compile", "repo", "app/views.py", "--quiet", "app.models"]) == 0
    assert main(["compile", "repo", "--quiet", "app/views.py", "app.models"]) == 0
    assert engine.given is not None and engine.given.targets == ("app/views.py", "app.models")


def test_a_failure_on_standard_input(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, FAILURE)
    assert main(["compile", "repo", "-", "--format", "xml"]) == 0
    assert '<mark path="app/views.py" line="5" note="KeyError: 1">user.gone()</mark>' in capsys.readouterr().out


def test_revisions_patches_and_words(engine: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.patch").write_bytes(b"data")
    give(monkeypatch, "piped")
    for words, expected in (
        (["--diff", "main"], (None, "main", None)), (["--diff", "x.patch"], (b"data", None, None)),
        (["--diff", "-"], (b"piped", None, None)), (["--about", "a b"], (None, None, "a b")),
    ):  # fmt: skip
        assert main(["compile", "repo", "app/views.py", "--quiet", *words]) == 0
        given = engine.given
        assert given is not None and (given.patch, given.revision, given.about) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compile", "repo"], "give TARGET, --diff REV or --about WORDS"),
        (["compile", "repo", "-", "--diff", "-"], "it holds a failure or a diff, not both"),
        (["compile", "repo", "app/views.py", "app/view.py"], "did you mean 'app/views.py'"),
        (["compile", "repo", "--difff", "x"], "did you mean '--diff'"),
        (["compare", "repo", "app/views.py", "more"], "one argument too many: 'more'"),
        (["compile", "nowhere", "-"], "no folder 'nowhere'"),
    ],
)
def test_wrong_starts(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    give(monkeypatch, "")
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_a_terminal_gives_no_failure(
    engine: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give(monkeypatch, "")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert main(["compile", "repo", "-"]) == 2
    assert "`-` reads standard input" in capsys.readouterr().err
