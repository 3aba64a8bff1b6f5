"""Secrets in source are masked in every output; what isn't one stays; spans and syntax hold.

The secrets are put together here from parts, so that no scanner takes this file for a leak. None was ever valid.
"""

from __future__ import annotations

import ast
import json
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextc.model.edge import Reason, Unresolved
from contextc.model.literals import iterate_literals
from contextc.passes.secrets import find_secrets, hide_details, mask_secrets
from tests.command import run

_CHANCE = random.Random(7)


def signs(count: int, alphabet: str) -> str:
    return "".join(_CHANCE.choice(alphabet) for _ in range(count))


HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
ALL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
LETTERS = ALL[:52]

# What the source holds, its kind, and the part of it that no output may show.
KNOWN: dict[str, str] = {
    "aws-access-token": "AK" + "IA" + signs(16, UPPER),
    "github-pat": "gh" + "p_" + signs(36, ALL),
    "github-fine-grained-pat": "github" + "_pat_" + signs(82, ALL),
    "gitlab-pat": "gl" + "pat-" + signs(20, ALL),
    "slack-bot-token": "xo" + "xb-" + signs(12, "0123456789") + "-" + signs(12, "0123456789") + "-" + signs(24, ALL),
    "stripe-access-token": "sk" + "_live_" + signs(30, ALL),
    "openai-api-key": "sk" + "-" + signs(20, ALL) + "T3Blbk" + "FJ" + signs(20, ALL),
    "anthropic-api-key": "sk" + "-ant-api03-" + signs(93, ALL) + "AA",
    "gcp-api-key": "AI" + "za" + signs(35, ALL),
    "npm-access-token": "np" + "m_" + signs(36, ALL),
    "pypi-upload-token": "py" + "pi-AgEIcHlwaS5vcmc" + signs(90, ALL),
    "sendgrid-api-token": "S" + "G." + signs(66, ALL.lower()),
    "huggingface-access-token": "h" + "f_" + signs(34, LETTERS),
    "jwt": "ey" + "J" + signs(30, ALL) + ".ey" + "J" + signs(40, ALL) + "." + signs(43, ALL),
    "shopify-access-token": "shp" + "at_" + signs(32, HEX),
}
RANDOM = signs(14, ALL) + "7aQ9" + signs(26, ALL) + "3"
NAMED = "q8F" + "z2LmV9xT" + "c4RkW7nJd"
SHORT = "S3c" + "r3t!" + "pass"
URL = "hun" + "ter2"
KEY_LINES = [signs(64, ALL) for _ in range(4)]
PRIVATE_KEY = "\n".join(
    ["-----BEGIN RSA PRIV" + "ATE KEY-----", *KEY_LINES, signs(44, ALL) + "==", "-----END RSA PRIV" + "ATE KEY-----"]
)


def source_with_all() -> str:
    """One function that holds every one of them, in every kind of literal."""
    lines = ['"""Module.', "", *(f"    {kind}: {value}" for kind, value in KNOWN.items()), '"""', "import os", "", ""]
    lines += ["def leak(kind: str) -> object:", f'    """First line with {KNOWN["github-pat"]}."""']
    for at, value in enumerate(KNOWN.values()):
        quoted = (f'"{value}"', f"b'{value}'", f'f"{{kind}}-{value}"', f'r"""{value}"""', f'"a\\n{value}"')[at % 5]
        lines.append(f"    value_{at} = {quoted}  # {value}")
    lines += [
        f'    api_key = "{NAMED}"', f'    password = "{SHORT}"', f'    found = os.environ.get("SECRET_KEY", "{NAMED}")',
        f'    table = {{"client_secret": "{NAMED}"}}', f'    url = "postgres://admin:{URL}@db.internal/prod"',
        f'    blob = "{RANDOM}"', f'    pem = """{PRIVATE_KEY}"""',
        *(f'    line_{n} = "{line}"  # in one line' for n, line in enumerate([PRIVATE_KEY.replace(chr(10), "\\n")])),
        f'    call(token="{NAMED}").send("{KNOWN["github-pat"]}")',
        '    return getattr(os, f"open_{kind}")(api_key)', "",
    ]  # fmt: skip
    return "\n".join(lines)


def hidden_parts() -> list[str]:
    """Of each secret what no output may show."""
    return [*(value[8:] for value in KNOWN.values()), RANDOM, NAMED, SHORT, URL, *KEY_LINES]


