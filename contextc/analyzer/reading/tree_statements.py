"""Reads tree-sitter statements, definitions and patterns; the tolerant twin of `libcst_statements`.

In: the walk and a node. Out: its IR, or None for what has none (`pass`, `global`). A definition whose header is broken
keeps what could be read of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from contextc.analyzer.reading.builder import LAMBDA_NAME, Scope, end_variables
from contextc.analyzer.reading.limits import MAX_LINKS
from contextc.analyzer.reading.tree_cursor import Node, Read, Walk, children
from contextc.analyzer.reading.tree_expressions import read_arguments, read_inner, read_items
from contextc.analyzer.reading.tree_patterns import read_case_pattern
from contextc.model import ir
from contextc.model.facts import SymbolKind

# -------------------------------------------------------------------------------------------------- definitions


def read_definition(w: Walk, node: Node) -> ir.Define | None:
    """A def or class, decorated or not."""
    definition = node
    decorators: tuple[ir.Expr, ...] = ()
    if node.type == "decorated_definition":
        definition = node.child_by_field_name("definition")
    name = None if definition is None else definition.child_by_field_name("name")
    if name is None or name.is_missing:
        return None
    at = w.open(node)
    if definition is not node:
        decorators = tuple([read_inner(w, child) for child in children(node) if child.type == "decorator"])
    is_class = definition.type == "class_definition"
    scope = _add_symbol(w, node, w.name(name), is_class)
    scope.decorators = decorators
    scope.type_parameters = _read_type_parameters(w, definition.child_by_field_name("type_parameters"))
    if is_class:
        superclasses = definition.child_by_field_name("superclasses")
        scope.bases = () if superclasses is None else read_arguments(w, superclasses)
    else:
        scope.is_async = definition.children[0].type == "async"
        scope.parameters = read_parameters(w, definition.child_by_field_name("parameters"))
        scope.returns = w.field(definition, "return_type")
    _read_body(w, scope, definition)
    return ir.Define(at, scope.index)


def _read_type_parameters(w: Walk, node: Node | None) -> tuple[ir.TypeParameter, ...]:
    """Names and bounds; the grammar knows no defaults."""
    parameters = []
    for child in [] if node is None else children(node):
        parts = children(child)
        if child.type != "type" or not parts:
            continue
        inner = parts[0]
        kind, bound = "typevar", None
        if inner.type == "constrained_type" and len(children(inner)) == 2:
            inner, limit = children(inner)
            bound = w.expression(limit)
        elif inner.type == "splat_type":
            kind = "paramspec" if w.word(inner).startswith("**") else "typevartuple"
            inner = children(inner)[-1] if children(inner) else inner
        parameters.append(ir.TypeParameter(w.name(inner), kind, bound, None))
    return tuple(parameters)


def _add_symbol(w: Walk, node: Node, name: str, is_class: bool) -> Scope:
    outer = w.builder.scope
    outer.bind(name)
    kind = SymbolKind.CLASS if is_class else SymbolKind.FUNCTION
    if kind is SymbolKind.FUNCTION and outer.kind is SymbolKind.CLASS:
        kind = SymbolKind.METHOD
    return w.builder.add(kind, name, w.start(node))


def _read_body(w: Walk, scope: Scope, definition: Node) -> None:
    body = definition.child_by_field_name("body")
    colons = [child for child in definition.children if child.type == ":"]
    header_end = w.base + (colons[-1] if colons else definition).end_byte
    scope.header = (w.start(definition), header_end)
    for parameter in scope.parameters:
        scope.bind(parameter.name)
    scope.end = max(w.end(definition), header_end)
    if body is None:
        return
    w.enter(scope)
    statements = children(body)
    if statements:
        scope.body_start = w.start(statements[0])
    if scope.kind is SymbolKind.CLASS:
        scope.defined = frozenset(defined_names(w, statements))
    scope.body = w.block(body)
    scope.take_docstring()
    w.leave()


def defined_names(w: Walk, nodes: list[Node]) -> Iterator[str]:
    """The names that a def or class binds in these statements, nested statements looked into."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if node.type in ("function_definition", "class_definition"):
            name = node.child_by_field_name("name")
            if name is not None:
                yield w.name(name)
        elif node.type in _HOLD_STATEMENTS:
            pending.extend(children(node))


def read_lambda(w: Walk, node: Node) -> ir.Lambda:
    at = w.open(node)
    scope = w.builder.add(SymbolKind.LAMBDA, LAMBDA_NAME, w.start(node))
    scope.parameters = read_parameters(w, node.child_by_field_name("parameters"))
    for parameter in scope.parameters:
        scope.bind(parameter.name)
    body = node.child_by_field_name("body")
    colons = [child for child in node.children if child.type == ":"]
    scope.header = (scope.start, w.base + (colons[-1] if colons else node).end_byte)
    scope.end = w.end(node)
    if body is not None:
        w.enter(scope)
        scope.body_start = w.start(body)
        inner = w.open(body)
        scope.body = (ir.Return(inner, w.expression(body)),)
        w.leave()
    return ir.Lambda(at, scope.index)


