"""The report a person reads. In: a compilation, comparison or measurement, and seconds. Out: lines for the terminal.

    app/views.py
      files    9 scanned, 5 in the context
      symbols  hop 0: 3 full; hop 1: 4 interface, 1 full
      tokens   1,234 o200k, all files 5,678: 78.3 % less

Everything from the repository has its control characters escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from contextc.graph.compare import PulledIn
from contextc.graph.judge import ALL, ALL_CALLS, SILENT, Judgement, Miss, Precision
from contextc.graph.measure import Measurement
from contextc.graph.observed import KINDS
from contextc.graph.suggestions import printable
from contextc.model.diagnostic import Skip, SkipReason, Warning
from contextc.model.edge import Edge
from contextc.passes.by_name import Contrast
from contextc.passes.compilation import Compilation
from contextc.passes.document import LOWERED
from contextc.passes.markdown import printable_line

ROUTINE = frozenset(
    {
        SkipReason.IGNORED, SkipReason.EXCLUDED, SkipReason.NOT_INCLUDED, SkipReason.ENVIRONMENT,
        SkipReason.DEPENDENCIES, SkipReason.DUPLICATE,
    }
)  # fmt: skip
_Item = TypeVar("_Item")
_ROUTINE_SHOWN = 20
_CAUSES = 4
_LISTED = 100  # misses, wrong edges
_KIND_LABELS = {
    "instance_call": "instance call", "class_creation": "class creation", "via_c": "through C",
    "via_wrapper": "through a wrapper",
}  # fmt: skip
_FORM_ORDER = ("full", "trimmed", "interface", "signature", "name")


def iter_report(compilation: Compilation, seconds: float, most: int | None = None) -> Iterator[str]:
    """The report of one compilation. `most`: warnings listed at most (None: all); the rest are counted."""
    context, document = compilation.context, compilation.document
    yield printable(context.target)
    yield f"  files    {context.files_scanned:,} scanned, {document.files_shown:,} in the context"
    yield f"  symbols  {'; '.join(_hops(compilation))}"
    yield f"  tokens   {_tokens(context.tokens, context.naive_tokens, context.tokenizer)}"
    for gap in document.gaps:
        label = "shorter " if gap.why == LOWERED else "left out"
        yield f"  {label} {gap.size:,} symbols: {printable(gap.why)}"
    yield f"  time     {seconds:.2f} s"
    yield from _warnings(context.warnings, most)
    yield from _skipped(context.skipped)
    yield from _notes(compilation)


def _hops(compilation: Compilation) -> Iterator[str]:
    table = compilation.forms_by_hop
    for hop in sorted(table):
        counts = table[hop]
        yield f"hop {hop}: " + ", ".join(f"{counts[form]:,} {form}" for form in _FORM_ORDER if counts[form])


def _tokens(tokens: int, naive: int, tokenizer: str) -> str:
    """Both figures and the reduction, which is negative where the context is the larger one."""
    if not naive:
        return f"{tokens:,} {tokenizer}"
    share = 100 * (1 - tokens / naive)
    return f"{tokens:,} {tokenizer}, all files {naive:,}: {abs(share):.1f} % {'less' if share >= 0 else 'more'}"


def _warnings(warnings: Sequence[Warning], most: int | None) -> Iterator[str]:
    shown = warnings[:most]
    if warnings:
        yield f"warnings ({len(warnings):,})"
    for warning in shown:
        yield f"  {printable(warning.path)}:{warning.line}: {printable(warning.message)}"
    if len(shown) < len(warnings):
        yield f"  and {len(warnings) - len(shown):,} more; --format json lists them all"


def _skipped(skipped: Sequence[Skip]) -> Iterator[str]:
    """Everything that could not be analysed as it should; of what was left out as a rule, the first ones."""
    faults = [skip for skip in skipped if skip.reason not in ROUTINE]
    routine = [skip for skip in skipped if skip.reason in ROUTINE]
    if skipped:
        yield f"not analysed ({len(skipped):,})"
    for skip in [*faults, *routine[:_ROUTINE_SHOWN]]:
        detail = f": {printable(skip.detail)}" if skip.detail else ""
        yield f"  {printable(skip.path)} ({skip.reason}){detail}"
    if len(routine) > _ROUTINE_SHOWN:
        yield f"  and {len(routine) - _ROUTINE_SHOWN:,} more; `contextc graph ROOT` lists them all"


def _notes(compilation: Compilation) -> Iterator[str]:
    """What else the analysis says of the context's files, and of none of the analysed, such as settings not heeded."""
    elsewhere = {file.path for file in compilation.graph.files} - compilation.sources.keys()
    notes = [note for note in compilation.context.notes if note.path not in elsewhere]
    if notes:
        yield f"notes ({len(notes):,})"
    for note in notes[:_ROUTINE_SHOWN]:
        yield f"  {printable(note.path)}: {printable_line(note.message)}"
    if len(notes) > _ROUTINE_SHOWN:
        yield f"  and {len(notes) - _ROUTINE_SHOWN:,} more; `contextc graph ROOT` lists them all"


