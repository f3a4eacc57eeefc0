"""Random numbers that the loss of a training step is made of, drawn by torch's own generator.

noise = torch.randn_like(images)                    # this draw
loss = F.mse_loss(model(images + noise), noise)
loss.backward()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.gradients._flow import Flow
from distlint.rules.gradients._steps import backwards
from distlint.rules.training import loops_around, repeats

_LIKE = frozenset({"torch.randn_like", "torch.rand_like", "torch.randint_like"})
_SIZED = frozenset({"torch.randn", "torch.rand", "torch.randint", "torch.normal"})
_OF_ANOTHER = frozenset({"torch.bernoulli", "torch.poisson"})
_IN_PLACE = frozenset({"normal_", "uniform_", "bernoulli_", "exponential_"})

_STEPS = {
    "training_step": ("lightning.pytorch.LightningModule",),
    "compute_loss": ("transformers.Trainer", "transformers.Seq2SeqTrainer"),
}
"""Methods that return the loss to a framework, and the classes that they are of."""

_WRAPS = frozenset(
    {"DistributedDataParallel", "DDP", "FSDP", "prepare", "prepare_model", "compile"}
)
"""What gives back the model that it is given, in a wrapper."""

_DEPTH = 5
"""Through how many calls a loss is followed."""


@dataclass(frozen=True, slots=True)
class Training:
    """Where a loss goes back through the model: a backward pass, or what a framework calls."""

    objects: Objects
    point: Point
    loss: ir.Expr
    owner: str = ""
    """The class of a framework's method."""


def trainings(objects: Objects) -> Iterator[Training]:
    """The training steps of a module."""
    tokens = objects.module.tokens
    for backward in backwards(objects) if "backward" in tokens else ():
        if _is_repeated(backward.site.point):
            yield Training(objects, backward.site.point, backward.loss)
    for name, bases in _STEPS.items():
        for cls in objects.classes.subclasses_of(*bases):
            scope = objects.scope_of(cls.methods[name]) if name in cls.methods else None
            for point in objects.points_in(scope) if scope is not None else ():
                if isinstance(point.statement, ir.Return) and point.statement.value is not None:
                    yield Training(objects, point, point.statement.value, cls.name)


def _is_repeated(point: Point) -> bool:
    """Is it in a loop, or in a function that may be called in one?"""
    loops = list(loops_around(point))
    return any(map(repeats, loops)) if loops else point.scope.function is not None


def noise_of(training: Training) -> CallSite | None:
    """The first draw from the default generator that the loss of a training step depends on."""
    search = _Search(training)
    found = list(search.in_scope(training.objects, training.point, (training.loss,), _DEPTH))
    here = [each for each in found if each.point.scope is training.point.scope]
    return min(here, key=lambda each: each.call.site) if here else next(iter(found), None)


class _Search:
    """The way back from a loss to the random numbers in it."""

    def __init__(self, training: Training) -> None:
        self._loops = list(loops_around(training.point))
        self._scope = training.point.scope
        self._seen: set[ir.Function] = set()

    def in_scope(
        self, objects: Objects, end: Point, values: Iterable[ir.Expr], depth: int
    ) -> Iterator[CallSite]:
        """The draws that some values of a function are made of."""
        scope = end.scope
        sources: set[Path] = set()
        for value in values:
            yield from self._in_value(objects, value, end, depth)
            for path in set(_paths(value)):
                sources |= Flow(objects, scope, path).sources
        for point in objects.points_in(scope):
            made = _made_by(point.statement)
            if made is None or not self._is_in_step(point):
                continue
            targets, value = made
            if any(_overlap(path, source) for path in targets for source in sources):
                yield from self._in_value(objects, value, point, depth)

    def _is_in_step(self, point: Point) -> bool:
        """Is a statement made once for each step, as far as its function shows?"""
        if point.scope is not self._scope or not self._loops:
            return True
        return any(loop is self._loops[0] for loop in loops_around(point))

    def _in_value(
        self, objects: Objects, value: ir.Expr, point: Point, depth: int
    ) -> Iterator[CallSite]:
        for node in expressions_in(value):
            if isinstance(node, ir.Call):
                site = CallSite(node, point)
                if _is_draw(objects, site):
                    yield site
                elif depth:
                    yield from self._in_callee(objects, site, depth - 1)

    def _in_callee(self, objects: Objects, site: CallSite, depth: int) -> Iterator[CallSite]:
        called = [*_called(objects, site)]
        if not called and depth == _DEPTH - 1:  # deeper, it is a layer, such as stochastic depth
            called = [*_forward(objects, site)]
        for where, function in called:
            if function in self._seen or _drops(function) or function.generator:
                continue
            self._seen.add(function)
            scope = where.scope_of(function)
            for point in where.points_in(scope) if scope is not None else ():
                statement = point.statement
                if isinstance(statement, ir.Return) and statement.value is not None:
                    yield from self.in_scope(where, point, (statement.value,), depth)


