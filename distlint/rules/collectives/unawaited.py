"""DST119: an asynchronous collective whose end nobody waits for."""

from __future__ import annotations

from distlint.rules.base import Example, Rule


class UnawaitedCollective(Rule):
    """An asynchronous collective is not waited for before its tensor is used.

    ## What it finds

    A collective with `async_op=True` whose handle is dropped, or whose tensor is read, changed or
    handed on before `handle.wait()`. The finding is at the collective.

    ## Why it matters

    The call returns at once. A tensor that is read too early holds the local value or a half-made
    sum, and writing to it corrupts what the others receive. Nothing hangs and nothing raises, and
    it may come out right on a fast network.

    ## What to do

    Keep the handle and call `wait()` before the first use of the tensor. If there is no work to
    overlap with, leave out `async_op=True`.

    ## When it is silent

    - Each handle is waited for before its tensor is used, also through a list of handles.
    - The tensor is not used again on the path.
    - The handle is returned or stored where another function waits for it.
    """

    code = "DST119"
    name = "unawaited-collective"

    good = (
        Example(
            title="Overlap, then wait, then read",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
grads = torch.ones(4) * (1 + dist.get_rank())
work = dist.all_reduce(grads, async_op=True)
busy = torch.randn(16, 16) @ torch.randn(16, 16)
work.wait()
print("grads =", grads.tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A list of handles",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
buckets = [torch.ones(2) * dist.get_rank() for _ in range(3)]
works = [dist.all_reduce(bucket, async_op=True) for bucket in buckets]
for work in works:
    work.wait()
print("sum =", sum(bucket.sum().item() for bucket in buckets))
dist.destroy_process_group()
""",
        ),
        Example(
            title="The caller waits",
            code="""\
import torch
import torch.distributed as dist


def start(tensor):
    return dist.all_reduce(tensor, async_op=True)


dist.init_process_group("gloo")
total = torch.ones(1)
handle = start(total)
handle.wait()
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="Read before the sum has arrived",
            effect="wrong data",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
loss = torch.tensor(1.0 + rank)
time.sleep(0.3 * rank)
work = dist.all_reduce(loss, async_op=True)  # expect: DST119
print("loss =", loss.item())
work.wait()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The handle is dropped",
            effect="wrong data",
            code="""\
import time
import torch
import torch.distributed as dist


def average(tensor):
    dist.all_reduce(tensor, async_op=True)  # expect: DST119
    return tensor / dist.get_world_size()


dist.init_process_group("gloo")
rank = dist.get_rank()
time.sleep(0.3 * rank)
print("average =", average(torch.tensor(2.0 + 2 * rank)).item())
dist.barrier()
""",
        ),
        Example(
            title="Only the last handle is waited for",
            effect="wrong data",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
first, second = torch.ones(1) * rank, torch.ones(1) * rank
time.sleep(0.3 * rank)
work = dist.broadcast(first, src=1, async_op=True)  # expect: DST119
print("first =", first.item())
work = dist.broadcast(second, src=1, async_op=True)
work.wait()
print("second =", second.item())
dist.destroy_process_group()
""",
        ),
    )
