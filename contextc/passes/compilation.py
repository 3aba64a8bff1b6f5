"""A compilation: a plan rendered, with all that other renderings and the report need beside it.

In: `Inputs` (what every compilation of one repository starts from) and a plan. Out: a `Compilation`.
`Renderer(inputs, target, sources, imports).render(plan).context.text` is the context to hand over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from contextc.graph.call_graph import CallGraph
from contextc.graph.queries import Target
from contextc.model.diagnostic import SkipReason
from contextc.model.plan import Context, Direction, Item
from contextc.passes.assemble import assemble
from contextc.passes.document import (
    TARGET,
    Document,
    build_groups,
    list_gaps,
    list_names,
    locate_doubt,
    locate_warning,
    masked_places,
)
from contextc.passes.doubts import collect_doubts, file_warnings, find_hidden_callers
from contextc.passes.explanation import explain_items
from contextc.passes.forms import Source
from contextc.passes.plan import Plan
from contextc.passes.profile import Profile
from contextc.passes.rows import number_lines
from contextc.passes.secrets import mask_secrets
from contextc.passes.seeds.summary import Summary
from contextc.passes.skeleton import own_text
from contextc.passes.tokens import Tokenizer

NO_BOUND = 0


class Inputs(NamedTuple):
    """What every compilation of one repository starts from. `naive_tokens`: None to count all the files. `budget`: the
    most tokens of the text; None: the default (`budget.allow`); 0: no bound. `line_numbers`:
    each line of the repository's code begins with its number."""

    graph: CallGraph
    texts: Mapping[str, bytes]
    profile: Profile
    tokenizer: Tokenizer
    naive_tokens: int | None = None
    explain: bool = False
    budget: int | None = NO_BOUND
    markup: str = "markdown"
    mask: bool = True  # secrets
    line_numbers: bool = False


class Compilation(NamedTuple):
    """A compiled context and what the other renderings and the report need beside it."""

    context: Context
    document: Document
    target: Target
    tokenizer: Tokenizer
    graph: CallGraph
    sources: Mapping[str, Source]
    profile: Profile

    @property
    def forms_by_hop(self) -> dict[int, Counter[str]]:
        """How many symbols have which form at which hop."""
        table: dict[int, Counter[str]] = {}
        for item in self.context.items:
            table.setdefault(item.hop, Counter())[item.form.value] += 1
        return table


def read_sources(inputs: Inputs, symbols: Iterable[str]) -> dict[str, Source]:
    """The texts of the files in which the symbols lie, their secrets masked: all that is shown comes from here."""
    paths = sorted({inputs.graph.symbol(symbol).path for symbol in symbols})
    return {path: read_source(inputs, path) for path in paths}


def read_source(inputs: Inputs, path: str) -> Source:
    """One file's text, its secrets masked."""
    text = inputs.texts[path]
    return Source(*mask_secrets(text)) if inputs.mask else Source(text)


def count_naively(graph: CallGraph, texts: Mapping[str, bytes], tokenizer: Tokenizer) -> int:
    """Tokens of every analysed file in full: what one would send without a compiler."""
    return sum(tokenizer.count(texts[file.path].decode("utf-8", "replace")) for file in graph.files)


def count_left_out(graph: CallGraph) -> int:
    """How many skipped paths the analysis has nothing of; the others were read in part."""
    read = {file.path for file in graph.files}
    return sum(s.path not in read and s.reason is not SkipReason.IGNORE_FILE for s in graph.analysis.skipped)


class Renderer:
    """From plans to compilations of one target."""

    def __init__(
        self,
        inputs: Inputs,
        target: Target,
        sources: Mapping[str, Source],
        imports: Mapping[str, Sequence[int]],
        summary: Summary | None = None,
    ) -> None:
        self.inputs = inputs
        self.target = target
        self._sources = sources
        self._imports = imports
        self._summary = summary

    def render(
        self, plan: Plan, budget: int | None = None, is_brief: bool = False, has_imports: bool = True
    ) -> Compilation:
        """The assembled context. `is_brief`: what is uncertain by its lines alone."""
        graph, texts, profile, tokenizer, naive_tokens, explain, _, markup, _, has_numbers = self.inputs
        target, sources, items = self.target, self._sources, plan.items
        doubts = tuple(locate_doubt(graph, doubt) for doubt in collect_doubts(graph, items, sources))
        hidden = find_hidden_callers(graph, items)
        groups = build_groups(graph, items, sources, profile, self._imports if has_imports else {})
        if has_numbers:
            groups = tuple(group._replace(code=number_lines(group.code, group.numbers)) for group in groups)
        shown = {group.path: sources[group.path] for group in groups}
        about_files = file_warnings(shown, graph.analysis.skipped, [g.path for g in groups if g.role == TARGET])
        about_files = sorted(locate_warning(graph, w) for w in (*about_files, *masked_places(groups, sources)))
        naive = count_naively(graph, texts, tokenizer) if naive_tokens is None else naive_tokens
        self.inputs = self.inputs._replace(naive_tokens=naive)
        document = Document(
            target.text, groups, list_names(graph, items, sources, groups), doubts, tuple(about_files),
            list_gaps(plan.omitted, budget, plan.lowered), explain_items(graph, items) if explain else (),
            tokenizer.name, naive, len(items), len({graph.symbol(item.symbol).path for item in items}),
            len(graph.files), count_left_out(graph), budget, is_brief, self._summary,
            hidden,
        )  # fmt: skip
        text, tokens = assemble(document, markup, tokenizer)
        unseen = [locate_warning(graph, callers.warning) for callers in hidden]
        warnings = tuple(sorted([*(doubt.warning for doubt in doubts), *unseen, *about_files]))
        context = Context(
            target.text, items, plan.omitted, warnings, graph.analysis.skipped, graph.analysis.notes, tokenizer.name,
            tokens, naive, len(graph.files), text, budget,
        )  # fmt: skip
        return Compilation(context, document, target, tokenizer, graph, sources, profile)


def tokens_of(compilation: Compilation, item: Item) -> int:
    """Tokens of an item's own text: for a class without what is put inside it."""
    return compilation.tokenizer.count(text_of(compilation, item))


def text_of(compilation: Compilation, item: Item) -> str:
    """An item's own text in its form: for a class without what is put inside it."""
    symbol = compilation.graph.symbol(item.symbol)
    is_dependent = item.direction is Direction.USES
    source = compilation.sources[symbol.path]
    return own_text(symbol, item.form, source, compilation.profile, item.lines, is_dependent)
