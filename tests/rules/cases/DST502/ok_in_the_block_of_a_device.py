import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
with torch.cuda.device(int(os.environ["LOCAL_RANK"])):
    model = torch.nn.Linear(2, 2).cuda()
    dist.barrier()
