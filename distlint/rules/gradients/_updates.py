"""What changes the parameters of a model, or how an optimizer changes them, in the source."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.names import Scope, expressions_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.gradients._bare_modules import PREPARES
from distlint.rules.gradients._steps import CLIP_NAMES
from distlint.rules.training import DDP

OPTIMIZER = re.compile(
    r"(?:^|_)(?:opt|optim|optims|optimizers?|optimisers?)(?:_|$)|optimizer$|scaler$", re.IGNORECASE
)
_SCHEDULER = re.compile(r"(?:^|_)(?:lr_?)?sched(?:uler)?s?(?:_|$)|scheduler$", re.IGNORECASE)
_OTHER = re.compile(r"prof|ema|noise|mask|temp|loss|sampl", re.IGNORECASE)
_STEPS = frozenset({"step", "step_update", "zero_grad"})
_RATES = frozenset({"lr", "weight_decay", "momentum", "betas", "eps"})
_GROUPS = "param_groups"
_PARAMETERS = frozenset({"parameters", "named_parameters"})
_LOAD = "load_state_dict"


@dataclass(frozen=True, slots=True)
class Update:
    """A statement that changes what all replicas must have in common.

    ``owner`` is what it changes: an optimizer, a scheduler, or a model that DDP has wrapped.
    ``what`` says it after "only some ranks"; the other ranks do the same if they use ``word``.
    ``in_training``: nothing but a training does this.
    """

    point: Point
    owner: ir.Expr
    what: str
    word: str
    in_training: bool = False


def updates(objects: Objects, scope: Scope | None = None) -> Iterator[Update]:
    """Every update of a module, or of one function, in the order of its kinds."""
    points = objects.points if scope is None else objects.points_in(scope)
    yield from _steps(objects, scope)
    yield from _clips(objects, scope)
    yield from _rates(points)
    yield from _loads(objects, scope)
    yield from _writes(objects, points)


def _calls(objects: Objects, names: Collection[str], scope: Scope | None) -> Iterator[CallSite]:
    return objects.calls(names) if scope is None else objects.calls_in(scope, names)


def _steps(objects: Objects, scope: Scope | None) -> Iterator[Update]:
    for site in _calls(objects, _STEPS, scope):
        func = site.call.func
        if isinstance(func, ir.Attribute) and _is_stepped(objects, func.value, site.point):
            yield Update(site.point, func.value, f"run `{_named(func)}()`", site.name, True)


def _is_stepped(objects: Objects, node: ir.Expr, point: Point) -> bool:
    name = ir.last_name(node)
    made = [objects.called(each.site) for each in objects.origins(node, point) if each.site]
    if any(each.startswith("torch.optim.") for each in made):
        return True
    return _OTHER.search(name) is None and bool(OPTIMIZER.search(name) or _SCHEDULER.search(name))


def _clips(objects: Objects, scope: Scope | None) -> Iterator[Update]:
    for site in _calls(objects, CLIP_NAMES, scope):
        if site.call.args and objects.called(site).startswith("torch.nn.utils."):
            for node in expressions_in(site.call.args[0].value):
                if isinstance(node, ir.Attribute) and node.attr in _PARAMETERS:
                    yield Update(site.point, node.value, f"run `{site.name}()`", site.name, True)


def _rates(points: Iterable[Point]) -> Iterator[Update]:
    """``group["lr"] = x`` in a loop over the groups, ``optimizer.param_groups[0]["lr"] = x``."""
    for point in points:
        statement = point.statement
        targets: tuple[ir.Expr, ...] = ()
        if isinstance(statement, ir.Assign):
            targets = statement.targets
        elif isinstance(statement, ir.AugAssign):
            targets = (statement.target,)
        for target in targets:
            if isinstance(target, ir.Subscript) and isinstance(target.index, ir.Literal):
                owner = _groups_of(target.value, point)
                if target.index.value in _RATES and owner is not None:
                    word = target.index.value
                    yield Update(point, owner, f"set `{word}` of `{_named(owner)}`", word)


def _groups_of(node: ir.Expr, point: Point) -> ir.Expr | None:
    """The optimizer whose groups hold the one that an expression is."""
    parts = [node]
    if isinstance(node, ir.Name):
        loops = (here.owner for here in reversed(point.around))
        parts = [
            each.iterable
            for each in loops
            if isinstance(each, ir.For) and node.id in ir.tokens_of(each.target)
        ][:1]
    for part in parts:
        for inner in expressions_in(part):
            if isinstance(inner, ir.Attribute) and inner.attr == _GROUPS:
                return inner.value
    return None


def _loads(objects: Objects, scope: Scope | None) -> Iterator[Update]:
    """Of a state into an optimizer, a scheduler, or a model that is wrapped by then."""
    for site in _calls(objects, {_LOAD}, scope):
        func = site.call.func
        if not isinstance(func, ir.Attribute) or _is_undone(objects, site):
            continue
        if _is_stepped(objects, func.value, site.point) or _is_wrapped(
            objects, func.value, site.point
        ):
            yield Update(site.point, func.value, f"run `{_named(func)}()`", _LOAD)


def _is_undone(objects: Objects, site: CallSite) -> bool:
    """Is a state loaded for a while: another load brings back what was kept before it?"""
    loads = [
        each
        for each in objects.calls_in(site.point.scope, {_LOAD})
        if _owner(each) is not None and _owner(each) == _owner(site)
    ]
    starts = [_kept_at(objects, each) for each in loads]
    return any(
        start is not None and start <= site.call.site <= last.call.site and start < first.call.site
        for start, last in zip(starts, loads, strict=True)
        for first in loads
        if first.call.site < last.call.site
    )


def _owner(site: CallSite) -> Path | None:
    return path_of(site.call.func.value) if isinstance(site.call.func, ir.Attribute) else None


def _kept_at(objects: Objects, load: CallSite) -> int | None:
    """Where the state was taken from the same object that a call loads into it."""
    for argument in load.call.args[:1]:
        for origin in objects.origins(argument.value, load.point):
            for node in expressions_in(origin.node) if isinstance(origin.node, ir.Expr) else ():
                if isinstance(node, ir.Call) and ir.last_name(node.func) == "state_dict":
                    if _owner(CallSite(node, origin.point)) == _owner(load):
                        return node.site
    return None


def _writes(objects: Objects, points: Iterable[Point]) -> Iterator[Update]:
    """``for p in model.parameters(): p.data.mul_(x)``, of a model that is wrapped by then."""
    for point in points:
        loop = point.statement
        if not isinstance(loop, ir.For) or not isinstance(loop.iterable, ir.Call):
            continue
        func = loop.iterable.func
        if not isinstance(func, ir.Attribute) or func.attr not in _PARAMETERS:
            continue
        names = ir.tokens_of(loop.target)
        if any(_changes(each, names) for each in loop.body) and _is_wrapped(
            objects, func.value, point
        ):
            what = f"change the parameters of `{_named(func.value)}`"
            yield Update(point, func.value, what, func.attr)


def _changes(statement: ir.Stmt, names: frozenset[str]) -> bool:
    """Does a statement change one of these tensors in place?"""
    if isinstance(statement, ir.With):
        return any(_changes(each, names) for each in statement.body)
    if isinstance(statement, ir.Assign):
        return any(
            isinstance(target, ir.Attribute)
            and target.attr == "data"
            and ir.last_name(target.value) in names
            for target in statement.targets
        )
    call = statement.value if isinstance(statement, ir.Evaluate) else None
    if not isinstance(call, ir.Call) or not isinstance(call.func, ir.Attribute):
        return False
    path = path_of(call.func.value) or ("",)
    in_place = call.func.attr.endswith("_") and call.func.attr != "requires_grad_"
    return in_place and path[0] in names and path[1:] in ((), ("data",))


def _named(node: ir.Expr) -> str:
    return ".".join(path_of(node) or (ir.last_name(node),))


def _is_wrapped(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it a model that DDP holds, or what is inside of one?"""
    return any(_of_wrapper(objects, each, point) for each in objects.origins(node, point))


def _of_wrapper(objects: Objects, origin: Origin, point: Point) -> bool:
    if not isinstance(origin.node, ir.Call) or origin.attributes not in ((), ("module",)):
        return False
    site = CallSite(origin.node, origin.point)
    if site.point.scope is point.scope and site.call.site > point.statement.site:
        return False
    return objects.is_call_to(site, *DDP) or objects.called(site) in PREPARES
