"""Quality of compiled context: how much of what real targets really called is shown, at contextc's defaults.

    python benchmarks/context_quality.py [--packages click,flask] [--targets 60]

Targets and truth come from recorded calls (benchmarks/context/README.md has the definitions and the others' figures):
recall1 and recall2 are direct and second-hop callees shown at least as a signature, callers1 the callers, density the
share of what is shown that was really called or calling. No budget: contextc decides by its profile. Exit status 2 if a
download fails.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from benchmarks import sources

HERE = REPOSITORY / "benchmarks"
NO_BUDGET = "100000"


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


def main() -> int:
    """Lay out, run the vendored scorer on each package, leave its table on the terminal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default="click,flask,marshmallow", help="comma-separated, of the oracle's seven")
    parser.add_argument("--targets", type=int, default=60, help="targets a package")
    arguments = parser.parse_args()
    packages = arguments.packages.split(",")
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    compile_command = f"{shlex.quote(sys.executable)} -m contextc compile {{root}} {{path}}::{{qualname}} --format json"
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
        score = [sys.executable, str(HERE / "context" / "score_context.py"), *places, "--packages", ",".join(packages)]
        options = ["--n", str(arguments.targets), "--budgets", NO_BUDGET, "--label", "contextc"]
        return subprocess.run([*score, *options, "--cmd", compile_command], env=environment).returncode


if __name__ == "__main__":
    raise SystemExit(main())
