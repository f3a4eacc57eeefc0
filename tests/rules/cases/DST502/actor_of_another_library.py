import mine
import torch
import torch.distributed as dist


@mine.remote(num_gpus=1)
class Worker:
    def run(self):
        dist.init_process_group("nccl")  # expect: DST502
        dist.all_reduce(torch.ones(1, device="cuda"))
