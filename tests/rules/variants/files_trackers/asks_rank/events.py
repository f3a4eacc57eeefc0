"""The events."""

from torch.utils.tensorboard import SummaryWriter


class Events:
    def __init__(self, folder, rank):
        self.writer = SummaryWriter(folder) if rank == 0 else None

    def add(self, loss, step):
        if self.writer is not None:
            self.writer.add_scalar("loss", loss.item(), step)
