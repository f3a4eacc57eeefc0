import torch.distributed as dist
from data import Pool
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model, loader):
    dist.init_process_group("nccl")
    model = DDP(model)
    pool = Pool()
    pool.label(model, loader, 100)
    dist.barrier()