@pytest.mark.parametrize("form", ["markdown", "xml", "json", "html"])
@pytest.mark.parametrize("target", ["leak.py", "leak.py::leak", "uses.py"])
def test_no_output_shows_a_secret(tmp_path: Path, form: str, target: str) -> None:
    (tmp_path / "leak.py").write_text(source_with_all())
    (tmp_path / "uses.py").write_text("from leak import leak\n\n\ndef run() -> object:\n    return leak('x')\n")
    done = run("compile", tmp_path, target, "--format", form, "--explain")
    shown = done.stdout + done.stderr
    assert [part for part in hidden_parts() if part in shown] == []
    assert target == "uses.py" or "masked: github-pat" in shown
    assert [part for part in hidden_parts() if part in run("graph", tmp_path).stdout] == []


@pytest.mark.parametrize("resolver", ["typed", "name-only"])
def test_what_a_site_says_is_masked_whatever_resolves_it(tmp_path: Path, resolver: str) -> None:
    value = KNOWN["github-pat"]
    (tmp_path / "leak.py").write_text(f"def run(given):\n    return given.{value}()\n")
    shown = run("compile", tmp_path, "leak.py", "--resolver", resolver).stdout
    assert "given.ghp_***" in shown and value not in shown


def test_what_a_mask_stands_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "leak.py").write_text(source_with_all())
    context = json.loads(run("compile", tmp_path, "leak.py", "--format", "json").stdout)
    told = {w["message"].removeprefix("masked: ") for w in context["warnings"] if w["message"].startswith("masked: ")}
    assert told >= {*KNOWN, "named-secret", "url-password", "high-entropy", "private-key"}


def test_the_user_can_have_them_shown(tmp_path: Path) -> None:
    (tmp_path / "leak.py").write_text(source_with_all())
    shown = run("compile", tmp_path, "leak.py", "--no-mask").stdout
    assert [part for part in hidden_parts() if part not in shown] == []
    assert "masked:" not in shown


def test_the_text_keeps_its_length_lines_and_syntax() -> None:
    text = source_with_all().encode()
    masked, secrets = mask_secrets(text)
    assert len(masked) == len(text) and [len(x) for x in masked.split(b"\n")] == [len(x) for x in text.split(b"\n")]
    plain, changed = (
        [(type(n), n.lineno, n.end_lineno) for n in ast.walk(ast.parse(t)) if isinstance(n, ast.expr)]
        for t in (text, masked)
    )
    assert plain == changed
    assert list(secrets) == sorted(secrets) and all(a.end <= b.start for a, b in pairwise(secrets))


def test_a_reader_sees_what_it_was() -> None:
    value = KNOWN["aws-access-token"]
    assert mask_secrets(f'KEY = "{value}"'.encode()).text == b'KEY = "AKIA' + b"*" * 16 + b'"'


def test_a_key_that_is_a_name_stays_a_name() -> None:
    value = KNOWN["aws-access-token"]
    masked = mask_secrets(f"def {value}(): return 1\n".encode()).text
    assert value.encode() not in masked
    assert isinstance(ast.parse(masked).body[0], ast.FunctionDef)


def test_a_key_in_several_literals() -> None:
    body = "\n".join(f'    "{line}\\n"' for line in PRIVATE_KEY.split("\n"))
    masked = mask_secrets(f"KEY = (\n{body}\n)\n".encode()).text
    ast.parse(masked)
    assert not any(line.encode() in masked for line in KEY_LINES)


def test_an_escape_before_the_end_of_a_literal_holds() -> None:
    for text in (f'password = "{NAMED}\\""', f"token = '{NAMED}\\\\'", f'x = "\\x41{KNOWN["github-pat"]}\\n"'):
        masked = mask_secrets(text.encode()).text
        ast.parse(masked)
        assert NAMED.encode() not in masked and KNOWN["github-pat"][8:].encode() not in masked


