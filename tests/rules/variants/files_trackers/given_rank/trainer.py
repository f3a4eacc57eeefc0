"""The training."""

from torch.nn.parallel import DistributedDataParallel
from torch.utils.tensorboard import SummaryWriter


class Trainer:
    def __init__(self, model, loader, rank):
        self.rank = rank
        self.loader = loader
        self.model = DistributedDataParallel(model.to(rank), device_ids=[rank])
        self.writer = SummaryWriter("runs")  # expect: DST905

    def train(self):
        for step, batch in enumerate(self.loader):
            loss = self.model(batch.to(self.rank)).sum()
            loss.backward()
            self.writer.add_scalar("loss", loss.item(), step)
