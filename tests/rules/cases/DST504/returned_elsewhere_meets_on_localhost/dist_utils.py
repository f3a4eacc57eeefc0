import torch.distributed as dist


def setup():
    dist.init_process_group("nccl", init_method="tcp://127.0.0.1:2950")
    return dist.get_rank()
