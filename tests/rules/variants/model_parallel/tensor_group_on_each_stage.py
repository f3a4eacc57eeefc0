import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def run(batch):
    if mpu.is_pipeline_first_stage():
        dist.all_reduce(batch, group=mpu.get_tensor_model_parallel_group())
    dist.barrier(group=mpu.get_model_parallel_group())
    if mpu.is_pipeline_last_stage():
        dist.all_reduce(batch, group=mpu.get_tensor_model_parallel_group())
    dist.barrier(group=mpu.get_model_parallel_group())
