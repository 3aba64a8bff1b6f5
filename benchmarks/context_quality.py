"""Quality of compiled context: how much of what real targets really called is shown, within budgets and by profile.

    python benchmarks/context_quality.py [--packages click,flask] [--targets 60] [--budgets 1000] [--profiles edit,fix]

Targets and truth come from recorded calls (benchmarks/context/README.md has the definitions and the others' figures):
r1 and r2 are direct and second-hop callees shown at least as a signature, callers those of the target in any form,
density the share of what is shown that was really called or calling. 100000 tokens: the budget is not the limit. Each
package is analysed once. Exit status 1: a text over its budget, or under a floor of the means; 2: a download failed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
HERE = REPOSITORY / "benchmarks"
sys.path[:0] = [str(REPOSITORY), str(HERE / "context")]

import score_context

from benchmarks import sources
from benchmarks.context_adapter import Adapter, name_profile

PACKAGES = "click,flask,marshmallow,networkx,celery,django,rope"
NO_BUDGET = 100_000
COLUMNS = ("recall1", "recall2", "callers1", "density", "tokens", "over", "target_full", "failed")
# Over the seven packages, by the edit profile: budget → column → least (tokens: most)
FLOORS: dict[int, dict[str, float]] = {
    1_000: {"recall1": 0.82, "callers1": 0.80, "density": 0.36},
    2_000: {"recall1": 0.88, "recall2": 0.70, "callers1": 0.85},
    4_000: {"recall1": 0.90, "recall2": 0.76},
    NO_BUDGET: {"recall1": 0.88, "recall2": 0.70, "tokens": 1_500},
}


def lay_out_oracle(folder: Path, packages: list[str]) -> None:
    """The folder that the scorer expects: manifest, edges, sources. Raises sources.NotFetched."""
    manifest = json.loads((HERE / "oracle" / "manifest.json").read_text(encoding="utf-8"))
    (folder / "sources").mkdir()
    for entry in manifest:
        if entry["package"] in packages:
            unpacked = sources.unpack_sdist(entry["package"], entry["version"])
            (folder / entry["source_dir"]).symlink_to(unpacked)
    (folder / "manifest.json").symlink_to(HERE / "oracle" / "manifest.json")
    (folder / "edges").symlink_to(HERE / "oracle" / "edges")


def score_package(oracle: Path, root: Path, meta: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """By profile and budget, the scorer's summary of one package."""
    _, count = score_context.load_tokenizer()
    package = score_context.Package(str(oracle), str(root), meta)
    targets, _ = package.targets(arguments.targets)
    sizes = {target: count(package.funcs[target][1]) for target in targets}
    found: dict[str, Any] = {}
    adapter = Adapter(name_profile("edit"))
    for word in arguments.profiles:
        for budget in arguments.budgets:
            rows = []
            for target in targets:
                if sizes[target] > 0.8 * budget:  # as the scorer does: a target must leave a fifth free
                    continue
                request = {"root": str(root), "path": target[0], "qualname": package.raw[target], "budget": budget}
                reply = adapter.answer(request, name_profile(word))
                needs = package.needs(target, 20)
                rows.append(
                    score_context.score_one(package, target, needs, budget, reply, reply["seconds"], count, False)
                )
            summary = score_context.summary(rows)
            found.setdefault(word, {})[budget] = summary
            print_row(meta["package"], word, budget, summary)
    return found


def print_row(package: str, profile: str, budget: int, summary: dict[str, Any]) -> None:
    """One line of the table."""
    shown = [f"{summary[key]:.3f}" if isinstance(summary[key], float) and key != "tokens" else
             f"{summary[key] or 0:.0f}" for key in COLUMNS]  # fmt: skip
    print("\t".join([package, profile, str(budget), *shown]), flush=True)


def judge_means(found: dict[str, dict[str, Any]], arguments: argparse.Namespace) -> int:
    """The means over the packages, and which of them miss their floor."""
    missed = 0
    for word in arguments.profiles:
        for budget in arguments.budgets:
            summaries = [by_profile[word][budget] for by_profile in found.values()]
            means = {key: statistics.mean(summary[key] or 0 for summary in summaries) for key in COLUMNS}
            print_row("MEAN", word, budget, means)
            missed += means["over"] > 0
            for key, floor in FLOORS.get(budget, {}).items() if word == "edit" and len(found) == 7 else ():
                if (means[key] > floor) if key == "tokens" else (means[key] < floor):
                    missed += 1
                    print(f"    {key} {means[key]:.3f}: the floor is {floor}")
    return 1 if missed else 0


def main() -> int:
    """Lay out, analyse and score package by package, the means last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default=PACKAGES, help="comma-separated, of the oracle's seven")
    parser.add_argument("--targets", type=int, default=60, help="targets a package")
    parser.add_argument("--budgets", default=f"1000,2000,4000,{NO_BUDGET}", help="comma-separated, tokens")
    parser.add_argument("--profiles", default="edit", help="comma-separated names, of benchmarks/profiles too")
    parser.add_argument("--json", metavar="FILE", help="write all figures to FILE")
    arguments = parser.parse_args()
    packages = arguments.packages.split(",")
    arguments.profiles = arguments.profiles.split(",")
    arguments.budgets = [int(word) for word in arguments.budgets.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        oracle, roots = Path(folder) / "oracle", Path(folder) / "roots"
        oracle.mkdir()
        try:
            lay_out_oracle(oracle, packages)
        except sources.NotFetched as fault:
            print(fault, file=sys.stderr)
            return 2
        places = ["--oracle", str(oracle), "--roots", str(roots)]
        make_roots = [sys.executable, str(HERE / "context" / "make_roots.py"), *places, *packages]
        subprocess.run(make_roots, check=True, stdout=subprocess.DEVNULL)
        print("\t".join(["package", "profile", "budget", *COLUMNS]))
        manifest = json.loads((oracle / "manifest.json").read_text(encoding="utf-8"))
        found = {
            meta["package"]: score_package(oracle, roots / meta["package"], meta, arguments)
            for meta in manifest
            if meta["package"] in packages
        }
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return judge_means(found, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
