import torch
from accelerate import Accelerator


class Own:
    def __init__(self, net):
        self.accelerator = Accelerator()
        torch.save(net, "net.pt")
        self.net = self.accelerator.prepare(net)
