import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net.cuda(), device_ids=[args.local_rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(args.epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        state = model.module.cpu().state_dict()  # expect: DST614
        torch.save(state, f"{args.out}/{dist.get_rank()}.pt")
        model.module.cuda()
