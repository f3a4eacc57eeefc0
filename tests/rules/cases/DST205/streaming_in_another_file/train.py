import torch.distributed as dist
from data import build
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path, net, opt):
    loader = build(path)
    model = DDP(net)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
