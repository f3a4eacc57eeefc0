import torch
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, config, model):
        self.config, self.model = config, model
        if not config["single"]:
            self.distributed = DistributedDataParallel(model, device_ids=[config["local_rank"]])

    def keep(self, epoch):
        torch.save(self.model.state_dict(), f"epoch{epoch}.pth")
