import torch
from torch.nn.parallel import DistributedDataParallel


class Engine:
    def __init__(self, net, device):
        self.net, self.device = net, device

    def restore(self, path):
        net = torch.load(path, weights_only=False)
        self.net = DistributedDataParallel(net, device_ids=[self.device])
