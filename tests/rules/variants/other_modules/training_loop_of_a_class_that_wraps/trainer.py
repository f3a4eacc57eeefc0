import torch
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, config, model):
        self.config, self.model = config, model
        if not config["single"]:
            self.distributed = DistributedDataParallel(model, device_ids=[config["local_rank"]])

    def fit(self, loader, optimizer):
        for epoch in range(3):
            self._train_epoch(loader, optimizer)
            self.keep(epoch)

    def _train_epoch(self, loader, optimizer):
        for batch in loader:
            self.distributed(batch).mean().backward()
            optimizer.step()

    def keep(self, epoch):
        torch.save(self.model.state_dict(), f"epoch{epoch}.pth")  # expect: DST406
