import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank() if many else 0
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
