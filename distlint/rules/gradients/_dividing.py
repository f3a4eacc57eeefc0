"""What divides a loss by the number of accumulated batches: frameworks, and how they are told.

accelerator = Accelerator(gradient_accumulation_steps=4)    # told here
accelerator.backward(loss)                                  # divides here
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.callers import users_of
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of

_ACCELERATOR = "accelerate.Accelerator"
_PLUGIN = (
    "accelerate.utils.GradientAccumulationPlugin",
    "accelerate.utils.DeepSpeedPlugin",
    "accelerate.GradientAccumulationPlugin",
    "accelerate.DeepSpeedPlugin",
)
_ENGINE = "deepspeed.DeepSpeedEngine"
_MODULE = "lightning.pytorch.LightningModule"
_TRAINER = "lightning.pytorch.Trainer"

_STEPS = "gradient_accumulation_steps"
_BATCHES = "accumulate_grad_batches"
_OWN_TRAINER = ("self", "trainer")
_BY_HAND = frozenset({"automatic_optimization", "manual_backward"})
"""What a module says that makes its steps itself."""

Number = tuple[ir.Expr, Point]


@dataclass(frozen=True, slots=True)
class Dividing:
    """What divides a loss that it is given: where, whose it is, and the numbers it divides by."""

    loss: ir.Expr
    point: Point
    by: str
    where: str
    numbers: tuple[Number, ...]
    own: str
    """The attribute or method that has the number, of an object of this class: ``Class.name``."""


def dividing_in(objects: Objects) -> Iterator[Dividing]:
    """Where a framework divides a loss of the module."""
    if "backward" in objects.module.tokens:
        for site in objects.calls({"backward"}):
            loss = objects.argument(site, "loss", 0).value
            if loss is not None and isinstance(site.call.func, ir.Attribute):
                yield from _by_accelerator(objects, site, loss)
                yield from _by_engine(objects, site, loss)
    if not LIGHTNING.isdisjoint(objects.module.imported_roots):
        yield from _by_lightning(objects)


def _by_accelerator(objects: Objects, site: CallSite, loss: ir.Expr) -> Iterator[Dividing]:
    func = site.call.func
    assert isinstance(func, ir.Attribute)
    made = [
        origin.site
        for origin in objects.origins(func.value, site.point)
        if origin.site is not None and objects.is_call_to(origin.site, _ACCELERATOR)
    ]
    if not made:
        if objects.called(site) != f"{_ACCELERATOR}.backward":
            return
        made = list(objects.calls_to(_ACCELERATOR))
    numbers = [n for each in made for n in _told_to_accelerator(objects, each)]
    numbers += _assigned_later(objects)
    is_open = any(not objects.argument(each, _STEPS, 3).known for each in made)
    if numbers or is_open or not made:
        own = f"{_ACCELERATOR}.{_STEPS}"
        by = "`accelerator.backward`"
        yield Dividing(loss, site.point, by, "divided again here", tuple(numbers), own)


def _told_to_accelerator(objects: Objects, made: CallSite) -> Iterator[Number]:
    """The numbers of batches that a constructor is given, itself or by a plugin."""
    yield from _given(objects, made, _STEPS, 3)
    for name in ("gradient_accumulation_plugin", "deepspeed_plugin", "deepspeed_plugins"):
        for origin in objects.passed(objects.argument(made, name), made.point):
            if origin.site is not None and objects.is_call_to(origin.site, *_PLUGIN):
                yield from _given(objects, origin.site, "num_steps", 0)
                yield from _given(objects, origin.site, _STEPS)


def _given(
    objects: Objects, site: CallSite, name: str, position: int | None = None
) -> Iterator[Number]:
    """What a call passes for a number of batches, unless that is 1."""
    passed = objects.argument(site, name, position)
    if objects.constant(passed, site.point) in (0, 1, None):
        return
    if passed.items:
        yield from passed.items
    elif passed.value is not None:
        yield passed.value, site.point


def _assigned_later(objects: Objects) -> Iterator[Number]:
    """``accelerator.gradient_accumulation_steps = n``."""
    for point in objects.points if _STEPS in objects.module.tokens else ():
        statement = point.statement
        for target in statement.targets if isinstance(statement, ir.Assign) else ():
            if isinstance(target, ir.Attribute) and target.attr == _STEPS:
                if objects.class_of(target.value, point) == _ACCELERATOR:
                    assert isinstance(statement, ir.Assign)
                    yield statement.value, point


def _by_engine(objects: Objects, site: CallSite, loss: ir.Expr) -> Iterator[Dividing]:
    func = site.call.func
    assert isinstance(func, ir.Attribute)
    made = [each for each in objects.origins(func.value, site.point) if _is_engine(objects, each)]
    if not made and objects.called(site) != f"{_ENGINE}.backward":
        return
    if "scale_wrt_gas" in objects.module.tokens or any(
        isinstance(here.owner, ir.With) and "no_sync" in ir.tokens_of(here.owner.context)
        for here in site.point.around
    ):
        return
    numbers = [number for origin in made for number in _configured(objects, origin)]
    own = f"{_ENGINE}.{_STEPS}"
    by = "`backward` of the engine"
    yield Dividing(loss, site.point, by, "divided again here", tuple(numbers), own)


def _is_engine(objects: Objects, origin: Origin) -> bool:
    """Is it the first of what ``deepspeed.initialize`` returns?"""
    return (
        isinstance(origin.node, ir.Call)
        and origin.item == 0
        and not origin.attributes
        and objects.is_call_to(CallSite(origin.node, origin.point), "deepspeed.initialize")
    )


def _configured(objects: Objects, engine: Origin) -> Iterator[Number]:
    """The number in the configuration that an engine is made with, where the code spells it."""
    assert isinstance(engine.node, ir.Call)
    made = CallSite(engine.node, engine.point)
    for name, position in (("config", 10), ("config_params", 11)):
        for origin in objects.passed(objects.argument(made, name, position), made.point):
            there = objects.at(origin.point)
            yield from _spelled(there, origin)


def _spelled(objects: Objects, config: Origin) -> Iterator[Number]:
    """What a file puts into a configuration under the name of the number."""
    if isinstance(config.node, ir.DictDisplay):
        yield from _items(config.node, config.point)
    if isinstance(config.node, ir.Call) and path_of(config.node.func) == ("dict",):
        yield from ((a.value, config.point) for a in config.node.args if a.keyword == _STEPS)
    for point in objects.points if _STEPS in objects.module.words else ():
        statement = point.statement
        for target in statement.targets if isinstance(statement, ir.Assign) else ():
            if isinstance(target, ir.Subscript) and _is_key(target.index):
                if any(each.node is config.node for each in objects.origins(target.value, point)):
                    assert isinstance(statement, ir.Assign)
                    yield statement.value, point


def _items(display: ir.DictDisplay, point: Point) -> Iterator[Number]:
    for key, value in zip(display.keys, display.values, strict=True):
        if key is not None and _is_key(key):
            if not (isinstance(value, ir.Literal) and value.value in (0, 1, "auto", None)):
                yield value, point


def _is_key(node: ir.Expr) -> bool:
    return isinstance(node, ir.Literal) and node.value == _STEPS


def _by_lightning(objects: Objects) -> Iterator[Dividing]:
    for cls in objects.classes.subclasses_of(_MODULE):
        step = cls.methods.get("training_step")
        if step is None or _steps_by_hand(objects, cls):
            continue
        trainers = list(_trainers(objects, cls))
        numbers = tuple(n for where, site in trainers for n in _given(where, site, _BATCHES))
        if trainers and not numbers and all(_is_told_nothing(*each) for each in trainers):
            continue
        for loss, point in _returned(objects, step):
            yield Dividing(loss, point, "Lightning", "returned here", numbers, f".{_BATCHES}")


def _steps_by_hand(objects: Objects, cls: ir.Class) -> bool:
    return any(
        "automatic_optimization" in each.attributes
        or any(not _BY_HAND.isdisjoint(method.tokens) for method in each.methods.values())
        for each in objects.classes.with_bases(cls)
    )


def _is_told_nothing(objects: Objects, trainer: CallSite) -> bool:
    """Does a Trainer surely accumulate nothing?"""
    passed = objects.argument(trainer, _BATCHES)
    is_one = objects.constant(passed, trainer.point, 1) == 1
    return is_one and "GradientAccumulationScheduler" not in objects.module.words


def _trainers(objects: Objects, cls: ir.Class) -> Iterator[tuple[Objects, CallSite]]:
    """The Trainers in the file of a module and in those that use it."""
    files = [objects.module, *users_of(objects.module, cls.name)]
    for module in dict.fromkeys(files):
        project = module.project
        where = (
            objects
            if module is objects.module or project is None
            else objects_across(module, project.catalogue_of(module))
        )
        yield from ((where, site) for site in where.calls_to(_TRAINER))


def _returned(objects: Objects, step: ir.Function) -> Iterator[Number]:
    """The losses that a training step returns, also in a dict."""
    scope = objects.scope_of(step)
    for point in objects.points_in(scope) if scope is not None else ():
        statement = point.statement
        if not isinstance(statement, ir.Return) or statement.value is None:
            continue
        for origin in objects.origins(statement.value, point):
            if isinstance(origin.node, ir.DictDisplay):
                yield from (
                    (value, origin.point)
                    for key, value in zip(origin.node.keys, origin.node.values, strict=True)
                    if isinstance(key, ir.Literal) and key.value == "loss"
                )
        yield statement.value, point


def is_own(objects: Objects, node: ir.Expr, point: Point, own: str) -> bool:
    """Is it the number as the object itself has it: ``engine.gradient_accumulation_steps()``?"""
    cls, _, name = own.rpartition(".")
    for origin in objects.origins(node, point):
        read = origin.node
        if isinstance(read, ir.Call):
            if _is_asked_for(objects, origin, cls, name):
                return True
        elif isinstance(read, ir.Attribute) and read.attr == name and not origin.attributes:
            owner = path_of(read.value)
            if objects.class_of(read.value, origin.point) == cls if cls else owner == _OWN_TRAINER:
                return True
    return False


def _is_asked_for(objects: Objects, origin: Origin, cls: str, name: str) -> bool:
    """Is it ``Accelerator(...).name``, or a call of ``engine.name()``?"""
    assert isinstance(origin.node, ir.Call)
    made, func = CallSite(origin.node, origin.point), origin.node.func
    if origin.attributes:
        return origin.attributes == (name,) and bool(cls) and objects.is_call_to(made, cls)
    if not cls or not isinstance(func, ir.Attribute) or func.attr != name:
        return False
    return objects.called(made) == f"{cls}.{name}" or any(
        _is_engine(objects, each) for each in objects.origins(func.value, origin.point)
    )
