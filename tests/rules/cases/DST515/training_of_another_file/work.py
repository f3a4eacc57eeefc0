import torch.distributed as dist


def fit(model):
    dist.init_process_group("nccl")
    for _ in range(3):
        dist.barrier()
