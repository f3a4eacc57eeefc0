"""From the syntax tree of the standard library to IR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from distlint.analyzer import ir
from distlint.analyzer.ir.lowering import Binding, Lowering
from distlint.analyzer.ir.source_parts import Clause, Parameter

OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
}
_IDLE = (str, bytes, type(...))
_ANNOTATIONS = (str, bytes, bool, type(None))


class AstLowering(Lowering):
    grammar: ClassVar[Any] = ast

    def identifier(self, node: str) -> str:
        return node

    def suite(self, body: list[ast.stmt]) -> ir.Block:
        return self.block(body) if body else ()

    def is_idle(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Constant) and isinstance(value.value, _IDLE)

    def operator(self, node: Any) -> str:
        return OPERATORS[type(node.op)]

    def targets(self, node: ast.Assign) -> Iterable[ast.expr]:
        return node.targets

    def deleted(self, node: ast.Delete) -> Iterable[ast.expr]:
        waiting = node.targets[::-1]
        while waiting:
            target = waiting.pop()
            if isinstance(target, (ast.Tuple, ast.List)):
                waiting += target.elts[::-1]
            else:
                yield target

    def elif_of(self, node: ast.If) -> ast.If | None:
        inner = node.orelse[0] if len(node.orelse) == 1 else None
        # an if in the block of an else is indented further
        is_arm = isinstance(inner, ast.If) and inner.col_offset == node.col_offset
        return inner if is_arm and isinstance(inner, ast.If) else None

    def context(self, item: ast.withitem) -> tuple[ast.expr, ast.expr | None]:
        return item.context_expr, item.optional_vars

    def decorator(self, node: ast.expr) -> ast.expr:
        return node

    def decorators(self, node: Any) -> Sequence[ast.expr]:
        found: Sequence[ast.expr] = node.decorator_list
        return found

    def bases(self, node: ast.ClassDef) -> Iterable[ast.expr]:
        return (each.value if isinstance(each, ast.Starred) else each for each in node.bases)

    def parameters(self, node: Any) -> Iterator[Parameter]:
        args: ast.arguments = node.args
        positional = [*args.posonlyargs, *args.args]
        without = len(positional) - len(args.defaults)
        for param, default in zip(positional, [*[None] * without, *args.defaults], strict=True):
            yield Parameter(param.arg, default, _annotation(param))
        if args.vararg is not None:
            yield Parameter(args.vararg.arg, star="*")
        for param, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            yield Parameter(param.arg, default, _annotation(param), keyword_only=True)
        if args.kwarg is not None:
            yield Parameter(args.kwarg.arg, star="**")

    def alternatives(self, node: ast.MatchOr) -> Iterable[ast.pattern]:
        return node.patterns

    def singleton(self, node: ast.MatchSingleton) -> ir.Expr:
        return self.expr(ast.Constant(node.value))

    def captures(self, pattern: Any) -> list[tuple[str, bool]]:
        if isinstance(pattern, ast.MatchAs):
            inner = self.captures(pattern.pattern) if pattern.pattern is not None else []
            return [*inner, (pattern.name, True)] if pattern.name is not None else inner
        if isinstance(pattern, ast.MatchStar):
            return [(pattern.name, False)] if pattern.name is not None else []
        parts = [*getattr(pattern, "patterns", ()), *getattr(pattern, "kwd_patterns", ())]
        found = [(name, False) for part in parts for name, _ in self.captures(part)]
        rest = getattr(pattern, "rest", None)
        return [*found, (rest, False)] if rest is not None else found

    def starred_value(self, element: ast.expr) -> ast.expr | None:
        return element.value if isinstance(element, ast.Starred) else None

    def plain_value(self, element: ast.expr) -> ast.expr:
        return element

    def clauses(self, node: Any) -> Iterator[Clause]:
        for clause in node.generators:
            yield Clause(clause.target, clause.iter, clause.ifs)

    def handler_name(self, handler: ast.ExceptHandler) -> str | None:
        return handler.name

    def declare_outer(self, node: ast.Global | ast.Nonlocal, found: list[ir.Stmt]) -> None:
        self.scopes[-1].outer.update(node.names)

    def import_statement(self, node: ast.Import, found: list[ir.Stmt]) -> None:
        bindings: list[Binding] = []
        for alias in node.names:
            root = alias.name.split(".")[0]
            bindings.append(
                (alias.asname, alias.name, None) if alias.asname else (root, root, None)
            )
        self.bind_imports(bindings, node, found)

    def from_import(self, node: ast.ImportFrom, found: list[ir.Stmt]) -> None:
        source = "." * node.level + (node.module or "")
        bindings = [(alias.asname or alias.name, source, alias.name) for alias in node.names]
        self.bind_imports(bindings, node, found)

    # ---- expressions

    def name(self, node: ast.Name) -> ir.Expr:
        return ir.Name(node.id)

    def constant(self, node: ast.Constant) -> ir.Expr:
        return ir.Literal(node.value)

    def joined_string(self, node: ast.JoinedStr) -> ir.Expr:
        return self.format(part.value for part in node.values)  # type: ignore[attr-defined]

    def call(self, node: ast.Call) -> ir.Expr:
        func = self.expr(node.func)
        args = tuple(map(self.argument, _arguments(node)))
        return self.called(func, args, node)

    def argument(self, node: ast.expr | ast.keyword) -> ir.Argument:
        if isinstance(node, ast.keyword):
            value = self.expr(node.value)
            return ir.Argument(value, node.arg) if node.arg else ir.Argument(value, None, "**")
        if isinstance(node, ast.Starred):
            return ir.Argument(self.expr(node.value), None, "*")
        return ir.Argument(self.expr(node))

    def boolean(self, node: ast.BoolOp) -> ir.Expr:
        operator = type(node.op)
        operands: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BoolOp) and type(left.op) is operator:
            operands += left.values[:0:-1]
            left = left.values[0]
        values = tuple(self.expr(operand) for operand in (left, *reversed(operands)))
        return ir.BoolOp("and" if operator is ast.And else "or", values, self.site(node))

    def compare(self, node: ast.Compare) -> ir.Expr:
        left = self.expr(node.left)
        ops = tuple(OPERATORS[type(each)] for each in node.ops)
        return ir.Compare(left, ops, tuple(map(self.expr, node.comparators)))

    def unary(self, node: ast.UnaryOp) -> ir.Expr:
        value = self.expr(node.operand)
        if isinstance(node.op, ast.Not):
            return ir.Not(value)
        return ir.Unary(self.operator(node), value)

    def list_display(self, node: ast.List) -> ir.Expr:
        return self.display("list", node.elts)

    def tuple_display(self, node: ast.Tuple) -> ir.Expr:
        return self.display("tuple", node.elts)

    def set_display(self, node: ast.Set) -> ir.Expr:
        return self.display("set", node.elts)

    def dict_display(self, node: ast.Dict) -> ir.Expr:
        keys, values = [], []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(self.maybe(key))
            values.append(self.expr(value))
        return ir.DictDisplay(tuple(keys), tuple(values))

    def subscript(self, node: ast.Subscript) -> ir.Expr:
        value = self.expr(node.value)
        if isinstance(node.slice, ast.Tuple):
            indices = tuple(map(self.index, node.slice.elts))
            return ir.Subscript(value, ir.Display("tuple", indices))
        return ir.Subscript(value, self.index(node.slice))

    def index(self, node: ast.expr) -> ir.Expr:
        return self.slice(node) if isinstance(node, ast.Slice) else self.element(node)

    def await_expression(self, node: ast.Await) -> ir.Expr:
        return self.expr(node.value)

    def yield_expression(self, node: ast.Yield) -> ir.Expr:
        return self.given_out(node.value, node, delegated=False)

    def yield_from(self, node: ast.YieldFrom) -> ir.Expr:
        return self.given_out(node.value, node, delegated=True)

    statements: ClassVar[Mapping[type, Callable[[Any, Any, list[ir.Stmt]], None]]] = {
        ast.Expr: Lowering.expression_statement,
        ast.Assign: Lowering.assign,
        ast.AnnAssign: Lowering.annotated_assign,
        ast.AugAssign: Lowering.augmented_assign,
        ast.If: Lowering.if_statement,
        ast.For: Lowering.for_statement,
        ast.AsyncFor: Lowering.for_statement,
        ast.While: Lowering.while_statement,
        ast.Return: Lowering.return_statement,
        ast.Break: Lowering.break_statement,
        ast.Continue: Lowering.continue_statement,
        ast.Raise: Lowering.raise_statement,
        ast.Assert: Lowering.assert_statement,
        ast.Delete: Lowering.delete_statement,
        ast.Global: declare_outer,
        ast.Nonlocal: declare_outer,
        ast.Import: import_statement,
        ast.ImportFrom: from_import,
        ast.With: Lowering.with_statement,
        ast.AsyncWith: Lowering.with_statement,
        ast.Try: Lowering.try_statement,
        ast.Match: Lowering.match_statement,
        ast.FunctionDef: Lowering.function_statement,
        ast.AsyncFunctionDef: Lowering.function_statement,
        ast.ClassDef: Lowering.class_statement,
    }
    if hasattr(ast, "TryStar"):  # since Python 3.11
        statements = {**statements, ast.TryStar: Lowering.try_statement}
    expressions: ClassVar[Mapping[type, Callable[[Any, Any], ir.Expr]]] = {
        ast.Name: name,
        ast.Constant: constant,
        ast.JoinedStr: joined_string,
        ast.Attribute: Lowering.attribute,
        ast.Call: call,
        ast.BinOp: Lowering.binary,
        ast.BoolOp: boolean,
        ast.Compare: compare,
        ast.UnaryOp: unary,
        ast.IfExp: Lowering.conditional,
        ast.List: list_display,
        ast.Tuple: tuple_display,
        ast.Set: set_display,
        ast.Starred: Lowering.starred,
        ast.Dict: dict_display,
        ast.Subscript: subscript,
        ast.Lambda: Lowering.lambda_expression,
        ast.ListComp: Lowering.list_comprehension,
        ast.SetComp: Lowering.set_comprehension,
        ast.DictComp: Lowering.dict_comprehension,
        ast.GeneratorExp: Lowering.generator,
        ast.Await: await_expression,
        ast.Yield: yield_expression,
        ast.YieldFrom: yield_from,
        ast.NamedExpr: Lowering.walrus,
    }
    if hasattr(ast, "TemplateStr"):  # since Python 3.14
        expressions = {**expressions, ast.TemplateStr: joined_string}


def _arguments(node: ast.Call) -> Iterable[ast.expr | ast.keyword]:
    """Those of a call as they are written; only what has a star may stand after a keyword."""
    given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
    if node.keywords and any(isinstance(each, ast.Starred) for each in node.args):
        given.sort(key=lambda each: (each.lineno, each.col_offset))
    return given


def _annotation(param: ast.arg) -> ast.expr | None:
    annotation = param.annotation
    if isinstance(annotation, (ast.Name, ast.Attribute)):
        return annotation
    is_plain = isinstance(annotation, ast.Constant) and isinstance(annotation.value, _ANNOTATIONS)
    return annotation if is_plain else None
