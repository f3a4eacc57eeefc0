"""DST115: the forward of a wrapped model on some ranks only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.rules.base import Example, WitnessRule
from distlint.rules.collectives._repair import bare_forward
from distlint.rules.collectives._wording import (
    condition,
    guarded,
    headline,
    only_on,
    step_of,
    steps,
)

if TYPE_CHECKING:
    from distlint.analyzer.symbolic.witness import Witness
    from distlint.fixers.draft import Draft
    from distlint.source.finding import Fix


class WrappedForwardOnOneRank(WitnessRule):
    """A wrapped model is called on some ranks only, for example to evaluate on rank 0.

    ```python
    if rank == 0:
        model.eval()
        with torch.no_grad():
            score = model(batch).mean()  # model is DDP or FSDP
    ```

    ## Use instead

    ```python
    if rank == 0:
        model.module.eval()
        with torch.no_grad():
            score = model.module(batch).mean()
    ```

    With DDP, evaluate the unwrapped module as above (`model.module`,
    `accelerator.unwrap_model(model)`), in `eval()` mode and without gradients. Or evaluate on all
    ranks and reduce the result, which is also faster. A sharded model has no unwrapped module: all
    ranks must call it.

    ## Why is this bad?

    The call does not look like a collective, but it is one. FSDP and ZeRO-3 gather the weights in
    every forward, also in `eval()` mode and under `no_grad()`. DDP broadcasts buffers (such as the
    statistics of BatchNorm) in the first forward after a training step.

    ## What is reported

    A forward or backward of a DDP, FSDP or DeepSpeed model, or `generate()` on a sharded model,
    that a rank check limits to some ranks. The typical case is an evaluation on rank 0 that is
    passed the wrapper instead of the module inside it.

    ## What is not reported

    - The unwrapped module is called.
    - The wrapper is known not to communicate: `broadcast_buffers=False` and no gradients.
    - DDP, where all ranks have called the model without gradients (`no_grad()`, `inference_mode()`)
      since the last training step: the forwards after that broadcast nothing.
    - All ranks call the model, and only printing or saving is under the rank check.

    ## Fix safety

    Unsafe: one rank calls the unwrapped module, `model.module(x)`, which does not synchronize.
    Offered for DDP only, and not where gradients are computed.

    ## References

    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [PyTorch: FullyShardedDataParallel](https://docs.pytorch.org/docs/stable/fsdp.html)
    """

    code = "DST115"
    name = "wrapped-forward-on-one-rank"
    rank = 40

    good = (
        Example(
            title="Rank 0 evaluates the unwrapped module",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
model = DDP(net)
model(torch.randn(4, 3)).mean().backward()
if dist.get_rank() == 0:
    model.module.eval()
    with torch.no_grad():
        print(f"score {model.module(torch.ones(4, 3)).mean().item():.3f}")
    model.module.train()
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="All ranks evaluate, rank 0 prints",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    total = torch.stack([model(batch).mean() for batch in batches]).mean()
    dist.all_reduce(total)
    return total.item() / dist.get_world_size()


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DDP(torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)))
score = evaluate(model, torch.randn(2, 4, 3))
if dist.get_rank() == 0:
    print(f"score {score:.3f}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="DDP with broadcast_buffers=False",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(3, 1), broadcast_buffers=False)
if dist.get_rank() == 0:
    with torch.no_grad():
        print(f"preview {model(torch.ones(3)).item():.3f}")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A model unwrapped by Accelerate",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = accelerator.prepare(torch.nn.BatchNorm1d(3))
model(torch.randn(4, 3)).mean()
if accelerator.is_main_process:
    bare = accelerator.unwrap_model(model)
    bare.eval()
    with torch.no_grad():
        print(f"sample {bare(torch.ones(2, 3)).sum().item():.3f}")
accelerator.wait_for_everyone()
""",
        ),
    )

    bad = (
        Example(
            title="Evaluation of the DDP wrapper on rank 0",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
model = DDP(net)
for epoch in range(2):
    model(torch.randn(4, 3)).mean().backward()
    if dist.get_rank() == 0:  # expect: DST115
        model.eval()
        with torch.no_grad():
            print(f"score {model(torch.ones(4, 3)).mean().item():.3f}")
        model.train()
    dist.barrier()
""",
        ),
        Example(
            title="The wrapper in an evaluation helper",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net):
        self.rank = dist.get_rank()
        self.model = DDP(net)

    def accuracy(self, batches):
        with torch.no_grad():
            return sum((self.model(b) > 0).float().mean().item() for b in batches)

    def fit(self, batches):
        for batch in batches:
            self.model(batch).mean().backward()
        if self.rank == 0:  # expect: DST115
            print(f"accuracy {self.accuracy(batches):.2f}")
        dist.barrier()


dist.init_process_group("gloo")
Trainer(torch.nn.BatchNorm1d(3)).fit(torch.randn(2, 4, 3))
""",
        ),
        Example(
            title="A forward of a sharded model on rank 0",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
fully_shard(model, mesh=mesh)
model(torch.ones(2, 4)).mean().backward()
if dist.get_rank() == 0:  # expect: DST115
    with torch.no_grad():
        print("sample", model(torch.ones(1, 4)))
dist.barrier()
""",
        ),
        Example(
            title="The prepared model on the main process",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for epoch in range(2):
    accelerator.backward(model(torch.randn(4, 3)).mean())
    optimizer.step()
    if accelerator.is_main_process:  # expect: DST115
        model.eval()
        with torch.no_grad():
            print(f"epoch {epoch}: {model(torch.ones(4, 3)).mean().item():.3f}")
        model.train()
    accelerator.wait_for_everyone()
""",
        ),
        Example(
            title="A forward of a ZeRO-3 engine on rank 0",
            effect="static",
            needs=("deepspeed",),
            why_static="needs deepspeed and a GPU; ZeRO-3 gathers the weights in every forward",
            code="""\
import deepspeed
import torch
import torch.distributed as dist

config = {
    "train_micro_batch_size_per_gpu": 1,
    "zero_optimization": {"stage": 3},
    "optimizer": {"type": "Adam", "params": {"lr": 1e-3}},
}
net = torch.nn.Linear(8, 8)
engine, *_ = deepspeed.initialize(model=net, config=config)
for step in range(10):
    loss = engine(torch.ones(1, 8, device=engine.device)).mean()
    engine.backward(loss)
    engine.step()
    if step % 5 == 0 and dist.get_rank() == 0:  # expect: DST115
        with torch.no_grad():
            print(engine(torch.zeros(1, 8, device=engine.device)))
""",
        ),
    )

    def claims(self, witness: Witness) -> bool:
        cause = witness.cause
        return cause.kind == "rank" and cause.exit not in ("break", "continue") and steps(witness)

    def message(self, witness: Witness) -> str:
        found = only_on(witness, "forward", "backward")
        if found is None:
            return headline(witness, f"ranks diverge on {condition(witness)}")
        event, ranks = found
        return guarded(witness, f"{step_of(event)} runs on {ranks} only")

    def help(self, witness: Witness) -> str:
        return "Run it on all ranks and reduce the result, or call the unwrapped module (DDP only)"

    def fix(self, witness: Witness, draft: Draft) -> Fix | None:
        return bare_forward(witness, draft)
