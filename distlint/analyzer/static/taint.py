"""What leaves a function that depends on the rank: its value, or what it does to things outside.

A function that does not communicate and keeps what is this rank's own to itself (a timer that is
printed, a message of rank 0) need not be run. Names are followed in the order of the statements,
and whatever happens under a condition of this rank's own counts as such.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported
from distlint.analyzer.static.call_names import EFFECTS, MUTATORS
from distlint.analyzer.static.slicing import written
from distlint.analyzer.static.training_mode import MODE, sets_mode

if TYPE_CHECKING:
    from distlint.analyzer.static.effects import Effects

ANYTHING = "*"


@dataclass(slots=True)
class Flows:
    """What is known about the functions and the global variables of one module."""

    of_functions: dict[tuple[ir.Function, frozenset[str]], _Flow] = field(default_factory=dict)
    of_globals: dict[str, bool] = field(default_factory=dict)


class TaintAnalysis:
    """Answers for the functions of a project, under one catalogue.

    ``steady``: of what is a rank's own, random numbers and failures do not count.
    """

    def __init__(self, effects: Effects, *, steady: bool = False) -> None:
        self.effects = effects
        self.steady = steady
        self.graph = effects.graph

    def flows(self, key: str) -> Flows:
        """What is known about a module."""
        facts = self.effects.facts(key)
        return facts.steady_flows if self.steady else facts.flows

    def leaks(self, function: ir.Function, given: frozenset[str] = frozenset()) -> bool:
        """Does something that depends on the rank leave the function?

        ``given`` are the parameters that hold such a thing.
        """
        flow = self.flow(function, given)
        return flow.returns or flow.escapes or flow.keeps

    def flow(self, function: ir.Function, given: frozenset[str] = frozenset()) -> _Flow:
        """What is found out about a function; nothing yet where it calls itself."""
        flows = self.flows(function.module).of_functions
        found = flows.get((function, given))
        if found is None:
            found = flows[function, given] = _Flow(self, function, given)
            found.follow()
        return found

    def called(self, module: str, name: str) -> list[ir.Function]:
        return self.graph.callable_from(module).get(name, [])

    def sources(self, function: ir.Function) -> Iterator[str]:
        """The names in a function that stand for something of this rank's own."""
        references = self.graph.mentioned_by(function).all
        yield from self.named(function.module, function.tokens, references)
        module = self.effects.project.by_key(function.module)
        others = self.graph.imports.imported(module) if module is not None else ()
        yield from self.effects.kept_ranks(function)
        for name in function.tokens - function.locals:
            if self.is_own(function.module, name) or any(
                name in other.definitions and self.is_own(other.key, name) for other in others
            ):
                yield name

    def named(
        self, key: str, tokens: frozenset[str], references: frozenset[str] | None = None
    ) -> Iterator[str]:
        """Those of the names in a module that stand for something of this rank's own."""
        return self.effects.sources(key, tokens, references, steady=self.steady)

    def is_own(self, key: str, name: str) -> bool:
        """Does a global variable of a module depend on the rank?"""
        globals_ = self.flows(key).of_globals
        known = globals_.get(name)
        if known is None:
            globals_[name] = False  # where it is made of itself
            module = self.effects.project.by_key(key)
            definitions = module.definitions.get(name, ()) if module is not None else ()
            known = any(self._is_made_of_own(key, found.node) for found in definitions)
            globals_[name] = known
        return known

    def _is_made_of_own(self, key: str, node: object) -> bool:
        if isinstance(node, Imported):
            module = self.effects.project.by_key(key)
            origins = self.graph.imports.resolve(module, node) if module is not None else ()
            return node.attr is not None and any(
                self.is_own(origin.key, node.attr) for origin in origins if origin.key != key
            )
        if not isinstance(node, ir.Expr):
            return False
        tokens = ir.tokens_of(node)
        return (
            any(True for _ in self.named(key, tokens))
            or any(self.flow(found).returns for found in self.graph.callees(key, tokens))
            or any(self.is_own(key, token) for token in tokens)
        )


