"""Texts of which parts are known: joined, formatted, and changed by the methods of `str`.

In: texts and what is done with them. Out: texts again, so that a name put together in one place can be looked up in
another: `"visit_{}".format(type(x).__name__.lower())` is "visit_", then the name of some class in lower case.
`"pkg.mod:run".partition(":")` is a tuple of its three parts. A text of which nothing is known goes by the stub.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from string import Formatter

from contextc.analyzer.inference.binding import Arguments
from contextc.analyzer.inference.calls import CallContext
from contextc.analyzer.inference.kernel import Frame
from contextc.analyzer.inference.namespaces import CLASS_NAME, LOWER_CLASS_NAME
from contextc.model import ir
from contextc.model.value import NOTHING, Instance, Literal, Text, Value, ValueSet

_MAX_TEXT = 80  # characters of a text that inference puts together
Parts = tuple["str | None", ...]


def join_text(frame: Frame, parts: Iterable[str | None]) -> Value:
    """A text of these parts; a plain string where it is too long to name anything (it may grow with each round)."""
    known = tuple(parts)
    if sum(len(part) for part in known if part is not None) > _MAX_TEXT:
        return frame.kernel.builtin("str")
    return frame.kernel.make.text(known)


def text_parts(value: Value) -> Parts | None:
    """The known parts of a string; None for any other value."""
    if isinstance(value, Literal) and value.type == "str":
        return (str(value.value),)
    if isinstance(value, Text):
        return value.parts
    if isinstance(value, Instance) and value.cls == "~builtins:str":
        return (None,)
    return None


def shown_parts(value: Value) -> Parts:
    """A value as a replacement field shows it."""
    if isinstance(value, Literal) and value.type == "int":
        return (str(value.value),)
    return text_parts(value) or (None,)


def text_operation(frame: Frame, expr: ir.BinaryOp, left: ValueSet, right: ValueSet) -> ValueSet:
    """Concatenation and `%` formatting of strings of which a part is known. One side is told apart by its values, the
    other only where it is written here: products of values would grow without end."""
    heads = [p for v in left if (p := text_parts(v)) is not None]
    if expr.op == "%":
        return frozenset(text for head in heads for text in _format_percent(frame, head, right))
    tails: list[Parts] = [(None,)]
    if _is_written(expr.left) or _is_written(expr.right):
        known = right if right or frame.recorder is None else frozenset({frame.kernel.builtin("str")})
        tails = [text_parts(v) or (None,) for v in known]
    return frozenset(join_text(frame, (*head, *tail)) for head in heads for tail in tails)


def _is_written(expr: ir.Expr) -> bool:
    """Whether a text stands in the source as it is."""
    if isinstance(expr, ir.FString):
        return all(isinstance(part, ir.Constant) for part in expr.parts)
    return isinstance(expr, ir.Constant)


def _format_percent(frame: Frame, parts: Parts, operands: ValueSet) -> list[Value]:
    """`"visit_%s" % name`: with one field one text for each value, with several the text around them."""
    found: list[str | None] = []
    for part in parts:
        for index, piece in enumerate(part.split("%s") if part is not None else ()):
            found += [None, piece] if index else [piece]
        if part is None:
            found.append(None)
    whole = parts[0] if len(parts) == 1 else None
    if whole is None or whole.count("%") != 1 or len(found) != 3 or (not operands and frame.recorder is not None):
        return [join_text(frame, found)]
    return [join_text(frame, (found[0], *shown_parts(v), found[2])) for v in operands]


# ------------------------------------------------------------------------------------------------------ methods


def call_text_method(
    frame: Frame, name: str, receiver: Value | None, args: Arguments, context: CallContext
) -> ValueSet | None:
    """What a method of `str` gives for a text of which a part is known; None to go by the stub."""
    parts = text_parts(receiver) if isinstance(receiver, (Literal, Text)) else None
    if parts is None or any(mark for mark, _ in args.positional):
        return None
    if name in _CASES and not args.positional:
        return frozenset({join_text(frame, _map_case(name, parts))})
    if name in _STRIPS:
        return _strip(frame, name, parts, args)
    if name == "format":
        return _format(frame, parts, args)
    if name in _AROUND:
        return _remove(frame, name, parts, args)
    if name == "replace":
        return _replace(frame, parts, args)
    if name in _SPLITS and len(parts) == 1 and isinstance(receiver, Literal):
        return _split(frame, name, str(receiver.value), args, context.at)
    return None


_CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower, "casefold": str.casefold, "upper": str.upper, "title": str.title,
    "capitalize": str.capitalize, "swapcase": str.swapcase,
}  # fmt: skip
_STRIPS: dict[str, tuple[bool, bool]] = {"strip": (True, True), "lstrip": (True, False), "rstrip": (False, True)}
_AROUND = ("removeprefix", "removesuffix")
_SPLITS = ("split", "rsplit", "partition", "rpartition")


def _map_case(name: str, parts: Parts) -> list[str | None]:
    """A class's name stays one where it is put into lower case; in another case it is any text."""
    found: list[str | None] = []
    for part in parts:
        if part is None:
            found.append(None)
            continue
        if name in ("lower", "casefold"):
            found.append(_CASES[name](part).replace(CLASS_NAME, LOWER_CLASS_NAME))
            continue
        for index, piece in enumerate(part.replace(LOWER_CLASS_NAME, CLASS_NAME).split(CLASS_NAME)):
            found += [None, _CASES[name](piece)] if index else [_CASES[name](piece)]
    return found


