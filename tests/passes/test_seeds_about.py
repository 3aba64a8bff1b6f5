"""A task in words: identifier words, ranking, what is chosen."""

from __future__ import annotations

import pytest

from contextc.errors import UserError
from contextc.passes.seeds.about import MOST, WordIndex, find_about
from contextc.passes.seeds.vocabulary import split_words, stem
from tests.passes.repository import Repository

REPO = Repository(
    {
        "app/sessions.py": '''
            class SecureCookieSession:
                """A session kept in a signed cookie."""

                def get_signing_serializer(self, key):
                    """The serializer that signs cookies."""
                    return Signer(key)

                def is_null(self):
                    return False

            def open_session(request):
                return request.cookies.get("session")
            ''',
        "app/mail.py": '''
            def send_mail(to, body):
                """Send a message."""
                connect().send(to, body)
            ''',
        "tests/test_sessions.py": '''
            def test_session_cookie_signing():
                """Session cookie signing."""
                signing = cookie = session = 1
            ''',
    }
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("load_HTTPServers2", ["load", "http", "server", "2"]), ("getXMLParser", ["get", "xml", "parser"]),
        ("snake_case_names", ["snake", "case", "name"]),
        ("queries boxes classes status is", ["query", "box", "class", "status"]),
        ("größe_des2", ["größe", "des", "2"]), ("", []),
    ],
)  # fmt: skip
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("word", "expected"),
    [("keys", "key"), ("class", "class"), ("status", "status"), ("matches", "match"), ("yes", "yes"), ("this", "this")],
)
def test_plurals(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_the_best_come_first_with_scores() -> None:
    seeds = find_about(REPO.graph, REPO.texts, "session cookie signing")
    assert seeds.scores[0].symbol == "app.sessions:SecureCookieSession.get_signing_serializer"
    assert len(seeds.scores) <= MOST
    assert [s.score for s in seeds.scores] == sorted((s.score for s in seeds.scores), reverse=True)
    assert all(2 * s.score >= seeds.scores[0].score for s in seeds.scores)
    assert set(seeds.ranks.values()) == {0}
    assert seeds.title == "Found by words"


def test_tests_are_demoted_unless_asked_for() -> None:
    index = WordIndex(REPO.graph, REPO.texts)
    assert not index.rank("session cookie signing")[0][0].is_test
    assert index.rank("test session cookie signing")[0][0].is_test


def test_nothing_found_names_near_words() -> None:
    with pytest.raises(UserError, match="no function or class speaks of that; near words that are there: 'serializer'"):
        find_about(REPO.graph, REPO.texts, "serialiser")
    with pytest.raises(UserError, match="use words of its names"):
        find_about(REPO.graph, REPO.texts, "the of and")
    notes = find_about(REPO.graph, REPO.texts, "mail quux").notes
    assert notes[-1] == "in no name, signature, docstring or code: quux"


def test_a_word_more_rare_counts_more_and_repetition_saturates() -> None:
    texts = {f"m{n}.py": f"def f{n}():\n    common()\n" for n in range(8)}
    texts["rare.py"] = "def g():\n    rare()\n"
    texts["often.py"] = "def h():\n    " + "common(); " * 30 + "pass\n"
    repository = Repository(texts)
    ranked = [symbol.id for symbol, _ in WordIndex(repository.graph, repository.texts).rank("common rare")]
    assert ranked[0] == "rare:g"
    assert set(ranked) == {"rare:g", "often:h", *(f"m{n}:f{n}" for n in range(8))}
