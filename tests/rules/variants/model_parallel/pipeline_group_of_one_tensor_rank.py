import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def run(batch):
    dist.all_reduce(batch, group=mpu.get_model_parallel_group())
    if mpu.get_tensor_model_parallel_rank() == 0:
        dist.all_reduce(batch, group=mpu.get_pipeline_model_parallel_group())
    dist.all_reduce(batch, group=mpu.get_model_parallel_group())