def _options(args: Arguments, index: int) -> list[str | None]:
    """What an argument can be: a text for each literal, None for what is not known."""
    values = args.positional[index][1] if index < len(args.positional) else NOTHING
    return [str(v.value) if isinstance(v, Literal) and v.type == "str" else None for v in values]


def _strip(frame: Frame, name: str, parts: Parts, args: Arguments) -> ValueSet:
    left, right = _STRIPS[name]
    found: set[Value] = set()
    for characters in _options(args, 0) if args.positional else (" \t\n",):
        kept = list(parts)
        if characters is None:
            kept = [None]
        if left and kept[0] is not None:
            kept[0] = kept[0].lstrip(characters)
        if right and kept[-1] is not None:
            kept[-1] = kept[-1].rstrip(characters)
        found.add(join_text(frame, kept))
    return frozenset(found)


def _remove(frame: Frame, name: str, parts: Parts, args: Arguments) -> ValueSet:
    first = name == "removeprefix"
    found: set[Value] = set()
    for affix in _options(args, 0):
        known = parts[0 if first else -1]
        if affix is None or known is None:
            found.add(join_text(frame, (None,) if affix is None else parts))
        elif first:
            found.add(join_text(frame, (known.removeprefix(affix), *parts[1:])))
        else:
            found.add(join_text(frame, (*parts[:-1], known.removesuffix(affix))))
    return frozenset(found)


def _replace(frame: Frame, parts: Parts, args: Arguments) -> ValueSet:
    found: set[Value] = set()
    for old in _options(args, 0):
        for new in _options(args, 1):
            if old and new is not None and len(args.positional) == 2:
                found.add(join_text(frame, [p.replace(old, new) if p is not None else None for p in parts]))
            else:
                found.add(frame.kernel.builtin("str"))
    return frozenset(found)


def _format(frame: Frame, parts: Parts, args: Arguments) -> ValueSet | None:
    """`"visit_{}".format(name)`: with one replacement field one text for each of its values."""
    if len(parts) != 1 or parts[0] is None or any(name is None for name, _ in args.keywords):
        return None
    try:
        pieces = list(Formatter().parse(parts[0]))
    except ValueError:
        return None
    fields = [(name, spec, conversion) for _, name, spec, conversion in pieces if name is not None]
    around: list[str | None] = []
    for text, name, _, _ in pieces:
        around += [text, None] if name is not None else [text]
    values: ValueSet | None = None
    if len(fields) == 1 and not fields[0][1] and fields[0][2] in (None, "s"):
        named = {name: given for name, given in args.keywords if name is not None}
        named.update({str(index): given for index, (_, given) in enumerate(args.positional)})
        values = named.get(fields[0][0] or "0")
    if values is None or (not values and frame.recorder is not None):
        return frozenset({join_text(frame, around)})
    at = around.index(None)
    return frozenset(join_text(frame, (*around[:at], *shown_parts(v), *around[at + 1 :])) for v in values)


def _split(frame: Frame, name: str, text: str, args: Arguments, at: int) -> ValueSet | None:
    """The parts of a text that is known whole, by position. What is not known of the call leaves any text in each."""
    if at < 0 or not args.positional:
        return None
    make = frame.kernel.make
    found: set[Value] = set()
    for separator in _options(args, 0):
        if not separator:
            found.add(frame.kernel.builtin("tuple" if name.endswith("partition") else "list"))
        elif name.endswith("partition"):
            three = text.partition(separator) if name == "partition" else text.rpartition(separator)
            pieces = tuple(frozenset[Value]({make.literal("str", piece)}) for piece in three)
            found.add(frame.kernel.builtin("tuple", pieces))
        else:
            cuts = (text.split if name == "split" else text.rsplit)
            found.update(_list_pieces(frame, cuts(separator, most), at) for most in _most(args))
    return frozenset(found)


def _list_pieces(frame: Frame, pieces: list[str], at: int) -> Value:
    site = f"{frame.site_key(at)}#{len(pieces)}"
    for index, piece in enumerate(pieces):
        values: ValueSet = frozenset({frame.kernel.make.literal("str", piece)})
        frame.write(("arg", site, 0), values)
        frame.write(("index", site, index), values)
    return frame.kernel.builtin("list", (), site)


def _most(args: Arguments) -> list[int]:
    """The numbers of cuts that a call allows; any for one that is not known."""
    given = [values for name, values in args.keywords if name == "maxsplit"]
    given += [args.positional[1][1]] if len(args.positional) > 1 else []
    if not given:
        return [-1]
    return [int(v.value) if isinstance(v, Literal) and v.type == "int" else -1 for v in given[0]]
