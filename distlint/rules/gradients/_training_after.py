"""Whether all ranks train after a statement, so that what some of them did there matters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.selected_ranks import selecting_gate
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.gradients._steps import BACKWARD
from distlint.rules.gradients._updates import OPTIMIZER
from distlint.rules.gradients._wrapper_names import name_of
from distlint.rules.training import is_evaluation, loops_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.reaching_definitions import Point

_SENDS = re.compile(
    r"broadcast(?!_buffers)|bcast|(?:^|_)(?:i?send|i?recv)(?:_|$)|"
    r"sync\w*_(?:param|model|weight|state|replica|grad|lr|optim)",
    re.IGNORECASE,
)
_HOLDS_OTHERS = (ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Define, ir.DefineClass)
"""Statements whose words are those of statements in them."""
_DEPTH = 3
"""How many calls are followed up and down."""


class TrainingAfter:
    """What is known about the training of one project, seen from one of its modules."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self._sending: dict[tuple[int, int], bool] = {}
        self._followed: dict[tuple[int, bool, int], bool] = {}

    def follows(self, guards: Guards, point: Point, *, in_training: bool) -> bool:
        """Do all ranks run a backward pass after a statement, and get nothing sent before it?

        What is done ``in_training`` only, such as a step, is repeated: it needs less to show that.
        """
        return self._follows(guards, point, in_training, _DEPTH)

    def _follows(self, guards: Guards, point: Point, in_training: bool, depth: int) -> bool:
        key = id(point.statement), in_training, depth
        if key not in self._followed:
            self._followed[key] = self._is_followed(guards, point, in_training, depth)
        return self._followed[key]

    def _is_followed(self, guards: Guards, point: Point, in_training: bool, depth: int) -> bool:
        later = list(_later(guards, point))
        if any(self._sends(guards, each, _DEPTH) for each in later):
            return False
        if any(self._trains_in(guards, each, _DEPTH) for each in later):
            return True
        if in_training and any(map(_is_given_optimizer, later)):
            return True
        function = point.scope.function
        if function is None or any(map(_SENDS.search, function.tokens)):
            return False
        callers = [
            each
            for each in guards.all_callers(point.scope)
            if each[1].point.scope is not point.scope
        ]
        called = [each for each in callers if not selecting_gate(each[0].objects, each[1].point)]
        if callers and not called:
            return False
        if (in_training or not (callers or is_evaluation(function.name))) and self._trains_beside(
            guards, function
        ):
            return True
        return depth > 0 and any(
            self._follows(there, site.point, in_training, depth - 1) for there, site in called
        )

    def _sends(self, guards: Guards, point: Point, depth: int) -> bool:
        """Is something sent to the other ranks here, or by a function that does not train?"""
        if any(map(_SENDS.search, ir.tokens_of(point.statement))):
            return True
        for call in calls_of(point.statement):
            called = guards.called(CallSite(call, point)) if depth else None
            if called is not None and not self.reaches_backward(*called):
                if self._sends_inside(*called, depth - 1):
                    return True
        return False

    def _sends_inside(self, guards: Guards, scope: Scope, depth: int) -> bool:
        key = id(scope), depth
        if key not in self._sending:
            self._sending[key] = any(
                self._sends(guards, each, depth) for each in guards.objects.points_in(scope)
            )
        return self._sending[key]

    def _trains_beside(self, guards: Guards, function: ir.Function) -> bool:
        """Does another method of its class train?"""
        return bool(function.owner) and any(
            self.reaches_backward(guards, scope, 1)
            for scope in guards.objects.names.scopes
            if scope.function is not None
            and scope.function.owner == function.owner
            and scope.function is not function
        )

    def reaches_backward(self, guards: Guards, scope: Scope, depth: int = _DEPTH) -> bool:
        """Is there a backward pass in a function that all ranks run, or in what it calls?"""
        key = id(scope)
        if key not in self._known:
            self._known[key] = False  # for a function that calls itself
            self._known[key] = any(
                self._trains_in(guards, each, depth)
                for each in guards.objects.points_in(scope)
                if not selecting_gate(guards.objects, each)
            )
        return self._known[key]

    def _trains_in(self, guards: Guards, point: Point, depth: int) -> bool:
        for call in calls_of(point.statement):
            if ir.last_name(call.func) in BACKWARD:
                return True
            called = guards.called(CallSite(call, point)) if depth else None
            if called is not None and self.reaches_backward(*called, depth - 1):
                return True
        return False


def _is_given_optimizer(point: Point) -> bool:
    """Is an optimizer handed to a function, so that it trains?"""
    return any(
        not is_evaluation(ir.last_name(call.func))
        and OPTIMIZER.search(name_of(argument.value)) is not None
        for call in calls_of(point.statement)
        if ir.last_name(call.func) not in ("print", "isinstance", "len", "hasattr")
        for argument in call.args
    )


def _later(guards: Guards, point: Point) -> Iterator[Point]:
    """The statements of its function that all ranks run after a statement, or in its loop."""
    loops = set(map(id, loops_around(point)))
    for each in guards.objects.points_in(point.scope):
        if each.statement is point.statement:
            continue
        in_loop = any(id(loop) in loops for loop in loops_around(each))
        if each.statement.site > point.statement.site or in_loop:
            if not isinstance(each.statement, _HOLDS_OTHERS):
                if not selecting_gate(guards.objects, each):
                    yield each
