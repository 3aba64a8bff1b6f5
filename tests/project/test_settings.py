"""`[tool.contextc]`, the user's configuration, the command line: precedence, and each fault as one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.analyzer.settings import Settings, find_user_folders, load_settings
from contextc.errors import ConfigurationError
from tests.project.trees import make_tree


def load(root: Path, repository: str = "", user: str = "", **command_line: object) -> Settings:
    make_tree(root, {"pyproject.toml": repository, "user/config.toml": user})
    return load_settings(root, user_config=root / "user/config.toml", **command_line)  # type: ignore[arg-type]


def test_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path, user_config=tmp_path / "none.toml") == Settings()
    assert load(tmp_path, "[project]\nname = 'x'") == Settings()


def test_every_key(tmp_path: Path) -> None:
    make_tree(tmp_path, ["env/pyvenv.cfg"])
    table = (
        '[tool.contextc]\ninclude = ["a/"]\nexclude=["b/"]\nenvironment = "env"\npython = "3.12"\nplatform = "win32"\n'
        "max-file-bytes = 10\n"
    )
    environment = (tmp_path / "env").resolve()
    assert load(tmp_path, table) == Settings(("a/",), ("b/",), environment, (3, 12), "win32", 10)
    assert load(tmp_path, user=table.replace('"env"', '"../env"')) == Settings(
        ("a/",), ("b/",), tmp_path / "env", (3, 12), "win32", 10
    )
    assert load(tmp_path, user='exclude = ["x"]').exclude == ("x",)


def test_precedence(tmp_path: Path) -> None:
    repository = '[tool.contextc]\ninclude = ["r/"]\nexclude = ["r"]\npython = "3.11"'
    user = 'include = ["u/"]\nexclude = ["u"]\npython = "3.10"\nplatform = "darwin"'
    settings = load(tmp_path, repository, user)
    assert settings == Settings(("r/",), ("u", "r"), None, (3, 11), "darwin")
    settings = load(tmp_path, repository, user, include=["c/"], exclude=["c"], python=(3, 13))
    assert settings == Settings(("c/",), ("u", "r", "c"), None, (3, 13), "darwin")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '[tool.contextc]\nincludes = ["a"]',
            "has no key 'includes'; remove it or use one of: budget, environment, exclude",
        ),
        ('[tool.contextc]\ninclude = "a"', "include must be a list of patterns such as [\"src/\"], not 'a'"),
        ("[tool.contextc]\ninclude = [1]", 'include must be a list of patterns such as ["src/"], not [1]'),
        ('[tool.contextc]\nexclude = [" "]', "exclude must be a list of patterns"),
        ("[tool.contextc]\nenvironment = 1", 'environment must be a path such as ".venv", not 1'),
        ("[tool.contextc]\npython = 3.12", 'python must be a version such as "3.12", not 3.12'),
        ('[tool.contextc]\npython = "2.7"', "python must be a version"),
        ('[tool.contextc]\nplatform = "amiga"', "platform must be one of 'linux', 'darwin', 'win32'"),
        ("[tool.contextc]\nmax-file-bytes = true", "max-file-bytes must be a whole number above 0, not True"),
        ("[tool]\ncontextc = 1", "tool.contextc must be a table"),
    ],
)
def test_faults_name_file_key_and_remedy(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, table)
    assert str(caught.value).startswith("pyproject.toml: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_faults_in_the_users_file(tmp_path: Path) -> None:
    for text in ('includ = ["a"]', "[", 'environment = "missing"'):
        with pytest.raises(ConfigurationError, match=r"config\.toml: "):
            load(tmp_path, user=text)


def test_a_broken_pyproject_is_a_note(tmp_path: Path) -> None:
    for text in ("[tool.contextc\n", "a = " + "[" * 5000):
        settings = load(tmp_path, text)
        assert settings._replace(notes=()) == Settings()
        assert [note.path for note in settings.notes] == ["pyproject.toml"]
    (tmp_path / "pyproject.toml").write_bytes(b"\xff")
    assert load_settings(tmp_path, user_config=tmp_path / "none.toml").notes


@pytest.mark.parametrize("written", ["../env", "/usr", ".", "link", "sub/../../env"])
def test_the_repository_cannot_name_an_environment_outside(tmp_path: Path, written: str) -> None:
    root = make_tree(tmp_path / "root", ["a.py"])
    make_tree(tmp_path, ["env/pyvenv.cfg"])
    (root / "link").symlink_to("../env")
    with pytest.raises(ConfigurationError, match="lies outside the repository; give it with --environment"):
        load(root, f'[tool.contextc]\nenvironment = "{written}"')


def test_an_environment_that_is_missing(tmp_path: Path) -> None:
    settings = load(tmp_path, '[tool.contextc]\nenvironment = ".venv"')
    assert settings.environment is None
    assert "is not used" in settings.notes[0].message
    with pytest.raises(ConfigurationError, match=r"--environment: .* is no environment"):
        load(tmp_path, environment=tmp_path / ".venv")


def test_the_command_line_may_name_any_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tree(tmp_path, ["env/conda-meta/", "root/a.py"])
    monkeypatch.chdir(tmp_path)
    assert load(tmp_path / "root", environment=Path("env")).environment == tmp_path / "env"


def test_user_folders_follow_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folders = find_user_folders()
    assert (folders.cache.name, folders.config.name) == ("contextc", "contextc")
