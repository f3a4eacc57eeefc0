import torch.distributed as dist

try:
    import deepspeed
except Exception:
    deepspeed = None
if deepspeed is not None:
    deepspeed.init_distributed()
else:
    dist.init_process_group("nccl")
