from argparse import *

import torch
import torch.distributed as dist

args = Namespace(world_size=1, rank=0)

dist.init_process_group("nccl", world_size=args.world_size, rank=0)
net.cuda()
