"""DST211: a sampler whose seed is another one on each rank."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.objects import objects_of
from distlint.fixers import calls, imports, ranks, statements
from distlint.fixers.draft import Doubt, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.data._differences import difference
from distlint.rules.training import samplers
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.positions import Locators
    from distlint.analyzer.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.training import Made
    from distlint.source.document import Document


class SamplerSeedDiffers(SourceRule):
    """A `DistributedSampler` gets a seed that differs between the ranks.

    ## What it finds

    `DistributedSampler(..., seed=...)` with a seed made from the rank, from a clock, or from random
    numbers of the process.

    ## Why it matters

    Each rank shuffles all indices with this seed and takes every n-th of the result. The parts fit
    together only when all ranks shuffled the same way. With two ranks and different seeds a quarter
    of the samples is drawn twice and a quarter not at all, in each epoch, without a message.

    ## What to do

    Give all ranks the same seed. Seeds that depend on the rank are right for augmentation and
    dropout: `torch.manual_seed(seed + rank)`. A seed from a clock has to be broadcast first.

    ## Fix

    Unsafe: a rank that is added right there goes, `seed + rank` becomes `seed`; any other seed is
    that of the first rank, `agreed_seed(seed)`. The order of the samples changes.

    ## When it is silent

    - The seed is the same everywhere, or where it comes from is not known.
    - The seed went through a broadcast.
    """

    code = "DST211"
    name = "sampler-seed-differs"
    severity = Severity.ERROR

    good = (
        Example(
            title="One seed for the order, another for the noise",
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
            title="A clock that is broadcast",
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
            title="Right where the sampler is made",
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
            title="Each process asks its own clock",
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
        if "DistributedSampler" not in module.words:
            return
        objects = objects_of(module, catalogue)
        for sampler in samplers(objects):
            seed = sampler.option("seed").value
            if seed is None or sampler.constant("shuffle", True) is False:
                continue
            why = difference(objects, seed, sampler.site.point)
            if why is not None:
                yield self.finding(
                    message=f"the seed of this sampler depends on {why}: each rank shuffles "
                    "another way",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(sampler.call.site),
                    effect="some samples are drawn by several ranks, others by none",
                    advice="Give all ranks the same seed.",
                    fix=partial(_fix, sampler, Draft(locators.of(module.key), module, catalogue)),
                )


def _fix(sampler: Made, draft: Draft) -> Fix:
    call = draft.node(sampler.call.site, cst.Call)
    given = calls.argument(call, "seed", sampler.params.index("seed"))
    if given is None:
        raise Doubt("the seed is passed in another way")
    ranks.require_all(draft, statements.statement_of(draft, call))
    seed = given.value
    kept = _without_rank(draft, seed)
    if kept is not None:
        draft.replace(seed, draft.text(kept))
    else:
        agreed = imports.imported(draft, draft.catalogue.runtime, "agreed_seed", call)
        draft.replace(seed, f"{agreed}({draft.text(seed, brackets=False)})")
    return draft.fix("unsafe", "Give all ranks the same seed")


def _without_rank(draft: Draft, seed: cst.BaseExpression) -> cst.BaseExpression | None:
    """What the rank is added to, if that is all there is to the seed."""
    if not isinstance(seed, cst.BinaryOperation) or not isinstance(seed.operator, cst.Add):
        return None
    own = [side for side in (seed.left, seed.right) if not ranks.asks_rank(draft, side)]
    return own[0] if len(own) == 1 else None
