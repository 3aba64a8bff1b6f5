"""Dicts made in the repository: what stands under each literal key.

In: a dict's allocation site. Out: values. A literal key has a cell of its own, `("key", site, "name")`; what is stored
under any other key stands in `("anykey", site)`, all values together in `("arg", site, 1)`. `("keys", site)` lists the
literal keys, so that `{**d}`, `e.update(d)` and `f(**d)` take them over one by one: `{"a": A()}` spread into a call
gives an `A` to the parameter `a` alone.
"""

from __future__ import annotations

from collections.abc import Collection

from contextc.analyzer.inference.generics import own_arguments
from contextc.analyzer.inference.kernel import Frame
from contextc.model.value import NOTHING, Grip, Instance, Key, Literal, Value, ValueSet

DICT = "~builtins:dict"


def is_dict(frame: Frame, value: Value) -> bool:
    """Whether a value is a dict (of a subclass) whose contents are known by its site."""
    return isinstance(value, Instance) and value.site is not None and frame.kernel.classes.is_subclass(value.cls, DICT)


def dict_item(frame: Frame, value: Instance, key: ValueSet) -> ValueSet:
    """`value[key]`: a key that is no literal can be any."""
    site = value.site
    assert site is not None
    literals = [k for k in key if isinstance(k, Literal)]
    found = NOTHING
    if len(literals) < len(key) or (not key and frame.recorder is not None):
        found = frame.read(("arg", site, 1))
    if not literals:
        return found
    return found.union(frame.read(("anykey", site)), *(frame.read(("key", site, k.value)) for k in literals))


def store_item(frame: Frame, site: str, key: ValueSet, values: ValueSet) -> None:
    """`d[key] = values`."""
    frame.write(("arg", site, 0), key)
    frame.write(("arg", site, 1), values)
    for one in key:
        if isinstance(one, Literal):
            frame.write(("keys", site), frozenset({frame.kernel.make.key(one.value)}))
            frame.write(("key", site, one.value), values)
        else:
            frame.write(("anykey", site), values)


def store_name(frame: Frame, site: str, name: str, values: ValueSet) -> None:
    """The same under a keyword."""
    store_item(frame, site, frozenset({frame.kernel.make.literal("str", name)}), values)


def store_unknown(frame: Frame, site: str, values: ValueSet) -> None:
    """Values under keys that are not known."""
    frame.write(("arg", site, 1), values)
    frame.write(("anykey", site), values)


def copy_items(frame: Frame, value: Value, site: str, without: Collection[str] = ()) -> None:
    """Takes what a mapping holds over into the dict of `site`, but what stands under the names of `without`."""
    if not isinstance(value, Instance) or value.site == site:
        return
    if value.site is None or not is_dict(frame, value):
        arguments = own_arguments(frame, value) if frame.kernel.classes.is_known(value.cls) else ()
        if len(arguments) == 2:
            frame.write(("arg", site, 0), arguments[0])
            store_unknown(frame, site, arguments[1])
        return
    frame.write(("arg", site, 0), frame.read(("arg", value.site, 0)))
    store_unknown(frame, site, frame.read(("anykey", value.site)))
    for key in frame.read(("keys", value.site)):
        if not isinstance(key, Key):  # more than are listed
            store_unknown(frame, site, frame.read(("arg", value.site, 1)))
        elif key.value not in without:
            found = frame.read(("key", value.site, key.value))
            frame.write(("keys", site), frozenset({key}))
            frame.write(("key", site, key.value), found)
            frame.write(("arg", site, 1), found)


def copy_dicts(frame: Frame, values: ValueSet, at: int) -> ValueSet:
    """`d.copy()`: new dicts, of the same classes, that hold the same."""
    site = frame.site_key(at)
    found: set[Value] = set()
    for value in values:
        if isinstance(value, Instance) and is_dict(frame, value):
            copy_items(frame, value, site)
            found.add(frame.kernel.make.instance(value.cls, Grip.EXACT, (), site))
    return frozenset(found)


def join_dicts(frame: Frame, left: ValueSet, right: ValueSet, at: int) -> ValueSet:
    """`left | right`: new dicts that hold both sides' items; nothing as long as the left side is no dict."""
    found = copy_dicts(frame, left, at)
    if found:
        for value in right:
            copy_items(frame, value, frame.site_key(at))
    return found
