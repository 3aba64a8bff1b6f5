"""contextc read by itself: its call graph, checked against the schema, and what the graph is made of.

    python benchmarks/own_graph.py

Prints edges by kind and certainty, unresolved sites by reason, and the functions most others depend on. Exit status 1
if an import goes against the layers: the graph must show what the import contracts say.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMA = REPOSITORY / "contextc" / "graph" / "export" / "graph.schema.json"
NOT_CALLS = {"REGISTRATION", "INHERITS", "OVERRIDES", "USES_TYPE", "READS_ATTRIBUTE", "READS_GLOBAL", "IMPORTS"}
FORBIDDEN = {("graph", "analyzer"), ("analyzer", "graph"), ("passes", "analyzer"), ("graph", "passes")}


def read_own_graph() -> dict[str, Any]:
    """The graph of the package `contextc` as the command prints it."""
    command = [sys.executable, "-m", "contextc", "graph", str(REPOSITORY), "--include", "contextc/", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPOSITORY)})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    graph: dict[str, Any] = json.loads(done.stdout)
    return graph


def find_reversed_imports(graph: dict[str, Any]) -> list[str]:
    """Import edges from a room to one it must not know, as text."""
    found = []
    for edge in graph["edges"]:
        modules = (edge[end].partition(":")[0].split(".") for end in ("caller", "callee"))
        rooms = tuple(parts[1] if len(parts) > 1 else "" for parts in modules)
        if edge["kind"] == "IMPORTS" and rooms in FORBIDDEN:
            found.append(f"{edge['caller']} -> {edge['callee']} ({edge['path']}:{edge['line']})")
    return found


def print_counts(title: str, counts: Counter[str], limit: int = 12) -> None:
    """A small table, largest first, ties by name."""
    print(f"\n{title}")
    for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]:
        print(f"  {count:6,}  {name}")


def main() -> int:
    """Read, check, print."""
    start = time.perf_counter()
    graph = read_own_graph()
    seconds = time.perf_counter() - start
    jsonschema.validate(graph, json.loads(SCHEMA.read_text(encoding="utf-8")))
    calls = [e for e in graph["edges"] if e["kind"] not in NOT_CALLS]
    open_sites = {(u["path"], tuple(u["site"])) for u in graph["unresolved"] if u["site"]}
    sites = graph["stats"]["call_sites"]
    print(f"{graph['stats']['files']} files, {len(graph['symbols']):,} symbols, {seconds:.1f} s")
    print(f"{len(graph['edges']):,} edges, {len(calls):,} of them calls")
    print(f"{sites:,} call sites, {len(open_sites) / sites:.1%} of them unresolved")
    print_counts("edges by kind", Counter(e["kind"] for e in graph["edges"]))
    print_counts("calls by certainty", Counter(e["certainty"] for e in calls))
    print_counts("unresolved sites by reason", Counter(u["reason"] for u in graph["unresolved"]))
    callers = {(e["caller"], e["callee"]) for e in calls}
    print_counts("most called from different places", Counter(callee for _, callee in callers))
    wrong = find_reversed_imports(graph)
    for line in wrong:
        print(f"against the direction of imports: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
