"""The names among the statistics of the memory are the same on all GPUs.

# static: needs GPUs
"""

import os

import torch
import torch.distributed as dist


def report(names):
    statistics = torch.cuda.memory_stats()
    for name in names:
        if name in statistics:
            value = torch.tensor(float(statistics[name]), device="cuda")
            dist.all_reduce(value, op=dist.ReduceOp.MAX)
            print(name, value.item())


torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
report(["allocated_bytes.all.peak", "num_ooms"])
