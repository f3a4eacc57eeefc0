import torch.distributed as dist


class Env:
    def start(self):
        dist.init_process_group("nccl")
        return dist.get_rank()
