import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def run(batch):
    if mpu.is_pipeline_first_stage():  # expect: DST101
        dist.all_reduce(batch, group=mpu.get_model_parallel_group())
    dist.barrier()
