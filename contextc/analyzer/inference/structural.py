"""Structural inference (stratum 1): the classes that have everything a body uses on a name of which nothing is known.

In: the class tables, a function and one of its parameters. Out: ids of repository classes. With `class Project:
def get_module(self)…; def get_folder(self)…` alone in having both names, `def run(p): p.get_module(); p.get_folder()`
gives `Project` for `p`. A guess: it makes edges that are `likely` at most, and the site stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextc.analyzer.inference.attribute_uses import Passed, attributes_used
from contextc.analyzer.inference.bindings import DefinitionBinding
from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.memory import path_of
from contextc.analyzer.inference.program import Definition
from contextc.model import ir
from contextc.model.traverse import iter_nodes

MAX_CLASSES = 1  # of edges judged on celery, 32 of 35 were right with a cap of 1, 36 of 45 with 4; rope: no difference
MAX_PASSES = 3  # calls that the object is followed through
ENOUGH = 2  # telling attributes that are reason enough; a single one counts for a class that the name fits
COMMON_MODULES = ("builtins", "io", "typing", "collections")


class _Step(NamedTuple):
    """What a function uses on a path, and the functions and paths that the object goes to."""

    attributes: frozenset[str]
    kept: tuple[tuple[Definition, str], ...]  # by an attribute of its class
    passed: tuple[tuple[Definition, str], ...]  # by a call


class Structure:
    """Which classes have an attribute. Made once, from tables that don't change any more."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._owners = _find_owners(kernel)
        self._having: dict[str, frozenset[int]] = {}
        self._by_order = {d.order: d.id for m in kernel.program.repository for d in m.definitions if d.is_class}
        self._steps: dict[tuple[str, str], _Step] = {}
        self._common = frozenset(_common_attributes(kernel))
        self._self_paths: dict[str, frozenset[str]] = {}

    def having(self, name: str) -> frozenset[int]:
        """The repository's classes that have an attribute, own or inherited, by their places in the program."""
        found = self._having.get(name)
        if found is None:
            definitions = self.kernel.program.definitions
            orders: set[int] = set()
            for owner in self._owners.get(name, ()):
                if self.kernel.classes.in_repository(owner):
                    orders.add(definitions[owner].order)
                orders.update(definitions[c].order for c in self.kernel.classes.descendants(owner))
            found = self._having[name] = frozenset(orders)
        return found

    def find_classes(self, definition: Definition, parameter: str) -> tuple[str, ...]:
        """The classes that have everything that is used on a parameter, base classes standing for those below, in
        program order; () where that says too little. Among several that fit, those named like the parameter count."""
        attributes = self.uses(definition, parameter)
        telling = attributes - self._common
        if not telling:
            return ()
        fitting = [c for c in self._with_all(attributes) if self._can_meet(c, definition)]
        known = set(fitting)
        classes = self.kernel.classes
        found = [c for c in fitting if known.isdisjoint(classes.mro(c)[1:])]
        if len(telling) < ENOUGH:
            found = [c for c in found if _is_like(self.kernel.definition(c).name, parameter)]
        if len(found) > 1:
            found = [c for c in found if _is_named(self.kernel.definition(c).name, parameter)] or found
        return tuple(found) if len(found) <= MAX_CLASSES else ()

    def _with_all(self, attributes: frozenset[str]) -> list[str]:
        sets = sorted((self.having(name) for name in attributes), key=len)
        return [self._by_order[order] for order in sorted(sets[0].intersection(*sets[1:]))]

    def _can_meet(self, class_id: str, user: Definition) -> bool:
        """A class of the tests is no answer outside of them."""
        from contextc.analyzer.inference.resolution import is_test_path

        return is_test_path(user.module.path) or not is_test_path(self.kernel.definition(class_id).module.path)

    # ---------------------------------------------------------------------------------------------- uses

    def uses(self, definition: Definition, path: str) -> frozenset[str]:
        """What a function uses on a path, what its class does with the attribute it stores it in, and what the
        functions do that it passes it to, up to MAX_PASSES calls away. The answer does not depend on what was asked
        before."""
        names: set[str] = set()
        seen: set[tuple[str, str]] = {(definition.id, path)}
        level = [(definition, path)]
        for _ in range(MAX_PASSES + 1):
            further: list[tuple[Definition, str]] = []
            while level:
                step = self._step(*level.pop())
                names |= step.attributes
                for links, into in ((step.kept, level), (step.passed, further)):
                    for link in links:
                        if (link[0].id, link[1]) not in seen:
                            into.append(link)
                            if into is level:
                                seen.add((link[0].id, link[1]))
            level = [link for link in further if (link[0].id, link[1]) not in seen]
            seen.update((d.id, p) for d, p in level)
        return frozenset(names)

    def _step(self, definition: Definition, path: str) -> _Step:
        """One function's own uses, and where the object goes from there."""
        key = (definition.id, path)
        step = self._steps.get(key)
        if step is None:
            found = attributes_used(definition, path)
            kept = [link for stored in sorted(found.stored) for link in self._kept_in(definition, stored)]
            passed = [link for item in found.passed for link in self._passed_to(item)]
            step = self._steps[key] = _Step(found.attributes, tuple(kept), tuple(dict.fromkeys(passed)))
        return step

    def _kept_in(self, definition: Definition, stored: str) -> Iterator[tuple[Definition, str]]:
        """The methods of the class and of its bases that use the `self.x` the object is stored in."""
        owner = definition.enclosing_class()
        root, _, attribute = stored.partition(".")
        if owner is None or root != self.kernel.first_parameter(definition):
            return
        for cls in self.kernel.classes.mro(owner.id):
            if not self.kernel.classes.in_repository(cls):
                continue
            for method in self.kernel.definition(cls).children:
                own = self.kernel.first_parameter(method) if method.is_function else None
                if own is not None and self.kernel.method_kind(method) == "instance" and method is not definition:
                    path = f"{own}.{attribute}"
                    if path in self._paths(method):
                        yield method, path

    def _paths(self, method: Definition) -> frozenset[str]:
        """The paths `self.x` that a method's text has, scopes inside it included."""
        found = self._self_paths.get(method.id)
        if found is None:
            paths: set[str] = set()
            waiting = [method]
            while waiting:
                scope = waiting.pop()
                waiting += scope.children
                for node in iter_nodes(*scope.facts.body):
                    if isinstance(node, ir.Attribute) and isinstance(node.value, ir.Name):
                        paths.add(f"{node.value.id}.{node.attr}")
            found = self._self_paths[method.id] = frozenset(paths)
        return found

    def _passed_to(self, passed: Passed) -> Iterator[tuple[Definition, str]]:
        """The parameter that the object fills, if it is known by the text which one, and has no annotation."""
        for callee, skip in self._callees(passed):
            parameter = _parameter_at(callee, passed, skip)
            if parameter is not None and parameter.annotation is None:
                yield callee, parameter.name

    def _callees(self, passed: Passed) -> Iterator[tuple[Definition, int]]:
        """The repository function that a call means by its text, and how many parameters are bound before."""
        kernel = self.kernel
        func = passed.func
        own = self._own_method(passed)
        if own is not None:
            yield own, 0 if kernel.method_kind(own) == "static" else 1
            return
        resolved = kernel.statics.resolve_expression(passed.scope, func)
        if len(resolved) != 1 or not isinstance(resolved[0], Definition):
            return
        definition = resolved[0]
        if definition.is_class and kernel.classes.in_repository(definition.id):
            method = self._method(kernel.classes.mro(definition.id), "__init__")
            if method is not None:
                yield method, 1
        elif definition.is_function and definition.module.in_repository:
            yield definition, 1 if kernel.method_kind(definition) == "class" else 0

    def _own_method(self, passed: Passed) -> Definition | None:
        """What `self.name(…)` or `super().name(…)` runs."""
        func = passed.func
        if not isinstance(func, ir.Attribute):
            return None
        at: Definition | None = passed.scope
        while at is not None and at.enclosing_class() is None:
            at = at.parent
        owner = at.enclosing_class() if at is not None else None
        if at is None or owner is None or not at.is_function:
            return None
        line = self.kernel.classes.mro(owner.id)
        if isinstance(func.value, ir.Name) and func.value.id == self.kernel.first_parameter(at):
            return self._method(line, func.attr)
        if isinstance(func.value, ir.Call) and path_of(func.value.func) == "super" and not func.value.args:
            return self._method(line[1:], func.attr)
        return None

    def _method(self, line: Iterable[str], name: str) -> Definition | None:
        """The method of that name in the first class that binds it, if it is bound there once and undecorated."""
        kernel = self.kernel
        for cls in line:
            if not kernel.classes.is_known(cls) or not kernel.classes.in_repository(cls):
                continue
            bindings = kernel.statics.table(kernel.definition(cls)).names.get(name)
            if bindings:
                only = bindings[0]
                if len(bindings) == 1 and isinstance(only, DefinitionBinding) and only.definition.is_function:
                    return only.definition
                return None
        return None


