import torch
from accelerate import Accelerator


class Own:
    def __init__(self, net):
        self.accelerator = Accelerator()
        if self.accelerator.is_main_process:
            torch.save(net, "net.pt")
        self.net = self.accelerator.prepare(net)
