import checks
import torch
import torch.distributed as dist

checks.on_one_node()
dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank())