class _Flow:
    """The names of one function that hold something of this rank's own."""

    def __init__(
        self, analysis: TaintAnalysis, function: ir.Function, given: frozenset[str]
    ) -> None:
        self.analysis = analysis
        self.function = function
        self.own = function.locals - {param.name for param in function.params}
        self.returns = False
        self.escapes = False
        self.keeps = False
        """Does a constructor put something of this rank's own into its object alone?"""
        self.new = function.params[0].name if _makes_object(function) else None
        self.sources = given.union(analysis.sources(function))
        self.tainted = set(self.sources)
        """What holds something of this rank's own where the following has come to."""
        self._ever = set(self.sources)
        self._during: set[str] | None = None
        """What has done so since the try around it began, from where a handler may take over."""
        self._carried: dict[Any, set[str]] = {}
        """The same at the turns of a loop and where it is left."""
        self._jumped: set[Any] = set()
        """Blocks that one rank may leave earlier than another: loops, or the function."""

    def follow(self) -> None:
        """Go over the statements until nothing new is found."""
        before = None
        while before != (after := self._found()):
            before = after
            if self.escapes:
                return
            self.tainted = set(self.sources)
            self.block(self.function.body, self.function in self._jumped, self.function)

    def _found(self) -> tuple[int, ...]:
        carried = sum(map(len, self._carried.values()))
        return len(self._ever), carried, len(self._jumped), self.returns, self.keeps

    def block(self, block: ir.Block, own: bool, loop: Any) -> None:
        """Follow statements; ``own`` if it is up to this rank alone whether they are run."""
        for statement in block:
            self.statement(statement, own or loop in self._jumped, loop)

    def statement(self, node: ir.Stmt, own: bool, loop: Any) -> None:
        if isinstance(node, ir.If):
            own = self.evaluate(node.test, own) or own
            before = set(self.tainted)
            self.block(node.body, own, loop)
            after, self.tainted = self.tainted, before
            self.block(node.orelse, own, loop)
            self.tainted |= after
        elif isinstance(node, (ir.While, ir.For)):
            self.loop(node, own, loop)
        elif isinstance(node, ir.With):
            depends = self.evaluate(node.context, own)
            if node.target is not None:
                self.assign(node.target, depends or own)
            self.block(node.body, own, loop)
        elif isinstance(node, ir.Try):
            self.attempt(node, own, loop)
        elif isinstance(node, ir.Assign):
            depends = self.evaluate(node.value, own) or own
            for target in node.targets:
                self.assign(target, depends)
        elif isinstance(node, ir.AugAssign):
            if self.evaluate(node.value, own) or own:
                self.assign(node.target, True)
        elif isinstance(node, ir.Evaluate):
            self.evaluate(node.value, own)
        elif isinstance(node, ir.Return):
            if node.value is not None:
                self.returns |= self.evaluate(node.value, own) or own
            if own:
                self._jumped.add(self.function)
        elif isinstance(node, (ir.Break, ir.Continue)):
            self._carried.setdefault(loop, set()).update(self.tainted)
            if own:
                self._jumped.add(loop)
        elif isinstance(node, ir.Raise):
            self.escapes |= own
        elif isinstance(node, ir.Assert):
            self.escapes |= (self.evaluate(node.test, own) or own) and not self.analysis.steady
        elif isinstance(node, (ir.Define, ir.DefineClass)):
            name = node.function.name if isinstance(node, ir.Define) else node.cls.name
            if own or not ir.tokens_of(node).isdisjoint(self._ever):
                self.taint({name})

    def loop(self, node: ir.While | ir.For, own: bool, outer: Any) -> None:
        """A loop: what a turn leaves is there at the next one, and after the loop."""
        carried = self._carried.setdefault(node, set())
        carried |= self.tainted
        self.tainted |= carried
        if isinstance(node, ir.While):
            own = self.evaluate(node.test, own) or own
        else:
            own = self.evaluate(node.iterable, own) or own
            self.assign(node.target, own or node in self._jumped or self.is_batch(node))
        self.block(node.body, own, node)
        carried |= self.tainted
        self.tainted |= carried
        self.block(node.orelse, own, outer)

    def is_batch(self, node: ir.For | ir.Call) -> bool:
        """Does a loop, or a call of ``next``, take batches of this rank's own?"""
        module = self.analysis.effects.project.by_key(self.function.module)
        body = self.function.body
        return module is not None and node in self.analysis.graph.over_batches(module, body)

    def attempt(self, node: ir.Try, own: bool, loop: Any) -> None:
        """A try: a handler takes over from anywhere in the body."""
        outer, self._during = self._during, set(self.tainted)
        fails = not self.analysis.steady
        may_stop = own or (fails and any(handler.swallows for handler in node.handlers))
        self.block(node.body, may_stop, loop)
        self.block(node.orelse, may_stop, loop)
        after = self.tainted
        for handler in node.handlers:
            self.tainted = set(self._during)
            self.block(handler.body, own or (fails and handler.swallows), loop)
            after |= self.tainted
        self.tainted = after | self._during if node.final else after
        if outer is not None:
            outer |= self._during
        self._during = outer
        self.block(node.final, own, loop)

    def taint(self, names: Iterable[str]) -> None:
        """These hold something of this rank's own from here on."""
        self.tainted.update(names)
        self._ever.update(names)
        if self._during is not None:
            self._during.update(names)

    def assign(self, target: ir.Expr, depends: bool) -> None:
        """A target gets a value; does that depend on the rank?"""
        if isinstance(target, ir.Display):
            for item in target.items:
                self.assign(item, depends)
        elif isinstance(target, (ir.Name, ir.Starred)):
            names = written(target)
            if depends:
                self.taint(names)
            else:
                self.tainted -= names - self.sources
        elif depends:
            self.change(target)

    def change(self, thing: ir.Expr) -> None:
        """Something of this rank's own is put into a thing."""
        if _is_attribute_of(thing, self.new):
            self.keeps = True
        elif not _is_variable(thing, self.own):
            self.escapes = True
        while isinstance(thing, (ir.Attribute, ir.Subscript)):
            thing = thing.value
        self.taint(written(thing))

    def evaluate(self, node: ir.Expr, own: bool) -> bool:
        """Does the value of an expression depend on the rank? Notes what it does on the way."""
        depends = not ir.tokens_of(node).isdisjoint(self.tainted)
        stack: list[Any] = [node]
        while stack:
            item = stack.pop()
            kind = type(item)
            if kind is ir.Call:
                depends = self.call(item, own, depends) or depends or self.is_batch(item)
            elif kind is ir.Yield:
                self.returns |= own or depends
            elif kind is ir.Walrus and (own or depends):
                self.taint({item.target})
            if kind is ir.Lambda:  # run later
                depends = depends or not ir.tokens_of(item).isdisjoint(self._ever)
            else:
                stack.extend(ir.children(item))
        return depends

    def hand_over(self, node: ir.Call, function: ir.Function) -> None:
        """A function is given something of this rank's own: what does it do with it?"""
        graph = self.analysis.graph
        if not graph.changes(function):
            return
        if function.nested and not self.tainted.isdisjoint(function.tokens):
            self.escapes = True  # it may have been handed over by a variable of this function
            return
        given = _params_given(node, function, self.tainted)
        flow = self.analysis.flow(function, given)
        self.escapes |= flow.escapes
        if self.new is not None and function.name == "__init__":
            self.keeps |= flow.keeps  # that of a base class

    def call(self, node: ir.Call, own: bool, depends: bool) -> bool:
        """Does a call return something of this rank's own, whatever it is given?"""
        name = ir.last_name(node.func)
        functions = self.analysis.called(self.function.module, name)
        returns = False
        for function in functions:
            flow = self.analysis.flow(function)
            self.escapes |= flow.escapes
            returns |= flow.returns
        if not (own or depends):
            return returns
        if name in EFFECTS or (own and any(map(self.analysis.graph.changes, functions))):
            self.escapes = True
            return returns
        for function in functions:
            self.hand_over(node, function)
        if isinstance(node.func, ir.Attribute):
            if _is_mutator(name):
                self.change(node.func.value)
        elif not functions and name in self.function.locals:
            self.escapes = True  # a function that was given, which may do anything
        return returns


