from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler


def main(raw, net):
    accelerator = Accelerator()
    parts = [net, DataLoader(raw, sampler=DistributedSampler(raw))]
    net, data = accelerator.prepare(*parts)  # expect: DST213
    for x in data:
        accelerator.backward(net(x).mean())
