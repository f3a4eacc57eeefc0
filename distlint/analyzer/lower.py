"""libcst source to IR, in one pass that touches semantic fields only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.stack import on_large_stack
from distlint.source.nesting import examine

MAX_DEPTH = 90
"""Expressions and blocks nested deeper than this are opaque: no recursion limit is ever reached."""


class ParseError(Exception):
    """The text is no Python that libcst can read; ``row`` and ``column`` start at 1."""

    def __init__(self, message: str, row: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class TooDeep(ParseError):
    """The text may be Python, but takes a parser more time or memory than it is worth."""


def parse(text: str) -> cst.Module:
    """Parse a module, without the ends of long displays of literals.

    Raises:
        ParseError: with the position of the mistake.
    """
    examined = examine(text)
    if examined.excess is not None:
        message, row, column = examined.excess
        raise TooDeep(f"not analysed: {message}", row, column)
    if examined.steep:
        return on_large_stack(lambda: _parse(examined.text))
    return _parse(text)


def _parse(text: str) -> cst.Module:
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        message = str(error.message).split(" @ ")[0].strip() or "invalid syntax"
        raise ParseError(message, error.editor_line, error.editor_column) from None
    except (RecursionError, ValueError, OverflowError) as error:
        raise ParseError(str(error) or "invalid syntax", 1, 1) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what Rust raises, which is no Exception
            raise
        raise ParseError(f"the parser failed: {error}", 1, 1) from None


class Lowered:
    """A module as IR; ``nodes`` maps a site to its libcst node when positions were asked for."""

    __slots__ = ("body", "nodes", "tree")

    def __init__(
        self, body: ir.Block, nodes: list[cst.CSTNode] | None, tree: cst.Module | None
    ) -> None:
        self.body = body
        self.nodes = nodes
        self.tree = tree


def lower(tree: cst.Module, module: str, *, keep_nodes: bool = False) -> Lowered:
    """Lower a module; sites number the nodes in the same order every time."""
    lowerer = _Lowerer(module, keep_nodes)
    body = lowerer.block(tree.body)
    return Lowered(body, lowerer.nodes, tree if keep_nodes else None)


_BINARY: dict[type, str] = {
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
}
_COMPARE: dict[type, str] = {
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
}
_CONSTANTS = {"True": True, "False": False, "None": None}


class _Scope:
    """What one function binds and declares while it is lowered."""

    __slots__ = ("bound", "generator", "outer")

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.outer: set[str] = set()
        self.generator = False


def _exit_of(raised: ir.Expr | None, site: int) -> ir.Call | None:
    """``raise SystemExit(0)`` as the ``exit(0)`` that it is."""
    kind, args = (raised.func, raised.args) if isinstance(raised, ir.Call) else (raised, ())
    if not isinstance(kind, ir.Name) or kind.id != "SystemExit":
        return None
    return ir.Call(ir.Name("exit"), args, site)


class _Lowerer:
    def __init__(self, module: str, keep_nodes: bool) -> None:
        self.module = module
        self.nodes: list[cst.CSTNode] | None = [] if keep_nodes else None
        self.count = 0
        self.depth = 0
        self.scopes = [_Scope()]
        self.owners: list[str] = []

    def site(self, node: cst.CSTNode) -> int:
        number = self.count
        self.count += 1
        if self.nodes is not None:
            self.nodes.append(node)
        return number

    # ---- statements

    def block(self, statements: Sequence[cst.CSTNode]) -> ir.Block:
        if self.depth > MAX_DEPTH:
            return ()
        self.depth += 1
        found: list[ir.Stmt] = []
        for statement in statements:
            lower_statement = _STATEMENTS.get(type(statement))
            if lower_statement is not None:
                lower_statement(self, statement, found)
        self.depth -= 1
        return tuple(found)

    def suite(self, body: Any) -> ir.Block:
        return self.block(body.body)

    def simple_line(self, node: cst.SimpleStatementLine, found: list[ir.Stmt]) -> None:
        for statement in node.body:
            lower_statement = _STATEMENTS.get(type(statement))
            if lower_statement is not None:
                lower_statement(self, statement, found)

    def expression_statement(self, node: cst.Expr, found: list[ir.Stmt]) -> None:
        value = node.value
        if isinstance(value, (cst.SimpleString, cst.Ellipsis)):
            return
        site = self.site(node)
        found.append(ir.Evaluate(self.expr(value), site))

    def assign(self, node: cst.Assign, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        value = self.expr(node.value)
        targets = tuple(self.target(target.target) for target in node.targets)
        found.append(ir.Assign(targets, value, site))

    def annotated_assign(self, node: cst.AnnAssign, found: list[ir.Stmt]) -> None:
        if node.value is None:
            return
        site = self.site(node)
        value = self.expr(node.value)
        found.append(ir.Assign((self.target(node.target),), value, site))

    def augmented_assign(self, node: cst.AugAssign, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        operator = _AUGMENTED.get(type(node.operator), "?")
        found.append(ir.AugAssign(self.target(node.target), operator, self.expr(node.value), site))

    def if_statement(self, node: cst.If, found: list[ir.Stmt]) -> None:
        arms: list[tuple[int, ir.Expr, ir.Block]] = []
        current: Any = node
        while isinstance(current, cst.If):
            site = self.site(current)
            arms.append((site, self.expr(current.test), self.suite(current.body)))
            current = current.orelse
        orelse = self.suite(current.body) if current is not None else ()
        for site, test, body in reversed(arms):
            orelse = (ir.If(test, body, orelse, site),)
        found.extend(orelse)

    def for_statement(self, node: cst.For, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        iterable = self.expr(node.iter)
        target = self.target(node.target)
        body = self.suite(node.body)
        orelse = self.suite(node.orelse.body) if node.orelse else ()
        found.append(ir.For(target, iterable, body, orelse, site))

    def while_statement(self, node: cst.While, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        test = self.expr(node.test)
        body = self.suite(node.body)
        orelse = self.suite(node.orelse.body) if node.orelse else ()
        found.append(ir.While(test, body, orelse, site))

    def return_statement(self, node: cst.Return, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        found.append(ir.Return(self.expr(node.value) if node.value else None, site))

    def break_statement(self, node: cst.Break, found: list[ir.Stmt]) -> None:
        found.append(ir.Break(self.site(node)))

    def continue_statement(self, node: cst.Continue, found: list[ir.Stmt]) -> None:
        found.append(ir.Continue(self.site(node)))

    def raise_statement(self, node: cst.Raise, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        value = self.expr(node.exc) if node.exc else None
        leaves = _exit_of(value, site)
        found.append(ir.Evaluate(leaves, site) if leaves else ir.Raise(value, site))

    def assert_statement(self, node: cst.Assert, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        found.append(ir.Assert(self.expr(node.test), site))

    def delete_statement(self, node: cst.Del, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        found.append(ir.Delete((self.target(node.target),), site))

    def declare_outer(self, node: cst.Global | cst.Nonlocal, found: list[ir.Stmt]) -> None:
        self.scopes[-1].outer.update(item.name.value for item in node.names)

    def import_statement(self, node: cst.Import, found: list[ir.Stmt]) -> None:
        bindings = []
        for alias in node.names:
            dotted = _dotted(alias.name)
            if alias.asname is not None:
                bindings.append((_dotted(alias.asname.name), dotted, None))
            else:
                root = dotted.split(".")[0]
                bindings.append((root, root, None))
        self.bind_imports(bindings, node, found)

    def from_import(self, node: cst.ImportFrom, found: list[ir.Stmt]) -> None:
        source = "." * len(node.relative) + (_dotted(node.module) if node.module else "")
        if isinstance(node.names, cst.ImportStar):
            self.bind_imports([("*", source, "*")], node, found)
            return
        bindings: list[tuple[str, str, str | None]] = []
        for alias in node.names:
            name = _dotted(alias.name)
            bindings.append((_dotted(alias.asname.name) if alias.asname else name, source, name))
        self.bind_imports(bindings, node, found)

    def bind_imports(
        self,
        bindings: Sequence[tuple[str, str, str | None]],
        node: cst.CSTNode,
        found: list[ir.Stmt],
    ) -> None:
        self.scopes[-1].bound.update(binding[0] for binding in bindings)
        found.append(ir.Import(tuple(bindings), self.site(node)))

    def with_statement(self, node: cst.With, found: list[ir.Stmt]) -> None:
        items = []
        for item in node.items:
            site = self.site(item)
            context = self.expr(item.item)
            items.append((site, context, self.target(item.asname.name) if item.asname else None))
        body = self.suite(node.body)
        for site, context, target in reversed(items):
            body = (ir.With(context, target, body, site),)
        found.extend(body)

    def try_statement(self, node: cst.Try | cst.TryStar, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        body = self.suite(node.body)
        handlers = []
        for handler in node.handlers:
            handler_site = self.site(handler)
            types = self.expr(handler.type) if handler.type is not None else None
            name = _dotted(handler.name.name) if handler.name else None
            if name:
                self.scopes[-1].bound.add(name)
            handlers.append(ir.Handler(types, name, self.suite(handler.body), handler_site))
        orelse = self.suite(node.orelse.body) if node.orelse else ()
        final = self.suite(node.finalbody.body) if node.finalbody else ()
        found.append(ir.Try(body, tuple(handlers), orelse, final, site))

    def match_statement(self, node: cst.Match, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        subject = f"$match{site}"
        found.append(ir.Assign((ir.Name(subject),), self.expr(node.subject), site))
        self.scopes[-1].bound.add(subject)
        orelse: ir.Block = ()
        arms = []
        for case in node.cases:
            case_site = self.site(case)
            test = self.pattern(case.pattern, ir.Name(subject))
            captured = tuple(
                ir.Assign((ir.Name(name),), ir.Opaque(self.site(case)), case_site)
                if not whole
                else ir.Assign((ir.Name(name),), ir.Name(subject), case_site)
                for name, whole in _captures(case.pattern)
            )
            self.scopes[-1].bound.update(name for name, _ in _captures(case.pattern))
            if case.guard is not None:
                test = ir.BoolOp("and", (test, self.expr(case.guard)), case_site)
            arms.append((case_site, test, captured + self.suite(case.body)))
        for case_site, test, body in reversed(arms):
            orelse = (ir.If(test, body, orelse, case_site),)
        found.extend(orelse)

    def pattern(self, node: cst.MatchPattern, subject: ir.Expr) -> ir.Expr:
        """The test that a case makes; what is not a comparison is an unknown of its own."""
        if isinstance(node, cst.MatchValue):
            return ir.Compare(subject, ("==",), (self.expr(node.value),))
        if isinstance(node, cst.MatchSingleton):
            return ir.Compare(subject, ("is",), (self.expr(node.value),))
        if isinstance(node, cst.MatchAs):
            return ir.Literal(True) if node.pattern is None else self.pattern(node.pattern, subject)
        if isinstance(node, cst.MatchOr):
            tests = tuple(self.pattern(element.pattern, subject) for element in node.patterns)
            return ir.BoolOp("or", tests, self.site(node))
        opaque = ir.Literal(f"pattern {self.count}")
        return ir.Call(
            ir.Name("$matches"), (ir.Argument(subject), ir.Argument(opaque)), self.site(node)
        )

    def function_statement(self, node: cst.FunctionDef, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        self.scopes[-1].bound.add(node.name.value)
        found.append(ir.Define(self.function(node, site), site))

    def function(self, node: cst.FunctionDef, site: int) -> ir.Function:
        decorators = tuple(self.expr(decorator.decorator) for decorator in node.decorators)
        decorator_sites = tuple(self.site(decorator) for decorator in node.decorators)
        params = self.params(node.params)
        owner = self.owners[-1] if self.owners else ""
        self.owners.append("")
        scope = _Scope()
        self.scopes.append(scope)
        body = self.suite(node.body)
        self.scopes.pop()
        self.owners.pop()
        return ir.Function(
            node.name.value,
            self.module,
            params,
            body,
            decorators,
            site,
            frozenset(scope.outer),
            scope.generator,
            owner,
            "" in self.owners,
            frozenset(scope.bound | {param.name for param in params}) - scope.outer,
            decorator_sites,
        )

    def params(self, node: cst.Parameters) -> tuple[ir.Param, ...]:
        found = [self.param(param) for param in (*node.posonly_params, *node.params)]
        if isinstance(node.star_arg, cst.Param):
            found.append(ir.Param(node.star_arg.name.value, star="*"))
        for param in node.kwonly_params:
            lowered = self.param(param)
            lowered.keyword_only = True
            found.append(lowered)
        if node.star_kwarg is not None:
            found.append(ir.Param(node.star_kwarg.name.value, star="**"))
        return tuple(found)

    def param(self, node: cst.Param) -> ir.Param:
        default = self.expr(node.default) if node.default is not None else None
        annotation = None
        if node.annotation is not None and isinstance(
            node.annotation.annotation, (cst.Name, cst.Attribute, cst.SimpleString)
        ):
            annotation = self.expr(node.annotation.annotation)
        return ir.Param(node.name.value, default, annotation)

    def class_statement(self, node: cst.ClassDef, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        self.scopes[-1].bound.add(node.name.value)
        bases = tuple(self.expr(base.value) for base in node.bases)
        self.owners.append(node.name.value)
        self.scopes.append(_Scope())
        body = self.suite(node.body)
        self.scopes.pop()
        self.owners.pop()
        methods: dict[str, ir.Function] = {}
        attributes: dict[str, ir.Expr] = {}
        rest: list[ir.Stmt] = []
        for statement in body:
            if isinstance(statement, ir.Define):
                # a property's setter must not hide its getter
                methods.setdefault(statement.function.name, statement.function)
            else:
                rest.append(statement)
                if isinstance(statement, ir.Assign):
                    for target in statement.targets:
                        if isinstance(target, ir.Name):
                            attributes[target.id] = statement.value
        cls = ir.Class(node.name.value, self.module, bases, methods, attributes, tuple(rest), site)
        found.append(ir.DefineClass(cls, site))

    # ---- expressions

    def expr(self, node: cst.BaseExpression) -> ir.Expr:
        lower_expression = _EXPRESSIONS.get(type(node))
        if lower_expression is None or self.depth > MAX_DEPTH:
            return ir.Opaque(self.site(node))
        self.depth += 1
        result = lower_expression(self, node)
        self.depth -= 1
        return result

    def target(self, node: cst.BaseExpression) -> ir.Expr:
        target = self.expr(node)
        self.bind(target)
        return target

    def bind(self, target: ir.Expr) -> None:
        if isinstance(target, ir.Name):
            self.scopes[-1].bound.add(target.id)
        elif isinstance(target, ir.Display):
            for item in target.items:
                self.bind(item)
        elif isinstance(target, ir.Starred):
            self.bind(target.value)

    def name(self, node: cst.Name) -> ir.Expr:
        if node.value in _CONSTANTS:
            return ir.Literal(_CONSTANTS[node.value])
        return ir.Name(node.value)

    def number(self, node: cst.Integer | cst.Float | cst.Imaginary) -> ir.Expr:
        try:
            return ir.Literal(ast.literal_eval(node.value))
        except (ValueError, SyntaxError, MemoryError):
            return ir.Opaque(self.site(node))

    def ellipsis(self, node: cst.Ellipsis) -> ir.Expr:
        return ir.Literal(...)

    def string(self, node: cst.SimpleString) -> ir.Expr:
        text = node.value
        if text[0] in "'\"" and "\\" not in text and text[:3] not in ("'''", '"""'):
            return ir.Literal(text[1:-1])
        try:
            return ir.Literal(ast.literal_eval(text))
        except (ValueError, SyntaxError, MemoryError):
            return ir.Opaque(self.site(node))

    def joined_string(self, node: cst.ConcatenatedString) -> ir.Expr:
        return ir.Format((self.expr(node.left), self.expr(node.right)))

    def formatted_string(self, node: Any) -> ir.Expr:
        parts: list[ir.Expr] = []
        for part in node.parts:
            expression = getattr(part, "expression", None)
            parts.append(ir.Literal(part.value) if expression is None else self.expr(expression))
        return ir.Format(tuple(parts))

    def attribute(self, node: cst.Attribute) -> ir.Expr:
        value = self.expr(node.value)
        return ir.Attribute(value, node.attr.value, self.site(node))

    def call(self, node: cst.Call) -> ir.Expr:
        func = self.expr(node.func)
        args = tuple(
            ir.Argument(self.expr(arg.value), arg.keyword.value if arg.keyword else None, arg.star)
            for arg in node.args
        )
        return ir.Call(func, args, self.site(node))

    def binary(self, node: cst.BinaryOperation) -> ir.Expr:
        operator = _BINARY.get(type(node.operator), "?")
        return ir.Binary(operator, self.expr(node.left), self.expr(node.right))

    def boolean(self, node: cst.BooleanOperation) -> ir.Expr:
        operator = type(node.operator)
        operands = [node.right]
        left: cst.BaseExpression = node.left
        while isinstance(left, cst.BooleanOperation) and type(left.operator) is operator:
            operands.append(left.right)
            left = left.left
        operands.append(left)
        values = tuple(self.expr(operand) for operand in reversed(operands))
        return ir.BoolOp("and" if operator is cst.And else "or", values, self.site(node))

    def compare(self, node: cst.Comparison) -> ir.Expr:
        left = self.expr(node.left)
        ops = tuple(_COMPARE.get(type(target.operator), "?") for target in node.comparisons)
        rights = tuple(self.expr(target.comparator) for target in node.comparisons)
        return ir.Compare(left, ops, rights)

    def unary(self, node: cst.UnaryOperation) -> ir.Expr:
        value = self.expr(node.expression)
        operator = type(node.operator)
        if operator is cst.Not:
            return ir.Not(value)
        return ir.Unary({cst.Minus: "-", cst.Plus: "+"}.get(operator, "~"), value)

    def conditional(self, node: cst.IfExp) -> ir.Expr:
        test, body, orelse = self.expr(node.test), self.expr(node.body), self.expr(node.orelse)
        return ir.Conditional(test, body, orelse, self.site(node))

    def list_display(self, node: cst.List) -> ir.Expr:
        return ir.Display("list", tuple(self.element(element) for element in node.elements))

    def tuple_display(self, node: cst.Tuple) -> ir.Expr:
        return ir.Display("tuple", tuple(self.element(element) for element in node.elements))

    def set_display(self, node: cst.Set) -> ir.Expr:
        return ir.Display("set", tuple(self.element(element) for element in node.elements))

    def element(self, node: cst.BaseElement) -> ir.Expr:
        value = self.expr(node.value)
        return ir.Starred(value) if isinstance(node, cst.StarredElement) else value

    def starred(self, node: cst.StarredElement) -> ir.Expr:
        return ir.Starred(self.expr(node.value))

    def dict_display(self, node: cst.Dict) -> ir.Expr:
        keys: list[ir.Expr | None] = []
        values = []
        for element in node.elements:
            keys.append(self.expr(element.key) if isinstance(element, cst.DictElement) else None)
            values.append(self.expr(element.value))
        return ir.DictDisplay(tuple(keys), tuple(values))

    def subscript(self, node: cst.Subscript) -> ir.Expr:
        value = self.expr(node.value)
        indices = tuple(self.index(element.slice) for element in node.slice)
        index = indices[0] if len(indices) == 1 else ir.Display("tuple", indices)
        return ir.Subscript(value, index)

    def index(self, node: cst.BaseSlice) -> ir.Expr:
        if isinstance(node, cst.Index):
            return self.expr(node.value)
        assert isinstance(node, cst.Slice)
        return ir.Slice(
            self.expr(node.lower) if node.lower else None,
            self.expr(node.upper) if node.upper else None,
            self.expr(node.step) if node.step else None,
        )

    def lambda_expression(self, node: cst.Lambda) -> ir.Expr:
        site = self.site(node)
        params = self.params(node.params)
        self.scopes.append(_Scope())
        body = (ir.Return(self.expr(node.body), self.site(node)),)
        self.scopes.pop()
        names = frozenset(param.name for param in params)
        return ir.Lambda(ir.Function("<lambda>", self.module, params, body, (), site, locals=names))

    def comprehension(self, node: Any) -> ir.Expr:
        clauses = []
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            iterable = self.expr(clause.iter)
            target = self.expr(clause.target)
            tests = tuple(self.expr(condition.test) for condition in clause.ifs)
            clauses.append((target, iterable, tests))
            clause = clause.inner_for_in
        if isinstance(node, cst.DictComp):
            element: ir.Expr = ir.Display("tuple", (self.expr(node.key), self.expr(node.value)))
        else:
            element = self.expr(node.elt)
        kind = _COMPREHENSIONS[type(node)]
        return ir.Comprehension(kind, element, tuple(clauses), self.site(node))

    def await_expression(self, node: cst.Await) -> ir.Expr:
        return self.expr(node.expression)

    def yield_expression(self, node: cst.Yield) -> ir.Expr:
        self.scopes[-1].generator = True
        site = self.site(node)
        if isinstance(node.value, cst.From):
            return ir.Yield(self.expr(node.value.item), True, site)
        return ir.Yield(self.expr(node.value) if node.value else None, False, site)

    def walrus(self, node: cst.NamedExpr) -> ir.Expr:
        name = node.target.value if isinstance(node.target, cst.Name) else "_"
        self.scopes[-1].bound.add(name)
        return ir.Walrus(name, self.expr(node.value))


