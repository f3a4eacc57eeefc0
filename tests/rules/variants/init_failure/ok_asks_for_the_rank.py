import os

import torch
import torch.distributed as dist


def set_up(args):
    if not dist.is_available() or not dist.is_initialized():
        try:
            os.environ["MASTER_PORT"] = "40101"
            dist.init_process_group(backend="nccl")
        except Exception:
            print("distributed training not available")
    world_size = dist.get_world_size()
    args.world_size, args.rank = world_size, dist.get_rank()
    torch.cuda.set_device(args.gpu)


def main(args, model):
    set_up(args)
    model.fit()
