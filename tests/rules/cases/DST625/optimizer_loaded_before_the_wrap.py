import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, loader):
    dist.init_process_group("gloo")
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    if dist.get_rank() == 0:
        checkpoint = torch.load(args.resume)
        net.load_state_dict(checkpoint["net"])
        optimizer.load_state_dict(checkpoint["optimizer"])  # expect: DST625
    model = DDP(net)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
