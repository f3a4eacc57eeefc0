"""The intermediate representation: a small, plain Python that is executed symbolically.

Nodes are made by :mod:`distlint.analyzer.ir.lower` and never changed. A ``site`` numbers the source
node a piece came from; :mod:`distlint.analyzer.ir.positions` turns it into rows and columns when a
finding needs them.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any


class Expr:
    """An expression."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Literal(Expr):
    value: Any


@dataclass(slots=True, eq=False)
class Name(Expr):
    id: str


@dataclass(slots=True, eq=False)
class Attribute(Expr):
    value: Expr
    attr: str
    site: int


@dataclass(slots=True, eq=False)
class Argument:
    """One argument of a call; ``star`` is ``""``, ``"*"`` or ``"**"``."""

    value: Expr
    keyword: str | None = None
    star: str = ""


@dataclass(slots=True, eq=False)
class Call(Expr):
    func: Expr
    args: tuple[Argument, ...]
    site: int


@dataclass(slots=True, eq=False)
class Binary(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(slots=True, eq=False)
class Compare(Expr):
    left: Expr
    ops: tuple[str, ...]
    rights: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class BoolOp(Expr):
    """``and`` / ``or``; each operand but the last decides whether the next one is evaluated."""

    op: str
    values: tuple[Expr, ...]
    site: int


@dataclass(slots=True, eq=False)
class Not(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Unary(Expr):
    op: str
    value: Expr


@dataclass(slots=True, eq=False)
class Conditional(Expr):
    test: Expr
    body: Expr
    orelse: Expr
    site: int


@dataclass(slots=True, eq=False)
class Display(Expr):
    """A list, tuple or set display."""

    kind: str
    items: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class DictDisplay(Expr):
    """A dict display; a key of None marks ``**value``."""

    keys: tuple[Expr | None, ...]
    values: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Subscript(Expr):
    value: Expr
    index: Expr


@dataclass(slots=True, eq=False)
class Slice(Expr):
    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(slots=True, eq=False)
class Starred(Expr):
    value: Expr


@dataclass(slots=True, eq=False)
class Lambda(Expr):
    function: Function


@dataclass(slots=True, eq=False)
class Comprehension(Expr):
    """A comprehension or generator expression; a dict's element is its (key, value) display."""

    kind: str
    element: Expr
    clauses: tuple[tuple[Expr, Expr, tuple[Expr, ...]], ...]
    site: int


@dataclass(slots=True, eq=False)
class Yield(Expr):
    value: Expr | None
    delegated: bool
    site: int


@dataclass(slots=True, eq=False)
class Walrus(Expr):
    target: str
    value: Expr


@dataclass(slots=True, eq=False)
class Format(Expr):
    """An f-string or a concatenation of strings."""

    parts: tuple[Expr, ...]


@dataclass(slots=True, eq=False)
class Opaque(Expr):
    """Something that is not modelled, such as an expression nested too deeply: unknown, uniform."""

    site: int


class Stmt:
    """A statement; what it mentions, and what it is made of, stays once it was asked for."""

    __slots__ = ("_mentioned", "_nodes")
    site: int
    _mentioned: frozenset[str]
    _nodes: tuple[Any, ...]


Block = tuple[Stmt, ...]


@dataclass(slots=True, eq=False)
class Assign(Stmt):
    targets: tuple[Expr, ...]
    value: Expr
    site: int


@dataclass(slots=True, eq=False)
class AugAssign(Stmt):
    target: Expr
    op: str
    value: Expr
    site: int


@dataclass(slots=True, eq=False)
class Evaluate(Stmt):
    value: Expr
    site: int


@dataclass(slots=True, eq=False)
class If(Stmt):
    test: Expr
    body: Block
    orelse: Block
    site: int


@dataclass(slots=True, eq=False)
class For(Stmt):
    target: Expr
    iterable: Expr
    body: Block
    orelse: Block
    site: int


@dataclass(slots=True, eq=False)
class While(Stmt):
    test: Expr
    body: Block
    orelse: Block
    site: int


@dataclass(slots=True, eq=False)
class Return(Stmt):
    value: Expr | None
    site: int


@dataclass(slots=True, eq=False)
class Break(Stmt):
    site: int


@dataclass(slots=True, eq=False)
class Continue(Stmt):
    site: int


@dataclass(slots=True, eq=False)
class Raise(Stmt):
    value: Expr | None
    site: int

    @property
    def raised(self) -> str:
        """The name of the class, or of what holds the exception; "" where it is raised again."""
        value = self.value.func if isinstance(self.value, Call) else self.value
        return last_name(value) if value is not None else ""


@dataclass(slots=True, eq=False)
class Assert(Stmt):
    test: Expr
    site: int

    @property
    def raised(self) -> str:
        return "AssertionError"


_EXPECT_FAILURE = frozenset({"raises", "assertRaises", "assertRaisesRegex"})

FOR_ALL = frozenset(
    {
        "KeyboardInterrupt",
        "ImportError",
        "ModuleNotFoundError",
        "StopIteration",
        "StopAsyncIteration",
        "Empty",
        "AttributeError",
        "NotImplementedError",
        "GeneratorExit",
        "SystemExit",
        "NameError",
        "KeyError",
        "PackageNotFoundError",
        "TypeError",
    }
)
"""Exceptions that come from the program or the installation, so on all ranks or on none."""


_OUT_OF_MEMORY = ("OutOfMemoryError", "MemoryError")

_BUILTIN_ERRORS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


@dataclass(slots=True, eq=False)
class Handler:
    """An except clause; ``types`` is None for a bare ``except:``."""

    types: Expr | None
    name: str | None
    body: Block
    site: int

    @property
    def is_for_all(self) -> bool:
        """Does it catch only what is raised on all ranks or on none?"""
        names = self.names
        return bool(names) and all(n in FOR_ALL or n.endswith("NotFoundError") for n in names)

    @property
    def is_for_memory(self) -> bool:
        """Is it there for a process that runs out of memory, by a class or by the message?"""
        if any(name.endswith(_OUT_OF_MEMORY) for name in self.names):
            return True
        return any(
            isinstance(node, Literal)
            and isinstance(node.value, str)
            and "out of memory" in node.value.lower()
            for statement in self.body
            if isinstance(statement, If)
            for node in nodes_of(statement)
        )

    @property
    def names(self) -> list[str]:
        """The classes that it names."""
        if self.types is None:
            return []
        items = self.types.items if isinstance(self.types, Display) else (self.types,)
        return [last_name(item) for item in items]

    def catches(self, raised: str) -> bool:
        """May it take what the program raises itself? ``raised`` is the class, if that is known."""
        if self.types is None or raised in self.names:
            return True
        kind = _BUILTIN_ERRORS.get(raised)
        if kind is None:
            return not self.is_for_all
        known = [_BUILTIN_ERRORS.get(name) for name in self.names]
        if any(each is not None and issubclass(kind, each) for each in known):
            return True
        # a class of the project cannot be above a builtin one; a variable may hold any
        return any(
            each is None and not name[:1].isupper()
            for name, each in zip(self.names, known, strict=True)
        )

    @property
    def swallows(self) -> bool:
        """May a rank that has failed alone go on after it?"""
        raises = bool(self.body) and isinstance(self.body[-1], Raise)
        return not self.is_for_all and not (raises and len(self.body) == 1)


@dataclass(slots=True, eq=False)
class Try(Stmt):
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block
    site: int


@dataclass(slots=True, eq=False)
class With(Stmt):
    context: Expr
    target: Expr | None
    body: Block
    site: int


@dataclass(slots=True, eq=False)
class Define(Stmt):
    function: Function
    site: int


@dataclass(slots=True, eq=False)
class DefineClass(Stmt):
    cls: Class
    site: int


@dataclass(slots=True, eq=False)
class Import(Stmt):
    """Bindings: (local name, dotted module, attribute or None for the module itself)."""

    bindings: tuple[tuple[str, str, str | None], ...]
    site: int


@dataclass(slots=True, eq=False)
class Delete(Stmt):
    targets: tuple[Expr, ...]
    site: int


@dataclass(slots=True, eq=False)
class Param:
    """A parameter; ``star`` is ``""``, ``"*"`` or ``"**"``."""

    name: str
    default: Expr | None = None
    annotation: Expr | None = None
    star: str = ""
    keyword_only: bool = False


@dataclass(slots=True, eq=False)
class Function:
    """A function, method or lambda."""

    name: str
    module: str
    params: tuple[Param, ...]
    body: Block
    decorators: tuple[Expr, ...]
    site: int
    outer: frozenset[str] = frozenset()
    """Names declared global or nonlocal."""
    generator: bool = False
    owner: str = ""
    """Name of the class it is a method of."""
    nested: bool = False
    """Is it defined inside another function?"""
    locals: frozenset[str] = frozenset()
    decorator_sites: tuple[int, ...] = ()
    _tokens: frozenset[str] | None = field(default=None, repr=False)
    _captured: frozenset[str] | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def tokens(self) -> frozenset[str]:
        """Every identifier and short string that the function mentions."""
        if self._tokens is None:
            found: set[str] = set()
            for param in self.params:
                if param.default is not None:
                    found.update(tokens_of(param.default))
            for decorator in self.decorators:
                found.update(tokens_of(decorator))
            found.update(block_tokens(self.body))
            self._tokens = frozenset(found)
        return self._tokens

    @property
    def captured(self) -> frozenset[str]:
        """What functions, lambdas and classes in it name: it may be variables of the function."""
        if self._captured is None:
            self._captured = names_nested(self.body)
        return self._captured


@dataclass(slots=True, eq=False)
class Class:
    """A class statement."""

    name: str
    module: str
    bases: tuple[Expr, ...]
    methods: dict[str, Function]
    attributes: dict[str, Expr]
    body: Block
    site: int


_PLAIN = frozenset({str, int, float, complex, bool, bytes, type(None), type(...), frozenset})
_PLAIN_FIELDS = frozenset(
    {"str", "str | None", "int", "bool", "frozenset[str]", "tuple[str, ...]", "tuple[int, ...]"}
)
_NODE_FIELDS = frozenset({"Expr", "Function", "Class"})
_BLOCK_FIELDS = frozenset(
    f"tuple[{each}, ...]" for each in ("Expr", "Argument", "Handler", "Param")
) | {"Block"}

Reader = Callable[[Any], Sequence[Any]]
_READERS: dict[type, Reader] = {}


def children(node: Any) -> Sequence[Any]:
    """The IR nodes directly below a node, in the order of evaluation where it matters."""
    kind = type(node)
    reader = _READERS.get(kind)
    if reader is None:
        reader = _READERS[kind] = _reader(kind)
    return reader(node)


def _reader(kind: type) -> Reader:
    """What reads the children of nodes of a kind: nothing takes more calls in a run."""
    types = {
        name: each.type
        for name, each in kind.__dataclass_fields__.items()  # type: ignore[attr-defined]
        if not name.startswith("_") and each.type not in _PLAIN_FIELDS
    }
    if not types or kind is Literal:
        return lambda node: ()
    names = tuple(types)
    if all(each in _NODE_FIELDS for each in types.values()):
        read = attrgetter(*names)
        return read if len(names) > 1 else lambda node: (read(node),)
    if len(names) == 1 and types[names[0]] in _BLOCK_FIELDS:
        return attrgetter(*names)
    if all(each in _NODE_FIELDS | _BLOCK_FIELDS for each in types.values()):
        return partial(
            _read_known, tuple((name, each in _NODE_FIELDS) for name, each in types.items())
        )
    return partial(_read_any, names)


def _read_known(fields: tuple[tuple[str, bool], ...], node: Any) -> list[Any]:
    found: list[Any] = []
    for name, is_node in fields:
        if is_node:
            found.append(getattr(node, name))
        else:
            found += getattr(node, name)
    return found


def _read_any(names: tuple[str, ...], node: Any) -> list[Any]:
    found: list[Any] = []
    for name in names:
        value = getattr(node, name)
        kind = type(value)
        if kind is tuple:
            if value:
                _add_nodes(value, found)
        elif kind is dict:
            found.extend(value.values())
        elif kind not in _PLAIN:
            found.append(value)
    return found


def _add_nodes(values: tuple[Any, ...], found: list[Any]) -> None:
    for value in values:
        kind = type(value)
        if kind is tuple:
            _add_nodes(value, found)
        elif kind not in _PLAIN:
            found.append(value)


TRY = "$try"
"""Token of code with an except clause after which a rank may go on that has failed alone."""

RAISE = "$raise"
"""Token of code that raises an exception of its own."""


def nodes_of(statement: Stmt) -> tuple[Any, ...]:
    """All that a statement itself evaluates and binds is made of: not its blocks, nor functions."""
    known: tuple[Any, ...] | None = getattr(statement, "_nodes", None)
    if known is None:
        found: list[Any] = []
        if not isinstance(statement, (Define, DefineClass)):
            for root in children(statement):
                if isinstance(root, Expr):
                    stack = [root]
                    while stack:
                        item = stack.pop()
                        found.append(item)
                        stack.extend(children(item))
        known = statement._nodes = tuple(found)
    return known


def tokens_of(node: Any) -> frozenset[str]:
    """Identifiers and short strings mentioned in a node (and in the functions nested in it)."""
    is_statement = isinstance(node, Stmt)
    known: frozenset[str] | None = getattr(node, "_mentioned", None) if is_statement else None
    if known is not None:
        return known
    found: set[str] = set()
    stack = [node]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is Name:
            found.add(item.id)
        elif kind is Attribute:
            found.add(item.attr)
            stack.append(item.value)
        elif kind is Literal:
            if type(item.value) is str and len(item.value) < 40:
                found.add(item.value)
        else:
            if kind is Argument and item.keyword:
                found.add(item.keyword)
            elif kind is Try and any(handler.swallows for handler in item.handlers):
                found.add(TRY)
            elif kind is Raise:
                found.add(RAISE)
            stack.extend(children(item))
    result = frozenset(found)
    if is_statement:
        node._mentioned = result
    return result


def statements_of(block: Block) -> Iterator[Stmt]:
    """The statements of a block and of the blocks in it, without those of classes in it."""
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, Stmt):
            yield node
        if isinstance(node, (Stmt, Handler)) and not isinstance(node, DefineClass):
            stack.extend(children(node))


def block_tokens(block: Block) -> frozenset[str]:
    """Tokens of all statements of a block."""
    if not block:
        return frozenset()
    return frozenset().union(*(tokens_of(stmt) for stmt in block))


def last_name(node: Any) -> str:
    """``step`` of ``self.optimizer.step``: the name of a variable, or of the last attribute."""
    if isinstance(node, Attribute):
        return node.attr
    return node.id if isinstance(node, Name) else ""


def path_of(node: Expr | None) -> tuple[str, ...] | None:
    """``("self", "model")`` of ``self.model``: an access path, if an expression is one."""
    attributes: list[str] = []
    while isinstance(node, Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, Name) else None


def names_in(node: Any) -> frozenset[str]:
    """The variables that a node names; of functions in it, those that are not their own."""
    found: set[str] = set()
    stack = list(children(node)) if type(node) is Function else [node]
    while stack:
        item = stack.pop()
        if type(item) is Name:
            found.add(item.id)
        elif type(item) is Function:
            found |= names_in(item)
        else:
            stack.extend(children(item))
    if type(node) is Function:
        found -= node.locals
        found.difference_update(param.name for param in node.params)
    return frozenset(found)


def names_nested(block: Block) -> frozenset[str]:
    """What functions, lambdas and classes in a block name."""
    found: set[str] = set()
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, (Define, DefineClass, Lambda)):
            found |= names_in(node)
        else:
            stack.extend(children(node))
    return frozenset(found)


