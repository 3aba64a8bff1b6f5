"""Answers requests of the context scorer in one process: each root is analysed once.

    python benchmarks/context/score_context.py … --batch-cmd 'python benchmarks/context_adapter.py [PROFILE]'

In: a JSON object a line, `{"root", "path", "qualname", "budget"}`. Out: a line each, the context as `contextc compile
ROOT PATH::QUALNAME --budget BUDGET --format json` prints it, with "seconds"; `{"failed": …}` where that would be an
error. PROFILE: edit (the default), explore, review, fix, or the name of a file in benchmarks/profiles.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from contextc import engine
from contextc.analyzer.settings import read_toml_file
from contextc.errors import UserError
from contextc.passes.json_form import render_json
from contextc.passes.profile import PROFILES, Profile, read_profile


class Adapter:
    """Keeps the analysis of the last root."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._root = ""
        self._repository: engine.Repository | None = None

    def answer(self, request: dict[str, Any], profile: Profile | None = None) -> dict[str, Any]:
        """The reply to one request; `profile` instead of the adapter's."""
        repository = self._analyse(request["root"])
        asked = engine.Request(budget=request["budget"], profile=profile or self.profile)
        start = time.perf_counter()
        try:
            target = f"{request['path']}::{request['qualname']}"
            compilation = engine.run_deep(lambda: engine.compile_context(repository, target, asked))
        except UserError as fault:
            return {"failed": str(fault), "seconds": time.perf_counter() - start}
        seconds = time.perf_counter() - start
        return {**json.loads(render_json(compilation)), "seconds": seconds}

    def _analyse(self, root: str) -> engine.Repository:
        if self._repository is None or self._root != root:
            self._root, self._repository = root, None  # frees the old one first
            self._repository = engine.analyze_repository(engine.Options(root=Path(root)))
        return self._repository


def name_profile(word: str) -> Profile:
    """A profile by its name, or that of benchmarks/profiles/NAME.toml."""
    if word in PROFILES:
        return PROFILES[word]
    path = REPOSITORY / "benchmarks" / "profiles" / f"{word}.toml"
    return read_profile(read_toml_file(path, "PROFILE"), word)


def main() -> int:
    """Reads to the end of standard input."""
    adapter = Adapter(name_profile(sys.argv[1] if len(sys.argv) > 1 else "edit"))
    for line in sys.stdin:
        print(json.dumps(adapter.answer(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
