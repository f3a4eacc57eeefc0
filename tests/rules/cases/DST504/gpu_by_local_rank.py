import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")
