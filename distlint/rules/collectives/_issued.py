"""The calls of collectives in a module that leave their result in an argument."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import Around, Names, Scope, calls_of, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.rules.collectives._following import Buffer, Sight, own_steps

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue, Collective

_READERS = frozenset(
    {"abs", "all", "any", "bool", "float", "int", "max", "min", "print", "repr", "round", "sorted"}
    | {"str", "sum"}
)
_NUMERIC = ("torch", "numpy", "math")
_RANK_LIKE = re.compile(r"rank|main|master|root|dst|src|leader|primary|chief|coordinator|head|zero")


@dataclass(frozen=True, slots=True, eq=False)
class Issued:
    """A call of a collective, or of a function that does nothing else, and where it stands."""

    call: ir.Call
    row: Collective
    around: tuple[Around, ...]
    scope: Scope
    names: Names
    inner: ir.Call | None = None
    """The collective in the function that is called."""
    passed: Mapping[str, ir.Expr | None] = field(default_factory=dict)
    """What the parameters of that function are given."""

    @property
    def statement(self) -> ir.Stmt:
        here = self.around[-1]
        return here.block[here.index]

    @property
    def op(self) -> str:
        return self.row.name.rpartition(".")[2]

    @property
    def buffer(self) -> ir.Expr | None:
        """The argument that holds the result afterwards."""
        return self.argument(self.row.result_param)

    @property
    def unclear(self) -> bool:
        """Are there arguments that only running the program would tell apart?"""
        args = (*self.call.args, *(self.inner.args if self.inner is not None else ()))
        return any(argument.star for argument in args)

    @property
    def is_async(self) -> bool | None:
        """Does the call return a handle at once? None when that is not known."""
        given = self.argument(self.row.async_ or "async_op")
        if self.unclear or (given is not None and self.row.async_ is None):
            return None
        if given is None:
            return False
        return bool(given.value) if isinstance(given, ir.Literal) else None

    def argument(self, param: str | None) -> ir.Expr | None:
        """What is passed for a parameter."""
        if param is None:
            return None
        position = self.row.position(param)
        for index, argument in enumerate((self.inner or self.call).args):
            if argument.keyword == param or (argument.keyword is None and index == position):
                return argument.value if self.inner is None else self._outside(argument.value)
        return None

    def _outside(self, node: ir.Expr) -> ir.Expr | None:
        """What the caller of a function passes for an argument in it."""
        if isinstance(node, ir.Name) and node.id in self.passed:
            return self.passed[node.id]
        return node if isinstance(node, ir.Literal) else ir.Opaque(0)

    def reads(self, call: ir.Call) -> bool:
        """Does what a call calls look at the data of its arguments, and do no more with them?"""
        if _looks_at_data(self.names, self.scope, call.func):
            return True
        called = self.function(call)
        return called is not None and _only_reads(*called)

    def prints(self, call: ir.Call) -> bool:
        """Is it a function of the project that prints?"""
        called = self.function(call)
        return called is not None and "print" in called[1].tokens

    def function(self, call: ir.Call) -> tuple[Objects, ir.Function] | None:
        """The function of the project that a call calls by its name."""
        if not isinstance(call.func, ir.Name):
            return None
        objects = objects_across(self.names.module, self.names.catalogue)
        return function_called(objects, CallSite(call, Point(self.scope, self.around)))


def is_rank_test(test: ir.Expr) -> bool:
    """Does an expression speak of ranks, by the look of its names and strings?"""
    return any(_RANK_LIKE.search(token.lower()) for token in ir.tokens_of(test))


def _looks_at_data(names: Names, scope: Scope, callee: ir.Expr) -> bool:
    if isinstance(callee, ir.Name) and callee.id in _READERS and hasattr(builtins, callee.id):
        return callee.id not in names.module.definitions
    entry = names.entry(callee, scope)
    dotted = names.dotted(callee, scope)
    if dotted is None or (entry is not None and entry.collective is not None):
        return False
    return dotted.startswith(tuple(f"{root}." for root in _NUMERIC))


@lru_cache(maxsize=64)
def _only_reads(there: Objects, function: ir.Function) -> bool:
    """Does a function look at what it is given on every rank, and neither change nor keep it?"""
    scope = there.scope_of(function)
    if scope is None or any(_RANK_LIKE.search(token.lower()) for token in function.tokens):
        return False

    def looks(call: ir.Call) -> bool:
        return _looks_at_data(there.names, scope, call.func)

    seen = [
        (Buffer((param.name,), looks).seen_in(node), role)
        for statement, _ in placed(function.body)
        for node, role in own_steps(statement)
        for param in function.params
    ]
    if any(sight is Sight.HANDED for sight, _ in seen):
        return False
    if any(sight is Sight.SAME and role != "test" for sight, role in seen):
        return False
    return any(sight is Sight.READ for sight, _ in seen)


def issued_by_functions(module: Module, catalogue: Catalogue) -> Iterator[Issued]:
    """The calls of functions, of whatever file, that call such a collective and do no more."""
    objects = objects_across(module, catalogue)
    for node, point in objects.nodes(ir.Call):
        site = CallSite(node, point)
        found = _collective_in(objects, site)
        if found is not None and found[2].result_param is not None:
            function, inner, row = found
            passed = {
                param.name: objects.argument(site, param.name, index).value or param.default
                for index, param in enumerate(function.params)
                if not param.star
            }
            yield Issued(node, row, point.around, point.scope, objects.names, inner, passed)


def collective_of(objects: Objects, site: CallSite) -> Collective | None:
    """The collective that a call is, or that a function does which does nothing else."""
    entry = objects.names.entry(site.call.func, site.point.scope)
    if entry is not None and entry.collective is not None:
        return entry.collective
    found = _collective_in(objects, site)
    return found[2] if found is not None else None


def _collective_in(
    objects: Objects, site: CallSite
) -> tuple[ir.Function, ir.Call, Collective] | None:
    """The function of the project that a call calls by its name, if it only calls a collective."""
    is_named = isinstance(site.call.func, ir.Name)
    there, function = (function_called(objects, site) if is_named else None) or (objects, None)
    scope = there.scope_of(function) if function is not None else None
    inner = _only_call(function) if function is not None else None
    if function is None or scope is None or inner is None:
        return None
    entry = there.names.entry(inner.func, scope)
    made = entry.collective if entry is not None else None
    return (function, inner, made) if made is not None else None


def _only_call(function: ir.Function) -> ir.Call | None:
    """The call that is all that a function does."""
    body = [
        each
        for each in function.body
        if not (isinstance(each, ir.Evaluate) and isinstance(each.value, ir.Literal))
    ]
    only = body[0] if len(body) == 1 else None
    value = only.value if isinstance(only, (ir.Return, ir.Evaluate)) else None
    return value if isinstance(value, ir.Call) else None


@lru_cache(maxsize=1)
def issued(module: Module, catalogue: Catalogue) -> tuple[Issued, ...]:
    """The calls of a module whose catalogue rows name the argument that holds the result."""
    wanted = _names_of(catalogue)
    if wanted.isdisjoint(module.tokens | set(module.aliases.values())):
        return ()
    wanted |= {alias for alias, name in module.aliases.items() if name in wanted}
    return tuple(_found(objects_across(module, catalogue).names, wanted))


def _found(names: Names, wanted: frozenset[str]) -> Iterator[Issued]:
    for scope in names.scopes:
        if scope.function is not None and wanted.isdisjoint(scope.function.tokens):
            continue
        for statement, around in placed(scope.body):
            for call in calls_of(statement):
                if ir.last_name(call.func) not in wanted:
                    continue
                entry = names.entry(call.func, scope)
                row = entry.collective if entry is not None else None
                if row is not None and row.result_param is not None:
                    yield Issued(call, row, around, scope, names)


@lru_cache(maxsize=8)
def _names_of(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(
        entry.name.rpartition(".")[2]
        for entry in catalogue.entries()
        if entry.collective is not None and entry.collective.result_param is not None
    )
