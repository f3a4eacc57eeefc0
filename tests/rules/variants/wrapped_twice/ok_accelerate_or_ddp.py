import sys

import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if "--ddp" in sys.argv:
    torch.distributed.init_process_group("gloo")
    model = DistributedDataParallel(model)
else:
    model, optimizer = Accelerator().prepare(model, optimizer)
