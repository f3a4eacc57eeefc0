import torch
from log import Log
from torch.nn.parallel import DistributedDataParallel


class Base:
    def __init__(self, config, model):
        self.model = DistributedDataParallel(model, device_ids=[config["local_rank"]])


class Middle(Base):
    def __init__(self, config, model):
        super(Middle, self).__init__(config, model)
        self.log = Log(config)

    def _train_epoch(self, loader):
        for batch in loader:
            self.model(batch).mean().backward()


class Trainer(Middle):
    def pretrain(self, loader):
        for epoch in range(3):
            self._train_epoch(loader)
            torch.save(self.model.module.state_dict(), f"pre{epoch}.pt")  # expect: DST406
