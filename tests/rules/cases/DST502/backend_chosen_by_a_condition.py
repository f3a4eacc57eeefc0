import os

import torch
import torch.distributed as dist


def setup(rank, world_size):
    os.environ.setdefault("MASTER_ADDR", "localhost")
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend=backend, rank=rank, world_size=world_size)  # expect: DST502


def worker(rank, world_size):
    setup(rank, world_size)
    device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")
    torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).to(device), device_ids=[rank])
    dist.barrier()


if __name__ == "__main__":
    torch.multiprocessing.spawn(worker, args=(2,), nprocs=2)
