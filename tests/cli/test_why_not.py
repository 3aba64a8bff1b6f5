"""`--why-not` and `--format html` as a user gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import FIXTURES, run

NINE = FIXTURES / "nine_files"


def test_why_not_answers_on_standard_output_instead_of_the_context() -> None:
    done = run("compile", NINE, "app/views.py", "--why-not", "app.signals:Signal")
    lines = done.stdout.splitlines()
    assert lines[0] == "app.signals:Signal is left out: hop 3, past the last hop shown"
    assert lines[1].startswith("  app.views:register_user → app.models:User")
    assert "# Context" not in done.stdout and done.stderr.endswith(" s\n")


def test_the_way_to_get_it_that_is_named_gets_it() -> None:
    said = run("compile", NINE, "app/views.py", "--why-not", "app.signals:Signal").stdout
    command = said.partition("to get it: contextc compile ROOT ")[2].partition(", or ")[0].split()
    assert command == ["TARGET", "--max-hops", "3"]
    again = run("compile", NINE, "app/views.py", *command[1:], "--why-not", "app.signals:Signal").stdout
    assert again.startswith("app.signals:Signal is in the context: ")


@pytest.mark.parametrize("name", ["app/models.py::User.save", "app.models:User.save", "app.models.User.save"])
def test_every_form_of_a_name_means_the_same(name: str) -> None:
    said = run("compile", NINE, "app/views.py", "--quiet", "--why-not", name).stdout
    assert said == run("compile", NINE, "app/views.py", "--quiet", "--why-not", "app.models:User.save", seed=7).stdout


def test_an_unknown_symbol_is_one_line_with_near_misses_and_writes_nothing(tmp_path: Path) -> None:
    out = tmp_path / "why.txt"
    done = run("compile", NINE, "app/views.py", "--why-not", "app.models:User.sav", "--out", out, check=False)
    assert done.returncode == 2 and not out.exists() and done.stderr.count("\n") == 1
    said = "contextc: nothing named 'app.models:User.sav' in the analysed files; did you mean 'app.models:User.save'"
    assert done.stderr.startswith(said)


@pytest.mark.parametrize("resolver", ["typed", "name-only"])
def test_a_picture_is_written_to_a_file(tmp_path: Path, resolver: str) -> None:
    out = tmp_path / "context.html"
    run("compile", NINE, "app/views.py", "--format", "html", "--resolver", resolver, "--out", out)
    page = out.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>\n") and page.endswith("</html>\n")
