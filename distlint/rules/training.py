"""What rules about data and gradients ask of a script: its loaders, its loops, its evaluation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from distlint.analyzer import ir
from distlint.analyzer.static.across import Place, origins_across
from distlint.analyzer.static.names import expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.arguments import Passed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.origins import NAMESPACES
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of

LOADER = "torch.utils.data.DataLoader"
SAMPLER = "torch.utils.data.DistributedSampler"
BATCH_SAMPLER = "torch.utils.data.BatchSampler"
DDP = ("torch.nn.parallel.DistributedDataParallel", "DDP")
"""The class, and the name that it has where a star import brings it."""

WRAPPERS = (*DDP, "torch.distributed.fsdp.FullyShardedDataParallel", "FSDP")

NO_GRAD = frozenset({"no_grad", "inference_mode"})
"""What leaves no graph for a backward pass."""

_LOADER_PARAMS = (
    "dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn",
    "pin_memory", "drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator",
)  # fmt: skip
_SAMPLER_PARAMS = ("dataset", "num_replicas", "rank", "shuffle", "seed", "drop_last")

_EVALUATION = re.compile(
    r"(?:^|_|\b)(?:val|valid|validate|validation|test|tests|testing|eval|evaluate|evaluation|infer"
    r"|inference|predict|prediction|dev|calib|calibrate|calibration)(?:\d*$|_|\b|loader|set|data)"
)
ONLY_LOOKS = frozenset(
    {
        "len", "enumerate", "iter", "zip", "next", "tqdm", "trange", "cycle", "islice",
        "isinstance",
        "print", "type", "id", "hasattr", "getattr", "track", "range", "BatchSampler", "chain",
        "ceil", "list", "dict", "tuple", "update", "setdefault", "int", "str", "format", "info",
        "debug",
    }
)  # fmt: skip
"""Calls that do not tell a sampler about the epoch, whatever else they do."""


@dataclass(frozen=True, slots=True)
class Made:
    """A loader or a sampler: the call that makes it, and the one that is given the options.

    They differ for a class of the module's own, which hands options on to ``super().__init__``.
    """

    site: CallSite
    objects: Objects
    params: tuple[str, ...]
    options: CallSite

    @property
    def call(self) -> ir.Call:
        return self.site.call

    def option(self, name: str) -> Passed:
        position = self.params.index(name) if name in self.params else None
        return self.objects.argument(self.options, name, position)

    def constant(self, name: str, default: object = None) -> object:
        """The constant that is given for an option; Ellipsis if it is none."""
        return self.objects.constant(self.option(name), self.options.point, default)

    def origins(self, name: str) -> tuple[Origin, ...]:
        """Where the value of an option comes from; none when it is not given."""
        return self.objects.passed(self.option(name), self.options.point)

    def places(self, name: str) -> Iterator[Place]:
        """The same, also from other files."""
        passed = self.option(name)
        values = passed.items or ((passed.value, self.options.point),)
        for value, point in values:
            if value is not None:
                yield from origins_across(self.objects, value, point)


def loaders(objects: Objects) -> Iterator[Made]:
    """The ``torch.utils.data.DataLoader``s that a module makes, also by classes derived from it."""
    for site in objects.calls_to(LOADER):
        yield Made(site, objects, _LOADER_PARAMS, site)
    for cls in objects.classes.subclasses_of(LOADER):
        constructor = cls.methods.get("__init__")
        given = None
        if constructor is not None:
            given = next(objects.classes.super_calls(constructor), None)
            if given is None:
                continue
        for site in objects.calls({cls.name}):
            if objects.callee(site) is cls:
                yield Made(site, objects, _LOADER_PARAMS, given or site)


def samplers(objects: Objects) -> Iterator[Made]:
    """The ``DistributedSampler``s that a module makes."""
    for site in objects.calls_to(SAMPLER):
        yield Made(site, objects, _SAMPLER_PARAMS, site)


def draws_from(loader: Made, sampler: Made) -> bool:
    """Does a loader get its indices from a sampler, itself or through a batch sampler?"""
    for name in ("sampler", "batch_sampler"):
        for origin in loader.origins(name):
            if origin.call is sampler.call:
                return True
            if origin.site is not None and loader.objects.is_call_to(origin.site, BATCH_SAMPLER):
                inner = loader.objects.argument(origin.site, "sampler", 0).value
                if inner is not None and loader.objects.uses.is_made_by(
                    sampler.call, inner, origin.point
                ):
                    return True
    return False


def is_evaluation(name: str) -> bool:
    """Does a name speak of validation or of testing?"""
    return _EVALUATION.search(name.lower()) is not None


def evaluates(point: Point) -> bool:
    """Does a statement stand in code that evaluates: by a function's name, or under no_grad?"""
    if any(leaves_no_gradient(here.owner) for here in point.around):
        return True
    scope = point.scope
    while scope is not None and scope.function is not None:
        function = scope.function
        if is_evaluation(function.name) or any(
            not NO_GRAD.isdisjoint(ir.tokens_of(each)) for each in function.decorators
        ):
            return True
        if scope.outer is None:
            break
        scope = scope.outer
    return False


