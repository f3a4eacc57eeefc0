import torch
from megatron import get_args, mpu


def serve(args, lines):
    position = 0
    while True:
        stop = 0
        if mpu.is_pipeline_first_stage() and mpu.get_tensor_model_parallel_rank() == 0:
            line = lines[position]
            position += 1
            if line == "stop":
                stop = 1
            else:
                if len(line) > 100:
                    continue
        info = torch.tensor([stop])
        torch.distributed.all_reduce(info, group=mpu.get_model_parallel_group())
        if info[0].item() == 1:
            return
        if mpu.get_tensor_model_parallel_rank() == 0:
            src = mpu.get_pipeline_model_parallel_first_rank()
            group = mpu.get_pipeline_model_parallel_group()
            tokens = torch.empty(3)
            torch.distributed.broadcast(tokens, src, group)
