"""Loops over epochs: where they are, and how the sampler is told the epoch there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.inheritance import calls_by_bases
from distlint.analyzer.static.names import expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.fixers import names, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.training import (
    Made,
    comprehensions_over,
    draws_from,
    evaluates,
    goes_elsewhere,
    is_named_for_evaluation,
    iterations,
    loaders,
    loops_around,
    repeats,
)

_NOTHING = ir.Literal(None)
_DEPTH = 4
"""Through how many calls the loop over the epochs is looked for."""


@dataclass(frozen=True, slots=True)
class Epochs:
    """A loop that goes through a loader again and again, and where it does so."""

    loop: Point
    use: Point
    loader: Made


def set_epoch(epochs: Epochs, draft: Draft, *, always: bool) -> None:
    """Tell the loader's sampler the epoch, first in the loop; ``always`` if it surely takes it."""
    loop, path = epochs.loop.statement, _at_hand(epochs)
    if not isinstance(loop, ir.For) or not isinstance(loop.target, ir.Name) or path is None:
        raise CannotFix("the loop has no number, or the loader no name in it")
    if loop.target.id.strip("_") == "":
        raise CannotFix("the epoch number is discarded")
    node = draft.node(loop.site, cst.For)
    first = statements.statement_of(draft, draft.locator.node(loop.body[0].site))
    if path[0] != "self" and not names.available(draft, path[0], first):
        raise CannotFix("the loader may not be there yet")
    between = "" if epochs.loader.option("batch_sampler").absent else ".batch_sampler"
    held = f"{'.'.join(path)}{between}.sampler"
    lines = [f"{held}.set_epoch({draft.text(node.target)})"]
    if not always:
        lines = [f'if hasattr({held}, "set_epoch"):', f"    {lines[0]}"]
    statements.insert_before(draft, first, *lines)


def _at_hand(epochs: Epochs) -> Path | None:
    """The loader as the loop over the epochs can name it."""
    statement = epochs.use.statement
    iterable = statement.iterable if isinstance(statement, ir.For) else None
    objects = epochs.loader.objects
    while isinstance(iterable, ir.Call) and not objects.uses.is_made_by(
        epochs.loader.call, iterable, epochs.use
    ):
        iterable = iterable.args[0].value if iterable.args else None  # enumerate(tqdm(loader))
    path = path_of(iterable)
    if path is None or not objects.uses.is_made_by(
        epochs.loader.call, iterable or _NOTHING, epochs.use
    ):
        return None
    same = epochs.use.scope is epochs.loop.scope
    return path if same or (path[0] == "self" and len(path) == 2) else None


def epochs_of(objects: Objects, sampler: Made) -> Iterator[Epochs]:
    """The loops over epochs of training with a sampler that nobody else can tell of them."""
    for loader in loaders(objects):
        if (
            draws_from(loader, sampler)
            and not is_named_for_evaluation(loader.site)
            and not goes_elsewhere(objects, loader)
        ):
            yield from epochs_over(objects, loader, sampler)


def epochs_over(objects: Objects, loader: Made, made: Made) -> Iterator[Epochs]:
    """The loops over epochs of a loader, outside of those in which ``made`` is made anew."""
    for use in iterations(objects, loader):
        if not evaluates(use) and not passes_over(use.statement):
            for loop in _repeated(objects, use, loader, made, _DEPTH):
                yield Epochs(loop, use, loader)
    for use, inner in comprehensions_over(objects, loader):
        if not evaluates(use) and _is_repeated_inside(use.statement, inner):
            yield Epochs(use, use, loader)


def passes_over(statement: ir.Stmt) -> bool:
    """Is it a loop that reads nothing of its batches, so that their order is all the same?"""
    if not isinstance(statement, ir.For) or not statement.body:
        return False
    iterable, target = statement.iterable, statement.target
    if isinstance(iterable, ir.Call) and ir.last_name(iterable.func) == "enumerate":
        if not isinstance(target, ir.Display) or len(target.items) != 2:
            return False
        target = target.items[1]
    return ir.tokens_of(target).isdisjoint(ir.block_tokens(statement.body))


def _is_repeated_inside(statement: ir.Stmt, inner: ir.Comprehension) -> bool:
    """Is a comprehension made again for each number of another one around it?"""
    return any(
        isinstance(outer, ir.Comprehension)
        and any(node is inner for node in expressions_in(outer.element))
        and all(_is_range(iterable) for _, iterable, _ in outer.clauses)
        for outer in nodes_of(statement)
    )


def _is_range(iterable: ir.Expr) -> bool:
    return isinstance(iterable, ir.Call) and path_of(iterable.func) == ("range",)


def _repeated(
    objects: Objects, use: Point, loader: Made, sampler: Made, depth: int
) -> Iterator[Point]:
    """The loops in which a statement is run once more, here or where its function is called."""
    for loop in loops_around(use):
        if repeats(loop) and not _makes(loop, sampler):
            point = point_of(objects, loop)
            if not takes_next(objects, point, loader.call):
                yield point
    function = use.scope.function
    if function is not None and depth:
        by_bases = (c for where, c in calls_by_bases(objects, function) if where is objects)
        for caller in (*objects.callers(function), *by_bases):
            if not evaluates(caller.point):
                yield from _repeated(objects, caller.point, loader, sampler, depth - 1)


def _makes(loop: ir.For | ir.While, sampler: Made) -> bool:
    """Is the sampler made anew in each turn: then it is a loop over folds, or data sets?"""
    return any(here.owner is loop for here in sampler.site.point.around)


def takes_next(objects: Objects, loop: Point, loader: ir.Call) -> bool:
    """Does a loop take another loader in each turn, of a list or a dict of them?"""
    statement = loop.statement
    if not isinstance(statement, ir.For):
        return False
    if any(
        objects.uses.holds(node, loop, loader)
        for node in expressions_in(statement.iterable)
        if isinstance(node, (ir.Name, ir.Attribute, ir.Subscript, ir.Display, ir.Call))
    ):
        return True
    turn = ir.tokens_of(statement.target)
    return any(
        not turn.isdisjoint(ir.tokens_of(node.index))
        and any(here.owner is statement for here in point.around)
        and objects.uses.holds(node.value, point, loader)
        for node, point in objects.nodes(ir.Subscript)
    )


def point_of(objects: Objects, statement: ir.Stmt) -> Point:
    return next(point for point in objects.points if point.statement is statement)


def made_for_each_pass(objects: Objects, sampler: Made) -> ir.Function | None:
    """The ``__iter__`` of the class that keeps a sampler and draws from it in each pass.

    Not where its name is ``sampler``, by which loops outside of the class look for it.
    """
    function = sampler.site.point.scope.function
    cls = objects.module.classes.get(function.owner) if function is not None else None
    begins = cls.methods.get("__iter__") if cls is not None else None
    if cls is None or begins is None or not {"sampler", "batch_sampler"}.isdisjoint(_kept(cls)):
        return None
    run = [begins, *(each for each in cls.methods.values() if each.name in begins.tokens)]
    for loader in loaders(objects):
        if loader.site.point.scope.function in run and draws_from(loader, sampler):
            return begins
    return None


def _kept(cls: ir.Class) -> Iterator[str]:
    """The attributes that the methods of a class give its objects."""
    for method in cls.methods.values():
        for statement, _ in placed(method.body):
            for target in statement.targets if isinstance(statement, ir.Assign) else ():
                if isinstance(target, ir.Attribute):
                    yield target.attr