def iter_contrast(contrast: Contrast) -> Iterator[str]:
    """Typed and name-only side by side, then the files that only one of them has, and why."""
    typed, by_name = contrast.typed, contrast.by_name
    yield printable(typed.context.target)
    counted = f"tokens ({typed.context.tokenizer})"
    width = max(22, len(counted))
    yield f"  {'':<{width}}{'typed':>12}{'name-only':>12}"
    for label, left, right in (
        ("files", typed.document.files_shown, by_name.document.files_shown),
        ("symbols", len(typed.context.items), len(by_name.context.items)),
        (counted, typed.context.tokens, by_name.context.tokens),
    ):
        yield f"  {label:<{width}}{left:>12,}{right:>12,}"
    naive = typed.context.naive_tokens
    yield f"  all {typed.context.files_scanned:,} files: {naive:,} tokens"
    files = contrast.files
    yield f"only name-only ({len(files.only_name_only):,} files)"
    for pulled in files.only_name_only:
        yield f"  {printable(pulled.path)} (hop {pulled.hop}) by {_causes(pulled)}"
    yield f"only typed ({len(files.only_typed):,} files)"
    by_path = _first_edges(typed)
    for found in files.only_typed:
        yield f"  {printable(found.path)} (hop {found.hop}) {by_path.get(found.path, '')}".rstrip()


def _causes(pulled: PulledIn) -> str:
    """`the name save in app/views.py, import app.models in app/x.py`."""
    words = {"name": "the bare name", "import": "the import"}
    said = [
        f"{words[cause.kind]} {printable(cause.name)} in {printable(cause.source)}" for cause in pulled.causes[:_CAUSES]
    ]
    more = f" and {len(pulled.causes) - _CAUSES} more" if len(pulled.causes) > _CAUSES else ""
    return ", ".join(said) + more


def _first_edges(compilation: Compilation) -> dict[str, str]:
    """By file, how its first symbol came in."""
    found: dict[str, str] = {}
    for item in compilation.context.items:
        path = compilation.graph.symbol(item.symbol).path
        if item.via is not None and path not in found:
            edge = item.via
            found[path] = printable(
                f"by {edge.kind} from {edge.path}:{edge.line} ({edge.certainty}, {edge.rule}): {item.symbol}"
            )
    return found


# ------------------------------------------------------------------------------------------------ measurements


