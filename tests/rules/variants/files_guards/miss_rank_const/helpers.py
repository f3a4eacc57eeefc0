import os
import torch
import torch.distributed as dist


MY = int(os.environ.get("RANK", 0))
