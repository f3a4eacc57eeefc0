import torch.distributed as dist

from download import find_model

dist.init_process_group("nccl")
state = find_model("a.pt")
