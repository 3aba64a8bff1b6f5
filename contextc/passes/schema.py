"""The JSON Schema of `contextc.context/1`, as it ships in the package (draft 2020-12).

In: nothing. Out: a dictionary. `load_context_schema()["title"]` is `contextc.context/1`.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from contextc.graph.export.schema import load_graph_schema


def load_context_schema() -> dict[str, Any]:
    """The schema, for any JSON Schema validator. It speaks for itself: the graph's, to which it refers, is in it."""
    text = (files("contextc.passes") / "context.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    schema["$defs"]["graph"] = load_graph_schema()
    return schema
