import torch


class Saver:
    def __init__(self, path):
        self.path = path

    def save(self, net):
        torch.save(net.state_dict(), self.path)
