"""One package's graph against its recorded calls: a graph and an oracle in, that package's record out, as JSON.

    python benchmarks/accuracy_edges.py GRAPH CONVERTED --oracle EDGES --root ROOT [--strip src/] [--only PKG]
                                        [--wrong FILE]

GRAPH is what `contextc graph` printed, CONVERTED the same through tools/graph_to_oracle.py --without-possible. The
record's figures on recall and precision are the vendored scorer's own on CONVERTED. Precision by rule comes from a
second scoring, in which each edge of GRAPH carries its number in the place of its certainty: the scorer tallies by that
word, so it gives one verdict an edge. A process of its own, since a graph of Django takes a gigabyte once loaded.
"""

from __future__ import annotations

import argparse
import gzip
import json
import runpy
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
BY_KIND = ("explicit", "constructor", "instance_call", "property", "dunder", "decorator", "class_creation", "via_c",
           "via_wrapper")  # fmt: skip
CERTAINTIES = ("certain", "likely", "possible")


class Judged(NamedTuple):
    """An edge at a call site that ran: `is_right` says whether the callee was seen there."""

    place: tuple[Any, ...]  # what the scorer takes for one edge: path, line, callee, site, whether it is implicit
    rule: str
    certainty: str
    is_right: bool
    number: int  # of the edge in the graph


def label_edges(graph: dict[str, Any], relations: set[str], kinds: dict[str, str], strip: str) -> list[dict[str, Any]]:
    """The graph's call edges as the scorer reads them, each with its number in the graph as its `confidence`."""
    symbols = {
        s["id"]: {"path": s["path"].removeprefix(strip), "qualname": s["qualname"].split("#")[0]}
        for s in graph["symbols"]
    }
    rows = []
    for number, edge in enumerate(graph["edges"]):
        if edge["kind"] in relations or edge["caller"] not in symbols or edge["callee"] not in symbols:
            continue
        row = {"caller": symbols[edge["caller"]], "line": edge["line"], "callee": symbols[edge["callee"]],
               "confidence": str(number)}  # fmt: skip
        if edge["kind"] in kinds:
            row["kind"] = kinds[edge["kind"]]
        elif edge.get("site"):
            row["site"] = edge["site"]
        rows.append(row)
    return rows


def keep_inside(rows: list[dict[str, Any]], prefixes: list[str]) -> list[dict[str, Any]]:
    """The edges between functions of the recorded package: calls into tests and examples were not recorded."""
    inside = tuple(f"{prefix}/" for prefix in prefixes)
    return [r for r in rows if r["caller"]["path"].startswith(inside) and r["callee"]["path"].startswith(inside)]


