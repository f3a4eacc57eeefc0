import torch
import torch.distributed as dist
from torch.distributed.tensor.parallel import parallelize_module


def main(args, net, plan, loader):
    mesh = dist.init_device_mesh("cuda", (args.tensor_parallel,))
    torch.manual_seed(args.seed)
    model = parallelize_module(net, mesh, plan)
    for x in loader:
        noise = torch.randn_like(x)
        (model(x + noise) - noise).square().mean().backward()