def _dotted(node: Any) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    parts.append(node.value if isinstance(node, cst.Name) else "?")
    return ".".join(reversed(parts))


def _captures(pattern: cst.MatchPattern) -> list[tuple[str, bool]]:
    """Names that a pattern binds, and whether each is bound to the whole subject."""
    if isinstance(pattern, cst.MatchAs):
        inner = _captures(pattern.pattern) if pattern.pattern is not None else []
        return [*inner, (pattern.name.value, True)] if pattern.name is not None else inner
    found: list[tuple[str, bool]] = []
    for child in pattern.children:
        nested = getattr(child, "pattern", child)
        if isinstance(child, cst.MatchStar) and child.name is not None:
            found.append((child.name.value, False))
        elif isinstance(nested, cst.MatchPattern):
            found.extend((name, False) for name, _ in _captures(nested))
    return found


_AUGMENTED: dict[type, str] = {
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
}
_COMPREHENSIONS: dict[type, str] = {
    cst.ListComp: "list",
    cst.SetComp: "set",
    cst.DictComp: "dict",
    cst.GeneratorExp: "generator",
}
_STATEMENTS: dict[type, Callable[[_Lowerer, Any, list[ir.Stmt]], None]] = {
    cst.SimpleStatementLine: _Lowerer.simple_line,
    cst.Expr: _Lowerer.expression_statement,
    cst.Assign: _Lowerer.assign,
    cst.AnnAssign: _Lowerer.annotated_assign,
    cst.AugAssign: _Lowerer.augmented_assign,
    cst.If: _Lowerer.if_statement,
    cst.For: _Lowerer.for_statement,
    cst.While: _Lowerer.while_statement,
    cst.Return: _Lowerer.return_statement,
    cst.Break: _Lowerer.break_statement,
    cst.Continue: _Lowerer.continue_statement,
    cst.Raise: _Lowerer.raise_statement,
    cst.Assert: _Lowerer.assert_statement,
    cst.Del: _Lowerer.delete_statement,
    cst.Global: _Lowerer.declare_outer,
    cst.Nonlocal: _Lowerer.declare_outer,
    cst.Import: _Lowerer.import_statement,
    cst.ImportFrom: _Lowerer.from_import,
    cst.With: _Lowerer.with_statement,
    cst.Try: _Lowerer.try_statement,
    cst.TryStar: _Lowerer.try_statement,
    cst.Match: _Lowerer.match_statement,
    cst.FunctionDef: _Lowerer.function_statement,
    cst.ClassDef: _Lowerer.class_statement,
}
_EXPRESSIONS: dict[type, Callable[[_Lowerer, Any], ir.Expr]] = {
    cst.Name: _Lowerer.name,
    cst.Integer: _Lowerer.number,
    cst.Float: _Lowerer.number,
    cst.Imaginary: _Lowerer.number,
    cst.Ellipsis: _Lowerer.ellipsis,
    cst.SimpleString: _Lowerer.string,
    cst.ConcatenatedString: _Lowerer.joined_string,
    cst.FormattedString: _Lowerer.formatted_string,
    cst.Attribute: _Lowerer.attribute,
    cst.Call: _Lowerer.call,
    cst.BinaryOperation: _Lowerer.binary,
    cst.BooleanOperation: _Lowerer.boolean,
    cst.Comparison: _Lowerer.compare,
    cst.UnaryOperation: _Lowerer.unary,
    cst.IfExp: _Lowerer.conditional,
    cst.List: _Lowerer.list_display,
    cst.Tuple: _Lowerer.tuple_display,
    cst.Set: _Lowerer.set_display,
    cst.StarredElement: _Lowerer.starred,
    cst.Dict: _Lowerer.dict_display,
    cst.Subscript: _Lowerer.subscript,
    cst.Lambda: _Lowerer.lambda_expression,
    cst.ListComp: _Lowerer.comprehension,
    cst.SetComp: _Lowerer.comprehension,
    cst.DictComp: _Lowerer.comprehension,
    cst.GeneratorExp: _Lowerer.comprehension,
    cst.Await: _Lowerer.await_expression,
    cst.Yield: _Lowerer.yield_expression,
    cst.NamedExpr: _Lowerer.walrus,
}
if hasattr(cst, "TemplatedString"):
    _EXPRESSIONS[cst.TemplatedString] = _Lowerer.formatted_string
