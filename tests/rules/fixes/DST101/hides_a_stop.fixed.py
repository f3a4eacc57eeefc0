import torch.distributed as dist
from distlint.runtime import any_rank
from torch.nn.parallel import DistributedDataParallel


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DistributedDataParallel(model)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        total = loss.detach().clone()
        dist.all_reduce(total)
        if rank == 0:
            print(total)
        if any_rank(loss.item() < 0.1):
            break
    dist.barrier()
