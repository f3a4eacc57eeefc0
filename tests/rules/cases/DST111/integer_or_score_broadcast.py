import torch
import torch.distributed as dist
from metrics import compute

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())


def share(rank):
    if rank == 0:
        best = compute("val")
    else:
        best = 0
    best = torch.tensor(best, device="cuda")
    dist.broadcast(best, 0)  # expect: DST111
    return best


share(dist.get_rank())
