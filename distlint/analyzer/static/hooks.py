"""What a framework goes on to do when a hook of the project returns.

A hook is called from a loop that is not in the code: after ``training_step`` comes the backward of
the loss it returned, and after any hook the next step, unless the hook has set a flag that stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.catalogue.shipped import distributions
from distlint.source.requirements import asks_for_older

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.project.module import Module

STOP_FLAGS = frozenset({"should_stop", "should_training_stop", "should_epoch_stop"})
"""Attributes that a framework reads on each rank to see whether it goes on."""

BACKWARD = "$backward"
GO_ON = "$go_on"
RESULT = "[result]"
NEXT_STEP = "the next training step"
"""Name of the collective for which the ranks meet after a hook."""

_STEP = "training_step"
_MODULES = frozenset({"lightning.pytorch.LightningModule"})
_LOOPS = _MODULES | {"lightning.pytorch.Callback", "transformers.TrainerCallback"}

_GONE = {"on_keyboard_interrupt": "1.7"}
"""Hooks of Lightning that it calls no more, since when."""
LIGHTNING = frozenset({"lightning", "pytorch_lightning"})
"""The packages that a Trainer of Lightning comes from."""

_WITH_BATCH = frozenset({_STEP, "validation_step", "test_step", "predict_step"})
"""Methods that a framework calls with the batch of this rank."""

_AROUND_BATCH = frozenset(
    f"on_{stage}_batch_{edge}"
    for stage in ("train", "validation", "test", "predict")
    for edge in ("start", "end")
)
_OF_BATCH = frozenset({"batch", "outputs"})
"""Parameters of the hooks around a step that hold the batch of this rank, or what came of it."""


def is_of_batch(function: ir.Function, param: ir.Param) -> bool:
    """Does a framework pass the batch of this rank here, or what came of it?"""
    if not function.owner:
        return False
    if function.name in _WITH_BATCH:
        return param in function.params[1:2]
    return function.name in _AROUND_BATCH and param.name in _OF_BATCH


def following(function: ir.Function, owners: Iterable[object]) -> tuple[str, ...]:
    """What is done after a hook of a class with these bases: names of builtin steps."""
    bases = frozenset(owner for owner in owners if isinstance(owner, str))
    steps: list[str] = []
    if function.name == _STEP and not bases.isdisjoint(_MODULES):
        steps.append(BACKWARD)
    if not (bases.isdisjoint(_LOOPS) or function.tokens.isdisjoint(STOP_FLAGS)):
        steps.append(GO_ON)
    return tuple(steps)


def may_be_hook(function: ir.Function) -> bool:
    """Can a function be one after which something is done? By its looks alone."""
    return bool(function.owner) and (
        function.name == _STEP or not function.tokens.isdisjoint(STOP_FLAGS)
    )


def is_gone(function: ir.Function, module: Module) -> bool:
    """Is it a hook that Lightning calls no more, unless the project keeps to an old version?"""
    since = _GONE.get(function.name)
    return (
        since is not None
        and bool(function.owner)
        and not LIGHTNING.isdisjoint(module.imported_roots)
        and not asks_for_older_lightning(module, since)
    )


def asks_for_older_lightning(module: Module, version: str) -> bool:
    """Does the project hold itself to versions of Lightning that are older than this one?"""
    return keeps_to_older(module, "lightning", version)


def keeps_to_older(module: Module, framework: str, version: str) -> bool:
    """Does the project hold itself to versions of a framework that are older than this one?"""
    names = distributions().get(framework, (framework,))
    return any(asks_for_older(module.path, name, version) for name in names)


def called(call: ir.Call, steps: Iterable[str]) -> ir.Block:
    """The statements that call a hook and do what follows."""
    result = ir.Name(RESULT)
    first: ir.Stmt = ir.Assign((result,), call, call.site)
    return (
        first,
        *(
            ir.Evaluate(ir.Call(ir.Name(step), (ir.Argument(result),), call.site), call.site)
            for step in steps
        ),
    )


def sets_stop_flag(node: object) -> bool:
    """Is it an assignment to a flag that stops the loop of a framework?"""
    return isinstance(node, ir.Assign) and any(
        isinstance(target, ir.Attribute) and target.attr in STOP_FLAGS for target in node.targets
    )
