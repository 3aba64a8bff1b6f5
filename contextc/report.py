"""The report a person reads. In: a compilation or a comparison, and seconds. Out: lines for the terminal.

    app/views.py
      files    9 scanned, 5 in the context
      symbols  hop 0: 3 full; hop 1: 4 interface, 1 full
      tokens   1,234 o200k, all files 5,678: 78.3 % less

Everything from the repository has its control characters escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from contextc.graph.compare import PulledIn
from contextc.graph.suggestions import printable
from contextc.model.diagnostic import Skip, SkipReason, Warning
from contextc.passes.by_name import Contrast
from contextc.passes.pipeline import Compilation

ROUTINE = frozenset(
    {
        SkipReason.IGNORED, SkipReason.EXCLUDED, SkipReason.NOT_INCLUDED, SkipReason.ENVIRONMENT,
        SkipReason.DEPENDENCIES, SkipReason.DUPLICATE,
    }
)  # fmt: skip
_ROUTINE_SHOWN = 20
_CAUSES = 4
_FORM_ORDER = ("full", "trimmed", "interface", "signature", "name")


def iter_report(compilation: Compilation, seconds: float, most: int | None = None) -> Iterator[str]:
    """The report of one compilation. `most`: warnings listed at most (None: all); the rest are counted."""
    context, document = compilation.context, compilation.document
    yield printable(context.target)
    yield f"  files    {context.files_scanned:,} scanned, {document.files_shown:,} in the context"
    yield f"  symbols  {'; '.join(_hops(compilation))}"
    yield f"  tokens   {_tokens(context.tokens, context.naive_tokens, context.tokenizer)}"
    for gap in document.gaps:
        yield f"  left out {gap.size:,} symbols: {printable(gap.why)}"
    yield f"  time     {seconds:.2f} s"
    yield from _warnings(context.warnings, most)
    yield from _skipped(context.skipped)


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


def iter_contrast(contrast: Contrast) -> Iterator[str]:
    """Typed and name-only side by side, then the files that only one of them has, and why."""
    typed, by_name = contrast.typed, contrast.by_name
    yield printable(typed.context.target)
    yield f"  {'':<22}{'typed':>12}{'name-only':>12}"
    for label, left, right in (
        ("files", typed.document.files_shown, by_name.document.files_shown),
        ("symbols", len(typed.context.items), len(by_name.context.items)),
        (f"tokens ({typed.context.tokenizer})", typed.context.tokens, by_name.context.tokens),
    ):
        yield f"  {label:<22}{left:>12,}{right:>12,}"
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
