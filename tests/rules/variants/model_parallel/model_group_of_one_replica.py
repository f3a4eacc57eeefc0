import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def save(state):
    if mpu.get_data_parallel_rank() == 0:
        dist.barrier(group=mpu.get_model_parallel_group())
        torch.save(state, "model.pt")
        dist.barrier(group=mpu.get_model_parallel_group())
    dist.barrier()
