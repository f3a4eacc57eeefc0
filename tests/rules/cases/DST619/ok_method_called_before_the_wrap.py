import torch
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import resnet18


class Runner:
    def __init__(self):
        self.net = resnet18().cuda()
        self.setup()
        self.net = DistributedDataParallel(self.net)

    def setup(self):
        print(self.net.layer1)
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.SGD(self.net.fc.parameters(), lr=0.1)
