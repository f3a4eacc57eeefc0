import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def step(loss):
    if not mpu.is_pipeline_last_stage():
        loss = torch.zeros(1)
    dist.all_reduce(loss, group=mpu.get_model_parallel_group())
    if loss.item() > 10:
        return
    dist.all_reduce(loss, group=mpu.get_tensor_model_parallel_group())
    dist.all_reduce(loss, group=mpu.get_pipeline_model_parallel_group())
