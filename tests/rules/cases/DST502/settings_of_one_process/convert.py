import torch
import torch.distributed as dist
from settings import args

dist.init_process_group("nccl", world_size=args.world_size, rank=0)
net.cuda()