def _params_given(node: ir.Call, function: ir.Function, tainted: set[str]) -> frozenset[str]:
    """The parameters of a function that a call gives one of some names, at least.

    A method may be called on an object or on its class: an argument is one parameter or the next.
    """
    places = [param.name for param in function.params if not (param.keyword_only or param.star)]
    width = 2 if function.owner else 1
    found: set[str] = set()
    if function.owner and not ir.tokens_of(node.func).isdisjoint(tainted):
        found.update(places[:1])
    is_certain = True
    for position, argument in enumerate(node.args):
        is_certain = is_certain and not argument.star
        if ir.tokens_of(argument.value).isdisjoint(tainted):
            continue
        if argument.keyword is not None:
            found.add(argument.keyword)
        elif is_certain:
            found.update(places[position : position + width])
        else:
            found.update(param.name for param in function.params)
    return frozenset(found)


def _makes_object(function: ir.Function) -> bool:
    return function.name == "__init__" and bool(function.params)


def changed_by(function: ir.Function, *, but_for_new: bool = False) -> frozenset[str]:
    """What a function changes besides its own variables: names of attributes and variables.

    ``ANYTHING`` where that cannot be told. ``but_for_new`` leaves out the attributes that a
    constructor gives its object.
    """
    new = function.params[0].name if but_for_new and function.params else None
    found: set[str] = set()
    if not function.tokens.isdisjoint(EFFECTS):
        found.add(ANYTHING)
    stack: list[Any] = list(function.body)
    while stack:
        node = stack.pop()
        stack.extend(ir.children(node))
        if isinstance(node, ir.Assign):
            for target in node.targets:
                if not _is_attribute_of(target, new):
                    found |= _changed_in(target, function)
        elif isinstance(node, ir.AugAssign):
            found |= _changed_in(node.target, function)
        elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            if sets_mode(node):
                found.add(MODE)
            elif _is_mutator(node.func.attr):
                found |= _changed_in(ir.Subscript(node.func.value, node.func), function)
        elif isinstance(node, ir.Yield):
            found.add(ANYTHING)
    return frozenset(found)


