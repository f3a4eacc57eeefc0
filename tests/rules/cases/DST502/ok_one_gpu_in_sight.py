import os

import torch
import torch.distributed as dist

assert torch.cuda.device_count() == 1, "--gpus-per-task=1"
dist.init_process_group("nccl", rank=int(os.environ["SLURM_PROCID"]), world_size=8)
model = torch.nn.Linear(2, 2).cuda()
