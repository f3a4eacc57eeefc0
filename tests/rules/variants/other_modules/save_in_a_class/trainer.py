import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, config, model):
        self.config, self.model = config, model
        self.ddp = DDP(model, device_ids=[config["local_rank"]])

    def pretrain(self, epochs):
        for epoch in range(epochs):
            path = os.path.join(self.config["dir"], "pre-%d.pth" % epoch)
            torch.save(self.model.state_dict(), path)  # expect: DST406
