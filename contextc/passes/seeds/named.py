"""Targets given by name. In: a graph and the words of the command line. Out: `Seeds`, all of rank 0.

`find_named(graph, ["app/views.py::show", "app.models:User"])` seeds both. Each word is a target by itself, as
`graph.queries` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import find_target
from contextc.passes.seeds.values import Seeds, join_seeds


def find_named(graph: CallGraph, words: Sequence[str]) -> Seeds:
    """The seeds of at least one target, a repeated one counted once. Raises TargetNotFound for the first that names
    nothing."""
    targets = [find_target(graph, word) for word in dict.fromkeys(words)]
    return join_seeds([Seeds(target, dict.fromkeys(target.symbols, 0)) for target in targets])
