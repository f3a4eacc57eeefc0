from accelerate import Accelerator
from setup import ready
from torch.utils.data import DataLoader, DistributedSampler


def main(raw, net):
    accelerator = Accelerator()
    parts = [net, DataLoader(raw, sampler=DistributedSampler(raw))]
    net, data = ready(accelerator, parts)
    for x in data:
        accelerator.backward(net(x).mean())
