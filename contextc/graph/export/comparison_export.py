"""A measurement as JSON, `contextc.comparison/1`: the shape that `comparison.schema.json` describes.

In: a `Measurement`. Out: text in pieces, one miss or wrong edge a line. Plain ASCII, ends with a newline. Shares run
from 0 to 1, null where nothing was counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from contextc.graph.export.json_export import edge_record, encode_record, iter_array
from contextc.graph.judge import ALL, ALL_CALLS, Judgement, Miss, Precision, Tally
from contextc.graph.measure import Measurement

SCHEMA = "contextc.comparison/1"


def iter_measurement_json(measurement: Measurement, version: str) -> Iterator[str]:
    """The document in pieces, to be written one after another. `version` is contextc's own."""
    trace = measurement.trace
    head = {
        "schema": SCHEMA,
        "root": measurement.root,
        "analyzer": {"name": "contextc", "version": version},
        "target": measurement.target,
        "trace": {
            "name": trace.name, "python": trace.python, "backend": trace.backend,
            "spans": "exact" if trace.spans else "lines", "status": trace.status,
        },
        "left_out": measurement.left_out,
    }  # fmt: skip
    yield "{\n"
    for key, value in head.items():
        yield f'"{key}": {encode_record(value)},\n'
    yield from _iter_judgement("typed", measurement.typed, ",")
    yield from _iter_judgement("name_only", measurement.by_name, "")
    yield "}\n"


def _iter_judgement(key: str, judgement: Judgement, after: str) -> Iterator[str]:
    tallies = {name: _tally_record(tally) for name, tally in judgement.tallies.items() if tally.calls}
    headline = judgement.tallies[ALL_CALLS]
    head = {
        "recall": headline.recall,
        "precision": judgement.precision[ALL].share if ALL in judgement.precision else None,
        "silent": headline.silent_share,
        "by_kind": tallies,
        "by_certainty": _precision_records(judgement.precision),
        "by_rule": _precision_records(judgement.rules),
        "unjudged": judgement.unjudged,
    }
    yield f'"{key}": {{\n'
    for name, value in head.items():
        yield f'"{name}": {encode_record(value)},\n'
    yield from iter_array("misses", map(_miss_record, judgement.misses), ",")
    yield from iter_array("wrong", map(edge_record, judgement.wrong), "")
    yield f"}}{after}\n"


def _tally_record(tally: Tally) -> dict[str, Any]:
    return {**tally._asdict(), "recall": tally.recall, "silent_share": tally.silent_share}


def _precision_records(groups: Mapping[str, Precision]) -> dict[str, Any]:
    return {name: {**group._asdict(), "precision": group.share} for name, group in groups.items()}


def _miss_record(miss: Miss) -> dict[str, Any]:
    return miss._asdict()
