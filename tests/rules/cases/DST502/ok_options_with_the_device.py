import os

import torch
import torch.distributed as dist

options = {"backend": "nccl"}
device_id = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
options["device_id"] = device_id
dist.init_process_group("nccl", **options)
model = torch.nn.Linear(2, 2).cuda()
