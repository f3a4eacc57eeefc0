"""The same trainer, which averages what it validates."""

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

    def fit(self, epochs):
        for _epoch in range(epochs):
            for inputs, labels in self.train_loader:
                loss = torch.nn.functional.mse_loss(self.model(inputs), labels)
                loss.backward()
                self.optimizer.step()
            self.scheduler.step(self.validate())

    @torch.no_grad()
    def validate(self):
        losses = []
        for inputs, labels in self.val_loader:
            losses.append(torch.nn.functional.mse_loss(self.model(inputs), labels).item())
        return self.mean(sum(losses) / len(losses))

    def mean(self, value):
        total = torch.tensor(value, device="cuda")
        dist.all_reduce(total)
        return total.item() / dist.get_world_size()


def main(net, train_loader, val_loader):
    dist.init_process_group("nccl")
    Trainer(net, train_loader, val_loader).fit(10)
