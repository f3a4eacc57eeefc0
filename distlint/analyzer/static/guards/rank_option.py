"""Whether a script gets its rank by the option of old launchers, ``--local_rank``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from distlint.analyzer import ir
from distlint.analyzer.static.guards.process_groups import RANK_OPTION
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.catalogue import shipped

_LOGS = frozenset({"print", "debug", "info", "warning"})


class RankOption:
    """The option for the rank in one module."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def is_declared_by(self, site: CallSite) -> bool:
        """Does a call declare the option, so that a launcher passes the rank by it?"""
        return (
            not RANK_OPTION.isdisjoint(self._objects.module.tokens)
            and self._declares(site)
            and not self._is_replaced
            and not self._is_unused
        )

    def _declares(self, site: CallSite) -> bool:
        """Does it do so itself, or is the parser given to a function of the module that does?"""
        if site.name == "add_argument":
            return not RANK_OPTION.isdisjoint(ir.tokens_of(site.call))
        function = self._objects.callee(site) if site.call.args else None
        return (
            isinstance(function, ir.Function)
            and not RANK_OPTION.isdisjoint(function.tokens)
            and {"add_argument", "parse_args"} & function.tokens == {"add_argument"}
        )

    @cached_property
    def _is_replaced(self) -> bool:
        """Is the option given a device, whatever a launcher passed?"""
        return any(
            isinstance(statement, ir.Assign)
            and isinstance(statement.value, ir.Call)
            and ir.last_name(statement.value.func) == "device"
            and not asks_rank(statement.value)
            and not any(isinstance(here.owner, ir.If) for here in around)
            and any(
                isinstance(target, ir.Attribute) and target.attr == "local_rank"
                for target in statement.targets
            )
            for scope in self._objects.names.scopes
            for statement, around in placed(scope.body)
        )

    @cached_property
    def _is_unused(self) -> bool:
        """Is the option a leftover: declared, and read neither here nor elsewhere?

        The options that another file is handed may be read there.
        """
        if not shipped.words().signs.isdisjoint(self._words_used):
            return False
        parsed = [
            site
            for site in self._objects.calls({"parse_args"})
            if isinstance(site.point.statement, ir.Assign)
            and site.point.statement.value is site.call
        ]
        return bool(parsed) and all(
            not self._hands_out(site)
            and all(
                given.name in _LOGS or self._objects.callee(given) is not None
                for given, _ in self._objects.uses.passed_to(site.call)
            )
            for site in parsed
        )

    def _hands_out(self, made: CallSite) -> bool:
        """Does a function return what a call makes, or keep it in an object?"""
        if made.point.scope.function is None:
            return False
        for point in self._objects.points_in(made.point.scope):
            statement = point.statement
            keeps = isinstance(statement, ir.Assign) and any(
                not isinstance(target, ir.Name) for target in statement.targets
            )
            if (keeps or isinstance(statement, ir.Return)) and any(
                self._objects.uses.is_made_by(made.call, given, point)
                for given in _given(statement)
            ):
                return True
        return False

    @cached_property
    def _words_used(self) -> frozenset[str]:
        """The names of the module, and of those imports that it uses, component by component."""
        module = self._objects.module
        found = set(module.tokens)
        for statement in module.statements():
            for name, dotted, attr in (
                statement.bindings if isinstance(statement, ir.Import) else ()
            ):
                if attr == "*" or name in module.tokens:
                    found.update((*dotted.split("."), attr or ""))
        return frozenset(found)


def _given(statement: ir.Stmt) -> Iterator[ir.Expr]:
    """What a statement assigns or returns as it is, also in a tuple or a list."""
    value = statement.value if isinstance(statement, (ir.Assign, ir.Return)) else None
    items = value.items if isinstance(value, ir.Display) else (value,)
    yield from filter(None, items)
