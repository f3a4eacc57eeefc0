import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Runner:
    def setup(self, net):
        dist.init_process_group("nccl")
        self.model = DDP(net)

    def finetune(self, loader, classes):
        self.model.module.head = nn.Linear(64, classes)  # expect: DST614
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for batch in loader:
            optimizer.zero_grad()
            self.model(batch).mean().backward()
            optimizer.step()
