"""The budget: the most steps of a plan whose text fits. In: a draft, a renderer, tokens. Out: a compilation.

`fit(renderer, planner, draft, 2_000)` gives a text of at most 2,000 tokens, counted on the text itself, headings and
fences included.

What a step adds to the text can't be known before the text is there: files get headings, a class its header, what is
left out a line. So the text of so many steps is made and counted, and the number of steps found by bisection. Whatever
the counts are, a larger budget then never takes fewer steps: at every midpoint that the smaller budget accepts the
larger one does too, so the two searches part only where the larger one goes up.
"""

from __future__ import annotations

from collections.abc import Mapping

from contextc.errors import BudgetTooSmall
from contextc.model.facts import SymbolKind
from contextc.passes.compilation import NO_BOUND, Compilation, Inputs, Renderer
from contextc.passes.forms import Source, full_text
from contextc.passes.plan import Draft, Planner
from contextc.passes.rows import number_lines

DEFAULT_BUDGET = 8_000
BESIDE_TARGET = 4_000  # tokens that a larger target has beside its own


def allow(inputs: Inputs, draft: Draft, sources: Mapping[str, Source]) -> int:
    """The budget in force, in tokens; NO_BOUND for none. Without one given: DEFAULT_BUDGET, or what the target takes
    and BESIDE_TARGET where that is more."""
    if inputs.budget is not None:
        return inputs.budget
    names = {item.symbol for item in draft.fixed}
    symbols = [inputs.graph.symbol(name) for name in sorted(names)]
    tops = [s for s in symbols if s.parent not in names and s.kind is not SymbolKind.ATTRIBUTE]
    texts = [(full_text(symbol, sources[symbol.path]), symbol.line) for symbol in tops]
    if inputs.line_numbers:
        texts = [(number_lines(text, range(line, line + text.count("\n") + 1)), line) for text, line in texts]
    target = sum(inputs.tokenizer.count(text) for text, _ in texts)
    return max(DEFAULT_BUDGET, target + BESIDE_TARGET)


def fit(renderer: Renderer, planner: Planner, draft: Draft, budget: int) -> Compilation:
    """All of the draft where it fits, or its first steps, as many as fit. Raises BudgetTooSmall."""
    if budget == NO_BOUND:
        return renderer.render(planner.take(draft))
    found = _search(renderer, planner, draft, budget)
    if found is None:
        least = _find_least(renderer, planner, draft, budget)
        target = renderer.target.text
        what = f"a budget of {budget} is too small for '{target}'"
        raise BudgetTooSmall(f"{what}: --budget {least} is the least that works")
    return found


def _search(renderer: Renderer, planner: Planner, draft: Draft, budget: int) -> Compilation | None:
    """The bisection; None where no number of steps that it looks at fits."""
    whole = renderer.render(planner.take(draft), budget)
    if whole.context.tokens <= budget:
        return whole
    best: Compilation | None = None
    low, high = 0, len(draft.steps) + 1  # so many steps, the text brief; what fits is below `high`
    while low < high:
        middle = (low + high) // 2
        made = _render_steps(renderer, planner, draft, middle, budget)
        if made.context.tokens <= budget:
            best, low = made, middle + 1
        else:
            high = middle
    return best


def _find_least(renderer: Renderer, planner: Planner, draft: Draft, budget: int) -> int:
    """The smallest budget that works. Where one works each larger one does; a text with no step isn't always the
    shortest: it may have more to tell of what is left out. The text names the budget, whose digits count too."""
    least = _render_steps(renderer, planner, draft, 0, budget).context.tokens
    while _search(renderer, planner, draft, least) is None:
        least += 1
    while (found := _search(renderer, planner, draft, least - 1)) is not None:
        least = found.context.tokens
        while _search(renderer, planner, draft, least) is None:
            least += 1
    return least


def _render_steps(renderer: Renderer, planner: Planner, draft: Draft, count: int, budget: int) -> Compilation:
    """The brief text of so many steps; with none it goes without the target's imports as well."""
    return renderer.render(planner.take(draft, count), budget, is_brief=True, has_imports=count > 0)
