import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, optimizer, every, is_first):
    dist.init_process_group("nccl")
    model = DDP(net)
    for step, batch in enumerate(loader):
        is_first_step = step % every == 0
        is_main_step = step % 2 == 0
        if is_first_step:
            optimizer.zero_grad()
        if is_first:
            optimizer.zero_grad()
        model(batch).mean().backward()
        if is_main_step:
            optimizer.step()
