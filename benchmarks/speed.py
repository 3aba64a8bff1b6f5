"""Cost of one compile, cold and warm, beside the frozen name-only compiler as the unit.

    python benchmarks/speed.py [--only flask] [--runs 3]

CPU seconds of the whole command, workers included: the median of the runs. Cold starts with an empty cache; warm finds
every file in it. Downloads as `real.py` does; exit status 2 if that fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY))

from benchmarks import real, sources

NAME_ONLY = REPOSITORY / "benchmarks" / "baselines" / "name_only_compile.py"


def measure_cpu(command: list[str], cache: Path) -> float:
    """User and system seconds of one run and all processes it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(cache)}
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(target: real.Target, runs: int) -> tuple[float, float, float]:
    """CPU seconds: the name-only compiler, contextc cold, contextc warm. Raises sources.NotFetched."""
    root = real.lay_out(target)
    by_name = [sys.executable, str(NAME_ONLY), str(root), target.path]
    ours = [sys.executable, "-m", "contextc", "compile", str(root), target.path]
    unit, cold, warm = [], [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            unit.append(measure_cpu(by_name, Path(folder)))
            cold.append(measure_cpu(ours, Path(folder)))
            warm.append(measure_cpu(ours, Path(folder)))
    return statistics.median(unit), statistics.median(cold), statistics.median(warm)


def main() -> int:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[target.name for target in real.TARGETS])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print("| target | name-only, CPU s | contextc cold | contextc warm | cold / name-only | warm / name-only |")
    print("|---|---|---|---|---|---|")
    for target in real.TARGETS:
        if arguments.only in (None, target.name):
            try:
                unit, cold, warm = measure(target, arguments.runs)
            except sources.NotFetched as fault:
                print(fault, file=sys.stderr)
                return 2
            cells = (f"{unit:.2f}", f"{cold:.2f}", f"{warm:.2f}", f"{cold / unit:.1f}", f"{warm / unit:.1f}")
            print(f"| {target.name} {target.version} {target.path} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
