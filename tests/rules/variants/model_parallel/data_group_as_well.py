import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def run(batches):
    for batch in batches:
        stop = torch.zeros(1)
        if mpu.get_tensor_model_parallel_rank() == 0 and mpu.is_pipeline_first_stage():
            stop[0] = batch is None
        dist.all_reduce(stop, group=mpu.get_model_parallel_group())
        dist.all_reduce(stop, group=mpu.get_data_parallel_group())
        if stop.item():
            break
        dist.barrier()
