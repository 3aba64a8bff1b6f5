"""Token counts, offline. In: a tokenizer's name. Out: a `Tokenizer`, whose label stands beside every count.

`load_tokenizer("o200k").count("hello world")` is 2; `load_tokenizer("chars4").count("hello world")` also (11 // 4);
`load_tokenizer("claude").count("hello world")` is 4, and its name says that this is an estimate, from what, how wrong.

Text from a repository is ordinary text: `<|endoftext|>` in a source file counts as the characters it is made of.

A package adds a tokenizer by an entry point of the group `contextc.tokenizers`: a callable without arguments whose
result has `count(text: str) -> int`. It is loaded only when it is asked for by name, and only from where the running
interpreter's packages are installed: never from a folder that happens to be on the path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from contextc.errors import ConfigurationError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Estimate(NamedTuple):
    """A count for a model whose tokenizer is not public: that of `base` times `percent` / 100, rounded up. True counts
    were seen to lie within `error` percent of it; the sources are listed in docs/tokenizers.md."""

    base: str
    percent: int
    error: int


ESTIMATES = {"claude": Estimate("o200k", 153, 15), "claude-before-4.7": Estimate("o200k", 118, 10)}
_VOCABULARIES = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
TOKENIZERS = (*_VOCABULARIES, "chars4", *ESTIMATES)
DEFAULT_TOKENIZER = "o200k"
PLUGINS = "contextc.tokenizers"
_MOST_KEPT = 50_000  # counts kept; a run of the largest repository measured asks for a fifth of that


class Tokenizer:
    """Counts tokens; equal texts are counted once. `name` is what to print beside a count."""

    __slots__ = ("_count", "_known", "name")

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        self._count = count
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """The number of tokens of `text`. Raises ConfigurationError where a plug-in fails."""
        known = self._known.get(text)
        if known is None:
            known = self._count(text)
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[text] = known
        return known


def load_tokenizer(name: str = DEFAULT_TOKENIZER) -> Tokenizer:
    """The tokenizer of that name, ours or a plug-in's. Raises ConfigurationError for an unknown one, and for a plug-in
    that can't be loaded. Costs about 50 ms for o200k and cl100k."""
    if name == "chars4":
        return Tokenizer(name, lambda text: len(text) // 4)
    if name in _VOCABULARIES:
        return Tokenizer(name, _load_vocabulary(_VOCABULARIES[name]))
    if name in ESTIMATES:
        base, percent, _ = ESTIMATES[name]
        exact = _load_vocabulary(_VOCABULARIES[base])
        return Tokenizer(describe_estimate(name), lambda text: -(-exact(text) * percent // 100))
    return Tokenizer(name, _load_plugin(name))


def describe_estimate(name: str) -> str:
    """`claude (estimated: o200k × 1.53, ±15 %)`."""
    base, percent, error = ESTIMATES[name]
    return f"{name} (estimated: {base} × {percent // 100}.{percent % 100:02}, ±{error} %)"


def _load_vocabulary(name: str) -> Callable[[str], int]:
    from splintr import Tokenizer as Vocabulary

    encode = Vocabulary.from_pretrained(name).encode_ordinary
    return lambda text: len(encode(text))


# -------------------------------------------------------------------------------------------------------- plug-ins


def list_plugins() -> dict[str, EntryPoint]:
    """The tokenizers that installed packages declare, by name; none is loaded. Where two declare one name, the first
    by their package's name counts; none can take the place of one of ours."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=PLUGINS), key=lambda p: (p.name, p.dist.name if p.dist else "", p.value)):
        if point.name not in TOKENIZERS and _is_installed(point):
            found.setdefault(point.name, point)
    return found


def _is_installed(point: EntryPoint) -> bool:
    """Whether the package that declares it lies where the interpreter's packages are installed. The analysed
    repository, which may be on the path, can't smuggle one in."""
    import site
    import sysconfig
    from pathlib import Path

    folders = {*site.getsitepackages(), site.getusersitepackages(), *map(sysconfig.get_path, ("purelib", "platlib"))}
    if point.dist is None:
        return False
    place = Path(str(point.dist.locate_file(""))).resolve()
    return any(place == Path(folder).resolve() for folder in folders)


def _load_plugin(name: str) -> Callable[[str], int]:
    plugins = list_plugins()
    if name not in plugins:
        known = ", ".join((*TOKENIZERS, *plugins))
        raise ConfigurationError(f"no tokenizer named '{name}': one of {known}, or a package that brings it")
    point = plugins[name]
    try:
        count = point.load()().count
    except Exception as fault:  # whatever a stranger's code raises
        raise ConfigurationError(f"{_describe(point)} can't be loaded: {_first_line(fault)}") from fault

    def counted(text: str) -> int:
        try:
            tokens = count(text)
        except Exception as fault:
            raise ConfigurationError(f"{_describe(point)} failed to count: {_first_line(fault)}") from fault
        if not isinstance(tokens, int) or tokens < 0:
            raise ConfigurationError(f"{_describe(point)} gave {tokens!r:.40} for a count: it must be a whole number")
        return tokens

    return counted


def _describe(point: EntryPoint) -> str:
    package = f" of the package {point.dist.name}" if point.dist is not None else ""
    return f"the tokenizer '{point.name}'{package}"


def _first_line(fault: BaseException) -> str:
    lines = str(fault).splitlines()
    return f"{type(fault).__name__}: {lines[0][:200]}" if lines else type(fault).__name__
