"""Recordings written by hand, and the repository they speak of.

`row("explicit", "app.py", "main", "store.py", "Store.save", line=7, site=(7, 4, 7, 15))` is one edge row.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contextc.graph.builder import build_graph
from contextc.graph.call_graph import CallGraph
from contextc.model.analysis import Analysis
from contextc.model.diagnostic import Skip
from contextc.model.edge import Edge, Site, Unresolved
from tests.graph.sources import Sources, read_sources

Row = dict[str, Any]


def row(
    kind: str,
    path: str,
    caller: str,
    callee_path: str,
    callee: str,
    *,
    line: int,
    site: Site | None = None,
    count: int = 1,
) -> Row:
    """An edge row with the fields that are read."""
    return {
        "kind": kind, "line": line, "site": list(site) if site else None, "count": count, "op": "CALL", "sub": "",
        "caller": {"path": path, "raw": caller, "qualname": caller, "firstlineno": 1, "defline": 1},
        "callee": {"path": callee_path, "raw": callee, "qualname": callee, "firstlineno": 1, "defline": 1},
    }  # fmt: skip


def ran(path: str, site: Site, *, line: int = 0, n: int = 1, ext: Sequence[str] = (), cls: Sequence[str] = ()) -> Row:
    """A call expression that ran."""
    return {
        "path": path, "caller": "", "line": line or site[0], "site": list(site), "n": n, "ext": list(ext),
        "cls": list(cls),
    }  # fmt: skip


def write_trace(path: Path, rows: Sequence[Row], sites: Sequence[Row], lines: Mapping[str, Sequence[int]]) -> Path:
    """A file of `contextc trace`; packed if its name ends in .gz."""
    head = {
        "schema": "contextc.trace/1", "root": "shop", "python": "3.12.1", "backend": "monitoring", "spans": "exact",
        "command": ["pytest"], "status": 0,
    }  # fmt: skip
    parts = [head, *rows, {"exec": {"call_sites": list(sites), "lines": dict(lines)}}]
    text = "".join(json.dumps(part) + "\n" for part in parts).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def write_oracle(base: Path, rows: Sequence[Row], sites: Sequence[Row], lines: Mapping[str, Sequence[int]]) -> Path:
    """The same as a pair of files, as the benchmarks keep them."""
    packed = gzip.compress("".join(json.dumps(item) + "\n" for item in rows).encode())
    base.with_name(base.name + ".edges.jsonl.gz").write_bytes(packed)
    executed = {"call_sites": list(sites), "lines": dict(lines), "python": "3.12.1", "backend": "monitoring"}
    base.with_name(base.name + ".exec.json.gz").write_bytes(gzip.compress(json.dumps(executed).encode()))
    return base


class Recorded:
    """Texts, their facts, and a graph with the given edges."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.sources: Sources = read_sources(texts)
        self.texts = {path: text.encode() for path, text in texts.items()}

    def write(self, root: Path) -> Path:
        """The texts as files under `root`."""
        for path, text in self.texts.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text)
        return root

    def analysis(
        self, edges: Sequence[Edge] = (), unresolved: Sequence[Unresolved] = (), skipped: Sequence[Skip] = ()
    ) -> Analysis:
        files, symbols = self.sources.files, self.sources.symbols
        return Analysis(
            "shop", files, symbols, tuple(edges), tuple(unresolved), (), tuple(skipped), (), len(edges), "typed"
        )

    def graph(
        self, edges: Sequence[Edge] = (), unresolved: Sequence[Unresolved] = (), skipped: Sequence[Skip] = ()
    ) -> CallGraph:
        return build_graph(self.analysis(edges, unresolved, skipped))
