"""The hard cases as a ratchet: which of them are not yet right, and with which problems.

`python -m tests.cases` scores all cases and writes `tests/cases_not_right.txt` anew: one case a line, then, indented,
what is wrong with it. The list may only get shorter; read the difference before committing it.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

from tests.command import FIXTURES, REPOSITORY

CASES = FIXTURES / "cases"
NOT_RIGHT = Path(__file__).with_name("cases_not_right.txt")
COMMAND = f"{shlex.quote(sys.executable)} -m contextc graph {{src}} --format json --quiet"


def load_scorer() -> ModuleType:
    """The vendored scorer, which is a script."""
    spec = importlib.util.spec_from_file_location("score_cases", REPOSITORY / "benchmarks" / "tools" / "score_cases.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case_names() -> list[str]:
    """All cases, sorted."""
    return sorted(path.parent.name for path in CASES.glob("*/case.json"))


def find_problems(name: str) -> list[str]:
    """What is wrong with one case, in the scorer's words; nothing if it is right."""
    os.environ["PYTHONPATH"] = str(REPOSITORY)
    result = load_scorer().run(str(CASES / name), COMMAND, 120)
    return [str(problem) for problem in result["problems"]]


def read_known() -> dict[str, list[str]]:
    """The cases that are known not to be right, with their problems."""
    known: dict[str, list[str]] = {}
    name = ""
    for line in NOT_RIGHT.read_text(encoding="utf-8").splitlines():
        if line.startswith("    "):
            known[name].append(line.strip())
        elif line and not line.startswith("#"):
            name = line
            known[name] = []
    return known


def write_known(known: dict[str, list[str]]) -> None:
    """Write the list, sorted."""
    lines = ["# Hard cases that are not right yet (`python -m tests.cases`). This list may only get shorter.", ""]
    for name in sorted(known):
        lines += [name, *(f"    {problem}" for problem in known[name])]
    NOT_RIGHT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(case_names(), pool.map(find_problems, case_names()), strict=True))
    write_known({name: problems for name, problems in found.items() if problems})
    print(f"{sum(not problems for problems in found.values())} of {len(found)} cases are right")
