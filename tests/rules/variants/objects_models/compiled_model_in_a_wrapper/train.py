import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = DDP(torch.compile(torch.nn.Linear(2, 2).cuda()))
if dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "last.pt")  # expect: DST401
