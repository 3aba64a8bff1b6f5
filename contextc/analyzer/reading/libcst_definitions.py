"""Reads what makes a symbol: `def`, `class`, `lambda`, with decorators, parameters, type parameters.

`def f(x=g()): return x` gives `Define(0, 1)`; the call `g()` is node 1 of the defining scope, the `Return` node 0 of
symbol 1.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from contextc.analyzer.reading.builder import LAMBDA_NAME, Scope, normalize
from contextc.analyzer.reading.libcst_cursor import Read, Walk
from contextc.analyzer.reading.libcst_expressions import read_arguments
from contextc.analyzer.reading.libcst_statements import defined_names, read_suite
from contextc.model import ir
from contextc.model.facts import SymbolKind

_TYPE_PARAMETERS: dict[type[cst.CSTNode], tuple[str, str]] = {
    cst.TypeVar: ("", "typevar"),
    cst.TypeVarTuple: ("*", "typevartuple"),
    cst.ParamSpec: ("**", "paramspec"),
}


def read_function(w: Walk, node: cst.FunctionDef, start: int) -> ir.Define:
    slot = w.open(start)
    decorators = _read_decorators(w, node.decorators)
    keyword = w.skip()
    if node.asynchronous is not None:
        w.take("async")
    w.take("def")
    scope = _define(w, node.name, start)
    scope.decorators = decorators
    scope.is_async = node.asynchronous is not None
    if node.type_parameters is not None:
        scope.type_parameters = read_type_parameters(w, node.type_parameters)
    w.take("(")
    scope.parameters = _read_parameters(w, node.params)
    w.take(")")
    if node.returns is not None:
        w.take("->")
        scope.returns = w.expression(node.returns.annotation)
    _read_body(w, scope, keyword, node.body)
    w.spans[slot + 1] = w.pos
    return ir.Define(slot >> 1, scope.index)


def read_class(w: Walk, node: cst.ClassDef, start: int) -> ir.Define:
    slot = w.open(start)
    decorators = _read_decorators(w, node.decorators)
    keyword = w.take("class")
    scope = _define(w, node.name, start, SymbolKind.CLASS)
    scope.decorators = decorators
    if node.type_parameters is not None:
        scope.type_parameters = read_type_parameters(w, node.type_parameters)
    if node.lpar is not cst.MaybeSentinel.DEFAULT:
        w.take("(")
        scope.bases = read_arguments(w, (*node.bases, *node.keywords))
        w.take(")")
    scope.defined = frozenset(defined_names(node.body.body))
    _read_body(w, scope, keyword, node.body)
    w.spans[slot + 1] = w.pos
    return ir.Define(slot >> 1, scope.index)


def read_lambda(w: Walk, node: cst.Lambda, start: int) -> ir.Lambda:
    slot = w.open(start)
    w.take("lambda")
    scope = w.builder.add(SymbolKind.LAMBDA, LAMBDA_NAME, start)
    scope.parameters = _read_parameters(w, node.params)
    w.take(":")
    scope.header = (start, w.pos)
    _bind_parameters(scope)
    w.enter(scope)
    inner = w.open(w.skip())
    scope.body_start = w.pos
    w.enter_level(2)
    value = w.expression(node.body)
    w.levels -= 2
    w.spans[inner + 1] = w.pos
    scope.body = (ir.Return(inner >> 1, value),)
    scope.end = w.pos
    w.leave()
    w.spans[slot + 1] = w.pos
    return ir.Lambda(slot >> 1, scope.index)


def _define(w: Walk, node: cst.Name, start: int, kind: SymbolKind = SymbolKind.FUNCTION) -> Scope:
    """Takes the name and makes the symbol; what follows up to the body still belongs to the defining scope."""
    w.take(node.value)
    name = normalize(node.value)
    outer = w.builder.scope
    outer.bind(name)
    if kind is SymbolKind.FUNCTION and outer.kind is SymbolKind.CLASS:
        kind = SymbolKind.METHOD
    return w.builder.add(kind, name, start)


def _read_body(w: Walk, scope: Scope, keyword: int, body: cst.BaseSuite) -> None:
    w.take(":")
    scope.header = (keyword, w.pos)
    _bind_parameters(scope)
    w.enter(scope)
    scope.body_start = w.skip()
    scope.body = read_suite(w, body)
    scope.end = w.pos
    scope.take_docstring()
    w.leave()


def _bind_parameters(scope: Scope) -> None:
    for parameter in scope.parameters:
        scope.bind(parameter.name)


def _read_decorators(w: Walk, nodes: Sequence[cst.Decorator]) -> tuple[ir.Expr, ...]:
    if not nodes:
        return ()
    decorators = []
    for node in nodes:
        w.take("@")
        decorators.append(w.expression(node.decorator))
    return tuple(decorators)


def _read_parameters(w: Walk, node: cst.Parameters) -> tuple[ir.Parameter, ...]:
    parameters = [_read_parameter(w, param, "positional") for param in node.posonly_params]
    if type(node.posonly_ind) is cst.ParamSlash:
        w.take("/")
        w.pass_comma()
    parameters += [_read_parameter(w, param, "normal") for param in node.params]
    star = node.star_arg
    if type(star) is cst.ParamStar:
        w.take("*")
        w.pass_comma()
    elif type(star) is cst.Param:
        w.take("*")
        parameters.append(_read_parameter(w, star, "star"))
    parameters += [_read_parameter(w, param, "keyword") for param in node.kwonly_params]
    if node.star_kwarg is not None:
        w.take("**")
        parameters.append(_read_parameter(w, node.star_kwarg, "doublestar"))
    return tuple(parameters)


def _read_parameter(w: Walk, node: cst.Param, kind: str) -> ir.Parameter:
    name = node.name.value
    w.take(name)
    annotation = None
    if node.annotation is not None:
        w.take(":")
        annotation = w.expression(node.annotation.annotation)
    default = None
    if node.default is not None:
        w.take("=")
        default = w.expression(node.default)
    w.pass_comma()
    return ir.Parameter(normalize(name), kind, annotation, default)


def read_type_parameters(w: Walk, node: cst.TypeParameters) -> tuple[ir.TypeParameter, ...]:
    """The `[T: int, *Ts, **P]` of a def, class or type alias."""
    parameters = []
    w.take("[")
    for item in node.params:
        param = item.param
        star, kind = _TYPE_PARAMETERS[type(param)]
        if star:
            w.take(star)
        w.take(param.name.value)
        bound = None
        if type(param) is cst.TypeVar and param.bound is not None:
            w.take(":")
            bound = w.expression(param.bound)
        default = None
        if item.default is not None:
            w.take("=")
            default = _read_default(w, item)
        parameters.append(ir.TypeParameter(normalize(param.name.value), kind, bound, default))
        w.pass_comma()
    w.take("]")
    return tuple(parameters)


def _read_default(w: Walk, item: cst.TypeParam) -> ir.Expr:
    assert item.default is not None
    if not item.star:
        return w.expression(item.default)
    slot = w.open(w.take("*"))
    value = w.expression(item.default)
    w.spans[slot + 1] = w.pos
    return ir.Starred(slot >> 1, value)


def read_type_alias(w: Walk, node: cst.TypeAlias, start: int) -> ir.TypeAlias:
    """`type X[T] = list[T]`. The alias's own type parameters are not kept."""
    slot = w.open(start)
    w.take("type")
    w.take(node.name.value)
    name = normalize(node.name.value)
    w.builder.scope.bind(name)
    variable = w.builder.declare(name, start)
    if node.type_parameters is not None:
        _pass_type_parameters(w, node.type_parameters)
    w.take("=")
    value = w.expression(node.value)
    w.spans[slot + 1] = w.pos
    if variable is not None:
        variable.end = w.pos
    return ir.TypeAlias(slot >> 1, name, value)


def _pass_type_parameters(w: Walk, node: cst.TypeParameters) -> None:
    """Moves past them and takes back what they numbered."""
    numbered, calls, symbols = len(w.spans), w.builder.scope.calls, len(w.builder.scopes)
    read_type_parameters(w, node)
    del w.spans[numbered:]
    del w.builder.scopes[symbols:]
    w.builder.scope.calls = calls


EXPRESSIONS: dict[type[cst.CSTNode], Read] = {cst.Lambda: read_lambda}

STATEMENTS: dict[type[cst.CSTNode], Read] = {
    cst.FunctionDef: read_function,
    cst.ClassDef: read_class,
    cst.TypeAlias: read_type_alias,
}
