"""The JSON Schemas of `contextc.graph/1` and `contextc.comparison/1`, as they ship in the package (draft 2020-12)."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def load_graph_schema() -> dict[str, Any]:
    """The schema as a dictionary, for any JSON Schema validator."""
    return _load("graph.schema.json")


def load_comparison_schema() -> dict[str, Any]:
    """The same for `contextc.comparison/1`. It speaks for itself: an edge's schema, which is the graph's, is in it."""
    schema, graph = _load("comparison.schema.json"), _load("graph.schema.json")
    schema["$defs"]["graph"] = graph
    return schema


def _load(name: str) -> dict[str, Any]:
    text = files("contextc.graph.export").joinpath(name).read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
