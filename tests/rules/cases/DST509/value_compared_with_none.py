import torch
import torch.distributed as dist
from torch.distributed import GroupMember

dist.init_process_group("gloo")
group = make()
if group is None:
    dist.init_process_group("gloo")  # expect: DST509
