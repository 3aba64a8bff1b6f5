"""How well `--about` finds a function by words: the first sentence of its docstring, all docstrings left out.

`python benchmarks/about_quality.py FOLDER …` prints for each folder how many functions have a sentence of three words
or more, and in how many cases the function is first, and among the first five, of all that is ranked.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from contextc.engine import Options, Repository, analyze_repository
from contextc.model.facts import SymbolKind
from contextc.passes.seeds.about import MOST, WordIndex
from contextc.passes.seeds.vocabulary import split_words

_FEWEST_WORDS = 3


def main(folders: list[str]) -> None:
    """One row of a Markdown table per folder."""
    print("| folder | functions and classes | sentences | first | among the first five |\n|---|---|---|---|---|")
    for folder in folders:
        repository = analyze_repository(Options(Path(folder), jedi=False, resolver="name-only"))
        index = WordIndex(repository.graph, repository.texts, with_docstrings=False)
        ranks = [rank_of(index, name, words) for name, words in iterate_sentences(repository, index)]
        count = max(1, len(ranks))
        first, among = sum(rank == 0 for rank in ranks) / count, sum(rank < MOST for rank in ranks) / count
        print(f"| {folder} | {len(index.symbols):,} | {len(ranks):,} | {first:.1%} | {among:.1%} |")


def iterate_sentences(repository: Repository, index: WordIndex) -> Iterator[tuple[str, str]]:
    """The functions outside of tests with the first sentence of their docstrings."""
    for symbol in index.symbols:
        if symbol.docstring is None or symbol.is_test or symbol.kind is SymbolKind.CLASS:
            continue
        literal = repository.texts[symbol.path][symbol.docstring.start : symbol.docstring.end].decode()
        sentence = re.split(r"(?<=\.)\s|\n\s*\n", str(ast.literal_eval(literal)).strip())[0]
        if len(split_words(sentence)) >= _FEWEST_WORDS:
            yield symbol.id, sentence


def rank_of(index: WordIndex, name: str, words: str) -> int:
    """The function's place among what is ranked, from 0; past the end where it has none of the words."""
    ranked = [symbol.id for symbol, _ in index.rank(words)]
    return ranked.index(name) if name in ranked else len(index.symbols)


if __name__ == "__main__":
    main(sys.argv[1:])
