"""What a declared environment is taken to hold, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contextc.analyzer.externals.environment import open_environment
from contextc.errors import ConfigurationError

from .conftest import MakeEnvironment, write_files


def test_venv(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    root = make_environment({"six.py": ""})
    environment = open_environment(root)
    assert environment.root == root
    assert environment.kind == "venv"
    assert environment.python == (3, 12)
    assert environment.search_path == (root / "lib/python3.12/site-packages",)
    assert not (tmp_path / "ran").exists()


def test_lib64_link_is_the_same_folder(make_environment: MakeEnvironment) -> None:
    root = make_environment({})
    (root / "lib64").symlink_to("lib")
    assert len(open_environment(root).search_path) == 1


@pytest.mark.parametrize(
    ("name", "version"),
    [("python3.13t", (3, 13)), ("pypy3.10", (3, 10)), ("python3.9", (3, 9))],
)
def test_version_by_folder_outranks_a_stale_configuration(tmp_path: Path, name: str, version: tuple[int, int]) -> None:
    write_files(tmp_path, {"pyvenv.cfg": "version = 3.12.1\n", f"lib/{name}/site-packages/a.py": ""})
    assert open_environment(tmp_path).python == version


def test_windows_layout_takes_the_configured_version(tmp_path: Path) -> None:
    write_files(tmp_path, {"pyvenv.cfg": "version_info = 3.11.4.final.0\n", "Lib/site-packages/a.py": ""})
    environment = open_environment(tmp_path)
    assert environment.python == (3, 11)
    assert environment.search_path == (tmp_path / "Lib/site-packages",)


def test_conda(tmp_path: Path) -> None:
    write_files(
        tmp_path,
        {
            "conda-meta/python-3.11.9-h955ad1f_0.json": "{}",
            "conda-meta/python-dateutil-2.9.0-py_0.json": "{}",
            "lib/python3.11/site-packages/a.py": "",
            "lib/python3.1/site-packages/a.py": "",
        },
    )
    environment = open_environment(tmp_path)
    assert (environment.kind, environment.python) == ("conda", (3, 11))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"setup.py": ""}, "neither pyvenv.cfg nor conda-meta"),
        ({"pyvenv.cfg": "version = 3.12.0"}, "no site-packages"),
        ({"pyvenv.cfg": "", "Lib/site-packages/a.py": ""}, "no site-packages"),
        (
            {"pyvenv.cfg": "", "lib/python3.11/site-packages/a.py": "", "lib/python3.12/site-packages/a.py": ""},
            "several Python versions",
        ),
    ],
)
def test_refused(tmp_path: Path, files: dict[str, str], words: str) -> None:
    write_files(tmp_path, files)
    with pytest.raises(ConfigurationError, match=words) as caught:
        open_environment(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such folder"):
        open_environment(tmp_path / "nowhere")


def test_site_packages_outside_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path, {"env/pyvenv.cfg": "version = 3.12.0", "elsewhere/a.py": ""})
    (tmp_path / "env/lib/python3.12").mkdir(parents=True)
    (tmp_path / "env/lib/python3.12/site-packages").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigurationError, match="no site-packages folder inside it"):
        open_environment(tmp_path / "env")


def test_path_files_are_followed_inside_only(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    write_files(tmp_path, {"outside/x.py": ""})
    root = make_environment(
        {
            "more.pth": f"# a comment\nvendored\n../../../src\n{tmp_path / 'outside'}\n/\nmissing\n.\n",
            "vendored/y.py": "",
        }
    )
    write_files(root, {"src/z.py": ""})
    site = root / "lib/python3.12/site-packages"
    assert open_environment(root).search_path == (site, site / "vendored", root / "src")
    assert not (tmp_path / "ran").exists()


def test_fingerprint_follows_distributions(make_environment: MakeEnvironment) -> None:
    root = make_environment({"a-1.0.dist-info/RECORD": ""})
    record = root / "lib/python3.12/site-packages/a-1.0.dist-info"
    before = open_environment(root).fingerprint
    os.utime(record / "RECORD", (1, 1))
    assert open_environment(root).fingerprint == before
    record.rename(record.with_name("a-1.1.dist-info"))
    assert open_environment(root).fingerprint != before


def test_fingerprint_does_not_depend_on_the_place(make_environment: MakeEnvironment) -> None:
    first, second = (make_environment({"a-1.0.dist-info/RECORD": ""}, name=name) for name in ("one", "two"))
    assert open_environment(first).fingerprint == open_environment(second).fingerprint
