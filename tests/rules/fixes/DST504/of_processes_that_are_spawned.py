import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, args):
    rank = args.node * args.gpus + gpu
    dist.init_process_group("nccl", rank=rank, world_size=args.nodes * args.gpus)
    torch.cuda.set_device(rank)


mp.spawn(worker, args=(args,), nprocs=args.gpus)