def names_bound(target: Any) -> frozenset[str]:
    """The variables that an assignment to a target gives another value."""
    if isinstance(target, Name):
        return frozenset({target.id})
    if isinstance(target, Starred):
        return names_bound(target.value)
    if isinstance(target, Display):
        return frozenset().union(*map(names_bound, target.items))
    return frozenset()


def bound_by(node: Any) -> frozenset[str]:
    """The variables that a statement or an expression itself gives another value."""
    if isinstance(node, Assign):
        return frozenset().union(*map(names_bound, node.targets))
    if isinstance(node, (AugAssign, For, With)):
        return names_bound(node.target)
    return frozenset({node.target}) if isinstance(node, Walrus) else frozenset()


def is_to_fail(statement: With | Try) -> bool:
    """Is a block there to raise: ``with pytest.raises(...)``, or a try that ends in a failure?"""
    if isinstance(statement, With):
        context = statement.context
        return isinstance(context, Call) and last_name(context.func) in _EXPECT_FAILURE
    last = statement.body[-1] if statement.body else None
    if isinstance(last, Evaluate) and isinstance(last.value, Call):
        return last_name(last.value.func) == "fail"
    if isinstance(last, Raise):
        return last.raised == "AssertionError"
    return _never_holds(last)


def is_left(block: Block) -> bool:
    """Does a block end in a jump out of what it stands in, or in the end of the program?"""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, Evaluate) and isinstance(last.value, Call):
        return last_name(last.value.func) in ("exit", "_exit")
    return _never_holds(last) or isinstance(last, (Return, Raise, Continue, Break))


def _never_holds(statement: Stmt | None) -> bool:
    """``assert False``."""
    return (
        isinstance(statement, Assert)
        and isinstance(statement.test, Literal)
        and not statement.test.value
    )
