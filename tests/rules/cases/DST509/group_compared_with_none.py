import torch
import torch.distributed as dist
from torch.distributed import GroupMember

dist.init_process_group("gloo")
group = GroupMember.WORLD
if group is None:
    dist.init_process_group("gloo")
