"""DST216: all ranks are seeded alike, and draw the same noise in each training step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference, seedings
from distlint.rules.data._noise import Training, noise_of, trainings
from distlint.rules.training import WRAPPERS, evaluates
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_DRAWS = re.compile(r"^rand|^normal_?$|^bernoulli_?$|^uniform_$|^poisson$|^exponential_$")
_STEPS = frozenset({"backward", "training_step", "compute_loss"})
_STARTS = frozenset({"fit", "train"})
"""Methods of Trainers that train."""

_APART = "device_specific"
"""The option of Accelerate's ``set_seed`` that adds the rank."""

_PARALLEL = re.compile(
    r"(?:tensor|model|sequence|context|pipeline)_parallel|^mpu$|fork_rng|rng_tracker", re.IGNORECASE
)
"""What a file says of ranks that work on one sample, and so have to draw the same."""

_DEPTH = 2
"""Through how many functions a seed is passed on."""


class SameNoise(SourceRule):
    """All ranks are seeded alike, and draw the same noise for their batches.

    ```python
    torch.manual_seed(args.seed)  # bad: the same numbers on all ranks
    for images in loader:
        noise = torch.randn_like(images)
        F.mse_loss(model(images + noise), noise).backward()
    ```

    ## Use instead

    ```python
    torch.manual_seed(args.seed)
    model = DDP(Net())
    torch.manual_seed(args.seed + dist.get_rank())  # after the model is built
    for images in loader:
        noise = torch.randn_like(images)
        F.mse_loss(model(images + noise), noise).backward()
    ```

    With Accelerate, call `set_seed(args.seed, device_specific=True)`. With Lightning, seed in
    `on_fit_start`, with `seed + self.global_rank`: `seed_everything` seeds all ranks alike.

    ## Why is this bad?

    The ranks have different samples, but the first sample of each gets the same noise and the same
    time step, and so on. The gradient is averaged over n times fewer random numbers than the size
    of the global batch suggests, so it varies more from step to step. Nothing fails, and the loss
    looks as usual.

    For the initial weights it is harmless: DDP broadcasts those of the first rank, so seeds that
    differ do not matter there either. What wraps each rank's weights without a broadcast, such as
    FSDP by default, needs the same seed until the model is built. Draws that all ranks have to
    share, such as a random split of the data, need their own generator with the same seed.

    ## What is reported

    A call that seeds torch with a value which is the same on all ranks: `torch.manual_seed`,
    `set_seed` of Accelerate, transformers and diffusers, `seed_everything` of Lightning, or a
    function of the project that is named after seeding. Then the loss of a training step depends
    on `torch.randn_like`, `rand_like`, `bernoulli`, `x.normal_()`, or on `torch.randn`, `rand`,
    `randint` or `normal` of a size that depends on the batch, also in a function of another file.
    One finding for each file that seeds.

    ## What is not reported

    - A seed with the rank anywhere in the files of the script, or `device_specific=True`.
    - Draws from a generator that is passed.
    - Dropout, also by a function or class that is named after it, and tests such as
      `if torch.rand(1) < p`.
    - Random permutations, and synthetic data of a fixed size.
    - Files with names of tensor, sequence or pipeline parallelism: there some ranks have to draw
      the same numbers.

    ## Fix safety

    None: what else the seed is for has to be known.

    ## References

    - [PyTorch: Reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
    - [Accelerate: set_seed](https://huggingface.co/docs/accelerate/package_reference/utilities#accelerate.utils.set_seed)
    """

    code = "DST216"
    name = "same-noise-on-all-ranks"
    severity = Severity.INFO

    good = (
        Example(
            title="Seeded by rank once the model is built",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(7)
model = DDP(torch.nn.Linear(4, 4))
torch.manual_seed(7 + dist.get_rank())
for images in torch.ones(2, 3, 4):
    noise = torch.randn_like(images)
    drawn = [torch.empty_like(noise) for _ in range(dist.get_world_size())]
    dist.all_gather(drawn, noise)
    assert not torch.equal(drawn[0], drawn[1])
    loss = (model(images + noise) - noise).square().mean()
    loss.backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A generator for the noise",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(7)
generator = torch.Generator().manual_seed(7 + dist.get_rank())
model = DDP(torch.nn.Linear(4, 4))
for images in torch.ones(2, 3, 4):
    noise = torch.randn(images.shape, generator=generator)
    loss = (model(images + noise) - noise).square().mean()
    loss.backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="For the initial weights only",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(7)
net = torch.nn.Linear(4, 4)
with torch.no_grad():
    net.weight.copy_(torch.randn_like(net.weight))
model = DDP(net)
for images in torch.ones(2, 3, 4):
    model(images).square().mean().backward()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="One noise for all ranks",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
torch.manual_seed(7)  # expect: DST216
model = DDP(torch.nn.Linear(4, 4))
for images in torch.ones(2, 3, 4):
    noise = torch.randn_like(images)
    loss = (model(images + noise) - noise).square().mean()
    loss.backward()
drawn = [torch.empty_like(noise) for _ in range(dist.get_world_size())]
dist.all_gather(drawn, noise)
assert not torch.equal(drawn[0], drawn[1]), "both ranks drew the same noise"
dist.destroy_process_group()
""",
        ),
        Example(
            title="With Accelerate, in a function",
            effect="static",
            why_static="it shows in what the ranks draw",
            code="""\
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed


def step(model, latents, steps):
    noise = torch.randn_like(latents)
    times = torch.randint(0, steps, (len(latents),), device=latents.device)
    return F.mse_loss(model(latents + noise, times), noise)


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    set_seed(args.seed)  # expect: DST216
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for latents in loader:
        loss = step(model, latents, args.steps)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if document.is_test or module.project is None:
            return
        if not any("seed" in word.lower() for word in module.words):
            return
        objects = objects_across(module, catalogue)
        for seeding in sorted(_alike(objects), key=lambda each: each.call.site):
            files = _Files(objects, seeding)
            draw = files.draw()
            if draw is None:
                continue
            there = locators.of(draw.point.scope.module.key)
            yield self.finding(
                message="all ranks draw the same noise: their seed is the same",
                severity=Severity.INFO,
                place=locators.of(module.key).place(seeding.call.site),
                related=(Related("drawn here", there.place(draw.call.site)),),
                effect="the gradient is averaged over the random numbers of one rank",
                help="Seed with `seed + rank` after the model is built",
            )
            return


# ---- seeds that are the same on all ranks


def _alike(objects: Objects) -> Iterator[CallSite]:
    """The calls that seed torch on all ranks alike; of a helper, where that is called."""
    guards = guards_of(objects.module, objects.catalogue)
    for site in seedings(objects):
        if not _seeds_torch(objects, site, _DEPTH) or evaluates(site.point):
            continue
        if _is_by_rank(objects, site) or guards.may_be_some_ranks(site.point, call=site.call):
            continue
        if not _is_handed_on(objects, site):
            yield site


def _seeds_torch(objects: Objects, site: CallSite, depth: int) -> bool:
    """Does a call seed the default generator, itself or by a function of the project?"""
    entry = objects.catalogue.lookup(objects.called(site) or "?")
    if entry is not None and entry.seed is not None:
        return "torch" in entry.seed.streams
    there, callee = objects.function_called(site) or (objects, None)
    scope = there.scope_of(callee) if callee is not None and depth else None
    return scope is not None and any(
        _seeds_torch(there, each, depth - 1)
        for each in seedings(there)
        if each.point.scope is scope
    )


def _is_handed_on(objects: Objects, site: CallSite) -> bool:
    """Is the seed a parameter of a function that is named after seeding?"""
    scope = site.point.scope
    function = scope.function
    if function is None or not any(
        isinstance(each.value, ir.Name) and scope.has_param(each.value.id)
        for each in site.call.args
    ):
        return False
    return "seed" in function.name.lower()


def _is_by_rank(objects: Objects, site: CallSite) -> bool:
    """Does a seed differ between ranks, or may it, by what a call is given?"""
    if any(each.star for each in site.call.args):
        return True
    entry = objects.catalogue.lookup(objects.called(site) or "?")
    params = entry.seed.params if entry is not None and entry.seed is not None else ()
    apart = objects.argument(site, _APART, params.index(_APART) if _APART in params else None)
    if apart.value is not None and objects.constant(apart, site.point) is not False:
        return True
    return any(difference(objects, each.value, site.point) for each in site.call.args)


# ---- the files of a script


class _Files:
    """The files that lead to a seed, and those that these import."""

    def __init__(self, objects: Objects, seeding: CallSite) -> None:
        guards = guards_of(objects.module, objects.catalogue)
        self._guards, self._scope = guards, seeding.point.scope
        led = guards.objects_leading_to(seeding.point.scope)
        self._leading = {each.module.key: each.module for each in led}
        self._leading[objects.module.key] = objects.module
        self._all = {
            each.key: each for module in self._leading.values() for each in module.import_closure()
        }

    def draw(self) -> CallSite | None:
        """What the loss of a training step of the script draws, where no seed differs."""
        steps = [each for each in self._all.values() if not _STEPS.isdisjoint(_words(each))]
        if not steps or not any(map(_may_draw, self._all.values())):
            return None
        if any(map(_speaks_of_parts, (*self._leading.values(), *steps))):
            return None
        if any(map(_seeds_by_rank, self._all.values())):
            return None
        for module in steps:
            for training in trainings(_objects(module)):
                draw = noise_of(training)
                if draw is not None and not _on_one_rank(draw) and self._is_run(training):
                    return draw
        return None

    def _is_run(self, training: Training) -> bool:
        """Do several processes run a training step, and does the script that seeds lead to it?"""
        module, scope = training.objects.module, training.point.scope
        guards = guards_of(module, training.objects.catalogue)
        if not (
            guards.on_many_ranks(scope)
            or _is_of_wrapped(training.objects, scope)
            or self._guards.on_many_ranks(self._scope)
        ):
            return False
        if training.owner:
            return any(
                training.owner in each.words and not _STARTS.isdisjoint(each.words)
                for each in self._leading.values()
            )
        leading = {each.module.key for each in guards.objects_leading_to(scope)}
        return not leading.isdisjoint(self._leading)


def _is_of_wrapped(objects: Objects, scope: Scope) -> bool:
    """Is it a method of a class that wraps its model in another method?"""
    cls = objects.classes.of_self(scope)
    wrapping = {site.point.scope.function for site in objects.calls_to(*WRAPPERS)}
    return cls is not None and not wrapping.isdisjoint(cls.methods.values())


def _words(module: Module) -> frozenset[str]:
    return module.words | frozenset(function.name for function in module.functions)


def _may_draw(module: Module) -> bool:
    return any(map(_DRAWS.search, module.tokens))


def _speaks_of_parts(module: Module) -> bool:
    return any(map(_PARALLEL.search, module.words))


def _seeds_by_rank(module: Module) -> bool:
    """Does a file seed anything by the rank, or make a seed of it?"""
    if not any("seed" in word.lower() for word in module.words):
        return False
    objects = _objects(module)
    if any(_is_by_rank(objects, site) for site in seedings(objects)):
        return True
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, (ir.Assign, ir.AugAssign)):
            targets = statement.targets if isinstance(statement, ir.Assign) else [statement.target]
            if any("seed" in ir.last_name(each).lower() for each in targets):
                if difference(objects, statement.value, point) == "the rank":
                    return True
    return False


def _on_one_rank(draw: CallSite) -> bool:
    module = draw.point.scope.module
    guards = guards_of(module, _objects(module).catalogue)
    return guards.may_be_some_ranks(draw.point, call=draw.call)


def _objects(module: Module) -> Objects:
    assert module.project is not None
    return objects_across(module, module.project.catalogue_of(module))
