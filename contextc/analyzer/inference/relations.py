"""Relations that are no calls: what a definition inherits, overrides, names as a type, reads and imports.

In: a solved program. Out: `Edge`s of the relation kinds and `Import`s, by text and class hierarchy alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextc.analyzer.inference.annotation_text import read_annotation_text
from contextc.analyzer.inference.bindings import DefinitionBinding
from contextc.analyzer.inference.fixpoint import Solver
from contextc.analyzer.inference.program import Definition, ModuleInfo
from contextc.analyzer.inference.recorder import Recorder
from contextc.analyzer.inference.statics import Assigned, Resolved, Unclear
from contextc.model import ir
from contextc.model.edge import Certainty, Edge, EdgeKind, Rule
from contextc.model.facts import SymbolKind
from contextc.model.symbol import Import
from contextc.model.traverse import iter_nodes

_MAX_DOTS = 30  # of a dotted name that is looked up; each dot of a chain is looked up from its start


def iter_relations(solver: Solver, recorder: Recorder) -> Iterator[Edge | Import]:
    """All relations of the program's repository modules, in program order."""
    for unit in solver.units:
        yield from _class_relations(solver, unit)
        yield from _type_relations(solver, unit)
        yield from _name_relations(solver, unit)
    for unit_id, at, target, kind, rule in sorted(recorder.relations, key=lambda r: (r[0], r[1], r[2])):
        unit = solver.kernel.definition(unit_id)
        dynamic = rule in (Rule.IMPORT_PATTERN, Rule.GETATTR_PATTERN, Rule.RECEIVER_DECLARED)
        certainty = Certainty.POSSIBLE if dynamic else Certainty.CERTAIN
        yield _edge(unit, unit.span(at).start, target, kind, rule, certainty)


def _edge(
    unit: Definition, offset: int, target: str, kind: EdgeKind, rule: Rule, certainty: Certainty = Certainty.CERTAIN
) -> Edge:
    line = unit.module.position(offset).line
    return Edge(unit.id, target, unit.module.path, line, None, kind, certainty, rule)


def symbol_of(solver: Solver, item: Resolved) -> Definition | None:
    """The repository symbol that a resolved name stands for; a variable has one of its own."""
    if isinstance(item, Definition):
        return item if item.module.in_repository else None
    if isinstance(item, ModuleInfo):
        return item.body if item.in_repository else None
    if isinstance(item, (Assigned, Unclear)) and item.scope.module.in_repository:
        for child in item.scope.children:
            if child.name == item.name and child.kind in (SymbolKind.VARIABLE, SymbolKind.ATTRIBUTE):
                return child
    return None


def _class_relations(solver: Solver, unit: Definition) -> Iterator[Edge]:
    if not unit.is_class:
        return
    classes = solver.kernel.classes
    info = classes.info(unit.id)
    for base, _ in info.bases:
        if classes.in_repository(base):
            yield _edge(unit, unit.facts.header.start, base, EdgeKind.INHERITS, Rule.BASE_CLASS)
    if info.metaclass is not None and classes.in_repository(info.metaclass):
        yield _edge(unit, unit.facts.header.start, info.metaclass, EdgeKind.USES_TYPE, Rule.BASE_CLASS)
    for child in unit.children:
        if not child.is_function:
            continue
        for base in info.mro[1:]:
            if classes.in_repository(base) and classes.declares(base, child.name):
                for binding in solver.kernel.statics.table(solver.kernel.definition(base)).names[child.name]:
                    if isinstance(binding, DefinitionBinding):
                        yield _edge(
                            child, child.facts.header.start, binding.definition.id, EdgeKind.OVERRIDES, Rule.BASE_CLASS
                        )
                break


def _type_relations(solver: Solver, unit: Definition) -> Iterator[Edge]:
    """Types a definition names: annotations of its parameters, result and annotated assignments."""
    scope = unit.parent or unit
    expressions = [(p.annotation, scope) for p in unit.facts.parameters if p.annotation is not None]
    if unit.facts.returns is not None:
        expressions.append((unit.facts.returns, scope))
    nodes = iter_nodes(*unit.facts.body)
    expressions.extend((node.annotation, unit) for node in nodes if isinstance(node, ir.AnnotatedAssign))
    for expr, where in expressions:
        for target in _named_symbols(solver, expr, where):
            if target is not unit:
                yield _edge(unit, unit.facts.header.start, target.id, EdgeKind.USES_TYPE, Rule.ANNOTATION)


def _named_symbols(solver: Solver, expr: ir.Expr, scope: Definition) -> Iterator[Definition]:
    for node in iter_nodes(expr):
        if isinstance(node, ir.Constant) and node.type == "str" and isinstance(node.value, str):
            inner = read_annotation_text(node.value)
            if inner is not None:
                yield from _named_symbols(solver, inner, scope)
        elif isinstance(node, (ir.Name, ir.Attribute)):
            for item in solver.kernel.statics.resolve_expression(scope, node):
                symbol = symbol_of(solver, item)
                if symbol is not None and symbol.kind is not SymbolKind.MODULE:
                    yield symbol


