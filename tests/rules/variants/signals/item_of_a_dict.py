"""A handler in a function writes an item of a dict around it."""

import signal

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, world_size, epochs):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    shutdown_flag = {"stop": False, "epoch": 0}

    def handler(number, frame):
        print("signal", number)
        shutdown_flag["stop"] = True

    signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGTERM, handler)
    model = DDP(torch.nn.Linear(1, 1).cuda(rank))
    for epoch in range(epochs):
        if shutdown_flag["stop"]:
            break  # expect: DST102
        model(torch.zeros(1, 1)).mean().backward()
    dist.barrier()


torch.multiprocessing.spawn(worker, args=(4, 10), nprocs=4)