def leaves_no_gradient(owner: object) -> bool:
    """Is it a ``with torch.no_grad()``?"""
    return isinstance(owner, ir.With) and not NO_GRAD.isdisjoint(ir.tokens_of(owner.context))


def is_bare_arm(point: Point, model: ir.Expr, node: ir.Expr) -> bool:
    """Is an expression for the runs that wrap nothing, by what stands beside it?

    ``model.module.x if wrapped else model.x``, also in the arms of an ``if``, behind one that
    leaves, or in the handler of a ``try``: where it is wrapped, the other one takes the model out.
    """
    path = path_of(model)
    if path is None:
        return False
    for part in nodes_of(point.statement):
        if isinstance(part, ir.Conditional):
            for arm, other in ((part.body, part.orelse), (part.orelse, part.body)):
                if any(each is node for each in expressions_in(arm)):
                    if any(_takes_out(each, path) for each in expressions_in(other)):
                        return True
    for here in point.around:
        beside = [each.body for each in here.block[: here.index] if _leaves_by_body(each)]
        if isinstance(here.owner, ir.If):
            beside.append(here.owner.orelse if here.block is here.owner.body else here.owner.body)
        if isinstance(here.owner, ir.Try):
            if any(here.block is handler.body for handler in here.owner.handlers):
                beside.append(here.owner.body)
        for block in beside:
            for statement, _ in placed(block):
                if any(_takes_out(each, path) for each in nodes_of(statement)):
                    return True
    return False


def _leaves_by_body(statement: ir.Stmt) -> TypeGuard[ir.If]:
    return isinstance(statement, ir.If) and not statement.orelse and ir.is_left(statement.body)


def _takes_out(node: object, path: Path) -> bool:
    """Is it ``model.module`` of a model?"""
    return (
        isinstance(node, ir.Attribute)
        and node.attr in ("module", "_orig_mod")
        and path_of(node.value) == path
    )


def names_of(site: CallSite) -> tuple[str, ...]:
    """The last names of the variables that a statement binds to what it calls."""
    statement = site.point.statement
    targets: tuple[ir.Expr, ...] = ()
    if isinstance(statement, ir.Assign):
        targets = statement.targets
    paths = [path_of(target) for target in targets]
    return tuple(path[-1] for path in paths if path is not None)


def is_named_for_evaluation(site: CallSite) -> bool:
    """Do the names that a call's result is kept under speak of validation or of testing?

    Of variables, of a list or dict that it is put into, and of its key there.
    """
    return any(map(is_evaluation, (*names_of(site), *_kept_under(site))))


