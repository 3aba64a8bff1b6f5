"""The command line's grammar. In: words. Out: a namespace, or one clear line about what is wrong with them.

`parse_arguments(["compile", ".", "a.py", "--format", "jsn"])` raises UserError: `--format: no 'jsn'; did you mean
'json'? (markdown, xml, json or html)`. Option names are never abbreviated: adding one can't change what another means.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from contextc import __version__
from contextc.errors import UserError
from contextc.model.escape import escape_unprintable

COMMANDS = ("compile", "graph", "compare", "trace")
FORMATS = {
    "compile": ("markdown", "xml", "json", "html"),
    "graph": ("json", "dot"),
    "compare": ("text", "json"),
    "trace": ("trace", "oracle"),
}
SWITCHES = {  # the directions of a context; a structure test keeps their names those of the profile's switches
    "callees": "what the target calls",
    "callers": "who calls it, with the lines of the calls",
    "overrides": "what it overrides and what overrides it",
    "types": "the types in its signature and body, base classes",
    "attributes": "the attributes it touches",
    "globals": "the globals and constants it reads",
    "exceptions": "what it raises",
    "tests": "the tests that reach it, by name",
}
RESOLVERS = ("typed", "name-only")
TOKENIZERS = ("o200k", "cl100k", "chars4", "claude", "claude-before-4.7")  # the last two are estimates
_TARGET = "a file, path.py::Class.method, pkg.mod:Class.method, pkg.mod.Class.method, path.py:LINE or path.ipynb:cell N"

_INPUT = "; any number of them; `-`: a traceback or pytest output on standard input"


class _Parser(argparse.ArgumentParser):
    """Faults become a UserError instead of a usage text and an exit."""

    def error(self, message: str) -> NoReturn:
        """What argparse calls with a fault."""
        message = message.replace("argument ", "", 1) if message.startswith("argument ") else message
        raise UserError(f"{message} (see `{self.prog} --help`)")


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """The arguments as a namespace. Raises UserError; SystemExit(0) after `--help` and `--version`."""
    parser, commands = _build_parser()
    first = next((word for word in words if not word.startswith("-")), None)
    if first is None and not {"-h", "--help", "--version"} & set(words):
        raise UserError(f"no command: one of {', '.join(COMMANDS)} (see `contextc --help`)")
    if first is not None and words[0].startswith("-") and words[0] not in ("-h", "--help", "--version"):
        raise UserError(f"'{_visible(words[0])}' goes after the command: contextc COMMAND ROOT … {_visible(words[0])}")
    if first is not None and first not in COMMANDS:
        raise UserError(f"no command '{_visible(first)}'{_meant(first, COMMANDS)} ({_one_of(COMMANDS)})")
    words, program = _split_program(words) if first == "trace" else (words, [])
    arguments, rest = parser.parse_known_args(words)
    arguments.program = program
    for word in rest:
        if arguments.command == "compile" and (word == "-" or not word.startswith("-")):
            arguments.targets.append(word)  # those behind an option
            continue
        if word.startswith("-"):
            options = [o for action in commands[arguments.command]._actions for o in action.option_strings]
            name = word.partition("=")[0]
            raise UserError(f"{arguments.command} has no option '{_visible(name)}'{_meant(name, options)}")
        if arguments.command == "trace" and not program:
            raise UserError(f"trace: what is to be run goes after `--`: contextc trace ROOT --out FILE -- {word} …")
        raise UserError(f"{arguments.command}: one argument too many: '{_visible(word)}'")
    if arguments.command == "compare":
        _check_compare(arguments)
    if arguments.command == "compile":
        _check_starts(arguments)
    return arguments


def _split_program(words: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Our words, and those of the user's own command, after the first `--`, which are not ours to read."""
    if "--" not in words:
        return words, []
    end = list(words).index("--")
    return words[:end], list(words[end + 1 :])


