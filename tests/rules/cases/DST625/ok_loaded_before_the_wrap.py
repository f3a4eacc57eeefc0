import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader):
    dist.init_process_group("gloo")
    net = torch.nn.Linear(2, 1)
    if dist.get_rank() == 0:
        net.load_state_dict(torch.load(args.init))
        for param in net.parameters():
            param.data.mul_(0.5)
    model = DDP(net)
    optimizer = torch.optim.Adam(net.parameters())
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
