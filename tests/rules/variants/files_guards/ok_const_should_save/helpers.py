import os
import torch
import torch.distributed as dist


SHOULD_SAVE = int(os.environ.get("RANK", 0)) == 0
