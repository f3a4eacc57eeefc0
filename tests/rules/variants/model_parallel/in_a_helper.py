import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def agreed(flag):
    dist.all_reduce(flag, group=mpu.get_model_parallel_group())
    return flag.item() > 0


def run(batches):
    for batch in batches:
        flag = torch.zeros(1)
        if mpu.is_pipeline_first_stage():
            flag[0] = batch.isnan().any()
        if agreed(flag):
            break
        if mpu.is_pipeline_first_stage():
            dist.all_reduce(batch, group=mpu.get_tensor_model_parallel_group())
