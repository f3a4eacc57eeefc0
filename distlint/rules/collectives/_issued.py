"""The calls of collectives in a module that leave their result in an argument."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import Around, Names, Scope, calls_of, placed
from distlint.analyzer.static.objects.objects import objects_across

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue, Collective

_READERS = frozenset(
    {"abs", "all", "any", "bool", "float", "int", "max", "min", "print", "repr", "round", "sorted"}
    | {"str", "sum"}
)
_NUMERIC = ("torch", "numpy", "math")


@dataclass(frozen=True, slots=True, eq=False)
class Issued:
    """A call of a collective, and where it stands."""

    call: ir.Call
    row: Collective
    around: tuple[Around, ...]
    scope: Scope
    names: Names

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
        return any(argument.star for argument in self.call.args)

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
        for index, argument in enumerate(self.call.args):
            if argument.keyword == param or (argument.keyword is None and index == position):
                return argument.value
        return None

    def reads(self, callee: ir.Expr) -> bool:
        """Does a function look at the data of its arguments?"""
        if isinstance(callee, ir.Name) and callee.id in _READERS and hasattr(builtins, callee.id):
            return callee.id not in self.names.module.definitions
        entry = self.names.entry(callee, self.scope)
        dotted = self.names.dotted(callee, self.scope)
        if dotted is None or (entry is not None and entry.collective is not None):
            return False
        return dotted.startswith(tuple(f"{root}." for root in _NUMERIC))


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
