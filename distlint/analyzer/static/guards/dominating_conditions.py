"""Whether a condition keeps ranks from a statement: around it, before it, or in it."""

from __future__ import annotations

from collections.abc import Iterator

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.guards.deciding import choices_of
from distlint.analyzer.static.guards.modes import is_for_one_process, is_refused
from distlint.analyzer.static.guards.rank_flags import RankFlags
from distlint.analyzer.static.guards.rank_tests import (
    DEED,
    WAITS,
    asks_rank,
    asserts_rank,
    has_gpu,
    may_name_rank,
    rank_words,
)
from distlint.analyzer.static.names import (
    Around,
    Scope,
    expressions_in,
    expressions_of,
    placed,
)
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of


class DominatingConditions:
    """The conditions on which the statements of one module are executed.

    Tests around a statement and its function, early exits before it, decorators and contexts.
    """

    def __init__(self, module: Module, flags: RankFlags) -> None:
        self._module = module
        self._flags = flags
        self._exits: dict[tuple[int, int], int] = {}

    def may_be_some_ranks(
        self, point: Point, besides: ir.Stmt | None = None, call: ir.Call | None = None
    ) -> bool:
        """May a test, an early return, a decorator or a context keep ranks from a statement?

        Or from a call in it, which may also be told which ranks write. The test of the statement
        ``besides`` does not count.
        """
        around = tuple(here for here in point.around if not besides or here.owner is not besides)
        if self.guard(point.scope, around):
            return True
        statement = point.statement
        if call is None:
            return any(_names_rank(each) for each in expressions_of(statement))
        return self.chooses(CallSite(call, point)) or any(map(_names_rank, call.args))

    def chooses(self, site: CallSite) -> bool:
        """Does the statement of a call choose among ranks, whatever the call is given?

        ``rank == 0 and save()``, ``save() if is_main() else None``, ``save_on_main()``. Or is it
        the one for a run of one process?
        """
        if is_for_one_process(site):
            return True
        if any(map(self._says_rank, _runs(site.point.statement, site.call))):
            return True
        choices = choices_of(site.point.statement, site.call)
        if _names_rank(site.call.func) and not self._is_ranking(site.call.func):
            return True
        return any(map(_names_rank, choices))

    def _is_ranking(self, func: ir.Expr) -> bool:
        """Is it a function of the file that ranks things, as it says nothing of a process's rank?

        ``self.rank_by_confidence(model)``.
        """
        name = ir.last_name(func)
        if not name.startswith("rank_") or may_name_rank(ir.tokens_of(func) - {name}):
            return False
        called = [each for each in self._module.functions if each.name == name]
        return bool(called) and not any(
            rank_words(each.tokens - {name}) or any(map(self._says_rank, each.decorators))
            for each in called
        )

    def guard(self, scope: Scope, around: tuple[Around, ...]) -> bool:
        """May they keep ranks from what stands there, whatever it does itself?"""
        function = scope.function
        if function is not None and any(
            self._says_rank(decorator) for decorator in function.decorators
        ):
            return True
        if is_refused(around):
            return True
        for here in around:
            if self._owner_guards(here, scope):
                return True
            if self._first_exit(here.block, scope) < here.index:
                return True
        if function is not None and function.nested and scope.outer is not None:
            return self._nested_guarded(function, scope.outer)
        return False

    def _first_exit(self, block: ir.Block, scope: Scope) -> int:
        """The first statement of a block that sends some ranks away; its length if none does."""
        key = (id(block), id(scope))
        if key not in self._exits:
            exits = (i for i, each in enumerate(block) if self._leaves(each, scope))
            self._exits[key] = next(exits, len(block))
        return self._exits[key]

    def _nested_guarded(self, function: ir.Function, outer: Scope) -> bool:
        for statement, around in placed(outer.body):
            if isinstance(statement, ir.Define) and statement.function is function:
                return self.guard(outer, around)
        return False

    def _owner_guards(self, here: Around, scope: Scope) -> bool:
        owner = here.owner
        if isinstance(owner, ir.If) and has_gpu(owner, here.block):
            return False  # each rank has one
        if isinstance(owner, (ir.If, ir.While)):
            return self._flags.may_differ(owner.test, scope)
        if isinstance(owner, ir.With):
            return self._says_rank(owner.context)
        if isinstance(owner, ir.For):
            return may_name_rank(ir.tokens_of(owner.iterable))
        return False

    def _leaves(self, statement: ir.Stmt, scope: Scope) -> bool:
        """Is it a test that sends some ranks away?"""
        if isinstance(statement, ir.Assert):
            return self._flags.may_differ(statement.test, scope)
        if not isinstance(statement, ir.If):
            return False
        if asks_rank(statement.test) and not WAITS.isdisjoint(ir.tokens_of(statement)):
            return True  # the others wait there until the first one has been here
        if not (ir.is_left(statement.body) or ir.is_left(statement.orelse)):
            return self._leaves_inside(statement, scope)
        return self._flags.may_differ(statement.test, scope) or asserts_rank(statement.body)

    def _leaves_inside(self, statement: ir.If, scope: Scope) -> bool:
        """Does each arm send some ranks away, or the one for a run of many processes?"""
        arms = [
            any(isinstance(each, ir.If) and self._leaves(each, scope) for each in block)
            for block in (statement.body, statement.orelse)
        ]
        return all(arms) or (any(arms) and self._flags.may_differ(statement.test, scope))

    def _says_rank(self, node: ir.Expr) -> bool:
        """Does a decorator or a context manager choose among ranks, by its name or its body?"""
        if may_name_rank(ir.tokens_of(node)):
            return True
        callee = node.func if isinstance(node, ir.Call) else node
        if any(
            may_name_rank(function.tokens)
            for function in self._module.functions
            if function.name == ir.last_name(callee)
        ):
            return True
        name, *members = path_of(callee) or ("",)
        there = self._module.lead_to(name, *members)
        return there is not None and may_name_rank(_tokens_of(there[1]))


def _tokens_of(node: object) -> frozenset[str]:
    """The words of a function, of the methods of a class, or of what makes an object."""
    if isinstance(node, ir.Function):
        return node.tokens
    if isinstance(node, ir.Class):
        return frozenset[str]().union(*(each.tokens for each in node.methods.values()))
    return ir.tokens_of(node) if isinstance(node, ir.Expr) else frozenset()


def _runs(statement: ir.Stmt, call: ir.Call) -> Iterator[ir.Call]:
    """The calls in a statement that are given a lambda with this call in it."""
    for root in expressions_of(statement):
        for node in expressions_in(root):
            for argument in node.args if isinstance(node, ir.Call) else ():
                if isinstance(argument.value, ir.Lambda) and _is_in(call, argument.value.function):
                    yield node


def _is_in(call: ir.Call, function: ir.Function) -> bool:
    roots = (root for each in function.body for root in expressions_of(each))
    return any(node is call for root in roots for node in expressions_in(root))


def _names_rank(node: ir.Expr | ir.Argument) -> bool:
    """May a word in it be about the rank, and not only about what a function does?"""
    tokens = ir.tokens_of(node)
    if any(map(DEED.search, tokens)):
        called = [n.func for n in expressions_in(node) if isinstance(n, ir.Call)]
        called += [node] if isinstance(node, ir.Expr) else []
        on = [func.value for func in called if isinstance(func, ir.Attribute)]
        tokens -= {name for name in map(ir.last_name, (*called, *on)) if DEED.search(name)}
    return may_name_rank(tokens)
