import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from training import Training


def main(model, data, optimizer):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = DDP(model.cuda())
    data = data.shard(dist.get_world_size(), dist.get_rank())
    Training(model, optimizer).fit(data)
