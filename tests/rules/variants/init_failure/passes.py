import torch
import torch.distributed as dist

try:
    dist.init_process_group("nccl", init_method="env://")
except (RuntimeError, Exception):  # expect: DST515
    pass
if dist.is_initialized() and dist.get_rank() == 0:
    torch.save({}, "model.pt")
