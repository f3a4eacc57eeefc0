import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from images import init_data


def run(args, net):
    torch.distributed.init_process_group("nccl")
    net = DDP(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    loader, _ = init_data(args.data, args.batch_size, args.world, args.rank)
    for epoch in range(args.start, args.epochs):
        for step, (x, y) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
