"""The JSON Schema of `contextc.graph/1`, as it ships in the package (draft 2020-12)."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def load_graph_schema() -> dict[str, Any]:
    """The schema as a dictionary, for any JSON Schema validator."""
    text = files("contextc.graph.export").joinpath("graph.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema
