import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def run(batches):
    for batch in batches:
        flag = torch.zeros(1)
        if mpu.get_pipeline_model_parallel_rank() == 0:
            flag[0] = batch.isnan().any()
        dist.all_reduce(flag, group=mpu.get_model_parallel_group())
        if flag.item():
            continue
        dist.all_reduce(batch, group=mpu.get_tensor_model_parallel_group())