def read_parameters(w: Walk, node: Node | None) -> tuple[ir.Parameter, ...]:
    """The parameters of a def or lambda as far as they are whole."""
    parameters: list[ir.Parameter] = []
    kind = "normal"
    for child in [] if node is None else children(node):
        if child.type == "positional_separator":
            parameters = [parameter._replace(kind="positional") for parameter in parameters]
        elif child.type == "keyword_separator":
            kind = "keyword"
        elif child.type != "ERROR":
            parameter = _read_parameter(w, child, kind)
            if parameter is not None:
                kind = "keyword" if parameter.kind == "star" else kind
                parameters.append(parameter)
    return tuple(parameters)


def _read_parameter(w: Walk, node: Node, kind: str) -> ir.Parameter | None:
    name = node
    if node.type in ("default_parameter", "typed_default_parameter"):
        name = node.child_by_field_name("name")
    elif node.type == "typed_parameter":
        name = children(node)[0]
    if name is None:
        return None
    if name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
        kind = "star" if name.type == "list_splat_pattern" else "doublestar"
        name = children(name)[0] if children(name) else None
    if name is None or name.type != "identifier":
        return None
    annotation = w.field(node, "type") if node is not name else None
    default = w.field(node, "value") if node is not name else None
    return ir.Parameter(w.name(name), kind, annotation, default)


# -------------------------------------------------------------------------------------------- simple statements


def read_expression(w: Walk, node: Node) -> ir.Stmt | None:
    parts = children(node)
    if not parts:
        return None
    if parts[0].type == "assignment":
        return _read_assignment(w, node, parts[0])
    if parts[0].type == "augmented_assignment":
        return _read_augmented(w, node, parts[0])
    at = w.open(node)
    return ir.Evaluate(at, read_items(w, node))


def _read_assignment(w: Walk, node: Node, assignment: Node) -> ir.Stmt:
    at = w.open(node)
    targets = []
    variables: list[Scope] = []
    right: Node | None = assignment
    annotation = None
    while right is not None and right.type == "assignment":
        target = w.required(right, "left")
        variables += w.builder.declare_target(target, w.start(node))
        targets.append(target)
        annotation = w.field(right, "type")
        right = right.child_by_field_name("right")
    value = None if right is None else w.expression(right)
    end_variables(variables, w.end(node))
    if annotation is not None and len(targets) == 1:
        return ir.AnnotatedAssign(at, targets[0], annotation, value)
    return ir.Assign(at, tuple(targets), value or ir.Unread(w.open(node), "missing value"))


def _read_augmented(w: Walk, node: Node, assignment: Node) -> ir.AugmentedAssign:
    at = w.open(node)
    target = w.required(assignment, "left")
    variables = w.builder.declare_target(target, w.start(node))
    operator = assignment.child_by_field_name("operator")
    op = "" if operator is None else w.word(operator).rstrip("=")
    value = w.required(assignment, "right")
    end_variables(variables, w.end(node))
    return ir.AugmentedAssign(at, target, op, value)


def read_return(w: Walk, node: Node) -> ir.Return:
    at = w.open(node)
    return ir.Return(at, read_items(w, node) if children(node) else None)


def read_raise(w: Walk, node: Node) -> ir.Raise:
    at = w.open(node)
    cause = node.child_by_field_name("cause")
    parts = [child for child in children(node) if child != cause]
    error = w.expression(parts[0]) if parts else None
    return ir.Raise(at, error, None if cause is None else w.expression(cause))


def read_assert(w: Walk, node: Node) -> ir.Assert:
    at = w.open(node)
    parts = w.expressions_of(children(node)[:2])
    test = parts[0] if parts else ir.Unread(w.open(node), "missing test")
    return ir.Assert(at, test, parts[1] if len(parts) > 1 else None)


def read_delete(w: Walk, node: Node) -> ir.Delete:
    at = w.open(node)
    parts = children(node)
    if len(parts) == 1 and parts[0].type == "expression_list":
        parts = children(parts[0])
    targets = w.expressions_of(parts)
    for target in targets:
        w.builder.bind_target(target)
    return ir.Delete(at, targets)


def read_old_statement(w: Walk, node: Node) -> ir.Evaluate:
    """Python 2's print and exec: what they evaluate is kept."""
    at = w.open(node)
    inner = w.open(node)
    return ir.Evaluate(at, ir.TupleExpr(inner, w.expressions_of(children(node))))


def read_chevron(w: Walk, node: Node) -> ir.Expr:
    return read_inner(w, node)


