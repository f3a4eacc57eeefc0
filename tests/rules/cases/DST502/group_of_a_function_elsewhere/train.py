import torch
from comm import setup

local_rank = setup()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 2).to(device)
model = torch.nn.parallel.DistributedDataParallel(model)
