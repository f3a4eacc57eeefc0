from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler


def main(raw, held, net):
    accelerator = Accelerator()
    data = DataLoader(raw, sampler=DistributedSampler(raw))
    val = DataLoader(held)
    parts = [net, val]
    net, val = accelerator.prepare(*parts)
    for x in data:
        accelerator.backward(net(x).mean())
