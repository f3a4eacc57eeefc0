import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from samplers import make


class Trainer:
    def prepare(self, args, net, loader):
        torch.manual_seed(args.seed)  # expect: DST216
        self.model, self.loader = DDP(net), loader
        self.sampler = make(args.kind, args.steps)

    def epoch(self):
        for x in self.loader:
            y, noise = self.sampler.noised(x)
            loss = (self.model(y) - noise).square().mean()
            loss.backward()