INNOCENT = [
    'password = "password"',
    'password = "hunter"',
    'PASSWORD_FIELD = "S3cr3t!pass12"',
    'token_url = "https://a.example/token?x=1Ab2Cd3Ef4Gh5"',
    'SECRET_KEY = os.environ["DJANGO_SECRET_KEY_2"]',
    'secret = "django.core.signing.Signer2"',
    'api_key = "<your api key 123 here>"',
    'api_key = "{api_key_1}:{Other2}"',
    'token = "XXXXXXXXXXXXXXXX1234"',
    'digest = "da39a3ee5e6b4b0d3255bfef95601890afd80709"',
    'sha = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"',
    'url = "postgres://user:password@localhost/db"',
    'url = "http://{user}:{password}@host"',
    'url = "amqp://guest:guest@localhost:5672//"',
    f'ALPHABET = "{ALL}+/"',
    'name = "ThisIsAVeryLongCamelCaseClassNameWith2Numbers3Inside"',
    'path = "some/long/path/to/a/File2/that/Has/Capitals3/AndMore"',
    'regex = r"[A-Za-z0-9_]{16,40}(?:secret|token)\\d{4}[A-Z]"',
    'uuid = "123e4567-e89b-12d3-a456-426614174000"',
    'x = "2024-01-01T00:00:00.000000+00:00"',
    "secrets_of_a_very_long_function_name_2(argument_number_3=1)",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_secrets(text.encode()) == (text.encode(), ())


def test_a_table_of_data_stays() -> None:
    rows = "\n".join(f'    "{signs(60, ALL)}12aB"' for _ in range(12))
    text = f"IMAGE = (\n{rows}\n)\n".encode()
    assert mask_secrets(text).text == text


@given(st.text(alphabet="aB3'\"\\#{}f\n =xyz_-/:@", max_size=80), st.sampled_from(sorted(KNOWN.values())))
@settings(max_examples=300, deadline=None)
def test_whatever_stands_around_nothing_fails_and_what_parsed_parses(around: str, value: str) -> None:
    text = (around + value + around[::-1]).encode()
    masked = mask_secrets(text).text
    assert len(masked) == len(text) and masked.count(b"\n") == text.count(b"\n")
    if parses(text):
        assert parses(masked), (text, masked)


def parses(text: bytes) -> bool:
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def test_literals_are_found() -> None:
    text = "x = rb'a\\'b' + f\"{y!r:>{w}}c{{d\" # e 'f'\n'''g\n\"h\"''' 'open\nz = \"\"\"never"
    found = [[text[a:b] for a, b in literal.texts] for literal in iterate_literals(text)]
    assert found == [["a\\'b"], ["c{{d"], [" e 'f'"], ["g\n\"h\""], ["open"], ["never"]]


def sites(details: list[str]) -> Iterator[Unresolved]:
    for detail in details:
        yield Unresolved("app:f", "app.py", 1, None, Reason.UNTYPED_RECEIVER, detail)


def test_what_is_written_at_a_site_is_masked_too() -> None:
    value = KNOWN["github-pat"]
    text = f'def f(): call("{value}").send()\n'.encode()
    whole, cut, other = hide_details(sites([f'call("{value}").send', f'call("{value[:30]}…', "x.y"]), {"app.py": text})
    assert value[8:20] not in whole.detail + cut.detail and whole.detail.startswith('call("ghp_***')
    assert other.detail == "x.y"


def test_long_lines_take_no_time() -> None:
    text = b'DATA = "' + b"aB3/" * 100_000 + b'"\nx = ' + b"(" * 50_000 + b"'" * 100_001
    assert len(mask_secrets(text).text) == len(text)


def test_every_rule_can_be_used() -> None:
    from contextc.passes.secrets import _rules

    rules = _rules()
    assert len(rules) > 300 and {rule.kind for rule in rules} >= set(KNOWN)
    for rule in rules:
        re.compile(rule.pattern, re.ASCII)
        assert rule.keywords and all(word == word.lower() for word in rule.keywords)


def test_lines_are_those_of_the_file() -> None:
    text = f'a = 1\r\nb = 2\rc = "{KNOWN["npm-access-token"]}"\n'.encode()
    assert [secret.line for secret in find_secrets(text)] == [3]


# ------------------------------------------------------------------------------------- files that are never shown


def test_what_is_ignored_or_no_source_is_never_shown(tmp_path: Path) -> None:
    """Not through a string that names it, an import, or a link."""
    hidden = "never-" + "shown-42"
    for name in (".env", "server.pem", "id_rsa", "private.key", "notes.txt"):
        (tmp_path / name).write_text(f"SECRET={hidden}\n")
    (tmp_path / ".gitignore").write_text("local_settings.py\n")
    (tmp_path / "local_settings.py").write_text(f'VALUE = "{hidden}"\n\n\ndef load() -> str:\n    return "{hidden}"\n')
    (tmp_path / "link.py").symlink_to(tmp_path / ".env")
    (tmp_path / "app.py").write_text(
        "import link\nimport local_settings\nfrom local_settings import VALUE, load\n\n\n"
        "def read() -> str:\n    names = ('.env', 'server.pem', 'id_rsa', 'local_settings.py')\n"
        "    return open(names[0]).read() + load() + VALUE + link.SECRET\n"
    )
    for words in (["compile", tmp_path, "app.py", "--format", "json"], ["graph", tmp_path]):
        done = run(*words)
        assert hidden not in done.stdout + done.stderr
    skipped = {s["path"]: s["reason"] for s in json.loads(run("graph", tmp_path).stdout)["skipped"]}
    assert skipped["local_settings.py"] == "ignored" and skipped["link.py"] == "not-regular"
    assert run("compile", tmp_path, "local_settings.py", check=False).returncode == 2
