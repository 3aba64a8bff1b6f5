"""The recorder stands alone: what it imports, what it loads into the recorded program, what it never calls."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import REPOSITORY
from tests.tracing.recording import interpreters, record

RECORDER = REPOSITORY / "contextc" / "tracing" / "recorder"
TRAPS = """
import functools

class Trap:
    \"\"\"An object that says of itself what it is not, as proxies do, and notes who asks.\"\"\"
    asked = []
    def __getattribute__(self, name):
        Trap.asked.append(name)
        raise RuntimeError(name)
    def __call__(self):
        return 1

class Meta(type):
    def __getattribute__(cls, name):
        Trap.asked.append(name)
        return type.__getattribute__(cls, name)

class Odd(metaclass=Meta):
    __module__ = 3
    def __init__(self):
        pass

def plain():
    return 1

plain.__wrapped__ = Trap()

def main():
    trap = Trap()
    del Trap.asked[:]
    trap()
    functools.partial(trap)()
    Odd()
    plain()
    print(Trap.asked)

main()
"""


def test_it_imports_the_standard_library_and_itself_only() -> None:
    files = sorted(RECORDER.glob("*.py"))
    assert len(files) > 8
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 1 or (node.module or "").partition(".")[0] in sys.stdlib_module_names, path
            elif isinstance(node, ast.Import):
                assert {alias.name.partition(".")[0] for alias in node.names} <= sys.stdlib_module_names, path


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_it_leaves_no_bytecode_behind_and_nothing_under_our_name(version: str, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text("import sys\nprint([n for n in sys.modules if n.startswith('contextc')])\n")
    before = sorted(RECORDER.rglob("*.pyc"))
    command = [sys.executable, "-m", "contextc", "trace", ".", "--out", "t", "--", interpreters()[version], "run.py"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "[]\n")
    assert sorted(RECORDER.rglob("*.pyc")) == before


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_it_asks_no_object_what_could_run_its_code(
    version: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "traps.py").write_text(TRAPS)
    plain = subprocess.run([interpreters()[version], "traps.py"], cwd=tmp_path, capture_output=True, text=True)
    trace = record(tmp_path, [interpreters()[version], "traps.py"])
    assert trace.header["status"] == 0
    assert trace.execution["errors"] == []
    assert capfd.readouterr().out == plain.stdout
    kinds = {(row["callee"]["raw"], row["kind"]) for row in trace.rows if row["caller"]["raw"] == "main"}
    assert {("Trap.__call__", "instance_call"), ("Odd.__init__", "constructor"), ("plain", "explicit")} <= kinds


def test_a_changed_or_deleted_source_costs_the_sites_not_the_recording(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        "import os\ndef helper():\n    return 1\ndef main():\n    return helper()\nmain()\nos.remove(__file__)\n"
    )
    trace = record(tmp_path, [sys.executable, "run.py"])
    assert {row["callee"]["raw"] for row in trace.rows} == {"helper", "main"}


@pytest.mark.parametrize("version", sorted(interpreters()))
def test_recording_goes_on_after_recursion_to_the_limit(version: str, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        "import gc\ndef deep(n):\n    return deep(n + 1)\n"
        "try:\n    deep(0)\nexcept RecursionError:\n    gc.collect()\n"
        "def after():\n    pass\nafter()\n"
    )
    trace = record(tmp_path, [interpreters()[version], "run.py"])
    assert trace.header["status"] == 0
    assert {("deep", 3, "deep", "explicit"), ("<module>", 10, "after", "explicit")} <= trace.edges()
    if trace.header["backend"] == "setprofile":
        assert len(trace.execution["errors"]) == 1
        assert trace.summary.notes[-1].startswith("warning: not all was recorded (1 times), first: calls were missed")


def test_a_program_that_profiles_itself(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        "import cProfile\ndef helper():\n    return 1\ndef call():\n    return helper()\n"
        "call()\nprofile = cProfile.Profile()\nprofile.runcall(call)\n"
        "print(len(profile.getstats()) > 1)\n"
    )
    trace = record(tmp_path, [sys.executable, "run.py"])
    assert trace.header["status"] == 0
    assert ("call", 5, "helper", "explicit") in trace.edges()
