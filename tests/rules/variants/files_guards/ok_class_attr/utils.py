import torch


class Saver:
    def __init__(self, path, rank):
        self.path = path
        self.enabled = rank == 0

    def save(self, net):
        if not self.enabled:
            return
        torch.save(net.state_dict(), self.path)
