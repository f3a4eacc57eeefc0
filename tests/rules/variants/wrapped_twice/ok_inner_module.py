import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel

accelerator = Accelerator()
model = accelerator.prepare(torch.nn.Linear(2, 1))
plain = accelerator.unwrap_model(model)
again = DistributedDataParallel(plain)
