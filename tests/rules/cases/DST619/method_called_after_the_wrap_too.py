import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18


class Runner:
    def __init__(self):
        self.net = resnet18().cuda()
        self.optimizer = self.make_optimizer()
        self.net = DistributedDataParallel(self.net)

    def make_optimizer(self):
        return torch.optim.SGD(self.net.fc.parameters(), lr=0.1)  # expect: DST619

    def restart(self):
        self.optimizer = self.make_optimizer()