def _kept_under(site: CallSite) -> Iterator[str]:
    """The containers that a statement puts into what a call makes, and the keys."""
    statement = site.point.statement
    for target in statement.targets if isinstance(statement, ir.Assign) else ():
        if isinstance(target, ir.Subscript):
            yield ir.last_name(target.value)
            if isinstance(target.index, ir.Literal):
                yield str(target.index.value)
    for node in nodes_of(statement):
        if isinstance(node, ir.DictDisplay):
            for key, value in zip(node.keys, node.values, strict=True):
                if value is site.call and isinstance(key, ir.Literal):
                    yield str(key.value)
        elif isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
            if any(each.value is site.call for each in node.args):
                yield ir.last_name(node.func.value)


def loops_around(point: Point) -> Iterator[ir.For | ir.While]:
    """The loops of its function that a statement stands in, the innermost first."""
    for here in reversed(point.around):
        owner = here.owner
        if isinstance(owner, (ir.For, ir.While)) and here.block is owner.body:
            yield owner


def repeats(loop: ir.For | ir.While) -> bool:
    """May a loop take more than one turn?"""
    if not isinstance(loop, ir.For):
        return True
    call = loop.iterable
    while isinstance(call, ir.Call) and path_of(call.func) != ("range",) and call.args:
        call = call.args[0].value  # tqdm(range(1))
    if isinstance(call, ir.Call) and len(call.args) == 1:
        count = call.args[0].value
        return not (isinstance(count, ir.Literal) and count.value in (0, 1))
    return True


def goes_elsewhere(objects: Objects, made: Made) -> bool:
    """Is a loader or sampler handed to code that is not in the module?

    To a framework that takes it over, or to a helper that may tell it the epoch.
    """
    given = {loader.options.call for loader in loaders(objects)}
    passed = [made.call]
    for call in passed:  # grows meanwhile
        for site in (
            *(each for each, _ in objects.uses.passed_to(call)),
            *objects.uses.passed_within(call),
        ):
            if site.name in ONLY_LOOKS or site.call in given or objects.callee(site) is not None:
                continue
            if objects.puts_in(site):
                continue
            if goes_through_argument(objects, site) or site.name in NAMESPACES:
                passed += [site.call] if site.call not in passed else []
            elif not objects.is_undefined(site) and not trains_elsewhere(objects, site):
                return True
    return False


def goes_through_argument(objects: Objects, site: CallSite) -> bool:
    """Is it a class of a library that only goes through what it wraps: a progress bar?"""
    entry = objects.catalogue.lookup(objects.called(site))
    return entry is not None and entry.cls is not None and entry.cls.wraps is not None


def trains_elsewhere(objects: Objects, site: CallSite) -> bool:
    """Is it a call of a function for training in another file, which tells no sampler the epoch?

    Neither does a file that it imports, so that none of its helpers can.
    """
    func = site.call.func
    if not isinstance(func, ir.Name) or is_evaluation(func.id):
        return False
    there = objects.module.imported(func.id)
    if there is None:
        return False
    module, function = there
    tokens = frozenset[str]().union(*(each.tokens for each in (module, *module.imports)))
    loops = any(isinstance(statement, ir.For) for statement in function.body)
    trains = not tokens.isdisjoint({"backward", "zero_grad"})
    return loops and trains and "set_epoch" not in tokens


def iterations(objects: Objects, loader: Made) -> Iterator[Point]:
    """Where a loader is gone through, once."""
    yield from objects.uses.iterated_by(loader.call)
    for point, _ in comprehensions_over(objects, loader):
        yield point
    for site in objects.calls({"iter"}):
        if site.call.args and objects.uses.is_made_by(
            loader.call, site.call.args[0].value, site.point
        ):
            yield site.point
    for site, _ in objects.uses.passed_to(loader.call):
        if objects.is_undefined(site) or trains_elsewhere(objects, site):
            yield site.point


def comprehensions_over(objects: Objects, loader: Made) -> Iterator[tuple[Point, ir.Comprehension]]:
    """The comprehensions that go through a loader, and their statements."""
    for point in objects.points:
        for node in nodes_of(point.statement):
            if isinstance(node, ir.Comprehension) and any(
                objects.uses.is_made_by(loader.call, iterable, point)
                for _, iterable, _ in node.clauses
            ):
                yield point, node
