import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


class Trainer:
    def __init__(self, model, val):
        self.model = DDP(model)
        self.loader = DataLoader(val, batch_size=4, sampler=DistributedSampler(val))
        self.best, self.epoch = 0.0, 0

    def validate(self):
        scores = []
        with torch.no_grad():
            for x, y in self.loader:
                scores.append((self.model(x) - y).square().mean())
        self.score = torch.stack(scores).mean()

    def share(self):
        dist.all_reduce(self.score)
        self.score /= dist.get_world_size()

    def after_epoch(self):
        self.share()
        if self.score > self.best:
            self.best = self.score
            self.saved = self.epoch
