"""The scenarios: a body, and the texts that the table must hold.

In a body, ``torch``, ``dist``, ``rank``, ``world`` and ``t`` (four ones) are defined. A comment
such as ``# A`` names a line; ``{A}`` in a text stands for the file and that line. Texts must be in
the table of the asynchronous watch and in that of the strict one.
"""

from __future__ import annotations

from dataclasses import dataclass

FILE = "scenario.py"


@dataclass(frozen=True)
class Scenario:
    """One script; ``error`` is what strict raises, empty where it only prints the table."""

    kind: str
    name: str
    body: str
    says: tuple[str, ...] = ()
    error: str = "CollectiveMismatch"
    ranks: int = 2

    @property
    def correct(self) -> bool:
        return not self.says

    @property
    def wraps(self) -> bool:
        """DETAIL crashes in the constructor of DistributedDataParallel, with torch 2.13 on CPUs."""
        return "DistributedDataParallel" in self.body


def _s(
    kind: str,
    name: str,
    body: str,
    *says: str,
    error: str = "CollectiveMismatch",
    ranks: int = 2,
    strict_says: tuple[str, ...] = (),
) -> Scenario:
    return Scenario(kind, name, body.strip("\n"), says, error, ranks)


GONE = "RankMissing"

SCENARIOS: tuple[Scenario, ...] = (
    _s(
        "missing",
        "all_reduce on rank 0 only, then a barrier",
        """
if rank == 0:
    dist.all_reduce(t)  # A
dist.barrier()  # B
""",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "missing",
        "barrier that the last rank never reaches",
        """
dist.all_reduce(t)  # A
if rank == 0:
    dist.barrier()  # B
""",
        "rank 1 left before call 2",
        "rank 0: barrier at {B}",
        "rank 1: left the watch",
        error=GONE,
    ),
    _s(
        "missing",
        "one of three identical calls is skipped",
        """
dist.all_reduce(t)  # A
if rank == 0:
    dist.all_reduce(t)  # B
dist.all_reduce(t)  # C
""",
        "rank 1 skipped all_reduce(SUM) float32[4]",
        "rank 0: all_reduce(SUM) float32[4] at {B}",
        "rank 1: all_reduce(SUM) float32[4] at {C}",
    ),
    _s(
        "missing",
        "a step of a loop is skipped",
        """
for step in range(4):
    if rank == 1 and step == 2:
        continue
    dist.all_reduce(t)  # A
""",
        "rank 1 left before call 4",
        "rank 0: in all_reduce(SUM) float32[4] (call 4)",
        "last collective: call 3, all_reduce at {A}",
        error=GONE,
    ),
    _s(
        "missing",
        "one rank of four skips a reduce",
        """
dist.barrier()
if rank != 2:
    dist.all_reduce(t)  # A
dist.barrier()  # B
""",
        "ranks 0, 1, 3: all_reduce(SUM) float32[4] at {A}",
        "rank 2: barrier at {B}",
        ranks=4,
    ),
    _s(
        "missing",
        "evaluation with a collective on rank 0 only",
        """
def evaluate():
    loss = torch.ones(1)
    dist.all_reduce(loss)  # A
    return loss

dist.all_reduce(t)
if rank == 0:
    evaluate()  # B
dist.all_reduce(t)  # C
""",
        "rank 0: all_reduce(SUM) float32[1] at {A} in evaluate",
        "rank 1: all_reduce(SUM) float32[4] at {C}",
    ),
    _s(
        "missing",
        "one rank leaves the loop depending on its loss",
        """
for step in range(3):
    loss = torch.tensor(float(step * rank))
    if loss.item() > 1:
        break
    dist.all_reduce(t)  # A
dist.barrier()  # B
""",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "early exit",
        "sys.exit on rank 1",
        """
import sys
dist.barrier()
if rank == 1:
    sys.exit(0)  # A
dist.all_reduce(t)  # B
""",
        "rank 1 left before call 2",
        "rank 1: exited with status 0 at {A}",
        "rank 0: all_reduce(SUM) float32[4] at {B}",
        error=GONE,
    ),
    _s(
        "early exit",
        "os._exit on rank 1",
        """
import os, time
dist.barrier()
time.sleep(0.3)
if rank == 1:
    os._exit(3)
dist.all_reduce(t)  # B
""",
        "rank 1 left before the end of call 2",
        "rank 1: was killed",
        "rank 0: in all_reduce(SUM) float32[4] (call 2)",
        error=GONE,
    ),
    _s(
        "early exit",
        "rank 1 is killed",
        """
import os, signal, time
dist.barrier()
time.sleep(0.3)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(t)  # B
""",
        "rank 1 left before the end of call 2",
        "rank 1: was killed",
        "rank 0: in all_reduce(SUM) float32[4] (call 2)",
        error=GONE,
    ),
    _s(
        "early exit",
        "rank 1 destroys its process group too early",
        """
dist.barrier()
if rank == 1:
    dist.destroy_process_group()  # A
else:
    dist.all_reduce(t)  # B
""",
        "rank 1: destroyed its process group at {A}",
        "rank 0: all_reduce(SUM) float32[4] at {B}",
        error=GONE,
    ),
    _s(
        "exception",
        "rank 1 raises",
        """
dist.barrier()
if rank == 1:
    raise ValueError("bad sample")  # A
dist.all_reduce(t)  # B
""",
        "rank 1 left before call 2",
        "rank 1: raised ValueError: bad sample at {A}",
        "rank 0: all_reduce(SUM) float32[4] at {B}",
        error=GONE,
    ),
    _s(
        "exception",
        "rank 0 raises, and may host the store",
        """
dist.barrier()
if rank == 0:
    raise OSError("disk full")  # A
dist.all_reduce(t)  # B
""",
        "rank 0 left before call 2",
        "rank 0: raised OSError: disk full at {A}",
        "rank 1: all_reduce(SUM) float32[4] at {B}",
        error=GONE,
    ),
    _s(
        "exception",
        "an exception is swallowed on one rank, and a collective with it",
        """
def load(step):
    if rank == 1 and step == 1:
        raise ValueError("bad sample")

for step in range(3):
    try:
        load(step)
        dist.all_reduce(t)  # A
    except ValueError:
        pass
    dist.barrier()  # B
""",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "exception",
        "one rank of four raises",
        """
dist.barrier()
if rank == 2:
    raise KeyError("label")  # A
dist.all_reduce(t)  # B
""",
        "rank 2 left before call 2",
        "rank 2: raised KeyError: 'label' at {A}",
        error=GONE,
        ranks=4,
    ),
    _s(
        "infinite loop",
        "rank 1 loops indefinitely",
        """
dist.barrier()
if rank == 1:
    while True: sum(range(100))  # A
dist.all_reduce(t)  # B
""",
        "rank 1 did not reach call 2",
        "rank 1: not in a collective for",
        "s, at {A}",
        "rank 0: all_reduce(SUM) float32[4] at {B}",
        error=GONE,
    ),
    _s(
        "infinite loop",
        "rank 0 waits for a file that never comes",
        """
import os, time
def wait_for_file():
    while not os.path.exists("never"): time.sleep(0.01)  # A

dist.barrier()
if rank == 0:
    wait_for_file()
dist.all_reduce(t)  # B
""",
        "rank 0 did not reach call 2",
        "s, at {A} in wait_for_file",
        "rank 1: all_reduce(SUM) float32[4] at {B}",
        error=GONE,
    ),
    _s(
        "infinite loop",
        "rank 1 hangs on a lock",
        """
import threading
lock = threading.Lock()
dist.barrier()
if rank == 1:
    lock.acquire()
    lock.acquire()  # A
dist.all_reduce(t)  # B
""",
        "rank 1 did not reach call 2",
        "s, at {A}",
        error=GONE,
    ),
    _s(
        "swapped",
        "different shapes in opposite order",
        """
a, b = torch.ones(2), torch.ones(3)
if rank == 0:
    dist.all_reduce(a)  # A
    dist.all_reduce(b)
else:
    dist.all_reduce(b)  # B
    dist.all_reduce(a)
""",
        "rank 0: all_reduce(SUM) float32[2] at {A}",
        "rank 1: all_reduce(SUM) float32[3] at {B}",
    ),
    _s(
        "swapped",
        "different operations in opposite order",
        """
if rank == 0:
    dist.broadcast(t, 0)  # A
    dist.all_reduce(t)
else:
    dist.all_reduce(t)  # B
    dist.broadcast(t, 0)
""",
        "rank 0: broadcast(root 0) float32[4] at {A}",
        "rank 1: all_reduce(SUM) float32[4] at {B}",
    ),
    _s(
        "swapped",
        "same shapes in opposite order",
        """
loss, count = torch.ones(1), torch.full((1,), 100.0)
if rank == 0:
    dist.all_reduce(loss)  # A
    dist.all_reduce(count)
else:
    dist.all_reduce(count)  # B
    dist.all_reduce(loss)
""",
        "swapped payloads: rank 0 calls all_reduce(loss) and then all_reduce(count), "
        "rank 1 in the opposite order",
        "rank 0: all_reduce(SUM) float32[1] at {A}",
        "rank 1: all_reduce(SUM) float32[1] at {B}",
    ),
    _s(
        "swapped",
        "same shapes in opposite order, through a helper",
        """
def average(value):
    dist.all_reduce(value)  # A
    return value / world

loss, count = torch.ones(1), torch.full((1,), 100.0)
if rank == 0:
    average(loss)
    average(count)
else:
    average(count)
    average(loss)
""",
        "swapped payloads",
        "all_reduce(SUM) float32[1] at {A} in average",
    ),
    _s(
        "swapped",
        "same shapes, another call between",
        """
a, b, c = torch.ones(1), torch.ones(1), torch.ones(1)
if rank == 0:
    dist.all_reduce(a)  # A
    dist.all_reduce(c)
    dist.all_reduce(b)
else:
    dist.all_reduce(b)  # B
    dist.all_reduce(c)
    dist.all_reduce(a)
""",
        "swapped payloads: rank 0 calls all_reduce(a) and then all_reduce(b)",
        "rank 0: all_reduce(SUM) float32[1] at {A}",
        "rank 1: all_reduce(SUM) float32[1] at {B}",
    ),
    _s(
        "swapped",
        "one rank of four in opposite order",
        """
a, b = torch.ones(1), torch.ones(1)
dist.barrier()
if rank == 3:
    dist.broadcast(b, 0)  # B
    dist.broadcast(a, 0)
else:
    dist.broadcast(a, 0)  # A
    dist.broadcast(b, 0)
""",
        "swapped payloads: rank 0 calls broadcast(a, 0) and then broadcast(b, 0), "
        "rank 3 in the opposite order",
        "ranks 0-2: broadcast(root 0) float32[1] at {A}",
        "rank 3: broadcast(root 0) float32[1] at {B}",
        ranks=4,
    ),
    _s(
        "reduce op",
        "SUM on rank 0, MAX on rank 1",
        """
op = dist.ReduceOp.MAX if rank else dist.ReduceOp.SUM
dist.all_reduce(t, op=op)  # A
""",
        "the reduce op of all_reduce differs",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: all_reduce(MAX) float32[4] at {A}",
    ),
    _s(
        "reduce op",
        "MIN and MAX in two branches, to one root",
        """
if rank == 0:
    dist.reduce(t, 0, op=dist.ReduceOp.MIN)  # A
else:
    dist.reduce(t, 0, op=dist.ReduceOp.MAX)  # B
""",
        "the reduce op of reduce differs",
        "rank 0: reduce(MIN, root 0) float32[4] at {A}",
        "rank 1: reduce(MAX, root 0) float32[4] at {B}",
    ),
    _s(
        "root",
        "broadcast with each rank as root",
        """
dist.broadcast(t, src=rank)  # A
dist.barrier()
""",
        "the root of broadcast differs",
        "rank 0: broadcast(root 0) float32[4] at {A}",
        "rank 1: broadcast(root 1) float32[4] at {A}",
    ),
    _s(
        "root",
        "reduce to different ranks",
        """
dist.reduce(t, dst=0 if rank < 2 else 1)  # A
dist.barrier()
""",
        "the root of reduce differs",
        "ranks 0, 1: reduce(SUM, root 0) float32[4] at {A}",
        "rank 2: reduce(SUM, root 1) float32[4] at {A}",
        ranks=3,
    ),
    _s(
        "root",
        "gather to different ranks",
        """
out = [torch.empty(4) for _ in range(world)]
dist.gather(t, out, dst=rank)  # A
""",
        "the root of gather differs",
        "rank 1: gather(root 1) float32[4] at {A}",
    ),
    _s(
        "root",
        "scatter from different ranks",
        """
parts = [torch.ones(4) for _ in range(world)]
dist.scatter(t, parts, src=rank)  # A
""",
        "the root of scatter differs",
        "rank 1: scatter(root 1) float32[4] at {A}",
    ),
    _s(
        "dtype",
        "float32 and float64",
        """
dist.all_reduce(torch.ones(4, dtype=torch.float64 if rank else torch.float32))  # A
""",
        "the dtype of all_reduce differs",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: all_reduce(SUM) float64[4] at {A}",
    ),
    _s(
        "dtype",
        "int32 and float32 of the same size, so nothing hangs",
        """
dist.all_reduce(torch.ones(4, dtype=torch.int32 if rank else torch.float32))  # A
dist.barrier()
""",
        "the dtype of all_reduce differs",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: all_reduce(SUM) int32[4] at {A}",
    ),
    _s(
        "shape",
        "all_reduce of 4 and 8 numbers",
        """
dist.all_reduce(torch.ones(4 + 4 * rank))  # A
""",
        "the shape of all_reduce differs",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: all_reduce(SUM) float32[8] at {A}",
    ),
    _s(
        "shape",
        "all_gather of 3 and 4 numbers",
        """
mine = torch.ones(3 + rank)
out = [torch.empty_like(mine) for _ in range(world)]
dist.all_gather(out, mine)  # A
dist.barrier()
""",
        "the shape of all_gather differs",
        "rank 0: all_gather float32[3] at {A}",
        "rank 1: all_gather float32[4] at {A}",
    ),
    _s(
        "shape",
        "rows and columns exchanged",
        """
dist.all_reduce(torch.ones(2, 3) if rank == 0 else torch.ones(3, 2))  # A
dist.barrier()
""",
        "the shape of all_reduce differs",
        "rank 0: all_reduce(SUM) float32[2, 3] at {A}",
        "rank 1: all_reduce(SUM) float32[3, 2] at {A}",
    ),
    _s(
        "shape",
        "the last batch of one rank is smaller",
        """
sizes = [4, 4, 3] if rank == 1 else [4, 4, 4]
for size in sizes:
    mine = torch.ones(size)
    out = [torch.empty(size) for _ in range(world)]
    dist.all_gather(out, mine)  # A
dist.barrier()
""",
        "first difference: call 3",
        "rank 0: all_gather float32[4] at {A}",
        "rank 1: all_gather float32[3] at {A}",
    ),
    _s(
        "shape",
        "all_gather_into_tensor of different lengths",
        """
mine = torch.ones(2 + 2 * rank)
dist.all_gather_into_tensor(torch.empty(world * len(mine)), mine)  # A
""",
        "the shape of all_gather_into_tensor differs",
        "rank 1: all_gather_into_tensor float32[4] at {A}",
    ),
    _s(
        "shape",
        "all_to_all_single of different lengths",
        """
mine = torch.ones(4 + 4 * rank)
dist.all_to_all_single(torch.empty_like(mine), mine)  # A
""",
        "the shape of all_to_all_single differs",
        "rank 1: all_to_all_single float32[8] at {A}",
    ),
    _s(
        "group",
        "the default group on rank 0, a group of the same ranks on rank 1",
        """
both = dist.new_group([0, 1])
if rank == 0:
    dist.all_reduce(t)  # A
else:
    dist.all_reduce(t, group=both)  # B
""",
        "and the ranks wait for each other",
        "rank 0: in all_reduce(SUM) float32[4] (call 2)",
        "rank 1: in all_reduce(SUM) float32[4] (call 1 of group",
        error=GONE,
    ),
    _s(
        "group",
        "two groups of the same ranks in opposite order",
        """
first, second = dist.new_group([0, 1]), dist.new_group([0, 1])
for group in (first, second) if rank == 0 else (second, first):
    dist.all_reduce(t, group=group)  # A
""",
        "and the ranks wait for each other",
        "s, at {A}",
        error=GONE,
    ),
    _s(
        "group",
        "new_group with a different list on each rank",
        """
group = dist.new_group([rank])  # A
dist.barrier()
""",
        "the argument of new_group differs",
        "rank 0: new_group(ranks [0]) at {A}",
        "rank 1: new_group(ranks [1]) at {A}",
    ),
    _s(
        "group",
        "new_group on its members only",
        """
if rank < 2:
    group = dist.new_group([0, 1])  # A
dist.barrier()  # B
""",
        "ranks 0, 1: new_group(ranks [0, 1]) at {A}",
        "rank 2: barrier at {B}",
        ranks=3,
    ),
    _s(
        "sub-group",
        "different operations within a sub-group",
        """
groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
mine = groups[rank // 2]
if rank == 3:
    dist.broadcast(t, 2, group=mine)  # B
else:
    dist.all_reduce(t, group=mine)  # A
""",
        "(ranks 2, 3)",
        "rank 2: all_reduce(SUM) float32[4] at {A}",
        "rank 3: broadcast(root 2) float32[4] at {B}",
        ranks=4,
    ),
    _s(
        "sub-group",
        "a member is missing",
        """
import time
group = dist.new_group([1, 2])
if rank == 1:
    dist.all_reduce(t, group=group)  # A
elif rank == 2:
    time.sleep(60)  # B
""",
        "rank 2 did not reach call 1",
        "(ranks 1, 2)",
        "rank 1: all_reduce(SUM) float32[4] at {A}",
        "s, at {B}",
        error=GONE,
        ranks=3,
    ),
    _s(
        "sub-group",
        "one rank uses the default group instead of its group",
        """
group = dist.new_group([0, 1])
if rank == 0:
    dist.all_reduce(t)  # A
elif rank == 1:
    dist.all_reduce(t, group=group)  # B
else:
    dist.barrier()  # C
""",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 2: barrier at {C}",
        ranks=3,
    ),
    _s(
        "async",
        "different operations are started",
        """
if rank == 0:
    work = dist.all_reduce(t, async_op=True)  # A
else:
    work = dist.broadcast(t, 0, async_op=True)  # B
work.wait()
""",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "rank 1: broadcast(root 0) float32[4] at {B}",
    ),
    _s(
        "async",
        "rank 1 starts nothing",
        """
import time
if rank == 0:
    work = dist.all_reduce(t, async_op=True)  # A
    work.wait()  # B
else:
    time.sleep(60)  # C
""",
        "rank 1 did not reach call 1",
        "rank 0: waits for all_reduce(SUM) float32[4] (call 1)",
        "s, at {B}",
        "s, at {C}",
        error=GONE,
    ),
    _s(
        "async",
        "rank 1 starts nothing, and rank 0 does not wait",
        """
import time
if rank == 0:
    work = dist.all_reduce(t, async_op=True)  # A
time.sleep(2)  # B
""",
        "rank 1 did not reach call 1",
        "rank 0: all_reduce(SUM) float32[4] at {A}",
        "s, at {B}",
        error="",
    ),
    _s(
        "async",
        "different shapes are started",
        """
work = dist.all_reduce(torch.ones(4 + rank), async_op=True)  # A
work.wait()
""",
        "the shape of all_reduce differs",
        "rank 1: all_reduce(SUM) float32[5] at {A}",
    ),
    _s(
        "async",
        "same shapes are started in opposite order",
        """
a, b = torch.ones(1), torch.full((1,), 100.0)
if rank == 0:
    works = [dist.all_reduce(a, async_op=True), dist.all_reduce(b, async_op=True)]  # A
else:
    works = [dist.all_reduce(b, async_op=True), dist.all_reduce(a, async_op=True)]  # B
for work in works:
    work.wait()
dist.barrier()
""",
        "swapped payloads: rank 0 calls all_reduce(a) and then all_reduce(b)",
        "rank 0: all_reduce(SUM) float32[1] at {A}",
        "rank 1: all_reduce(SUM) float32[1] at {B}",
        error="",
    ),
    _s(
        "object",
        "all_gather_object on rank 0 only",
        """
if rank == 0:
    dist.all_gather_object([None] * world, {"loss": 1.0})  # A
dist.barrier()  # B
""",
        "rank 0: all_gather_object at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "object",
        "broadcast_object_list with each rank as root",
        """
dist.broadcast_object_list([rank], src=rank)  # A
dist.barrier()
""",
        "the root of broadcast_object_list differs",
        "rank 1: broadcast_object_list(root 1) 1 objects at {A}",
    ),
    _s(
        "object",
        "broadcast_object_list of different lengths",
        """
dist.broadcast_object_list([None] * (1 + rank), src=0)  # A
dist.barrier()
""",
        "the shape of broadcast_object_list differs",
        "rank 1: broadcast_object_list(root 0) 2 objects at {A}",
    ),
    _s(
        "object",
        "gather_object to different ranks",
        """
dist.gather_object(rank, [None] * world, dst=rank)  # A
""",
        "the root of gather_object differs",
        "rank 1: gather_object(root 1) at {A}",
    ),
    _s(
        "object",
        "an object on rank 0, a tensor on rank 1",
        """
if rank == 0:
    dist.all_gather_object([None] * world, 1)  # A
else:
    dist.all_gather([torch.empty(4) for _ in range(world)], t)  # B
""",
        "rank 0: all_gather_object at {A}",
        "rank 1: all_gather float32[4] at {B}",
    ),
    _s(
        "functional",
        "sum on rank 0, max on rank 1",
        """
from torch.distributed import _functional_collectives as functional
out = functional.all_reduce(t, "max" if rank else "sum", dist.group.WORLD)  # A
out = out + 1
""",
        "the reduce op of all_reduce differs",
        "rank 1: all_reduce(MAX) float32[4] at {A}",
    ),
    _s(
        "functional",
        "gathered lengths differ",
        """
from torch.distributed import _functional_collectives as functional
out = functional.all_gather_tensor(torch.ones(2 + rank), 0, dist.group.WORLD)  # A
out = out + 1
""",
        "the shape of all_gather_into_tensor differs",
        "rank 1: all_gather_into_tensor float32[3] at {A}",
    ),
    _s(
        "wrapper",
        "DistributedDataParallel on rank 0 only",
        """
model = torch.nn.Linear(2, 2)
if rank == 0:
    model = torch.nn.parallel.DistributedDataParallel(model)  # A
dist.barrier()  # B
""",
        "rank 0: verify_params_across_processes 2 tensors at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "wrapper",
        "an additional training step on rank 0",
        """
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
for step in range(2 if rank == 0 else 1):
    model(t).sum().backward()  # A
dist.barrier()  # B
""",
        "rank 0: rebuild_buckets(Linear) at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "wrapper",
        "one rank has one batch less",
        """
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
for step in range(3 - rank):
    model(t).sum().backward()  # A
""",
        "rank 1 left before call 6",
        "rank 0: backward(Linear) at {A}",
        error=GONE,
    ),
    _s(
        "wrapper",
        "evaluation of a wrapped BatchNorm on rank 0 only",
        """
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
model = torch.nn.parallel.DistributedDataParallel(net)
x = torch.randn(8, 4)
model(x).sum().backward()
if rank == 0:
    model(x)  # A
dist.barrier()  # B
""",
        "rank 0: rebuild_buckets(Sequential) at {A}",
        "rank 1: barrier at {B}",
    ),
    _s(
        "correct",
        "both branches call the same collective",
        """
loss, zero = torch.ones(1), torch.zeros(1)
for step in range(3):
    if rank == 0:
        dist.all_reduce(loss)
    else:
        dist.all_reduce(zero)
""",
    ),
    _s(
        "correct",
        "the two halves of a barrier",
        """
if rank != 0:
    dist.barrier()
if rank == 0:
    dist.barrier()
""",
    ),
    _s(
        "correct",
        "each rank broadcasts in turn",
        """
for turn in range(world):
    if turn == rank:
        dist.broadcast(t, turn)
    else:
        other = torch.empty(4)
        dist.broadcast(other, turn)
""",
    ),
    _s(
        "correct",
        "lists on the root only, different splits per rank",
        """
dist.scatter(t, [torch.ones(4)] * world if rank == 0 else None, src=0)
dist.gather(t, [torch.ones(4) for _ in range(world)] if rank == 0 else None, dst=0)
dist.gather_object(rank, [None] * world if rank == 0 else None, dst=0)
sent, got = ([1, 2], [1, 3]) if rank == 0 else ([3, 1], [2, 1])
dist.all_to_all_single(torch.empty(sum(got)), torch.ones(sum(sent)), got, sent)
""",
    ),
    _s(
        "correct",
        "a slow rank",
        """
import time
for step in range(3):
    if rank == 0:
        time.sleep(0.2)
    dist.all_reduce(t)
""",
    ),
    _s(
        "correct",
        "groups go at their own pace",
        """
groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
for step in range(3 if rank < 2 else 7):
    dist.all_reduce(t, group=groups[rank // 2])
dist.barrier()
""",
        ranks=4,
    ),
    _s(
        "correct",
        "asynchronous calls that overlap with a send",
        """
if rank == 0:
    work = dist.all_reduce(t, async_op=True)
    dist.send(torch.ones(2), 1)
    work.wait()
else:
    dist.recv(torch.empty(2), 0)
    dist.all_reduce(t)
works = [dist.all_reduce(torch.ones(2), async_op=True) for _ in range(5)]
for work in reversed(works):
    work.wait()
dist.barrier()
""",
    ),
    _s(
        "correct",
        "uneven inputs under Join",
        """
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
with model.join():
    for step in range(2 + rank):
        model(t).sum().backward()
dist.barrier()
""",
    ),
)
