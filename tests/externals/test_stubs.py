"""Which file answers for an outside module."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextc.analyzer.externals.environment import open_environment
from contextc.analyzer.externals.stubs import StubLibrary

from .conftest import MakeEnvironment, write_files


@pytest.mark.parametrize(
    ("module", "ending", "is_package"),
    [
        ("builtins", "typeshed/builtins.pyi", False),
        ("os", "typeshed/os/__init__.pyi", True),
        ("os.path", "typeshed/os/path.pyi", False),
        ("collections.abc", "typeshed/collections/abc.pyi", False),
        ("concurrent.futures.thread", "typeshed/concurrent/futures/thread.pyi", False),
    ],
)
def test_standard_library(module: str, ending: str, is_package: bool) -> None:
    stub = StubLibrary().locate(module)
    assert stub is not None
    assert stub.path.as_posix().endswith(ending)
    assert (stub.module, stub.is_package, stub.origin) == (module, is_package, "typeshed")


@pytest.mark.parametrize(
    "module", ["", "os.", ".os", "os..path", "../os", "os/path", "os.nope", "import", "pytest", "a\0b"]
)
def test_absent(module: str) -> None:
    """`pytest` is installed beside this very test: the host's packages are no one's environment."""
    assert StubLibrary().locate(module) is None
    assert StubLibrary().external_text(module) is None


@pytest.mark.parametrize(
    ("module", "python", "expected"),
    [
        ("tomllib", (3, 10), False),
        ("tomllib", (3, 11), True),
        ("distutils.core", (3, 11), True),
        ("distutils.core", (3, 12), False),
        ("asyncio.taskgroups", (3, 10), False),  # listed by itself, younger than its parent
        ("asyncio.taskgroups", (3, 11), True),
        ("requests", (3, 12), False),
        ("not a name", (3, 12), False),
    ],
)
def test_lifetimes(module: str, python: tuple[int, int], expected: bool) -> None:
    library = StubLibrary(python)
    assert library.is_stdlib(module) is expected
    assert (library.locate(module) is not None) is expected


@pytest.mark.parametrize(
    ("module", "oldest", "expected"),
    [
        ("distutils.core", (3, 11), True),
        ("distutils.command.bdist_msi", (3, 11), False),  # went a version before its parent
        ("distutils.command.bdist_msi", (3, 10), True),
        ("imp", (3, 12), False),
        ("imp", (3, 10), True),
        ("asyncore", (3, 11), True),
        ("tomllib", (3, 10), True),
        ("compression.zstd", (3, 10), False),
    ],
)
def test_a_module_that_went_is_found_while_a_version_with_it_is_supported(
    module: str, oldest: tuple[int, int], expected: bool
) -> None:
    library = StubLibrary((3, 12), oldest=oldest)
    assert library.is_stdlib(module) is expected
    assert (library.locate(module) is not None) is expected


def test_order_of_an_installed_package(make_environment: MakeEnvironment) -> None:
    root = make_environment(
        {
            "pkg/__init__.py": "",
            "pkg/plain.py": "",
            "pkg/typed.py": "",
            "pkg/typed.pyi": "",
            "pkg/both.py": "",
            "pkg/both.pyi": "",
            "pkg-stubs/__init__.pyi": "",
            "pkg-stubs/both.pyi": "",
            "os.py": "raise SystemExit",
            "alone.pyi": "",
        }
    )
    library = StubLibrary(environment=open_environment(root))
    site = root / "lib/python3.12/site-packages"
    found = {name: library.locate(name) for name in ("pkg", "pkg.plain", "pkg.typed", "pkg.both", "alone", "os")}
    assert {name: stub and (stub.path.relative_to(site).as_posix(), stub.origin)
            for name, stub in found.items() if name != "os"} == {
        "pkg": ("pkg-stubs/__init__.pyi", "environment-stub"),
        "pkg.plain": ("pkg/plain.py", "environment-source"),
        "pkg.typed": ("pkg/typed.pyi", "environment-stub"),
        "pkg.both": ("pkg-stubs/both.pyi", "environment-stub"),
        "alone": ("alone.pyi", "environment-stub"),
    }  # fmt: skip
    assert found["os"] is not None
    assert found["os"].origin == "typeshed"


def test_namespace_package(make_environment: MakeEnvironment) -> None:
    root = make_environment(
        {"space/one/__init__.py": "", "space/two.py": "", "more.pth": "more\n", "more/space/x.py": ""}
    )
    library = StubLibrary(environment=open_environment(root))
    assert library.locate("space") is None
    assert library.locate("space.one") is not None
    assert library.locate("space.x") is not None
    assert library.children("space") == ("space.one", "space.two", "space.x")


def test_children(make_environment: MakeEnvironment) -> None:
    root = make_environment(
        {"pkg/__init__.py": "", "pkg/b.py": "", "pkg/a.py": "", "pkg/__pycache__/c.py": "", "pkg/not-a-name.py": "",
         "pkg/data/x.txt": "", "pkg-stubs/__init__.pyi": "", "pkg-stubs/s.pyi": ""}
    )  # fmt: skip
    library = StubLibrary(environment=open_environment(root))
    assert library.children("pkg") == ("pkg.a", "pkg.b", "pkg.data", "pkg.s")
    assert library.children("pkg.a") == ()
    assert library.children("nowhere") == ()
    assert "asyncio.taskgroups" not in StubLibrary((3, 10)).children("asyncio")
    assert StubLibrary().children("concurrent.futures") == (
        "concurrent.futures._base", "concurrent.futures.process", "concurrent.futures.thread",
    )  # fmt: skip


def test_text_is_normalised(make_environment: MakeEnvironment) -> None:
    root = make_environment({"bom.py": "\ufeffx = 1\r\n"})
    site = root / "lib/python3.12/site-packages"
    (site / "latin.py").write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    (site / "broken.py").write_bytes(b"x = '\xff'\n")
    library = StubLibrary(environment=open_environment(root))
    assert library.external_text("bom") == b"x = 1\r\n"
    assert library.external_text("latin") == "# coding: latin-1\nx = 'é'\n".encode()
    assert library.external_text("broken") is None


def test_links_out_of_the_environment_are_absent(make_environment: MakeEnvironment, tmp_path: Path) -> None:
    write_files(
        tmp_path, {"secret/__init__.py": "x = 1", "secret/inner.py": "", "file.py": "", "stubs/__init__.pyi": ""}
    )
    root = make_environment({"ok/__init__.py": "", "real.py": ""})
    site = root / "lib/python3.12/site-packages"
    (site / "leak").symlink_to(tmp_path / "secret")
    (site / "file.py").symlink_to(tmp_path / "file.py")
    (site / "ok" / "inner").symlink_to(tmp_path / "secret")
    (site / "ok-stubs").symlink_to(tmp_path / "stubs")
    (site / "alias.py").symlink_to(site / "real.py")
    (site / "loop.py").symlink_to(site / "loop.py")
    library = StubLibrary(environment=open_environment(root))
    for module in ("leak", "leak.inner", "file", "ok.inner", "ok.inner.inner", "loop"):
        assert library.locate(module) is None, module
    stub, alias = library.locate("ok"), library.locate("alias")
    assert stub is not None
    assert stub.path == site / "ok/__init__.py"
    assert alias is not None
    assert alias.path == site / "real.py"
    assert library.children("ok") == ()