def _made_by(statement: ir.Stmt) -> tuple[list[Path], ir.Expr] | None:
    """What a statement gives a value, and from what."""
    if isinstance(statement, ir.Assign):
        parts = [part for each in statement.targets for part in _parts(each)]
        return [path for each in parts if (path := path_of(each))], statement.value
    if isinstance(statement, ir.AugAssign):
        path = path_of(statement.target)
        return ([path], statement.value) if path else None
    return None


def _parts(target: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(target, ir.Display):
        for each in target.items:
            yield from _parts(each)
    elif isinstance(target, ir.Subscript):
        yield from _parts(target.value)
    else:
        yield target


def _overlap(path: Path, source: Path) -> bool:
    size = min(len(path), len(source))
    return path[:size] == source[:size] and (size > 1 or path == source or path != ("self",))


def _paths(value: ir.Expr) -> Iterator[Path]:
    return (p for e in expressions_in(value) if isinstance(e, ir.Expr) and (p := path_of(e)))


def _drops(function: ir.Function) -> bool:
    """Is it dropout by hand, of layers, labels or tokens?"""
    return "drop" in function.name.lower() or "drop" in function.owner.lower()


# ---- what is called


def _called(objects: Objects, site: CallSite) -> Iterator[tuple[Objects, ir.Function]]:
    """The functions of the project that a call may call, also of any of several classes."""
    there, callee = objects.callee_anywhere(site) or (objects, None)
    if isinstance(callee, ir.Function):
        yield there, callee
    elif callee is None and isinstance(site.call.func, ir.Attribute):
        for origin in objects.origins(site.call.func.value, site.point):
            yield from _method_of(objects, origin.site, site.call.func.attr)


def _forward(objects: Objects, site: CallSite) -> Iterator[tuple[Objects, ir.Function]]:
    """What runs where the call is one of a model of the project, also of one that is wrapped."""
    waiting = [(site.call.func, site.point)]
    seen: set[int] = set()
    for node, point in waiting:  # grows meanwhile
        for origin in objects.origins(node, point):
            made = origin.node
            if not isinstance(made, ir.Call) or origin.attributes or id(made) in seen:
                continue
            seen.add(id(made))
            yield from _method_of(objects, CallSite(made, origin.point), "forward")
            if ir.last_name(made.func) in _WRAPS and len(made.args) > (origin.item or 0):
                waiting.append((made.args[origin.item or 0].value, origin.point))


def _method_of(
    objects: Objects, made: CallSite | None, name: str
) -> Iterator[tuple[Objects, ir.Function]]:
    """A method of the object that a call makes of a class of the project."""
    there, cls = (objects.callee_anywhere(made) if made is not None else None) or (objects, None)
    method = there.method_anywhere(cls, name) if isinstance(cls, ir.Class) else None
    if method is not None:
        yield method


# ---- what draws


def _is_draw(objects: Objects, site: CallSite) -> bool:
    """Does a call draw for each sample, from the generator that the process has anyway?"""
    if not objects.argument(site, "generator").absent:
        return False
    called = objects.called(site)
    if called in _LIKE or called in _OF_ANOTHER:
        return True
    if called in _SIZED:
        return _is_sized_by_batch(objects, site)
    func = site.call.func
    return (
        isinstance(func, ir.Attribute)
        and func.attr in _IN_PLACE
        and not called.startswith("torch.nn.init.")
    )


def _is_sized_by_batch(objects: Objects, site: CallSite) -> bool:
    """Does the number of values depend on other data, as ``len(images)`` or ``x.shape`` do?"""
    waiting = [(each.value, site.point) for each in site.call.args if each.keyword != "device"]
    seen: set[int] = set()
    for node, point in waiting:  # grows meanwhile
        for part in expressions_in(node):
            if isinstance(part, ir.Call) and ir.last_name(part.func) in ("len", "size"):
                return True
            if isinstance(part, ir.Attribute) and part.attr == "shape":
                return True
            if isinstance(part, (ir.Name, ir.Attribute)) and id(part) not in seen:
                seen.add(id(part))
                waiting += [
                    (origin.node, origin.point)
                    for origin in objects.origins(part, point)
                    if isinstance(origin.node, ir.Expr) and origin.node is not part
                ]
    return False
