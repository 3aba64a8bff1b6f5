"""Distant overrides (stratum 4): what a subclass in a module out of reach defines, for a receiver known by its class.

In: a solved kernel and what the resolution pass recorded. Out: for a site, the callees that are only possible there.
`self.delete(key)` in `backends/base.py` admits the `delete` of each backend below it. A backend in a module that
`backends/base.py` does not import, directly or not, is a plug-in to it: only possible where it lives in another
package, or where no code of the repository is seen to make one.
"""

from __future__ import annotations

from contextc.analyzer.inference.kernel import Kernel
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.analyzer.inference.recorder import Outcome, Recorder, Target
from contextc.analyzer.inference.statics import Statics
from contextc.model import ir
from contextc.model.edge import Rule
from contextc.model.traverse import iter_nodes
from contextc.model.value import ClassObject, Grip, Instance

_HANDED = frozenset({Rule.CONSTRUCTOR, Rule.LIBRARY_CALLBACK})  # classes as values, functions given to a library
MAX_GATHERED = 24  # functions of anywhere that a loop's calls keep; measured in docs/decisions/0010


class Reach:
    """Which modules a module brings in when it is imported, itself included."""

    def __init__(self, statics: Statics) -> None:
        self._statics = statics
        self._program = statics.program
        self._direct: dict[str, list[ModuleInfo]] = {}
        self._all: dict[str, frozenset[str]] = {}

    def modules_from(self, module: ModuleInfo) -> frozenset[str]:
        """Ids of the repository's modules that run when `module` is imported: imports at module and class level, and
        what those import in turn. An import inside of a function or below `if TYPE_CHECKING` brings nothing in."""
        found = self._all.get(module.module_id)
        if found is None:
            seen = {module.module_id}
            waiting = [module]
            while waiting:
                for other in self._imports(waiting.pop()):
                    if other.module_id not in seen:
                        seen.add(other.module_id)
                        waiting.append(other)
            found = self._all[module.module_id] = frozenset(seen)
        return found

    def _imports(self, module: ModuleInfo) -> list[ModuleInfo]:
        found = self._direct.get(module.module_id)
        if found is None:
            names = {name for unit in module.definitions if _runs_on_import(unit) for name in self._names(unit)}
            modules = (self._program.find_module(name, module) for name in sorted(names))
            found = self._direct[module.module_id] = [m for m in modules if m is not None and m.in_repository]
        return found

    def _names(self, unit: Definition) -> set[str]:
        found: set[str] = set()
        skipped: set[int] = set()
        for node in iter_nodes(*unit.facts.body):
            if id(node) in skipped:
                continue
            if isinstance(node, ir.If) and _is_type_checking(node.test):
                skipped.update(id(n) for n in iter_nodes(*node.body))
            elif isinstance(node, ir.Import):
                found.update(n.name for n in node.names)
            elif isinstance(node, ir.ImportFrom):
                base = self._program.absolute_name(unit.module, node.level, node.module)
                if base is not None:
                    found.add(base)
                    found.update(f"{base}.{n.name}" for n in node.names if n.name != "*")
                    found.update(self._lazy_modules(unit.module, base, [n.name for n in node.names]))
        return found

    def _lazy_modules(self, importer: ModuleInfo, source: str, names: list[str]) -> set[str]:
        """The modules from which a package gets names that it gives without binding them."""
        package = self._program.find_module(source, importer)
        if package is None:
            return set()
        lazy = [name for name in names if self._statics.lazy_sources(package, name)]
        items = [item for name in lazy for item in self._statics.resolve_member(package, name)]
        return {item.module.name if isinstance(item, Definition) else getattr(item, "name", "") for item in items}


def _package(module: ModuleInfo) -> str:
    """The dotted name of the package that a module lies in; of a package, its own."""
    return module.name if module.is_package else module.name.rpartition(".")[0]


def _runs_on_import(unit: Definition) -> bool:
    """Whether a body runs when its module does: the module's own, or a class's that no function holds."""
    at: Definition | None = unit
    while at is not None and at.is_class:
        at = at.parent
    return at is not None and not at.is_function


def _is_type_checking(test: ir.Expr) -> bool:
    return (isinstance(test, ir.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ir.Attribute) and test.attr == "TYPE_CHECKING"
    )


class Sightings:
    """The classes of which code of the repository is seen to make an object, or which it hands on as a value."""

    def __init__(self, kernel: Kernel, recorder: Recorder) -> None:
        self._kernel = kernel
        self._reach = Reach(kernel.statics)
        self._seen = set(recorder.made)
        for key, values in kernel.heap.items():
            kinds = (Instance,) if key[0] in ("global", "cattr") else (Instance, ClassObject)  # where classes are named
            self._seen.update(v.cls for v in values if isinstance(v, kinds) and v.grip is Grip.EXACT)

    def find_distant(self, unit: Definition, outcome: Outcome) -> frozenset[str]:
        """The callees of a site that only an object of a distant class would run."""
        if len({t.group for t in outcome.targets if not t.possible}) < 2:
            return frozenset()
        seen = {t.callee for t in outcome.targets if not t.by_class}
        return frozenset(
            t.callee
            for t in outcome.targets
            if (t.callee not in seen and self._is_distant(unit, t)) or (t.rule in _HANDED and self._is_foreign(unit, t))
        )

    def find_gathered(self, unit: Definition, at: int, outcome: Outcome) -> frozenset[str]:
        """The functions from other packages, out of reach, among many that a loop calls one after the other: they
        were gathered from anywhere, and few of them are for the object at hand."""
        callees = {t.callee for t in outcome.targets if t.rule is Rule.CALLABLE_VALUE and not t.possible}
        if len(callees) <= MAX_GATHERED or at not in self._calls_of_loops(unit):
            return frozenset()
        return frozenset(t.callee for t in outcome.targets if t.callee in callees and self._is_foreign(unit, t))

    def _calls_of_loops(self, unit: Definition) -> frozenset[int]:
        """The ordinals of a body's calls of a variable that a loop of it binds."""
        nodes = list(iter_nodes(*unit.facts.body))
        targets = iter_nodes(*(n.target for n in nodes if isinstance(n, (ir.For, ir.Generator))))
        bound = {n.id for n in targets if isinstance(n, ir.Name)}
        calls = (n for n in nodes if isinstance(n, ir.Call) and isinstance(n.func, ir.Name))
        return frozenset(n.at for n in calls if n.func.id in bound)  # type: ignore[union-attr]

    def _is_foreign(self, unit: Definition, target: Target) -> bool:
        """Whether a callee lives in another package, out of reach."""
        module, home = self._kernel.definition(target.callee).module, unit.module
        return module.module_id not in self._reach.modules_from(home) and _package(module) != _package(home)

    def _is_distant(self, unit: Definition, target: Target) -> bool:
        callee = self._kernel.definition(target.callee)
        owner = callee if callee.is_class else callee.enclosing_class()
        if owner is None or owner.module.module_id in self._reach.modules_from(unit.module):
            return False
        if _package(owner.module) != _package(unit.module):
            return True
        classes = self._kernel.classes
        heirs = [c for c in classes.descendants(owner.id) if classes.owner(c, callee.name) == owner.id]
        return not self._seen.intersection([owner.id, *heirs])
