"""Values that libraries give: which calls on them are known, and that nothing is asked without need."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from contextc.analyzer import loading
from contextc.analyzer.externals import jedi_oracle
from contextc.analyzer.externals.jedi_oracle import ExternalAnswer
from contextc.analyzer.inference.external_names import ExternalNames
from contextc.engine import Options, Repository, analyze_repository
from tests.externals.conftest import MakeEnvironment, make_environment
from tests.project.trees import make_tree

__all__ = ["make_environment"]

RESPONSE = "lib.models.Response"
ANSWERS = {
    "lib.get": ExternalAnswer("function", "lib.api.get", RESPONSE, (), None),
    "lib.Client": ExternalAnswer("class", "lib.core.Client", "lib.core.Client", (), None),
    "lib.guess": ExternalAnswer("function", "lib.api.guess", RESPONSE, (), None, False),
    "lib.core.Client.session": ExternalAnswer("instance", "lib.core.Client.session", None, (), "lib.core.Session"),
    "lib.core.Client.Inner": ExternalAnswer("class", "lib.core.Inner", "lib.core.Inner", (), None),
    "lib.core.Client.open": ExternalAnswer("function", "lib.core.Client.open", None, (), None),
    "lib.core.Inner": ExternalAnswer("class", "lib.core.Inner", "lib.core.Inner", (), None),
    "lib.core.Inner.make": ExternalAnswer("function", "lib.core.Inner.make", RESPONSE, (), None),
    "lib.core.Session.get": ExternalAnswer("function", "lib.core.Session.get", RESPONSE, (), None),
    f"{RESPONSE}.json": ExternalAnswer("function", f"{RESPONSE}.json", None, (), None),
    f"{RESPONSE}.hook": ExternalAnswer("instance", f"{RESPONSE}.hook", None, (), "lib.core.Hook"),
    f"{RESPONSE}.__call__": ExternalAnswer("function", f"{RESPONSE}.__call__", None, (), None),
}


class Fake:
    """Answers from a table, and keeps what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def can_know(self, package: str) -> bool:
        return package == "lib"

    def answer(self, names: Sequence[str]) -> Mapping[str, ExternalAnswer | None]:
        self.batches.append(list(names))
        return {name: ANSWERS.get(name) for name in names}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("lib.get().json", True),
        ("lib.get().nope", False),
        ("lib.get().hook", False),  # an attribute that holds an object: what its call runs is not known
        ("lib.get()", False),
        ("lib.get().__call__", False),
        ("lib.get().__iter__().json", False),
        ("lib.get().json().x", False),
        ("lib.guess().json", False),  # not declared: another path may give another value
        ("lib.Client().open", True),
        ("lib.Client().session.get", True),
        ("lib.Client().session.get().json", True),
        ("lib.Client().Inner", True),
        ("lib.Client().Inner.make", True),
        ("lib.Client().Inner().make().json", True),
        ("lib.unknown().json", False),
        ("other.get().json", False),
        ("lib.get().a.b.c.d.e.f.g.json", False),  # as many parts as a name can have: it may have been cut
    ],
)
def test_what_is_known_to_be_called(name: str, known: bool) -> None:
    names = ExternalNames()
    assert not names.is_known_callee(name)
    names.learn([name, "lib.get()"], Fake())
    assert names.is_known_callee(name) is known


def test_questions_come_in_sorted_batches_and_only_for_values() -> None:
    fake = Fake()
    ExternalNames().learn(
        ["lib.get().json", "lib.Client().session.get().json", "lib.plain", "lib.get", "lib.get()", "other.f().x"], fake
    )
    assert fake.batches == [
        ["lib.Client", "lib.get"],
        ["lib.core.Client.session", f"{RESPONSE}.json"],
        ["lib.core.Session.get"],
    ]


SOURCE = """\
import requests

class Mine:
    def json(self): ...
    def odd(self): ...

def fetch(url):
    response = requests.get(url)
    response.json()
    response.odd()
    with requests.Session() as session:
        session.get(url).json()
"""


def reasons(repository: Repository) -> list[tuple[int, str]]:
    return [(item.line, str(item.reason)) for item in repository.analysis.unresolved if item.reason == "external-value"]


