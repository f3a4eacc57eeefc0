import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


def serve(lines):
    while True:
        info = torch.zeros(2)
        if mpu.is_pipeline_first_stage() and mpu.get_tensor_model_parallel_rank() == 0:
            line = lines.pop()
            info[0] = line == "stop"
            info[1] = len(line)
        dist.all_reduce(info, group=mpu.get_model_parallel_group())
        if int(info[0].item()) == 1:
            return
        tokens = torch.zeros(int(info[1].item()))
        dist.all_reduce(tokens, group=mpu.get_model_parallel_group())