def _is_attribute_of(target: ir.Expr, name: str | None) -> bool:
    """Is it ``name.attribute``?"""
    return (
        isinstance(target, ir.Attribute)
        and isinstance(target.value, ir.Name)
        and target.value.id == name
    )


def _changed_in(target: ir.Expr, function: ir.Function) -> frozenset[str]:
    """What an assignment to a target changes outside of the function, by its name."""
    if isinstance(target, ir.Display):
        return frozenset().union(*(_changed_in(item, function) for item in target.items))
    if isinstance(target, ir.Starred):
        return _changed_in(target.value, function)
    params = {param.name for param in function.params}
    if isinstance(target, ir.Name):
        return frozenset({target.id}) & function.outer
    if _is_variable(target, function.locals - params):
        return frozenset()
    while isinstance(target, ir.Subscript):
        target = target.value
    name = ir.last_name(target)
    is_given = isinstance(target, ir.Name) and name in params  # called otherwise elsewhere
    return frozenset({ANYTHING if is_given or not name else name})


def _is_mutator(name: str) -> bool:
    return name in MUTATORS or (name.endswith("_") and not name.startswith("_"))


def _is_variable(thing: ir.Expr, own: frozenset[str]) -> bool:
    """Is it a variable of the function, or a part of what such a variable holds?"""
    while isinstance(thing, (ir.Attribute, ir.Subscript)):
        thing = thing.value
    return isinstance(thing, ir.Name) and thing.id in own
