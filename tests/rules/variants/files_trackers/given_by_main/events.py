"""The events."""

from torch.utils.tensorboard import SummaryWriter


class Events:
    def __init__(self, folder, device):
        self.device = device
        self.writer = SummaryWriter(folder)

    def add(self, loss, step):
        self.writer.add_scalar("loss", loss.item(), step)
