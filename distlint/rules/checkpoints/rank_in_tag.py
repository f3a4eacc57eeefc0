"""DST410: each rank takes part in another checkpoint than the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer.static.guards.guards import guards_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._rank_names import is_named_by_rank
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_SAVES = {
    "save_checkpoint": (("tag", 1), ("save_dir", 0)),
    "save_state": (("output_dir", 0),),
    "save": (("checkpoint_id", None),),
    "async_save": (("checkpoint_id", None),),
}
_OWNERS = (
    "deepspeed.",
    "accelerate.Accelerator.",
    "torch.distributed.checkpoint.",
)


class RankInTag(SourceRule):
    """The directory or tag of a checkpoint that all ranks write together depends on the rank.

    ```python
    rank = dist.get_rank()
    tag = f"step{step}-rank{rank}"
    engine.save_checkpoint("checkpoints", tag=tag)
    ```

    ## Use instead

    ```python
    tag = f"step{step}"
    engine.save_checkpoint("checkpoints", tag=tag)
    ```

    Pass the same name on all ranks, such as a step or an epoch. For a separate file per rank, use
    `torch.save`.

    ## Why is this bad?

    These calls write one checkpoint with a part from each rank, and name the parts themselves. With
    the rank in the name, each rank writes its part to a different directory: no directory is
    complete, and none can be loaded. DeepSpeed compares the tags and warns or stops.

    ## What is reported

    The rank in the tag or directory passed to DeepSpeed's `save_checkpoint`, to
    `torch.distributed.checkpoint.save` or `async_save`, or to Accelerate's `save_state`. Variables,
    attributes of the object and functions of the project that make the name are followed, and the
    rank may be read from the environment.

    ## What is not reported

    - The name is the same on all ranks.
    - Functions that write the file of one rank: `torch.save`, `numpy.save`.
    - Tests, which may check for this error.

    ## Fix safety

    None: code that loads the checkpoint has to use the same name, and only you know which one is
    meant.

    ## References

    - [Distributed checkpoint](https://docs.pytorch.org/docs/stable/distributed.checkpoint.html)
    - [DeepSpeed: model checkpointing](https://deepspeed.readthedocs.io/en/latest/model-checkpointing.html)
    - [Accelerate: checkpointing](https://huggingface.co/docs/accelerate/usage_guides/checkpoint)
    """

    code = "DST410"
    name = "rank-in-tag"
    severity = Severity.ERROR

    good = (
        Example(
            title="The step as the name",
            code="""\
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp

dist.init_process_group("gloo")
state = {"weight": torch.ones(2)}
dcp.save(state, checkpoint_id="run/step-10")
dcp.load(state, checkpoint_id="run/step-10")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A separate file per rank",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.save(torch.get_rng_state(), f"rng_{dist.get_rank()}.pt")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A separate directory per rank",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp

dist.init_process_group("gloo")
rank = dist.get_rank()
state = {"weight": torch.ones(2)}
dcp.save(state, checkpoint_id=f"run/rank-{rank}")  # expect: DST410
dcp.load(state, checkpoint_id="run/rank-1")
""",
        ),
        Example(
            title="The rank in the tag of DeepSpeed",
            effect="static",
            why_static="needs deepspeed",
            needs=("deepspeed",),
            code="""\
import deepspeed
import torch
import torch.distributed as dist

config = {"train_micro_batch_size_per_gpu": 1, "optimizer": {"type": "Adam"}}
engine, *_ = deepspeed.initialize(model=torch.nn.Linear(8, 8), config=config)
tag = f"step10-rank{dist.get_rank()}"
engine.save_checkpoint("checkpoints", tag=tag)  # expect: DST410
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _SAVES.keys().isdisjoint(module.tokens) or document.is_test:
            return
        if module.imported_roots.isdisjoint({"torch", "deepspeed", "accelerate"}):
            return
        guards = guards_of(module, catalogue)
        for site in guards.objects.calls(_SAVES.keys()):
            called = guards.objects.called(site)
            engine = "deepspeed" in module.imported_roots and _has_tag(site)
            if site.name not in _SAVES or not (engine or called.startswith(_OWNERS)):
                continue
            for keyword, position in _SAVES[site.name]:
                name = guards.objects.argument(site, keyword, position).value
                if name is not None and is_named_by_rank(guards, name, site.point):
                    yield self.finding(
                        message=f"`{keyword}` of this collective save depends on the rank",
                        severity=Severity.ERROR,
                        place=locators.of(module.key).place(site.call.site),
                        effect="each rank writes its part to a different directory, and no "
                        "checkpoint is complete",
                        help=f"Pass the same `{keyword}` on all ranks",
                    )
                    break


def _has_tag(site: CallSite) -> bool:
    return any(argument.keyword == "tag" for argument in site.call.args)
