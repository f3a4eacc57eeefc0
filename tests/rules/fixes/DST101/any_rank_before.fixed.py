import torch.distributed as dist
from distlint.runtime import any_rank
from torch.nn.parallel import DistributedDataParallel


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DistributedDataParallel(model)
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        if any_rank(loss.isnan()):
            continue
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            total = loss.detach().clone()
            dist.all_reduce(total)
        if step % 100 == 0 and rank == 0:
            print(total)
