import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, args):
    rank = args.node_rank * args.gpus + gpu
    dist.init_process_group("nccl", rank=rank, world_size=args.nodes * args.gpus)
    torch.cuda.set_device(gpu)
    return torch.ones(3).to(dist.get_rank())  # expect: DST504


mp.spawn(worker, args=(args,), nprocs=args.gpus)