def _is_named(class_name: str, name: str) -> bool:
    """Whether a variable is named after a class: `py_module`, `pymodule`, `_pymodule` after `PyModule`."""
    return _folded(class_name) == _folded(name)


def _is_like(class_name: str, name: str) -> bool:
    """The same, or one ends in the other: `pool` and `BasePool`, `celery_app` and `App`."""
    left, right = _folded(class_name), _folded(name)
    return min(len(left), len(right)) >= 3 and (left.endswith(right) or right.endswith(left))


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def _parameter_at(callee: Definition, passed: Passed, skip: int) -> ir.Parameter | None:
    """The parameter that the argument fills, `*args` and `**kwargs` left out."""
    parameters = callee.facts.parameters
    if passed.keyword is not None:
        return next((p for p in parameters if p.name == passed.keyword and p.kind in ("normal", "keyword")), None)
    positional = [p for p in parameters if p.kind in ("positional", "normal")][skip:]
    return positional[passed.position] if passed.position < len(positional) else None


def _find_owners(kernel: Kernel) -> dict[str, list[str]]:
    """By attribute, the classes that show it themselves: repository classes and their bases in stubs."""
    classes = kernel.classes
    seen: dict[str, None] = {}
    for module in kernel.program.repository:
        for definition in module.definitions:
            if definition.is_class:
                seen.update(dict.fromkeys(c for c in classes.mro(definition.id) if classes.is_known(c)))
    owners: dict[str, list[str]] = {}
    for cls in seen:
        names = set(kernel.statics.table(kernel.definition(cls)).names)
        names |= classes.stored_attributes.get(cls, frozenset())
        for name in names:
            owners.setdefault(name, []).append(cls)
    return owners


def _common_attributes(kernel: Kernel) -> Iterator[str]:
    """The attributes of the objects that every program handles: builtin types, files, containers."""
    program = kernel.program
    for name in COMMON_MODULES:
        stub = program.find_stub(name)
        if stub is None:
            continue
        for exported in kernel.statics.exported_names(stub):
            for item in kernel.statics.resolve_member(stub, exported):
                if isinstance(item, Definition) and item.is_class:
                    for cls in kernel.classes.mro(item.id):
                        if kernel.classes.is_known(cls):
                            yield from kernel.statics.table(kernel.definition(cls)).names
