import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
if args.late:
    os.makedirs(args.out, exist_ok=True)
if not os.path.exists(args.out):
    os.makedirs(args.out)  # expect: DST414
