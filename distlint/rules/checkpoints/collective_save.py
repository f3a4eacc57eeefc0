"""DST407: a checkpoint call in which all ranks take part, made on some ranks only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers.draft import CannotFix
from distlint.rules.base import Example, SourceRule, WitnessRule
from distlint.rules.collectives._repair import hoisted
from distlint.rules.collectives._wording import kinds, proviso
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.catalogue.catalogue import Catalogue
    from distlint.fixers.draft import Draft
    from distlint.source.document import Document
    from distlint.source.finding import Fix

_CONSOLIDATE = "consolidate_state_dict"
_SHARDED_OPTIMIZER = "torch.distributed.optim.ZeroRedundancyOptimizer"
_SAVES = frozenset({"checkpoint", "state_dict", "fsdp_state_dict", "fsdp_optim_state_dict"})


class CollectiveSaveInRankBranch(WitnessRule, SourceRule):
    """A checkpoint call that needs all ranks is made on some ranks only.

    ```python
    model = FSDP(model)
    train(model, loader)
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "model.pt")  # state_dict() communicates with all ranks
    dist.barrier()
    ```

    ## Use instead

    ```python
    model = FSDP(model)
    train(model, loader)
    state = model.state_dict()  # on all ranks
    if dist.get_rank() == 0:
        torch.save(state, "model.pt")
    dist.barrier()
    ```

    With Accelerate, call `accelerator.get_state_dict(model)` on all ranks.
    `engine.save_checkpoint`, `accelerator.save_state` and `trainer.save_checkpoint` decide
    themselves which rank writes what: call them on all ranks, too.

    ## Why is this bad?

    `if rank == 0: torch.save(...)` is right for DDP and appears in every tutorial. With sharded
    state, the same check keeps the ranks that hold the other shards out of the collective, and rank
    0 hangs. This shows only at the first checkpoint, which may be hours into the run.

    ## What is reported

    Saving or gathering sharded state on one side of a rank check: the `state_dict()` of an FSDP
    model, or of the module inside if its parts are wrapped, too (`auto_wrap_policy`),
    `save_pretrained` of such a model without `state_dict=`,
    `ZeroRedundancyOptimizer.consolidate_state_dict`, functions of `torch.distributed.checkpoint`,
    DeepSpeed's `save_checkpoint`, Accelerate's `get_state_dict`, `save_model` and `save_state` with
    FSDP or DeepSpeed, and Lightning's `trainer.save_checkpoint`.
    Also the `state_dict()` of a `ZeroRedundancyOptimizer` in a file that never calls
    `consolidate_state_dict`.

    ## What is not reported

    - State that is not sharded, such as `torch.save(model.module.state_dict(), path)` of a DDP
      model.
    - All ranks gather the state, and only `torch.save` is inside the rank check.
    - Calls that communicate only with a strategy that the script does not use. If the strategy is
      unknown, the finding has severity info and names the strategy.

    ## Fix safety

    Unsafe: the call moves out of the branch, so that all ranks make it; only the write of the
    gathered state stays inside. This needs memory for the full state where the framework gathers
    it. Not offered for `save_pretrained`, with which all ranks would write the files: gather the
    state on all ranks, and pass it as `state_dict=` on one.

    ## References

    - [FullyShardedDataParallel](https://docs.pytorch.org/docs/stable/fsdp.html)
    - [Distributed checkpoint](https://docs.pytorch.org/docs/stable/distributed.checkpoint.html)
    - [DeepSpeed: model checkpointing](https://deepspeed.readthedocs.io/en/latest/model-checkpointing.html)
    """

    code = "DST407"
    name = "collective-save-in-rank-branch"
    rank = 30

    good = (
        Example(
            title="A DDP model saved by rank 0",
            code="""\
import os
import tempfile
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:
    path = os.path.join(tempfile.mkdtemp(), "model.pt")
    torch.save(model.module.state_dict(), path)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A sharded model: all ranks gather, rank 0 writes",
            code="""\
import os
import tempfile
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
model = FSDP(torch.nn.Linear(4, 4), device_id=torch.device("cpu"))
state = model.state_dict()
if dist.get_rank() == 0:
    torch.save(state, os.path.join(tempfile.mkdtemp(), "model.pt"))
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A full state dict with the checkpoint API",
            code="""\
import os
import tempfile
import torch
import torch.distributed as dist
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = fully_shard(torch.nn.Linear(4, 4), mesh=mesh)
options = StateDictOptions(full_state_dict=True, cpu_offload=True)
state = get_model_state_dict(model, options=options)
if dist.get_rank() == 0:
    torch.save(state, os.path.join(tempfile.mkdtemp(), "model.pt"))
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="get_state_dict on all processes",
            needs=("accelerate",),
            code="""\
import os
import tempfile
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.Linear(2, 2))
state = accelerator.get_state_dict(model)
if accelerator.is_main_process:
    torch.save(state, os.path.join(tempfile.mkdtemp(), "model.pt"))
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="An optimizer consolidated on all ranks",
            code="""\
import os
import tempfile
import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer

dist.init_process_group("gloo")
net = torch.nn.Linear(2, 2)
optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
net(torch.ones(2)).sum().backward()
optimizer.step()
optimizer.consolidate_state_dict(to=0)
if dist.get_rank() == 0:
    torch.save(optimizer.state_dict(), os.path.join(tempfile.mkdtemp(), "optimizer.pt"))
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The state dict of a sharded model on rank 0 only",
            effect="hang",
            code="""\
import os
import tempfile
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("gloo")
model = FSDP(torch.nn.Linear(4, 4), device_id=torch.device("cpu"))
if dist.get_rank() == 0:  # expect: DST407
    torch.save(model.state_dict(), os.path.join(tempfile.mkdtemp(), "model.pt"))
dist.barrier()
""",
        ),
        Example(
            title="An optimizer consolidated on rank 0 only",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer

dist.init_process_group("gloo")
net = torch.nn.Linear(2, 2)
optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
net(torch.ones(2)).sum().backward()
optimizer.step()
if dist.get_rank() == 0:  # expect: DST407
    optimizer.consolidate_state_dict(to=0)
    print(f"{len(optimizer.state_dict()['state'])} entries")
dist.barrier()
""",
        ),
        Example(
            title="A distributed checkpoint saved by one rank",
            effect="hang",
            code="""\
import tempfile
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp


def save(model, folder):
    if dist.get_rank() != 0:
        return  # expect: DST407
    dcp.save({"model": model.state_dict()}, checkpoint_id=folder)


dist.init_process_group("gloo")
save(torch.nn.Linear(2, 2), tempfile.mkdtemp())
dist.barrier()
""",
        ),
        Example(
            title="Lightning's save_checkpoint under is_global_zero",
            effect="hang",
            needs=("lightning",),
            code="""\
import lightning as L
import os
import tempfile
import torch
from torch.utils.data import DataLoader


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_steps=2, **quiet)
trainer.fit(Model(), DataLoader(torch.randn(8, 4), batch_size=2))
if trainer.is_global_zero:  # expect: DST407
    trainer.save_checkpoint(os.path.join(tempfile.mkdtemp(), "last.ckpt"))
total = trainer.strategy.reduce(torch.ones(1))
""",
        ),
        Example(
            title="save_state with automatic naming on the main process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import tempfile
import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration

config = ProjectConfiguration(tempfile.mkdtemp(), automatic_checkpoint_naming=True)
accelerator = Accelerator(cpu=True, project_config=config)
model = accelerator.prepare(torch.nn.Linear(2, 2))
if accelerator.is_main_process:  # expect: DST407
    accelerator.save_state()
total = accelerator.reduce(torch.ones(1))
accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="A DeepSpeed engine saved by rank 0",
            effect="static",
            needs=("deepspeed",),
            why_static="needs deepspeed and a GPU; save_checkpoint has a barrier on all ranks",
            code="""\
import deepspeed
import torch
import torch.distributed as dist

config = {
    "train_micro_batch_size_per_gpu": 1,
    "zero_optimization": {"stage": 2},
    "optimizer": {"type": "Adam", "params": {"lr": 1e-3}},
}
engine, *_ = deepspeed.initialize(model=torch.nn.Linear(8, 8), config=config)
for step in range(100):
    loss = engine(torch.ones(1, 8, device=engine.device)).mean()
    engine.backward(loss)
    engine.step()
    if step % 50 == 0 and dist.get_rank() == 0:  # expect: DST407
        engine.save_checkpoint("checkpoints", tag=f"step{step}")
""",
        ),
        Example(
            title="save_state on the main process with FSDP",
            effect="static",
            needs=("accelerate",),
            why_static="Accelerate's FSDP plugin wants an accelerator device; plain DDP is silent",
            code="""\
import torch
from accelerate import Accelerator, FullyShardedDataParallelPlugin

plugin = FullyShardedDataParallelPlugin(fsdp_version=2)
accelerator = Accelerator(fsdp_plugin=plugin)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(10):
    accelerator.backward(model(torch.ones(2, 4)).mean())
    optimizer.step()
    if accelerator.is_main_process and step % 5 == 0:  # expect: DST407
        accelerator.save_state(f"run/step-{step}")
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        if witness.same_event_arguments:
            return False  # all ranks come to it
        return witness.cause.kind == "rank" and bool(_SAVES & kinds(witness))

    def message(self, witness: Witness) -> str:
        events = (witness.subject, witness.first, witness.second)
        call = next((each.op for each in events if each and each.kind in _SAVES), "this save")
        return f"`{call}` must be called on all ranks{proviso(witness)}"

    def help(self, witness: Witness) -> str:
        return "Call it on all ranks, and keep only the write of the gathered state on one rank"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        for event in (witness.subject, witness.first, witness.second):
            entry = draft.catalogue.lookup(event.entry) if event is not None else None
            if entry is not None and entry.collective is not None and entry.collective.not_given:
                raise CannotFix("all ranks would write the files")
        return hoisted(witness, draft)

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        """The state of a ZeroRedundancyOptimizer that nothing in the module consolidates."""
        if "ZeroRedundancyOptimizer" not in module.words or _CONSOLIDATE in module.tokens:
            return
        names = objects_across(module, catalogue).names
        for scope in names.scopes:
            for statement, _ in placed(scope.body):
                for node in calls_of(statement):
                    if (
                        isinstance(node.func, ir.Attribute)
                        and node.func.attr == "state_dict"
                        and names.class_of(node.func.value, scope) == _SHARDED_OPTIMIZER
                    ):
                        yield self._unconsolidated(node, module, locators)

    def _unconsolidated(self, call: ir.Call, module: Module, locators: Locators) -> Finding:
        return self.finding(
            message="sharded optimizer state is never consolidated",
            severity=Severity.WARNING,
            place=locators.of(module.key).place(call.site),
            effect="`state_dict()` raises a `RuntimeError`",
            help="Call `consolidate_state_dict(to=0)` on all ranks, then `state_dict()` on rank 0",
        )
