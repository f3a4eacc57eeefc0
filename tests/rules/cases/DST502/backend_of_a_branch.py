import torch
import torch.distributed as dist

if torch.cuda.is_available():
    backend = "nccl"
    device = "cuda"
else:
    backend = "gloo"
    device = "cpu"
dist.init_process_group(backend)  # expect: DST502
model = torch.nn.Linear(2, 2).to(device)
