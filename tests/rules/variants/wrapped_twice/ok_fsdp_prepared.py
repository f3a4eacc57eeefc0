import torch
from accelerate import Accelerator
from torch.distributed.fsdp import FullyShardedDataParallel

accelerator = Accelerator()
model = FullyShardedDataParallel(torch.nn.Linear(2, 1).to(accelerator.device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
