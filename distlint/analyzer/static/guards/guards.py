"""Which processes reach a scope: by what it shows itself, and by what calls it in the project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.arguments import passed_by_name
from distlint.analyzer.static.callers import (
    called_elsewhere,
    calls_elsewhere,
    calls_within,
    users_of,
)
from distlint.analyzer.static.guards.assignments import Assignments
from distlint.analyzer.static.guards.constant_paths import leads_to
from distlint.analyzer.static.guards.deciding import deciding_parameters, tested_parameters
from distlint.analyzer.static.guards.dominating_conditions import DominatingConditions
from distlint.analyzer.static.guards.launchers import Launchers
from distlint.analyzer.static.guards.modes import is_for_one_process
from distlint.analyzer.static.guards.process_groups import wraps
from distlint.analyzer.static.guards.rank_flags import RankFlags
from distlint.analyzer.static.guards.rank_tests import in_turn, may_name_rank, under_rank_test
from distlint.analyzer.static.guards.signs import Signs
from distlint.analyzer.static.guards.world_size import WorldSize
from distlint.analyzer.static.names import Scope, calls_of, expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point

if TYPE_CHECKING:
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue

_Key = tuple[int, int, frozenset[str]]
"""A scope and a call by their identities, and the parameters that decide whether it is made."""
_DEPTH = 4
"""Calls of calls that are looked at for a test of the rank."""
_MOST_CALLERS = 64
"""Functions that are looked at for what leads to one, at most."""
_MOST_CALLED = 64
"""Functions that are looked at for one that joins the processes, at most."""


def guards_of(module: Module, catalogue: Catalogue) -> Guards:
    """The guards of a module, made once for the rules that ask about it in turn."""
    generation = module.project.generation if module.project is not None else 0
    return _guards(module, catalogue, generation)


def guards_in(module: Module) -> Guards:
    """The guards of a module of the project, by what the catalogue says about it."""
    assert module.project is not None
    return guards_of(module, module.project.catalogue_of(module))


@lru_cache(maxsize=32)
def _guards(module: Module, catalogue: Catalogue, _generation: int) -> Guards:
    return Guards(objects_of(module, catalogue))


def forget() -> None:
    """Drop what was found out about modules."""
    _guards.cache_clear()


class Guards:
    """What keeps processes away from the statements of one module, and what brings them there.

    ``conditions``, ``world_size`` and ``launchers`` answer what the module itself shows.
    """

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.names = objects.names
        self.assignments = Assignments(objects.names)
        self.flags = RankFlags(objects, self.assignments, self._flags_elsewhere)
        self.conditions = DominatingConditions(objects.module, self.flags)
        self.world_size = WorldSize(objects)
        self.launchers = Launchers(objects)
        self._signs = Signs(objects, self.conditions, self.world_size, self.launchers)
        self._everywhere: dict[_Key, bool] = {}
        self._elsewhere: dict[ir.Function, list[tuple[Guards, CallSite]]] = {}
        self._joined: dict[int, tuple[bool, list[tuple[Guards, Scope]]]] = {}

    def may_be_some_ranks(
        self, point: Point, besides: ir.Stmt | None = None, call: ir.Call | None = None
    ) -> bool:
        """May a test, an early return, a decorator or a context keep ranks from a statement?

        Or from a call in it. The test of the statement ``besides`` does not count.
        """
        return self.conditions.may_be_some_ranks(point, besides, call)

    def on_many_ranks(self, scope: Scope, site: CallSite | None = None) -> bool:
        """Do several processes run a scope, as it or what calls it shows, here or elsewhere?

        With ``site``, a call in it: do they make that call, whatever arguments the scope is given?
        """
        key = _Led(self, scope, self._deciding(scope, site), site).key
        if key not in self._everywhere:
            led = self.led_from(scope, site)
            self._everywhere[key] = any(guards.is_shown(each) for guards, each in led)
        return self._everywhere[key]

    def led_from(
        self, scope: Scope, site: CallSite | None = None
    ) -> Iterator[tuple[Guards, Scope]]:
        """A scope, and those from which calls lead to it that nothing keeps any rank from.

        Or to a call in it. Those of the module come first.
        """
        found: list[_Led] = []
        waiting = [_Led(self, scope, self._deciding(scope, site), site)]
        known = {each.key for each in waiting}
        gone_on = 0
        while waiting:
            for led in waiting:  # grows meanwhile
                if not led.guards.launchers.begins_alone(led.scope):
                    yield led.guards, led.scope
                    found.append(led)
                    within = ((led.guards, each) for each in led.guards.callers(led.scope))
                    _go_on(led, within, known, waiting)
            waiting = []
            while not waiting and gone_on < len(found):
                led = found[gone_on]
                gone_on += 1
                if len(known) <= _MOST_CALLERS:
                    _go_on(led, led.guards.callers_elsewhere(led.scope), known, waiting)

    def _deciding(self, scope: Scope, site: CallSite | None) -> frozenset[str]:
        """The parameters that decide whether a call in a scope is made, or anything in it."""
        if scope.function is None or not scope.function.params:
            return frozenset()
        if site is None:
            return tested_parameters(scope, self.assignments)
        return deciding_parameters(site, self.assignments)

    def _names_rank(self, value: ir.Expr, point: Point) -> bool:
        """May a value be the rank, or a test of it, by its words or by what it was made from?"""
        values = [value]
        if isinstance(value, (ir.Name, ir.Attribute)):
            values += [each for each, _ in self.assignments.reaching(value, point)]
        return any(may_name_rank(ir.tokens_of(each)) for each in values)

    def is_shown(self, scope: Scope) -> bool:
        """Does a scope itself show that several processes run it, or what starts these?"""
        if scope.function is not None and self.launchers.spawns(scope.function):
            return True
        signs = self._signs
        if self._is_hook_of_many(scope):
            return True
        shows = signs.are_in(scope) or self._is_joined(scope) or signs.trains_wrapped(scope)
        return shows and not self._called_on_some(scope)

    def _is_hook_of_many(self, scope: Scope) -> bool:
        """Is it a method that a framework calls on all ranks of a run of several processes?"""
        called_by = self._signs.hook_of(scope)
        if called_by is None or called_by.run_by is None or scope.function is None:
            return called_by is not None
        if self._signs.makes_many(called_by.run_by):
            return True
        users = users_of(self.objects.module, scope.function.owner)
        return any(guards_in(each)._signs.makes_many(called_by.run_by) for each in users)

    def _is_joined(self, scope: Scope) -> bool:
        """Does a scope join the processes, by itself or by a function that it calls?"""
        found: list[tuple[Guards, Scope]] = [(self, scope)]
        for guards, each in found:  # grows meanwhile
            joins, called = guards._joining(each)
            if joins:
                return True
            found += [other for other in called if other not in found][: _MOST_CALLED - len(found)]
        return False

    def _joining(self, scope: Scope) -> tuple[bool, list[tuple[Guards, Scope]]]:
        """Does a scope itself join the processes, and which functions does it call in any case?"""
        known = self._joined.get(id(scope))
        if known is None:
            statements = [
                (statement, CallSite(call, Point(scope, around)))
                for statement, around in placed(scope.body)
                for call in calls_of(statement)
                if not self.conditions.guard(scope, around)
            ]
            # what starts the others is one process
            alone = self.launchers.starts_in(scope) or self.world_size.runs_alone(scope)
            joins = not alone and (
                any(wraps(s) or self._signs.is_for_many(c) for s, c in statements)
                or self._wraps_by_call(scope)
            )
            called = [] if joins or alone else [self.called(site) for _, site in statements]
            known = self._joined[id(scope)] = joins, [each for each in called if each is not None]
        return known

    def _wraps_by_call(self, scope: Scope) -> bool:
        """Does it wrap a model by a function that does nothing else, perhaps in some runs only?"""
        return any(
            inner is not None
            and any(isinstance(each, ir.Return) and wraps(each) for each in inner[1].body)
            for point in self.objects.points_in(scope)
            if isinstance(point.statement, ir.Assign) and not under_rank_test(point.around)
            for call in calls_of(point.statement)
            for inner in (self.called(CallSite(call, point)),)
        )

    def called(self, site: CallSite) -> tuple[Guards, Scope] | None:
        """The function of the project that a call calls, also the constructor of a class."""
        callee = self.objects.callee(site) or self.objects.classes.super_callee(site)
        guards: Guards = self
        if callee is None or isinstance(callee, ir.Class):
            module = self.objects.module
            there = module.constructor(callee) if callee else None
            there = there or called_elsewhere(module, site.call.func)
            callee = there[1] if there is not None else None
            guards = guards_in(there[0]) if there is not None else self
        inner = guards.objects.scope_of(callee) if callee is not None else None
        return (guards, inner) if inner is not None else None

    def only_some_lead_to(self, site: CallSite) -> bool:
        """Does each call of its function that leads into the branches around a call keep ranks
        from it, where a constant sends other calls into other branches?"""
        callers = list(self.all_callers(site.point.scope))
        leading = [each for each in callers if leads_to(each[0].objects, site.point, each[1])]
        return 0 < len(leading) < len(callers) and all(
            self.leads_some(each, site, guards) for guards, each in leading
        )

    def leads_some(self, caller: CallSite, site: CallSite, where: Guards | None = None) -> bool:
        """Does a call of the function around a call keep ranks from the latter?

        It stands in this module, or in that of the guards ``where``.
        """
        scope = site.point.scope
        led = _Led(self, scope, self._deciding(scope, site), site)
        return led.before(where or self, caller) is None

    def _called_on_some(self, scope: Scope, depth: int = _DEPTH) -> bool:
        """Do all known calls of it keep ranks from it, whatever it asks itself?

        Or let the first one go before the others.
        """
        callers = list(self.all_callers(scope)) if depth else []
        return bool(callers) and all(
            under_rank_test(each.point.around)
            or is_for_one_process(each)
            or in_turn(each.point) is not None
            or guards._called_on_some(each.point.scope, depth - 1)
            for guards, each in callers
        )

    def callers(self, scope: Scope) -> Iterator[CallSite]:
        """The calls of a function within its module, as far as names show."""
        if scope.function is not None:
            yield from calls_within(self.objects, scope.function)

    def callers_elsewhere(self, scope: Scope) -> list[tuple[Guards, CallSite]]:
        """The calls of a function in other files of the project, with what guards these."""
        function = scope.function
        if function is None:
            return []
        known = self._elsewhere.get(function)
        if known is None:
            module = self.objects.module
            known = self._elsewhere[function] = [
                (guards_in(other), site) for other, site in calls_elsewhere(module, function)
            ]
        return known

    def _flags_elsewhere(self, function: ir.Function) -> list[tuple[RankFlags, CallSite]]:
        """The calls of a function in other files, with the flags of these."""
        scope = self.objects.scope_of(function)
        return [(g.flags, each) for g, each in self.callers_elsewhere(scope)] if scope else []

    def all_callers(self, scope: Scope) -> Iterator[tuple[Guards, CallSite]]:
        """The calls of a function within its module and in other files of the project."""
        yield from ((self, site) for site in self.callers(scope))
        yield from self.callers_elsewhere(scope)

    def is_given(self, node: ir.Expr, scope: Scope, wanted: object) -> bool:
        """Is a parameter this constant, as another file calls the function on several ranks?"""
        function = scope.function
        if function is None or not isinstance(node, ir.Name) or not scope.has_param(node.id):
            return False
        names = [param.name for param in function.params if not param.star]
        default = function.params[names.index(node.id)].default if node.id in names else None
        absent = default.value if isinstance(default, ir.Literal) else ...
        position = names.index(node.id) - bool(function.owner) if node.id in names else None
        return any(
            guards.objects.constant(
                guards.objects.argument(each, node.id, position), each.point, absent
            )
            == wanted
            and not guards.may_be_some_ranks(each.point, call=each.call)
            and guards.on_many_ranks(each.point.scope, each)
            for guards, each in self.callers_elsewhere(scope)
        )

    def objects_leading_to(self, scope: Scope, site: CallSite | None = None) -> list[Objects]:
        """The objects of the files with a scope, and with what leads to it on all ranks."""
        return list(dict.fromkeys(guards.objects for guards, _ in self.led_from(scope, site)))

    @cached_property
    def seeds(self) -> bool:
        """Does the module seed a generator, so that all processes may draw the same?"""
        return any("seed" in token.lower() for token in self.objects.module.words)


@dataclass(frozen=True, slots=True)
class _Led:
    """A scope that leads somewhere, and those of its parameters that decide whether it does."""

    guards: Guards
    scope: Scope
    deciding: frozenset[str]
    site: CallSite | None

    @property
    def key(self) -> _Key:
        call = self.site.call if self.site is not None and self.deciding else None
        return id(self.scope), id(call), self.deciding

    def before(self, guards: Guards, site: CallSite) -> _Led | None:
        """What leads to it by a call of its function; None where that may be for some ranks."""
        point = site.point
        if guards.conditions.guard(point.scope, point.around) or guards.conditions.chooses(site):
            return None
        if self.site is not None and not leads_to(guards.objects, self.site.point, site):
            return None
        deciding = guards._deciding(point.scope, site)
        for value in self._given(site.call):
            if guards._names_rank(value, point):
                return None
            names = {each.id for each in expressions_in(value) if isinstance(each, ir.Name)}
            deciding |= {name for name in names if point.scope.has_param(name)}
        return _Led(guards, point.scope, deciding, site)

    def _given(self, call: ir.Call) -> list[ir.Expr]:
        """What a call of its function passes for the parameters that decide; all if not known."""
        if self.scope.function is None or not self.deciding:
            return []
        given = passed_by_name(self.scope.function, call)
        if given is None:
            return [each.value for each in call.args]
        values = (given[name] for name in self.deciding & given.keys())
        return [value for value in values if value is not None]


def _go_on(
    led: _Led, calls: Iterable[tuple[Guards, CallSite]], known: set[_Key], found: list[_Led]
) -> None:
    """Add the scopes of those calls that nothing keeps any rank from."""
    for guards, site in calls:
        before = led.before(guards, site)
        if before is not None and before.key not in known:
            known.add(before.key)
            found.append(before)