def _name_relations(solver: Solver, unit: Definition) -> Iterator[Edge | Import]:
    """Names a body imports, and module variables it reads."""
    for node in iter_nodes(*unit.facts.body):
        if isinstance(node, ir.ImportFrom):
            yield from _import_from(solver, unit, node)
        elif isinstance(node, ir.Import):
            yield from _import(solver, unit, node)
        elif isinstance(node, ir.Name):
            yield from _global_read(solver, unit, node)
        elif isinstance(node, ir.Attribute) and isinstance(node.value, (ir.Name, ir.Attribute)):
            yield from _attribute_read(solver, unit, node)


def _import_from(solver: Solver, unit: Definition, node: ir.ImportFrom) -> Iterator[Edge | Import]:
    statics = solver.kernel.statics
    program = solver.kernel.program
    source = program.absolute_name(unit.module, node.level, node.module)
    for item in node.names:
        start = unit.span(item.at).start
        line = unit.module.position(start).line
        if item.name == "*":
            module = program.find_module(source, unit.module) if source else None
            if module is not None and module.in_repository:
                yield Import(unit.id, "*", module.body.id, line)
                yield _edge(unit, start, module.body.id, EdgeKind.IMPORTS, Rule.IMPORT_STATEMENT)
            continue
        symbols = [symbol_of(solver, r) for r in statics.resolve_import(unit.module, source, item.name)]
        targets = [s for s in symbols if s is not None]
        yield Import(unit.id, item.asname or item.name, targets[0].id if targets else None, line)
        for target in targets:
            yield _edge(unit, start, target.id, EdgeKind.IMPORTS, Rule.IMPORT_STATEMENT)


def _import(solver: Solver, unit: Definition, node: ir.Import) -> Iterator[Edge | Import]:
    for item in node.names:
        start = unit.span(item.at).start
        line = unit.module.position(start).line
        module = solver.kernel.program.find_module(item.name, unit.module)
        target = module.body.id if module is not None and module.in_repository else None
        yield Import(unit.id, item.asname or item.name, target, line)
        if target is not None:
            yield _edge(unit, start, target, EdgeKind.IMPORTS, Rule.IMPORT_STATEMENT)


def _global_read(solver: Solver, unit: Definition, node: ir.Name) -> Iterator[Edge]:
    if unit.is_function and node.id in unit.facts.bindings:
        return
    at: Definition | None = unit.parent
    while at is not None and at.kind is not SymbolKind.MODULE:
        if at.is_function and node.id in at.facts.bindings:
            return
        at = at.parent
    if unit.kind is SymbolKind.MODULE:
        return
    for item in solver.kernel.statics.resolve_member(unit.module, node.id):
        symbol = symbol_of(solver, item)
        if symbol is not None and symbol.kind is not SymbolKind.MODULE and symbol is not unit:
            yield _edge(unit, unit.span(node.at).start, symbol.id, EdgeKind.READS_GLOBAL, Rule.NAME_READ)


def _attribute_read(solver: Solver, unit: Definition, node: ir.Attribute) -> Iterator[Edge]:
    """`module.NAME` reads a global; `self.NAME` a class attribute."""
    if isinstance(node.value, ir.Name) and node.value.id == solver.kernel.first_parameter(unit):
        owner = unit.enclosing_class()
        found = solver.kernel.classes.owner(owner.id, node.attr) if owner is not None else None
        if found is not None and solver.kernel.classes.in_repository(found):
            definition = solver.kernel.definition(found)
            for child in definition.children:
                if child.name == node.attr and child.kind is SymbolKind.ATTRIBUTE:
                    yield _edge(
                        unit, unit.span(node.at).start, child.id, EdgeKind.READS_ATTRIBUTE, Rule.ATTRIBUTE_READ
                    )
        return
    root = node.value
    dots = 0
    while isinstance(root, ir.Attribute) and dots < _MAX_DOTS:
        root = root.value
        dots += 1
    if not isinstance(root, ir.Name) or (unit.is_function and root.id in unit.facts.bindings):
        return
    for item in solver.kernel.statics.resolve_expression(unit, node):
        symbol = symbol_of(solver, item)
        if symbol is not None and symbol.kind is not SymbolKind.MODULE:
            kind = EdgeKind.READS_ATTRIBUTE if symbol.kind is SymbolKind.ATTRIBUTE else EdgeKind.READS_GLOBAL
            yield _edge(unit, unit.span(node.at).start, symbol.id, kind, Rule.ATTRIBUTE_READ)
