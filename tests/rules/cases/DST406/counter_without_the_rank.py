"""The rank decides something about the counter, but all ranks count the same."""

import numpy as np
import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def tested(encode, loader):
    rank = dist.get_rank()
    step = len(loader) if rank >= 0 else 0
    np.save(f"{step}.npy", encode(loader))  # expect: DST406


def folded(encode, loader, total):
    node_step = dist.get_rank() // 8 + total
    step = (dist.get_rank() + total) // dist.get_world_size()
    np.save(f"{step}.npy", encode(loader, node_step))  # expect: DST406


def counted_by_the_world_size(encode, batch, i):
    step = i * dist.get_world_size()
    np.save(f"{step}.npy", encode(batch))  # expect: DST406
    iteration = i * num_ranks
    np.save(f"{iteration}.npy", encode(batch))  # expect: DST406


def resumed(load, state):
    epoch = load("last.pt", dist.get_rank())
    torch.save(state, f"{epoch}.pt")  # expect: DST406


def passed_to_a_function(encode, loader):
    for i, batch in enumerate(loader):
        write(encode(batch), step=i, rank=dist.get_rank())


def write(codes, step, rank):
    print(rank)
    np.save(f"codes/{step}.npy", codes)  # expect: DST406


encode, load, loader, data, state, total, num_ranks = given()
tested(encode, loader)
folded(encode, loader, total)
counted_by_the_world_size(encode, data, total)
resumed(load, state)
passed_to_a_function(encode, loader)
