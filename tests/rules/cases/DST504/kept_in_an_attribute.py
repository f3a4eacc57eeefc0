import os

import torch
import torch.distributed as dist


class Stopper:
    def __init__(self, rank, local_rank):
        self.rank = rank
        self.local_rank = local_rank

    def stop(self):
        flag = torch.tensor([0], device=f"cuda:{self.rank}")  # expect: DST504
        dist.broadcast(flag, src=0)
        return flag.item() == 1

    def right(self):
        return torch.tensor([0], device=f"cuda:{self.local_rank}")


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
Stopper(dist.get_rank(), int(os.environ["LOCAL_RANK"])).stop()
