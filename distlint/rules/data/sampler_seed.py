"""DST211: a sampler whose seed is another one on each rank."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.hooks import LIGHTNING
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls, imports, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference, is_seeded
from distlint.rules.training import loaders, samplers
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.training import Made
    from distlint.source.document import Document

_TRAINER = "lightning.pytorch.Trainer"
_DRAW = frozenset({"SubsetRandomSampler", "WeightedRandomSampler"})
_RANDOM = tuple(
    f"torch.utils.data{module}.{name}" for name in sorted(_DRAW) for module in ("", ".sampler")
)


class SamplerSeedDiffers(SourceRule):
    """The seed of a `DistributedSampler` differs between ranks.

    ```python
    seed = 42 + dist.get_rank()
    torch.manual_seed(seed)
    sampler = DistributedSampler(data, seed=seed)
    ```

    ## Use instead

    ```python
    torch.manual_seed(42 + dist.get_rank())  # different dropout and augmentation
    sampler = DistributedSampler(data, seed=42)  # the same shuffle on all ranks
    ```

    A seed from a clock has to be broadcast first.

    ## Why is this bad?

    Each rank shuffles all indices with this seed and takes every n-th of the result. The shards are
    disjoint only if all ranks shuffle the same way. With two ranks and different seeds, a quarter
    of the samples is drawn twice and a quarter not at all in each epoch, without any error. In the
    same way, Lightning takes every n-th index of the order that each rank has drawn by itself.

    ## What is reported

    `DistributedSampler(..., seed=...)` with a seed that comes from the rank, from a clock, or from
    random numbers of the process; also from the rank or a clock in another file, and where it is
    assigned later, `loader.sampler.seed = seed + rank`. Also, as a warning, a `SubsetRandomSampler`
    or `WeightedRandomSampler` without a generator that Lightning's `Trainer` shards across several
    devices, in a file that seeds nothing.

    ## What is not reported

    - The seed is the same on all ranks, or its origin is unknown.
    - The seed is broadcast.
    - Lightning does not replace samplers (`use_distributed_sampler=False`).

    ## Fix safety

    Unsafe: a rank that is added in place is removed, so `seed + rank` becomes `seed`; any other
    seed becomes that of the first rank, `agreed_seed(seed)`. The order of the samples changes.

    ## References

    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST211"
    name = "sampler-seed-differs"
    shared = (r"\bDistributedSampler\(", r"\.seed *=")
    severity = Severity.ERROR
    exceptions = (Severity.WARNING,)

    good = (
        Example(
            title="One seed for the order, another for dropout",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(7 + dist.get_rank())
sampler = DistributedSampler(range(32), seed=7)
drawn = torch.tensor(list(sampler))
parts = [torch.empty_like(drawn) for _ in range(dist.get_world_size())]
dist.all_gather(parts, drawn)
assert len(set(torch.cat(parts).tolist())) == 32
dist.destroy_process_group()
""",
        ),
        Example(
            title="A broadcast seed from a clock",
            code="""\
import time
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("gloo")
seeds = [time.time_ns() % 2**31]
dist.broadcast_object_list(seeds, src=0)
seed = seeds[0]
sampler = DistributedSampler(range(32), seed=seed)
print("seed =", sampler.seed)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Lightning shards what each rank draws",
            effect="static",
            why_static="it shows in which samples the ranks get",
            code="""\
import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def fit(module, weights):
    data = TensorDataset(torch.arange(64.0))
    sampler = WeightedRandomSampler(weights, 64)  # expect: DST211
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    trainer = L.Trainer(devices=4, strategy="ddp")
    trainer.fit(module, loader)
""",
        ),
        Example(
            title="The rank is added to the seed",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("gloo")
seed = 7 + dist.get_rank()
torch.manual_seed(seed)
sampler = DistributedSampler(range(32), seed=seed)  # expect: DST211
drawn = torch.tensor(list(sampler))
parts = [torch.empty_like(drawn) for _ in range(dist.get_world_size())]
dist.all_gather(parts, drawn)
seen = set(torch.cat(parts).tolist())
assert len(seen) == 32, f"of 32 samples the ranks drew {len(seen)}"
""",
        ),
        Example(
            title="The rank is added in the call",
            effect="wrong data",
            code="""\
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("gloo")
rank = dist.get_rank()
sampler = DistributedSampler(range(32), seed=7 + rank)  # expect: DST211
print("seed =", sampler.seed)
dist.barrier()
""",
        ),
        Example(
            title="A seed from the clock of each process",
            effect="wrong data",
            code="""\
import time
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("gloo")
sampler = DistributedSampler(range(32), seed=time.time_ns() % 2**31)  # expect: DST211
print("seed =", sampler.seed)
dist.barrier()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not LIGHTNING.isdisjoint(module.imported_roots) and not _DRAW.isdisjoint(module.words):
            yield from self._drawn_by_each(objects_across(module, catalogue), module, locators)
        if "sampler" in module.words and "seed" in module.words:
            for statement, reason in _assigned(objects_across(module, catalogue)):
                yield self._differs(statement.site, reason, locators, module)
        if "DistributedSampler" not in module.words:
            return
        objects = objects_across(module, catalogue)
        for sampler in samplers(objects):
            seed = sampler.option("seed").value
            if seed is None or sampler.constant("shuffle", True) is False:
                continue
            why = difference(objects, seed, sampler.options.point)
            if why is not None:
                draft = Draft(locators.of(module.key), module, catalogue)
                yield self._differs(
                    sampler.call.site, why, locators, module, partial(_fix, sampler, draft)
                )

    def _differs(
        self,
        site: int,
        why: str,
        locators: Locators,
        module: Module,
        fix: Callable[[], Fix | None] | None = None,
    ) -> Finding:
        return self.finding(
            message=f"sampler seed depends on {why}",
            severity=Severity.ERROR,
            place=locators.of(module.key).place(site),
            effect="ranks shuffle differently: some samples are drawn by several ranks, "
            "others by none",
            help="Pass the same seed on all ranks",
            fix=fix,
        )

    def _drawn_by_each(
        self, objects: Objects, module: Module, locators: Locators
    ) -> Iterator[Finding]:
        """Random samplers that Lightning divides, each rank having drawn for itself."""
        trainer = next(
            (site for site in objects.calls_to(_TRAINER) if _divides(objects, site)), None
        )
        if trainer is None or is_seeded(objects):
            return
        for loader in loaders(objects):
            if not _is_fitted(objects, loader):
                continue
            for origin in loader.origins("sampler"):
                site = origin.site
                if site is None or not objects.is_call_to(site, *_RANDOM):
                    continue
                if objects.argument(site, "generator").absent:
                    yield self.finding(
                        message="each rank draws different samples before Lightning shards",
                        severity=Severity.WARNING,
                        place=locators.of(module.key).place(site.call.site),
                        effect="some samples are drawn by several ranks, others by none",
                        help="Seed all ranks with `seed_everything`, or pass a `generator`",
                    )


def _assigned(objects: Objects) -> Iterator[tuple[ir.Assign, str]]:
    """The statements that give the sampler of a loader another seed on each rank."""
    for point in objects.points:
        statement = point.statement
        if not isinstance(statement, ir.Assign):
            continue
        for target in statement.targets:
            if not isinstance(target, ir.Attribute) or target.attr != "seed":
                continue
            why = None
            if _is_sampler(objects, target.value, point):
                why = difference(objects, statement.value, point)
            if why is not None:
                yield statement, why


def _is_sampler(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it ``loader.sampler``, or a ``DistributedSampler`` by the call that made it?"""
    made = {each.call for each in samplers(objects)}
    return any(
        origin.call in made
        or origin.attributes[-1:] == ("sampler",)
        or (isinstance(origin.node, ir.Attribute) and origin.node.attr == "sampler")
        for origin in objects.origins(node, point)
    )


def _divides(objects: Objects, trainer: CallSite) -> bool:
    """Does a trainer run on several devices, and put samplers of its own around those it finds?"""
    for name in ("use_distributed_sampler", "replace_sampler_ddp"):
        if not objects.argument(trainer, name).absent:
            return False
    for name in ("strategy", "accelerator", "devices", "gpus"):
        told = objects.constant(objects.argument(trainer, name), trainer.point, default=None)
        if (isinstance(told, str) and "ddp" in told) or (isinstance(told, int) and told > 1):
            return True
    return False


def _is_fitted(objects: Objects, loader: Made) -> bool:
    """Is it a loader for training: given to ``fit``, or what ``train_dataloader`` makes?"""
    function = loader.site.point.scope.function
    if function is not None and function.name == "train_dataloader":
        return True
    return any(
        site.name == "fit"
        and site.call.args[1:2]
        and (argument is site.call.args[1] or argument.keyword == "train_dataloaders")
        for site, argument in objects.uses.passed_to(loader.call)
    )


def _fix(sampler: Made, draft: Draft) -> Fix:
    call = draft.node(sampler.call.site, cst.Call)
    given = calls.argument(call, "seed", sampler.params.index("seed"))
    if given is None:
        raise CannotFix("the seed is passed in another way")
    ranks.require_all(draft, statements.statement_of(draft, call))
    seed = given.value
    kept = _without_rank(draft, seed)
    if kept is not None:
        draft.replace(seed, draft.text(kept))
    else:
        agreed = imports.imported(draft, draft.catalogue.runtime, "agreed_seed", call)
        draft.replace(seed, f"{agreed}({draft.text(seed, brackets=False)})")
    return draft.fix("unsafe", "Use the same seed on all ranks")


def _without_rank(draft: Draft, seed: cst.BaseExpression) -> cst.BaseExpression | None:
    """What the rank is added to, if that is all there is to the seed."""
    if not isinstance(seed, cst.BinaryOperation) or not isinstance(seed.operator, cst.Add):
        return None
    own = [side for side in (seed.left, seed.right) if not ranks.asks_rank(draft, side)]
    return own[0] if len(own) == 1 else None
