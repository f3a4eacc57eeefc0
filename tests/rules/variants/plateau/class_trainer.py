"""A trainer that keeps its scheduler and validates on the shard of its rank."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim import lr_scheduler


class Trainer:
    def __init__(self, net, train_loader, val_loader):
        self.model = DistributedDataParallel(net)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.scheduler = lr_scheduler.ReduceLROnPlateau(self.optimizer, "min", patience=3)
        self.train_loader, self.val_loader = train_loader, val_loader
        self.history = []

    def fit(self, epochs):
        for _epoch in range(epochs):
            for inputs, labels in self.train_loader:
                loss = torch.nn.functional.mse_loss(self.model(inputs), labels)
                loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
            val_loss = self.validate()
            self.history.append(val_loss)
            self.scheduler.step(val_loss)  # expect: DST623

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        losses = []
        for inputs, labels in self.val_loader:
            losses.append(torch.nn.functional.mse_loss(self.model(inputs), labels).item())
        return sum(losses) / len(losses)


def main(net, train_data, val_data):
    dist.init_process_group("nccl")
    loaders = [
        torch.utils.data.DataLoader(data, sampler=torch.utils.data.DistributedSampler(data))
        for data in (train_data, val_data)
    ]
    Trainer(net, *loaders).fit(10)
