# Ray shows each actor only its own GPU.
import ray
import torch
import torch.distributed as dist


@ray.remote(num_gpus=1)
class Worker:
    def run(self):
        dist.init_process_group("nccl")
        dist.all_reduce(torch.ones(1, device="cuda"))
