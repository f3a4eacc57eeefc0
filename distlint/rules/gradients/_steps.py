"""The parts of an optimizer step in the source: backward, clip, step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import names_given
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, path_of

if TYPE_CHECKING:
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.reaching_definitions import Point

_CLIPS = tuple(
    f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")
)
CLIP_NAMES = frozenset(name.rpartition(".")[2] for name in _CLIPS)
BACKWARD = frozenset({"backward", "manual_backward"})
_ACCELERATOR = "accelerate.Accelerator."


@dataclass(frozen=True, slots=True)
class Backward:
    """A backward pass: what it starts from, and the scaler that scales it, if one does."""

    site: CallSite
    loss: ir.Expr
    scaler: Path | None = None


def backwards(objects: Objects, scope: Scope | None = None) -> Iterator[Backward]:
    """``loss.backward()``, ``scaler.scale(loss).backward()``, ``accelerator.backward(loss)``: in
    the module, or in one function.
    """
    every = objects.calls(BACKWARD) if scope is None else objects.calls_in(scope, BACKWARD)
    for site in every:
        func = site.call.func
        if not isinstance(func, ir.Attribute):
            continue
        receiver = func.value
        if (
            isinstance(receiver, ir.Call)
            and ir.last_name(receiver.func) == "scale"
            and receiver.args
        ):
            scaler = receiver.func.value if isinstance(receiver.func, ir.Attribute) else None
            yield Backward(site, receiver.args[0].value, path_of(scaler))
        elif site.call.args and site.call.args[0].keyword is None:
            yield Backward(site, site.call.args[0].value)
        else:
            yield Backward(site, receiver)


def passed_backward(objects: Objects) -> Iterator[tuple[Backward, Backward]]:
    """The calls of functions, of whatever file, that go backward from an argument.

    Each as a backward pass from what is passed, and with the one in the function.
    """
    for site in (CallSite(*each) for each in objects.nodes(ir.Call)):
        there, function = function_called(objects, site) or (objects, None)
        scope = there.scope_of(function) if function is not None else None
        if function is None or scope is None or BACKWARD.isdisjoint(function.tokens):
            continue
        for inner in backwards(there, scope):
            param = next((p for p in function.params if path_of(inner.loss) == (p.name,)), None)
            if param is not None and not _is_bound_again(there, scope, param.name):
                position = there.flow.calls.position(function, param)
                passed = objects.argument(site, param.name, position).value
                if passed is not None:
                    yield Backward(site, passed), inner


def _is_bound_again(objects: Objects, scope: Scope, name: str) -> bool:
    """Does a function give its parameter another value?"""
    return any(name in names_given(each.statement) for each in objects.points_in(scope))


def torch_clips(objects: Objects) -> Iterator[CallSite]:
    """The calls of torch's functions that clip gradients."""
    yield from objects.calls_to(*_CLIPS)


def wrapper_clips(objects: Objects) -> Iterator[CallSite]:
    """The clips by a method of what holds the gradients, as FSDP has one.

    Of an object of an unknown class, if it is given a bound and no parameters.
    """
    for site in objects.calls(CLIP_NAMES):
        func = site.call.func
        if not isinstance(func, ir.Attribute) or objects.callee(site) is not None:
            continue
        called = objects.called(site)
        entry = objects.catalogue.lookup(called)
        made = entry.collective if entry is not None else None
        if called:
            is_clip = (
                made is not None and made.kind == "grad_norm" and made.group_kind == "receiver"
            )
        else:
            is_clip = func.attr == "clip_grad_norm_" and _is_bound_alone(site.call)
        if is_clip:
            yield site


def _is_bound_alone(call: ir.Call) -> bool:
    """Is a clip given how far, and of no parameters?"""
    by_place = [each for each in call.args if each.keyword is None]
    return len(by_place) <= 1 and all(
        each.keyword in (None, "max_norm", "norm_type")
        and not each.star
        and not isinstance(each.value, ir.Call)
        for each in call.args
    )


def accelerator_clips(objects: Objects) -> Iterator[CallSite]:
    """The clips of an Accelerator; of what has ``accumulate()``, where its class is not known."""
    accumulating = {
        path_of(site.call.func.value)
        for site in objects.calls({"accumulate"})
        if isinstance(site.call.func, ir.Attribute)
    }
    for site in objects.calls({"clip_grad_norm_", "clip_grad_value_"}):
        func = site.call.func
        if objects.called(site).startswith(_ACCELERATOR) or (
            isinstance(func, ir.Attribute) and path_of(func.value) in accumulating
        ):
            yield site


def exclude(one: Point, two: Point) -> bool:
    """Do two statements stand in different arms of one ``if``, so that only one of them runs?"""
    for here in one.around:
        for there in two.around:
            if here.owner is there.owner and isinstance(here.owner, ir.If):
                if here.block is not there.block:
                    return True
    return False


def in_order(*sites: CallSite) -> bool:
    """Do calls of one function follow each other in the source?"""
    first = sites[0].point.scope
    numbers = [site.point.statement.site for site in sites]
    return numbers == sorted(numbers) and all(site.point.scope is first for site in sites)


def conditions(point: Point) -> Iterator[ir.If]:
    """The ``if`` statements that a statement is inside of, in its innermost loop."""
    for here in reversed(point.around):
        if isinstance(here.owner, (ir.For, ir.While)):
            return
        if isinstance(here.owner, ir.If):
            yield here.owner
