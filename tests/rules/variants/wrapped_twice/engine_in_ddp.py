import deepspeed
import torch
from torch.nn.parallel import DistributedDataParallel

engine, optimizer, _, _ = deepspeed.initialize(model=torch.nn.Linear(2, 2), config="ds.json")
model = DistributedDataParallel(engine)  # expect: DST624
