"""Windows of gradient accumulation under DDP that send the gradients of every micro-batch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.analyzer import ir
from distlint.analyzer.static.guards.gates import gates_before
from distlint.analyzer.static.names import placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.gradients._steps import Backward, backwards, exclude
from distlint.rules.memory._handed import handed_over, method_calls
from distlint.rules.training import DDP, WRAPPERS, evaluates, loops_around

Loop = ir.For | ir.While

_SYNCS = frozenset(
    {
        "no_sync", "require_backward_grad_sync", "set_requires_gradient_sync", "skip_all_reduce",
        "no_backward_sync", "set_is_last_backward", "delay_all_reduce_named_params",
    }
)  # fmt: skip
"""Words for leaving out the communication of a backward pass."""
_OPTIMIZER = re.compile(r"optim|^opt$|_opt$|scaler", re.IGNORECASE)
_LOOKS = frozenset({"len", "isinstance", "print", "id", "type", "parameters", "named_parameters"})
_SHARDED = tuple(each for each in WRAPPERS if each not in DDP)


def always_sent(objects: Objects) -> Iterator[CallSite]:
    """The backward passes of windows that are nowhere kept from sending, one of each loop."""
    known = frozenset[str]().union(
        objects.module.words, *(each.tokens for each in objects.module.imports)
    )
    if not _SYNCS.isdisjoint(known):
        return
    seen: set[int] = set()
    for backward in (*backwards(objects), *handed_over(objects)):
        point = backward.site.point
        loop = next(loops_around(point), None)
        if loop is None or id(loop) in seen or evaluates(point):
            continue
        if _is_window(objects, backward, loop) and _goes_through_ddp(objects, point, loop):
            seen.add(id(loop))
            yield backward.site


# ---- windows


def _is_window(objects: Objects, backward: Backward, loop: Loop) -> bool:
    """Does the optimizer step after several backward passes of a loop?"""
    point = backward.site.point
    if _counts(objects, (gate.test for gate in gates_before(point)), point, loop):
        return False  # the backward pass itself is that of the last micro-batch
    steps = [
        site.point
        for site, receiver in method_calls(objects, point.scope, "step")
        if _is_optimizer(objects, receiver, site.point)
    ]
    inside = [each for each in steps if _in(each, loop) and not exclude(each, point)]
    if inside:
        return all(
            _counts(objects, (gate.test for gate in gates_before(each)), each, loop)
            for each in inside
        )
    if _counts(objects, (each.value for each in backward.site.call.args), point, loop):
        return True
    return _is_of_micro_batches(objects, loop, point) and any(
        each.statement.site > loop.site and _same_turn(each, point, loop) for each in steps
    )


def _is_optimizer(objects: Objects, receiver: ir.Expr, point: Point) -> bool:
    """Is it an optimizer, or what scales for one, and no scheduler?"""
    kind = objects.class_of(receiver, point)
    if kind.startswith("torch.optim."):
        return "lr_scheduler" not in kind
    return _OPTIMIZER.search(ir.last_name(receiver)) is not None and "sched" not in ir.last_name(
        receiver
    )


def _counts(objects: Objects, tests: Iterable[ir.Expr], point: Point, loop: Loop) -> bool:
    """Is any of these tests, ``(i + 1) % n == 0`` or ``count >= n``, true at each n-th turn?"""
    return any(_is_count(objects, each, point, loop) for each in tests)


def _is_count(objects: Objects, test: ir.Expr, point: Point, loop: Loop) -> bool:
    if isinstance(test, ir.BoolOp):
        return any(_is_count(objects, each, point, loop) for each in test.values)
    if isinstance(test, ir.Not):
        return _is_count(objects, test.value, point, loop)
    if isinstance(test, ir.Name):
        values = list(_bound_in(loop, test.id))
        return bool(values) and all(
            _is_count(objects, each, point, loop)
            for each in values
            if not isinstance(each, (ir.Name, ir.Literal))
        )
    if isinstance(test, ir.Binary) and test.op == "%":
        return _is_several(objects, test.right, point)
    if not isinstance(test, ir.Compare):
        return False
    left = test.left
    if isinstance(left, ir.Binary) and left.op == "%":
        return test.ops in (("==",), ("!=",)) and _is_several(objects, left.right, point)
    if test.ops in ((">=",), ("==",)) and _counts_up(loop, left):
        return _is_several(objects, test.rights[0], point)
    return False


def _bound_in(loop: Loop, name: str) -> Iterator[ir.Expr]:
    for statement, _ in placed(loop.body):
        if isinstance(statement, ir.Assign) and any(
            path_of(target) == (name,) for target in statement.targets
        ):
            yield statement.value


def _is_several(objects: Objects, number: ir.Expr, point: Point) -> bool:
    """May a number be larger than 1?"""
    constants = {origin.constant for origin in objects.origins(number, point)}
    return constants != {1}


def _counts_up(loop: Loop, count: ir.Expr) -> bool:
    path = path_of(count)
    return path is not None and any(
        isinstance(statement, ir.AugAssign) and path_of(statement.target) == path
        for statement, _ in placed(loop.body)
    )


def _is_of_micro_batches(objects: Objects, loop: Loop, point: Point) -> bool:
    """``for micro in range(n)``: a loop inside another one that gathers gradients of n batches."""
    iterable = loop.iterable if isinstance(loop, ir.For) else None
    while isinstance(iterable, ir.Call) and iterable.args:
        if path_of(iterable.func) == ("range",):
            return len(iterable.args) == 1 and _is_several(objects, iterable.args[0].value, point)
        iterable = iterable.args[0].value
    return False


def _same_turn(step: Point, backward: Point, loop: Loop) -> bool:
    """Does a step come after a loop, in the turn of the loop around both?"""
    outer = list(loops_around(backward))[1:2]
    return bool(outer) and next(loops_around(step), None) is outer[0]


def _in(point: Point, loop: Loop) -> bool:
    return any(here.owner is loop for here in point.around)


# ---- the model


def _goes_through_ddp(objects: Objects, point: Point, loop: Loop) -> bool:
    """Is a model that DDP wraps called in a loop, or given to a function there?"""
    wrapped = False
    for call, here in objects.nodes(ir.Call):
        if here.scope is not point.scope or ir.last_name(call.func) in _LOOKS:
            continue
        for value in (call.func, *(each.value for each in call.args)) if _in(here, loop) else ():
            for origin in objects.origins(value, here) if path_of(value) is not None else ():
                if origin.site is None:
                    continue
                if objects.is_call_to(origin.site, *_SHARDED):
                    return False
                wrapped = wrapped or objects.is_call_to(origin.site, *DDP)
    return wrapped
