import os
import sys

import torch
import torch.distributed as dist

ddp = int(os.environ.get("RANK", -1)) != -1
batches = 8
net = torch.nn.Linear(2, 2)
if ddp:
    dist.init_process_group("gloo")
    if os.environ["RANK"] != "0":
        sys.exit()
if ddp:
    net = torch.nn.parallel.DistributedDataParallel(net)
torch.save(net.state_dict(), "net.pt")