def _build_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    about = "Compile the code an agent needs for an edit target in a Python repository, from a typed call graph."
    end = "Exit status: 0, or 2 for a wrong argument."
    parser = _Parser(prog="contextc", allow_abbrev=False, description=about, epilog=end)
    parser.add_argument("--version", action="version", version=f"contextc {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    compile_ = subparsers.add_parser("compile", help="context for an edit target", allow_abbrev=False)
    graph = subparsers.add_parser("graph", help="the whole call graph", allow_abbrev=False)
    compare = subparsers.add_parser("compare", help="typed against name-only, for one target", allow_abbrev=False)
    for command in (compile_, graph, compare):
        command.add_argument("root", metavar="ROOT", help="the repository's folder")
    for command in (compile_, compare):
        command.add_argument(
            "targets" if command is compile_ else "target", metavar="TARGET", nargs="*" if command is compile_ else "?",
            help=f"what is to be edited: {_TARGET}; relative to ROOT" + (_INPUT if command is compile_ else ""),
        )  # fmt: skip
        command.add_argument(
            "--max-hops", type=_number("hops", 0), metavar="N", help="how far from the target (default 2)"
        )
        what = f"{', '.join(TOKENIZERS)} (the last two estimate) or a plug-in's name"
        command.add_argument("--tokenizer", type=_choose_tokenizer, default="o200k", metavar="NAME", help=what)
    _add_starts(compile_)
    compile_.add_argument(
        "--budget", type=_number("tokens", 0), metavar="N",
        help="most tokens of the text (default 8,000, or the target's own size and 4,000); 0: no bound",
    )  # fmt: skip
    what = "edit, explore, review, fix, or a TOML file with the keys of a profile (docs/profiles.md)"
    compile_.add_argument("--profile", metavar="NAME|FILE", help=what)
    for switch, about_it in SWITCHES.items():
        action = argparse.BooleanOptionalAction
        compile_.add_argument(f"--{switch}", action=action, default=None, help=about_it)
    what = "begin each line of code with its number in the file"
    compile_.add_argument("--line-numbers", action="store_true", help=what)
    compile_.add_argument(
        "--explain", action="store_true", help="say for each symbol what brought it in, and why its form"
    )
    compile_.add_argument(
        "--why-not", metavar="SYMBOL", help="instead of the context say why SYMBOL is not in it, or what brought it"
    )
    for name, command in (("compile", compile_), ("graph", graph)):
        formats = FORMATS[name]
        command.add_argument("--format", type=_choice(formats), default=formats[0], help=_one_of(formats))
        command.add_argument("--resolver", type=_choice(RESOLVERS), default="typed", help=_one_of(RESOLVERS))
    _add_measuring(compare)
    for command in (compile_, graph, compare):
        _add_common(command)
    trace = subparsers.add_parser("trace", help="the calls that a command of yours makes", allow_abbrev=False)
    _add_trace(trace)
    return parser, {"compile": compile_, "graph": graph, "compare": compare, "trace": trace}


def _add_starts(command: argparse.ArgumentParser) -> None:
    """Where a context can start beside targets."""
    what = "what was changed since REV (of git), or by FILE, a unified diff; `-`: a diff on standard input"
    command.add_argument("--diff", metavar="REV|FILE", help=what)
    command.add_argument("--about", metavar="WORDS", help="what speaks most of a task in words")


def _check_starts(arguments: argparse.Namespace) -> None:
    if not arguments.targets and arguments.diff is None and arguments.about is None:
        raise UserError("compile: give TARGET, --diff REV or --about WORDS (see `contextc compile --help`)")
    shaping = ["budget", *SWITCHES] if arguments.resolver == "name-only" else []
    for name in shaping:
        if getattr(arguments, name) is not None:
            raise UserError(f"compile: --{name} says nothing with --resolver name-only, which takes files as wholes")
    if "-" in arguments.targets and arguments.diff == "-":
        raise UserError("compile: `-` is standard input; it holds a failure or a diff, not both")


def _add_trace(command: argparse.ArgumentParser) -> None:
    """The one command that runs the user's code."""
    command.usage = "contextc trace ROOT --out FILE [options] -- COMMAND …"
    command.description = "Run COMMAND (pytest …, python -m pytest …, script.py …), record calls of ROOT's functions."
    command.epilog = "Exit status: the command's; 2 for a wrong argument."
    add, formats = command.add_argument, FORMATS["trace"]
    add("root", metavar="ROOT", help="calls between functions in this folder's files are recorded")
    add("--out", metavar="FILE", required=True, help="where the recording goes; compressed if it ends in .gz")
    add("--format", type=_choice(formats), default=formats[0], help=_one_of(formats))
    add("--python", metavar="PATH", help="the interpreter to run it with; by default the command's own")
    add("--include", action="append", default=[], metavar="P", help="record only matching paths (gitignore form)")
    add("--exclude", action="append", default=[], metavar="P", help="leave matching paths out (gitignore form)")
    add("--backend", type=_choice(("auto", "monitoring", "setprofile")), default="auto", help=argparse.SUPPRESS)
    add("--quiet", action="store_true", help="no report on standard error")


def _add_measuring(compare: argparse.ArgumentParser) -> None:
    """Against recorded calls: then TARGET says whose calls, and may be left out."""
    formats = FORMATS["compare"]
    what = "judge both by the calls that `contextc trace` recorded; with TARGET, by those of its code"
    compare.add_argument("--trace", metavar="FILE", help=what)
    compare.add_argument("--format", type=_choice(formats), help=f"with --trace: {_one_of(formats)}")


def _check_compare(arguments: argparse.Namespace) -> None:
    if arguments.trace is None:
        if arguments.target is None:
            raise UserError("compare: give TARGET, or --trace FILE (see `contextc compare --help`)")
        if arguments.format is not None:
            raise UserError("compare: --format goes with --trace FILE only")
    elif arguments.max_hops is not None:
        raise UserError("compare: --max-hops says nothing with --trace FILE: it looks at single calls")


def _add_common(command: argparse.ArgumentParser) -> None:
    """What to analyse and how, alike for all commands."""
    add = command.add_argument
    add("--include", action="append", default=[], metavar="P", help="analyse only matching paths (gitignore form)")
    add("--exclude", action="append", default=[], metavar="P", help="leave matching paths out (gitignore form)")
    add("--environment", metavar="PATH", help="the project's environment, for its installed packages; none by default")
    add("--workers", type=_number("workers", 1), metavar="N", help="reading processes")
    add("--no-cache", dest="cache", action="store_false", help="neither use nor fill the cache")
    add("--no-jedi", dest="jedi", action="store_false", help="don't ask jedi about values that libraries give")
    add("--no-mask", dest="mask", action="store_false", help="show secrets in source as they are")
    add("--out", metavar="FILE", help="write to FILE instead of standard output")
    add("--stats", action="store_true", help="print counted work: bodies evaluated, cells, contributions …")
    add("--quiet", action="store_true", help="no report on standard error")


def _choice(known: Sequence[str]) -> Callable[[str], str]:
    def choose(word: str) -> str:
        if word not in known:
            raise argparse.ArgumentTypeError(f"no '{_visible(word)}'{_meant(word, known)} ({_one_of(known)})")
        return word

    return choose


def _choose_tokenizer(word: str) -> str:
    """Plug-ins are looked up for a name that isn't ours only. Told before the work, not after it."""
    if word not in TOKENIZERS:
        from contextc.passes.tokens import list_plugins

        return _choice((*TOKENIZERS, *list_plugins()))(word)
    return word


def _number(what: str, least: int) -> Callable[[str], int]:
    def read(word: str) -> int:
        if not (word.isascii() and word.isdigit() and len(word) < 7 and int(word) >= least):
            raise argparse.ArgumentTypeError(f"'{_visible(word)}' is no number of {what} from {least} on")
        return int(word)

    return read


def _one_of(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _meant(wrong: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(wrong[:80], list(known), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def _visible(word: str) -> str:
    return escape_unprintable(word[:200])
