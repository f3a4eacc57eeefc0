import torch
import torch.distributed as dist

from trainer import Trainer


def run(rank, config, model):
    dist.init_process_group("nccl", rank=rank, world_size=4)
    torch.cuda.set_device(rank)
    Trainer(config, model).pretrain(3)


if __name__ == "__main__":
    torch.multiprocessing.spawn(run, args=({"dir": "x", "local_rank": 0}, None), nprocs=4)
