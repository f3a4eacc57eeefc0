import torch
import torch.distributed as dist
from megatron.core import parallel_state as mpu


class Server:
    def __init__(self, lines):
        self.lines = iter(lines)

    def read(self):
        return next(self.lines)

    def serve(self):
        while True:
            stop = torch.zeros(1)
            if mpu.is_pipeline_first_stage() and mpu.get_tensor_model_parallel_rank() == 0:
                line = self.read()
                if len(line) > 100:
                    continue
                stop.fill_(line == "stop")
            dist.all_reduce(stop, group=mpu.get_model_parallel_group())
            if stop.item():
                break
            if mpu.get_tensor_model_parallel_rank() == 0:
                dist.broadcast(stop, 0, group=mpu.get_pipeline_model_parallel_group())
