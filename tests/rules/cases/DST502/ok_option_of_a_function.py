import os

import torch
import torch.distributed as dist


def join(backend, device_id=None):
    dist.init_process_group(backend, device_id=device_id)


dist.init_process_group("nccl")
join("nccl", torch.device("cuda", int(os.environ["LOCAL_RANK"])))
model = torch.nn.Linear(2, 2).cuda()