def read_names(w: Walk, node: Node) -> None:
    """`global` and `nonlocal`."""
    scope = w.builder.scope
    names = scope.globals if node.type == "global_statement" else scope.nonlocals
    names.update(w.name(child) for child in children(node) if child.type == "identifier")


def read_jump(w: Walk, node: Node) -> ir.Jump:
    return ir.Jump(w.open(node), "break" if node.type == "break_statement" else "continue")


def read_alias(w: Walk, node: Node) -> ir.Stmt | None:
    """`type X = value`; but the grammar takes `type(a).b = 1` for one, too."""
    left = node.child_by_field_name("left")
    inner = children(left)[0] if left is not None and children(left) else None
    if inner is not None and inner.type == "generic_type":
        inner = children(inner)[0]
    if inner is None or inner.type != "identifier":
        start = w.start(node)
        return w.statement_from(start, b"_" + w.text[start + 1 : w.end(node)])
    at = w.open(node)
    name = w.name(inner)
    w.builder.scope.bind(name)
    variable = w.builder.declare(name, w.start(node))
    if variable is not None:
        end_variables([variable], w.end(node))
    return ir.TypeAlias(at, name, w.required(node, "right"))


def read_import(w: Walk, node: Node) -> ir.Import:
    at = w.open(node)
    names = _read_aliases(w, node)
    for name in names:
        w.builder.scope.bind(name.asname or name.name.partition(".")[0])
    return ir.Import(at, names)


def read_import_from(w: Walk, node: Node) -> ir.ImportFrom:
    at = w.open(node)
    level = 0
    module = "__future__" if node.type == "future_import_statement" else ""
    source = node.child_by_field_name("module_name")
    if source is not None:
        dotted = w.name(source)
        module = dotted.lstrip(".")
        level = len(dotted) - len(module)
    for child in children(node):
        if child.type == "wildcard_import":
            return ir.ImportFrom(at, level, module, (ir.ImportedName(w.open(child), "*", None),))
    names = _read_aliases(w, node)
    for name in names:
        w.builder.scope.bind(name.asname or name.name)
    return ir.ImportFrom(at, level, module, names)


def _read_aliases(w: Walk, node: Node) -> tuple[ir.ImportedName, ...]:
    names = []
    for child in node.children_by_field_name("name"):
        alias = None
        name = child
        if child.type == "aliased_import":
            name = child.child_by_field_name("name") or child
            alias = child.child_by_field_name("alias")
        if not name.is_missing:
            names.append(ir.ImportedName(w.open(name), w.name(name), None if alias is None else w.name(alias)))
    return tuple(names)


# ------------------------------------------------------------------------------------------ compound statements


def read_if(w: Walk, node: Node) -> ir.If:
    """`elif` and `else` clauses stand side by side in the tree, and one inside the other in the IR."""
    parts = []
    orelse: tuple[ir.Stmt, ...] = ()
    clauses = [node, *node.children_by_field_name("alternative")]
    for number, clause in enumerate(clauses):
        if clause.type == "else_clause":
            orelse = w.block(clause.child_by_field_name("body"))
            break
        if number > MAX_LINKS:
            w.deep.append(w.start(clause))
            break
        at = w.open_between(clause, clauses[-1]) if number else w.open(node)
        test = w.required(clause, "condition")
        parts.append((at, test, w.block(clause.child_by_field_name("consequence"))))
    for at, test, body in reversed(parts[1:]):
        orelse = (ir.If(at, test, body, orelse),)
    at, test, body = parts[0]
    return ir.If(at, test, body, orelse)


def _read_else(w: Walk, node: Node) -> tuple[ir.Stmt, ...]:
    for child in children(node):
        if child.type == "else_clause":
            return w.block(child.child_by_field_name("body"))
    return ()


def read_while(w: Walk, node: Node) -> ir.While:
    at = w.open(node)
    test = w.required(node, "condition")
    body = w.block(node.child_by_field_name("body"))
    return ir.While(at, test, body, _read_else(w, node))


def read_for(w: Walk, node: Node) -> ir.For:
    at = w.open(node)
    target = _read_target(w, node)
    variables = w.builder.declare_target(target, w.start(node))
    source = w.required(node, "right")
    body = node.child_by_field_name("body")
    end_variables(variables, w.end(node) if body is None else _colon_before(w, node, body))
    statements = w.block(body)
    return ir.For(at, target, source, statements, _read_else(w, node), node.children[0].type == "async")


def _read_target(w: Walk, node: Node) -> ir.Expr:
    left = node.child_by_field_name("left")
    if left is None:
        return ir.Unread(w.open(node), "missing target")
    return w.expression(left)


def _colon_before(w: Walk, node: Node, body: Node) -> int:
    colons = [child.end_byte for child in node.children if child.type == ":" and child.end_byte <= body.start_byte]
    return w.base + int(colons[-1] if colons else body.start_byte)


