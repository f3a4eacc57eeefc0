import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(net)
    for _ in range(10):
        x, wanted = torch.randn(20, 10), torch.randn(20, 5)
        (model(x) - wanted).square().mean().backward()
