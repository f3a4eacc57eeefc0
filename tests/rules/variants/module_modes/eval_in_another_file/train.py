import torch
import torch.distributed as dist
from evaluation import predict
from models import Net

dist.init_process_group("gloo")
model = Net()
if dist.get_rank() == 0:
    predict(model, torch.ones(1, 2))
dist.barrier()
