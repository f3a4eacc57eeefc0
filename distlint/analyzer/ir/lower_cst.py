"""From libcst's syntax tree to IR, in one pass that touches semantic fields only."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.ir.lowering import Binding, Lowering
from distlint.analyzer.ir.source_parts import Clause, Parameter

_OPERATORS: dict[type, str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.MatrixMultiply: "@",
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.MatrixMultiplyAssign: "@",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
}
_CONSTANTS = {"True": True, "False": False, "None": None}
_FORMATTED: tuple[type, ...] = (
    (cst.FormattedString, cst.TemplatedString)
    if hasattr(cst, "TemplatedString")
    else (cst.FormattedString,)
)
_NEWLINE = re.compile(r"\r\n?")


class CstLowering(Lowering):
    grammar: ClassVar[Any] = cst

    def identifier(self, node: Any) -> str:
        name: str = node.value if isinstance(node, cst.Name) else "?"
        return name if name.isascii() else unicodedata.normalize("NFKC", name)

    def suite(self, body: Any) -> ir.Block:
        if isinstance(body, (cst.Else, cst.Finally)):
            body = body.body
        return self.block(body.body) if body is not None else ()

    def is_idle(self, value: cst.BaseExpression) -> bool:
        return isinstance(value, cst.Ellipsis) or _is_text(value)

    def operator(self, node: Any) -> str:
        return _OPERATORS.get(type(node.operator), "?")

    def targets(self, node: cst.Assign) -> Iterable[cst.BaseExpression]:
        return (target.target for target in node.targets)

    def deleted(self, node: cst.Del) -> Iterable[cst.BaseExpression]:
        waiting: list[cst.BaseExpression] = [node.target]
        while waiting:
            target = waiting.pop()
            if isinstance(target, (cst.Tuple, cst.List)):
                waiting += [element.value for element in reversed(target.elements)]
            else:
                yield target

    def elif_of(self, node: cst.If) -> cst.If | None:
        return node.orelse if isinstance(node.orelse, cst.If) else None

    def context(self, item: cst.WithItem) -> tuple[cst.BaseExpression, cst.BaseExpression | None]:
        return item.item, item.asname.name if item.asname else None

    def decorator(self, node: cst.Decorator) -> cst.BaseExpression:
        return node.decorator

    def decorators(self, node: cst.FunctionDef) -> Sequence[cst.Decorator]:
        return node.decorators

    def bases(self, node: cst.ClassDef) -> Iterable[cst.BaseExpression]:
        return (arg.value for arg in node.bases)

    def parameters(self, node: Any) -> Iterator[Parameter]:
        params: cst.Parameters = node.params
        for param in (*params.posonly_params, *params.params):
            yield self.parameter(param)
        if isinstance(params.star_arg, cst.Param):
            yield Parameter(self.identifier(params.star_arg.name), star="*")
        for param in params.kwonly_params:
            yield self.parameter(param)._replace(keyword_only=True)
        if params.star_kwarg is not None:
            yield Parameter(self.identifier(params.star_kwarg.name), star="**")

    def parameter(self, param: cst.Param) -> Parameter:
        annotation = param.annotation.annotation if param.annotation is not None else None
        is_plain = isinstance(annotation, (cst.Name, cst.Attribute)) or _is_text(annotation)
        name = self.identifier(param.name)
        return Parameter(name, param.default, annotation if is_plain else None)

    def alternatives(self, node: cst.MatchOr) -> Iterable[cst.MatchPattern]:
        return (element.pattern for element in node.patterns)

    def singleton(self, node: cst.MatchSingleton) -> ir.Expr:
        return self.expr(node.value)

    def captures(self, pattern: Any) -> list[tuple[str, bool]]:
        if isinstance(pattern, cst.MatchAs):
            inner = self.captures(pattern.pattern) if pattern.pattern is not None else []
            whole = pattern.name
            return [*inner, (self.identifier(whole), True)] if whole is not None else inner
        if isinstance(pattern, cst.MatchStar):
            return [(self.identifier(pattern.name), False)] if pattern.name is not None else []
        parts = (
            getattr(element, "pattern", None) or getattr(element, "value", element)
            for field in ("patterns", "elements", "kwds")
            for element in getattr(pattern, field, ())
        )
        found = [(name, False) for part in parts for name, _ in self.captures(part)]
        rest = getattr(pattern, "rest", None)
        return [*found, (self.identifier(rest), False)] if rest is not None else found

    def starred_value(self, element: Any) -> cst.BaseExpression | None:
        return element.value if isinstance(element, cst.StarredElement) else None

    def plain_value(self, element: Any) -> cst.BaseExpression:
        value: cst.BaseExpression = element.value
        return value

    def clauses(self, node: Any) -> Iterator[Clause]:
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            yield Clause(clause.target, clause.iter, [each.test for each in clause.ifs])
            clause = clause.inner_for_in

    def handler_name(self, handler: Any) -> str | None:
        return self.identifier(handler.name.name) if handler.name else None

    def simple_line(self, node: cst.SimpleStatementLine, found: list[ir.Stmt]) -> None:
        self.lower_each(node.body, found)

    def declare_outer(self, node: cst.Global | cst.Nonlocal, found: list[ir.Stmt]) -> None:
        self.scopes[-1].outer.update(self.identifier(item.name) for item in node.names)

    def import_statement(self, node: cst.Import, found: list[ir.Stmt]) -> None:
        bindings: list[Binding] = []
        for alias in node.names:
            dotted = self.dotted(alias.name)
            if alias.asname is not None:
                bindings.append((self.identifier(alias.asname.name), dotted, None))
            else:
                root = dotted.split(".")[0]
                bindings.append((root, root, None))
        self.bind_imports(bindings, node, found)

    def from_import(self, node: cst.ImportFrom, found: list[ir.Stmt]) -> None:
        source = "." * len(node.relative) + (self.dotted(node.module) if node.module else "")
        if isinstance(node.names, cst.ImportStar):
            self.bind_imports([("*", source, "*")], node, found)
            return
        bindings: list[Binding] = []
        for alias in node.names:
            name = self.dotted(alias.name)
            bound = self.identifier(alias.asname.name) if alias.asname else name
            bindings.append((bound, source, name))
        self.bind_imports(bindings, node, found)

    def dotted(self, node: Any) -> str:
        parts = []
        while isinstance(node, cst.Attribute):
            parts.append(self.identifier(node.attr))
            node = node.value
        parts.append(self.identifier(node))
        return ".".join(reversed(parts))

    # ---- expressions

    def name(self, node: cst.Name) -> ir.Expr:
        name = self.identifier(node)
        return ir.Literal(_CONSTANTS[name]) if name in _CONSTANTS else ir.Name(name)

    def number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> ir.Expr:
        try:
            return ir.Literal(ast.literal_eval(node.value))
        except (ValueError, SyntaxError, MemoryError):
            return ir.Opaque(self.site(node))

    def ellipsis(self, node: cst.Ellipsis) -> ir.Expr:
        return ir.Literal(...)

    def string(self, node: cst.BaseString) -> ir.Expr:
        """A string, or strings side by side: what Python makes of them."""
        pieces = list(_pieces(node))
        try:
            if _is_text(node):
                values = [_value(piece) for piece in pieces]
                return ir.Literal(values[0][:0].join(values))
            return self.format(text for piece in pieces for text in _parts(piece))
        except (ValueError, TypeError, SyntaxError, MemoryError):
            return ir.Opaque(self.site(node))

    def call(self, node: cst.Call) -> ir.Expr:
        func = self.expr(node.func)
        args = tuple(
            ir.Argument(
                self.expr(arg.value),
                self.identifier(arg.keyword) if arg.keyword else None,
                arg.star,
            )
            for arg in node.args
        )
        return self.called(func, args, node)

    def boolean(self, node: cst.BooleanOperation) -> ir.Expr:
        operator = type(node.operator)
        operands = [node.right]
        left: cst.BaseExpression = node.left
        while isinstance(left, cst.BooleanOperation) and type(left.operator) is operator:
            operands.append(left.right)
            left = left.left
        values = tuple(self.expr(operand) for operand in (left, *reversed(operands)))
        return ir.BoolOp("and" if operator is cst.And else "or", values, self.site(node))

    def compare(self, node: cst.Comparison) -> ir.Expr:
        left = self.expr(node.left)
        ops = tuple(map(self.operator, node.comparisons))
        return ir.Compare(left, ops, tuple(self.expr(each.comparator) for each in node.comparisons))

    def unary(self, node: cst.UnaryOperation) -> ir.Expr:
        value = self.expr(node.expression)
        if isinstance(node.operator, cst.Not):
            return ir.Not(value)
        return ir.Unary(self.operator(node), value)

    def list_display(self, node: cst.List) -> ir.Expr:
        return self.display("list", node.elements)

    def tuple_display(self, node: cst.Tuple) -> ir.Expr:
        return self.display("tuple", node.elements)

    def set_display(self, node: cst.Set) -> ir.Expr:
        return self.display("set", node.elements)

    def dict_display(self, node: cst.Dict) -> ir.Expr:
        keys, values = [], []
        for element in node.elements:
            keys.append(self.expr(element.key) if isinstance(element, cst.DictElement) else None)
            values.append(self.expr(element.value))
        return ir.DictDisplay(tuple(keys), tuple(values))

    def subscript(self, node: cst.Subscript) -> ir.Expr:
        value = self.expr(node.value)
        only = node.slice[0] if len(node.slice) == 1 else None
        if only is None or isinstance(only.comma, cst.Comma) or _is_starred(only.slice):
            indices = tuple(self.index(element.slice) for element in node.slice)
            return ir.Subscript(value, ir.Display("tuple", indices))
        if isinstance(only.slice, cst.Index) and isinstance(only.slice.value, cst.Tuple):
            return ir.Subscript(value, self.display("tuple", only.slice.value.elements))
        return ir.Subscript(value, self.index(only.slice))

    def index(self, node: cst.BaseSlice) -> ir.Expr:
        if isinstance(node, cst.Index):
            value = self.expr(node.value)
            return ir.Starred(value) if _is_starred(node) else value
        return self.slice(node)

    def await_expression(self, node: cst.Await) -> ir.Expr:
        return self.expr(node.expression)

    def yield_expression(self, node: cst.Yield) -> ir.Expr:
        if isinstance(node.value, cst.From):
            return self.given_out(node.value.item, node, delegated=True)
        return self.given_out(node.value, node, delegated=False)

    statements: ClassVar[Mapping[type, Callable[[Any, Any, list[ir.Stmt]], None]]] = {
        cst.SimpleStatementLine: simple_line,
        cst.Expr: Lowering.expression_statement,
        cst.Assign: Lowering.assign,
        cst.AnnAssign: Lowering.annotated_assign,
        cst.AugAssign: Lowering.augmented_assign,
        cst.If: Lowering.if_statement,
        cst.For: Lowering.for_statement,
        cst.While: Lowering.while_statement,
        cst.Return: Lowering.return_statement,
        cst.Break: Lowering.break_statement,
        cst.Continue: Lowering.continue_statement,
        cst.Raise: Lowering.raise_statement,
        cst.Assert: Lowering.assert_statement,
        cst.Del: Lowering.delete_statement,
        cst.Global: declare_outer,
        cst.Nonlocal: declare_outer,
        cst.Import: import_statement,
        cst.ImportFrom: from_import,
        cst.With: Lowering.with_statement,
        cst.Try: Lowering.try_statement,
        cst.TryStar: Lowering.try_statement,
        cst.Match: Lowering.match_statement,
        cst.FunctionDef: Lowering.function_statement,
        cst.ClassDef: Lowering.class_statement,
    }
    expressions: ClassVar[Mapping[type, Callable[[Any, Any], ir.Expr]]] = {
        cst.Name: name,
        cst.Integer: number,
        cst.Float: number,
        cst.Imaginary: number,
        cst.Ellipsis: ellipsis,
        cst.SimpleString: string,
        cst.ConcatenatedString: string,
        **dict.fromkeys(_FORMATTED, string),
        cst.Attribute: Lowering.attribute,
        cst.Call: call,
        cst.BinaryOperation: Lowering.binary,
        cst.BooleanOperation: boolean,
        cst.Comparison: compare,
        cst.UnaryOperation: unary,
        cst.IfExp: Lowering.conditional,
        cst.List: list_display,
        cst.Tuple: tuple_display,
        cst.Set: set_display,
        cst.StarredElement: Lowering.starred,
        cst.Dict: dict_display,
        cst.Subscript: subscript,
        cst.Lambda: Lowering.lambda_expression,
        cst.ListComp: Lowering.list_comprehension,
        cst.SetComp: Lowering.set_comprehension,
        cst.DictComp: Lowering.dict_comprehension,
        cst.GeneratorExp: Lowering.generator,
        cst.Await: await_expression,
        cst.Yield: yield_expression,
        cst.NamedExpr: Lowering.walrus,
    }


def _is_starred(node: cst.BaseSlice) -> bool:
    return isinstance(node, cst.Index) and node.star == "*"


# ---- strings


def _pieces(node: Any) -> Iterator[Any]:
    """The strings that stand side by side."""
    while isinstance(node, cst.ConcatenatedString):
        yield node.left
        node = node.right
    yield node


def _is_text(node: Any) -> bool:
    """Is it a string without fields, in one piece or in several?"""
    return all(isinstance(piece, cst.SimpleString) for piece in _pieces(node))


def _value(node: cst.SimpleString) -> Any:
    text = node.value
    if text[0] in "'\"" and "\\" not in text and text[:3] not in ("'''", '"""'):
        return text[1:-1]
    return ast.literal_eval(text)


def _parts(node: Any) -> Iterator[Any]:
    """The texts and the expressions of an f-string; a string has its text alone."""
    if isinstance(node, cst.SimpleString):
        yield _value(node)
        return
    for part in node.parts:
        expression = getattr(part, "expression", None)
        if expression is None:
            yield _literal(part.value, node)
            continue
        if part.equal is not None:  # {x = } shows itself; over several lines, without indentation
            shown = (part.whitespace_before_expression, expression, part.equal)
            yield "".join(map(cst.Module([]).code_for_node, shown))
        yield expression


def _literal(text: str, node: Any) -> str:
    """What an f-string says literally."""
    text = text.replace("{{", "{").replace("}}", "}")
    if "r" in node.start.lower() or "\\" not in text:
        return _NEWLINE.sub("\n", text)
    # with a blank after it, for it may end in what would go on in the quote
    value: str = ast.literal_eval(f"{node.end}{text} {node.end}")
    return value[:-1]