def read_with(w: Walk, node: Node) -> ir.With:
    at = w.open(node)
    items = []
    variables: list[Scope] = []
    for clause in children(node):
        if clause.type != "with_clause":
            continue
        for item in children(clause):
            inner = w.open(item)
            value = item.child_by_field_name("value") or item
            context, target = _read_as(w, value)
            if target is not None:
                variables += w.builder.declare_target(target, w.start(node))
            items.append(ir.WithItem(inner, context, target))
    body = node.child_by_field_name("body")
    end_variables(variables, w.end(node) if body is None else _colon_before(w, node, body))
    return ir.With(at, tuple(items), w.block(body), node.children[0].type == "async")


def _read_as(w: Walk, node: Node) -> tuple[ir.Expr, ir.Expr | None]:
    """`value as target`, or a value alone."""
    if node.type != "as_pattern":
        return w.expression(node), None
    parts = children(node)
    value = w.expression(parts[0])
    return value, (w.expression(parts[1]) if len(parts) > 1 else None)


def read_try(w: Walk, node: Node) -> ir.Try:
    at = w.open(node)
    body = w.block(node.child_by_field_name("body"))
    handlers = []
    final: tuple[ir.Stmt, ...] = ()
    orelse: tuple[ir.Stmt, ...] = ()
    star = False
    for child in children(node):
        if child.type in ("except_clause", "except_group_clause"):
            star = star or any(part.type in ("*", "except*") for part in child.children)
            handlers.append(_read_handler(w, child))
        elif child.type == "else_clause":
            orelse = w.block(child.child_by_field_name("body"))
        elif child.type == "finally_clause":
            final = tuple([statement for part in children(child) for statement in w.block(part)])
    return ir.Try(at, body, tuple(handlers), orelse, final, star)


def _read_handler(w: Walk, node: Node) -> ir.Handler:
    at = w.open(node)
    blocks = [child for child in children(node) if child.type == "block"]
    values = node.children_by_field_name("value") or [child for child in children(node) if child.type != "block"]
    kind = name = None
    if len(values) == 1:
        parts = children(values[0]) if values[0].type == "as_pattern" else []
        kind = w.expression(parts[0] if parts else values[0])
        name = w.name(parts[1]) if len(parts) > 1 else None
    elif values:
        kind = ir.TupleExpr(w.open_between(values[0], values[-1]), w.expressions_of(values))
    if name is not None:
        w.builder.scope.bind(name)
    return ir.Handler(at, kind, name, w.block(blocks[0]) if blocks else ())


def read_match(w: Walk, node: Node) -> ir.Match:
    at = w.open(node)
    subjects = w.expressions_of(node.children_by_field_name("subject"))
    if len(subjects) == 1:
        subject = subjects[0]
    else:
        subject = ir.TupleExpr(w.open(node), subjects)
    body = node.child_by_field_name("body")
    clauses = [] if body is None else [child for child in children(body) if child.type == "case_clause"]
    return ir.Match(at, subject, tuple([_read_case(w, clause) for clause in clauses]))


def _read_case(w: Walk, node: Node) -> ir.Case:
    at = w.open(node)
    pattern = read_case_pattern(w, node)
    guard_node = node.child_by_field_name("guard")
    guard = None if guard_node is None else read_inner(w, guard_node)
    return ir.Case(at, pattern, guard, w.block(node.child_by_field_name("consequence")))


_HOLD_STATEMENTS = frozenset(
    {
        "decorated_definition", "if_statement", "elif_clause", "else_clause", "for_statement", "while_statement",
        "try_statement", "except_clause", "except_group_clause", "finally_clause", "with_statement",
        "match_statement", "case_clause", "block", "ERROR",
    }
)  # fmt: skip

EXPRESSIONS: dict[str, Read] = {"lambda": read_lambda, "chevron": read_chevron}

STATEMENTS: dict[str, Read] = {
    "function_definition": read_definition,
    "class_definition": read_definition,
    "decorated_definition": read_definition,
    "expression_statement": read_expression,
    "return_statement": read_return,
    "raise_statement": read_raise,
    "assert_statement": read_assert,
    "delete_statement": read_delete,
    "print_statement": read_old_statement,
    "exec_statement": read_old_statement,
    "global_statement": read_names,
    "nonlocal_statement": read_names,
    "break_statement": read_jump,
    "continue_statement": read_jump,
    "type_alias_statement": read_alias,
    "import_statement": read_import,
    "import_from_statement": read_import_from,
    "future_import_statement": read_import_from,
    "if_statement": read_if,
    "while_statement": read_while,
    "for_statement": read_for,
    "with_statement": read_with,
    "try_statement": read_try,
    "match_statement": read_match,
}
