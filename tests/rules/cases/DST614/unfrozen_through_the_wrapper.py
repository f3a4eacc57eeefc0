from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision import models


def loop(batches):
    net = models.resnet50()
    for parameter in net.parameters():
        parameter.requires_grad = False
    net = DDP(net.cuda())
    for epoch, batch in enumerate(batches):
        if epoch == 5:
            for parameter in net.parameters():
                parameter.requires_grad = True  # expect: DST614
        net(batch).mean().backward()


def method(batches):
    net = models.resnet50()
    net.requires_grad_(False)
    net.fc.requires_grad_(True)
    model = DDP(net)
    model(batches[0]).mean().backward()
    model.requires_grad_()  # expect: DST614
    model(batches[1]).mean().backward()


def named(batches):
    net = models.resnet50().cuda()
    for name, parameter in net.named_parameters():
        parameter.requires_grad = name.startswith("fc")
    net = DDP(net)
    for epoch, batch in enumerate(batches):
        for name, parameter in net.named_parameters():
            if epoch > 3 and "layer4" in name:
                parameter.requires_grad_(True)  # expect: DST614
        net(batch).mean().backward()


class Trainer:
    def __init__(self, net):
        self.net = net
        for parameter in self.net.body.parameters():
            parameter.requires_grad = False
        self.net = DDP(self.net)

    def thaw(self):
        for parameter in self.net.parameters():
            parameter.requires_grad = True  # expect: DST614


class Prepared:
    def __init__(self, net):
        self.net = net
        self.net.requires_grad_(False)
        self.thaw()
        self.net = DDP(self.net)

    def thaw(self):
        for name, parameter in self.net.named_parameters():
            if "head" in name:
                parameter.requires_grad = True


class Alternating:
    def __init__(self, net):
        self.net = net
        for parameter in self.net.parameters():
            parameter.requires_grad = False
        self.net = DDP(self.net)

    def switch(self, on):
        for parameter in self.net.parameters():
            parameter.requires_grad = on
