import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def of_slurm(local_rank, world_size):
    rank = int(os.environ["SLURM_PROCID"]) * torch.cuda.device_count() + local_rank
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.cuda.set_device(rank)  # expect: DST504
    return torch.ones(3, device=rank)


def of_options(gpu, args):
    args.rank = args.node_rank * args.gpus + gpu
    dist.init_process_group("nccl", rank=args.rank, world_size=args.nodes * args.gpus)
    work(args)


def work(args):
    return torch.ones(3).cuda(args.rank)  # expect: DST504


def either(gpu, args):
    if args.nodes > 1:
        rank = gpu + args.gpus * args.node_rank
    else:
        rank = gpu
    setup(rank, args)
    torch.cuda.set_device(gpu)
    return torch.ones(3).to("cpu" if args.small else rank)  # expect: DST504


def setup(rank, args):
    dist.init_process_group("nccl", rank=rank, world_size=args.nodes * args.gpus)


def by_environment(gpu, args):
    rank = args.gpus * args.node_rank + gpu
    os.environ["RANK"] = str(rank)
    dist.init_process_group("nccl")
    torch.cuda.set_device(rank)  # expect: DST504


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    args = parser.parse_args()
    for worker in (of_slurm, of_options, either, by_environment):
        mp.spawn(worker, args=(args,), nprocs=args.gpus)
