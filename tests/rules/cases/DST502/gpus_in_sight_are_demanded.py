import torch
import torch.distributed as dist

assert torch.cuda.device_count() >= 1
dist.init_process_group("nccl")  # expect: DST502
model = torch.nn.Linear(2, 2).to("cuda")
