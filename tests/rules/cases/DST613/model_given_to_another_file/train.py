import torch
import torch.distributed as dist
from loops import epoch, epoch_by_forward, evaluate, Stepper
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(4, 1).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
epoch(model, [], optimizer)
epoch_by_forward(model, [], optimizer)
evaluate(model, [])
