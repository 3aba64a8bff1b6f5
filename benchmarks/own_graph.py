"""contextc read by itself: its call graph, checked against the schema, and what the graph is made of.

    python benchmarks/own_graph.py

Prints edges by kind and certainty, unresolved sites by reason, and the functions most others depend on. Exit status 1 if
the graph does not fit its schema or an import contract's direction shows reversed in it.
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
FORBIDDEN = (("graph", "analyzer"), ("analyzer", "graph"), ("passes", "analyzer"), ("model", "graph"), ("model", "passes"))


def read_own_graph() -> dict[str, Any]:
    """The graph of the package `contextc` as the command prints it."""
    command = [sys.executable, "-m", "contextc", "graph", str(REPOSITORY), "--include", "contextc/", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(REPOSITORY)})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    graph: dict[str, Any] = json.loads(done.stdout)
    return graph


def find_reversed_edges(graph: dict[str, Any]) -> list[str]:
    """Edges from a room to one it must not know, as text; the graph should show what the import contracts say."""
    found = []
    for edge in graph["edges"]:
        rooms = tuple(edge[end].partition(":")[0].split(".")[1:2] for end in ("caller", "callee"))
        pair = tuple(room[0] if room else "" for room in rooms)
        if pair in FORBIDDEN and edge["certainty"] != "possible":
            found.append(f"{edge['caller']} -> {edge['callee']} ({edge['path']}:{edge['line']}, {edge['rule']})")
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
    print(f"{graph['stats']['files']} files, {len(graph['symbols']):,} symbols, {len(graph['edges']):,} edges "
          f"({len(calls):,} calls), {sites:,} call sites, {len(open_sites) / sites:.1%} unresolved, {seconds:.1f} s")  # fmt: skip
    print_counts("edges by kind", Counter(e["kind"] for e in graph["edges"]))
    print_counts("calls by certainty", Counter(e["certainty"] for e in calls))
    print_counts("unresolved sites by reason", Counter(u["reason"] for u in graph["unresolved"]))
    callers = {(e["caller"], e["callee"]) for e in calls}
    print_counts("most called from different places", Counter(callee for _, callee in callers))
    wrong = find_reversed_edges(graph)
    for line in wrong:
        print(f"against the direction of imports: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