def test_known_methods_of_a_library_are_no_unresolved_sites(tmp_path: Path) -> None:
    root = make_tree(tmp_path, {"m.py": SOURCE})
    fresh, kept, without = (analyze_repository(Options(root, jedi=jedi)) for jedi in (True, True, False))
    assert reasons(fresh) == [(10, "external-value")]
    assert reasons(without) == [(line, "external-value") for line in (9, 10, 12, 12)]
    assert kept.analysis == fresh.analysis
    assert not any("Mine" in edge.callee for edge in fresh.analysis.edges if edge.kind.is_call)
    assert fresh.analysis.edges == without.analysis.edges
    assert fresh.notes == ()


def test_answers_lie_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTC_CACHE_DIR", str(tmp_path / "cache"))
    root = make_tree(tmp_path / "tree", {"m.py": SOURCE})
    first = analyze_repository(Options(root))
    (kept,) = (tmp_path / "cache" / "external").glob("external-*.json")
    assert "requests.get" in json.loads(kept.read_bytes())

    def no_worker(*_: object) -> None:
        raise AssertionError("jedi was started")

    monkeypatch.setattr(jedi_oracle, "_Worker", no_worker)
    assert analyze_repository(Options(root)).analysis == first.analysis
    kept.unlink()
    analyze_repository(Options(root, jedi=False))
    with pytest.raises(AssertionError, match="jedi was started"):
        analyze_repository(Options(root))


@pytest.mark.parametrize(
    "source",
    [
        "import json\ndef f(x):\n    json.loads(x).get()\n",
        "import requests\nrequests.get('x')\n",  # nothing is done with the value
        "import nowhere\nnowhere.make().save()\n",  # no text for it
    ],
)
def test_jedi_is_not_started_without_need(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_worker(*_: object) -> None:
        raise AssertionError("jedi was started")

    monkeypatch.setattr(jedi_oracle, "_Worker", no_worker)
    analyze_repository(Options(make_tree(tmp_path, {"m.py": source})))


def test_an_installed_package_is_read_by_path_and_lazy_names_by_jedi(
    make_environment: MakeEnvironment, tmp_path: Path
) -> None:
    environment = make_environment(
        {
            "lib/__init__.py": (
                "from typing import TYPE_CHECKING\n"
                "from lib.core import connect, guess\n"
                "def __getattr__(name): ...\n"
                "class Shown:\n    def go(self) -> 'Shown': ...\n"
            ),
            "lib/core.py": (
                "class Client:\n    def open(self) -> 'Client': ...\n"
                "def connect() -> Client: ...\n"
                "def guess(x):\n    return Client()\n"
            ),
        }
    )
    source = (
        "import lib\nclass Mine:\n    def open(self): ...\n"
        "def f():\n    lib.connect().open()\n    lib.Shown().go().go()\n    lib.guess(Mine()).open()\n"
    )
    root = make_tree(tmp_path / "tree", {"m.py": source})
    for jedi in (True, False):
        found = analyze_repository(Options(root, environment=environment, jedi=jedi))
        assert reasons(found) == [(7, "external-value")]  # what a body without annotations gives stays open
        assert [e.callee for e in found.analysis.edges if e.kind.is_call] == ["m:Mine"]
    assert not (tmp_path / "ran").exists()


def test_the_number_of_questions_is_bounded_and_what_is_left_out_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MAX_QUESTIONS", 1)
    found = analyze_repository(Options(make_tree(tmp_path, {"m.py": SOURCE})))
    assert [note.message for note in found.notes] == [
        "More than 1 external names: not asked for requests.get, requests.sessions.Session.__enter__."
    ]
    assert reasons(found) == [(line, "external-value") for line in (9, 10, 12, 12)]


def test_failures_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jedi_oracle._Worker, "ask", lambda self, name, seconds: None)
    source = "import docker\nclient = docker.from_env()\nclient.info()\n"
    found = analyze_repository(Options(make_tree(tmp_path, {"m.py": source})))
    (note,) = found.notes
    assert note.message == "No answer in time from jedi on docker.from_env."
    assert reasons(found) == [(3, "external-value")]
