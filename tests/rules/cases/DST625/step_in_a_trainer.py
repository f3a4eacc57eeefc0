import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, rank):
        self.rank = rank
        self.model = DDP(net, device_ids=[rank])
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, 100)

    def run_epoch(self, loader):
        for inputs, targets in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(self.model(inputs), targets)
            loss.backward()
            self.optimizer.step()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            self.run_epoch(loader)
            self.end_epoch(epoch)

    def end_epoch(self, epoch):
        if self.rank == 0 and epoch > 5:
            self.scheduler.step()  # expect: DST625
