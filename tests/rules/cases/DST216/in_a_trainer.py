import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, config, net, loader):
        torch.manual_seed(config.seed)  # expect: DST216
        self.model = DDP(net)
        self.loader = loader
        self.config = config

    def corrupted(self, x):
        sigma = torch.rand(x.shape[0], device=x.device)
        return x + sigma * torch.randn_like(x)

    def step(self, x):
        noisy = self.corrupted(x)
        return F.mse_loss(self.model(noisy), x)

    def train(self):
        for x in self.loader:
            loss = self.step(x)
            loss.backward()
