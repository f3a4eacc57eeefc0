import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Strategy:
    def setup(self):
        if self.saves_memory:
            self.net.backbone.save_memory()
        self.net = DDP(self.net)
