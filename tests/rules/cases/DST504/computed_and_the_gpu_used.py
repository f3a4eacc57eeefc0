import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def of_slurm(local_rank, world_size):
    rank = int(os.environ["SLURM_PROCID"]) * torch.cuda.device_count() + local_rank
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    torch.cuda.set_device(local_rank)
    return torch.ones(3, device=rank % torch.cuda.device_count())


def of_options(gpu, args):
    args.rank = args.node_rank * args.gpus + gpu
    dist.init_process_group("nccl", rank=args.rank, world_size=args.nodes * args.gpus)
    return torch.ones(3).cuda(args.gpu)


def two_gpus_each(rank, args):
    dist.init_process_group("nccl", rank=rank, world_size=args.size)
    first = rank * 2
    second = rank * 2 + 1
    return torch.ones(3).to(first), torch.ones(3).to(second)


def either(gpu, args):
    if args.nodes > 1:
        rank = gpu + args.gpus * args.node_rank
        device = gpu
    else:
        rank = gpu
        device = rank
    dist.init_process_group("nccl", rank=rank, world_size=args.nodes * args.gpus)
    return torch.ones(3).to(device)


def given(rank, args):
    dist.init_process_group("nccl", rank=rank, world_size=args.size)
    return torch.ones(3).to(dist.get_rank())


if __name__ == "__main__":
    for worker in (of_slurm, of_options, two_gpus_each, either, given):
        mp.spawn(worker, args=(args,), nprocs=args.gpus)
