import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, critic, loader, every):
    dist.init_process_group("nccl")
    model, judge = DDP(net.cuda()), DDP(critic.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    judging = torch.optim.SGD(judge.parameters(), lr=0.1)
    for index, batch in enumerate(loader):
        judging.zero_grad()
        judge(batch).mean().backward()
        judging.step()
        if index % every == 0:
            optimizer.zero_grad()
            judge(model(batch)).mean().backward()
            optimizer.step()
