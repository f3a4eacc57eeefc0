"""What the lowerings from libcst and from ``ast`` have in common.

Both grammars name most parts of a node alike, so the order in which they are visited, and with it
the number of each site, is written here once. What they name otherwise is in the front ends.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from distlint.analyzer import ir
from distlint.analyzer.ir.records import constructor, has_after_init, is_record
from distlint.analyzer.ir.source_parts import Clause, Parameter, Scope

MAX_DEPTH = 90
"""Expressions and blocks nested deeper than this are opaque: no recursion limit is ever reached."""

Binding = tuple[str, str, "str | None"]


class Lowering(ABC):
    """Lowers the nodes of one grammar; ``nodes`` are those of the sites if they are kept."""

    grammar: ClassVar[Any]
    statements: ClassVar[Mapping[type, Callable[[Any, Any, list[ir.Stmt]], None]]]
    expressions: ClassVar[Mapping[type, Callable[[Any, Any], ir.Expr]]]

    def __init__(self, module: str, *, keep_nodes: bool = False) -> None:
        self.module = module
        self.nodes: list[Any] | None = [] if keep_nodes else None
        self.count = 0
        self.depth = 0
        self.scopes = [Scope()]
        self.owners: list[str] = []

    def site(self, node: Any) -> int:
        number = self.count
        self.count += 1
        if self.nodes is not None:
            self.nodes.append(node)
        return number

    # ---- what the grammars name differently

    @abstractmethod
    def identifier(self, node: Any) -> str:
        """A name as Python compares it."""

    @abstractmethod
    def suite(self, body: Any) -> ir.Block:
        """The block below a header, an ``else`` or a ``finally``, if there is one."""

    @abstractmethod
    def is_idle(self, value: Any) -> bool:
        """Is it a docstring or an ellipsis, as a statement?"""

    @abstractmethod
    def operator(self, node: Any) -> str:
        """The operator of an augmented assignment or of a binary operation."""

    @abstractmethod
    def targets(self, node: Any) -> Iterable[Any]:
        """The targets of an assignment."""

    @abstractmethod
    def deleted(self, node: Any) -> Iterable[Any]:
        """What a ``del`` deletes, one by one."""

    @abstractmethod
    def elif_of(self, node: Any) -> Any:
        """The ``elif`` of an ``if``, or None."""

    @abstractmethod
    def context(self, item: Any) -> tuple[Any, Any]:
        """The manager and the target of an item of a ``with``."""

    @abstractmethod
    def decorator(self, node: Any) -> Any:
        """The expression of a decorator."""

    @abstractmethod
    def decorators(self, node: Any) -> Sequence[Any]: ...

    @abstractmethod
    def bases(self, node: Any) -> Iterable[Any]:
        """The positional arguments of a class statement."""

    @abstractmethod
    def parameters(self, node: Any) -> Iterator[Parameter]:
        """Those of a function or of a lambda, in order."""

    @abstractmethod
    def alternatives(self, node: Any) -> Iterable[Any]:
        """The patterns that ``|`` connects."""

    @abstractmethod
    def singleton(self, node: Any) -> ir.Expr:
        """None, True or False in a pattern."""

    @abstractmethod
    def captures(self, pattern: Any) -> list[tuple[str, bool]]:
        """Names that a pattern binds, and whether each is bound to the whole subject."""

    @abstractmethod
    def starred_value(self, element: Any) -> Any:
        """What stands after the star of an element of a display; None if there is no star."""

    @abstractmethod
    def plain_value(self, element: Any) -> Any:
        """The expression of an element of a display that has no star."""

    @abstractmethod
    def clauses(self, node: Any) -> Iterator[Clause]:
        """Those of a comprehension, from the left."""

    @abstractmethod
    def handler_name(self, handler: Any) -> str | None: ...

    # ---- statements

    def block(self, statements: Iterable[Any]) -> ir.Block:
        if self.depth > MAX_DEPTH:
            return ()
        self.depth += 1
        found: list[ir.Stmt] = []
        self.lower_each(statements, found)
        self.depth -= 1
        return tuple(found)

    def lower_each(self, statements: Iterable[Any], found: list[ir.Stmt]) -> None:
        known = self.statements
        for statement in statements:
            lower_statement = known.get(type(statement))
            if lower_statement is not None:
                lower_statement(self, statement, found)

    def expression_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        if not self.is_idle(node.value):
            site = self.site(node)
            found.append(ir.Evaluate(self.expr(node.value), site))

    def assign(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        value = self.expr(node.value)
        found.append(ir.Assign(tuple(map(self.target, self.targets(node))), value, site))

    def annotated_assign(self, node: Any, found: list[ir.Stmt]) -> None:
        is_name = isinstance(node.target, self.grammar.Name)
        if node.value is None:
            if is_name:
                self.scopes[-1].fields.append((self.last_name(node.target), None))
            return
        site = self.site(node)
        value = self.expr(node.value)
        found.append(ir.Assign((self.target(node.target),), value, site))
        if is_name:
            self.scopes[-1].fields.append((self.last_name(node.target), value))

    def augmented_assign(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        target = self.target(node.target)
        found.append(ir.AugAssign(target, self.operator(node), self.expr(node.value), site))

    def if_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        arms: list[tuple[int, ir.Expr, ir.Block]] = []
        last = current = node
        while current is not None:
            site = self.site(current)
            arms.append((site, self.expr(current.test), self.suite(current.body)))
            last, current = current, self.elif_of(current)
        self.branch(arms, self.suite(last.orelse), found)

    def branch(
        self, arms: list[tuple[int, ir.Expr, ir.Block]], orelse: ir.Block, found: list[ir.Stmt]
    ) -> None:
        for site, test, body in reversed(arms):
            orelse = (ir.If(test, body, orelse, site),)
        found.extend(orelse)

    def for_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        iterable = self.expr(node.iter)
        target = self.target(node.target)
        body = self.suite(node.body)
        found.append(ir.For(target, iterable, body, self.suite(node.orelse), site))

    def while_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        test = self.expr(node.test)
        body = self.suite(node.body)
        found.append(ir.While(test, body, self.suite(node.orelse), site))

    def return_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        found.append(ir.Return(self.maybe(node.value), site))

    def break_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        found.append(ir.Break(self.site(node)))

    def continue_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        found.append(ir.Continue(self.site(node)))

    def raise_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        value = self.maybe(node.exc)
        leaves = _exit_of(value, site)
        found.append(ir.Evaluate(leaves, site) if leaves else ir.Raise(value, site))

    def assert_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        found.append(ir.Assert(self.expr(node.test), site))

    def delete_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        found.append(ir.Delete(tuple(map(self.target, self.deleted(node))), site))

    def bind_imports(self, bindings: Sequence[Binding], node: Any, found: list[ir.Stmt]) -> None:
        self.scopes[-1].bound.update(binding[0] for binding in bindings)
        found.append(ir.Import(tuple(bindings), self.site(node)))

    def with_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        items = []
        for item in node.items:
            site = self.site(item)
            manager, target = self.context(item)
            context = self.expr(manager)
            items.append((site, context, None if target is None else self.target(target)))
        body = self.suite(node.body)
        for site, context, bound in reversed(items):
            body = (ir.managed(context, bound, body, site),)
        found.extend(body)

    def try_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        body = self.suite(node.body)
        handlers = tuple(map(self.handler, node.handlers))
        orelse = self.suite(node.orelse)
        found.append(ir.Try(body, handlers, orelse, self.suite(node.finalbody), site))

    def handler(self, node: Any) -> ir.Handler:
        site = self.site(node)
        types = self.maybe(node.type)
        name = self.handler_name(node)
        if name:
            self.scopes[-1].bound.add(name)
        return ir.Handler(types, name, self.suite(node.body), site)

    def match_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        subject = f"$match{site}"
        found.append(ir.Assign((ir.Name(subject),), self.expr(node.subject), site))
        self.scopes[-1].bound.add(subject)
        arms = []
        for case in node.cases:
            case_site = self.site(case)
            test = self.pattern(case.pattern, ir.Name(subject))
            captured = []
            for name, whole in self.captures(case.pattern):
                value = ir.Name(subject) if whole else ir.Opaque(self.site(case))
                captured.append(ir.Assign((ir.Name(name),), value, case_site))
                self.scopes[-1].bound.add(name)
            if case.guard is not None:
                test = ir.BoolOp("and", (test, self.expr(case.guard)), case_site)
            arms.append((case_site, test, (*captured, *self.suite(case.body))))
        self.branch(arms, (), found)

    def pattern(self, node: Any, subject: ir.Expr) -> ir.Expr:
        """The test that a case makes; what is not a comparison is an unknown of its own."""
        grammar = self.grammar
        if isinstance(node, grammar.MatchValue):
            return ir.Compare(subject, ("==",), (self.expr(node.value),))
        if isinstance(node, grammar.MatchSingleton):
            return ir.Compare(subject, ("is",), (self.singleton(node),))
        if isinstance(node, grammar.MatchAs):
            return ir.Literal(True) if node.pattern is None else self.pattern(node.pattern, subject)
        if isinstance(node, grammar.MatchOr):
            tests = tuple(self.pattern(each, subject) for each in self.alternatives(node))
            return ir.BoolOp("or", tests, self.site(node))
        opaque = ir.Literal(f"pattern {self.count}")
        return ir.Call(
            ir.Name("$matches"), (ir.Argument(subject), ir.Argument(opaque)), self.site(node)
        )

    def function_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        name = self.identifier(node.name)
        self.scopes[-1].bound.add(name)
        written = self.decorators(node)
        decorators = tuple(self.expr(self.decorator(each)) for each in written)
        decorator_sites = tuple(map(self.site, written))
        params = self.params(node)
        owner = self.owners[-1] if self.owners else ""
        self.owners.append("")
        scope, body = self.scoped(node, params[0].name if owner and params else "")
        self.owners.pop()
        function = ir.Function(
            name,
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
        found.append(ir.Define(function, site))

    def scoped(self, node: Any, receiver: str = "") -> tuple[Scope, ir.Block]:
        """The body of a function or of a class, and what it binds."""
        scope = Scope(receiver)
        self.scopes.append(scope)
        body = self.suite(node.body)
        self.scopes.pop()
        return scope, body

    def params(self, node: Any) -> tuple[ir.Param, ...]:
        return tuple(
            ir.Param(
                name, self.maybe(default), self.maybe(annotation), star, keyword_only=keyword_only
            )
            for name, default, annotation, star, keyword_only in self.parameters(node)
        )

    def class_statement(self, node: Any, found: list[ir.Stmt]) -> None:
        site = self.site(node)
        name = self.identifier(node.name)
        self.scopes[-1].bound.add(name)
        bases = tuple(map(self.expr, self.bases(node)))
        self.owners.append(name)
        scope, body = self.scoped(node)
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
        decorators = [self.last_name(self.decorator(each)) for each in self.decorators(node)]
        if "__init__" not in methods and is_record(decorators, map(ir.last_name, bases)):
            methods["__init__"] = constructor(
                name,
                self.module,
                scope.fields,
                calls_back=has_after_init(methods),
                nested="" in self.owners,
                site=site,
            )
        cls = ir.Class(name, self.module, bases, methods, attributes, tuple(rest), site)
        found.append(ir.DefineClass(cls, site))

    def last_name(self, node: Any) -> str:
        """``dataclass`` of ``@dataclasses.dataclass(frozen=True)``."""
        if isinstance(node, self.grammar.Call):
            node = node.func
        if isinstance(node, self.grammar.Attribute):
            return self.identifier(node.attr)
        return ir.last_name(self.expr(node)) if isinstance(node, self.grammar.Name) else ""

    # ---- expressions

    def expr(self, node: Any) -> ir.Expr:
        lower_expression = self.expressions.get(type(node))
        if lower_expression is None or self.depth > MAX_DEPTH:
            return ir.Opaque(self.site(node))
        self.depth += 1
        result = lower_expression(self, node)
        self.depth -= 1
        return result

    def maybe(self, node: Any) -> ir.Expr | None:
        return None if node is None else self.expr(node)

    def target(self, node: Any) -> ir.Expr:
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

    def format(self, pieces: Iterable[Any]) -> ir.Expr:
        """What an f-string and the strings beside it consist of: texts and expressions."""
        parts: list[ir.Expr] = []
        texts: list[str] = []
        for piece in (*pieces, None):
            if isinstance(piece, str):
                texts.append(piece)
                continue
            text = "".join(texts)
            texts.clear()
            if text:
                parts.append(ir.Literal(text))
            if piece is not None:
                parts.append(self.expr(piece))
        return ir.Format(tuple(parts))

    def attribute(self, node: Any) -> ir.Expr:
        value = self.expr(node.value)
        return ir.Attribute(value, self.identifier(node.attr), self.site(node))

    def binary(self, node: Any) -> ir.Expr:
        return ir.Binary(self.operator(node), self.expr(node.left), self.expr(node.right))

    def conditional(self, node: Any) -> ir.Expr:
        test, body, orelse = self.expr(node.test), self.expr(node.body), self.expr(node.orelse)
        return ir.Conditional(test, body, orelse, self.site(node))

    def display(self, kind: str, elements: Iterable[Any]) -> ir.Expr:
        return ir.Display(kind, tuple(map(self.element, elements)))

    def element(self, node: Any) -> ir.Expr:
        starred = self.starred_value(node)
        if starred is not None:
            return ir.Starred(self.expr(starred))
        return self.expr(self.plain_value(node))

    def starred(self, node: Any) -> ir.Expr:
        return ir.Starred(self.expr(node.value))

    def slice(self, node: Any) -> ir.Expr:
        return ir.Slice(self.maybe(node.lower), self.maybe(node.upper), self.maybe(node.step))

    def called(self, func: ir.Expr, args: tuple[ir.Argument, ...], node: Any) -> ir.Call:
        """A call; ``super()`` as ``super(self)``, which is what it reads."""
        receiver = self.scopes[-1].receiver
        if receiver and not args and isinstance(func, ir.Name) and func.id == "super":
            args = (ir.Argument(ir.Name(receiver)),)
        return ir.Call(func, args, self.site(node))

    def lambda_expression(self, node: Any) -> ir.Expr:
        site = self.site(node)
        params = self.params(node)
        self.scopes.append(Scope())
        body = (ir.Return(self.expr(node.body), self.site(node)),)
        self.scopes.pop()
        names = frozenset(param.name for param in params)
        return ir.Lambda(ir.Function("<lambda>", self.module, params, body, (), site, locals=names))

    def comprehension(self, node: Any, kind: str) -> ir.Expr:
        clauses = []
        for target, iterable, tests in self.clauses(node):
            over = self.expr(iterable)
            clauses.append((self.expr(target), over, tuple(map(self.expr, tests))))
        if kind == "dict":
            element: ir.Expr = ir.Display("tuple", (self.expr(node.key), self.expr(node.value)))
        else:
            element = self.expr(node.elt)
        return ir.Comprehension(kind, element, tuple(clauses), self.site(node))

    def list_comprehension(self, node: Any) -> ir.Expr:
        return self.comprehension(node, "list")

    def set_comprehension(self, node: Any) -> ir.Expr:
        return self.comprehension(node, "set")

    def dict_comprehension(self, node: Any) -> ir.Expr:
        return self.comprehension(node, "dict")

    def generator(self, node: Any) -> ir.Expr:
        return self.comprehension(node, "generator")

    def given_out(self, value: Any, node: Any, *, delegated: bool) -> ir.Expr:
        """A ``yield``, or a ``yield from``."""
        self.scopes[-1].generator = True
        site = self.site(node)
        return ir.Yield(self.maybe(value), delegated, site)

    def walrus(self, node: Any) -> ir.Expr:
        target = self.target(node.target)
        name = target.id if isinstance(target, ir.Name) else "_"
        return ir.Walrus(name, self.expr(node.value))


def _exit_of(raised: ir.Expr | None, site: int) -> ir.Call | None:
    """``raise SystemExit(0)`` as the ``exit(0)`` that it is."""
    kind, args = (raised.func, raised.args) if isinstance(raised, ir.Call) else (raised, ())
    if not isinstance(kind, ir.Name) or kind.id != "SystemExit":
        return None
    return ir.Call(ir.Name("exit"), args, site)