def judge_edges(
    graph: dict[str, Any], rows: list[dict[str, Any]], score: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[Judged]:
    """A verdict for each of the labelled rows that lies at a site which ran; the others are left out."""
    verdicts = score({"edges": rows, "unresolved": []})["precision"]
    judged = []
    for row in rows:
        verdict = verdicts.get(row["confidence"])
        if verdict is not None:
            number = int(row["confidence"])
            edge = graph["edges"][number]
            callee = row["callee"]["qualname"].replace(".<locals>", "")
            place = (row["caller"]["path"], row["line"], row["callee"]["path"], callee, tuple(row.get("site", ())),
                     "kind" in row)  # fmt: skip
            judged.append(Judged(place, edge["rule"], edge["certainty"], verdict["seen"] == verdict["edges"], number))
    return judged


def choose_distinct(judged: Iterable[Judged]) -> list[Judged]:
    """The edges as the scorer counts them: one a place and certainty. Of several that differ by their rule alone, the
    first in the graph stands for all, so that counts by rule add up to the scorer's own."""
    distinct: dict[tuple[Any, ...], Judged] = {}
    for edge in sorted(judged, key=lambda j: j.number):
        distinct.setdefault((edge.place, edge.certainty), edge)
    return list(distinct.values())


def tally_by_rule(judged: Iterable[Judged]) -> dict[str, dict[str, dict[str, int]]]:
    """Rule → certainty → how many different edges were judged, and how many of them were not seen."""
    tallies: dict[str, dict[str, dict[str, int]]] = {}
    for edge in sorted(choose_distinct(judged), key=lambda j: (j.rule, j.certainty)):
        tally = tallies.setdefault(edge.rule, {}).setdefault(edge.certainty, {"edges": 0, "wrong": 0})
        tally["edges"] += 1
        tally["wrong"] += not edge.is_right
    return tallies


def tally_by_certainty(judged: Iterable[Judged]) -> dict[str, dict[str, int]]:
    """Certainty → edges judged and not seen; `possible` too, which no other figure counts."""
    tallies: dict[str, dict[str, int]] = {word: {"edges": 0, "wrong": 0} for word in CERTAINTIES}
    for edge in choose_distinct(judged):
        tallies[edge.certainty]["edges"] += 1
        tallies[edge.certainty]["wrong"] += not edge.is_right
    return tallies


def describe_recall(scored: dict[str, Any]) -> dict[str, Any]:
    """The scorer's recall, by kind and over all: shares from 0 to 1."""
    recall = scored["recall"]
    return {
        "recall": share(recall["ALL_CALLS"]["func_recall"]),
        "silent": share(recall["ALL_CALLS"]["silent_miss_rate"]),
        "recall_all": share(recall["ALL"]["func_recall"]),
        "silent_all": share(recall["ALL"]["silent_miss_rate"]),
        "recall_by_kind": {
            kind: {
                "pairs": recall[kind]["func_pairs"],
                "recall": share(recall[kind]["func_recall"]),
                "silent": share(recall[kind]["silent_miss_rate"]),
            }
            for kind in BY_KIND
            if kind in recall
        },
    }


def list_wrong(graph: dict[str, Any], judged: list[Judged], oracle: str, strip: str) -> list[str]:
    """The edges not seen, one a line: rule, certainty, kind, place, caller, callee, what was seen there instead."""
    seen: dict[tuple[str, int], set[str]] = defaultdict(set)
    with gzip.open(f"{oracle}.edges.jsonl.gz", "rt", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            for line in {row["line"], (row["site"] or [row["line"]])[0]}:
                seen[row["caller"]["path"], line].add(f"{row['callee']['path']}:{row['callee']['raw']}")
    lines = []
    for edge in (graph["edges"][j.number] for j in judged if not j.is_right):
        there = ", ".join(sorted(seen[edge["path"].removeprefix(strip), edge["line"]])) or "nothing of the package"
        words = (edge["rule"], edge["certainty"], edge["kind"], f"{edge['path']}:{edge['line']}", edge["caller"],
                 edge["callee"], there)  # fmt: skip
        lines.append("\t".join(words))
    return sorted(lines)


def share(number: float | None) -> float:
    """A share as it is stored: four digits; nothing to count is 0."""
    return round(number or 0.0, 4)


def main() -> int:
    """Score, write the record to standard output and, if asked, the edges not seen to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("converted", type=Path)
    parser.add_argument("--oracle", required=True, help="the recording, without .edges.jsonl.gz")
    parser.add_argument("--root", required=True, help="the source root that the recorded paths are relative to")
    parser.add_argument("--strip", default="", help="folder before the recorded paths in the graph's")
    parser.add_argument("--only", action="append", default=[], help="folder of the package; no edge that leaves these")
    parser.add_argument("--wrong", type=Path, help="write the edges not seen to this file")
    arguments = parser.parse_args()
    scorer = runpy.run_path(str(HERE / "oracle" / "score_edges.py"))["score"]
    converter = runpy.run_path(str(HERE / "tools" / "graph_to_oracle.py"))

    def score(neutral: dict[str, Any]) -> dict[str, Any]:
        return scorer(arguments.oracle, arguments.root, neutral)  # type: ignore[no-any-return]

    graph = json.loads(arguments.graph.read_bytes())
    neutral = json.loads(arguments.converted.read_bytes())
    rows = label_edges(graph, converter["RELATIONS"], converter["KINDS"], arguments.strip)
    if arguments.only:
        neutral["edges"], rows = (keep_inside(edges, arguments.only) for edges in (neutral["edges"], rows))
    scored = score(neutral)
    judged = judge_edges(graph, rows, score)
    if arguments.wrong:
        lines = list_wrong(graph, judged, arguments.oracle, arguments.strip)
        arguments.wrong.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    whole = scored["precision"].get("ALL", {"precision": None, "edges": 0})
    record = {
        **describe_recall(scored),
        "precision": share(whole["precision"]),
        "judged": whole["edges"],
        "by_certainty": tally_by_certainty(judged),
        "by_rule": tally_by_rule(judged),
        "reasons": dict(sorted(Counter(u["reason"] for u in graph["unresolved"]).items())),
    }
    json.dump(record, sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
