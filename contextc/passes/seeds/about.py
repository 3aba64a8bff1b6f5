"""A task in words to seeds. In: a graph, the files' texts, words. Out: `Seeds` with scores, the best first.

`find_about(graph, texts, "session cookie signing")` seeds the few functions and classes whose names, signatures,
docstrings and code speak of that most.

Ranking is BM25F (S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009): a word's
weighted count over the fields, saturated by K1, each field's length normalised by B. A word's worth is Lucene's
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. Sums run in the order of the query, so that scores are the
same on every run.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contextc.errors import UserError
from contextc.graph.call_graph import CallGraph
from contextc.model.escape import escape_unprintable
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Symbol
from contextc.passes.seeds.values import Score, Seeds, make_target, with_contents
from contextc.passes.seeds.vocabulary import split_words, words_of

K1 = 1.2
B = 0.75
MOST = 5  # seeds
LEAST_SHARE = 0.5  # of the best score
TEST_SHARE = 0.5  # what a test's score counts, unless the words ask for tests
_KINDS = frozenset({SymbolKind.CLASS, SymbolKind.FUNCTION, SymbolKind.METHOD})
_MEMBERS = frozenset({SymbolKind.CLASS, SymbolKind.METHOD, SymbolKind.FUNCTION})
_NEAR = 3
_LONGEST = 2_000  # characters of the query


class Weights(NamedTuple):
    """How much a word counts in each field."""

    name: float = 5.0  # the qualified name
    place: float = 1.0  # the module's path
    signature: float = 1.0
    docstring: float = 3.0
    code: float = 0.5


WEIGHTS = Weights()


class WordIndex:
    """The functions and classes of a repository by their words. What is nested in a function is its code."""

    def __init__(
        self, graph: CallGraph, texts: Mapping[str, bytes], weights: Weights = WEIGHTS, with_docstrings: bool = True
    ) -> None:
        kept = [s for s in graph.symbols if s.kind in _KINDS and "<locals>" not in s.qualname and not s.is_overload]
        self.symbols: tuple[Symbol, ...] = tuple(kept)
        self._weights = weights
        fields = [_fields_of(graph, texts[symbol.path], symbol, with_docstrings) for symbol in kept]
        count = max(1, len(fields))
        self._averages = [sum(sum(row[i].values()) for row in fields) / count or 1.0 for i in range(len(weights))]
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, row in enumerate(fields):
            for word, weighted in self._weigh(row).items():
                self._postings.setdefault(word, []).append((number, weighted))

    def _weigh(self, row: Sequence[Counter[str]]) -> dict[str, float]:
        """Each word's count over the fields, by their weight and length."""
        weighted: dict[str, float] = {}
        for words, weight, average in zip(row, self._weights, self._averages, strict=True):
            share = weight / (1 - B + B * sum(words.values()) / average)
            for word, times in words.items():
                weighted[word] = weighted.get(word, 0.0) + times * share
        return weighted

    @property
    def vocabulary(self) -> Iterable[str]:
        """All words there are."""
        return self._postings

    def rank(self, query: str) -> list[tuple[Symbol, float]]:
        """All symbols that have a word of the query, the best first; equal ones in source order."""
        words = list(dict.fromkeys(split_words(query[:_LONGEST])))
        scores: dict[int, float] = {}
        for word in words:
            postings = self._postings.get(word, [])
            worth = math.log(1 + (len(self.symbols) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, weighted in postings:
                scores[number] = scores.get(number, 0.0) + worth * weighted * (K1 + 1) / (weighted + K1)
        if "test" not in words:
            scores = {n: s * TEST_SHARE if self.symbols[n].is_test else s for n, s in scores.items()}
        ranked = sorted(scores.items(), key=lambda pair: (-round(pair[1], 9), pair[0]))
        return [(self.symbols[number], score) for number, score in ranked]


def find_about(graph: CallGraph, texts: Mapping[str, bytes], query: str) -> Seeds:
    """At most MOST seeds, none below LEAST_SHARE of the best score. Raises UserError for words that nothing has."""
    index = WordIndex(graph, texts)
    ranked = index.rank(query)
    shown = escape_unprintable(query[:200])
    if not ranked:
        raise UserError(f'--about "{shown}": no function or class speaks of that{_near(index, query)}')
    best = ranked[0][1]
    chosen = [(symbol, score) for symbol, score in ranked[:MOST] if score >= LEAST_SHARE * best]
    target = make_target(
        f'--about "{shown}"', "symbols", (part for symbol, _ in chosen for part in with_contents(graph, symbol))
    )
    scores = tuple(Score(symbol.id, round(score * 1000)) for symbol, score in chosen)
    unknown = [word for word in dict.fromkeys(split_words(query)) if word not in set(index.vocabulary)]
    notes = [f"{len(ranked) - len(chosen):,} more symbols have some of the words"] if len(ranked) > len(chosen) else []
    if unknown:
        notes.append(f"in no name, signature, docstring or code: {', '.join(unknown[:10])}")
    return Seeds(target, dict.fromkeys(target.symbols, 0), (), tuple(notes), scores, title="Found by words")


def _near(index: WordIndex, query: str) -> str:
    """Words of the repository that are near those of the query."""
    known = sorted(word for word in index.vocabulary if len(word) > 2)
    near: dict[str, None] = {}
    for word in dict.fromkeys(split_words(query[:_LONGEST])):
        near.update(dict.fromkeys(difflib.get_close_matches(word[:50], known, n=2, cutoff=0.7)))
    listed = ", ".join(f"'{word}'" for word in list(near)[:_NEAR])
    return f"; near words that are there: {listed}" if listed else "; use words of its names, docstrings or code"


def _fields_of(graph: CallGraph, text: bytes, symbol: Symbol, with_docstring: bool) -> tuple[Counter[str], ...]:
    """The words of a symbol in the order of `Weights`. A class's code is its body without methods and inner classes."""

    def words(start: int, end: int) -> Counter[str]:
        return Counter(split_words(text[start:end].decode("utf-8", "replace")))

    docstring = symbol.docstring
    body = max(symbol.header.end, docstring.end if docstring is not None else 0)
    code: Counter[str] = Counter()
    at = body
    if symbol.kind is SymbolKind.CLASS:
        for child in graph.children(symbol.id):
            if child.kind in _MEMBERS and child.span.start >= at:
                code += words(at, child.span.start)
                at = child.span.end
    code += words(at, symbol.span.end)
    place = [word for part in symbol.path.removesuffix(".py").split("/") for word in words_of(part)]
    said = words(docstring.start, docstring.end) if docstring is not None and with_docstring else Counter()
    signature = words(symbol.span.start, symbol.header.end)
    return (Counter(split_words(symbol.qualname)), Counter(place), signature, said, code)