def iter_measurement(measurement: Measurement) -> Iterator[str]:
    """Both graphs against a recording: figures, figures by kind, then what the typed graph missed and drew wrongly."""
    trace, typed, by_name = measurement.trace, measurement.typed, measurement.by_name
    about = f"{printable(measurement.target)}, " if measurement.target is not None else ""
    yield f"{about}against {printable(trace.name)} ({printable(f'Python {trace.python}, {trace.backend}')})"
    if not trace.spans:
        yield "  the recording has lines without columns: calls on one line are not told apart"
    if trace.status:
        yield f"  the recorded command ended with status {trace.status}"
    if measurement.left_out:
        yield f"  {measurement.left_out:,} recorded calls from or into files that were not analysed are left out"
    yield f"  {'':<18}{'typed':>24}{'name-only':>24}"
    for label, left, right in (
        ("recall", _recall(typed), _recall(by_name)),
        ("precision", _precision(typed), _precision(by_name)),
        ("silent misses", _silence(typed), _silence(by_name)),
        ("edges not judged", f"{typed.unjudged:,}", f"{by_name.unjudged:,}"),
    ):
        yield f"  {label:<18}{left:>24}{right:>24}"
    yield from _by_kind(typed, by_name)
    silent = sum(1 for miss in typed.misses if miss.reason == SILENT)
    yield from _listing(f"misses of the typed graph ({len(typed.misses):,}, {silent:,} silent)", typed.misses, _miss)
    yield from _listing(f"wrong edges of the typed graph ({len(typed.wrong):,})", typed.wrong, _wrong)
    counts = f"{len(by_name.misses):,} misses, {len(by_name.wrong):,} wrong edges"
    yield f"name-only graph: {counts}; --format json lists them all"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} % ({part:,}/{whole:,})" if whole else "– (0/0)"


def _recall(judgement: Judgement) -> str:
    tally = judgement.tallies[ALL_CALLS]
    return _share(tally.pairs_found, tally.pairs)


def _precision(judgement: Judgement) -> str:
    precision = judgement.precision.get(ALL, Precision(0, 0))
    return _share(precision.right, precision.judged)


def _silence(judgement: Judgement) -> str:
    tally = judgement.tallies[ALL_CALLS]
    return _share(tally.silent, tally.calls)


def _by_kind(typed: Judgement, by_name: Judgement) -> Iterator[str]:
    """Recall and silent misses of each kind that was recorded."""
    yield f"{'by kind':<20}{'pairs':>8}{'typed':>10}{'silent':>10}{'name-only':>12}{'silent':>10}"
    for kind in KINDS:
        left, right = typed.tallies[kind], by_name.tallies[kind]
        if left.calls:
            shares = (left.recall, left.silent_share, right.recall, right.silent_share)
            columns = [f"{100 * (share or 0):.1f} %" for share in shares]
            figures = "".join(f"{text:>{width}}" for text, width in zip(columns, (10, 10, 12, 10), strict=True))
            yield f"  {_KIND_LABELS.get(kind, kind):<18}{left.pairs:>8,}{figures}"


def _listing(title: str, items: Sequence[_Item], describe: Callable[[_Item], str]) -> Iterator[str]:
    yield title
    for item in items[:_LISTED]:
        yield f"  {describe(item)}"
    if len(items) > _LISTED:
        yield f"  and {len(items) - _LISTED:,} more; --format json lists them all"


def _miss(miss: Miss) -> str:
    """`app.py:7  app:main -> app:Store.save  explicit  self.store  untyped-receiver`."""
    reason = f"{miss.reason} (a possible edge is there)" if miss.is_possible else miss.reason
    ends = f"{printable(miss.caller)} -> {printable(miss.callee)}"
    kind = printable(_KIND_LABELS.get(miss.kind, miss.kind))
    return f"{printable(miss.path)}:{miss.line}  {ends}  {kind}  {printable(miss.receiver or '–')}  {reason}"


def _wrong(edge: Edge) -> str:
    """`app.py:7  app:main -> app:Order.save  CALL  likely  receiver-declared`."""
    ends = f"{printable(edge.caller)} -> {printable(edge.callee)}"
    return f"{printable(edge.path)}:{edge.line}  {ends}  {edge.kind}  {edge.certainty}  {edge.rule}"
