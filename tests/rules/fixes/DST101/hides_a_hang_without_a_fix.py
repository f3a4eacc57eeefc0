import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    model = DistributedDataParallel(model)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if rank == 0:
            total = loss.detach().clone()
            dist.all_reduce(total)
            print(total)
        if rank == 1:
            dist.broadcast(batch[rank], src=load(rank))
    dist.barrier()
