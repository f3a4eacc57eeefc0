import torch
from lightning.fabric import Fabric
from torch.nn.parallel import DistributedDataParallel

fabric = Fabric(devices=2, strategy="ddp")
fabric.launch()
model = DistributedDataParallel(torch.nn.Linear(2, 1).to(fabric.device))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = fabric.setup(model, optimizer)  # expect: DST624
